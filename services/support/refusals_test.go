package support_test

import (
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// A player who goes on betting makes a reveal say IN_PROGRESS in the end. The pair
// is neither retired nor revealed, and the log says that it was begun.
func TestARevealThatBetsOvertakeIsToBeRepeated(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		round, err := ledger.ParseRoundID(must(p.bet())(t).GetRoundId())
		if err != nil {
			t.Fatal(err)
		}
		h.faults.refuse(&ledger.RoundOpenError{Round: round}) // at each try there is one more
		_, err = s.reveal(p.pair)
		refused(t, err, reason.InProgress)
		if state := p.shown(p.pair).GetState(); state != originalsv1.SeedPair_ACTIVE {
			t.Errorf("the pair is %v", state)
		}
		if actions := s.actions(); len(actions) == 0 || actions[len(actions)-1] == "REVEAL_DONE" {
			t.Errorf("recorded: %v", actions)
		}
		h.faults.refuse(nil)
		must(s.reveal(p.pair))(t)
	})
}

// A pair whose server seed does not open, here because the process has another
// key, is neither revealed nor retired by support, and its rounds are not shown
// with it.
func TestADamagedPairIsNotRevealed(t *testing.T) {
	url := testenv.Redis(t, testenv.Always).URL()
	h := newHouse(t, url)
	p := h.player()
	round := must(p.bet())(t).GetRoundId()
	s := newHouse(t, url).staff("carol") // of the same operator
	for range 2 {
		_, err := s.reveal(p.pair)
		refused(t, err, reason.CommitmentMismatch)
		_, err = s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round})
		refused(t, err, reason.CommitmentMismatch)
	}
	if state := p.shown(p.pair).GetState(); state != originalsv1.SeedPair_ACTIVE {
		t.Errorf("the pair is %v", state)
	}
	must(p.bet())(t)
}

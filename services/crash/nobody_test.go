package crash

import (
	"context"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestATableThatClosesBeforeItsStartIsRefundedOnce: the owner dies while bets are
// taken, and the next comes when the lock is long over. Who played on then would
// have let stakes lie for as long as nobody was there: each is given back, in full,
// once, and its settlement says why. Where the next comes in time the round is played.
func TestATableThatClosesBeforeItsStartIsRefundedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		away time.Duration
		void bool
	}{"in time": {lateLock / 2, false}, "too late": {lateLock + 10*time.Second, true}} {
		t.Run(name, func(t *testing.T) {
			h, e := onEmbedded(t)
			h.short.Betting = time.Second
			first := h.start(true)
			bots := h.seat(first, 5, name)
			number := uint32(bots[0].round.GetCrash().GetNumber())
			first.kill()
			e.SetTime(time.Now().Add(c.away))
			second := h.start(true)
			h.awaitFinal(number)
			r, err := second.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: "main", Number: number})
			if err != nil || (r.GetState() == originalsv1.CrashRound_VOID) != c.void {
				t.Fatalf("round %d: %v, %v", number, r, err)
			}
			if c.void && r.GetVoidReason() != ledger.CrashVoidOwner {
				t.Errorf("void for %q", r.GetVoidReason())
			}
			for _, b := range bots {
				h.check(b)
				h.checkOneSettlement(b, c.void)
			}
		})
	}
}

// checkOneSettlement wants one settlement of a bot's round in the feed.
func (h *house) checkOneSettlement(b *bot, void bool) {
	h.t.Helper()
	rounds, _, err := h.store.Settlements(context.Background(), b.player.Operator, b.player.Partition(), 0, 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	found := 0
	for _, s := range rounds {
		if s.Round.String() != b.round.GetRoundId() {
			continue
		}
		found++
		if (s.State == ledger.Void) != void || void && (s.Payout != s.Stake || s.VoidReason != ledger.CrashVoidOwner) {
			h.t.Errorf("settled as %+v", s)
		}
	}
	if found != 1 {
		h.t.Errorf("%s has %d settlements", b.round.GetRoundId(), found)
	}
}

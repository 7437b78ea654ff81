package crash

import (
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// After a loss of the store the counts of a player's bets go on above a gap. His
// bets on both sides of it are found by their rounds, and the live one is shown.
func TestBetsAreFoundAcrossTheGapThatALossLeaves(t *testing.T) {
	h, e := onEmbedded(t)
	h.short.Betting = time.Second
	p := h.start(true)
	alice := h.player("alice")
	rounds, shown := map[string]uint32{}, map[string]bool{}
	for _, id := range []string{"a", "b", "c", "d"} {
		if id == "c" {
			e.Replace()
		}
		var round *originalsv1.Round
		h.await("a bet that is taken", func() (taken bool) {
			var err error
			round, err = p.bet(alice, id, 101)
			return err == nil
		})
		bet, err := ledger.ParseRoundID(round.GetRoundId())
		if err != nil || (id > "b") != (bet.Nonce >= ledger.CrashBookGap) {
			t.Errorf("%s is %v, %v", id, bet, err)
		}
		seen, err := p.GetTable(as(alice), &originalsv1.GetTableRequest{Table: "main"})
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
		shown[id] = len(seen.GetBets()) > 0 && seen.GetBets()[0].GetBetId() == id
		if again, err := p.bet(alice, id, 101); err == nil && again.GetState() == originalsv1.Round_OPEN && !shown[id] {
			t.Errorf("%s: the table shows %v", id, seen.GetBets())
		}
		h.await("the bet's end", func() bool { // a queued bet may enter a later round than it was told, after a loss
			ended, err := p.bet(alice, id, 101)
			rounds[id] = ended.GetCrash().GetNumber()
			return err == nil && ended.GetState() != originalsv1.Round_OPEN
		})
		h.awaitFinal(rounds[id])
	}
	if !shown["c"] && !shown["d"] { // else rounds ended before anybody could look
		t.Error("no bet above the gap was seen at the table")
	}
	for id, number := range rounds {
		req := &originalsv1.GetCrashRoundRequest{Table: "main", Number: number}
		if seen, err := p.GetCrashRound(as(alice), req); err != nil || seen.GetBet().GetBetId() != id {
			t.Errorf("%s: round %d shows %v, %v", id, number, seen.GetBet(), err)
		}
		if seen, err := p.GetCrashRound(as(h.player("bob")), req); err != nil || seen.GetBet() != nil {
			t.Errorf("another player is shown %v, %v", seen.GetBet(), err)
		}
	}
	without := 0
	for number := uint32(1); number < rounds["d"]; number++ {
		if number == rounds["a"] || number == rounds["b"] || number == rounds["c"] {
			continue
		}
		without++
		seen, err := p.GetCrashRound(as(alice), &originalsv1.GetCrashRoundRequest{Table: "main", Number: number})
		if err != nil || seen.GetBet() != nil {
			t.Errorf("round %d, in which she had no bet, shows %v, %v", number, seen.GetBet(), err)
		}
	}
	if without == 0 {
		t.Error("no number was skipped with the loss")
	}
}

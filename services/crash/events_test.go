package crash

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger"
)

// Only what is durable is shown as won.
func TestACashOutIsShownOnceItIsSettled(t *testing.T) {
	p := &publisher{}
	settled, failed, waiting := &liveBet{done: make(chan struct{})}, &liveBet{done: make(chan struct{}), err: errNoOwner}, &liveBet{done: make(chan struct{})}
	if shown := p.durable([]*liveBet{settled, failed, waiting}); len(shown) > 0 {
		t.Errorf("%d bets are shown before any is settled", len(shown))
	}
	close(settled.done)
	close(failed.done)
	if shown := p.durable(nil); len(shown) != 1 || shown[0] != settled {
		t.Errorf("%d bets are shown of one that is settled", len(shown))
	}
	close(waiting.done)
	if shown := p.durable(nil); len(shown) != 1 || shown[0] != waiting {
		t.Errorf("%d bets are shown of the one that was settled later", len(shown))
	}
}

// However many cash out at once, what all watchers are sent of it is bounded, and
// says how many they were.
func TestCashOutsOfOneMomentAreBounded(t *testing.T) {
	if shown := cashOuts("mask", nil); len(shown) > 0 {
		t.Errorf("none is shown as %v", shown)
	}
	for n, wantMore := range map[int]int{1: 0, 99: 0, 100: 0, 101: 1, 5000: 4900} {
		won := make([]*liveBet, n)
		for i := range won {
			won[i] = &liveBet{CrashBet: ledger.CrashBet{Player: ledger.Player{Operator: "house", ID: "alice"}, Currency: "FUN", Stake: 100}, cashOutE2: uint32(101 + i)}
		}
		events := cashOuts("mask", won)
		if len(events) != 1 {
			t.Fatalf("%d events of %d cash-outs", len(events), n)
		}
		m := events[0].GetCashOuts()
		if got := len(m.GetCashOuts()); got != n-wantMore || m.GetMore() != int32(wantMore) || m.GetCashOuts()[got-1].GetCashOutE2() != uint32(100+got) {
			t.Errorf("of %d cash-outs %d are shown, and %d more", n, got, m.GetMore())
		}
		if size := proto.Size(events[0]); size > 10_000 {
			t.Errorf("%d cash-outs take %d bytes", n, size)
		}
	}
}

package crash

import (
	"fmt"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Screen shows the wrong bet state: a bet that runs is shown to its player,
// however many he has placed and cancelled since.
func TestARunningBetIsShownBehindManyCancelledOnes(t *testing.T) {
	h, _ := onEmbedded(t)
	h.pace = 2
	for h.point(1) < 300 {
		h.chain = newChain(t)
	}
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	alice := h.player("alice")
	if _, err := p.bet(alice, "runs", 500); err != nil {
		t.Fatal(err)
	}
	h.awaitPhase(1, ledger.CrashRunning)
	for n := range 2 * (ledger.CrashBookGap + 8) {
		id := fmt.Sprint("cancelled-", n)
		if _, err := p.bet(alice, id, 500); err != nil {
			t.Fatal(err)
		}
		if _, err := p.CancelBet(as(alice), &originalsv1.CancelBetRequest{Table: "main", BetId: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.bet(alice, "queued", 500); err != nil {
		t.Fatal(err)
	}
	seen, err := p.GetTable(as(alice), &originalsv1.GetTableRequest{Table: "main"})
	if err != nil || seen.GetPhase() != originalsv1.CrashTable_RUNNING || seen.GetNumber() != 1 {
		t.Fatalf("%v %v", seen, err)
	}
	if b := seen.GetBets(); len(b) != 2 || b[0].GetBetId() != "queued" || b[1].GetBetId() != "runs" {
		t.Errorf("the table shows %v", b)
	}
}

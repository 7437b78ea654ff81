package ledgertest

import (
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// pendingStays leaves settlements alone for longer than acknowledgements are kept,
// beside one that was acknowledged: one is a dead letter, one was claimed, one nobody
// has ever seen. None is forgotten before a wallet has booked it.
func pendingStays(t *testing.T, w Wallets) {
	const lease = 500 * time.Millisecond
	for _, by := range []string{"claim", "cursor", "get"} {
		p := newSubject(t, w.Store)
		ids := p.play(4)
		claimed := claim(t, w, newClaim(p.Operator, 3, lease))
		wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: ids[1], Token: claimed[1].Token, Rejected: true, Reason: "no such account"}), ledger.Acknowledged)
		wantStatuses(t, acknowledge(t, w, p.Operator, booked(claimed[:1])...), ledger.Acknowledged)

		w.Wait(lease)
		w.Forget()
		wantSame(t, "dead letters", roundsOf(dead(t, w, p.Player, 0)), ids[1:2])
		if left, err := w.Store.Backlog(ctx, p.Operator); err != nil || left.OldestAge == 0 || left.DeadLetters != 1 {
			t.Errorf("%s: backlog %+v, %v", by, left, err)
		}
		switch by {
		case "get":
			for _, id := range ids[1:] {
				if got, err := w.Store.Settlement(ctx, p.Operator, id); err != nil || got.WalletTransaction != "" {
					t.Errorf("%s: %+v, %v", id, got, err)
				}
			}
			fallthrough
		case "cursor":
			for _, id := range ids[1:] {
				wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: id, WalletTransaction: "late"}), ledger.Acknowledged)
			}
		case "claim":
			if err := w.Store.Requeue(ctx, p.Operator, ids[1]); err != nil {
				t.Fatalf("requeue: %v", err)
			}
			got := claim(t, w, newClaim(p.Operator, 10, time.Minute))
			wantSame(t, "claimed", roundsOf(got), ids[1:])
			wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(3, ledger.Acknowledged)...)
		}
		if got := claim(t, w, newClaim(p.Operator, 10, time.Minute)); len(got) > 0 || len(dead(t, w, p.Player, 0)) > 0 {
			t.Errorf("%s: left %+v", by, got)
		}
		if left, err := w.Store.Backlog(ctx, p.Operator); err != nil || left != (ledger.Backlog{}) {
			t.Errorf("%s: backlog %+v, %v", by, left, err)
		}
		if got, err := w.Store.Settlement(ctx, p.Operator, ids[3]); err != nil || got.WalletTransaction == "" {
			t.Errorf("%s: %+v, %v", by, got, err)
		}
	}
}

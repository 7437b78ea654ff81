package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// transferFaults runs the same transfers again and again. In each run another
// step fails before the store saw it, or after it was done, and the call is
// repeated until it has an answer.
func transferFaults(t *testing.T, w Wallets) {
	steps := 0
	want := transferDay(t, w, func(call int) Fault { steps = call + 1; return None })
	if steps < 15 {
		t.Fatalf("the day has %d steps", steps)
	}
	for _, fault := range []Fault{Failed, Persisted} {
		for i := range steps {
			got := transferDay(t, w, func(call int) Fault {
				if call == i {
					return fault
				}
				return None
			})
			wantSame(t, fmt.Sprintf("fault %d at step %d", fault, i), got, want)
		}
	}
}

type transferSummary struct {
	Transfers []ledger.Transfer
	Balance   money.Units
}

// transferDay makes transfers through a store with faults, and looks at what is
// left through one without.
func transferDay(t *testing.T, w Wallets, decide func(int) Fault) transferSummary {
	p := somebody()
	faulty := w.Faulty(decide)
	insist := func(do func() (ledger.Transfer, error)) (ledger.Transfer, error) {
		before := balanceOrNone(t, w.Store, p)
		for range 10 {
			got, err := do()
			if err == nil || reason.Of(err) != reason.StoreUnavailable && reason.Of(err) != reason.InProgress {
				return got, err
			}
			if reason.Of(err).Known() && balanceOrNone(t, w.Store, p) != before {
				t.Fatalf("%v is called known, and moved money", err)
			}
			before = balanceOrNone(t, w.Store, p)
			w.Wait(w.TransferLease)
		}
		t.Fatal("never an answer")
		return ledger.Transfer{}, nil
	}
	apply := func(q ledger.Transfer) {
		t.Helper()
		if _, err := insist(func() (ledger.Transfer, error) { return faulty.Transfer(ctx, q) }); err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
	}
	apply(deposit(p, "a", 100))
	apply(withdrawal(p, "b", 30))
	apply(withdrawal(p, "c", 71))
	apply(deposit(p, "d", money.MaxUnits))
	if got, err := insist(func() (ledger.Transfer, error) { return faulty.CancelTransfer(ctx, p.Operator, "e") }); err != nil || got.State != ledger.Cancelled {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err := insist(func() (ledger.Transfer, error) { return faulty.Transfer(ctx, deposit(p, "e", 5)) })
	wantReason(t, err, reason.TransferCancelled)
	if _, err := insist(func() (ledger.Transfer, error) { return faulty.GetTransfer(ctx, p.Operator, "b") }); err != nil {
		t.Fatal(err)
	}

	s := transferSummary{Balance: balanceOf(t, w.Store, p, fun)}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		got, err := w.Store.GetTransfer(ctx, p.Operator, id)
		if err != nil {
			t.Fatal(err)
		}
		got.Operator, got.Player, got.CreateTime = "", "", time.Time{}
		s.Transfers = append(s.Transfers, got)
	}
	return s
}

func balanceOrNone(t fataler, s ledger.Store, p ledger.Player) money.Units {
	b, err := s.Balances(ctx, p)
	if err != nil {
		return -1
	}
	return b[fun]
}

// interrupted leaves a transfer that was begun, and decided or not, without a
// result at home.
func interrupted(t *testing.T, w Wallets, q ledger.Transfer, fault Fault, step int) {
	t.Helper()
	failing := w.Faulty(func(call int) Fault {
		switch {
		case call == step:
			return fault
		case call > step:
			return Failed
		}
		return None
	})
	if _, err := failing.Transfer(ctx, q); reason.Of(err) != reason.StoreUnavailable {
		t.Fatalf("an interrupted transfer answers %v", err)
	}
}

// interruptedEnds has a transfer stop after each of its steps, and somebody else
// end it.
func interruptedEnds(t *testing.T, w Wallets) {
	for step, begun := range []bool{false, true, true} {
		for _, fault := range []Fault{Failed, Persisted} {
			for _, by := range []string{"repeat", "get", "cancel"} {
				begun := begun || fault == Persisted
				applied := step == 2 || step == 1 && fault == Persisted
				p := somebody()
				q := deposit(p, "d", 5)
				interrupted(t, w, q, fault, step)
				if begun {
					_, err := w.Store.Transfer(ctx, q)
					if step < 2 || fault == Failed {
						wantReason(t, err, reason.InProgress)
					}
				}
				w.Wait(w.TransferLease)
				var got ledger.Transfer
				var err error
				switch by {
				case "repeat":
					got, err = w.Store.Transfer(ctx, q)
				case "get":
					got, err = w.Store.GetTransfer(ctx, p.Operator, q.ID)
				case "cancel":
					got, err = w.Store.CancelTransfer(ctx, p.Operator, q.ID)
				}
				what := fmt.Sprintf("fault %d at step %d, ended by %s", fault, step, by)
				want := money.Units(5)
				switch {
				case by == "get" && !begun:
					wantErr(t, err, ledger.ErrNotFound)
					want = -1
				case by == "cancel" && !applied:
					if err != nil || got.State != ledger.Cancelled {
						t.Fatalf("%s: %+v, %v", what, got, err)
					}
					want = -1
					_, err := w.Store.Transfer(ctx, q)
					wantReason(t, err, reason.TransferCancelled)
				case err != nil || got.State != ledger.Applied || got.Balance != 5:
					t.Fatalf("%s: %+v, %v", what, got, err)
				}
				wantSame(t, what, balanceOrNone(t, w.Store, p), want)
			}
		}
	}
}

// wakesUpLate has a process that is paused before a step wake up when the
// transfer was ended by others: nothing may change.
func wakesUpLate(t *testing.T, w Wallets) {
	for step := 1; step < 3; step++ {
		p := somebody()
		q := deposit(p, "d", 5)
		asleep, wake, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		paused := w.Faulty(func(call int) Fault {
			if call == step {
				close(asleep)
				<-wake
			}
			return None
		})
		var late ledger.Transfer
		var lateErr error
		go func() {
			defer close(done)
			late, lateErr = paused.Transfer(ctx, q)
		}()
		<-asleep
		w.Wait(w.TransferLease)
		got, err := w.Store.CancelTransfer(ctx, p.Operator, q.ID)
		want := money.Units(-1)
		if step == 2 {
			want = 5
		}
		if err != nil || (got.State == ledger.Applied) != (want == 5) {
			t.Fatalf("paused before step %d: %+v, %v", step, got, err)
		}
		close(wake)
		<-done
		if want == 5 && (lateErr != nil || late.State != ledger.Applied) || want < 0 && reason.Of(lateErr) != reason.TransferCancelled {
			t.Fatalf("paused before step %d, and late: %+v, %v", step, late, lateErr)
		}
		wantSame(t, "balance", balanceOrNone(t, w.Store, p), want)
	}
}

package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// RunWalletClock runs what needs a store whose clock can be set.
func RunWalletClock(t *testing.T, w Wallets) { runWallets(t, w, walletClockChecks) }

var walletClockChecks = []walletCheck{
	{"idempotency records stay answerable for 400 days", transfersStay},
	{"a claimer that is paused and wakes up leases nothing more", claimerWakesUp},
	{"a clock that steps back gives no token twice", clockStepsBack},
	{"a clock that steps back books no transfer twice", clockStepsBackFromTransfers},
}

func transfersStay(t *testing.T, w Wallets) {
	for _, day := range []string{"2031-01-01T00:00:00Z", "2031-02-17T12:00:00Z", "2031-04-11T23:59:59Z"} {
		made := clockAt(w, day)
		p := somebody()
		in := deposit(p, "d", 5)
		transfer(t, w.Store, in)
		if _, err := w.Store.CancelTransfer(ctx, p.Operator, "c"); err != nil {
			t.Fatal(err)
		}
		for _, later := range []time.Duration{99, 100, 101, 250, 399, 400} {
			w.SetTime(made.Add(later * 24 * time.Hour))
			got := transfer(t, w.Store, in)
			wantTransfer(t, got, in, ledger.Applied, 5, true)
			if got, err := w.Store.CancelTransfer(ctx, p.Operator, "c"); err != nil || !got.Replayed {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(5))
	}
}

// clockStepsBackFromTransfers steps over every midnight of some 100 days, so that
// it meets the border of whatever a store divides its records by.
func clockStepsBackFromTransfers(t *testing.T, w Wallets) {
	first := clockAt(w, "2031-01-01T00:00:00Z")
	p := somebody()
	for day := range 101 {
		midnight := first.Add(time.Duration(day) * 24 * time.Hour)
		w.SetTime(midnight)
		in := deposit(p, fmt.Sprint("d-", day), 5)
		transfer(t, w.Store, in)
		w.SetTime(midnight.Add(-time.Second))
		again := transfer(t, w.Store, in)
		if !again.Replayed {
			t.Fatalf("booked again before %v", midnight)
		}
	}
	wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(101*5))
}

func claimerWakesUp(t *testing.T, w Wallets) {
	at := clockAt(w, "2031-05-06T10:00:00Z")
	p := newSubject(t, w.Store)
	claim(t, w, newClaim(p.Operator, 10, time.Hour)) // the scripts are known from now on: each is one call
	ids := p.play(2)
	asleep, wake := make(chan struct{}), make(chan struct{})
	paused := w.Faulty(func(call int) Fault {
		if call == 1 { // the claim is recorded, and has nothing yet
			close(asleep)
			<-wake
		}
		return None
	})
	c := newClaim(p.Operator, 10, time.Hour)
	late := make(chan []ledger.SettledRound)
	go func() {
		got, err := paused.Claim(ctx, c)
		if err != nil {
			t.Errorf("%v", err)
		}
		late <- got
	}()
	<-asleep
	w.SetTime(at.Add(6 * time.Second))
	own := claim(t, w, newClaim(p.Operator, 10, time.Second))
	if len(own) != 2 {
		t.Fatalf("%+v", own)
	}
	w.SetTime(at.Add(10 * time.Second)) // their lease has ended, too
	close(wake)
	if got := <-late; len(got) > 0 {
		t.Fatalf("the late claim has %+v", got)
	}
	if got := claim(t, w, newClaim(p.Operator, 10, time.Hour)); len(got) != 2 || got[0].Round != ids[0] {
		t.Fatalf("%+v", got)
	}
}

func clockStepsBack(t *testing.T, w Wallets) {
	at := clockAt(w, "2031-05-06T10:00:00Z")
	p := newSubject(t, w.Store)
	var last uint64
	for _, back := range []time.Duration{0, time.Hour, 2 * time.Hour, 0} {
		w.SetTime(at.Add(-back))
		p.play(1)
		got := claim(t, w, newClaim(p.Operator, 10, time.Minute))
		if len(got) != 1 || got[0].Token <= last {
			t.Fatalf("%+v after token %d", got, last)
		}
		last = got[0].Token
		wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), ledger.Acknowledged)
	}
}

package ledgertest

import (
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// claimTwiceAtOnce has a wallet give up waiting and repeat its claim, while the
// first call is still under way and settlements come. Both have the same items,
// and neither keeps others from what it does not answer with.
func claimTwiceAtOnce(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	claim(t, w, newClaim(p.Operator, 10, long)) // the scripts are known from now on: each is one call
	early := p.play(2)
	asleep, wake := make(chan struct{}), make(chan struct{})
	paused := w.Faulty(func(call int) Fault {
		if call == 1 { // the claim is recorded, and has nothing yet
			close(asleep)
			<-wake
		}
		return None
	})
	c := newClaim(p.Operator, 100, long)
	first := make(chan []ledger.SettledRound)
	go func() {
		got, err := paused.Claim(ctx, c)
		if err != nil {
			t.Errorf("%v", err)
		}
		first <- got
	}()
	<-asleep
	second := claim(t, w, c)
	wantSame(t, "the repeat", roundsOf(second), early)
	late := map[ledger.RoundID]bool{}
	for range 6 {
		for _, id := range playerOf(t, w, p.Operator).play(2) {
			late[id] = true
		}
	}
	close(wake)
	wantSame(t, "the call that was first", <-first, second)
	wantSame(t, "another repeat", claim(t, w, c), second)
	got := claim(t, w, newClaim(p.Operator, 100, long))
	for _, r := range got {
		delete(late, r.Round)
	}
	if len(got) != 12 || len(late) > 0 {
		t.Fatalf("%d of 12 settlements are left to others", len(got))
	}
}

// claimCutOff has a claim fail at each of its steps, and be repeated when more
// has come: what it leased before is part of the answer, and not on top of it.
func claimCutOff(t *testing.T, w Wallets) {
	for cut := 1; ; cut++ {
		p := newSubject(t, w.Store)
		early := p.play(2)
		failing := w.Faulty(func(call int) Fault {
			if call >= cut {
				return Failed
			}
			return None
		})
		c := claimsAt(w, p.Operator, p.Partition(), false, 2, long) // one at home has fewer steps
		_, err := failing.Claim(ctx, c)
		leased := len(claim(t, w, newClaim(p.Operator, 2, 300*time.Millisecond))) == 0
		w.Wait(300 * time.Millisecond)
		for range 4 {
			playerOf(t, w, p.Operator).play(2)
		}
		got := claim(t, w, c)
		if len(got) != 2 || leased && !slices.Equal(roundsOf(got), early) {
			t.Fatalf("cut at step %d: %+v", cut, got)
		}
		if err == nil {
			if !leased || cut < 4 {
				t.Fatalf("a claim of %d steps, leased %v", cut, leased)
			}
			return
		}
	}
}

package ledgertest

import (
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// reject makes dead letters of what was claimed.
func reject(t *testing.T, w Wallets, rounds ...ledger.SettledRound) {
	t.Helper()
	acks := booked(rounds)
	for i := range acks {
		acks[i].Rejected = true
	}
	wantStatuses(t, acknowledge(t, w, rounds[0].Player.Operator, acks...), all(len(acks), ledger.Acknowledged)...)
}

// requeuedInOrder puts one back before later ones that were held and given back,
// and behind later ones that are leased, where it comes right after them.
func requeuedInOrder(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(5)
	c := newClaim(p.Operator, 4, long)
	got := claim(t, w, c)
	reject(t, w, got[0], got[1])
	requeue := func(id ledger.RoundID) {
		t.Helper()
		if err := w.Store.Requeue(ctx, p.Operator, id); err != nil {
			t.Fatal(err)
		}
	}
	release := func(id string) {
		t.Helper()
		if n, err := w.Store.Release(ctx, p.Operator, id); n != 1 || err != nil {
			t.Fatalf("released %d, %v", n, err)
		}
	}
	release(c.ID)
	requeue(ids[0])
	c = newClaim(p.Operator, 2, long)
	if got = claim(t, w, c); !slices.Equal(roundsOf(got), []ledger.RoundID{ids[0], ids[2]}) || got[0].Attempt != 1 || got[1].Attempt != 2 {
		t.Fatalf("%+v", got)
	}
	requeue(ids[1]) // ids[2] is leased: it cannot be called back
	release(c.ID)
	w.Wait(2 * w.Backoff)
	c = newClaim(p.Operator, 2, long)
	if got = claim(t, w, c); !slices.Equal(roundsOf(got), ids[:2]) {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(2, ledger.Acknowledged)...)
	if got = claim(t, w, newClaim(p.Operator, 9, long)); !slices.Equal(roundsOf(got), ids[2:]) {
		t.Fatalf("%+v", got)
	}
}

func backlog(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	want := func(dead, unclaimed int64, waits bool) {
		t.Helper()
		got, err := w.Store.Backlog(ctx, p.Operator)
		if err != nil || got.DeadLetters != dead || got.Unclaimed != unclaimed || waits != (got.OldestAge > 0) || got.OldestAge > time.Minute {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	want(0, 0, false)
	ids := p.play(3)
	w.Wait(20 * time.Millisecond)
	want(0, 3, true)
	got := claim(t, w, newClaim(p.Operator, 9, long))
	want(0, 0, true)
	reject(t, w, got[0])
	want(1, 0, true)
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got[1:])...), all(2, ledger.Acknowledged)...)
	want(1, 0, false)
	p.play(1)
	w.Wait(20 * time.Millisecond)
	want(1, 1, true)
	got = claim(t, w, newClaim(p.Operator, 9, long))
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), ledger.Acknowledged)
	want(1, 0, false)
	if err := w.Store.Requeue(ctx, p.Operator, ids[0]); err != nil {
		t.Fatal(err)
	}
	want(0, 0, true) // nobody claims it, and it waits since its round ended
	got = claim(t, w, newClaim(p.Operator, 9, long))
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), ledger.Acknowledged)
	want(0, 0, false)
	// The longest is that of any partition.
	p.play(1)
	w.Wait(200 * time.Millisecond)
	for range 5 {
		playerOf(t, w, p.Operator).play(1)
	}
	left, err := w.Store.Backlog(ctx, p.Operator)
	if err != nil || left.OldestAge < 200*time.Millisecond || left.Unclaimed != 6 {
		t.Fatalf("%+v, %v", left, err)
	}
}

package ledgertest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

func claimLeasesPlayers(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	q := playerOf(t, w, p.Operator)
	mine, his := p.play(3), q.play(2)
	first := claim(t, w, newClaim(p.Operator, 100, long))
	if len(first) != 5 {
		t.Fatalf("%d settlements", len(first))
	}
	byPlayer := map[ledger.Player][]ledger.RoundID{}
	for _, r := range first {
		byPlayer[r.Player] = append(byPlayer[r.Player], r.Round)
		if left := time.Until(r.LeaseExpire); r.Token == 0 || r.Attempt != 1 || left < long-10*time.Second || left > long+time.Second {
			t.Fatalf("%+v", r)
		}
	}
	wantSame(t, "runs", byPlayer, map[ledger.Player][]ledger.RoundID{p.Player: mine, q.Player: his})
	more := p.play(2) // he is leased: nobody else gets them
	third := playerOf(t, w, p.Operator)
	own := third.play(1)
	if got := claim(t, w, newClaim(p.Operator, 100, long)); !slices.Equal(roundsOf(got), own) {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(first)...), all(5, ledger.Acknowledged)...)
	got := claim(t, w, newClaim(p.Operator, 100, long))
	if !slices.Equal(roundsOf(got), more) || got[0].Token <= first[0].Token {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(2, ledger.Acknowledged)...)
	if got := claim(t, w, newClaim(p.Operator, 100, long)); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
}

func claimRepeated(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	for range 4 {
		playerOf(t, w, p.Operator).play(3)
	}
	const lease = 600 * time.Millisecond
	c := newClaim(p.Operator, 9, lease)
	first := claim(t, w, c)
	if len(first) != 9 {
		t.Fatalf("%d settlements", len(first))
	}
	playerOf(t, w, p.Operator).play(3)
	wantSame(t, "repeat", claim(t, w, c), first)
	for _, change := range []func(*ledger.Claim){
		func(c *ledger.Claim) { c.Consumer = "other" }, func(c *ledger.Claim) { c.Max++ }, func(c *ledger.Claim) { c.Lease++; c.Lease += time.Second },
	} {
		other := c
		change(&other)
		_, err := w.Store.Claim(ctx, other)
		wantErr(t, err, ledger.ErrClaimReused)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(first[:1])...), ledger.Acknowledged)
	again := claim(t, w, c)
	if !slices.Equal(roundsOf(again), roundsOf(first)) || again[0].WalletTransaction == "" {
		t.Fatalf("%+v", again)
	}
	w.Wait(lease)
	for range 2 {
		if got := claim(t, w, c); len(got) > 0 {
			t.Fatalf("after its end the claim has %+v", got)
		}
	}
}

func claimCut(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(10)
	first := claim(t, w, newClaim(p.Operator, 4, long))
	if !slices.Equal(roundsOf(first), ids[:4]) {
		t.Fatalf("%+v", first)
	}
	if got := claim(t, w, newClaim(p.Operator, 4, long)); len(got) > 0 {
		t.Fatalf("a leased player was given to another: %+v", got)
	}
	// What is left of the run comes first next time.
	wantStatuses(t, acknowledge(t, w, p.Operator, booked([]ledger.SettledRound{first[0], first[2]})...), all(2, ledger.Acknowledged)...)
	c := newClaim(p.Operator, 3, long)
	if got := claim(t, w, c); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked([]ledger.SettledRound{first[1], first[3]})...), all(2, ledger.Acknowledged)...)
	if got := claim(t, w, newClaim(p.Operator, 3, long)); !slices.Equal(roundsOf(got), ids[4:7]) {
		t.Fatalf("%+v", got)
	}
}

func expiredLease(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(2)
	const lease = 300 * time.Millisecond
	old := claim(t, w, newClaim(p.Operator, 10, lease))
	w.Wait(lease)
	next := claim(t, w, newClaim(p.Operator, 10, long))
	if !slices.Equal(roundsOf(next), ids) || next[0].Token <= old[0].Token || next[0].Attempt != 2 {
		t.Fatalf("%+v after %+v", next, old)
	}
	late := booked(old)
	wantStatuses(t, acknowledge(t, w, p.Operator, late...), all(2, ledger.StaleLease)...)
	late[0].Rejected = true
	wantStatuses(t, acknowledge(t, w, p.Operator, late[0]), ledger.StaleLease)
	if got, err := w.Store.Settlement(ctx, p.Operator, ids[0]); err != nil || got.WalletTransaction != "" {
		t.Fatalf("a late acknowledgement left %+v, %v", got, err)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(next)...), all(2, ledger.Acknowledged)...)
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(old)...), all(2, ledger.AlreadyAcknowledged)...)
	late = booked(old)
	late[0].WalletTransaction = "another"
	wantStatuses(t, acknowledge(t, w, p.Operator, late[0]), ledger.Conflict)
}

func attemptsCapped(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(3)
	const lease = 100 * time.Millisecond
	wait := time.Duration(0)
	for i := range w.Attempts {
		got := claim(t, w, newClaim(p.Operator, 2, lease))
		if !slices.Equal(roundsOf(got), ids[:2]) || got[0].Attempt != uint32(i+1) {
			t.Fatalf("attempt %d: %+v", i+1, got)
		}
		w.Wait(lease)
		if wait = w.Backoff << i >> 1; i == 0 {
			wait = 0
		}
		if wait > 0 {
			if got := claim(t, w, newClaim(p.Operator, 2, lease)); len(got) > 0 {
				t.Fatalf("no delay after attempt %d: %+v", i+1, got)
			}
		}
		other := playerOf(t, w, p.Operator) // is held back by nobody
		if own := other.play(1); i == 1 {
			if got := claim(t, w, newClaim(p.Operator, 1, long)); !slices.Equal(roundsOf(got), own) {
				t.Fatalf("%+v", got)
			}
		} else {
			wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: own[0], WalletTransaction: "x"}), ledger.Acknowledged)
		}
		w.Wait(wait)
	}
	got := claim(t, w, newClaim(p.Operator, 2, long))
	if !slices.Equal(roundsOf(got), ids[1:]) {
		t.Fatalf("after the last attempt: %+v", got)
	}
	letters := dead(t, w, p.Player, 0)
	if !slices.Equal(roundsOf(letters), ids[:1]) || letters[0].RejectReason != "attempts" {
		t.Fatalf("%+v", letters)
	}
}

func releaseAndExtend(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(2)
	c := newClaim(p.Operator, 10, long)
	old := claim(t, w, c)
	if n, err := w.Store.Release(ctx, p.Operator, c.ID); n != 1 || err != nil {
		t.Fatalf("released %d, %v", n, err)
	}
	if n, err := w.Store.Release(ctx, p.Operator, c.ID); n != 0 || err != nil {
		t.Fatalf("released %d more, %v", n, err)
	}
	if got := claim(t, w, c); len(got) > 0 {
		t.Fatalf("a claim that was given back has %+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(old)...), all(2, ledger.StaleLease)...)

	const lease = 1500 * time.Millisecond // a busy machine takes part of it
	c = newClaim(p.Operator, 10, lease)
	got := claim(t, w, c)
	if !slices.Equal(roundsOf(got), ids) || got[0].Attempt != 2 {
		t.Fatalf("%+v", got)
	}
	n, until, err := w.Store.Extend(ctx, p.Operator, c.ID, long)
	if n != 1 || err != nil || !until.After(got[0].LeaseExpire) {
		t.Fatalf("extended %d to %v, %v", n, until, err)
	}
	w.Wait(lease)
	again := claim(t, w, c)
	if !slices.Equal(roundsOf(again), ids) || !again[0].LeaseExpire.Equal(until) || again[0].Token != got[0].Token {
		t.Fatalf("%+v until %v", again, until)
	}
	if other := claim(t, w, newClaim(p.Operator, 10, long)); len(other) > 0 {
		t.Fatalf("%+v", other)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(2, ledger.Acknowledged)...)
	if n, _, err := w.Store.Extend(ctx, p.Operator, "unknown", long); n != 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
}

// releasedStays has a wallet give back what it cannot book now, more often than a
// settlement may be claimed in vain.
func releasedStays(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(2)
	claimed := func(lease time.Duration, attempt int) (ledger.Claim, []ledger.SettledRound) {
		t.Helper()
		c := newClaim(p.Operator, 10, lease)
		got := claim(t, w, c)
		if !slices.Equal(roundsOf(got), ids) || got[0].Attempt != uint32(attempt) {
			t.Fatalf("claim %d: %+v", attempt, got)
		}
		return c, got
	}
	release := func(c ledger.Claim) {
		t.Helper()
		if n, err := w.Store.Release(ctx, p.Operator, c.ID); n != 1 || err != nil {
			t.Fatalf("released %d, %v", n, err)
		}
	}
	for i := range w.Attempts {
		c, _ := claimed(long, i+1)
		release(c)
		w.Wait(w.Backoff << i >> 1)
	}
	c, _ := claimed(long, w.Attempts+1)
	released := time.Now()
	release(c)
	if got := claim(t, w, newClaim(p.Operator, 10, long)); len(got) > 0 {
		if time.Since(released) < w.Backoff<<(w.Attempts-1) {
			t.Fatalf("no delay after %d claims: %+v", w.Attempts+1, got)
		}
		return // on a machine that is too busy to see it
	}
	w.Wait(w.Backoff << (w.Attempts - 1))
	c, got := claimed(long, w.Attempts+2)
	// Claims are counted for the oldest: the next one begins anew, also within a lease.
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got[:1])...), ledger.Acknowledged)
	ids = ids[1:]
	release(c)
	const lease = 100 * time.Millisecond
	for i := range w.Attempts {
		claimed(lease, w.Attempts+3+i)
		w.Wait(lease + w.Backoff<<i>>1)
	}
	if got := claim(t, w, newClaim(p.Operator, 10, long)); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
	if letters := dead(t, w, p.Player, 0); !slices.Equal(roundsOf(letters), ids) {
		t.Fatalf("%+v", letters)
	}
}

// claimersAtOnce has several consumers race for the settlements of many players.
// Each settlement is acknowledged once, and the runs of a player in their order.
func claimersAtOnce(t *testing.T, w Wallets) {
	operator := "op-" + unique()
	want := map[ledger.RoundID]bool{}
	for range 12 {
		for _, id := range playerOf(t, w, operator).play(20) {
			want[id] = true
		}
	}
	var mu sync.Mutex
	var done sync.WaitGroup
	last, taken := map[ledger.Player]uint64{}, map[ledger.RoundID]int{}
	for range 4 {
		done.Go(func() {
			for empty := 0; empty < 3; {
				got, err := w.Store.Claim(ctx, newClaim(operator, 7, long))
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				if len(got) == 0 {
					empty++
				}
				mu.Lock()
				for _, r := range got {
					taken[r.Round]++
					if last[r.Player] >= r.Sequence {
						t.Errorf("%s came after %d", r.Round, last[r.Player])
					}
					last[r.Player] = r.Sequence
				}
				mu.Unlock()
				results, err := w.Store.Acknowledge(ctx, operator, booked(got))
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				for _, r := range results {
					if r.Status != ledger.Acknowledged {
						t.Errorf("%+v", r)
					}
				}
			}
		})
	}
	done.Wait()
	for id := range want {
		if taken[id] != 1 {
			t.Fatalf("%s was claimed %d times", id, taken[id])
		}
	}
	if len(taken) != len(want) {
		t.Fatalf("%d of %d", len(taken), len(want))
	}
}

// feedFaults claims and acknowledges again and again; in each run another step
// fails before the store saw it, or after it was done, and the call is repeated
// with the same ids.
func feedFaults(t *testing.T, w Wallets) {
	day := func(decide func(call int) Fault) (summary []string) {
		p := newSubject(t, w.Store)
		p.play(3)
		faulty := w.Faulty(decide)
		c := newClaim(p.Operator, 10, long)
		got := must(t, func() ([]ledger.SettledRound, error) { return retriable(faulty.Claim(ctx, c)) })
		acks := booked(got)
		acks[2].Rejected = true
		results := must(t, func() ([]ledger.AckResult, error) { return retriable(faulty.Acknowledge(ctx, p.Operator, acks)) })
		for _, r := range results {
			if r.Status != ledger.Acknowledged && r.Status != ledger.AlreadyAcknowledged {
				t.Fatalf("%+v", r)
			}
		}
		letter := got[2].Round
		must(t, func() (int, error) { return retriable(0, faulty.Requeue(ctx, p.Operator, letter)) })
		again := newClaim(p.Operator, 10, long)
		got = must(t, func() ([]ledger.SettledRound, error) { return retriable(faulty.Claim(ctx, again)) })
		must(t, func() (int, error) {
			n, _, err := faulty.Extend(ctx, p.Operator, again.ID, 2*long)
			return retriable(n, err)
		})
		must(t, func() (int, error) { return retriable(faulty.Release(ctx, p.Operator, again.ID)) })
		last := claim(t, w, newClaim(p.Operator, 10, long))
		for _, r := range append(got, last...) {
			summary = append(summary, fmt.Sprint(r.Sequence, r.Attempt, r.WalletTransaction))
		}
		rounds, _, err := w.Store.Settlements(ctx, p.Operator, p.Partition(), 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rounds {
			one, err := w.Store.Settlement(ctx, p.Operator, r.Round)
			if err != nil {
				t.Fatal(err)
			}
			summary = append(summary, one.WalletTransaction)
		}
		return append(summary, fmt.Sprint(len(dead(t, w, p.Player, 0))))
	}
	// Which partitions are looked at, and in which order, differs from run to run:
	// steps are told by how many there were.
	steps := 0
	want := day(func(call int) Fault { steps = call + 1; return None })
	for _, fault := range []Fault{Failed, Persisted} {
		for i := 0; i < steps+5; i++ {
			if i > 6 && i < steps-60 && i%7 != 0 { // the many looks are all alike
				continue
			}
			wantSame(t, fmt.Sprintf("fault %d at step %d", fault, i), day(func(call int) Fault {
				if call == i {
					return fault
				}
				return None
			}), want)
		}
	}
}

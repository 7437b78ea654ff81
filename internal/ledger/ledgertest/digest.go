package ledgertest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// RunDigests runs the suite of digests. Where w.SetTime is nil, what needs
// another time is left out.
func RunDigests(t *testing.T, w Wallets) {
	runWallets(t, w, digestChecks)
	if w.SetTime != nil {
		runWallets(t, w, clockChecks)
	}
}

var digestChecks = []walletCheck{
	{"a digest sums up the settlements of its hour and day", digestOfNow},
	{"one settlement that differs is found with logarithmically many calls", bisection},
	{"digests of another operator are empty", foreignDigests},
}

var clockChecks = []walletCheck{
	{"an hour is one run of sequences, also where the clock steps back", hoursAreRuns},
	{"an hour that was answered as complete never changes", completeStays},
	{"hours are kept for 7 days, days for 400", digestsExpire},
	{"a failed digest that had an effect: each step", digestFaults},
}

func digest(t fataler, w Wallets, span ledger.DigestSpan) ledger.Digest {
	t.Helper()
	d, err := w.Store.Digest(ctx, span)
	if err != nil {
		t.Fatalf("digest of %+v: %v", span, err)
	}
	return d
}

// digestOf is what a wallet makes of what it has on its books.
func digestOf(rounds []ledger.SettledRound) ledger.Digest {
	var tree ledger.Merkle
	sums := make(ledger.Sums)
	var d ledger.Digest
	for _, r := range rounds {
		tree.Add(r.Leaf())
		sums.Add(r)
	}
	if len(rounds) > 0 {
		d.First, d.Count = rounds[0].Sequence, int64(len(rounds))
	}
	d.Sums, d.Root = sums.List(), tree.Root()
	return d
}

func feedOf(t fataler, w Wallets, p ledger.Player) []ledger.SettledRound {
	t.Helper()
	var all []ledger.SettledRound
	for {
		page, _, err := w.Store.Settlements(ctx, p.Operator, p.Partition(), uint64(len(all)), 500)
		if err != nil {
			t.Fatalf("settlements: %v", err)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
	}
}

func spanOf(p ledger.Player, at time.Time, day bool) ledger.DigestSpan {
	length := time.Hour
	if day {
		length = 24 * time.Hour
	}
	return ledger.DigestSpan{Operator: p.Operator, Partition: p.Partition(), Begin: at.UTC().Truncate(length), Day: day}
}

func storeTime(t fataler, w Wallets) time.Time {
	t.Helper()
	now, err := w.Store.Now(ctx)
	if err != nil {
		t.Fatalf("time: %v", err)
	}
	return now
}

func digestOfNow(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	begin := storeTime(t, w)
	for i, d := range p.everyGame() {
		p.settle(p.settlement(p.draw(d), money.Units(i)))
	}
	transfer(t, w.Store, func() ledger.Transfer { q := deposit(p.Player, "d", 1000); q.Currency = "BTC"; return q }())
	d := p.dice(100)
	d.Currency = "BTC"
	p.settle(p.settlement(p.draw(d), 0))
	rounds := feedOf(t, w, p.Player)
	if end := storeTime(t, w); end.Truncate(time.Hour) != begin.Truncate(time.Hour) {
		return // the hour ended meanwhile: the tests with a clock of their own cover it
	}
	want := digestOf(rounds)
	want.Open = true
	if len(want.Sums) != 2 || want.Sums[0].Currency != "BTC" || want.Count < 5 {
		t.Fatalf("%+v", want)
	}
	wantSame(t, "hour", digest(t, w, spanOf(p.Player, begin, false)), want)
	wantSame(t, "day", digest(t, w, spanOf(p.Player, begin, true)), want)
	empty := digestOf(nil)
	wantSame(t, "hour before", digest(t, w, spanOf(p.Player, begin.Add(-time.Hour), false)), empty)
	empty.Open = true
	wantSame(t, "hour after", digest(t, w, spanOf(p.Player, begin.Add(time.Hour), false)), empty)

	run := spanOf(p.Player, begin, true)
	run.First, run.Count = 3, 2
	want = digestOf(rounds[2:4])
	want.Open = true
	wantSame(t, "run", digest(t, w, run), want)
	run.First, run.Count = uint64(len(rounds)), 100 // no further than the day
	want = digestOf(rounds[len(rounds)-1:])
	want.Open = true
	wantSame(t, "last run", digest(t, w, run), want)
	odd := spanOf(p.Player, begin, false)
	odd.Begin = odd.Begin.Add(time.Second)
	_, err := w.Store.Digest(ctx, odd)
	wantErr(t, err, ledger.ErrNotFound)
}

func foreignDigests(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	p.play(3)
	span := spanOf(p.Player, storeTime(t, w), true)
	span.Operator = "op-" + unique()
	if d := digest(t, w, span); d.Count != 0 || d.First != 0 || len(d.Sums) > 0 {
		t.Fatalf("%+v", d)
	}
}

// bisection has a wallet with one wrong settlement among many find it.
func bisection(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	begin := storeTime(t, w)
	total := w.Bisect
	var g sync.WaitGroup
	for range 20 {
		q := newcomer(t, w.Store, neighbour(p.Player), money.MaxUnits/1000)
		q.rotate()
		g.Go(func() {
			for j := range total / 20 {
				d := q.dice(5)
				d.Decided = &ledger.Decided{Nonce: uint32(j), Payout: money.Units(j % 10)}
				if _, err := w.Store.Draw(ctx, d); err != nil {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	g.Wait()
	books := feedOf(t, w, p.Player)
	if len(books) != total {
		t.Fatalf("%d settlements", len(books))
	}
	if storeTime(t, w).Truncate(24*time.Hour) != begin.Truncate(24*time.Hour) {
		return
	}
	for _, wrong := range []int{total / 3, total - 1} {
		own := append([]ledger.SettledRound(nil), books...)
		own[wrong].Payout++
		calls := 0
		low, high := 0, total // the wrong one is among these
		for high-low > 1 {
			middle := (low + high) / 2
			span := spanOf(p.Player, begin, true)
			span.First, span.Count = own[low].Sequence, int64(middle-low)
			calls++
			if digest(t, w, span).Root == digestOf(own[low:middle]).Root {
				low = middle
			} else {
				high = middle
			}
		}
		if low != wrong || calls > 17 || calls < 5 {
			t.Fatalf("found %d instead of %d, with %d calls", low, wrong, calls)
		}
	}
}

// clockAt stops the store's clock.
func clockAt(w Wallets, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	w.SetTime(at)
	return at
}

func hoursAreRuns(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	var want [4][]int // sequences, by hour from 10
	next := 0
	play := func(at string, rounds, hour int) {
		clockAt(w, "2031-05-06T"+at+"Z")
		p.play(rounds)
		for range rounds {
			want[hour-10] = append(want[hour-10], next)
			next++
		}
	}
	play("10:59:59", 3, 10)
	play("11:00:00", 2, 11)
	play("10:58:00", 4, 11) // the clock stepped back
	play("11:30:00", 1, 11)
	play("13:00:00", 260, 13)
	clockAt(w, "2031-05-06T14:00:00Z")
	rounds := feedOf(t, w, p.Player)
	for i, sequences := range want {
		var part []ledger.SettledRound
		if len(sequences) > 0 {
			part = rounds[sequences[0] : sequences[len(sequences)-1]+1]
		}
		span := spanOf(p.Player, clockAt(w, "2031-05-06T14:00:00Z"), false)
		span.Begin = span.Begin.Add(time.Duration(i-4) * time.Hour)
		for range 2 { // the second answer is one that was kept
			wantSame(t, fmt.Sprint("hour ", 10+i), digest(t, w, span), digestOf(part))
		}
	}
	day := spanOf(p.Player, clockAt(w, "2031-05-06T14:00:00Z"), true)
	all := digestOf(rounds)
	all.Open = true
	wantSame(t, "day", digest(t, w, day), all)
	clockAt(w, "2031-05-07T00:00:00Z")
	all.Open = false
	for range 2 {
		wantSame(t, "day", digest(t, w, day), all)
	}
}

func completeStays(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	at := clockAt(w, "2031-05-06T10:30:00Z")
	p.play(2)
	clockAt(w, "2031-05-06T11:00:00Z")
	ten := spanOf(p.Player, at, false)
	before := digest(t, w, ten)
	if before.Count != 2 || before.Open {
		t.Fatalf("%+v", before)
	}
	clockAt(w, "2031-05-06T10:31:00Z")
	p.play(3)
	run := ten
	run.First, run.Count = 1, 100 // is not kept, so that it is made anew
	clockAt(w, "2031-05-06T12:00:00Z")
	for _, span := range []ledger.DigestSpan{ten, run} {
		wantSame(t, "hour", digest(t, w, span), before)
	}
	eleven := ten
	eleven.Begin = eleven.Begin.Add(time.Hour)
	if d := digest(t, w, eleven); d.First != 3 || d.Count != 3 {
		t.Fatalf("%+v", d)
	}
}

func digestsExpire(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	at := clockAt(w, "2031-05-06T10:30:00Z")
	p.play(2)
	hour, day := spanOf(p.Player, at, false), spanOf(p.Player, at, true)
	for _, c := range []struct {
		now       string
		hour, day bool
	}{
		{"2031-05-06T11:00:00Z", true, true}, {"2031-05-13T10:59:59Z", true, true}, {"2031-05-13T11:00:01Z", false, true},
		{"2032-06-09T23:59:59Z", false, true}, {"2032-06-10T00:00:01Z", false, false},
	} {
		clockAt(w, c.now)
		for span, kept := range map[ledger.DigestSpan]bool{hour: c.hour, day: c.day} {
			d, err := w.Store.Digest(ctx, span)
			if kept && (err != nil || d.Count != 2) {
				t.Fatalf("%s: %+v, %v", c.now, d, err)
			}
			if !kept {
				wantErr(t, err, ledger.ErrNotFound)
			}
		}
	}
}

// digestFaults asks for an hour that is over, and for what a wallet lags behind,
// through a store of which another step fails each time.
func digestFaults(t *testing.T, w Wallets) {
	day := func(decide func(call int) Fault) {
		p := newSubject(t, w.Store)
		at := clockAt(w, "2031-05-06T10:30:00Z")
		p.play(3)
		clockAt(w, "2031-05-06T11:00:00Z")
		want, span := digestOf(feedOf(t, w, p.Player)), spanOf(p.Player, at, false)
		faulty := w.Faulty(decide)
		for range 2 { // it is made, and then it is had again
			got := must(t, func() (ledger.Digest, error) { return retriable(faulty.Digest(ctx, span)) })
			wantSame(t, "digest", got, want)
		}
		left := must(t, func() (ledger.Backlog, error) { return retriable(faulty.Backlog(ctx, p.Operator)) })
		wantSame(t, "backlog", left, ledger.Backlog{Unclaimed: 3, OldestAge: 30 * time.Minute})
		wantSame(t, "digest", digest(t, w, span), want)
	}
	steps := 0
	day(func(call int) Fault { steps = call + 1; return None })
	if steps < 5 {
		t.Fatalf("%d steps", steps)
	}
	for _, fault := range []Fault{Failed, Persisted} {
		for i := range steps {
			day(func(call int) Fault {
				if call == i {
					return fault
				}
				return None
			})
		}
	}
}

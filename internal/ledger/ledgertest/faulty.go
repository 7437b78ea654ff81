package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// Fault is what becomes of one write.
type Fault int

// The faults. Both look the same to the caller.
const (
	None      Fault = iota
	Failed          // the store never saw it
	Persisted       // the store did it, and the answer was lost
)

// Faulty is a Store whose writes fail as Decide says. It is safe for
// concurrent use.
type Faulty struct {
	ledger.Store
	Decide func(write int) Fault // called with 0, 1, 2, ... in the order of the writes

	mu     sync.Mutex
	writes int
}

// Writes returns how many writes there were.
func (f *Faulty) Writes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

func (f *Faulty) next() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	return f.Decide(f.writes - 1)
}

var errLost = reason.New(reason.StoreUnavailable, "injected fault")

func faulty[T any](f *Faulty, do func() (T, error)) (T, error) {
	var nothing T
	switch f.next() {
	case Failed:
		return nothing, errLost
	case Persisted:
		_, _ = do()
		return nothing, errLost
	}
	return do()
}

// Open implements ledger.Store.
func (f *Faulty) Open(ctx context.Context, p ledger.Player, offer ledger.Announced, grant []ledger.Grant) (ledger.Account, error) {
	return faulty(f, func() (ledger.Account, error) { return f.Store.Open(ctx, p, offer, grant) })
}

// Rotate implements ledger.Store.
func (f *Faulty) Rotate(ctx context.Context, r ledger.Rotation) (ledger.Rotated, error) {
	return faulty(f, func() (ledger.Rotated, error) { return f.Store.Rotate(ctx, r) })
}

// Draw implements ledger.Store.
func (f *Faulty) Draw(ctx context.Context, d ledger.Draw) (ledger.Drawn, error) {
	return faulty(f, func() (ledger.Drawn, error) { return f.Store.Draw(ctx, d) })
}

// Advance implements ledger.Store.
func (f *Faulty) Advance(ctx context.Context, p ledger.Player, id ledger.RoundID, picks []uint8) (ledger.Loaded, error) {
	return faulty(f, func() (ledger.Loaded, error) { return f.Store.Advance(ctx, p, id, picks) })
}

// Settle implements ledger.Store.
func (f *Faulty) Settle(ctx context.Context, s ledger.Settlement) (ledger.Loaded, error) {
	return faulty(f, func() (ledger.Loaded, error) { return f.Store.Settle(ctx, s) })
}

// Retire implements ledger.Store.
func (f *Faulty) Retire(ctx context.Context, p ledger.Player, pair ledger.PairID, detail string) (ledger.SeedPair, error) {
	return faulty(f, func() (ledger.SeedPair, error) { return f.Store.Retire(ctx, p, pair, detail) })
}

var faultChecks = []check{
	{"a failed call that had an effect: every write, failed and failed but persisted", everyWriteFails},
}

// everyWriteFails plays one evening again and again. In each run another write
// fails, or every write does at first, and is repeated with the same arguments.
func everyWriteFails(t *testing.T, b Backend) {
	count := &Faulty{Store: b.Store, Decide: func(int) Fault { return None }}
	want := evening(t, count)
	if count.Writes() < 20 {
		t.Fatalf("the evening has %d writes", count.Writes())
	}
	for _, fault := range []Fault{Failed, Persisted} {
		for i := range count.Writes() {
			f := &Faulty{Store: b.Store, Decide: func(n int) Fault {
				if n == i {
					return fault
				}
				return None
			}}
			wantSame(t, fmt.Sprintf("fault %d at write %d", fault, i), evening(t, f), want)
		}
		all := &Faulty{Store: b.Store, Decide: func(n int) Fault {
			if n%2 == 0 {
				return fault
			}
			return None
		}}
		wantSame(t, fmt.Sprintf("fault %d at every write", fault), evening(t, all), want)
		if all.Writes() != 2*count.Writes() {
			t.Fatalf("%d writes, want each of %d twice", all.Writes(), count.Writes())
		}
	}
}

// retried repeats a call until the store answers.
func retried[T any](t fataler, do func() (T, error)) (T, error) {
	for range 10 {
		v, err := do()
		if !errors.Is(err, error(errLost)) {
			return v, err
		}
	}
	t.Fatalf("the store never answers")
	panic("not reached")
}

func must[T any](t fataler, do func() (T, error)) T {
	t.Helper()
	v, err := retried(t, do)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return v
}

// evening uses every write of a store once at least, and returns what is left.
func evening(t *testing.T, s ledger.Store) summary {
	p := &subject{Player: ledger.Player{Operator: "op-" + unique(), ID: "evening"}, t: t, store: s}
	rotate := func() {
		r := p.rotation()
		rotated := must(t, func() (ledger.Rotated, error) { return s.Rotate(ctx, r) })
		p.pair, p.next = rotated.Active.ID, rotated.Announced
	}
	draw := func(d ledger.Draw) ledger.Drawn {
		return must(t, func() (ledger.Drawn, error) { return s.Draw(ctx, d) })
	}
	settle := func(q ledger.Settlement) {
		must(t, func() (ledger.Loaded, error) { return s.Settle(ctx, q) })
	}

	first := p.offer()
	account := must(t, func() (ledger.Account, error) {
		return s.Open(ctx, p.Player, first, []ledger.Grant{{Currency: fun, Amount: 1000}})
	})
	p.next = account.Announced
	rotate()
	for i, d := range p.everyGame() {
		settle(p.settlement(draw(d), money.Units(i)))
	}
	m := draw(p.mines(20))
	_, err := retried(t, func() (ledger.Rotated, error) { return s.Rotate(ctx, p.rotation()) })
	wantRoundOpen(t, err, m.Round.ID)
	for _, picks := range [][]uint8{{7}, {7, 9}} {
		must(t, func() (ledger.Loaded, error) { return s.Advance(ctx, p.Player, m.Round.ID, picks) })
	}
	last := p.settlement(m, 0)
	last.Before, last.Picks = []uint8{7, 9}, []uint8{7, 9, 11}
	settle(last)
	open := draw(p.dice(5))
	old := p.pair
	rotate()
	settle(p.settlement(open, 10))
	stale := p.rotation()
	stale.Announced = old
	_, err = retried(t, func() (ledger.Rotated, error) { return s.Rotate(ctx, stale) })
	var e *ledger.StaleError
	if !errors.As(err, &e) {
		t.Fatalf("stale rotation: %v", err)
	}
	draw(p.dice(3))
	decided := p.dice(4)
	decided.Decided = &ledger.Decided{Nonce: 1, Payout: 6}
	draw(decided)
	_, err = retried(t, func() (ledger.Drawn, error) { return s.Draw(ctx, p.dice(5000)) })
	wantReason(t, err, reason.InsufficientFunds, "nonce", "2")
	rotate()
	pair := p.pair
	must(t, func() (ledger.SeedPair, error) { return s.Retire(ctx, p.Player, pair, "ticket") })
	return p.summary()
}

// summary is what is left of a player, without what differs from run to run.
type summary struct {
	Balance money.Units
	Pairs   []pairSummary
	Outbox  []uint32
	Open    int
}

type pairSummary struct {
	State  ledger.PairState
	Cause  ledger.Cause
	Nonce  uint32
	Rounds []roundSummary
}

type roundSummary struct {
	State         ledger.RoundState
	Stake, Payout money.Units
	Picks         string
}

func (p *subject) summary() summary {
	p.t.Helper()
	s := summary{Balance: p.balance()}
	pairs, err := p.store.SeedPairs(ctx, p.Player, "", 100)
	if err != nil {
		p.t.Fatalf("pairs: %v", err)
	}
	for _, pair := range pairs {
		ps := pairSummary{State: pair.State, Cause: pair.Cause, Nonce: pair.Nonce}
		rounds, err := p.store.Rounds(ctx, pair.ID, 0, 1000)
		if err != nil {
			p.t.Fatalf("rounds: %v", err)
		}
		for _, r := range rounds {
			ps.Rounds = append(ps.Rounds, roundSummary{r.State, r.Stake, r.Payout, string(r.Picks)})
		}
		s.Pairs = append(s.Pairs, ps)
		s.Open += len(pair.Open)
	}
	for _, e := range p.outbox() {
		s.Outbox = append(s.Outbox, e.Round.Nonce)
	}
	return s
}

// retriable returns the error of an injected fault as the one that must and
// retried repeat a call for.
func retriable[T any](v T, err error) (T, error) {
	if reason.Of(err) == reason.StoreUnavailable {
		err = errLost
	}
	return v, err
}

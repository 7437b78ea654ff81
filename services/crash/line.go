package crash

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Place is where a table's chain stands in its line: chains that come one after
// the other, each with a table of its own. The zero value is a chain that nothing
// comes after.
type Place struct {
	Base   rng.Table // the first table of the line, which the configuration names
	Number int       // of the chain in it, from 1
	Next   NextChain
}

// NextChain says what the chains of a line are like that are made without a
// person.
type NextChain struct {
	Length uint32 // 0: none is made
	// Low is how many links are left of a chain when the next is made and
	// announced.
	Low  uint32
	Salt SaltRule
}

// SaltRule says how the salts of new chains are fixed: SELF_CHOSEN, DRAND or
// BEACON, the last two with the hash of a network.
type SaltRule struct {
	Kind    ledger.CrashSaltKind
	Network string
}

const (
	// saltLead is how far ahead a round of a beacon is named that is to be the
	// salt of a chain: time for many to see the announcement.
	saltLead = 10 * time.Minute
	// turnInterval is how often a process looks for the next chain, for a salt,
	// and whether it is a table's turn.
	turnInterval = time.Second
)

// newChain returns the plan of a chain that is made now.
func (c *Chains) newChain(n NextChain, after rng.Table, now time.Time) (NewChain, error) {
	plan := ledger.CrashSaltPlan{Kind: n.Salt.Kind, Network: n.Salt.Network}
	if plan.Kind == ledger.CrashSaltDrand {
		source, ok := c.Sources[plan.Network]
		if !ok {
			return NewChain{}, fmt.Errorf("crash: no source of the beacon %s", plan.Network)
		}
		plan.Named = source.Network().NamedFor(now.Add(max(c.lead, 0)))
	}
	return NewChain{Length: n.Length, After: after, Plan: plan, DrawSalt: plan.Kind == ledger.CrashSaltSelfChosen}, nil
}

// OpenLine returns the tables of a line: all that have chains, the first made if
// there is none. Errors: those of Open and Line; ledger.ErrNotFound when there is
// no chain and none is to be made.
func (c *Chains) OpenLine(ctx context.Context, base rng.Table, next NextChain, timings Timings) ([]Table, error) {
	line, err := ledger.CrashLine(ctx, c.Store, base)
	if err != nil {
		return nil, err
	}
	if len(line) == 0 {
		if err := c.makeFirst(ctx, base, next); err != nil {
			return nil, err
		}
		if line, err = ledger.CrashLine(ctx, c.Store, base); err != nil {
			return nil, err
		}
	}
	var tables []Table
	for i, l := range line {
		chain, err := c.Open(ctx, l.Table)
		if err != nil {
			return nil, err
		}
		tables = append(tables, Table{Name: l.Table, Chain: chain, Place: Place{base, i + 1, next}, Timings: timings})
	}
	return tables, nil
}

func (c *Chains) makeFirst(ctx context.Context, base rng.Table, next NextChain) error {
	if next.Length == 0 {
		return fmt.Errorf("crash: chain of table %s: %w", base, ledger.ErrNotFound)
	}
	n, err := c.newChain(next, "", time.Now())
	if err == nil {
		_, _, err = c.Create(ctx, base, n)
	}
	return err
}

// follow looks for the chain that comes after a table's, makes it when it is
// time and this process owns the table, and plays it and what comes after that.
func (s *Service) follow(ctx context.Context, t *table, all *sync.WaitGroup) {
	for ; ctx.Err() == nil; sleep(ctx, s.o.turn) {
		next, err := s.findNext(ctx, t)
		if err != nil {
			t.report(ctx, "the next chain is not found", err)
			continue
		}
		if next == nil {
			err := s.makeNext(ctx, t)
			t.report(ctx, "the next chain is not made", err)
			continue
		}
		t = s.add(*next, t)
		all.Go(func() { t.run(ctx) })
	}
}

// findNext returns the table that comes next; nil while there is none.
func (s *Service) findNext(ctx context.Context, t *table) (*Table, error) {
	place := t.Place
	place.Number++
	name := ledger.CrashSuccessor(place.Base, place.Number)
	chain, err := s.o.Chains.Open(ctx, name)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if after := chain.Kept().After; after != t.name() {
		return nil, fmt.Errorf("crash: the chain of table %s is announced after %q, and not after %s", name, after, t.name())
	}
	return &Table{Name: name, Chain: chain, Place: place, Timings: t.Timings}, nil
}

// makeNext makes the chain that comes next when this process owns the table and
// few links are left. Of two owners who do so, one makes it.
func (s *Service) makeNext(ctx context.Context, t *table) error {
	if t.Place.Next.Length == 0 || t.owner.Load() == nil || !t.begun.Load() || t.left.Load() > t.Place.Next.Low {
		return nil
	}
	n, err := s.o.Chains.newChain(t.Place.Next, t.Name, time.Now())
	if err != nil {
		return err
	}
	name := ledger.CrashSuccessor(t.Place.Base, t.Place.Number+1)
	chain, made, err := s.o.Chains.Create(ctx, name, n)
	if err == nil && made {
		s.o.Log.Info("announces the next chain", zap.String("table", t.name()), zap.String("next", string(name)),
			zap.String("terminal", chain.Terminal().String()), zap.Uint32("length", chain.Length()))
	}
	return err
}

// add makes a table known to callers.
func (s *Service) add(n Table, before *table) *table {
	next := newTable(s, n)
	next.before = before
	s.tablesMu.Lock()
	s.tables[string(n.Name)] = next
	s.tablesMu.Unlock()
	before.next.Store(next)
	return next
}

// awaitSalt waits until the chain's salt is fixed. One that a round of a beacon
// gives is fetched and fixed here, by whichever process is first.
func (t *table) awaitSalt(ctx context.Context) bool {
	for ; ctx.Err() == nil; sleep(ctx, t.s.o.turn) {
		if err := t.Chain.refresh(ctx); err != nil {
			t.report(ctx, "the salt of the chain cannot be read", err)
			continue
		}
		if !t.Chain.Kept().SaltPending() {
			return true
		}
		t.report(ctx, "the salt of the chain is not fixed", t.Chain.fixSalt(ctx, time.Now()))
	}
	return false
}

// fixSalt fixes a salt that a round of a beacon gives, once that is published.
func (c *Chain) fixSalt(ctx context.Context, now time.Time) error {
	plan := c.Kept().Plan
	if plan.Kind != ledger.CrashSaltDrand || now.Before(c.source.Network().TimeOf(plan.Named)) {
		return nil
	}
	entry, err := c.source.Fetch(ctx, plan.Named)
	if err != nil {
		return err
	}
	_, err = c.store.FixCrashSalt(ctx, string(c.table), entry.Randomness, entry.Signature)
	return err
}

// awaitTurn waits until the chain before is used up: its table has ended with
// its last round.
func (t *table) awaitTurn(ctx context.Context) bool {
	for ; ctx.Err() == nil; sleep(ctx, t.s.o.turn) {
		if t.before == nil {
			return true
		}
		ended, err := t.before.usedUp(ctx)
		if ended {
			return true
		}
		t.report(ctx, "the table before cannot be read", err)
	}
	return false
}

// usedUp reports whether the last round of the chain is final.
func (t *table) usedUp(ctx context.Context) (bool, error) {
	s, err := t.store().CrashState(ctx, t.name())
	return err == nil && t.isUsedUp(s), err
}

func (t *table) isUsedUp(s ledger.CrashState) bool {
	return s.Round.Phase == ledger.CrashFinal && s.Round.Number >= t.Chain.Length()
}

// nextMessage shows the announcement of the chain that comes next; nil while
// there is none.
func (t *table) nextMessage() *originalsv1.CrashChain {
	next := t.next.Load()
	if next == nil {
		return nil
	}
	return &originalsv1.CrashChain{
		Table: next.name(), Terminal: next.Chain.Terminal().String(), ChainLength: next.Chain.Length(),
		Salt: next.Chain.Salt(), Beacon: next.beaconMessage(ledger.CrashRound{}), AnnounceTime: timestamppb.New(next.Chain.Kept().CreateTime),
	}
}

// endText returns h[N] for everybody, once every round of the chain is final;
// empty before.
func (t *table) endText(ctx context.Context, s ledger.CrashState) string {
	if !t.isUsedUp(s) {
		return ""
	}
	end, err := t.Chain.Link(t.Chain.Length())
	if err != nil {
		t.report(ctx, "the end of the chain cannot be read", err)
	}
	return end.Reveal()
}

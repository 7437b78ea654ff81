package crash

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// An owner shows that it is alive every beatInterval. Others look every
// lookInterval, and take a table whose owner has shown nothing for staleAfter by
// their own clocks: no two clocks are ever compared, and a wall clock that is
// set changes nothing. The takeover is safe at any time, for writes of the old
// owner are refused; the times only say how fast it is.
const (
	beatInterval = 250 * time.Millisecond
	lookInterval = 200 * time.Millisecond
	staleAfter   = 1500 * time.Millisecond
	retryPause   = 20 * time.Millisecond
	leaveTimeout = time.Second
)

// table plays one table, while this process owns it.
type table struct {
	s *Service
	Table

	live  atomic.Pointer[live]              // the running round, nil when there is none here
	owner atomic.Pointer[ledger.CrashOwner] // nil while another has the table
	shown atomic.Pointer[progress]          // for the lease
	feed  *feed                             // of watchers, nil without one; guarded by the service

	before *table                // whose chain comes before; nil for none
	next   atomic.Pointer[table] // whose chain comes after; nil while there is none
	left   atomic.Uint32         // links, while this process owns the table and has begun
	begun  atomic.Bool

	fails sync.Map // of errors that were logged: text -> time
}

// progress is how far a running round is. An owner that takes over does not
// begin before it.
type progress struct {
	number    uint32
	elapsedUs int64
}

func newTable(s *Service, t Table) *table { return &table{s: s, Table: t} }

func (t *table) store() ledger.CrashStore { return t.s.o.Store }
func (t *table) name() string             { return string(t.Name) }

// run takes the table when its chain can be played and nobody else has it, and
// plays it, until the chain is used up or ctx ends.
func (t *table) run(ctx context.Context) {
	if !t.awaitSalt(ctx) || !t.awaitTurn(ctx) {
		return
	}
	for ctx.Err() == nil {
		ended, err := t.usedUp(ctx)
		if err != nil {
			t.report(ctx, "the table cannot be read", err)
			sleep(ctx, lookInterval)
			continue
		}
		if ended {
			t.s.o.Watch.forget(t.name())
			return
		}
		owner, lease, ok := t.acquire(ctx)
		if !ok {
			return
		}
		t.own(ctx, owner, lease)
	}
}

// acquire waits until the table is free and takes it. It returns the lease as
// the owner before left it.
func (t *table) acquire(ctx context.Context) (ledger.CrashOwner, ledger.CrashLease, bool) {
	var last ledger.CrashLease
	var since time.Time
	for ; ctx.Err() == nil; sleep(ctx, min(lookInterval, t.s.o.stale/4)) {
		seen, err := t.store().CrashLease(ctx, t.name())
		if err != nil {
			since = time.Time{} // the owner cannot show anything either
			t.report(ctx, "the table's lease cannot be read", err)
			continue
		}
		if since.IsZero() || seen.Epoch != last.Epoch || seen.Beats != last.Beats {
			last, since = seen, time.Now()
		}
		if seen.Owner != "" && seen.Owner != t.s.name && time.Since(since) < t.s.o.stale {
			continue
		}
		owner, err := t.store().TakeCrashTable(ctx, t.name(), seen, t.s.name, t.s.o.Address)
		if err == nil {
			return owner, seen, true
		}
		if !errors.Is(err, ledger.ErrCrashHeld) {
			t.report(ctx, "the table cannot be taken", err)
		}
	}
	return ledger.CrashOwner{}, ledger.CrashLease{}, false
}

// own plays the table until another takes it, the store is replaced, or the
// process ends.
func (t *table) own(process context.Context, owner ledger.CrashOwner, before ledger.CrashLease) {
	ctx, cancel := context.WithCancel(process)
	defer cancel()
	t.s.o.Log.Info("owns the table", zap.String("table", t.name()), zap.Uint64("epoch", owner.Epoch))
	t.shown.Store(&progress{before.Number, before.ElapsedUs})
	t.owner.Store(&owner)
	t.s.o.Watch.owns(t.name(), true)
	var beats sync.WaitGroup
	beats.Go(func() { t.beat(ctx, cancel, owner) })

	err := t.play(ctx, owner, before)
	t.dropLive()
	t.owner.Store(nil)
	t.s.o.Watch.owns(t.name(), false)
	cancel()
	beats.Wait()
	if process.Err() != nil {
		err = nil // the process ends: what that cut off is no failure
	}
	t.s.o.Log.Info("no longer owns the table", zap.String("table", t.name()), zap.Error(err))

	leaving, end := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer end()
	_ = t.store().LeaveCrashTable(leaving, owner) // whoever waits takes it later otherwise
}

// beat shows that the owner is alive, until it is not the owner any more.
func (t *table) beat(ctx context.Context, lost context.CancelFunc, owner ledger.CrashOwner) {
	for ; ctx.Err() == nil; sleep(ctx, min(beatInterval, t.s.o.stale/6)) {
		p := t.shown.Load()
		err := t.store().BeatCrashTable(ctx, owner, p.number, p.elapsedUs)
		if errors.Is(err, ledger.ErrCrashFenced) {
			lost()
			return
		}
		t.report(ctx, "the table's lease was not renewed", err)
	}
}

// dropLive forgets the round in memory. Calls that wait for it are told that
// their results are unknown.
func (t *table) dropLive() {
	if l := t.live.Swap(nil); l != nil {
		l.abandon()
	}
}

// insist repeats a step of the owner until it is known to have been taken, or
// refused.
func insist[T any](ctx context.Context, t *table, what string, step func() (T, error)) (T, error) {
	for {
		result, err := step()
		if err == nil || isTerminal(err) || ctx.Err() != nil {
			return result, err
		}
		t.report(ctx, what, err)
		sleep(ctx, retryPause)
	}
}

// isTerminal reports whether a step is refused for good.
func isTerminal(err error) bool {
	return errors.Is(err, ledger.ErrCrashFenced) || errors.Is(err, ledger.ErrCrashReplaced) || errors.Is(err, ledger.ErrCrashStep) || errors.Is(err, ledger.ErrCrashLate)
}

// reportInterval is how often an error that goes on is logged.
const reportInterval = 5 * time.Second

// report logs an error of the table, once in a while.
func (t *table) report(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	now := time.Now()
	if last, ok := t.fails.Load(what); ok && now.Sub(last.(time.Time)) < reportInterval {
		return
	}
	t.fails.Store(what, now)
	t.s.o.Log.Error(what, zap.String("table", t.name()), zap.Error(err))
}

// point derives the crash point of a round.
func (t *table) point(number uint32, salt rng.Salt) (uint32, error) {
	link, err := t.Chain.Link(number)
	if err != nil {
		return 0, err
	}
	digest, err := link.CrashDigest(t.Name, number, salt)
	if err != nil {
		return 0, err
	}
	return crash.Point(digest)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

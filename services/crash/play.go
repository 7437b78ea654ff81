package crash

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// dealer is an owner at work.
type dealer struct {
	*table
	owner  ledger.CrashOwner
	before ledger.CrashLease // the lease as it was taken
	events *publisher
	closed holding // of the round that this owner has closed and locked
}

// play takes the table from where the store has it, from phase to phase, until
// a step is refused or ctx ends.
func (t *table) play(ctx context.Context, owner ledger.CrashOwner, before ledger.CrashLease) error {
	g := &dealer{table: t, owner: owner, before: before}
	g.events = newPublisher(t, owner)
	state, err := insist(ctx, t, "the table cannot be read", func() (ledger.CrashState, error) {
		return t.store().CrashState(ctx, t.name())
	})
	for err == nil && ctx.Err() == nil {
		g.s.o.Watch.phase(t.name(), state.Round)
		t.left.Store(t.Chain.Length() - min(state.Round.Number, t.Chain.Length()))
		t.begun.Store(true)
		g.s.o.Watch.chain(t.name(), t.left.Load(), t.next.Load() != nil)
		state, err = g.step(ctx, state)
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// step takes the newest round one phase further.
func (g *dealer) step(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	switch s.Round.Phase {
	case ledger.CrashBetting:
		return g.bet(ctx, s)
	case ledger.CrashClosing:
		return g.start(ctx, s)
	case ledger.CrashRunning:
		return g.runRound(ctx, s)
	case ledger.CrashCrashed:
		return g.settleRound(ctx, s)
	}
	return g.open(ctx, s)
}

// open opens the next round after the pause. When writes may have been lost,
// numbers that may have been opened in the lost time are skipped.
func (g *dealer) open(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	pause := g.Crashed - micros(s.NowUs-max(s.Round.CrashUs, s.Round.LockUs))
	if s.Round.Number > 0 && s.Round.Void == "" && pause > 0 {
		sleep(ctx, min(pause, g.Crashed))
	}
	skipped, err := g.skip(ctx, s)
	if err != nil {
		return s, err
	}
	number := s.Round.Number + 1 + skipped
	if s.Round.Number >= g.Chain.Length() {
		return s, g.retire(ctx, s)
	}
	if number > g.Chain.Length() || number < s.Round.Number {
		return g.skipRest(ctx, s)
	}
	opening := ledger.CrashOpening{
		Number: number, Skipped: skipped, Beacon: g.calendar(), BettingUs: g.Betting.Microseconds(), Mask: rand.Text(),
	}
	return insist(ctx, g.table, "the round is not opened", func() (ledger.CrashState, error) {
		return g.store().OpenCrashRound(ctx, g.owner, opening)
	})
}

// shortestRunUs is how long a round runs at least: that which crashes at 1.00.
func (g *dealer) shortestRunUs() int64 { return g.s.o.Growth.EndUs(100) }

// skip returns how many rounds may have been opened in time that the store has
// lost: one more than the shortest rounds that fit between what it has last and
// now, and one more than were opened in any partition.
func (g *dealer) skip(ctx context.Context, s ledger.CrashState) (uint32, error) {
	if !s.Replaced() {
		return 0, nil
	}
	all, err := g.close(ctx, s.Round.Number)
	if err != nil {
		return 0, err
	}
	last := max(s.Round.OpenUs, s.Round.StartUs)
	shortest := (g.Betting + g.Crashed).Microseconds() + g.shortestRunUs()/g.s.o.pace
	byTime := uint32(max(0, s.NowUs-last+shortest-1) / shortest)
	return max(byTime, all.newest-s.Round.Number) + 1, nil
}

// lateLock is how long after its planned lock a round that no owner has locked
// may still be played. Its bets have waited for an owner all that time.
const lateLock = time.Minute

// bet takes bets until every partition is closed, and locks the round then: no bet
// enters a round that is locked, whoever dies in between. Where the lock comes so
// late that the round's beacon may be known, whoever knows the chain could have
// known the crash point while bets were taken: the round is void.
func (g *dealer) bet(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	if s.Replaced() {
		return g.betAgain(ctx, s)
	}
	left := micros(s.Round.LockUs - s.NowUs)
	if left < -lateLock {
		return g.void(ctx, s, ledger.CrashVoidOwner)
	}
	err := g.eachPartition(ctx, "a partition is not opened", func(partition int) error {
		return g.store().OpenCrashPartition(ctx, g.owner, partition, s.Round.Number)
	})
	if err != nil {
		return s, err
	}
	g.showBets(ctx, s.Round.Number, min(left, g.Betting))
	if g.closed, err = g.close(ctx, s.Round.Number); err != nil {
		return s, err
	}
	locked, err := g.lock(ctx, s)
	if errors.Is(err, ledger.ErrCrashLate) {
		return g.void(ctx, s, ledger.CrashVoidOwner)
	}
	return locked, err
}

// betAgain ends a round that took bets when writes were lost. It may have been
// locked, and crashed in public, in time that was lost, and is void; but where
// partitions know that it was played to its end, it is not void any more.
func (g *dealer) betAgain(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	all, err := g.close(ctx, s.Round.Number)
	if err != nil {
		return s, err
	}
	if all.newest > s.Round.Number {
		return g.endByTargets(ctx, s)
	}
	return g.void(ctx, s, ledger.CrashVoidStore)
}

// endByTargets ends a round whose crash point may be known: nobody cashes out
// any more, and targets decide.
func (g *dealer) endByTargets(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	s, err := g.awaitBeacon(ctx, s)
	if err != nil {
		return s, err
	}
	point, err := g.pointOf(ctx, s.Round)
	if err != nil {
		return s, err
	}
	return g.end(ctx, s, point)
}

func (g *dealer) lock(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	return insist(ctx, g.table, "the round is not locked", func() (ledger.CrashState, error) {
		return g.store().LockCrashRound(ctx, g.owner, s.Round.Number)
	})
}

// betsInterval is how often bets are shown while they are taken.
const betsInterval = 500 * time.Millisecond

// showBets shows how many bets there are, while they are taken.
func (g *dealer) showBets(ctx context.Context, number uint32, left time.Duration) {
	shown := -1
	for end := time.Now().Add(left); ctx.Err() == nil; {
		sleep(ctx, min(betsInterval, time.Until(end)))
		totals, err := g.store().CrashTotals(ctx, g.name())
		if err == nil && totals.Number == number && totals.Count != shown {
			shown = totals.Count
			g.s.o.Watch.bets(g.name(), totals)
			g.events.bets(ctx, totals)
		}
		if !time.Now().Before(end) {
			return
		}
	}
}

// void ends a round that has no outcome and will have none: every stake is
// given back. Its beacon is awaited, so that everybody sees the crash point that
// it would have had.
func (g *dealer) void(ctx context.Context, s ledger.CrashState, why string) (ledger.CrashState, error) {
	all, err := g.close(ctx, s.Round.Number)
	if err != nil {
		return s, err
	}
	if err := g.refund(ctx, all.bets, why); err != nil {
		return s, err
	}
	if why != ledger.CrashVoidBeacon {
		if s, err = g.awaitBeacon(ctx, s); err != nil && !errors.Is(err, errNoBeacon) {
			return s, err
		}
	}
	return g.finishRound(ctx, s, all.count(), why)
}

// start takes the round's bets, which were fixed before the lock, awaits the
// round's beacon, and starts the round.
func (g *dealer) start(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	all := g.closed
	g.closed = holding{}
	if all.number != s.Round.Number { // another owner has locked it
		var err error
		if all, err = g.close(ctx, s.Round.Number); err != nil {
			return s, err
		}
	}
	s, err := g.awaitBeacon(ctx, s)
	if errors.Is(err, errNoBeacon) {
		return g.void(ctx, s, ledger.CrashVoidBeacon)
	}
	if err != nil {
		return s, err
	}
	point, err := g.pointOf(ctx, s.Round)
	if err != nil {
		return s, err
	}
	if s.Replaced() {
		return g.end(ctx, s, point) // it may have started in time that was lost: targets decide
	}
	s, err = insist(ctx, g.table, "the round is not started", func() (ledger.CrashState, error) {
		return g.store().StartCrashRound(ctx, g.owner, s.Round.Number)
	})
	if err != nil {
		return s, err
	}
	return g.runBets(ctx, s, all, point, 0)
}

// runRound goes on with a round that another owner has started.
//
// The time that it runs for is taken from the store's clock, and is never less
// than what the owner before has shown: a clock that was set back gives nobody
// a time to cash out at again. One that was set forward ends the round at its
// crash point.
func (g *dealer) runRound(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	all, err := g.close(ctx, s.Round.Number)
	if err != nil {
		return s, err
	}
	elapsed, known := g.elapsed(s)
	if all.newest > s.Round.Number || !known {
		return g.endByTargets(ctx, s)
	}
	point, err := g.pointOf(ctx, s.Round)
	if err != nil {
		return s, err
	}
	return g.runBets(ctx, s, all, point, elapsed)
}

// elapsed returns for how long a round has run, in microseconds, and whether that
// is known: where writes were lost and the clock shows less than the owner before
// has shown, the round may have crashed in public.
func (g *dealer) elapsed(s ledger.CrashState) (us int64, known bool) {
	us = g.s.o.pace * (s.NowUs - s.Round.StartUs)
	var shown int64
	if g.before.Number == s.Round.Number {
		shown = g.before.ElapsedUs
	}
	return max(us, shown, 0), us >= shown || !s.Replaced()
}

// runBets plays a running round to its end.
func (g *dealer) runBets(ctx context.Context, s ledger.CrashState, all holding, point uint32, elapsedUs int64) (ledger.CrashState, error) {
	g.s.o.Watch.phase(g.name(), s.Round)
	settler := newSettler(ctx, g.table, g.owner)
	l := newLive(g.s.o.Growth, s.Round.Number, point, since(time.Now(), elapsedUs, g.s.o.pace), settler.add, all.bets)
	g.table.live.Store(l)
	defer g.dropLive()
	for ended := false; !ended && ctx.Err() == nil; {
		var elapsed int64
		elapsed, ended = l.advance()
		g.shown.Store(&progress{s.Round.Number, elapsed})
		if !ended {
			g.events.tick(ctx, s, elapsed, l.takePaid())
			sleep(ctx, min(g.Tick, micros((l.endUs()-l.now())/g.s.o.pace+1)))
		}
	}
	var rest []*liveBet
	err := ctx.Err()
	if err == nil {
		rest = l.finish()
		s, err = g.end(ctx, s, point)
	}
	if err != nil {
		l.stop()
		settler.wait()
		return s, err
	}
	l.crashed.Store(true)
	g.s.o.Watch.phase(g.name(), s.Round)
	for _, b := range rest {
		settler.add(b)
	}
	settler.wait()
	if err := ctx.Err(); err != nil {
		return s, err
	}
	g.events.settled(ctx, s, l.takePaid())
	return g.finishRound(ctx, s, all.count(), "")
}

// end gives a round its crash point.
func (g *dealer) end(ctx context.Context, s ledger.CrashState, point uint32) (ledger.CrashState, error) {
	return insist(ctx, g.table, "the round is not ended", func() (ledger.CrashState, error) {
		return g.store().EndCrashRound(ctx, g.owner, s.Round.Number, point)
	})
}

// settleRound settles what a round that has crashed left open.
func (g *dealer) settleRound(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	all, err := g.close(ctx, s.Round.Number)
	if err != nil {
		return s, err
	}
	if err := g.settleAt(ctx, all.bets, s.Round.PointE2); err != nil {
		return s, err
	}
	return g.finishRound(ctx, s, all.count(), "")
}

// settleAt settles bets by their targets.
func (g *dealer) settleAt(ctx context.Context, bets []ledger.CrashBet, pointE2 uint32) error {
	settler := newSettler(ctx, g.table, g.owner)
	l := newLive(g.s.o.Growth, 0, pointE2, nil, nil, bets)
	for _, b := range l.finish() {
		settler.add(b)
	}
	settler.wait()
	return ctx.Err()
}

// refund gives stakes back, and says why.
func (g *dealer) refund(ctx context.Context, bets []ledger.CrashBet, why string) error {
	byPartition := make(map[int][]ledger.CrashSettlement)
	for _, b := range bets {
		p := b.ID.Pair.Partition()
		byPartition[p] = append(byPartition[p], ledger.CrashSettlement{Bet: b, Void: why})
	}
	return g.eachPartition(ctx, "stakes are not given back", func(partition int) error {
		for all := byPartition[partition]; len(all) > 0; {
			n := min(len(all), maxSettled)
			if _, err := g.settleSome(ctx, g.owner, partition, all[:n]); err != nil {
				return err
			}
			all = all[n:]
		}
		return nil
	})
}

func (g *dealer) finishRound(ctx context.Context, s ledger.CrashState, bets int, void string) (ledger.CrashState, error) {
	return insist(ctx, g.table, "the round is not finished", func() (ledger.CrashState, error) {
		return g.store().FinishCrashRound(ctx, g.owner, s.Round.Number, uint32(bets), void)
	})
}

// pointOf derives the crash point of a round that is locked.
func (g *dealer) pointOf(ctx context.Context, r ledger.CrashRound) (uint32, error) {
	return insist(ctx, g.table, "the crash point is not derived", func() (uint32, error) {
		salt, err := g.saltOf(r)
		if err != nil {
			return 0, err
		}
		return g.point(r.Number, salt)
	})
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

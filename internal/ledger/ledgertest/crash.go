package ledgertest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// CrashBackend is a store of crash tables under test.
type CrashBackend struct {
	Store interface {
		ledger.Store
		ledger.CrashStore
	}
	// Replace makes the store one that may have lost writes.
	Replace func(t testing.TB)
}

// RunCrash runs the suite of crash tables.
func RunCrash(t *testing.T, b CrashBackend) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, f *floor)
	}{
		{"A round from its opening to its history", testCrashRound},
		{"A bet is taken once, whatever is repeated", testCrashRepeats},
		{"Bets accepted after the round has begun: they enter the next", testCrashQueue},
		{"A cancelled stake is given back once", testCrashCancel},
		{"A round whose bets were all cancelled leaves nothing to settle", testCrashCancelAll},
		{"Guard checked before, state written after: a bet is settled once", testCrashSettleOnce},
		{"A paused owner can write nothing", testCrashFencing},
		{"A partition that was closed stays closed", testCrashClosedForGood},
		{"The round's limit is held before a bet is taken, and released when it is not", testCrashLimit},
		{"After a loss of the store numbers go on above, and no bet is taken meanwhile", func(t *testing.T, f *floor) { testCrashReplaced(t, f, b) }},
		{"After a loss of the store no bet gets the id of one that was lost", func(t *testing.T, f *floor) { testCrashBook(t, f, b) }},
		{"Events are numbered without a gap", testCrashEvents},
		{"After a loss of the store no event gets a number that was seen", func(t *testing.T, f *floor) { testCrashEventSeries(t, f, b) }},
		{"Refused bets leave everything as it was", testCrashRefusals},
		{"The beacon is named before the first bet, and known after the lock alone", testCrashBeacon},
		{"Gap in the crash hash chain: the last rounds may be skipped, and are listed", testCrashSkip},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFloor(t, b)
			c.run(t, f)
		})
	}
}

// floor is a table of its own with an owner.
type floor struct {
	t     *testing.T
	ctx   context.Context
	b     CrashBackend
	table string
	owner ledger.CrashOwner
	names int
}

func newFloor(t *testing.T, b CrashBackend) *floor {
	t.Helper()
	f := &floor{t: t, ctx: context.Background(), b: b, table: "table-" + unique()}
	f.owner = f.take("one")
	return f
}

func (f *floor) take(name string) ledger.CrashOwner {
	f.t.Helper()
	seen, err := f.b.Store.CrashLease(f.ctx, f.table)
	f.ok(err)
	o, err := f.b.Store.TakeCrashTable(f.ctx, f.table, seen, name, "127.0.0.1:1")
	f.ok(err)
	return o
}

func (f *floor) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *floor) refused(err error, want reason.Reason) {
	f.t.Helper()
	if err == nil || reason.Of(err) != want {
		f.t.Fatalf("got %v, want %s", err, want)
	}
}

// player makes a player with 1000 FUN.
func (f *floor) player() ledger.Player {
	f.t.Helper()
	f.names++
	p := ledger.Player{Operator: "house", ID: fmt.Sprintf("%s-player-%d", f.table, f.names)}
	newcomer(f.t, f.b.Store, p, 1000)
	return p
}

func (f *floor) placement(p ledger.Player, betID string, target uint32) ledger.CrashPlacement {
	q := ledger.CrashPlacement{
		Table: f.table, Player: p, BetID: betID, Target: crash.Bet{TargetE2: target}, Currency: fun, Stake: 100,
		RoundLimit: 1_000_000, LastNumber: 1000,
	}
	q.WorstCase, _ = money.Payout(q.Stake, q.Target.Multiplier())
	return q
}

func (f *floor) bet(p ledger.Player, betID string, target uint32) ledger.CrashTaken {
	f.t.Helper()
	taken, err := f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, betID, target))
	f.ok(err)
	return taken
}

// open opens a round everywhere.
func (f *floor) open(number uint32) {
	f.t.Helper()
	s, err := f.b.Store.OpenCrashRound(f.ctx, f.owner, ledger.CrashOpening{Number: number, BettingUs: 5_000_000, Mask: "m"})
	f.ok(err)
	if s.Round.Number != number || s.Round.Phase != ledger.CrashBetting || s.Round.LockUs != s.Round.OpenUs+5_000_000 {
		f.t.Fatalf("opened %+v", s)
	}
	for p := range ledger.Partitions {
		f.ok(f.b.Store.OpenCrashPartition(f.ctx, f.owner, p, number))
	}
}

// lock locks a round everywhere and returns its bets.
func (f *floor) lock(number uint32) (bets []ledger.CrashBet) {
	f.t.Helper()
	_, err := f.b.Store.LockCrashRound(f.ctx, f.owner, number)
	f.ok(err)
	for p := range ledger.Partitions {
		all, err := f.b.Store.CloseCrashPartition(f.ctx, f.owner, p, number)
		f.ok(err)
		bets = append(bets, all.Bets...)
	}
	return bets
}

func (f *floor) settle(q ...ledger.CrashSettlement) []ledger.CrashTaken {
	f.t.Helper()
	var out []ledger.CrashTaken
	for _, one := range q {
		taken, err := f.b.Store.SettleCrashBets(f.ctx, f.owner, one.Bet.ID.Pair.Partition(), []ledger.CrashSettlement{one})
		f.ok(err)
		out = append(out, taken...)
	}
	return out
}

func (f *floor) finish(number, point uint32) {
	f.t.Helper()
	_, err := f.b.Store.StartCrashRound(f.ctx, f.owner, number)
	f.ok(err)
	_, err = f.b.Store.EndCrashRound(f.ctx, f.owner, number, point)
	f.ok(err)
	_, err = f.b.Store.FinishCrashRound(f.ctx, f.owner, number, 0, "")
	f.ok(err)
}

func (f *floor) balance(p ledger.Player) money.Units {
	f.t.Helper()
	all, err := f.b.Store.Balances(f.ctx, p)
	f.ok(err)
	return all[fun]
}

func (f *floor) wantBalance(p ledger.Player, want money.Units) {
	f.t.Helper()
	if got := f.balance(p); got != want {
		f.t.Fatalf("balance %d, want %d", got, want)
	}
}

// wantOpen compares which bets of a player's book have not ended.
func (f *floor) wantOpen(p ledger.Player, want ...uint32) {
	f.t.Helper()
	got, err := f.b.Store.OpenCrashBook(f.ctx, f.table, p)
	f.ok(err)
	if !slices.Equal(got, want) {
		f.t.Fatalf("open bets %v, want %v", got, want)
	}
}

package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
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
		{"Guard checked before, state written after: a bet is settled once", testCrashSettleOnce},
		{"A paused owner can write nothing", testCrashFencing},
		{"The round's limit is held before a bet is taken, and released when it is not", testCrashLimit},
		{"After a loss of the store numbers go on above, and no bet is taken meanwhile", func(t *testing.T, f *floor) { testCrashReplaced(t, f, b) }},
		{"Events are numbered without a gap", testCrashEvents},
		{"After a loss of the store no event gets a number that was seen", func(t *testing.T, f *floor) { testCrashEventSeries(t, f, b) }},
		{"Refused bets leave everything as it was", testCrashRefusals},
		{"The beacon is named before the first bet, and known after the lock alone", testCrashBeacon},
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

func testCrashRound(t *testing.T, f *floor) {
	s, err := f.b.Store.CrashState(f.ctx, f.table)
	f.ok(err)
	if s.Round.Phase != ledger.CrashNone || s.Replaced() || s.NowUs == 0 || s.Life == "" {
		t.Fatalf("a new table is %+v", s)
	}
	alice, bob := f.player(), f.player()
	f.open(1)
	a, b := f.bet(alice, "a", 250), f.bet(bob, "b", 1000)
	if a.Round.State != ledger.Open || a.Round.Bet.Crash.Number != 1 || a.Round.Bet.Game != bet.Crash || a.Balance != 900 {
		t.Fatalf("taken as %+v", a)
	}
	totals, err := f.b.Store.CrashTotals(f.ctx, f.table)
	f.ok(err)
	if totals.Count != 2 || totals.Stakes[fun] != 200 || totals.Worst[fun] != 1250 {
		t.Fatalf("totals %+v", totals)
	}
	bets := f.lock(1)
	if len(bets) != 2 {
		t.Fatalf("%d bets, want 2", len(bets))
	}
	_, err = f.b.Store.StartCrashRound(f.ctx, f.owner, 1)
	f.ok(err)
	_, err = f.b.Store.EndCrashRound(f.ctx, f.owner, 1, 777)
	f.ok(err)
	for _, q := range bets {
		won := ledger.CrashSettlement{Bet: q}
		if q.Player == alice {
			won.CashOutE2 = 250
		}
		f.settle(won)
	}
	_, err = f.b.Store.FinishCrashRound(f.ctx, f.owner, 1, 2, "")
	f.ok(err)
	f.wantBalance(alice, 1150)
	f.wantBalance(bob, 900)

	got, err := f.b.Store.LoadCrashBet(f.ctx, a.Round.ID)
	f.ok(err)
	if got.Round.State != ledger.Settled || got.Round.Payout != 250 || got.Round.Bet.Crash.CashOutE2 != 250 || got.Player != alice || got.Table != f.table {
		t.Fatalf("loaded %+v", got)
	}
	lost, err := f.b.Store.FindCrashBet(f.ctx, f.table, bob, "b")
	f.ok(err)
	if lost.Round.ID != b.Round.ID || lost.Round.State != ledger.Settled || lost.Round.Payout != 0 || lost.Round.SettleTime.IsZero() {
		t.Fatalf("found %+v", lost)
	}
	history, err := f.b.Store.CrashRounds(f.ctx, f.table, 1, 200)
	f.ok(err)
	if len(history) != 1 {
		t.Fatalf("history %+v", history)
	}
	h := history[0]
	if h.Number != 1 || h.PointE2 != 777 || h.BetCount != 2 || h.Phase != ledger.CrashFinal || h.Void != "" ||
		h.OpenUs > h.LockUs || h.LockUs > h.StartUs || h.StartUs > h.CrashUs || h.OpenUs == 0 {
		t.Fatalf("history %+v", h)
	}
	n, err := f.b.Store.CrashBookLength(f.ctx, f.table, alice)
	f.ok(err)
	rounds, err := f.b.Store.Rounds(f.ctx, ledger.CrashBook(alice, f.table), 0, int(n))
	f.ok(err)
	if n != 1 || len(rounds) != 1 || rounds[0].ID != a.Round.ID {
		t.Fatalf("%d bets in the book: %+v", n, rounds)
	}
	out, err := f.b.Store.Outbox(f.ctx, "house", alice.Partition(), 0, 1000)
	f.ok(err)
	found := 0
	for _, e := range out {
		if e.Round == a.Round.ID {
			found++
		}
	}
	if found != 1 {
		t.Fatalf("%d settlements of the bet, want 1", found)
	}
	if _, err := f.b.Store.Load(f.ctx, a.Round.ID); !errors.Is(err, ledger.ErrBook) {
		t.Fatalf("Load of a crash bet: %v", err)
	}
}

func testCrashRepeats(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	first := f.bet(p, "x", 200)
	if again := f.bet(p, "x", 200); again.Round.ID != first.Round.ID || again.Balance != 900 {
		t.Fatalf("repeated as %+v", again)
	}
	_, err := f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, "x", 201))
	f.refused(err, reason.BetIDReused)
	_, err = f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, "y", 200))
	f.refused(err, reason.BetAlreadyPlaced)
	totals, err := f.b.Store.CrashTotals(f.ctx, f.table)
	f.ok(err)
	if totals.Count != 1 || totals.Worst[fun] != 200 {
		t.Fatalf("held after refusals: %+v", totals)
	}
	for _, q := range f.lock(1) {
		f.settle(ledger.CrashSettlement{Bet: q, CashOutE2: 150})
	}
	f.finish(1, 300)
	// A repeat that comes after the round is still the same bet.
	again := f.bet(p, "x", 200)
	if again.Round.ID != first.Round.ID || again.Round.Payout != 150 {
		t.Fatalf("repeated after the round as %+v", again)
	}
	f.wantBalance(p, 1050)
}

func testCrashQueue(t *testing.T, f *floor) {
	p, q := f.player(), f.player()
	f.open(1)
	now := f.bet(p, "now", 200)
	f.lock(1)
	late := f.bet(p, "late", 300)
	if late.Round.Bet.Crash.Number != 2 {
		t.Fatalf("late bet is in round %d", late.Round.Bet.Crash.Number)
	}
	_, err := f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, "later", 200))
	f.refused(err, reason.BetAlreadyPlaced)
	f.settle(ledger.CrashSettlement{Bet: betOf(now)})
	f.finish(1, 100)
	// Numbers 2 to 4 are skipped: what was queued enters 5.
	s, err := f.b.Store.OpenCrashRound(f.ctx, f.owner, ledger.CrashOpening{Number: 5, Skipped: 3, BettingUs: 1, Mask: "m"})
	f.ok(err)
	if s.Round.Number != 5 {
		t.Fatalf("opened %+v", s)
	}
	totals, err := f.b.Store.CrashTotals(f.ctx, f.table)
	f.ok(err)
	if totals.Number != 5 || totals.Count != 1 || totals.Worst[fun] != 300 {
		t.Fatalf("totals %+v", totals)
	}
	other := f.placement(q, "q", 200)
	if _, err := f.b.Store.PlaceCrashBet(f.ctx, other); reason.Of(err) != reason.BettingClosed {
		t.Fatalf("a bet while its partition is not open: %v", err)
	}
	for part := range ledger.Partitions {
		f.ok(f.b.Store.OpenCrashPartition(f.ctx, f.owner, part, 5))
	}
	bets := f.lock(5)
	if len(bets) != 1 || bets[0].Bet.Number != 5 || bets[0].ID != late.Round.ID {
		t.Fatalf("round 5 has %+v", bets)
	}
	f.settle(ledger.CrashSettlement{Bet: bets[0], CashOutE2: 300})
	f.wantBalance(p, 1100)
	voids, err := f.b.Store.CrashVoids(f.ctx, f.table, 1, 10)
	f.ok(err)
	if len(voids) != 1 || voids[0].First != 2 || voids[0].Last != 4 || voids[0].Reason != ledger.CrashVoidStore {
		t.Fatalf("voids %+v", voids)
	}
}

func betOf(taken ledger.CrashTaken) ledger.CrashBet {
	r := taken.Round
	return ledger.CrashBet{ID: r.ID, Player: taken.Player, BetID: r.BetID, Bet: r.Bet.Crash, Currency: r.Currency, Stake: r.Stake}
}

func testCrashCancel(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	f.bet(p, "x", 200)
	for range 2 {
		gone, err := f.b.Store.CancelCrashBet(f.ctx, f.table, p, "x")
		f.ok(err)
		if gone.Round.State != ledger.Void || gone.Round.Payout != 100 || gone.Balance != 1000 {
			t.Fatalf("cancelled as %+v", gone)
		}
	}
	if again := f.bet(p, "x", 200); again.Round.State != ledger.Void {
		t.Fatalf("a repeat of a cancelled bet: %+v", again)
	}
	f.bet(p, "y", 200)
	totals, err := f.b.Store.CrashTotals(f.ctx, f.table)
	f.ok(err)
	if totals.Count != 1 || totals.Worst[fun] != 200 {
		t.Fatalf("totals %+v", totals)
	}
	if _, err := f.b.Store.CancelCrashBet(f.ctx, f.table, p, "z"); !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("cancelled what is not there: %v", err)
	}
	f.lock(1)
	_, err = f.b.Store.CancelCrashBet(f.ctx, f.table, p, "y")
	f.refused(err, reason.BettingClosed)
	f.bet(p, "queued", 200)
	_, err = f.b.Store.CancelCrashBet(f.ctx, f.table, p, "queued")
	f.ok(err)
	f.wantBalance(p, 900)
}

func testCrashSettleOnce(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	b := f.bet(p, "x", 500)
	f.lock(1)
	f.settle(ledger.CrashSettlement{Bet: betOf(b), CashOutE2: 199})
	for _, other := range []ledger.CrashSettlement{{Bet: betOf(b), CashOutE2: 500}, {Bet: betOf(b)}, {Bet: betOf(b), Void: true}} {
		got := f.settle(other)[0]
		if got.Round.Payout != 199 || got.Round.State != ledger.Settled || got.Round.Bet.Crash.CashOutE2 != 199 || got.Balance != 1099 {
			t.Fatalf("settled again as %+v", got)
		}
	}
	missing := betOf(b)
	missing.ID.Nonce = 7
	if got := f.settle(ledger.CrashSettlement{Bet: missing})[0]; got.Round.ID.Pair != "" {
		t.Fatalf("settled what is not there: %+v", got)
	}
	f.wantBalance(p, 1099)
}

func testCrashFencing(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	b := f.bet(p, "x", 500)
	seen, err := f.b.Store.CrashLease(f.ctx, f.table)
	f.ok(err)
	if seen.Owner != "one" || seen.Address == "" {
		t.Fatalf("lease %+v", seen)
	}
	f.ok(f.b.Store.BeatCrashTable(f.ctx, f.owner, 1, 42))
	if _, err := f.b.Store.TakeCrashTable(f.ctx, f.table, seen, "two", ""); !errors.Is(err, ledger.ErrCrashHeld) {
		t.Fatalf("took a lease that was alive: %v", err)
	}
	paused := f.owner
	f.owner = f.take("two")
	f.lock(1)
	for name, err := range map[string]error{
		"beat":  f.b.Store.BeatCrashTable(f.ctx, paused, 1, 0),
		"leave": f.b.Store.LeaveCrashTable(f.ctx, paused),
		"lock":  second(f.b.Store.LockCrashRound(f.ctx, paused, 1)),
		"start": second(f.b.Store.StartCrashRound(f.ctx, paused, 1)),
		"end":   second(f.b.Store.EndCrashRound(f.ctx, paused, 1, 100)),
		"void":  second(f.b.Store.FinishCrashRound(f.ctx, paused, 1, 0, "X")),
		"open":  f.b.Store.OpenCrashPartition(f.ctx, paused, p.Partition(), 1),
		"close": second(f.b.Store.CloseCrashPartition(f.ctx, paused, p.Partition(), 1)),
		"settle": second(f.b.Store.SettleCrashBets(f.ctx, paused, p.Partition(),
			[]ledger.CrashSettlement{{Bet: betOf(b), CashOutE2: 500}})),
		"publish": second(f.b.Store.PublishCrash(f.ctx, paused, [][]byte{{1}})),
	} {
		if !errors.Is(err, ledger.ErrCrashFenced) {
			t.Errorf("%s by a paused owner: %v", name, err)
		}
	}
	f.wantBalance(p, 900)
	f.ok(f.b.Store.LeaveCrashTable(f.ctx, f.owner))
	if left, err := f.b.Store.CrashLease(f.ctx, f.table); err != nil || left.Owner != "" {
		t.Fatalf("a lease that was given up: %+v %v", left, err)
	}
	if err := f.b.Store.BeatCrashTable(f.ctx, f.owner, 0, 0); !errors.Is(err, ledger.ErrCrashFenced) {
		t.Fatalf("beat after leaving: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func testCrashLimit(t *testing.T, f *floor) {
	p, q := f.player(), f.player()
	f.open(1)
	small := f.placement(p, "a", 600)
	small.RoundLimit = 1000
	_, err := f.b.Store.PlaceCrashBet(f.ctx, small)
	f.ok(err)
	over := f.placement(q, "b", 500)
	over.RoundLimit = 1000
	_, err = f.b.Store.PlaceCrashBet(f.ctx, over)
	f.refused(err, reason.LimitExceeded)
	f.wantBalance(q, 1000)
	if again, err := f.b.Store.PlaceCrashBet(f.ctx, small); err != nil || again.Round.BetID != "a" {
		t.Fatalf("a repeat within a full round: %+v %v", again, err)
	}
	_, err = f.b.Store.CancelCrashBet(f.ctx, f.table, p, "a")
	f.ok(err)
	_, err = f.b.Store.PlaceCrashBet(f.ctx, over)
	f.ok(err)
}

func testCrashReplaced(t *testing.T, f *floor, b CrashBackend) {
	p := f.player()
	f.open(1)
	f.bet(p, "x", 200)
	b.Replace(t)
	if _, err := f.b.Store.LockCrashRound(f.ctx, f.owner, 1); !errors.Is(err, ledger.ErrCrashReplaced) {
		t.Fatalf("locked on another store: %v", err)
	}
	s, err := f.b.Store.CrashState(f.ctx, f.table)
	f.ok(err)
	if !s.Replaced() {
		t.Fatalf("not seen as replaced: %+v", s)
	}
	q := f.player()
	_, err = f.b.Store.PlaceCrashBet(f.ctx, f.placement(q, "late", 200))
	f.refused(err, reason.BettingClosed)
	_, err = f.b.Store.CancelCrashBet(f.ctx, f.table, p, "x")
	f.refused(err, reason.BettingClosed)
	f.owner = f.take("two")
	for _, bet := range f.lock(1) {
		f.settle(ledger.CrashSettlement{Bet: bet, Void: true})
	}
	_, err = f.b.Store.FinishCrashRound(f.ctx, f.owner, 1, 1, ledger.CrashVoidStore)
	f.ok(err)
	f.wantBalance(p, 1000)
	history, err := f.b.Store.CrashRounds(f.ctx, f.table, 1, 1)
	f.ok(err)
	if len(history) != 1 || history[0].Void != ledger.CrashVoidStore || history[0].StartUs != 0 {
		t.Fatalf("history %+v", history)
	}
}

// testCrashEvents: a step and its event can not be parted, so that no death of an owner hides a phase.
func testCrashEvents(t *testing.T, f *floor) {
	before, err := f.b.Store.CrashState(f.ctx, f.table)
	f.ok(err)
	f.open(1)
	first, err := f.b.Store.CrashState(f.ctx, f.table)
	f.ok(err)
	last, err := f.b.Store.PublishCrash(f.ctx, f.owner, [][]byte{[]byte("a"), {0, 255, 13, 10}})
	f.ok(err)
	f.lock(1)
	for range 2 { // a repeat is no second event
		_, err = f.b.Store.StartCrashRound(f.ctx, f.owner, 1)
		f.ok(err)
	}
	_, err = f.b.Store.EndCrashRound(f.ctx, f.owner, 1, 234)
	f.ok(err)
	end, err := f.b.Store.FinishCrashRound(f.ctx, f.owner, 1, 0, "")
	f.ok(err)
	if before.LastEvent != 0 || last != first.LastEvent+2 || end.LastEvent != first.LastEvent+6 {
		t.Fatalf("numbered %d, %d, %d, %d", before.LastEvent, first.LastEvent, last, end.LastEvent)
	}
	events, err := f.b.Store.CrashEvents(f.ctx, f.table, 0)
	f.ok(err)
	if len(events) != 7 {
		t.Fatalf("%d events", len(events))
	}
	for i, want := range []struct {
		encoded string
		phase   ledger.CrashPhase
		crash   bool
		pointE2 uint32
	}{
		{phase: ledger.CrashBetting}, {encoded: "a"}, {encoded: "\x00\xff\r\n"}, {phase: ledger.CrashClosing}, {phase: ledger.CrashRunning},
		{phase: ledger.CrashCrashed, crash: true, pointE2: 234}, {phase: ledger.CrashCrashed, pointE2: 234},
	} {
		e := events[i]
		if e.Number != first.LastEvent+uint64(i) || string(e.Encoded) != want.encoded || e.Crash != want.crash || (e.Step == nil) != (want.encoded != "") {
			t.Fatalf("event %d: %+v", i, e)
		}
		if e.Step == nil {
			continue
		}
		r := e.Step.Round
		if r.Phase != want.phase || r.PointE2 != want.pointE2 || r.Number != 1 || e.Step.NowUs < r.OpenUs || r.OpenUs == 0 || e.Step.Mask != "" || e.Step.RoundLife == "" {
			t.Fatalf("event %d: %+v", i, e.Step)
		}
	}
	some, err := f.b.Store.CrashEvents(f.ctx, f.table, last)
	f.ok(err)
	if len(some) != 4 || some[0].Number != last+1 {
		t.Fatalf("after %d: %+v", last, some)
	}
	if none, err := f.b.Store.CrashEvents(f.ctx, f.table, end.LastEvent); err != nil || len(none) > 0 {
		t.Fatalf("events after the last: %v %v", none, err)
	}
}

func testCrashEventSeries(t *testing.T, f *floor, b CrashBackend) {
	const series = 1 << 32
	before, err := f.b.Store.PublishCrash(f.ctx, f.owner, [][]byte{{1}, {2}})
	f.ok(err)
	b.Replace(t)
	after, err := f.b.Store.PublishCrash(f.ctx, f.owner, [][]byte{{3}})
	f.ok(err)
	if before/series == after/series || before%series != 2 || after%series != 3 || after > 1<<53 {
		t.Fatalf("numbered %d, then %d", before, after)
	}
	events, err := f.b.Store.CrashEvents(f.ctx, f.table, after-1)
	f.ok(err)
	if len(events) != 1 || events[0].Number != after {
		t.Fatalf("events %+v", events)
	}
}

func testCrashRefusals(t *testing.T, f *floor) {
	p := f.player()
	_, err := f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, "x", 200))
	f.refused(err, reason.BettingClosed)
	f.open(1)
	poor := f.placement(p, "x", 200)
	poor.Stake, poor.WorstCase = 1001, 2002
	_, err = f.b.Store.PlaceCrashBet(f.ctx, poor)
	f.refused(err, reason.InsufficientFunds)
	if e, _ := reason.From(err); e.Metadata["balance"] != "1000" {
		t.Errorf("metadata %v", e.Metadata)
	}
	stranger := f.placement(ledger.Player{Operator: "house", ID: "nobody"}, "x", 200)
	_, err = f.b.Store.PlaceCrashBet(f.ctx, stranger)
	f.refused(err, reason.InsufficientFunds)
	end := f.placement(p, "x", 200)
	end.LastNumber = 0
	_, err = f.b.Store.PlaceCrashBet(f.ctx, end)
	f.refused(err, reason.BettingClosed)
	own := f.placement(p, "x", 200)
	own.Refusal = reason.New(reason.StakeTooSmall, "too small")
	_, err = f.b.Store.PlaceCrashBet(f.ctx, own)
	f.refused(err, reason.StakeTooSmall)
	totals, err := f.b.Store.CrashTotals(f.ctx, f.table)
	f.ok(err)
	if totals.Count != 0 || totals.Worst[fun] != 0 {
		t.Fatalf("held after refusals: %+v", totals)
	}
	f.wantBalance(p, 1000)
	if _, err := f.b.Store.OpenCrashRound(f.ctx, f.owner, ledger.CrashOpening{Number: 2, BettingUs: 1}); !errors.Is(err, ledger.ErrCrashStep) {
		t.Fatalf("opened over an open round: %v", err)
	}
	if _, err := f.b.Store.StartCrashRound(f.ctx, f.owner, 1); !errors.Is(err, ledger.ErrCrashStep) {
		t.Fatalf("started before the lock: %v", err)
	}
}

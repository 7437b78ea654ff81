package ledgertest

import (
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
)

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
	f.wantOpen(alice)
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
	f.wantOpen(p, 1, 2)
	_, err = f.b.Store.CancelCrashBet(f.ctx, f.table, p, "queued")
	f.ok(err)
	f.wantOpen(p, 1)
	f.wantBalance(p, 900)
}

// What a closed partition calls unsettled is looked for one by one, in each round
// that comes.
func testCrashCancelAll(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	cancel := func(betID string) {
		t.Helper()
		_, err := f.b.Store.CancelCrashBet(f.ctx, f.table, p, betID)
		f.ok(err)
	}
	f.bet(p, "x", 200)
	cancel("x")
	f.lock(1)
	f.bet(p, "queued", 200)
	cancel("queued")
	f.finish(1, 150)
	f.open(2)
	f.bet(p, "y", 200)
	f.settle(ledger.CrashSettlement{Bet: f.lock(2)[0]})
	f.finish(2, 150)
	f.open(3)
	for partition := range ledger.Partitions {
		all, err := f.b.Store.CloseCrashPartition(f.ctx, f.owner, partition, 3)
		f.ok(err)
		if len(all.Numbers) > 0 {
			t.Errorf("partition %d has unsettled bets of rounds %v", partition, all.Numbers)
		}
	}
}

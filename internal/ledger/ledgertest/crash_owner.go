package ledgertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
)

func testCrashSettleOnce(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	b := f.bet(p, "x", 500)
	f.lock(1)
	f.settle(ledger.CrashSettlement{Bet: betOf(b), CashOutE2: 199})
	for _, other := range []ledger.CrashSettlement{{Bet: betOf(b), CashOutE2: 500}, {Bet: betOf(b)}, {Bet: betOf(b), Void: ledger.CrashVoidStore}} {
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

// testCrashClosedForGood: a call that opens a partition may be taken twice, the
// second time as late as the network has it, which may be after the close. A bet
// that was on its way at the lock must not enter then.
func testCrashClosedForGood(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	_, err := f.b.Store.CloseCrashPartition(f.ctx, f.owner, p.Partition(), 1)
	f.ok(err)
	f.ok(f.b.Store.OpenCrashPartition(f.ctx, f.owner, p.Partition(), 1))
	_, err = f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, "late", 200))
	f.refused(err, reason.BettingClosed)
	f.wantBalance(p, 1000)
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
	if !strings.Contains(err.Error(), "the bet stays") {
		f.t.Errorf("one who takes a bet back is told: %v", err)
	}
	f.owner = f.take("two")
	for _, bet := range f.lock(1) {
		f.settle(ledger.CrashSettlement{Bet: bet, Void: ledger.CrashVoidStore})
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

// testCrashBook has bets before and after a loss of the store. A wallet may have
// booked bets that are lost, by the ids that the next ones would have had.
func testCrashBook(t *testing.T, f *floor, b CrashBackend) {
	p := f.player()
	play := func(number uint32, id string) ledger.RoundID {
		f.open(number)
		taken := f.bet(p, id, 200)
		for _, bet := range f.lock(number) {
			f.settle(ledger.CrashSettlement{Bet: bet})
		}
		f.finish(number, 300)
		return taken.Round.ID
	}
	play(1, "a")
	last := play(2, "b")
	if last.Nonce != 1 {
		t.Fatalf("the second bet is %v", last)
	}
	b.Replace(t)
	f.owner = f.take("two")
	after := play(3, "c")
	if after.Nonce != last.Nonce+1+ledger.CrashBookGap || after.Pair != last.Pair {
		t.Errorf("after a loss the next bet is %v, and was %v", after, last)
	}
	if next := play(4, "d"); next.Nonce != after.Nonce+1 {
		t.Errorf("the bet after %v is %v", after, next)
	}
	for _, id := range []string{"a", "c"} {
		if _, err := f.b.Store.FindCrashBet(f.ctx, f.table, p, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

package crash

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
)

// fakeRound is a running round whose clock is set by hand.
type fakeRound struct {
	*live
	us      atomic.Int64
	mu      sync.Mutex
	settled map[ledger.Player][]uint32 // what was sent to be settled, by player
}

func newFakeRound(pointE2 uint32, targets ...uint32) *fakeRound {
	f := &fakeRound{settled: make(map[ledger.Player][]uint32)}
	var bets []ledger.CrashBet
	for i, target := range targets {
		bets = append(bets, ledger.CrashBet{
			Player: bettor(i), BetID: "x", Stake: 100, Currency: "FUN",
			ID:  ledger.RoundID{Pair: ledger.CrashBook(bettor(i), "main")},
			Bet: bet.CrashBet{Bet: crash.Bet{TargetE2: target}, Number: 1},
		})
	}
	f.live = newLive(growth, 1, pointE2, f.us.Load, func(b *liveBet) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.settled[b.Player] = append(f.settled[b.Player], b.cashOutE2)
	}, bets)
	return f
}

func bettor(i int) ledger.Player {
	return ledger.Player{Operator: "house", ID: fmt.Sprint("bettor-", i)}
}

// paid returns what a player's bet was cashed out at; 0 when it was not yet.
func (f *fakeRound) paid(t *testing.T, i int) uint32 {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.settled[bettor(i)]
	if len(all) > 1 {
		t.Fatalf("a bet was settled %d times", len(all))
	}
	if len(all) == 0 {
		return 0
	}
	return all[0]
}

// firstUs are some thresholds of growth-v1: ceil(10^9 * ln(m/100) / 60), worked
// out with Python's decimal.
var firstUs = map[uint32]int64{101: 165839, 102: 330044, 150: 6757752, 200: 11552454, 201: 11635579, 202: 11718292}

func TestEqualityAndLatencyAtTheCrashInstant(t *testing.T) {
	for _, c := range []struct {
		name   string
		target uint32
		us     int64
		want   uint32 // 0: lost
	}{
		{"the last microsecond of the crash point", 1000, firstUs[201] - 1, 200},
		{"the end itself", 1000, firstUs[201], 0},
		{"after the end", 1000, firstUs[202], 0},
		{"the first microsecond of the crash point", 1000, firstUs[200], 200},
		{"one before it", 1000, firstUs[200] - 1, 199},
		{"the start counts as 1.01", 1000, 0, 101},
		{"auto at the same time comes first", 150, firstUs[150], 150},
		{"long after the auto the target is paid, never the tick after", 150, firstUs[200], 150},
		{"an auto that ties with the crash point, asked for too late", 200, firstUs[201] + 5, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeRound(200, c.target)
			f.us.Store(c.us)
			if f.cashOut(bettor(0), "x") == nil {
				t.Fatal("the bet is not there")
			}
			if got := f.paid(t, 0); got != c.want {
				t.Errorf("cashed out at %d, want %d", got, c.want)
			}
		})
	}
}

func TestARoundThatCrashesAtOnceIsLostByAll(t *testing.T) {
	f := newFakeRound(100, 101, 1000)
	for us := int64(0); us <= firstUs[101]; us += 1000 {
		f.us.Store(us)
		f.cashOut(bettor(1), "x")
		f.advance()
	}
	if f.paid(t, 0)+f.paid(t, 1) != 0 {
		t.Error("somebody won a round that crashed at 1.00")
	}
	rest := f.finish()
	if len(rest) != 2 || rest[0].cashOutE2+rest[1].cashOutE2 != 0 {
		t.Errorf("left: %v", rest)
	}
}

func TestAutomaticCashOutsAreExact(t *testing.T) {
	f := newFakeRound(200, 101, 102, 150, 200, 201)
	f.us.Store(firstUs[150] + 77_000) // a late tick
	if _, ended := f.advance(); ended {
		t.Fatal("ended")
	}
	for i, want := range []uint32{101, 102, 150, 0, 0} {
		if got := f.paid(t, i); got != want {
			t.Errorf("bet %d: paid %d, want %d", i, got, want)
		}
	}
	f.us.Store(firstUs[202]) // so late that the round is over
	if _, ended := f.advance(); !ended {
		t.Fatal("not ended")
	}
	if f.paid(t, 3) != 200 || f.paid(t, 4) != 0 {
		t.Errorf("the tie was paid %d, the loser %d", f.paid(t, 3), f.paid(t, 4))
	}
}

func TestAStrangersBetIsNotThere(t *testing.T) {
	f := newFakeRound(200, 300)
	if f.cashOut(bettor(7), "x") != nil || f.cashOut(bettor(0), "y") != nil {
		t.Error("a bet of nobody was found")
	}
}

// Guard checked before await, state written after: N cash-outs in one tick.
func TestCashOutsRaceWithTheCrash(t *testing.T) {
	const players, callers = 200, 4
	for round := range 20 {
		targets := make([]uint32, players)
		for i := range targets {
			targets[i] = uint32(150 + i)
		}
		f := newFakeRound(200, targets...)
		f.us.Store(firstUs[200] - 300)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range players {
			for range callers {
				wg.Go(func() {
					<-start
					f.us.Add(2) // time goes on
					f.cashOut(bettor(i), "x")
				})
			}
		}
		wg.Go(func() {
			<-start
			for ended := false; !ended; {
				f.us.Add(100)
				_, ended = f.advance()
			}
			for _, b := range f.finish() {
				f.settle(b)
			}
		})
		close(start)
		wg.Wait()
		for i, target := range targets {
			got := f.paid(t, i)
			legal := got == 199 || got == 200 || got == 0
			if target <= 200 {
				legal = got == target || got == 199 && target == 200
			}
			if !legal {
				t.Fatalf("round %d: target %d was paid %d", round, target, got)
			}
		}
	}
}

// BenchmarkDecision is one cash-out among 5,000 bets, without its way to the store.
func BenchmarkDecision(b *testing.B) {
	const players = 5000
	targets := make([]uint32, players)
	for i := range targets {
		targets[i] = 1_000_000
	}
	names := make([]ledger.Player, players)
	for i := range names {
		names[i] = bettor(i)
	}
	var f *fakeRound
	for i := range b.N {
		if i%players == 0 {
			b.StopTimer()
			f = newFakeRound(1_000_000, targets...)
			f.live.settle = func(*liveBet) {}
			f.us.Store(firstUs[200])
			b.StartTimer()
		}
		f.cashOut(names[i%players], "x")
	}
}

// A call that names another bet of the player, such as the one of the round before,
// cashes out nothing; nor does one that comes while the round is being ended, which
// waits for the result.
func TestACallForAnotherBetOrAfterTheEndCashesOutNothing(t *testing.T) {
	f := newFakeRound(1000, 1000)
	f.us.Store(firstUs[200])
	if b := f.live.cashOut(bettor(0), "y"); b != nil || f.paid(t, 0) != 0 {
		t.Errorf("a call for another bet is answered with %v", b)
	}
	f.live.stop()
	if b := f.live.cashOut(bettor(0), "x"); b == nil || b.decided || f.paid(t, 0) != 0 {
		t.Errorf("a call after the end is answered with %v, and paid %d", b, f.paid(t, 0))
	}
}

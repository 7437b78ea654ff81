package crash

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// bot is a player with one bet and what he knows of it.
type bot struct {
	player ledger.Player
	id     string
	target uint32
	round  *originalsv1.Round // as it was taken
	cashed *originalsv1.Round // acknowledged cash-out, if there was one
}

// seat lets bots bet on the round that takes bets next, with targets from 1.01x on.
func (h *house) seat(p *process, n int, prefix string) []*bot {
	h.t.Helper()
	bots := make([]*bot, n)
	for i := range bots {
		bots[i] = &bot{player: h.player(fmt.Sprintf("%s-%d", prefix, i)), id: "bet", target: uint32(101 + i*i*3)}
	}
	number := h.state().Round.Number + 1
	h.awaitPhase(number, ledger.CrashBetting)
	for _, b := range bots {
		round, err := p.bet(b.player, b.id, b.target)
		if err != nil {
			h.t.Fatal(err)
		}
		b.round = round
	}
	return bots
}

// check compares what a bot has with what the rules give him.
func (h *house) check(b *bot) {
	h.t.Helper()
	number := uint32(b.round.GetCrash().GetNumber())
	l, err := h.store.FindCrashBet(context.Background(), "main", b.player, b.id)
	if err != nil {
		h.t.Fatal(err)
	}
	if n := l.Round.Bet.Crash.Number; n != number {
		number = n // numbers were skipped
	}
	point := h.point(number)
	want := int64(0)
	switch {
	case l.Round.State == ledger.Void:
		want = 100
	case b.cashed != nil && b.cashed.GetState() == originalsv1.Round_SETTLED:
		want = b.cashed.GetPayout().GetAmount()
		if at := b.cashed.GetCrash().GetCashOutE2(); at > point || want != int64(at) {
			h.t.Errorf("paid %d at %d, crashed at %d", want, at, point)
		}
	case b.target <= point:
		want = int64(b.target)
	}
	if l.Round.State == ledger.Open || int64(l.Round.Payout) != want {
		h.t.Errorf("round %d crashed at %d, target %d, cashed %v: %+v, want %d", number, point, b.target, b.cashed, l.Round, want)
	}
	if got := h.balance(b.player); got != 100_000-100+money.Units(want) {
		h.t.Errorf("balance %d, want %d", got, 100_000-100+money.Units(want))
	}
}

// awaitFinal waits until a round is final.
func (h *house) awaitFinal(number uint32) { h.t.Helper(); h.awaitPhase(number, ledger.CrashFinal) }

// checkHistory sees to it that every number up to the newest is listed once, and
// that every round that was played has the crash point of its link.
func (h *house) checkHistory(last uint32) {
	h.t.Helper()
	rounds, err := finalRounds(context.Background(), h.store, "main", 1, last)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(rounds) != int(last) {
		h.t.Fatalf("%d rounds are listed, want %d", len(rounds), last)
	}
	for i, r := range rounds {
		if r.Number != uint32(i)+1 {
			h.t.Fatalf("round %d stands at place %d", r.Number, i+1)
		}
		if r.Void == "" && r.PointE2 != h.point(r.Number) {
			h.t.Errorf("round %d crashed at %d, its link says %d", r.Number, r.PointE2, h.point(r.Number))
		}
	}
}

func TestARoundIsPlayed(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *house{
		"redis":    func(t *testing.T) *house { return onRedis(t) },
		"embedded": func(t *testing.T) *house { h, _ := onEmbedded(t); return h },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			p := h.start(true)
			h.awaitPhase(1, ledger.CrashBetting)
			for range 3 {
				bots := h.seat(p, 12, fmt.Sprintf("%s-%d", name, h.state().Round.Number))
				number := uint32(bots[0].round.GetCrash().GetNumber())
				h.awaitPhase(number, ledger.CrashRunning)
				for _, b := range bots[6:] {
					if number != b.round.GetCrash().GetNumber() {
						continue // it came after the lock
					}
					round, err := p.cash(b.player, b.id)
					if err != nil {
						t.Fatalf("cash-out in a running round: %v", err)
					}
					b.cashed = round
				}
				h.awaitFinal(uint32(bots[len(bots)-1].round.GetCrash().GetNumber()))
				for _, b := range bots {
					h.check(b)
					// Settled by itself, then "invalid session": a repeat has the same answer.
					again, err := p.cash(b.player, b.id)
					if err != nil || again.GetState() != originalsv1.Round_SETTLED || again.GetCrash().GetCrashE2() != h.point(uint32(b.round.GetCrash().GetNumber())) {
						t.Errorf("a late cash-out: %v %v", again, err)
					}
					if b.cashed != nil && again.GetPayout().GetAmount() != b.cashed.GetPayout().GetAmount() {
						t.Errorf("repeated as %v, was %v", again, b.cashed)
					}
				}
				h.checkHistory(number)
			}
		})
	}
}

func TestAnotherProcessTakesOver(t *testing.T) {
	for phase, name := range map[ledger.CrashPhase]string{
		ledger.CrashBetting: "betting", ledger.CrashClosing: "closing", ledger.CrashRunning: "running",
		ledger.CrashCrashed: "crashed", ledger.CrashFinal: "final",
	} {
		t.Run(name, func(t *testing.T) {
			h := onRedis(t)
			h.pace = 20
			first := h.start(true)
			h.awaitPhase(1, ledger.CrashBetting)
			second := h.start(true)
			bots := h.seat(second, 20, name)
			number := uint32(bots[0].round.GetCrash().GetNumber())
			h.awaitPhase(number, phase)
			if phase == ledger.CrashRunning {
				if round, err := first.cash(bots[3].player, bots[3].id); err == nil {
					bots[3].cashed = round
				}
			}
			first.kill()
			killed := time.Now()
			h.await("another owner", func() bool { return second.tables["main"].owner.Load() != nil })
			if took := time.Since(killed); took > 3*time.Second {
				t.Errorf("taken over after %v, want 3 s at most", took)
			}
			h.awaitFinal(number + 1)
			for _, b := range bots {
				h.check(b)
			}
			h.checkHistory(number + 1)
		})
	}
}

func TestAPausedOwnerWritesNothing(t *testing.T) {
	h := onRedis(t)
	h.pace = 5
	for h.point(1) > 300 || h.point(2) < 200 { // the first round is short, the second is long
		h.chain = newChain(t)
	}
	first := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	second := h.start(true)
	bots := h.seat(second, 10, "paused")
	number := uint32(bots[0].round.GetCrash().GetNumber())
	h.awaitPhase(number, ledger.CrashRunning)
	resume := first.line.pause()
	// The paused owner decides a cash-out that it cannot make durable.
	answer := make(chan error, 1)
	go func() {
		var err error
		bots[9].cashed, err = first.cash(bots[9].player, bots[9].id)
		answer <- err
	}()
	h.await("another owner", func() bool { return second.tables["main"].owner.Load() != nil })
	resume()
	if err := <-answer; err != nil && reason.Of(err) != reason.StoreUnavailable {
		t.Errorf("the answer of a paused owner: %v", err)
	}
	h.await("the first to notice", func() bool { return first.tables["main"].owner.Load() == nil })
	h.awaitFinal(number)
	for _, b := range bots {
		h.check(b)
	}
}

func TestTwoProcessesWantTheTable(t *testing.T) {
	h := onRedis(t)
	a, b := h.start(true), h.start(true)
	h.awaitFinal(6)
	owners := 0
	for _, p := range []*process{a, b} {
		if p.tables["main"].owner.Load() != nil {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("%d owners, want 1", owners)
	}
	// Left in good order, the table goes on at once.
	before := time.Now()
	for _, p := range []*process{a, b} {
		if p.tables["main"].owner.Load() != nil {
			p.stop()
			break
		}
	}
	last := h.state().Round.Number
	h.awaitFinal(last + 2)
	if took := time.Since(before); took > 3*time.Second {
		t.Errorf("two more rounds took %v", took)
	}
	h.checkHistory(h.state().Round.Number - 1)
}

func TestAReplacedStoreSkipsNumbers(t *testing.T) {
	h, e := onEmbedded(t)
	h.short.Betting = 2 * time.Second
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	alice := h.player("alice")
	round, err := p.bet(alice, "x", 101)
	if err != nil {
		t.Fatal(err)
	}
	e.Replace()
	h.await("the void round", func() bool { return h.state().Round.Number > 1 })
	if got := h.balance(alice); got != 100_000 {
		t.Errorf("balance %d after a void round, want the stake back", got)
	}
	got, err := p.cash(alice, "x")
	if err != nil || got.GetState() != originalsv1.Round_VOID || got.GetPayout().GetAmount() != 100 || got.GetRoundId() != round.GetRoundId() {
		t.Errorf("the bet of a void round: %v %v", got, err)
	}
	r, err := p.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: "main", Number: 1})
	if err != nil || r.GetState() != originalsv1.CrashRound_VOID || r.GetVoidReason() != ledger.CrashVoidStore ||
		r.GetCrashE2() != h.point(1) || r.GetHash() == "" {
		t.Errorf("a void round is shown as %v %v", r, err)
	}
	newest := h.state().Round.Number
	if newest < 3 {
		t.Errorf("round %d was opened: it may have been in time that was lost", newest)
	}
	h.checkHistory(newest - 1)
}

func TestAClockIsSetByAnHour(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		for _, phase := range []ledger.CrashPhase{ledger.CrashBetting, ledger.CrashRunning} {
			t.Run(fmt.Sprintf("%s in phase %d", name, phase), func(t *testing.T) {
				h, e := onEmbedded(t)
				h.pace = 20
				first := h.start(true)
				h.awaitPhase(1, ledger.CrashBetting)
				second := h.start(true)
				bots := h.seat(second, 20, name)
				number := uint32(bots[0].round.GetCrash().GetNumber())
				h.awaitPhase(number, phase)
				first.kill()
				e.SetTime(time.Now().Add(step))
				h.await("another owner", func() bool { return second.tables["main"].owner.Load() != nil })
				h.awaitFinal(uint32(bots[len(bots)-1].round.GetCrash().GetNumber()))
				for _, b := range bots {
					h.check(b)
				}
				h.awaitPhase(number+1, ledger.CrashBetting)
				h.checkHistory(number)
			})
		}
	}
}

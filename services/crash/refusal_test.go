package crash

import (
	"context"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func TestRefusals(t *testing.T) {
	h, _ := onEmbedded(t)
	p := h.start(true)
	alice := h.player("alice")
	h.awaitPhase(1, ledger.CrashBetting)
	place := func(change func(*originalsv1.CrashServicePlaceBetRequest)) error {
		target := uint32(200)
		req := &originalsv1.CrashServicePlaceBetRequest{
			Table: "main", BetId: "x", Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, AutoCashOutE2: &target,
		}
		change(req)
		_, err := p.PlaceBet(as(alice), req)
		return err
	}
	target := func(e2 uint32) error {
		return place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.AutoCashOutE2 = &e2 })
	}
	round := func(table string, number uint32) error {
		_, err := p.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: table, Number: number})
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		want reason.Reason
	}{
		{"no such table", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Table = "other" }), reason.TableNotFound},
		{"no id", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.BetId = "" }), reason.InvalidField},
		{"no stake", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Stake = nil }), reason.InvalidField},
		{"negative stake adds money", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Stake.Amount = -1 }), reason.InvalidField},
		{"a currency of nobody", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Stake.Currency = "XYZ" }), reason.InvalidField},
		{"more than there is", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Stake.Amount = 100_001 }), reason.InsufficientFunds},
		{"above the limits", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Stake.Amount = 1 << 50 }), reason.LimitExceeded},
		{"a win of nothing", place(func(r *originalsv1.CrashServicePlaceBetRequest) { r.Stake.Amount = 1; *r.AutoCashOutE2 = 199 }), reason.StakeTooSmall},
		{"target 1.00", target(100), reason.InvalidField},
		{"target of 0", target(0), reason.InvalidField},
		{"target above 10000", target(1_000_001), reason.InvalidField},
		{"target that does not fit", target(1<<32 - 1), reason.InvalidField},
		{"no such bet", second(p.cash(alice, "nothing")), reason.BetNotFound},
		{"round 0", round("main", 0), reason.RoundNotFound},
		{"a round to come", round("main", 50_000), reason.RoundNotFound},
		{"a round beyond the chain", round("main", 1<<32-1), reason.RoundNotFound},
		{"a round of no table", round("nowhere", 1), reason.TableNotFound},
	} {
		if c.err == nil || reason.Of(c.err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, c.err, c.want)
		}
	}
	if got := h.balance(alice); got != 100_000 {
		t.Errorf("refusals have cost %d", 100_000-got)
	}
}

func second[T any](_ T, err error) error { return err }

// Round state broadcast carries the hidden result.
func TestNothingBeforeTheCrashTellsTheCrashPoint(t *testing.T) {
	h := onRedis(t)
	for h.point(1) < 300 {
		h.chain = newChain(t)
	}
	h.pace = 20
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashRunning)
	seen := 0
	last := uint64(0)
	err := p.Events(t.Context(), "main", 0, func(e *originalsv1.CrashEvent) error {
		if uint64(e.GetEvent()) != last+1 {
			t.Errorf("event %d follows %d", e.GetEvent(), last)
		}
		last = uint64(e.GetEvent())
		if c := e.GetCrash(); c != nil {
			if c.GetCrashE2() != h.point(1) || len(c.GetHash()) != 64 {
				t.Errorf("the crash is shown as %v", c)
			}
			return context.Canceled
		}
		seen++
		if table := e.GetPhase(); table != nil && table.CrashE2 != nil {
			t.Errorf("phase %s shows a crash point", table.GetPhase())
		}
		if tick := e.GetTick(); tick.GetMultiplierE2() > h.point(1) {
			t.Errorf("a tick of %d in a round that crashes at %d", tick.GetMultiplierE2(), h.point(1))
		}
		r, err := p.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: "main", Number: 1})
		if err != nil {
			t.Error(err)
		} else if r.GetState() == originalsv1.CrashRound_OPEN && (r.Hash != nil || r.CrashE2 != nil) {
			t.Errorf("an open round is shown as %v", r)
		}
		return nil
	})
	if err != context.Canceled || seen < 5 {
		t.Errorf("%d events before the crash: %v", seen, err)
	}
}

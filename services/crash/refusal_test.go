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

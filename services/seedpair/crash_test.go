package seedpair_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// crashRound plays one round of the table main, with a bet of the player that is
// cashed out at 2.00x; the round crashes at 3.00x.
func (p *player) crashRound(h *house, number uint32) ledger.CrashTaken {
	p.t.Helper()
	return p.crashRoundAt(h, "main", number)
}

func (p *player) crashRoundAt(h *house, table string, number uint32) ledger.CrashTaken {
	p.t.Helper()
	who := p.id
	ctx := context.Background()
	seen := got(h.store.CrashLease(ctx, table)).must(h.t)
	owner := got(h.store.TakeCrashTable(ctx, table, seen, "test", "")).must(h.t)
	got(h.store.OpenCrashRound(ctx, owner, ledger.CrashOpening{Number: number, BettingUs: 1})).must(h.t)
	if err := h.store.OpenCrashPartition(ctx, owner, who.Partition(), number); err != nil {
		p.t.Fatal(err)
	}
	taken := got(h.store.PlaceCrashBet(ctx, ledger.CrashPlacement{
		Table: table, Player: who, BetID: unique("bet"), Target: crash.Bet{TargetE2: 500}, Currency: "FUN", Stake: 100, WorstCase: 500,
		RoundLimit: 1000, LastNumber: 1000,
	})).must(h.t)
	got(h.store.LockCrashRound(ctx, owner, number)).must(h.t)
	bets := got(h.store.CloseCrashPartition(ctx, owner, who.Partition(), number)).must(h.t)
	got(h.store.StartCrashRound(ctx, owner, number)).must(h.t)
	got(h.store.EndCrashRound(ctx, owner, number, 300)).must(h.t)
	got(h.store.SettleCrashBets(ctx, owner, who.Partition(), []ledger.CrashSettlement{{Bet: bets.Bets[0], CashOutE2: 200}})).must(h.t)
	got(h.store.FinishCrashRound(ctx, owner, number, 1, "")).must(h.t)
	return taken
}

func TestRoundsOfACrashTableStandAmongTheOthers(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var all, ofCrash []string
		for i := range 9 {
			time.Sleep(2 * time.Millisecond) // records tell milliseconds apart
			if i%3 == 1 {
				all = append(all, p.playDice(100).GetRoundId())
				continue
			}
			taken := p.crashRound(h, uint32(i)+1)
			all, ofCrash = append(all, taken.Round.ID.String()), append(ofCrash, taken.Round.ID.String())
		}
		newestFirst := func(ids []string) (out []string) {
			for i := len(ids) - 1; i >= 0; i-- {
				out = append(out, ids[i])
			}
			return out
		}
		for _, n := range []int32{1, 2, 4, 200} {
			ids, _ := p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(n)}, func() {})
			wantIDs(t, "all", ids, newestFirst(all))
			ids, _ = p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(n), Game: originalsv1.Game_CRASH}, func() {})
			wantIDs(t, "crash", ids, newestFirst(ofCrash))
		}
		r := p.round(ofCrash[0])
		if r.GetGame() != originalsv1.Game_CRASH || r.GetPayout().GetAmount() != 200 || r.GetMultiplierE4() != 20000 ||
			r.GetCrash().GetCrashE2() != 300 || r.GetCrash().GetCashOutE2() != 200 || r.GetCrash().GetNumber() != 1 || r.GetSeedPairId() != "" {
			t.Errorf("shown as %v", r)
		}
		got(h.player().rounds.GetRound(h.player().ctx, &originalsv1.GetRoundRequest{RoundId: ofCrash[0]})).refused(t, reason.RoundNotFound)
		got(p.pick(ofCrash[0], 1)).refused(t, reason.RoundNotFound)
	})
}

// A table's players go on at the table of the next chain, which no configuration
// names.
func TestRoundsOfTheNextChainAreListed(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var ids []string
		tables := []string{"main", "main-2", "main-3"}
		for i, table := range tables {
			chain := ledger.CrashChain{Terminal: rng.Terminal{byte(i)}, Length: 1, Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltSelfChosen}}
			if i > 0 {
				chain.After = tables[i-1]
			}
			got(h.store.CreateCrashChain(context.Background(), table, chain, []byte("sealed"))).must(t)
			time.Sleep(2 * time.Millisecond) // records tell milliseconds apart
			ids = append(ids, p.crashRoundAt(h, table, 1).Round.ID.String())
		}
		slices.Reverse(ids)
		for _, n := range []int32{1, 2, 200} {
			for _, game := range []originalsv1.Game{originalsv1.Game_CRASH, originalsv1.Game_GAME_UNSPECIFIED} {
				listed, _ := p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(n), Game: game}, func() {})
				wantIDs(t, game.String(), listed, ids)
			}
		}
		// One that is announced between two pages does not come into the list.
		first := got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{PageSize: size(1)})).must(t)
		chain := ledger.CrashChain{Terminal: rng.Terminal{9}, Length: 1, After: "main-3", Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltSelfChosen}}
		got(h.store.CreateCrashChain(context.Background(), "main-4", chain, []byte("sealed"))).must(t)
		p.crashRoundAt(h, "main-4", 1)
		next := got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{PageSize: size(200), PageToken: first.GetNextPageToken()})).must(t)
		if len(next.GetRounds()) != 2 || next.GetRounds()[0].GetRoundId() != ids[1] {
			t.Errorf("the next page is %v", next.GetRounds())
		}
	})
}

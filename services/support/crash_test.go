package support_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// openCrash opens round 1 of the table main, everywhere.
func openCrash(h *house) ledger.CrashOwner {
	t, ctx := h.t, context.Background()
	t.Helper()
	owner := must(h.store.TakeCrashTable(ctx, "main", must(h.store.CrashLease(ctx, "main"))(t), "test", ""))(t)
	must(h.store.OpenCrashRound(ctx, owner, ledger.CrashOpening{Number: 1, BettingUs: 1}))(t)
	for partition := range ledger.Partitions {
		if err := h.store.OpenCrashPartition(ctx, owner, partition, 1); err != nil {
			t.Fatal(err)
		}
	}
	return owner
}

func (p *player) placeCrash(owner ledger.CrashOwner) ledger.CrashTaken {
	p.h.t.Helper()
	return must(p.h.store.PlaceCrashBet(context.Background(), ledger.CrashPlacement{
		Table: owner.Table, Player: p.id, BetID: unique("bet"), Target: crash.Bet{TargetE2: 500}, Currency: "FUN", Stake: 100, WorstCase: 500,
		RoundLimit: 1000, LastNumber: 1000,
	}))(p.h.t)
}

// crashBet is a bet of the player at the table main, in a round that takes bets
// still; end lets it crash at 3.00x, after he cashed out at 2.00x.
func (p *player) crashBet() (id ledger.RoundID, end func()) {
	t, store, ctx, at := p.h.t, p.h.store, context.Background(), p.id.Partition()
	t.Helper()
	owner := openCrash(p.h)
	return p.placeCrash(owner).Round.ID, func() {
		t.Helper()
		must(store.LockCrashRound(ctx, owner, 1))(t)
		bets := must(store.CloseCrashPartition(ctx, owner, at, 1))(t)
		must(store.StartCrashRound(ctx, owner, 1))(t)
		must(store.EndCrashRound(ctx, owner, 1, 300))(t)
		must(store.SettleCrashBets(ctx, owner, at, []ledger.CrashSettlement{{Bet: bets.Bets[0], CashOutE2: 200}}))(t)
		must(store.FinishCrashRound(ctx, owner, 1, 1, ""))(t)
	}
}

// A player asks about a crash bet as about any other. Its id looks like one of a
// seed pair, and there is nothing to reveal.
func TestSupportSeesCrashBets(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s, stranger := h.player(), h.staff("carol"), h.staffOf(h.rival, "mallory")
		id, end := p.crashBet()
		look := &originalsv1.GetRoundTimelineRequest{RoundId: id.String()}
		events := func(want string) *originalsv1.RoundTimeline {
			line := must(s.GetRoundTimeline(s.ctx, look))(t)
			var names []string
			for _, e := range line.GetEvents() {
				names = append(names, e.GetEvent())
			}
			if got := fmt.Sprint(names); got != want || line.GetPlayerId() != p.id.ID || line.GetSeedPair() != nil {
				t.Errorf("%s, want %s: %v", got, want, line)
			}
			return line
		}
		player := must(s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID}))(t)
		if open := player.GetOpenRounds(); len(open) != 1 || open[0].GetRoundId() != id.String() {
			t.Errorf("open rounds %v", open)
		}
		events("[STAKE_LOCKED]")
		end()
		if r := events("[STAKE_LOCKED SETTLED SETTLEMENT_QUEUED]").GetRound(); r.GetCrash().GetCrashE2() != 300 || r.GetPayout().GetAmount() != 200 {
			t.Errorf("shown as %v", r)
		}
		player = must(s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID}))(t)
		if recent := player.GetRecentRounds(); len(player.GetOpenRounds()) != 0 || len(recent) != 1 || recent[0].GetRoundId() != id.String() {
			t.Errorf("player %v", player)
		}

		_, err := stranger.GetRoundTimeline(stranger.ctx, look)
		refused(t, err, reason.RoundNotFound)
		_, err = s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: ledger.RoundID{Pair: id.Pair, Nonce: 7}.String()})
		refused(t, err, reason.RoundNotFound)
		_, err = s.reveal(string(id.Pair))
		refused(t, err, reason.SeedPairNotFound)
		must(p.bet())(t) // his seed pair is the active one still
	})
}

// A stake that was given back comes with the reason, for wallets and for support.
func TestVoidRoundsSayWhy(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		ctx, s := context.Background(), h.staff("carol")
		ends := map[string]func(p *player, owner ledger.CrashOwner, betID string) error{
			"CANCELLED": func(p *player, _ ledger.CrashOwner, betID string) error {
				_, err := h.store.CancelCrashBet(ctx, "main", p.id, betID)
				return err
			},
			"NO_OWNER": func(p *player, owner ledger.CrashOwner, _ string) error {
				must(h.store.LockCrashRound(ctx, owner, 1))(t)
				bets := must(h.store.CloseCrashPartition(ctx, owner, p.id.Partition(), 1))(t)
				_, err := h.store.SettleCrashBets(ctx, owner, p.id.Partition(), []ledger.CrashSettlement{{Bet: bets.Bets[0], Void: ledger.CrashVoidOwner}})
				return err
			},
		}
		owner := openCrash(h)
		for _, why := range []string{"CANCELLED", "NO_OWNER"} {
			p := h.player()
			taken := p.placeCrash(owner)
			if err := ends[why](p, owner, taken.Round.BetID); err != nil {
				t.Fatal(err)
			}
			settled := must(h.store.Settlement(ctx, p.id.Operator, taken.Round.ID))(t)
			if settled.State != ledger.Void || settled.VoidReason != why || settled.Payout != 100 {
				t.Errorf("settled as %+v, want %s", settled, why)
			}
			line := must(s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: taken.Round.ID.String()}))(t)
			if got := fmt.Sprint(line.GetEvents()); !strings.Contains(got, "stake given back: "+why) || line.GetRound().GetCrash().GetCashOutE2() != 0 {
				t.Errorf("%s is shown as %v", why, line)
			}
		}
	})
}

// A look at a round is a look at its player: whoever asks what was looked at of
// him is told of it.
func TestTheLogOfAPlayerHasTheLooksAtHisRounds(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		round := must(p.bet())(t).GetRoundId()
		must(s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round}))(t)
		page := must(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PlayerId: p.id.ID}))(t)
		found := false
		for _, e := range page.GetEntries() {
			found = found || e.GetAction() == "VIEW_ROUND" && e.GetRoundId() == round
		}
		if !found {
			t.Errorf("the log of the player has %v", page.GetEntries())
		}
	})
}

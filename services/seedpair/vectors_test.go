package seedpair_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/vectors"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/seedpair"
)

// row is a round that the reference verifiers derived.
type row struct {
	ID, ServerSeed, ClientSeed, Commitment, Game string
	Nonce                                        uint32
	Stake, MultiplierE4, Payout                  int64 `json:",string"`
	Dice                                         *struct {
		Target, Roll uint32
		Direction    string
		Win          bool
	}
	Limbo *struct {
		TargetE2, OutcomeE2 uint32
		Win                 bool
	}
	Roulette *struct {
		Chips []struct {
			Kind    string
			Numbers []uint32
			Amount  int64 `json:",string"`
		}
		Pocket uint32
	}
	Mines *struct {
		MineCount    uint32
		Picks, Mines []uint32
		HitMine      bool
	}
}

func rows(t *testing.T) []row {
	t.Helper()
	text, err := vectors.Files.ReadFile("originals-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Rows []row }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document.Rows
}

// aRow returns the first row that fits.
func aRow(t *testing.T, fits func(row) bool) row {
	t.Helper()
	all := rows(t)
	i := slices.IndexFunc(all, fits)
	if i < 0 {
		t.Fatal("no such row")
	}
	return all[i]
}

// playerOf returns a player whose active pair is that of a row, at its nonce.
func (h *house) playerOf(r row) *player {
	h.t.Helper()
	p := h.announce(h.stranger(), r.ServerSeed)
	rotated := got(p.pairs.RotateSeedPair(p.ctx, &originalsv1.RotateSeedPairRequest{
		ClientSeed: r.ClientSeed, NextCommitment: r.Commitment,
	})).must(h.t)
	p.pair, p.next = rotated.GetActive().GetSeedPairId(), rotated.GetNextCommitment()
	if r.Nonce > 0 {
		p.setNonce(r.Nonce)
	}
	return p
}

// announce puts a known server seed into the store as what a new player is
// shown.
func (h *house) announce(p *player, serverSeed string) *player {
	h.t.Helper()
	known := got(rng.ParseServerSeed(serverSeed)).must(h.t)
	commitment := got(known.Commitment()).must(h.t)
	id := ledger.NewPairID(p.id, commitment)
	offer := ledger.Announced{ID: id, Sealed: got(h.keys.Seal(string(id), known)).must(h.t)}
	grant := []ledger.Grant{{Currency: "FUN", Amount: 1_000_000}}
	if h.grant != 0 {
		grant[0].Amount = h.grant
	}
	got(h.store.Open(p.ctx, p.id, offer, grant)).must(h.t)
	return p
}

// pairIDOf is the id of the pair of a commitment.
func pairIDOf(p *player, commitment string) string {
	return string(ledger.NewPairID(p.id, got(rng.ParseCommitment(commitment)).must(p.t)))
}

// noLimits lets every stake of the vectors in.
func noLimits(o *seedpair.Options) {
	o.House.Currencies = []config.Currency{{Code: "FUN", Limits: config.Limits{
		Default: config.Range{MinStake: 1, MaxStake: money.MaxUnits - 1, MaxPayout: money.MaxUnits},
	}}}
}

// ample is a stake with which every bet can win, and whose payouts need no
// rounding.
const ample = 1_000_000

func TestAnswersAreThoseOfTheVectors(t *testing.T) {
	h := newHouse(t, noLimits)
	played, refused := map[string]int{}, 0
	for _, r := range rows(t) {
		if !h.replay(r) {
			// The bet cannot win. Its outcome does not depend on the stake.
			refused++
			if r.Stake, r.Payout = ample, r.MultiplierE4*ample/10000; r.Roulette != nil || !h.replay(r) {
				continue
			}
		}
		played[r.Game]++
	}
	for _, game := range []string{"dice", "limbo", "roulette", "mines"} {
		if played[game] < 50 {
			t.Errorf("%d rows of %s played, want 50 at least", played[game], game)
		}
	}
	if refused > 100 {
		t.Errorf("%d rows refused", refused)
	}
}

// replay plays a row by a player of its own; false when the bet was refused
// since it cannot win.
func (h *house) replay(r row) bool {
	t := h.t
	t.Helper()
	got(h.client.FlushAll(t.Context()).Result()).must(t) // some rows share a server seed
	h.grant = money.Units(r.Stake)
	p := h.playerOf(r)
	a := p.play(r)
	if why := reason.Of(a.err); a.err != nil && (why == reason.StakeTooSmall || why == reason.NoWinPossible) {
		return false
	}
	if a.err != nil {
		t.Fatalf("%s: %v", r.ID, a.err)
	}
	round := a.value
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s %v, want %v", r.ID, what, got, want)
		}
	}
	check("state", round.GetState(), originalsv1.Round_SETTLED)
	check("nonce", round.GetNonce(), r.Nonce)
	check("payout", round.GetPayout().GetAmount(), r.Payout)
	check("multiplierE4", round.GetMultiplierE4(), r.MultiplierE4)
	check("balance", round.GetBalance().GetAmount(), r.Payout)
	check("commitment", round.GetCommitment(), r.Commitment)
	switch {
	case r.Dice != nil:
		check("roll", round.GetDice().GetRoll(), r.Dice.Roll)
		check("win", round.GetDice().GetWin(), r.Dice.Win)
	case r.Limbo != nil:
		check("outcomeE2", round.GetLimbo().GetOutcomeE2(), r.Limbo.OutcomeE2)
		check("win", round.GetLimbo().GetWin(), r.Limbo.Win)
	case r.Roulette != nil:
		check("pocket", round.GetRoulette().GetPocket(), r.Roulette.Pocket)
	case r.Mines != nil:
		check("hitMine", round.GetMines().GetHitMine(), r.Mines.HitMine)
		if !slices.Equal(round.GetMines().GetMines(), r.Mines.Mines) || !slices.Equal(round.GetMines().GetPicks(), r.Mines.Picks) {
			t.Errorf("%s: %v, want mines %v and picks %v", r.ID, round.GetMines(), r.Mines.Mines, r.Mines.Picks)
		}
	}
	shown := p.round(round.GetRoundId())
	shown.Balance = round.GetBalance()
	same(t, r.ID+": answer and GetRound", round, shown)
	return true
}

// play places the bet of a row, and plays a mines round to its end.
func (p *player) play(r row) answer[*originalsv1.Round] {
	id := unique("bet")
	switch {
	case r.Dice != nil:
		return got(p.dice.PlaceBet(p.ctx, &originalsv1.DiceServicePlaceBetRequest{
			BetId: id, SeedPairId: p.pair, Stake: fun(r.Stake), Target: r.Dice.Target,
			Direction: originalsv1.Dice_Direction(originalsv1.Dice_Direction_value[r.Dice.Direction]),
		}))
	case r.Limbo != nil:
		return got(p.limbo.PlaceBet(p.ctx, &originalsv1.LimboServicePlaceBetRequest{
			BetId: id, SeedPairId: p.pair, Stake: fun(r.Stake), TargetE2: r.Limbo.TargetE2,
		}))
	case r.Roulette != nil:
		req := &originalsv1.RouletteServicePlaceBetRequest{BetId: id, SeedPairId: p.pair, Currency: "FUN"}
		for _, c := range r.Roulette.Chips {
			req.Chips = append(req.Chips, &originalsv1.Chip{
				Kind: originalsv1.Chip_Kind(originalsv1.Chip_Kind_value[c.Kind]), Numbers: c.Numbers, Amount: c.Amount,
			})
		}
		return got(p.roulette.PlaceBet(p.ctx, req))
	}
	return p.playMines(r, id)
}

func (p *player) playMines(r row, betID string) answer[*originalsv1.Round] {
	a := got(p.mines.StartRound(p.ctx, &originalsv1.StartRoundRequest{
		BetId: betID, SeedPairId: p.pair, Stake: fun(r.Stake), MineCount: r.Mines.MineCount,
	}))
	if a.err != nil {
		return a
	}
	id := a.value.GetRoundId()
	for _, tile := range r.Mines.Picks {
		if a = got(p.pick(id, tile)); a.err != nil {
			return a
		}
	}
	if a.value.GetState() == originalsv1.Round_OPEN {
		a = got(p.cashOut(id))
	}
	return a
}

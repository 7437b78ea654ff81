package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Round returns the message of a round. The outcome is nil while the round is
// open, so that nothing hidden can get into the message. The balance is left
// out.
func Round(r ledger.Round, clientSeed rng.ClientSeed, commitment rng.Commitment, o *bet.Outcome) *originalsv1.Round {
	m := &originalsv1.Round{
		RoundId:    r.ID.String(),
		BetId:      r.BetID,
		Game:       originalsv1.Game(r.Bet.Game),
		Scheme:     rng.Scheme,
		State:      originalsv1.Round_State(r.State),
		SeedPairId: string(r.ID.Pair),
		Commitment: commitment.String(),
		ClientSeed: string(clientSeed),
		Nonce:      r.ID.Nonce,
		Stake:      Money(r.Currency, r.Stake),
		Payout:     Money(r.Currency, r.Payout),
		CreateTime: timestamppb.New(r.CreateTime),
	}
	if r.State != ledger.Open {
		m.SettleTime = timestamppb.New(r.SettleTime)
	}
	if o != nil && r.State == ledger.Settled {
		m.MultiplierE4 = int64(o.Multiplier)
	}
	setGame(m, r, o)
	return m
}

func setGame(m *originalsv1.Round, r ledger.Round, o *bet.Outcome) {
	switch r.Bet.Game {
	case bet.Dice:
		m.Dice = Dice(r.Bet.Dice, nil)
		if o != nil {
			m.Dice = Dice(r.Bet.Dice, &o.Dice)
		}
	case bet.Limbo:
		m.Limbo = Limbo(r.Bet.Limbo, nil)
		if o != nil {
			m.Limbo = Limbo(r.Bet.Limbo, &o.Limbo)
		}
	case bet.Roulette:
		m.Roulette = Roulette(r.Bet.Roulette, nil)
		if o != nil {
			m.Roulette = Roulette(r.Bet.Roulette, &o.Pocket)
		}
	case bet.Mines:
		setMines(m, r, o)
	}
}

// setMines shows the board once the round has ended, and before that what a
// cash-out would pay now and what the next safe pick would make of it.
func setMines(m *originalsv1.Round, r ledger.Round, o *bet.Outcome) {
	m.Mines = &originalsv1.Mines{
		MineCount: uint32(r.Bet.MineCount),
		MaxPicks:  uint32(r.MaxPicks),
		Picks:     Tiles(r.Picks),
	}
	if o != nil {
		m.Mines.Mines, m.Mines.HitMine = Tiles(o.Mines), o.HitMine
		return
	}
	now := mines.Multiplier(r.Bet.MineCount, uint8(len(r.Picks)))
	m.MultiplierE4 = int64(now)
	if payout, err := money.Payout(r.Stake, now); err == nil {
		m.Payout.Amount = int64(payout)
	}
	m.Mines.NextMultiplierE4 = int64(mines.Multiplier(r.Bet.MineCount, uint8(len(r.Picks)+1)))
}

// SeedPair returns the message of a pair. The server seed is nil until it is
// revealed; it is shown only in the states that reveal it.
func SeedPair(p ledger.SeedPair, commitment rng.Commitment, serverSeed *rng.ServerSeed) *originalsv1.SeedPair {
	m := &originalsv1.SeedPair{
		SeedPairId: string(p.ID),
		Scheme:     rng.Scheme,
		State:      pairStates[p.State],
		Commitment: commitment.String(),
		ClientSeed: string(p.ClientSeed),
		Nonce:      p.Nonce,
		CreateTime: timestamppb.New(p.CreateTime),
		RevealTime: timestamp(p.RevealTime),
	}
	if p.Cause != "" {
		why := string(p.Cause)
		if p.Detail != "" {
			why += ": " + p.Detail
		}
		m.RevealReason = &why
	}
	if serverSeed != nil && (p.State == ledger.Revealed || p.State == ledger.Unused) {
		text := serverSeed.Reveal()
		m.ServerSeed = &text
	}
	return m
}

var pairStates = map[ledger.PairState]originalsv1.SeedPair_State{
	ledger.Active:   originalsv1.SeedPair_ACTIVE,
	ledger.Retired:  originalsv1.SeedPair_RETIRED,
	ledger.Revealed: originalsv1.SeedPair_REVEALED,
	ledger.Unused:   originalsv1.SeedPair_UNUSED,
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Decided returns what a game tells the vault of an outcome: the outcome, the
// payout and the multiplier, and in mines the picks.
func Decided(b bet.Bet, o bet.Outcome, picks []uint8) *originalsv1.Round {
	m := &originalsv1.Round{
		Payout:       &originalsv1.Money{Amount: int64(o.Payout)},
		MultiplierE4: int64(o.Multiplier),
	}
	setGame(m, ledger.Round{Bet: b, Picks: picks}, &o)
	return m
}

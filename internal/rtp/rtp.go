// Package rtp computes the exact return to player of every configuration of every game, by counting and never by
// simulation; it imports only internal/game/..., internal/money and the standard library, never a clock, a network, a
// logger or floating point.
package rtp

import (
	"fmt"
	"iter"
	"math/big"

	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
)

// Game names a game as the API does.
type Game string

// The games whose returns are known.
const (
	Dice     Game = "DICE"
	Limbo    Game = "LIMBO"
	Roulette Game = "ROULETTE"
	Mines    Game = "MINES"
	Crash    Game = "CRASH"
)

// Games returns all games in the order of the tables.
func Games() []Game { return []Game{Dice, Limbo, Roulette, Mines, Crash} }

// Row is the return of one configuration.
type Row struct {
	Game       Game
	Config     string           // the configuration, such as "w=9724" or "m=3 k=5"
	Multiplier money.Multiplier // what a win pays, in 1/10000
	Chance     *big.Rat         // the probability of a win
	RTP        *big.Rat         // the expected payout per unit staked
	Accepted   bool             // whether a bet of the row's stake is accepted (its winning payout exceeds it); true in nominal rows
}

// Rows yields the nominal return of every configuration of a game, chance * multiplier: dice by the number of winning
// rolls, limbo and crash by target, roulette by chip, mines by mines and picks. Rows are made one at a time. An unknown
// game yields none.
func Rows(g Game) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for c := range configs(g) {
			if !yield(c.row(g, 0)) {
				return
			}
		}
	}
}

// RowsAt yields the return of every configuration at one stake, with the payout floored to whole units as it is paid. A
// stake of 0 or less has no payout: it yields none.
func RowsAt(g Game, stake money.Units) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		if stake <= 0 {
			return
		}
		for c := range configs(g) {
			if !yield(c.row(g, stake)) {
				return
			}
		}
	}
}

// config is one configuration: it wins in `ways` of `total` equally likely cases.
type config struct {
	name       string
	multiplier money.Multiplier
	smallest   money.Multiplier // the smallest winning multiplier of the bet: that of its first pick in mines
	ways       uint64
	total      *big.Int
}

func configs(g Game) iter.Seq[config] {
	switch g {
	case Dice:
		return diceConfigs
	case Limbo:
		return limboConfigs
	case Roulette:
		return rouletteConfigs
	case Mines:
		return minesConfigs
	case Crash:
		return crashConfigs
	default:
		return func(func(config) bool) {}
	}
}

// row computes the return at a stake, or the nominal one for stake 0. Here no payout is refused for being above
// money.MaxUnits: a limit is not part of the odds.
func (c config) row(g Game, stake money.Units) Row {
	chance := new(big.Rat).SetFrac(new(big.Int).SetUint64(c.ways), c.total)
	factor := big.NewRat(int64(c.multiplier), int64(money.One))
	if stake > 0 {
		factor = new(big.Rat).SetFrac(flooredPayout(stake, c.multiplier), big.NewInt(int64(stake)))
	}
	return Row{
		Game:       g,
		Config:     c.name,
		Multiplier: c.multiplier,
		Chance:     chance,
		RTP:        new(big.Rat).Mul(chance, factor),
		Accepted:   stake <= 0 || c.smallest.Exceeds(stake),
	}
}

// flooredPayout is floor(stake * m / 10000) without a cap.
func flooredPayout(stake money.Units, m money.Multiplier) *big.Int {
	product := new(big.Int).Mul(big.NewInt(int64(stake)), big.NewInt(int64(m)))
	return product.Quo(product, big.NewInt(int64(money.One)))
}

func diceConfigs(yield func(config) bool) {
	for w := uint32(dice.MinUnder); w <= dice.MaxUnder; w++ {
		if !yield(diceConfig(w)) {
			return
		}
	}
}

// diceConfig is the bet with w winning rolls of 10000; UNDER w has them, and so has OVER 9999-w.
func diceConfig(w uint32) config {
	m := dice.Bet{Target: w, Direction: dice.Under}.Multiplier()
	return config{fmt.Sprintf("w=%d", w), m, m, uint64(w), big.NewInt(dice.Rolls)}
}

func limboConfigs(yield func(config) bool) {
	for t := uint32(limbo.MinTargetE2); t <= limbo.MaxTargetE2; t++ {
		if !yield(limboConfig(t)) {
			return
		}
	}
}

func rouletteConfigs(yield func(config) bool) {
	for _, chip := range roulette.All() {
		if !yield(rouletteConfig(chip)) {
			return
		}
	}
}

func rouletteConfig(chip roulette.Chip) config {
	ways := uint64(0)
	for pocket := range uint8(roulette.Pockets) {
		if chip.Covers(pocket) {
			ways++
		}
	}
	name := chip.Kind.String()
	if len(chip.Numbers) > 0 {
		name += fmt.Sprint(" ", chip.Numbers)
	}
	m := money.Multiplier(chip.Return()) * money.One
	return config{name, m, m, ways, big.NewInt(roulette.Pockets)}
}

func minesConfigs(yield func(config) bool) {
	for m := uint8(1); m <= mines.MaxMines; m++ {
		for k := uint8(1); k <= mines.Tiles-m; k++ {
			if !yield(minesConfig(m, k)) {
				return
			}
		}
	}
}

// minesConfig is k safe picks beside m mines: of all C(25, k) sets of picks, C(25-m, k) hold no mine.
func minesConfig(m, k uint8) config {
	ways := new(big.Int).Binomial(int64(mines.Tiles-m), int64(k))
	total := new(big.Int).Binomial(mines.Tiles, int64(k))
	return config{fmt.Sprintf("m=%d k=%d", m, k), mines.Multiplier(m, k), mines.Multiplier(m, 1), ways.Uint64(), total}
}

package bet

import (
	"errors"

	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Outcome is what a round comes to; only the field of its game is used.
type Outcome struct {
	Dice    dice.Outcome
	Limbo   limbo.Outcome
	Pocket  uint8   // roulette
	Mines   []uint8 // mines: the board, in draw order
	HitMine bool    // mines: the last pick is a mine

	Multiplier money.Multiplier // that was paid; 0 for a loss
	Payout     money.Units
}

// ErrPicks says that a list of picks is none that a round can have: a tile
// outside the board or opened twice, or a pick after a mine.
var ErrPicks = errors.New("bet: impossible picks")

// Outcome derives the outcome of a valid bet from the round's signature. In
// mines it is the outcome of stopping after picks. Errors: ErrPicks, and
// money.ErrOverflow, which Terms excludes.
func (b Bet) Outcome(signature rng.Signature, stake money.Units, picks []uint8) (Outcome, error) {
	stream := rng.NewStream(signature)
	var o Outcome
	switch b.Game {
	case Dice:
		if o.Dice = b.Dice.Play(&stream); o.Dice.Win {
			o.Multiplier = b.Dice.Multiplier()
		}
	case Limbo:
		if o.Limbo = b.Limbo.Play(&stream); o.Limbo.Win {
			o.Multiplier = b.Limbo.Multiplier()
		}
	case Roulette:
		o.Pocket = roulette.Pocket(&stream)
		o.Payout = b.Roulette.Payout(o.Pocket)
		o.Multiplier = roulette.Multiplier(o.Payout, stake)
		return o, nil
	case Mines:
		o.Mines = mines.Board(&stream, b.MineCount, new([mines.MaxMines]uint8))
		hit, err := hitMine(o.Mines, picks)
		if err != nil {
			return Outcome{}, err
		}
		if o.HitMine = hit; !hit {
			o.Multiplier = mines.Multiplier(b.MineCount, uint8(len(picks)))
		}
	default:
		return Outcome{}, ErrGame
	}
	var err error
	o.Payout, err = money.Payout(stake, o.Multiplier)
	return o, err
}

// hitMine reports whether the last pick is a mine.
func hitMine(board, picks []uint8) (bool, error) {
	var opened, mined uint32
	for _, tile := range board {
		mined |= 1 << tile
	}
	for _, tile := range picks {
		if tile >= mines.Tiles || opened&(1<<tile) != 0 || opened&mined != 0 {
			return false, ErrPicks
		}
		opened |= 1 << tile
	}
	return opened&mined != 0, nil
}

// Package dice holds the rules of dice: a roll of 0.00 to 99.99 that is over or under a target. It imports only
// internal/rng, internal/money, internal/game and the standard library, never a clock, a network or a logger.
package dice

import (
	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Rolls is the number of different rolls; each is equally likely.
const Rolls = 10000

// Limits of the target, in hundredths: together they keep the winning rolls between 1 and 9800.
const (
	MinOver  = 199
	MaxOver  = 9998
	MinUnder = 1
	MaxUnder = 9800
)

// multiplierOfOneRoll is 0.99 * 10000 rolls in 1/10000: the multiplier when a single roll wins.
const multiplierOfOneRoll = 99_000_000

// Direction says on which side of the target a roll wins.
type Direction uint8

// The two directions. The zero Direction is neither, and refused.
const (
	Over  Direction = 1 // wins when roll > target
	Under Direction = 2 // wins when roll < target
)

// Bet is a wager on one roll.
type Bet struct {
	Target    uint32 // hundredths: OVER 199..9998, UNDER 1..9800
	Direction Direction
}

// Outcome is what a bet came to.
type Outcome struct {
	Roll uint32 // hundredths, 0..9999
	Win  bool
}

// Validate returns a *game.FieldError for `direction` or `target`, or nil. All other methods are for valid bets.
func (b Bet) Validate() error {
	switch b.Direction {
	case Over:
		return checkTarget(b.Target, MinOver, MaxOver, "must be 199 to 9998 for OVER")
	case Under:
		return checkTarget(b.Target, MinUnder, MaxUnder, "must be 1 to 9800 for UNDER")
	default:
		return &game.FieldError{Field: "direction", Problem: "must be OVER or UNDER"}
	}
}

func checkTarget(target, low, high uint32, problem string) error {
	if target < low || target > high {
		return &game.FieldError{Field: "target", Problem: problem}
	}
	return nil
}

// WinningRolls returns how many of the 10000 rolls win, 1..9800 for a valid bet.
func (b Bet) WinningRolls() uint32 {
	if b.Direction == Over {
		return Rolls - 1 - b.Target
	}
	return b.Target
}

// Multiplier returns what a win pays in 1/10000: floor(99000000 / winning rolls) (rng/SPEC.md). It is 0 when no roll
// wins, which no valid bet has.
func (b Bet) Multiplier() money.Multiplier {
	w := b.WinningRolls()
	if w == 0 {
		return 0
	}
	return money.Multiplier(multiplierOfOneRoll / w)
}

// CanWin reports whether a win pays more than this stake; a bet for which it is false is refused as STAKE_TOO_SMALL.
func (b Bet) CanWin(stake money.Units) bool { return b.Multiplier().Exceeds(stake) }

// Play draws the roll of this round and decides it.
func (b Bet) Play(s *rng.Stream) Outcome { return b.Decide(s.Uniform(Rolls)) }

// Decide says whether a roll, 0..9999, wins. A roll equal to the target loses in both directions.
func (b Bet) Decide(roll uint32) Outcome {
	win := b.Direction == Over && roll > b.Target || b.Direction == Under && roll < b.Target
	return Outcome{Roll: roll, Win: win}
}

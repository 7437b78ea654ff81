package roulette

import (
	"fmt"
	"math/bits"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Pockets is the number of pockets, 0..36; each is equally likely.
const Pockets = 37

// MaxChips is how many chips a bet can have.
const MaxChips = 32

// Bet is 1 to 32 chips on one spin. Equal chips are allowed and add up.
type Bet struct {
	Chips []Chip
}

// Pocket draws where the ball falls, 0..36.
func Pocket(s *rng.Stream) uint8 { return uint8(s.Uniform(Pockets)) }

// Validate returns a *game.FieldError for `chips`, `kind`, `numbers` or `amount`, or nil. It holds the stake, the sum of
// the amounts, within money.MaxUnits. All other methods are for valid bets.
func (b Bet) Validate() error {
	if len(b.Chips) < 1 || len(b.Chips) > MaxChips {
		return &game.FieldError{Field: "chips", Problem: fmt.Sprintf("must be 1 to %d chips", MaxChips)}
	}
	stake := money.Units(0)
	for i, chip := range b.Chips {
		if err := chip.validate(i); err != nil {
			return err
		}
		if stake += chip.Amount; stake > money.MaxUnits { // cannot wrap: both are at most 2^53-1
			return &game.FieldError{Field: "amount", Problem: fmt.Sprintf("of all chips together must be at most %d", money.MaxUnits)}
		}
	}
	return nil
}

// Stake returns the sum of the amounts.
func (b Bet) Stake() money.Units {
	stake := money.Units(0)
	for _, chip := range b.Chips {
		stake += chip.Amount
	}
	return stake
}

// Payout returns what the bet pays for this pocket: the exact sum of amount * return over the chips that cover it. It
// can be above money.MaxUnits, up to 36 * MaxUnits; the limits must have refused such a bet before (see WorstCase).
func (b Bet) Payout(pocket uint8) money.Units {
	payout := money.Units(0)
	for _, chip := range b.Chips {
		if chip.Covers(pocket) {
			payout += chip.Amount * money.Units(chip.Return())
		}
	}
	return payout
}

// WorstCase returns the largest payout over the 37 pockets: what the house risks. It can be above money.MaxUnits.
func (b Bet) WorstCase() money.Units {
	worst := money.Units(0)
	for pocket := range uint8(Pockets) {
		worst = max(worst, b.Payout(pocket))
	}
	return worst
}

// CanWin reports whether some pocket pays more than the stake; a bet for which it is false is refused as
// NO_WIN_POSSIBLE.
func (b Bet) CanWin() bool { return b.WorstCase() > b.Stake() }

// Multiplier returns floor(10000 * payout / stake), the multiplier that a round shows (rng/SPEC.md). The payout itself
// is never computed from it. It is 0 where the stake is not positive or the payout negative.
func Multiplier(payout, stake money.Units) money.Multiplier {
	if stake <= 0 || payout < 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(payout), uint64(money.One))
	if high >= uint64(stake) { // the quotient would not fit; no payout of a valid bet, at most 36 stakes, comes near
		return 0
	}
	quotient, _ := bits.Div64(high, low, uint64(stake))
	return money.Multiplier(quotient)
}

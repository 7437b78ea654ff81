// Package money holds amounts, payout multipliers, currencies and the one rounding rule between them; it imports the
// standard library only, and never a clock, a network, a logger, randomness or anything with floating point.
package money

import (
	"errors"
	"math/bits"
)

// MaxUnits is the largest amount that is booked anywhere: 2^53-1 units, the largest integer that Lua scripts, JSON
// readers and JavaScript carry exactly.
const MaxUnits Units = 1<<53 - 1

// One is the multiplier 1.0000, which returns exactly the stake.
const One Multiplier = 10000

// Units is an amount of money in the smallest booked unit of its currency, 0..MaxUnits where it is valid.
type Units int64

// Multiplier is a payout multiplier in 1/10000. It includes the stake: 19800 pays 1.98 times the stake.
type Multiplier int64

var (
	// ErrOverflow says that a payout would be larger than MaxUnits.
	ErrOverflow = errors.New("money: amount is above 2^53-1 units")
	// ErrNegative says that a stake or a multiplier was below zero.
	ErrNegative = errors.New("money: negative stake or multiplier")
)

// Payout returns floor(stake * m / 10000), computed with a 128-bit product (rng/SPEC.md). Both must be zero or more,
// else ErrNegative; a result above MaxUnits is ErrOverflow, never a smaller payout.
func Payout(stake Units, m Multiplier) (Units, error) {
	if stake < 0 || m < 0 {
		return 0, ErrNegative
	}
	high, low := bits.Mul64(uint64(stake), uint64(m))
	if high >= uint64(One) { // the quotient needs more than 64 bits
		return 0, ErrOverflow
	}
	quotient, _ := bits.Div64(high, low, uint64(One))
	if quotient > uint64(MaxUnits) {
		return 0, ErrOverflow
	}
	return Units(quotient), nil
}

// Exceeds reports whether the payout of a stake at this multiplier is more than the stake itself, after the floor. A
// bet for which it is false cannot win and is refused. A payout above MaxUnits does exceed: refusing it is the business
// of the limits.
func (m Multiplier) Exceeds(stake Units) bool {
	payout, err := Payout(stake, m)
	if errors.Is(err, ErrOverflow) {
		return true
	}
	return err == nil && payout > stake
}

// Package limbo holds the rules of limbo: an outcome of 1.00x to 10000.00x that must reach a target. It imports only
// internal/rng, internal/money, internal/game and the standard library, never a clock, a network or a logger.
package limbo

import (
	"math/bits"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Bounds in hundredths.
const (
	MinTargetE2  = 101
	MaxTargetE2  = 1_000_000
	MinOutcomeE2 = 100
	MaxOutcomeE2 = 1_000_000
)

// lastClamped is floor(99 * 2^64 / 1000000): at or below it the outcome is the largest one.
const lastClamped = 1_826_227_663_297_245

// Bet is a wager that the outcome reaches the target.
type Bet struct {
	TargetE2 uint32 // hundredths, 101..1000000
}

// Outcome is what a bet came to.
type Outcome struct {
	OutcomeE2 uint32 // hundredths, 100..1000000
	Win       bool
}

// Validate returns a *game.FieldError for `targetE2`, or nil.
func (b Bet) Validate() error {
	if b.TargetE2 < MinTargetE2 || b.TargetE2 > MaxTargetE2 {
		return &game.FieldError{Field: "targetE2", Problem: "must be 101 to 1000000"}
	}
	return nil
}

// Multiplier returns what a win pays in 1/10000: the target itself.
func (b Bet) Multiplier() money.Multiplier { return money.Multiplier(b.TargetE2) * 100 }

// CanWin reports whether a win pays more than this stake; a bet for which it is false is refused as STAKE_TOO_SMALL.
func (b Bet) CanWin(stake money.Units) bool { return b.Multiplier().Exceeds(stake) }

// Play draws the outcome of this round and decides it. A tie wins.
func (b Bet) Play(s *rng.Stream) Outcome {
	outcome := Map(s.Word64())
	return Outcome{OutcomeE2: outcome, Win: outcome >= b.TargetE2}
}

// Map turns a 64-bit word v into an outcome in hundredths: floor(99 * 2^64 / (2^64 - v)), kept within 100..1000000
// (rng/SPEC.md). It is exact for every v.
func Map(v uint64) uint32 {
	if v == 0 { // 2^64 - v does not fit: the quotient is 99
		return MinOutcomeE2
	}
	y := -v // 2^64 - v
	if y <= lastClamped {
		return MaxOutcomeE2
	}
	quotient, _ := bits.Div64(99, 0, y)
	return uint32(max(quotient, MinOutcomeE2))
}

// Package crash holds the rules of crash: the crash point of a round, the bet on a target, and the growth of the
// multiplier in time; it imports only internal/rng, internal/money, internal/game and the standard library, and never a
// clock, a network, a logger or floating point.
//
// A round ends at its crash point. Whoever cashed out at a multiplier that does not exceed the crash point has won: a
// tie wins.
package crash

import (
	"math/bits"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Scheme is the permanent name of the chain, the digest and the crash point (internal/rng/SPEC.md, crash-v1).
const Scheme = "crash-v1"

// Bounds in hundredths.
const (
	MinTargetE2 = 101
	MaxTargetE2 = 1_000_000
	MinPointE2  = 100
	MaxPointE2  = 1_000_000
)

// Words is how many equally likely 52-bit words a crash point is drawn from: 2^52.
const Words = 1 << 52

// Bet is a wager that the crash point reaches the target: the automatic cash-out, or the multiplier of a manual one.
type Bet struct {
	TargetE2 uint32 // hundredths, 101..1000000
}

// Validate returns a *game.FieldError for `autoCashOutE2`, or nil.
func (b Bet) Validate() error {
	if b.TargetE2 < MinTargetE2 || b.TargetE2 > MaxTargetE2 {
		return &game.FieldError{Field: "autoCashOutE2", Problem: "must be 101 to 1000000"}
	}
	return nil
}

// Multiplier returns what a win pays in 1/10000: the target itself.
func (b Bet) Multiplier() money.Multiplier { return money.Multiplier(b.TargetE2) * 100 }

// CanWin reports whether a win pays more than this stake; a bet for which it is false is refused as STAKE_TOO_SMALL.
func (b Bet) CanWin(stake money.Units) bool { return b.Multiplier().Exceeds(stake) }

// Wins reports whether the target is reached by a round that crashed at pointE2 hundredths. A tie wins.
func (b Bet) Wins(pointE2 uint32) bool { return b.TargetE2 <= pointE2 }

// Ways returns in how many of the 2^52 equally likely words a target is reached: floor(99 * 2^52 / (target-1)), for a
// target of 101..1000000 hundredths (rng/SPEC.md). A target of 100 or less is reached always.
func (b Bet) Ways() uint64 {
	if b.TargetE2 <= MinPointE2 {
		return Words
	}
	return 99 * Words / (uint64(b.TargetE2) - 1)
}

// LargestTarget returns the largest target whose payout at this stake is within a limit, floor(stake * target / 100) <=
// maxPayout: the automatic cash-out of a bet that names none. ok is false when even the smallest target pays more, or
// the stake is not above 0.
func LargestTarget(stake, maxPayout money.Units) (b Bet, ok bool) {
	if stake <= 0 || maxPayout < 0 {
		return Bet{}, false
	}
	// floor(stake * t / 100) <= p  is  stake * t <= 100 * p + 99
	high, low := bits.Mul64(uint64(maxPayout), 100)
	low, carry := bits.Add64(low, 99, 0)
	high += carry
	if high >= uint64(stake) { // the quotient needs more than 64 bits
		return Bet{MaxTargetE2}, true
	}
	target, _ := bits.Div64(high, low, uint64(stake))
	if target < MinTargetE2 {
		return Bet{}, false
	}
	return Bet{uint32(min(target, MaxTargetE2))}, true
}

// Point returns the crash point of a round in hundredths, 100..1000000. Errors: rng.ErrCrashDigestUnset.
func Point(d rng.CrashDigest) (uint32, error) {
	word, err := d.Top52()
	if err != nil {
		return 0, err
	}
	return Map(word), nil
}

// Map turns a word h, 0..2^52-1, into a crash point in hundredths: floor((100 * 2^52 - h) / (2^52 - h)), kept within
// 100..1000000 (rng/SPEC.md). It is exact for every h; bits above the lowest 52 do not count.
func Map(h uint64) uint32 {
	h &= Words - 1
	return uint32(min((100*Words-h)/(Words-h), MaxPointE2)) // never below 100: the quotient is 100 for h = 0
}

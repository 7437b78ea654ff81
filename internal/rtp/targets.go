package rtp

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/money"
)

// Bounds of a crash target in hundredths (FAIRNESS 3).
const (
	minCrashE2 = 101
	maxCrashE2 = 1_000_000
)

var (
	words64 = new(big.Int).Lsh(big.NewInt(1), 64) // how many 64-bit words there are: what a limbo outcome is drawn from
	words52 = new(big.Int).Lsh(big.NewInt(1), 52) // how many 52-bit words there are: what a crash point is drawn from
)

// limboConfig is the bet on one target. The outcome is floor(99 * 2^64 / y) with y uniform in 1..2^64; it reaches the
// target, 101 or more, for y = 1..floor(99 * 2^64 / target). Clamping moves no outcome across a target.
func limboConfig(targetE2 uint32) config {
	ways, _ := bits.Div64(99, 0, uint64(targetE2)) // below 2^64, since the target is above 99
	m := limbo.Bet{TargetE2: targetE2}.Multiplier()
	return config{fmt.Sprintf("target=%d", targetE2), m, m, ways, words64}
}

func crashConfigs(yield func(config) bool) {
	for t := uint64(minCrashE2); t <= maxCrashE2; t++ {
		if !yield(crashConfig(t)) {
			return
		}
	}
}

// crashConfig is the bet on one target m: P(crash >= m) = floor(99 * 2^52 / (m-1)) / 2^52 (FAIRNESS 3).
func crashConfig(targetE2 uint64) config {
	ways := (99 << 52) / (targetE2 - 1)
	m := money.Multiplier(targetE2) * 100
	return config{fmt.Sprintf("target=%d", targetE2), m, m, ways, words52}
}

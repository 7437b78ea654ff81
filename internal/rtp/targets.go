package rtp

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/game/limbo"
)

var (
	words64 = new(big.Int).Lsh(big.NewInt(1), 64) // how many 64-bit words there are: what a limbo outcome is drawn from
	words52 = big.NewInt(crash.Words)             // what a crash point is drawn from
)

// limboConfig is the bet on one target. The outcome is floor(99 * 2^64 / y) with y uniform in 1..2^64; it reaches the
// target, 101 or more, for y = 1..floor(99 * 2^64 / target). Clamping moves no outcome across a target.
func limboConfig(targetE2 uint32) config {
	ways, _ := bits.Div64(99, 0, uint64(targetE2)) // below 2^64, since the target is above 99
	m := limbo.Bet{TargetE2: targetE2}.Multiplier()
	return config{fmt.Sprintf("target=%d", targetE2), m, m, ways, words64}
}

func crashConfigs(yield func(config) bool) {
	for t := uint32(crash.MinTargetE2); t <= crash.MaxTargetE2; t++ {
		if !yield(crashConfig(t)) {
			return
		}
	}
}

// crashConfig is the bet on one target.
func crashConfig(targetE2 uint32) config {
	b := crash.Bet{TargetE2: targetE2}
	m := b.Multiplier()
	return config{fmt.Sprintf("target=%d", targetE2), m, m, b.Ways(), words52}
}

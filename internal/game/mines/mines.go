// Package mines holds the rules of mines: a board of 25 tiles, its mines in draw order, and what k safe picks pay. It
// imports only internal/rng, internal/money, internal/game and the standard library, never a clock, a network or a logger.
package mines

import (
	"fmt"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Tiles is the number of tiles, 0..24, five rows of five.
const Tiles = 25

// MaxMines is the largest number of mines: one tile at least is safe.
const MaxMines = Tiles - 1

// choose[n][k] is the binomial coefficient C(n, k).
var choose = pascal()

func pascal() (c [Tiles + 1][Tiles + 1]int64) {
	for n := range c {
		c[n][0] = 1
		for k := 1; k <= n; k++ {
			c[n][k] = c[n-1][k-1] + c[n-1][k]
		}
	}
	return c
}

// ValidateMineCount returns a *game.FieldError for `mineCount`, or nil for 1..24.
func ValidateMineCount(mineCount uint32) error {
	if mineCount < 1 || mineCount > MaxMines {
		return &game.FieldError{Field: "mineCount", Problem: fmt.Sprintf("must be 1 to %d", MaxMines)}
	}
	return nil
}

// ValidateTile returns a *game.FieldError for `tile`, or nil for 0..24.
func ValidateTile(tile uint32) error {
	if tile >= Tiles {
		return &game.FieldError{Field: "tile", Problem: fmt.Sprintf("must be 0 to %d", Tiles-1)}
	}
	return nil
}

// Board draws the mines of this round into dst and returns them in draw order: the i-th is the uniform(26-i)-th of the
// tiles that are left, whose order is kept (rng/SPEC.md). It does not allocate. mineCount must be valid.
func Board(s *rng.Stream, mineCount uint8, dst *[MaxMines]uint8) []uint8 {
	left := allTiles
	for i := range mineCount {
		dst[i] = left.take(s.Uniform(uint64(Tiles - i)))
	}
	return dst[:mineCount]
}

// row is tiles in order, five bits each, the first in the lowest: a number of 128 bits. To take a tile out is to shift
// those behind it down, and no processor has to guess how many they are.
type row struct{ low, high uint64 }

const tileBits = 5

// allTiles is the row 0..24.
var allTiles = func() (r row) {
	for tile := range uint64(Tiles) {
		at := tile * tileBits
		r.low |= tile << at
		r.high |= tile<<(at-64) | tile>>(64-at)
	}
	return r
}()

// behind[k] has ones in the places of the k-th tile, counted from 0, and of all behind it.
var behind = func() (masks [Tiles]row) {
	for k := range uint64(Tiles) {
		masks[k] = row{^uint64(0) << (k * tileBits), ^uint64(0) << (max(k*tileBits, 64) - 64)}
	}
	return masks
}()

// take removes the k-th tile and returns it. A shift by 64 or more gives 0, and so does one by less than 0, which is a
// great uint64: of the three parts of the tile only those count that exist.
func (r *row) take(k uint32) uint8 {
	at := uint64(k) * tileBits
	tile := r.low>>at | r.high<<(64-at) | r.high>>(at-64)
	moved := row{r.low>>tileBits | r.high<<(64-tileBits), r.high >> tileBits}
	mask := &behind[k]
	r.low ^= (r.low ^ moved.low) & mask.low
	r.high ^= (r.high ^ moved.high) & mask.high
	return uint8(tile & (1<<tileBits - 1))
}

// Multiplier returns what a cash-out after this many safe picks pays in 1/10000:
// floor(9900 * C(25, picks) / C(25-mineCount, picks)) (rng/SPEC.md). It is 0 for no pick, since a cash-out needs one,
// and for numbers that no board has.
func Multiplier(mineCount, picks uint8) money.Multiplier {
	if mineCount < 1 || mineCount > MaxMines || picks < 1 || picks > Tiles-mineCount {
		return 0
	}
	return money.Multiplier(9900 * choose[Tiles][picks] / choose[Tiles-mineCount][picks])
}

// MaxPicks returns the largest number of picks whose payout is at most maxPayout and money.MaxUnits, or 0 when the first
// pick would already pay more. The round cashes out by itself when it gets there.
func MaxPicks(mineCount uint8, stake, maxPayout money.Units) uint8 {
	if mineCount < 1 || mineCount > MaxMines {
		return 0
	}
	picks := uint8(0)
	for picks < Tiles-mineCount {
		payout, err := money.Payout(stake, Multiplier(mineCount, picks+1))
		if err != nil || payout > maxPayout {
			break
		}
		picks++
	}
	return picks
}

// CanWin reports whether the cash-out after the first pick, the smallest there is, pays more than this stake. Where it
// is false the round is refused as STAKE_TOO_SMALL: every cash-out that a player is offered must be a win.
func CanWin(mineCount uint8, stake money.Units) bool { return Multiplier(mineCount, 1).Exceeds(stake) }

package roulette

import (
	"fmt"
	"slices"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/money"
)

// Chip is one wager of a bet.
type Chip struct {
	Kind    Kind
	Numbers []uint8     // ascending without repeats; 1..3 for a dozen or column; empty for red, black, odd, even, low, high
	Amount  money.Units // 1..money.MaxUnits
}

// redNumbers has the bit n set for every red number n.
var redNumbers = bitsOf(1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36)

func bitsOf(numbers ...uint8) (set uint64) {
	for _, n := range numbers {
		set |= 1 << n
	}
	return set
}

// Return is what the chip pays per unit of its amount when it wins, stake included: 36 for a straight down to 2 for the
// even chances (rng/SPEC.md), and 0 for an unknown kind.
func (c Chip) Return() int64 {
	if !c.Kind.known() {
		return 0
	}
	return kinds[c.Kind].returns
}

// Covers reports whether the chip wins when the ball falls into this pocket, 0..36. Zero is covered only by chips that
// name it.
func (c Chip) Covers(pocket uint8) bool {
	if c.Kind >= Straight && c.Kind <= SixLine {
		return slices.Contains(c.Numbers, pocket)
	}
	if pocket < 1 || pocket > 36 {
		return false
	}
	switch c.Kind {
	case Dozen:
		return slices.Contains(c.Numbers, (pocket+11)/12)
	case Column:
		return slices.Contains(c.Numbers, (pocket+2)%3+1)
	case Red:
		return redNumbers>>pocket&1 == 1
	case Black:
		return redNumbers>>pocket&1 == 0
	case Odd:
		return pocket%2 == 1
	case Even:
		return pocket%2 == 0
	case Low:
		return pocket <= 18
	case High:
		return pocket >= 19
	default:
		return false
	}
}

// validate returns what is wrong with the chip at this place of a bet, or nil.
func (c Chip) validate(place int) error {
	refuse := func(field, problem string) error {
		return &game.FieldError{Field: field, Problem: fmt.Sprintf("of chips[%d] %s", place, problem)}
	}
	if !c.Kind.known() {
		return refuse("kind", "must be a kind of chip, such as RED")
	}
	switch want := kinds[c.Kind].numbers; {
	case len(c.Numbers) == want:
	case want == 0:
		return refuse("numbers", fmt.Sprintf("must be left out for %s", c.Kind))
	default:
		return refuse("numbers", fmt.Sprintf("must be a list of %d for %s", want, c.Kind))
	}
	for i := 1; i < len(c.Numbers); i++ {
		if c.Numbers[i] <= c.Numbers[i-1] {
			return refuse("numbers", "must be ascending without repeats")
		}
	}
	if _, legal := places[c.key()]; !legal {
		return refuse("numbers", fmt.Sprintf("must be a %s of this layout", c.Kind))
	}
	if c.Amount < 1 || c.Amount > money.MaxUnits {
		return refuse("amount", fmt.Sprintf("must be 1 to %d", money.MaxUnits))
	}
	return nil
}

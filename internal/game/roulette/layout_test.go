package roulette_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/game/roulette"
)

// The cloth as a second description of the layout: number n lies in street (n-1)/3 at place (n-1)%3, and zero lies along
// the first street. A chip on numbers is legal when it can lie on the cloth.
func street(n uint8) int { return (int(n) - 1) / 3 }
func place(n uint8) int  { return (int(n) - 1) % 3 }

// block reports whether the numbers are all those of some streets and places, from the first to the last.
func block(numbers []uint8, streets, places int) bool {
	if numbers[0] == 0 || len(numbers) != streets*places {
		return false
	}
	firstStreet, firstPlace := street(numbers[0]), place(numbers[0])
	for i, n := range numbers {
		if street(n) != firstStreet+i/places || place(n) != firstPlace+i%places {
			return false
		}
	}
	return true
}

func legalOnCloth(kind roulette.Kind, numbers []uint8) bool {
	zero := numbers[0] == 0
	switch kind {
	case roulette.Straight:
		return true
	case roulette.Split:
		return block(numbers, 1, 2) || block(numbers, 2, 1) || zero && street(numbers[1]) == 0
	case roulette.Street:
		return block(numbers, 1, 3)
	case roulette.Trio: // zero and two neighbours of the first street
		return zero && street(numbers[2]) == 0 && place(numbers[2]) == place(numbers[1])+1
	case roulette.Corner:
		return block(numbers, 2, 2)
	case roulette.FirstFour:
		return zero && street(numbers[3]) == 0
	case roulette.SixLine:
		return block(numbers, 2, 3)
	default:
		return false
	}
}

// ascending calls f with every ascending choice of count numbers from 0..36 that spans at most `span`.
func ascending(count, span int, f func([]uint8)) {
	var choose func(chosen []uint8)
	choose = func(chosen []uint8) {
		if len(chosen) == count {
			f(chosen)
			return
		}
		first, last := 0, 36
		if len(chosen) > 0 {
			first, last = int(chosen[len(chosen)-1])+1, min(36, int(chosen[0])+span)
		}
		for n := first; n <= last; n++ {
			choose(append(chosen, uint8(n)))
		}
	}
	choose(nil)
}

func TestLegalChipsAreThoseThatLieOnTheCloth(t *testing.T) {
	sizes := map[roulette.Kind]int{
		roulette.Straight: 1, roulette.Split: 2, roulette.Street: 3, roulette.Trio: 3, roulette.Corner: 4, roulette.FirstFour: 4, roulette.SixLine: 6,
	}
	legal, tried := 0, 0
	for kind, size := range sizes {
		ascending(size, 36-(size/5)*27, func(numbers []uint8) { // six numbers: within a span of 9 only, to stay quick
			tried++
			bet := roulette.Bet{Chips: []roulette.Chip{{Kind: kind, Numbers: numbers, Amount: 1}}}
			want := legalOnCloth(kind, numbers)
			if want {
				legal++
			}
			if got := bet.Validate() == nil; got != want {
				t.Errorf("%s %v: legal %v, want %v", kind, numbers, got, want)
			}
		})
	}
	if legal != 145 || tried < 140_000 { // 157 without dozens, columns and the even chances
		t.Errorf("%d legal of %d tried, want 145", legal, tried)
	}
}

func TestTheLayoutHas157Chips(t *testing.T) {
	want := map[roulette.Kind]int{
		roulette.Straight: 37, roulette.Split: 60, roulette.Street: 12, roulette.Trio: 2, roulette.Corner: 22, roulette.FirstFour: 1, roulette.SixLine: 11,
		roulette.Dozen: 3, roulette.Column: 3, roulette.Red: 1, roulette.Black: 1, roulette.Odd: 1, roulette.Even: 1, roulette.Low: 1, roulette.High: 1,
	}
	counts, different := map[roulette.Kind]int{}, map[string]bool{}
	for _, chip := range roulette.All() {
		counts[chip.Kind]++
		different[fmt.Sprint(chip.Kind, chip.Numbers)] = true
		chip.Amount = 1
		if err := (roulette.Bet{Chips: []roulette.Chip{chip}}).Validate(); err != nil {
			t.Errorf("%s %v: %v", chip.Kind, chip.Numbers, err)
		}
	}
	if len(different) != 157 || len(roulette.All()) != 157 || roulette.ChipCount != 157 {
		t.Errorf("%d different chips of %d", len(different), len(roulette.All()))
	}
	for kind, n := range want {
		if counts[kind] != n {
			t.Errorf("%d chips of kind %s, want %d", counts[kind], kind, n)
		}
	}
}

// Stored bets refer to this order: it may never change.
func TestOrderOfTheLayoutIsPermanent(t *testing.T) {
	chips := roulette.All()
	for index, want := range map[int]string{
		0: "STRAIGHT [0]", 36: "STRAIGHT [36]", 37: "SPLIT [0 1]", 40: "SPLIT [1 2]", 41: "SPLIT [1 4]", 96: "SPLIT [35 36]", 97: "STREET [1 2 3]",
		109: "TRIO [0 1 2]", 110: "TRIO [0 2 3]", 111: "CORNER [1 2 4 5]", 132: "CORNER [32 33 35 36]", 133: "FIRST_FOUR [0 1 2 3]",
		134: "SIX_LINE [1 2 3 4 5 6]", 144: "SIX_LINE [31 32 33 34 35 36]", 145: "DOZEN [1]", 148: "COLUMN [1]", 151: "RED []", 156: "HIGH []",
	} {
		if got := fmt.Sprint(chips[index].Kind, " ", chips[index].Numbers); got != want {
			t.Errorf("chip %d is %s, want %s", index, got, want)
		}
	}
	for i := 1; i < len(chips); i++ {
		a, b := chips[i-1], chips[i]
		if a.Kind > b.Kind || a.Kind == b.Kind && slices.Compare(a.Numbers, b.Numbers) >= 0 {
			t.Errorf("chip %d, %s %v, comes after %s %v", i, b.Kind, b.Numbers, a.Kind, a.Numbers)
		}
	}
}

func TestCallerCannotChangeTheLayout(t *testing.T) {
	roulette.All()[40].Numbers[0] = 36
	bet, err := roulette.ParseBinary([]byte{40, 1})
	if err != nil || !slices.Equal(bet.Chips[0].Numbers, []uint8{1, 2}) {
		t.Fatalf("chip 40 is %v, %v", bet, err)
	}
	bet.Chips[0].Numbers[0] = 36
	if again, err := roulette.ParseBinary([]byte{40, 1}); err != nil || again.Chips[0].Numbers[0] != 1 {
		t.Errorf("chip 40 is %v, %v", again, err)
	}
}

// outside is the second description of the chips without numbers of their own, from the rules of the game.
func outside(chip roulette.Chip, pocket uint8) bool {
	reds := []uint8{1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}
	n := int(pocket)
	switch chip.Kind {
	case roulette.Dozen:
		d := int(chip.Numbers[0])
		return n >= 12*d-11 && n <= 12*d
	case roulette.Column:
		return n%3 == int(chip.Numbers[0])%3
	case roulette.Red:
		return slices.Contains(reds, pocket)
	case roulette.Black:
		return !slices.Contains(reds, pocket)
	case roulette.Odd:
		return n%2 == 1
	case roulette.Even:
		return n%2 == 0
	case roulette.Low:
		return n >= 1 && n <= 18
	default:
		return n >= 19
	}
}

func TestEveryChipOnEveryPocket(t *testing.T) {
	returns := map[int]int64{1: 36, 2: 18, 3: 12, 4: 9, 6: 6, 12: 3, 18: 2} // by how many pockets win: 36 in all
	for _, chip := range roulette.All() {
		wins := 0
		for pocket := uint8(0); pocket <= 36; pocket++ {
			want := pocket != 0 && chip.Kind >= roulette.Dozen && outside(chip, pocket)
			if chip.Kind <= roulette.SixLine {
				want = slices.Contains(chip.Numbers, pocket)
			}
			if chip.Covers(pocket) != want {
				t.Errorf("%s %v on %d: %v, want %v", chip.Kind, chip.Numbers, pocket, !want, want)
			}
			if want {
				wins++
			}
		}
		if chip.Return() != returns[wins] || int64(wins)*chip.Return() != 36 {
			t.Errorf("%s %v wins on %d pockets and returns %d", chip.Kind, chip.Numbers, wins, chip.Return())
		}
	}
	for pocket := 37; pocket < 256; pocket++ {
		for _, chip := range roulette.All() {
			if chip.Covers(uint8(pocket)) {
				t.Errorf("%s covers pocket %d", chip.Kind, pocket)
			}
		}
	}
}

func TestKindNames(t *testing.T) {
	names := []string{
		"STRAIGHT", "SPLIT", "STREET", "TRIO", "CORNER", "FIRST_FOUR", "SIX_LINE", "DOZEN", "COLUMN", "RED", "BLACK", "ODD", "EVEN", "LOW", "HIGH",
	}
	for i, name := range names {
		kind, ok := roulette.ParseKind(name)
		if !ok || kind != roulette.Kind(i+1) || kind.String() != name {
			t.Errorf("%s is kind %d (%s), %v", name, kind, kind, ok)
		}
	}
	for _, name := range []string{"", "red", "RED ", "UNKNOWN", "KIND_UNSPECIFIED"} {
		if kind, ok := roulette.ParseKind(name); ok {
			t.Errorf("%q is kind %s", name, kind)
		}
	}
	for _, kind := range []roulette.Kind{0, 16, 255} {
		chip := roulette.Chip{Kind: kind, Numbers: []uint8{1}}
		if kind.String() != "UNKNOWN" || chip.Return() != 0 || chip.Covers(1) {
			t.Errorf("kind %d is used", kind)
		}
	}
}

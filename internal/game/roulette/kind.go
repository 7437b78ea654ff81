package roulette

// Kind is the kind of a chip. Its numbers are part of stored bets and never change.
type Kind uint8

// The fifteen kinds. The zero Kind is none of them, and refused.
const (
	Straight  Kind = iota + 1 // one number
	Split                     // two neighbours
	Street                    // a row of three
	Trio                      // 0-1-2 or 0-2-3
	Corner                    // a square of four
	FirstFour                 // 0-1-2-3
	SixLine                   // two neighbouring streets
	Dozen                     // numbers: 1, 2 or 3 for 1..12, 13..24, 25..36
	Column                    // numbers: 1, 2 or 3 for n mod 3 = 1, 2, 0
	Red
	Black
	Odd
	Even
	Low  // 1..18
	High // 19..36
)

// kinds gives each kind its name in the API, how many numbers its chip carries, and its total return per unit.
var kinds = [...]struct {
	name    string
	numbers int
	returns int64
}{
	Straight:  {"STRAIGHT", 1, 36},
	Split:     {"SPLIT", 2, 18},
	Street:    {"STREET", 3, 12},
	Trio:      {"TRIO", 3, 12},
	Corner:    {"CORNER", 4, 9},
	FirstFour: {"FIRST_FOUR", 4, 9},
	SixLine:   {"SIX_LINE", 6, 6},
	Dozen:     {"DOZEN", 1, 3},
	Column:    {"COLUMN", 1, 3},
	Red:       {"RED", 0, 2},
	Black:     {"BLACK", 0, 2},
	Odd:       {"ODD", 0, 2},
	Even:      {"EVEN", 0, 2},
	Low:       {"LOW", 0, 2},
	High:      {"HIGH", 0, 2},
}

func (k Kind) known() bool { return k >= Straight && k <= High }

// String returns the kind's name in the API, such as SIX_LINE, or UNKNOWN.
func (k Kind) String() string {
	if !k.known() {
		return "UNKNOWN"
	}
	return kinds[k].name
}

// ParseKind returns the kind with exactly this name in the API, and false for any other text.
func ParseKind(name string) (Kind, bool) {
	for k := Straight; k <= High; k++ {
		if kinds[k].name == name {
			return k, true
		}
	}
	return 0, false
}

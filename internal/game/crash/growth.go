package crash

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

// GrowthScheme is the permanent name of the growth of the multiplier in time (internal/rng/SPEC.md, growth-v1).
const GrowthScheme = "growth-v1"

// thresholds is how many there are: of the multipliers 1.00 to 10000.00, and of 10000.01, at which the longest round ends.
const thresholds = MaxPointE2 + 1 - MinPointE2 + 1

// Growth is the table that says when a round reaches which multiplier. It is the same on every machine, never changes
// once it is made, and is safe for concurrent use. It takes 4 MB and some 50 ms to make: a process makes one.
type Growth struct {
	firstUs [thresholds]uint32 // microseconds after the start, of 100, 101, ... hundredths; rising
}

// NewGrowth makes the table: first_us[m] = ceil(10^9 * ln(m/100) / 60) for m = 100..1000001 (rng/SPEC.md).
func NewGrowth() *Growth {
	g := new(Growth)
	logs := newLogs()
	for i := 1; i < thresholds; i++ {
		whole, _ := logs.next()
		g.firstUs[i] = uint32(whole + 1) // the ceiling: no logarithm here is a whole number, and logs never reaches it
	}
	return g
}

// logs sums up 10^9 * ln(m/100) / 60 for m = 101, 102, ... in integers with 64 bits behind the point.
//
// With x = 1/(2m+1), ln((m+1)/m) = 2 * (x + x^3/3 + x^5/5 + ...). Each division is floored, so a sum is never above the
// true value, and a step falls short by less than 2 for each of its at most seven terms and the rest of the series: all
// steps together by less than 2^24, that is 2^-40 us. No sum comes that close below a whole number (a test looks at
// all), so that the whole part is always right.
type logs struct {
	d          uint64 // 2m+1 of the next step
	whole, low uint64
}

func newLogs() logs { return logs{d: 2*MinPointE2 + 1} }

// next returns the whole microseconds of the next multiplier, and the 64 bits behind the point.
func (l *logs) next() (whole, low uint64) {
	term := division{1_000_000_000, 0}.by(30).by(l.d)
	for k := uint64(1); term != (division{}); k += 2 {
		part := term.by(k)
		var carry uint64
		l.low, carry = bits.Add64(l.low, part.low, 0)
		l.whole += part.high + carry
		term = term.by(l.d * l.d)
	}
	l.d += 2
	return l.whole, l.low
}

// division is an integer of 128 bits that is divided.
type division struct{ high, low uint64 }

func (d division) by(n uint64) division {
	high, rest := d.high/n, d.high%n
	low, _ := bits.Div64(rest, d.low, n)
	return division{high, low}
}

// ReachUs returns how many microseconds after its start a round reaches a multiplier of 100..1000001 hundredths, if it
// does not crash before. A multiplier outside counts as the nearest inside.
func (g *Growth) ReachUs(multiplierE2 uint32) int64 {
	m := min(max(multiplierE2, MinPointE2), MaxPointE2+1)
	return int64(g.firstUs[m-MinPointE2])
}

// EndUs returns how many microseconds after its start a round with this crash point ends: when it would reach the next
// hundredth.
func (g *Growth) EndUs(pointE2 uint32) int64 { return g.ReachUs(min(pointE2, MaxPointE2) + 1) }

// MultiplierAt returns the multiplier in hundredths at a time in microseconds after the start: the largest one whose
// threshold is not later, 100..1000000. Before the start it is 100.
func (g *Growth) MultiplierAt(us int64) uint32 {
	if us < 0 {
		return MinPointE2
	}
	last := int64(g.firstUs[thresholds-1])
	reached, _ := slices.BinarySearch(g.firstUs[:], uint32(min(us, last))+1) // how many thresholds are not later
	return min(uint32(reached)-1+MinPointE2, MaxPointE2)
}

// CashOut decides a manual cash-out that the server received at a time in microseconds after the start, of a bet whose
// automatic one is auto, in a round that crashed at pointE2. It returns the target that is paid, and
// whether the bet won; a lost one has the target 0.
//
// The automatic cash-out comes first at equal times. A manual one at m hundredths counts as target m, 101 at least, so
// that nobody wins in a round that crashes at 1.00. At or after the end it is too late.
func (g *Growth) CashOut(auto Bet, us int64, pointE2 uint32) (paid Bet, won bool) {
	if auto.Wins(pointE2) && g.ReachUs(auto.TargetE2) <= us {
		return auto, true
	}
	manual := Bet{max(g.MultiplierAt(us), MinTargetE2)}
	if us >= g.EndUs(pointE2) || !manual.Wins(pointE2) {
		return Bet{}, false
	}
	return manual, true
}

// SHA256 returns the digest of the table as SPEC.md states it: SHA-256 over first_us[100], first_us[101], ...,
// first_us[1000001], each in four bytes, most significant first.
func (g *Growth) SHA256() [sha256.Size]byte {
	text := make([]byte, 0, 4*thresholds)
	for _, us := range g.firstUs {
		text = binary.BigEndian.AppendUint32(text, us)
	}
	return sha256.Sum256(text)
}

package crash

import (
	"crypto/sha256"
	"math/big"
	"runtime"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

// testRounds is how many rounds of the test chain are played: fewer where a processor is emulated or watched.
func testRounds() int {
	if runtime.GOARCH == "wasm" || slowed {
		return 100_000
	}
	return 1_000_000
}

// testPoints plays a chain whose end is 32 times the byte 7, from its end back, as a table plays it from its beginning.
func testPoints(t *testing.T, rounds int) []uint32 {
	t.Helper()
	salt := rng.Salt("000000000000000000011f6e135efe67d7463dfe7bb955663ef88b1243b2deea")
	raw := [32]byte{}
	for i := range raw {
		raw[i] = 7
	}
	points := make([]uint32, rounds)
	for i := range points {
		link, err := rng.LinkFromBytes(raw[:])
		if err != nil {
			t.Fatal(err)
		}
		digest, err := link.CrashDigest("distribution", uint32(rounds-i), salt)
		if err != nil {
			t.Fatal(err)
		}
		if points[i], err = Point(digest); err != nil {
			t.Fatal(err)
		}
		raw = sha256.Sum256(raw[:])
	}
	return points
}

// A million rounds reach every target about as often as rng/SPEC.md says: the number of those that do is no less likely
// than one in 2^30 on its side of the binomial distribution.
func TestAMillionRoundsOfAChain(t *testing.T) {
	points := testPoints(t, testRounds())
	targets := []uint32{101, 102, 105, 110, 125, 150, 199, 200, 201, 300, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 1_000_000}
	for _, target := range targets {
		reached := 0
		for _, p := range points {
			if (Bet{target}).Wins(p) {
				reached++
			}
		}
		below, above := tails(len(points), reached, (Bet{target}).Ways())
		if below.BitLen() < tailBits-30 || above.BitLen() < tailBits-30 {
			t.Errorf("%d of %d rounds reach %d: hardly ever that few or that many", reached, len(points), target)
		}
	}
}

// The bounds can tell this map from one with an edge of 1 % at every target, as other houses have it: floor(99 E/(E-h)).
func TestTheBoundsOfTheDistributionAreSharp(t *testing.T) {
	const rounds = 1_000_000
	for _, target := range []uint64{101, 110} {
		expected := int(99 * rounds / target) // what such a map would give
		below, above := tails(rounds, expected, Bet{uint32(target)}.Ways())
		if below.BitLen() >= tailBits-30 && above.BitLen() >= tailBits-30 {
			t.Errorf("%d of %d at target %d passes for ours", expected, rounds, target)
		}
	}
	if below, above := tails(1000, 500, Words/2); below.BitLen() != tailBits || above.BitLen() != tailBits { // both just above one half
		t.Errorf("%d and %d bits at the middle", below.BitLen(), above.BitLen())
	}
}

const tailBits = 256

// tails returns the chances of k or fewer, and of k or more, successes among n independent tries with the chance
// ways/2^52 each, in units of 2^-256, floored. It sums the terms of the binomial distribution outwards from its middle,
// each from the one before, until they are below one unit of the greatest one's 2^-320.
func tails(n, k int, ways uint64) (below, above *big.Int) {
	const scale = 320
	win, lose := new(big.Int).SetUint64(ways), new(big.Int).SetUint64(Words-ways)
	middle := int(new(big.Int).Rsh(new(big.Int).Mul(big.NewInt(int64(n)), win), 52).Int64())
	all, few, many := new(big.Int), new(big.Int), new(big.Int)
	add := func(i int, term *big.Int) {
		all.Add(all, term)
		if i <= k {
			few.Add(few, term)
		}
		if i >= k {
			many.Add(many, term)
		}
	}
	term := new(big.Int).Lsh(big.NewInt(1), scale)
	for i := middle; i <= n && term.Sign() > 0; i++ {
		add(i, term)
		term = ratio(term, n-i, win, i+1, lose)
	}
	term = ratio(new(big.Int).Lsh(big.NewInt(1), scale), middle, lose, n-middle+1, win)
	for i := middle - 1; i >= 0 && term.Sign() > 0; i-- {
		add(i, term)
		term = ratio(term, i, lose, n-i+1, win)
	}
	chance := func(part *big.Int) *big.Int { return part.Quo(part.Lsh(part, tailBits), all) }
	return chance(few), chance(many)
}

// ratio returns floor(term * a * x / (b * y)).
func ratio(term *big.Int, a int, x *big.Int, b int, y *big.Int) *big.Int {
	up := new(big.Int).Mul(term, x)
	up.Mul(up, big.NewInt(int64(a)))
	return up.Quo(up, new(big.Int).Mul(y, big.NewInt(int64(b))))
}

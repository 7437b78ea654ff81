package limbo_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"pgregory.net/rapid"
)

var (
	words64 = new(big.Int).Lsh(big.NewInt(1), 64)
	ninety9 = new(big.Int).Mul(big.NewInt(99), words64)
)

// exact is the formula of rng/SPEC.md in big integers.
func exact(v uint64) uint32 {
	y := new(big.Int).Sub(words64, new(big.Int).SetUint64(v))
	quotient := new(big.Int).Quo(ninety9, y)
	if quotient.Cmp(big.NewInt(1000000)) > 0 {
		return 1000000
	}
	return max(uint32(quotient.Uint64()), 100)
}

func TestMapAtItsEdges(t *testing.T) {
	const lastClamped = 1826227663297245 // y of rng/SPEC.md
	for v, want := range map[uint64]uint32{
		0:                         100,
		1:                         100,
		math.MaxUint64:            1000000, // y = 1
		math.MaxUint64 - 97:       1000000, // y = 98
		math.MaxUint64 - 98:       1000000, // y = 99: the largest one that bits.Div64 refuses
		math.MaxUint64 - 99:       1000000, // y = 100
		1<<64 - lastClamped:       1000000,
		1<<64 - (lastClamped + 1): 999999,
	} {
		if got := limbo.Map(v); got != want || exact(v) != want {
			t.Errorf("Map(%d) = %d, want %d, by the formula %d", v, got, want, exact(v))
		}
	}
}

// Each target's last losing and first winning word, over all targets: floor(99 * 2^64 / target) words win.
func TestFloatTargets(t *testing.T) {
	for target := uint32(limbo.MinTargetE2); target <= limbo.MaxTargetE2; target++ {
		wins := new(big.Int).Quo(ninety9, big.NewInt(int64(target))).Uint64()
		first := -wins // 2^64 - wins
		if got := limbo.Map(first); got < target {
			t.Fatalf("target %d: the first winning word gives %d", target, got)
		}
		if got := limbo.Map(first - 1); got >= target {
			t.Fatalf("target %d: the last losing word gives %d", target, got)
		}
	}
}

func TestMapNeverFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		if limbo.Map(min(a, b)) > limbo.Map(max(a, b)) {
			t.Fatal("a larger word has a smaller outcome")
		}
	})
}

func FuzzMap(f *testing.F) {
	for _, v := range []uint64{0, 1, 1 << 63, math.MaxUint64, math.MaxUint64 - 98, 184467440737095516, 18444917846046254370} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v uint64) {
		if got, want := limbo.Map(v), exact(v); got != want {
			t.Errorf("Map(%d) = %d, want %d", v, got, want)
		}
	})
}

func TestATieWins(t *testing.T) {
	for target, want := range map[uint32]bool{431: true, 432: true, 433: false} {
		stream := exampleStream(t)
		got := limbo.Bet{TargetE2: target}.Play(&stream)
		if got != (limbo.Outcome{OutcomeE2: 432, Win: want}) { // the worked example of SPEC.md
			t.Errorf("target %d: %+v", target, got)
		}
	}
}

func TestBadTargetNamesItsField(t *testing.T) {
	for _, target := range []uint32{0, 1, 99, 100, 1000001, math.MaxUint32} {
		var field *game.FieldError
		if err := (limbo.Bet{TargetE2: target}).Validate(); !errors.As(err, &field) || field.Field != "targetE2" {
			t.Errorf("target %d: %v", target, err)
		}
	}
	for _, target := range []uint32{101, 102, 999999, 1000000} {
		if err := (limbo.Bet{TargetE2: target}).Validate(); err != nil {
			t.Errorf("target %d: %v", target, err)
		}
	}
}

func TestPercentAndFactorMixed(t *testing.T) {
	for target, want := range map[uint32]money.Multiplier{101: 10100, 200: 20000, 1000000: 100000000} {
		if got := (limbo.Bet{TargetE2: target}).Multiplier(); got != want {
			t.Errorf("target %d: multiplier %d, want %d", target, got, want)
		}
	}
}

func TestStakeTooSmall(t *testing.T) {
	lowest := limbo.Bet{TargetE2: 101}
	if lowest.CanWin(99) || !lowest.CanWin(100) {
		t.Error("the smallest stake at 1.01 is not 100")
	}
}

func exampleStream(t testing.TB) rng.Stream {
	t.Helper()
	signature, err := rng.ParseSignature("6f3c054cd6b00951e8b542069c29f73c26cf261a47f4156acf95538d9e16377d")
	if err != nil {
		t.Fatal(err)
	}
	return rng.NewStream(signature)
}

func round(t testing.TB, seed rng.ServerSeed, nonce uint32) limbo.Outcome {
	signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	return limbo.Bet{TargetE2: 200}.Play(&stream)
}

func TestPlayingDoesNotAllocate(t *testing.T) {
	seed, err := rng.NewServerSeed()
	if err != nil {
		t.Fatal(err)
	}
	if allocations := testing.AllocsPerRun(1000, func() { round(t, seed, 1) }); allocations != 0 {
		t.Errorf("%v allocations a round", allocations)
	}
}

// BenchmarkLimbo plays from the server seed to the decided bet.
func BenchmarkLimbo(b *testing.B) {
	seed, err := rng.NewServerSeed()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for nonce := uint32(0); b.Loop(); nonce++ {
		round(b, seed, nonce)
	}
}

package crash

import (
	"math/big"
	"testing"

	"github.com/openoriginals/originals/internal/money"
)

// FuzzMap compares the crash point with the formula of rng/SPEC.md in integers of any size.
func FuzzMap(f *testing.F) {
	for _, h := range []uint64{0, 1, Words - 1, Words - 2, Words - 99, Words - 100, Words / 2, Words/2 - 1, 0x28f5c28f5c28, 0xf23bcb28be3a2, Words, 1<<64 - 1} {
		f.Add(h)
	}
	top := new(big.Int).Lsh(big.NewInt(1), 52)
	f.Fuzz(func(t *testing.T, word uint64) {
		h := new(big.Int).SetUint64(word & (Words - 1))
		want := new(big.Int).Mul(top, big.NewInt(100))
		want.Sub(want, h).Quo(want, new(big.Int).Sub(top, h))
		if want.Cmp(big.NewInt(MaxPointE2)) > 0 {
			want.SetInt64(MaxPointE2)
		}
		if got := Map(word); want.Cmp(big.NewInt(int64(got))) != 0 || got < MinPointE2 {
			t.Errorf("%x: %d, want %d", word, got, want)
		}
	})
}

// FuzzCashOut: whatever the time, the answer is one of the two legal ones: the automatic cash-out exactly, or a manual one
// that the multiplier had reached and the round had not crashed before.
func FuzzCashOut(f *testing.F) {
	g := NewGrowth()
	for _, point := range []uint32{100, 101, 199, 200, 1000, MaxPointE2} {
		f.Add(uint32(MaxTargetE2), g.EndUs(point)-1, point)
		f.Add(point, g.ReachUs(point), point)
		f.Add(uint32(150), g.EndUs(point), point)
	}
	f.Add(uint32(101), int64(-1), uint32(100))
	f.Add(uint32(101), int64(1<<62), uint32(MaxPointE2))
	f.Fuzz(func(t *testing.T, target uint32, us int64, point uint32) {
		target = MinTargetE2 + target%(MaxTargetE2-MinTargetE2+1)
		point = MinPointE2 + point%(MaxPointE2-MinPointE2+1)
		auto := Bet{target}
		paid, won := g.CashOut(auto, us, point)
		reached := auto.Wins(point) && g.ReachUs(target) <= us
		switch {
		case won != (paid.TargetE2 != 0), paid.TargetE2 > point, won && paid.TargetE2 < MinTargetE2:
			t.Errorf("%d at %d us, crash %d: paid %d, %v", target, us, point, paid.TargetE2, won)
		case reached && paid != auto:
			t.Errorf("%d at %d us, crash %d: the automatic cash-out is missed for %d", target, us, point, paid.TargetE2)
		case won && !reached && paid.TargetE2 > max(g.MultiplierAt(us), MinTargetE2):
			t.Errorf("%d at %d us, crash %d: %d was not reached yet", target, us, point, paid.TargetE2)
		case !won && !reached && us < g.EndUs(point) && point >= MinTargetE2:
			t.Errorf("%d at %d us, crash %d: called too late", target, us, point)
		}
	})
}

// FuzzLargestTarget: the largest target within a limit, and none above it.
func FuzzLargestTarget(f *testing.F) {
	f.Add(int64(100), int64(1000))
	f.Add(int64(money.MaxUnits), int64(money.MaxUnits))
	f.Add(int64(1), int64(money.MaxUnits))
	f.Add(int64(0), int64(-1))
	f.Fuzz(func(t *testing.T, stake, limit int64) {
		stake, limit = stake&(1<<53-1), limit&(1<<53-1)
		pays := func(target uint32) bool { // floor(stake * target / 100) <= limit
			product := new(big.Int).Mul(big.NewInt(stake), big.NewInt(int64(target)))
			return product.Quo(product, big.NewInt(100)).Cmp(big.NewInt(limit)) <= 0
		}
		b, ok := LargestTarget(money.Units(stake), money.Units(limit))
		if ok != (stake > 0 && pays(MinTargetE2)) {
			t.Errorf("stake %d, limit %d: %v", stake, limit, ok)
		}
		if ok && (!pays(b.TargetE2) || b.TargetE2 < MaxTargetE2 && pays(b.TargetE2+1)) {
			t.Errorf("stake %d, limit %d: %d", stake, limit, b.TargetE2)
		}
	})
}

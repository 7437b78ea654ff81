package money_test

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/money"
	"pgregory.net/rapid"
)

var cap53 = new(big.Int).SetUint64(1<<53 - 1)

// exact is floor(stake * m / 10000) in big integers.
func exact(stake, m int64) *big.Int {
	product := new(big.Int).Mul(big.NewInt(stake), big.NewInt(m))
	return product.Quo(product, big.NewInt(10000))
}

func checkPayout(t rapid.TB, stake, m int64) {
	t.Helper()
	payout, err := money.Payout(money.Units(stake), money.Multiplier(m))
	if stake < 0 || m < 0 {
		if !errors.Is(err, money.ErrNegative) || payout != 0 {
			t.Fatalf("Payout(%d, %d) = %d, %v; want ErrNegative", stake, m, payout, err)
		}
		return
	}
	want := exact(stake, m)
	if want.Cmp(cap53) > 0 {
		if !errors.Is(err, money.ErrOverflow) || payout != 0 {
			t.Fatalf("Payout(%d, %d) = %d, %v; want ErrOverflow", stake, m, payout, err)
		}
		return
	}
	if err != nil || want.Cmp(big.NewInt(int64(payout))) != 0 {
		t.Fatalf("Payout(%d, %d) = %d, %v; want %s", stake, m, payout, err, want)
	}
}

func TestPayoutIsTheExactFloor(t *testing.T) {
	edges := []int64{
		0, 1, 2, 32, 33, 100, 9999, 10000, 10001, 19800, 51482970000, 40000, 1<<53 - 2, 1<<53 - 1, 1 << 53, 1 << 62, math.MaxInt64 - 1, math.MaxInt64,
		-1, -10000, math.MinInt64,
	}
	for _, stake := range edges {
		for _, m := range edges {
			checkPayout(t, stake, m)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		checkPayout(t, rapid.Int64().Draw(t, "stake"), rapid.Int64().Draw(t, "m"))
	})
	rapid.Check(t, func(t *rapid.T) { // amounts and multipliers of the size that is really played
		checkPayout(t, rapid.Int64Range(0, 1<<40).Draw(t, "stake"), rapid.Int64Range(0, 1<<26).Draw(t, "m"))
	})
}

func TestNegativeStakeAddsMoney(t *testing.T) {
	if payout, err := money.Payout(-100, 20000); !errors.Is(err, money.ErrNegative) || payout != 0 {
		t.Errorf("a stake of -100 pays %d, %v", payout, err)
	}
	if money.Multiplier(20000).Exceeds(-100) {
		t.Error("a stake of -100 can win")
	}
}

func TestTinyAmountsBecomeZero(t *testing.T) {
	for _, c := range []struct {
		stake money.Units
		m     money.Multiplier
		want  bool
	}{
		{1, 10100, false}, {99, 10100, false}, {100, 10100, true}, {1, 19999, false}, {1, 20000, true}, {1, 0, false},
		{1000, 10000, false}, {money.MaxUnits, 10000, false}, {money.MaxUnits, 10001, true}, {math.MaxInt64, math.MaxInt64, true},
	} {
		if got := c.m.Exceeds(c.stake); got != c.want {
			t.Errorf("multiplier %d exceeds a stake of %d: %v", c.m, c.stake, got)
		}
	}
}

func FuzzParseCurrency(f *testing.F) {
	for _, text := range []string{"", "F", "FUN", "USDT0", "fun", " FUN", "FUN\n", "FÜN", "ABCDEFGH", "ABCDEFGHI", "12", "{}"} {
		f.Add(text)
	}
	pattern := regexp.MustCompile(`\A[A-Z0-9]{2,8}\z`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := money.ParseCurrency(text)
		if (err == nil) != pattern.MatchString(text) {
			t.Fatalf("ParseCurrency(%q): %v", text, err)
		}
		if err == nil && string(got) != text || err != nil && (got != "" || !errors.Is(err, money.ErrCurrency)) {
			t.Fatalf("ParseCurrency(%q) = %q, %v", text, got, err)
		}
	})
}

func TestParseCurrency(t *testing.T) {
	for _, text := range []string{"FUN", "BTC", "AB", "A1B2C3D4", strings.Repeat("Z", 8)} {
		if got, err := money.ParseCurrency(text); err != nil || string(got) != text {
			t.Errorf("ParseCurrency(%q) = %q, %v", text, got, err)
		}
	}
}

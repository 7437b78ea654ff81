package roulette_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"testing"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"pgregory.net/rapid"
)

// betOf draws a valid bet.
func betOf(t *rapid.T) roulette.Bet {
	chips := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) roulette.Chip {
		chip := roulette.All()[rapid.IntRange(0, 156).Draw(t, "chip")]
		chip.Amount = money.Units(rapid.Int64Range(1, (1<<53-1)/32).Draw(t, "amount"))
		return chip
	}), 1, 32).Draw(t, "chips")
	return roulette.Bet{Chips: chips}
}

func chip(kind roulette.Kind, amount money.Units, numbers ...uint8) roulette.Chip {
	return roulette.Chip{Kind: kind, Numbers: numbers, Amount: amount}
}

func TestBadChipsNameTheirField(t *testing.T) {
	good := chip(roulette.Red, 5)
	many := make([]roulette.Chip, 33)
	for i := range many {
		many[i] = good
	}
	for _, c := range []struct {
		field string
		chips []roulette.Chip
	}{
		{"chips", nil}, {"chips", []roulette.Chip{}}, {"chips", many},
		{"kind", []roulette.Chip{good, chip(0, 5)}}, {"kind", []roulette.Chip{chip(16, 5)}}, {"kind", []roulette.Chip{chip(255, 5, 1)}},
		{"numbers", []roulette.Chip{chip(roulette.Straight, 5)}}, {"numbers", []roulette.Chip{chip(roulette.Straight, 5, 1, 2)}},
		{"numbers", []roulette.Chip{chip(roulette.Straight, 5, 37)}}, {"numbers", []roulette.Chip{chip(roulette.Straight, 5, 255)}},
		{"numbers", []roulette.Chip{chip(roulette.Split, 5, 2, 1)}}, {"numbers", []roulette.Chip{chip(roulette.Split, 5, 1, 1)}},
		{"numbers", []roulette.Chip{chip(roulette.Split, 5, 3, 4)}}, {"numbers", []roulette.Chip{chip(roulette.Split, 5, 0, 4)}},
		{"numbers", []roulette.Chip{chip(roulette.Split, 5, 36, 39)}}, {"numbers", []roulette.Chip{chip(roulette.Street, 5, 2, 3, 4)}},
		{"numbers", []roulette.Chip{chip(roulette.Corner, 5, 3, 4, 6, 7)}}, {"numbers", []roulette.Chip{chip(roulette.FirstFour, 5)}},
		{"numbers", []roulette.Chip{chip(roulette.Dozen, 5, 0)}}, {"numbers", []roulette.Chip{chip(roulette.Dozen, 5, 4)}},
		{"numbers", []roulette.Chip{chip(roulette.Column, 5)}}, {"numbers", []roulette.Chip{chip(roulette.Red, 5, 1)}},
		{"numbers", []roulette.Chip{chip(roulette.SixLine, 5, 1, 2, 3, 4, 5, 6, 7)}},
		{"amount", []roulette.Chip{chip(roulette.Red, 0)}}, {"amount", []roulette.Chip{chip(roulette.Red, -5)}},
		{"amount", []roulette.Chip{chip(roulette.Red, 1<<53)}}, {"amount", []roulette.Chip{chip(roulette.Red, 1<<63-1), good}},
		{"amount", []roulette.Chip{chip(roulette.Red, 1<<53-1), chip(roulette.Black, 1)}},
	} {
		var field *game.FieldError
		if err := (roulette.Bet{Chips: c.chips}).Validate(); !errors.As(err, &field) || field.Field != c.field {
			t.Errorf("%v: %v, want the field %s", c.chips, err, c.field)
		}
	}
	if err := (roulette.Bet{Chips: many[:32]}).Validate(); err != nil {
		t.Errorf("32 equal chips: %v", err)
	}
	largest := []roulette.Chip{chip(roulette.Red, 1<<53-2), chip(roulette.Red, 1)}
	if err := (roulette.Bet{Chips: largest}).Validate(); err != nil {
		t.Errorf("chips of 2^53-1 together: %v", err)
	}
}

// What is said of a chip is a sentence with its field before it, and names the
// chip.
func TestRefusedChipIsNamed(t *testing.T) {
	good, most := chip(roulette.Red, 5), int64(1<<53-1)
	for _, c := range []struct {
		bad  roulette.Chip
		want string
	}{
		{chip(roulette.Red, 0), fmt.Sprintf("amount: of chips[2] must be 1 to %d", most)},
		{chip(0, 5), "kind: of chips[2] must be a kind of chip, such as RED"},
		{chip(roulette.Red, 5, 1), "numbers: of chips[2] must be left out for RED"},
		{chip(roulette.Split, 5, 1), "numbers: of chips[2] must be a list of 2 for SPLIT"},
		{chip(roulette.Split, 5, 2, 1), "numbers: of chips[2] must be ascending without repeats"},
		{chip(roulette.Split, 5, 3, 4), "numbers: of chips[2] must be a SPLIT of this layout"},
		{chip(roulette.Black, 1<<53-1), fmt.Sprintf("amount: of all chips together must be at most %d", most)},
	} {
		err := (roulette.Bet{Chips: []roulette.Chip{good, good, c.bad}}).Validate()
		if err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestPayoutIsTheExactSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bet := betOf(t)
		worst := new(big.Int)
		for pocket := range uint8(37) {
			sum := new(big.Int)
			for _, c := range bet.Chips {
				if c.Covers(pocket) {
					sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(c.Amount)), big.NewInt(c.Return())))
				}
			}
			payout := bet.Payout(pocket)
			if sum.Cmp(big.NewInt(int64(payout))) != 0 {
				t.Fatalf("pocket %d pays %d, want %s", pocket, payout, sum)
			}
			if sum.Cmp(worst) > 0 {
				worst = sum
			}
			shown := new(big.Int).Mul(sum, big.NewInt(10000))
			shown.Quo(shown, big.NewInt(int64(bet.Stake())))
			if got := roulette.Multiplier(payout, bet.Stake()); shown.Cmp(big.NewInt(int64(got))) != 0 {
				t.Fatalf("multiplier %d, want %s", got, shown)
			}
		}
		if worst.Cmp(big.NewInt(int64(bet.WorstCase()))) != 0 || bet.CanWin() != (bet.WorstCase() > bet.Stake()) {
			t.Fatalf("worst case %d, want %s", bet.WorstCase(), worst)
		}
	})
}

func TestLargestBetDoesNotOverflow(t *testing.T) {
	bet := roulette.Bet{Chips: []roulette.Chip{chip(roulette.Straight, money.MaxUnits, 17)}}
	if got := bet.Payout(17); got != 36*money.MaxUnits {
		t.Errorf("payout %d", got)
	}
	if got := roulette.Multiplier(bet.Payout(17), bet.Stake()); got != 360000 {
		t.Errorf("multiplier %d", got)
	}
	for _, c := range [][2]money.Units{{100, 0}, {100, -1}, {-1, 100}, {1<<63 - 1, 1}} {
		if got := roulette.Multiplier(c[0], c[1]); got != 0 {
			t.Errorf("Multiplier(%d, %d) = %d, want 0", c[0], c[1], got)
		}
	}
}

func TestNoWinPossible(t *testing.T) {
	straights := func(count int) (chips []roulette.Chip) {
		for n := range count {
			chips = append(chips, chip(roulette.Straight, 1, uint8(n)))
		}
		return chips
	}
	dozens := []roulette.Chip{chip(roulette.Dozen, 2, 1), chip(roulette.Dozen, 2, 2), chip(roulette.Dozen, 2, 3)}
	for _, c := range []struct {
		name  string
		chips []roulette.Chip
		want  bool
	}{
		{"red with black", []roulette.Chip{chip(roulette.Red, 5), chip(roulette.Black, 5)}, false},
		{"more red than black", []roulette.Chip{chip(roulette.Red, 6), chip(roulette.Black, 5)}, true},
		{"all dozens", dozens, false},
		{"all dozens and zero", append(dozens, chip(roulette.Straight, 1, 0)), true},
		{"32 straights", straights(32), true},
		{"every pocket, straights and two streets", append(straights(31), chip(roulette.SixLine, 6, 31, 32, 33, 34, 35, 36)), false},
		{"one red", []roulette.Chip{chip(roulette.Red, 1)}, true},
	} {
		bet := roulette.Bet{Chips: c.chips}
		if err := bet.Validate(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := bet.CanWin(); got != c.want {
			t.Errorf("%s: can win %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBinaryFormRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bet := betOf(t)
		packed := bet.AppendBinary([]byte("before"))
		if !bytes.HasPrefix(packed, []byte("before")) || len(packed) > 6+9*len(bet.Chips) {
			t.Fatalf("%d bytes for %d chips", len(packed), len(bet.Chips))
		}
		back, err := roulette.ParseBinary(packed[6:])
		if err != nil || fmt.Sprint(back) != fmt.Sprint(bet) {
			t.Fatalf("%v came back as %v, %v", bet, back, err)
		}
	})
}

func TestBinaryFormIsStrict(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":            {},
		"no amount":          {0},
		"cut amount":         {0, 0x80},
		"zero amount":        {0, 0},
		"overlong amount":    {0, 0x81, 0},
		"unknown chip":       {157, 1},
		"last byte":          {255, 1},
		"2^53":               {0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10},
		"over 64 bits":       {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"sum over 2^53-1":    {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1},
		"33 chips":           bytes.Repeat([]byte{0, 1}, 33),
		"trailing half chip": {0, 1, 0},
	} {
		if bet, err := roulette.ParseBinary(b); !errors.Is(err, roulette.ErrBinary) || bet.Chips != nil {
			t.Errorf("%s: %v, %v", name, bet, err)
		}
	}
	bet, err := roulette.ParseBinary([]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f})
	if err != nil || bet.Stake() != money.MaxUnits {
		t.Errorf("the largest amount: %v, %v", bet, err)
	}
	if bet, err = roulette.ParseBinary(bytes.Repeat([]byte{156, 1}, 32)); err != nil || bet.Stake() != 32 {
		t.Errorf("32 chips: %v, %v", bet, err)
	}
}

func FuzzParseBinary(f *testing.F) {
	f.Add([]byte{0, 1})
	f.Add([]byte{156, 0xff, 0x7f, 40, 1})
	f.Add([]byte{157, 1})
	f.Add([]byte{0, 0x81, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		bet, err := roulette.ParseBinary(b)
		if err != nil {
			if !errors.Is(err, roulette.ErrBinary) || !reflect.DeepEqual(bet, roulette.Bet{}) {
				t.Fatalf("%x: %v beside %v", b, bet, err)
			}
			return
		}
		if err := bet.Validate(); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		if again := bet.AppendBinary(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x came back as %x", b, again)
		}
	})
}

func round(t testing.TB, seed rng.ServerSeed, bet roulette.Bet, nonce uint32) money.Units {
	signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	return bet.Payout(roulette.Pocket(&stream))
}

func TestPlayingDoesNotAllocate(t *testing.T) {
	seed, err := rng.NewServerSeed()
	if err != nil {
		t.Fatal(err)
	}
	bet := roulette.Bet{Chips: []roulette.Chip{chip(roulette.Straight, 5, 17), chip(roulette.Red, 100)}}
	if allocations := testing.AllocsPerRun(1000, func() { round(t, seed, bet, 1) }); allocations != 0 {
		t.Errorf("%v allocations a round", allocations)
	}
}

func TestWorkedExamplePocket(t *testing.T) {
	signature, err := rng.ParseSignature("6f3c054cd6b00951e8b542069c29f73c26cf261a47f4156acf95538d9e16377d")
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	if got := roulette.Pocket(&stream); got != 13 { // SPEC.md
		t.Errorf("pocket %d, want 13", got)
	}
}

// BenchmarkRoulette plays two chips from the server seed to the payout.
func BenchmarkRoulette(b *testing.B) {
	seed, err := rng.NewServerSeed()
	if err != nil {
		b.Fatal(err)
	}
	bet := roulette.Bet{Chips: []roulette.Chip{chip(roulette.Straight, 5, 17), chip(roulette.Red, 100)}}
	b.ReportAllocs()
	for nonce := uint32(0); b.Loop(); nonce++ {
		round(b, seed, bet, nonce)
	}
}

package dice_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// allBets calls f for every bet that rng/SPEC.md allows, with the number of its winning rolls as that page gives it.
func allBets(f func(bet dice.Bet, w int64)) {
	for t := uint32(199); t <= 9998; t++ {
		f(dice.Bet{Target: t, Direction: dice.Over}, 9999-int64(t))
	}
	for t := uint32(1); t <= 9800; t++ {
		f(dice.Bet{Target: t, Direction: dice.Under}, int64(t))
	}
}

func TestWinTestAndPayoutTableOffByOne(t *testing.T) {
	bets := 0
	allBets(func(bet dice.Bet, w int64) {
		bets++
		if err := bet.Validate(); err != nil {
			t.Fatalf("%+v: %v", bet, err)
		}
		if int64(bet.WinningRolls()) != w {
			t.Fatalf("%+v: %d winning rolls, want %d", bet, bet.WinningRolls(), w)
		}
		want := new(big.Int).Quo(big.NewInt(99000000), big.NewInt(w))
		if got := bet.Multiplier(); want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%+v: multiplier %d, want %s", bet, got, want)
		}
	})
	if bets != 19600 {
		t.Errorf("%d bets, want 19600", bets)
	}
}

func TestEveryRollOfEveryBet(t *testing.T) {
	allBets(func(bet dice.Bet, w int64) {
		wins := int64(0)
		for roll := uint32(0); roll < 10000; roll++ {
			if bet.Decide(roll).Win {
				wins++
			}
		}
		if wins != w {
			t.Fatalf("%+v: %d of 10000 rolls win, want %d", bet, wins, w)
		}
	})
	// The counts and these sides of the target together fix each roll.
	for _, c := range []struct {
		bet  dice.Bet
		roll uint32
		want bool
	}{
		{dice.Bet{Target: 5000, Direction: dice.Over}, 5000, false}, {dice.Bet{Target: 5000, Direction: dice.Over}, 5001, true},
		{dice.Bet{Target: 5000, Direction: dice.Under}, 5000, false}, {dice.Bet{Target: 5000, Direction: dice.Under}, 4999, true},
		{dice.Bet{Target: 9998, Direction: dice.Over}, 9999, true}, {dice.Bet{Target: 1, Direction: dice.Under}, 0, true},
		{dice.Bet{Target: 199, Direction: dice.Over}, 0, false}, {dice.Bet{Target: 9800, Direction: dice.Under}, 9999, false},
	} {
		if got := c.bet.Decide(c.roll); got.Win != c.want || got.Roll != c.roll {
			t.Errorf("%+v on %d: %+v", c.bet, c.roll, got)
		}
	}
}

func TestSureBets(t *testing.T) {
	allBets(func(bet dice.Bet, w int64) {
		if w > 9800 || bet.Multiplier() <= money.One {
			t.Fatalf("%+v wins %d of 10000 rolls at %d", bet, w, bet.Multiplier())
		}
		if expected := w * int64(bet.Multiplier()); expected > 99000000 || expected < 98990320 {
			t.Fatalf("%+v returns %d of 10^8", bet, expected)
		}
	})
}

func TestBadParametersNameTheirField(t *testing.T) {
	for _, c := range []struct {
		bet   dice.Bet
		field string
	}{
		{dice.Bet{Target: 5000}, "direction"}, {dice.Bet{Target: 5000, Direction: 3}, "direction"}, {dice.Bet{Target: 5000, Direction: 255}, "direction"},
		{dice.Bet{Target: 198, Direction: dice.Over}, "target"}, {dice.Bet{Target: 9999, Direction: dice.Over}, "target"},
		{dice.Bet{Target: 0, Direction: dice.Under}, "target"}, {dice.Bet{Target: 9801, Direction: dice.Under}, "target"},
		{dice.Bet{Target: 0, Direction: dice.Over}, "target"}, {dice.Bet{Target: 1<<32 - 1, Direction: dice.Over}, "target"},
		{dice.Bet{Target: 1<<32 - 1, Direction: dice.Under}, "target"}, {dice.Bet{}, "direction"},
	} {
		var field *game.FieldError
		if err := c.bet.Validate(); !errors.As(err, &field) || field.Field != c.field {
			t.Errorf("%+v: %v, want the field %s", c.bet, err, c.field)
		}
	}
}

func TestStakeTooSmall(t *testing.T) {
	safest := dice.Bet{Target: 9800, Direction: dice.Under} // 1.0102
	if safest.CanWin(98) || !safest.CanWin(99) {            // 98 * 1.0102 = 98.9996, 99 * 1.0102 = 100.0098
		t.Error("the smallest stake at 1.0102 is not 99")
	}
	boldest := dice.Bet{Target: 1, Direction: dice.Under}
	if !boldest.CanWin(1) || boldest.CanWin(0) {
		t.Error("the smallest stake at 9900.0000 is not 1")
	}
}

func TestPlayDrawsTheRoll(t *testing.T) {
	stream := exampleStream(t)
	bet := dice.Bet{Target: 4075, Direction: dice.Over}
	if got, want := bet.Play(&stream), (dice.Outcome{Roll: 4075, Win: false}); got != want { // the worked example of SPEC.md
		t.Errorf("outcome %+v, want %+v", got, want)
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

func round(t testing.TB, seed rng.ServerSeed, nonce uint32) dice.Outcome {
	signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	return dice.Bet{Target: 5050, Direction: dice.Over}.Play(&stream)
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

// BenchmarkDice plays from the server seed to the decided bet.
func BenchmarkDice(b *testing.B) {
	seed, err := rng.NewServerSeed()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for nonce := uint32(0); b.Loop(); nonce++ {
		round(b, seed, nonce)
	}
}

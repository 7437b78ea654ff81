package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// wantField fails unless the error refuses this field.
func wantField(t *testing.T, what string, err error, field string) {
	t.Helper()
	e, ok := reason.From(err)
	if !ok || e.Reason != reason.InvalidField || e.Metadata["field"] != field {
		t.Errorf("%s: %v, want a refusal of %s", what, err, field)
	}
}

func TestIDsOutsideTheirAlphabet(t *testing.T) {
	for _, id := range []string{"a", "Z", "0", "_", "-", strings.Repeat("x", 40), "AZaz09_-"} {
		if err := wire.BetID(id); err != nil {
			t.Errorf("bet id %q: %v", id, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 41), "a b", " a", "a\n", "a\x00", "é", "a/b", "{a}", "a.b", "a:b", "\xff"} {
		wantField(t, id, wire.BetID(id), "betId")
	}
	for _, id := range []string{"a", "0", "-", strings.Repeat("x", 64), "17-abcdefghijklmnop-4294967294"} {
		if err := wire.ID("roundId", id); err != nil {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 65), "A", "a_b", "a\n", "a b", "é", "{a}", "\xff"} {
		wantField(t, id, wire.ID("roundId", id), "roundId")
	}
}

func TestTinyOrOddAmounts(t *testing.T) {
	money := func(currency string, amount int64) *originalsv1.Money {
		return &originalsv1.Money{Currency: currency, Amount: amount}
	}
	for _, amount := range []int64{1, 100, 1<<53 - 1} {
		if c, u, err := wire.Stake(money("FUN", amount)); err != nil || int64(u) != amount || c != "FUN" {
			t.Errorf("%d: %s %d, %v", amount, c, u, err)
		}
	}
	for _, amount := range []int64{0, -1, -1 << 63, 1 << 53, 1<<63 - 1} {
		_, _, err := wire.Stake(money("FUN", amount))
		wantField(t, "stake", err, "amount")
	}
	for _, code := range []string{"", "F", "fun", "FUNFUNFUN", "FU N", "FÜN", "FUN\n", "\xff\xff"} {
		_, _, err := wire.Stake(money(code, 1))
		wantField(t, code, err, "currency")
	}
	_, _, err := wire.Stake(nil)
	wantField(t, "nil", err, "stake")
}

// Enums are open: a number that no name has is refused, whatever it is modulo
// 256.
func TestEnumsAreOpen(t *testing.T) {
	for n := int32(-300); n <= 600; n++ {
		_, err := wire.DiceBet(&originalsv1.DiceParameters{Target: 5000, Direction: originalsv1.Dice_Direction(n)})
		if n == 1 || n == 2 {
			if err != nil {
				t.Errorf("direction %d: %v", n, err)
			}
		} else {
			wantField(t, "direction", err, "direction")
		}
		_, err = wire.RouletteBet(&originalsv1.RouletteParameters{Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_Kind(n), Amount: 1}}})
		if n < 1 || n > 15 {
			wantField(t, "kind", err, "kind")
		} else if outside := n >= 10; outside != (err == nil) { // chips that need no numbers
			t.Errorf("kind %d: %v", n, err)
		}
	}
}

func TestNumbersAreNotCutToAByte(t *testing.T) {
	for _, n := range []uint32{37, 255, 256, 256 + 7, 1<<32 - 1} {
		_, err := wire.RouletteBet(&originalsv1.RouletteParameters{Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{n}, Amount: 1}}})
		wantField(t, "number", err, "numbers")
		_, err = wire.MinesBet(&originalsv1.MinesParameters{MineCount: n})
		wantField(t, "mineCount", err, "mineCount")
		picks, err := wire.Picks([]uint32{n})
		if n <= 255 {
			if err != nil || picks[0] != uint8(n) {
				t.Errorf("pick %d: %v, %v", n, picks, err)
			}
		} else {
			wantField(t, "pick", err, "picks")
		}
	}
	if _, err := wire.Picks(make([]uint32, 25)); err != nil {
		t.Error(err)
	}
	_, err := wire.Picks(make([]uint32, 26))
	wantField(t, "26 picks", err, "picks")
}

func TestNilParametersAreRefusedAndDoNotPanic(t *testing.T) {
	_, err := wire.DiceBet(nil)
	wantField(t, "dice", err, "direction")
	_, err = wire.LimboBet(nil)
	wantField(t, "limbo", err, "targetE2")
	_, err = wire.RouletteBet(nil)
	wantField(t, "roulette", err, "chips")
	_, err = wire.MinesBet(nil)
	wantField(t, "mines", err, "mineCount")
	_, err = wire.RouletteBet(&originalsv1.RouletteParameters{Chips: []*originalsv1.Chip{nil}})
	wantField(t, "nil chip", err, "kind")
	plain := errors.New("plain")
	if wire.FieldError(plain) != plain || wire.FieldError(nil) != nil {
		t.Error("an error that names no field is changed")
	}
}

// What a bet is translated to says the same as the message that it came from.
func TestBetsSurviveTheWayThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		over := rapid.Bool().Draw(t, "over")
		d := &originalsv1.DiceParameters{Direction: originalsv1.Dice_UNDER, Target: rapid.Uint32Range(1, 9800).Draw(t, "target")}
		if over {
			d.Direction, d.Target = originalsv1.Dice_OVER, rapid.Uint32Range(199, 9998).Draw(t, "target")
		}
		b, err := wire.DiceBet(d)
		if err != nil || b.Game != bet.Dice {
			t.Fatalf("%v: %v", d, err)
		}
		if m := wire.Dice(b.Dice, nil); m.GetTarget() != d.GetTarget() || m.GetDirection() != d.GetDirection() || m.Roll != nil || m.Win != nil {
			t.Fatalf("%v became %v", d, m)
		}
		l := &originalsv1.LimboParameters{TargetE2: rapid.Uint32Range(101, 1000000).Draw(t, "targetE2")}
		if b, err = wire.LimboBet(l); err != nil || b.Game != bet.Limbo {
			t.Fatalf("%v: %v", l, err)
		}
		if m := wire.Limbo(b.Limbo, nil); m.GetTargetE2() != l.GetTargetE2() || m.OutcomeE2 != nil || m.Win != nil {
			t.Fatalf("%v became %v", l, m)
		}
		n := rapid.Uint32Range(0, 36).Draw(t, "number")
		amount := rapid.Int64Range(1, 1<<40).Draw(t, "amount")
		r := &originalsv1.RouletteParameters{Chips: []*originalsv1.Chip{
			{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{n}, Amount: amount}, {Kind: originalsv1.Chip_RED, Amount: 3}}}
		if b, err = wire.RouletteBet(r); err != nil || b.Game != bet.Roulette || int64(b.Roulette.Stake()) != amount+3 {
			t.Fatalf("%v: %v", r, err)
		}
		m := wire.Roulette(b.Roulette, nil)
		if len(m.GetChips()) != 2 || m.GetChips()[0].GetNumbers()[0] != n || m.GetChips()[0].GetAmount() != amount || m.GetChips()[1].GetKind() != originalsv1.Chip_RED || m.Pocket != nil {
			t.Fatalf("%v became %v", r, m)
		}
	})
}

func FuzzIDs(f *testing.F) {
	for _, id := range []string{"", "a", "A_-9", "{p1}", "a\n", strings.Repeat("x", 64)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if wire.BetID(id) == nil && (len(id) < 1 || len(id) > 40 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "") {
			t.Errorf("bet id %q is taken", id)
		}
		if wire.ID("roundId", id) == nil && (len(id) < 1 || len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "") {
			t.Errorf("id %q is taken", id)
		}
	})
}

func TestBalancesAreSortedByCurrency(t *testing.T) {
	got := wire.Balances(map[money.Currency]money.Units{"USD": 0, "BTC": 1<<53 - 1, "FUN": 5, "ETH": 7})
	var text string
	for _, m := range got {
		text += fmt.Sprintf("%s %d;", m.GetCurrency(), m.GetAmount())
	}
	if text != "BTC 9007199254740991;ETH 7;FUN 5;USD 0;" {
		t.Error(text)
	}
	if none := wire.Balances(nil); len(none) != 0 {
		t.Errorf("%v of nobody", none)
	}
}

package rtp_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rtp"
)

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no fraction", text)
	}
	return r
}

// scan finds the ends among all rows, the first of each where several are equal.
func scan(g rtp.Game) (lowest, highest rtp.Row, rows int) {
	for row := range rtp.Rows(g) {
		if rows == 0 || row.RTP.Cmp(lowest.RTP) < 0 {
			lowest = row
		}
		if rows == 0 || row.RTP.Cmp(highest.RTP) > 0 {
			highest = row
		}
		rows++
	}
	return lowest, highest, rows
}

func TestKnownEnds(t *testing.T) {
	// The formulas of rng/SPEC.md worked out by hand: limbo loses (99 * 2^64 mod target) / (100 * 2^64), crash pays
	// m/100 * floor(99 * 2^52 / (m-1)) / 2^52.
	for _, want := range []struct {
		game                           rtp.Game
		rows                           int
		lowConfig, low, lowDecimal     string
		highConfig, high, highDecimal8 string
	}{
		{rtp.Dice, 9800, "w=9724", "98990320/100000000", "0.98990320", "w=1", "99/100", "0.99000000"},
		{rtp.Limbo, 999900, "target=999958", "", "0.98999999", "target=128", "99/100", "0.99000000"},
		{rtp.Roulette, 157, "STRAIGHT [0]", "36/37", "0.97297297", "STRAIGHT [0]", "36/37", "0.97297297"},
		{rtp.Mines, 300, "m=1 k=2", "98992/100000", "0.98992000", "m=1 k=3", "99/100", "0.99000000"},
		{rtp.Crash, 999900, "target=1000000", "", "0.99000098", "target=101", "", "0.99989999"},
	} {
		lowest, highest, rows := scan(want.game)
		if rows != want.rows {
			t.Errorf("%s: %d rows, want %d", want.game, rows, want.rows)
		}
		if lowest.Config != want.lowConfig || rtp.Decimal(lowest.RTP, 8) != want.lowDecimal {
			t.Errorf("%s: lowest %s %s, want %s %s", want.game, lowest.Config, rtp.Decimal(lowest.RTP, 8), want.lowConfig, want.lowDecimal)
		}
		if highest.Config != want.highConfig || rtp.Decimal(highest.RTP, 8) != want.highDecimal8 {
			t.Errorf("%s: highest %s %s, want %s %s", want.game, highest.Config, rtp.Decimal(highest.RTP, 8), want.highConfig, want.highDecimal8)
		}
		if want.low != "" && lowest.RTP.Cmp(rat(t, want.low)) != 0 {
			t.Errorf("%s: lowest %s, want %s", want.game, lowest.RTP, want.low)
		}
		if want.high != "" && highest.RTP.Cmp(rat(t, want.high)) != 0 {
			t.Errorf("%s: highest %s, want %s", want.game, highest.RTP, want.high)
		}
		low, high, ok := rtp.Ends(want.game)
		if !ok || fmt.Sprint(low) != fmt.Sprint(lowest) || fmt.Sprint(high) != fmt.Sprint(highest) {
			t.Errorf("%s: Ends gives %v and %v, the rows have %v and %v", want.game, low, high, lowest, highest)
		}
	}
}

func TestLimboGivesAwayAlmostNothing(t *testing.T) {
	lowest, _, _ := rtp.Ends(rtp.Limbo)
	lost := new(big.Rat).Sub(rat(t, "99/100"), lowest.RTP)
	if lost.Cmp(rat(t, "541/1000000000000000000")) <= 0 || lost.Cmp(rat(t, "542/1000000000000000000")) >= 0 {
		t.Errorf("the lowest return is 0.99 - %s, want 5.42e-16", lost.FloatString(20)) // rounded
	}
}

func TestPairsThatLoseTheMostInMines(t *testing.T) {
	for row := range rtp.Rows(rtp.Mines) {
		lowest := row.Config == "m=1 k=2" || row.Config == "m=2 k=1"
		if lowest != (row.RTP.Cmp(rat(t, "98992/100000")) == 0) {
			t.Errorf("%s returns %s", row.Config, row.RTP)
		}
	}
}

func TestEveryRouletteChipReturnsTheSame(t *testing.T) {
	for row := range rtp.Rows(rtp.Roulette) {
		if row.RTP.Cmp(rat(t, "36/37")) != 0 {
			t.Errorf("%s returns %s", row.Config, row.RTP)
		}
	}
}

func TestCrashIsNotAFlat99Percent(t *testing.T) {
	for row := range rtp.Rows(rtp.Crash) {
		if row.Config == "target=200" {
			if got := rtp.Decimal(row.RTP, 6); got != "0.994974" { // an edge of 0.5025 %
				t.Errorf("2.00x returns %s", got)
			}
			return
		}
	}
	t.Error("no row for 2.00x")
}

func TestReturnAtAStakeFloorsThePayout(t *testing.T) {
	// At a stake of 101 units: OVER 50.50 has w = 4949 and pays floor(101 * 2.0004) = 202.
	for row := range rtp.RowsAt(rtp.Dice, 101) {
		if row.Config == "w=4949" {
			if row.Multiplier != 20004 || row.RTP.Cmp(rat(t, "202/101")) >= 0 || row.RTP.Cmp(new(big.Rat).Mul(rat(t, "202/101"), rat(t, "4949/10000"))) != 0 {
				t.Errorf("w=4949 returns %s at %d", row.RTP, row.Multiplier)
			}
		}
	}
	for _, g := range []rtp.Game{rtp.Dice, rtp.Mines, rtp.Roulette} {
		checkAtStake(t, g, 1)
		checkAtStake(t, g, 1000)
		checkAtStake(t, g, money.MaxUnits)
	}
	for range rtp.RowsAt(rtp.Dice, 0) {
		t.Fatal("a stake of 0 has a return")
	}
}

// checkAtStake compares each row with the nominal one: the floor costs less than one unit a win.
func checkAtStake(t *testing.T, g rtp.Game, stake money.Units) {
	t.Helper()
	nominal := map[string]rtp.Row{}
	for row := range rtp.Rows(g) {
		nominal[row.Config] = row
	}
	rows := 0
	for row := range rtp.RowsAt(g, stake) {
		rows++
		cost := new(big.Rat).Sub(nominal[row.Config].RTP, row.RTP)
		bound := new(big.Rat).Mul(row.Chance, big.NewRat(1, int64(stake)))
		if cost.Sign() < 0 || cost.Cmp(bound) >= 0 {
			t.Errorf("%s %s at %d: the floor costs %s, a unit a win is %s", g, row.Config, stake, cost, bound)
		}
	}
	if rows != len(nominal) || rows == 0 {
		t.Errorf("%s at %d: %d rows, want %d", g, stake, rows, len(nominal))
	}
}

func TestStakeTooSmallIsMarked(t *testing.T) {
	accepted := map[string]bool{}
	for row := range rtp.RowsAt(rtp.Mines, 32) {
		accepted[row.Config] = row.Accepted
	}
	if accepted["m=1 k=1"] || accepted["m=1 k=24"] || !accepted["m=24 k=1"] {
		t.Error("at 32 units one mine is refused for every number of picks, and 24 mines are accepted")
	}
	for row := range rtp.Rows(rtp.Mines) {
		if !row.Accepted {
			t.Errorf("the nominal row %s is refused", row.Config)
		}
	}
}

func TestStoppingEarly(t *testing.T) {
	for _, g := range rtp.Games() {
		rows := 0
		for range rtp.Rows(g) {
			if rows++; rows == 3 {
				break
			}
		}
		if rows != 3 {
			t.Errorf("%s: %d rows before the break", g, rows)
		}
	}
	for range rtp.Rows("POKER") {
		t.Error("an unknown game has a row")
	}
	if _, _, ok := rtp.Ends("POKER"); ok {
		t.Error("an unknown game has ends")
	}
}

func TestDecimalTruncates(t *testing.T) {
	for _, c := range []struct {
		fraction string
		digits   int
		want     string
	}{
		{"99/100", 8, "0.99000000"}, {"2/3", 4, "0.6666"}, {"36/37", 8, "0.97297297"}, {"999/1000", 2, "0.99"}, {"1/1000", 2, "0.00"},
		{"1/1000", 3, "0.001"}, {"12345/10", 1, "1234.5"}, {"7/2", 0, "3"}, {"7/2", -1, "3"}, {"0", 3, "0.000"}, {"1", 2, "1.00"},
	} {
		if got := rtp.Decimal(rat(t, c.fraction), c.digits); got != c.want {
			t.Errorf("%s to %d digits: %s, want %s", c.fraction, c.digits, got, c.want)
		}
	}
}

// The edge that the README shows: 1 % * (m-100)/(m-1), and at most what a single word is worth more, for the floor of
// their count.
func TestEdgeOfCrashGrowsWithItsTarget(t *testing.T) {
	seen := 0
	for row := range rtp.Rows(rtp.Crash) {
		target := int64(row.Multiplier) / 100
		if target > 10_000 { // the count of every target is compared in internal/game/crash
			break
		}
		seen++
		edge := new(big.Rat).Sub(big.NewRat(1, 1), row.RTP)
		more := new(big.Rat).Sub(edge, new(big.Rat).Mul(big.NewRat(1, 100), big.NewRat(target-100, target-1)))
		if more.Sign() < 0 || more.Cmp(big.NewRat(target, 100<<52)) >= 0 {
			t.Errorf("%s: an edge of %s", row.Config, edge.FloatString(20))
		}
	}
	if seen != 9900 {
		t.Errorf("%d rows", seen)
	}
}

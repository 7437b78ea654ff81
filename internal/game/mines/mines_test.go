package mines_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"pgregory.net/rapid"
)

// exact is floor(9900 * C(25,k) / C(25-m,k)) in big integers.
func exact(m, k int64) *big.Int {
	numerator := new(big.Int).Mul(big.NewInt(9900), new(big.Int).Binomial(25, k))
	return numerator.Quo(numerator, new(big.Int).Binomial(25-m, k))
}

func TestMinesMultiplierInFloatsMissesExactCents(t *testing.T) {
	rows, largest := 0, money.Multiplier(0)
	for m := uint8(1); m <= 24; m++ {
		for k := uint8(1); k <= 25-m; k++ {
			rows++
			got := mines.Multiplier(m, k)
			if exact(int64(m), int64(k)).Cmp(big.NewInt(int64(got))) != 0 {
				t.Errorf("m=%d k=%d: %d, want %s", m, k, got, exact(int64(m), int64(k)))
			}
			largest = max(largest, got)
		}
	}
	if rows != 300 || largest != 51482970000 {
		t.Errorf("%d rows up to %d, want 300 up to 51482970000", rows, largest)
	}
}

func TestNoMultiplierOutsideTheTable(t *testing.T) {
	for m := range 256 {
		for k := range 256 {
			inside := m >= 1 && m <= 24 && k >= 1 && k <= 25-m
			if got := mines.Multiplier(uint8(m), uint8(k)); (got != 0) != inside {
				t.Fatalf("m=%d k=%d: %d", m, k, got)
			}
		}
	}
}

func TestEveryPickRaisesTheMultiplier(t *testing.T) {
	for m := uint8(1); m <= 24; m++ {
		last := money.One
		for k := uint8(1); k <= 25-m; k++ {
			next := mines.Multiplier(m, k)
			if next <= last {
				t.Errorf("m=%d k=%d: %d after %d", m, k, next, last)
			}
			last = next
		}
	}
}

func TestMaxPicksIsTheLastWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint8Range(1, 24).Draw(t, "m")
		stake := rapid.Int64Range(1, 1<<53-1).Draw(t, "stake")
		limit := rapid.Int64Range(0, 1<<54).Draw(t, "limit")
		want := uint8(0)
		for k := int64(1); k <= 25-int64(m); k++ {
			payout := new(big.Int).Mul(big.NewInt(stake), exact(int64(m), k))
			payout.Quo(payout, big.NewInt(10000))
			if payout.Cmp(big.NewInt(min(limit, 1<<53-1))) <= 0 {
				want = uint8(k)
			}
		}
		if got := mines.MaxPicks(m, money.Units(stake), money.Units(limit)); got != want {
			t.Fatalf("%d picks, want %d", got, want)
		}
	})
	if got := mines.MaxPicks(1, 100, money.MaxUnits); got != 24 {
		t.Errorf("one mine without a limit: %d picks, want 24", got)
	}
	if got := mines.MaxPicks(24, 100, 2474); got != 0 { // one pick pays 24.75 times the stake
		t.Errorf("a limit below the first pick: %d picks, want 0", got)
	}
	if got := mines.MaxPicks(24, 100, 2475); got != 1 {
		t.Errorf("a limit at the first pick: %d picks, want 1", got)
	}
	for _, m := range []uint8{0, 25, 255} {
		if got := mines.MaxPicks(m, 100, money.MaxUnits); got != 0 {
			t.Errorf("%d mines: %d picks", m, got)
		}
	}
}

func TestStakeTooSmall(t *testing.T) {
	if mines.CanWin(1, 32) || !mines.CanWin(1, 33) { // 1.0312: 32.9984 and 34.0296
		t.Error("the smallest stake with one mine is not 33")
	}
	if !mines.CanWin(24, 1) || mines.CanWin(0, 100) || mines.CanWin(25, 100) {
		t.Error("24 mines pay one unit, 0 and 25 mines pay nothing")
	}
}

func TestBadParametersNameTheirField(t *testing.T) {
	for count := range uint32(1000) {
		err := mines.ValidateMineCount(count)
		checkField(t, err, "mineCount", count >= 1 && count <= 24)
	}
	for tile := range uint32(1000) {
		checkField(t, mines.ValidateTile(tile), "tile", tile <= 24)
	}
	checkField(t, mines.ValidateMineCount(256+3), "mineCount", false)
	checkField(t, mines.ValidateTile(1<<32-1), "tile", false)
}

func checkField(t *testing.T, err error, name string, valid bool) {
	t.Helper()
	var field *game.FieldError
	if valid != (err == nil) || err != nil && (!errors.As(err, &field) || field.Field != name) {
		t.Errorf("%s: %v", name, err)
	}
}

func TestBoardIsAPartialShuffleThatKeepsTheOrder(t *testing.T) {
	seed := mustSeed(t)
	for nonce := range uint32(2000) {
		count := uint8(nonce%24) + 1
		stream := mustStream(t, seed, nonce)
		again := stream
		var space [mines.MaxMines]uint8
		board := mines.Board(&stream, count, &space)

		var want []uint8
		for i := range count { // the k-th tile, counted over those that are no mine yet
			k := again.Uniform(25 - uint64(i))
			for tile := uint8(0); ; tile++ {
				if slices.Contains(want, tile) {
					continue
				}
				if k == 0 {
					want = append(want, tile)
					break
				}
				k--
			}
		}
		if !slices.Equal(board, want) || stream.Word32() != again.Word32() {
			t.Fatalf("nonce %d, %d mines: %v, want %v", nonce, count, board, want)
		}
	}
}

func TestWorkedExampleBoard(t *testing.T) {
	signature, err := rng.ParseSignature("6f3c054cd6b00951e8b542069c29f73c26cf261a47f4156acf95538d9e16377d")
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	var space [mines.MaxMines]uint8
	if got, want := mines.Board(&stream, 5, &space), []uint8{0, 9, 16, 20, 15}; !slices.Equal(got, want) { // SPEC.md
		t.Errorf("board %v, want %v", got, want)
	}
}

// With fewer mines the board is the beginning of the one with more: the picks cannot change it, nor can the mine count.
func TestFewerMinesAreTheFirstOfMore(t *testing.T) {
	seed := mustSeed(t)
	for nonce := range uint32(50) {
		var full, part [mines.MaxMines]uint8
		stream := mustStream(t, seed, nonce)
		mines.Board(&stream, 24, &full)
		for count := uint8(1); count <= 24; count++ {
			stream := mustStream(t, seed, nonce)
			if board := mines.Board(&stream, count, &part); !slices.Equal(board, full[:count]) {
				t.Fatalf("%d mines: %v, want %v", count, board, full[:count])
			}
		}
	}
}

// Over a fixed server seed the counts never change, so this does not fail by chance.
func TestEveryPairOfTilesIsEquallyLikely(t *testing.T) {
	const boards = 120_000
	seed := mustSeed(t)
	var counts [25][25]int
	for nonce := range uint32(boards) {
		stream := mustStream(t, seed, nonce)
		var space [mines.MaxMines]uint8
		board := mines.Board(&stream, 2, &space)
		counts[board[0]][board[1]]++
	}
	chi2 := 0 // in thousandths
	for a := range counts {
		for b, n := range counts[a] {
			if a == b {
				if n != 0 {
					t.Fatalf("tile %d is a mine twice", a)
				}
				continue
			}
			chi2 += (n - boards/600) * (n - boards/600) * 1000 / (boards / 600)
		}
	}
	if chi2 < 450_000 || chi2 > 760_000 { // 599 degrees of freedom, 4.4 standard deviations on each side
		t.Errorf("chi-squared is %d thousandths", chi2)
	}
}

func mustSeed(t testing.TB) rng.ServerSeed {
	t.Helper()
	seed, err := rng.ParseServerSeed("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

func mustStream(t testing.TB, seed rng.ServerSeed, nonce uint32) rng.Stream {
	signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
	if err != nil {
		t.Fatal(err)
	}
	return rng.NewStream(signature)
}

func TestDrawingABoardDoesNotAllocate(t *testing.T) {
	seed := mustSeed(t)
	var space [mines.MaxMines]uint8
	allocations := testing.AllocsPerRun(1000, func() {
		stream := mustStream(t, seed, 1)
		mines.Board(&stream, mines.MaxMines, &space)
	})
	if allocations != 0 {
		t.Errorf("%v allocations a board", allocations)
	}
}

// BenchmarkMines draws a board from the server seed on, with few mines and with the most.
func BenchmarkMines(b *testing.B) {
	seed := mustSeed(b)
	for name, count := range map[string]uint8{"3": 3, "24": 24} {
		b.Run(name, func(b *testing.B) {
			var space [mines.MaxMines]uint8
			b.ReportAllocs()
			for nonce := uint32(0); b.Loop(); nonce++ {
				signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
				if err != nil {
					b.Fatal(err)
				}
				stream := rng.NewStream(signature)
				mines.Board(&stream, count, &space)
			}
		})
	}
}

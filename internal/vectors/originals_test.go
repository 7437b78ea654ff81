package vectors_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/vectors"
)

// document is originals-v1.json.
type document struct {
	Scheme     string
	Source     string
	Rows       []row
	LimboWords []struct {
		V         uint64 `json:",string"`
		OutcomeE2 uint32
	}
}

type row struct {
	ID           string
	Flags        []string
	ServerSeed   string
	ClientSeed   string
	Nonce        json.Number
	Commitment   string
	Signature    string
	Game         string
	Stake        int64 `json:",string"`
	MultiplierE4 int64 `json:",string"`
	Payout       int64 `json:",string"`
	Dice         *struct {
		Target    uint32
		Direction string
		Roll      uint32
		Win       bool
	}
	Limbo *struct {
		TargetE2  uint32
		OutcomeE2 uint32
		Win       bool
	}
	Roulette *struct {
		Chips []struct {
			Kind    string
			Numbers []int
			Amount  int64 `json:",string"`
		}
		Pocket uint8
	}
	Mines *struct {
		MineCount uint8
		Picks     []int
		Mines     []int
		HitMine   bool
	}
}

func load(t testing.TB, name string, into any, strict bool) {
	t.Helper()
	text, err := vectors.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// stream checks commitment and signature of a row and starts its stream.
func stream(t *testing.T, r row) rng.Stream {
	t.Helper()
	seed, err := rng.ParseServerSeed(r.ServerSeed)
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	client, err := rng.ParseClientSeed(r.ClientSeed)
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	nonce, err := rng.ParseNonce(r.Nonce.String())
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	if commitment, err := seed.Commitment(); err != nil || commitment.String() != r.Commitment {
		t.Errorf("%s: commitment %s, %v; want %s", r.ID, commitment, err, r.Commitment)
	}
	signature, err := seed.Sign(client, nonce)
	if err != nil || signature.Reveal() != r.Signature {
		t.Fatalf("%s: signature %s, %v; want %s", r.ID, signature.Reveal(), err, r.Signature)
	}
	return rng.NewStream(signature)
}

// paid checks multiplier and payout of a round that won at this multiplier, or lost.
func paid(t *testing.T, r row, win bool, multiplier money.Multiplier) {
	t.Helper()
	if !win {
		multiplier = 0
	}
	payout, err := money.Payout(money.Units(r.Stake), multiplier)
	if err != nil || int64(multiplier) != r.MultiplierE4 || int64(payout) != r.Payout {
		t.Errorf("%s: pays %d at %d, %v; want %d at %d", r.ID, payout, multiplier, err, r.Payout, r.MultiplierE4)
	}
}

func TestVerifierAndEngineAreTwoImplementations(t *testing.T) {
	var doc document
	load(t, "originals-v1.json", &doc, true)
	if doc.Scheme != rng.Scheme {
		t.Fatalf("scheme %q", doc.Scheme)
	}
	games, flags, ids := map[string]int{}, map[string]int{}, map[string]bool{}
	play := map[string]func(*testing.T, row){"dice": playDice, "limbo": playLimbo, "roulette": playRoulette, "mines": playMines}
	for _, r := range doc.Rows {
		if play[r.Game] == nil || ids[r.ID] {
			t.Fatalf("%s: unknown game %q, or an id that comes twice", r.ID, r.Game)
		}
		play[r.Game](t, r)
		games[r.Game]++
		ids[r.ID] = true
		for _, flag := range r.Flags {
			flags[flag]++
		}
	}
	if len(doc.Rows) < 400 {
		t.Errorf("%d rows, want 400 at least", len(doc.Rows))
	}
	for game := range play {
		if games[game] < 50 {
			t.Errorf("%d rows of %s, want 50 at least", games[game], game)
		}
	}
	for _, flag := range []string{
		"rejected-word", "last-tile", "nonce-0", "nonce-max", "client-seed-1-byte", "client-seed-64-bytes", "client-seed-60-bytes",
		"client-seed-with-colons", "extreme-target", "limbo-clamped-low", "limbo-high", "zero-pocket", "multi-chip",
	} {
		if flags[flag] < 3 {
			t.Errorf("%d rows flagged %s, want 3 at least", flags[flag], flag)
		}
	}
}

func playDice(t *testing.T, r row) {
	bet := dice.Bet{Target: r.Dice.Target, Direction: map[string]dice.Direction{"OVER": dice.Over, "UNDER": dice.Under}[r.Dice.Direction]}
	if err := bet.Validate(); err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	s := stream(t, r)
	if got, want := bet.Play(&s), (dice.Outcome{Roll: r.Dice.Roll, Win: r.Dice.Win}); got != want {
		t.Errorf("%s: %+v, want %+v", r.ID, got, want)
	}
	paid(t, r, r.Dice.Win, bet.Multiplier())
}

func playLimbo(t *testing.T, r row) {
	bet := limbo.Bet{TargetE2: r.Limbo.TargetE2}
	if err := bet.Validate(); err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	s := stream(t, r)
	if got, want := bet.Play(&s), (limbo.Outcome{OutcomeE2: r.Limbo.OutcomeE2, Win: r.Limbo.Win}); got != want {
		t.Errorf("%s: %+v, want %+v", r.ID, got, want)
	}
	paid(t, r, r.Limbo.Win, bet.Multiplier())
}

func playRoulette(t *testing.T, r row) {
	var bet roulette.Bet
	for _, c := range r.Roulette.Chips {
		kind, ok := roulette.ParseKind(c.Kind)
		if !ok {
			t.Fatalf("%s: no kind %q", r.ID, c.Kind)
		}
		chip := roulette.Chip{Kind: kind, Amount: money.Units(c.Amount)}
		for _, n := range c.Numbers {
			chip.Numbers = append(chip.Numbers, uint8(n))
		}
		bet.Chips = append(bet.Chips, chip)
	}
	if err := bet.Validate(); err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	s := stream(t, r)
	pocket := roulette.Pocket(&s)
	payout, stake := bet.Payout(pocket), bet.Stake()
	if pocket != r.Roulette.Pocket || int64(payout) != r.Payout || int64(stake) != r.Stake {
		t.Errorf("%s: pocket %d pays %d for %d, want %d pays %d for %d", r.ID, pocket, payout, stake, r.Roulette.Pocket, r.Payout, r.Stake)
	}
	if got := roulette.Multiplier(payout, stake); int64(got) != r.MultiplierE4 {
		t.Errorf("%s: multiplier %d, want %d", r.ID, got, r.MultiplierE4)
	}
}

func playMines(t *testing.T, r row) {
	s := stream(t, r)
	board := drawBoard(&s, r.Mines.MineCount)
	if !slices.Equal(board, r.Mines.Mines) {
		t.Errorf("%s: mines %v, want %v", r.ID, board, r.Mines.Mines)
	}
	hit := slices.ContainsFunc(r.Mines.Picks, func(tile int) bool { return slices.Contains(board, tile) })
	if hit != r.Mines.HitMine {
		t.Errorf("%s: hit %v, want %v", r.ID, hit, r.Mines.HitMine)
	}
	paid(t, r, !hit, mines.Multiplier(r.Mines.MineCount, uint8(len(r.Mines.Picks))))
}

// drawBoard returns the mines as JSON gives them.
func drawBoard(s *rng.Stream, mineCount uint8) (board []int) {
	var space [mines.MaxMines]uint8
	for _, tile := range mines.Board(s, mineCount, &space) {
		board = append(board, int(tile))
	}
	return board
}

func TestLimboWords(t *testing.T) {
	var doc document
	load(t, "originals-v1.json", &doc, true)
	if len(doc.LimboWords) < 12 {
		t.Fatalf("%d words, want 12 at least", len(doc.LimboWords))
	}
	for _, word := range doc.LimboWords {
		if got := limbo.Map(word.V); got != word.OutcomeE2 {
			t.Errorf("word %s: %d, want %d", strconv.FormatUint(word.V, 10), got, word.OutcomeE2)
		}
	}
}

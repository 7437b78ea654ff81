package evidence_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// row is one row of the vectors that the JavaScript verifier makes.
type row struct {
	ID, ServerSeed, ClientSeed, Commitment, Signature, Game, MultiplierE4, Payout string
	Nonce                                                                         uint32
	Stake                                                                         money.Units `json:",string"`

	Dice struct {
		Target, Roll uint32
		Direction    string
		Win          bool
	}
	Limbo struct {
		TargetE2, OutcomeE2 uint32
		Win                 bool
	}
	Roulette struct {
		Chips  json.RawMessage
		Pocket uint8
	}
	Mines struct {
		MineCount    uint8
		Picks, Mines []int
		HitMine      bool
	}
}

func loadRows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../vectors/originals-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []row }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) < 400 {
		t.Fatalf("%d rows of vectors, fewer than were made", len(file.Rows))
	}
	return file.Rows
}

// claim returns the round of a row with all that the row states.
func (r row) claim(t *testing.T) evidence.Claim {
	t.Helper()
	serverSeed, err := rng.ParseServerSeed(r.ServerSeed)
	if err != nil {
		t.Fatal(r.ID, err)
	}
	commitment, err := rng.ParseCommitment(r.Commitment)
	if err != nil {
		t.Fatal(r.ID, err)
	}
	c := evidence.Claim{ServerSeed: serverSeed, ClientSeed: rng.ClientSeed(r.ClientSeed), Nonce: r.Nonce, Commitment: &commitment, Stake: r.Stake}
	c.Stated = map[string]string{"multiplierE4": r.MultiplierE4, "payout": r.Payout}
	state := func(name string, value any) { c.Stated[name] = fmt.Sprint(value) }
	switch r.Game {
	case "dice":
		c.Bet = bet.Bet{Game: bet.Dice, Dice: dice.Bet{Target: r.Dice.Target, Direction: dice.Under}}
		if r.Dice.Direction == "OVER" {
			c.Bet.Dice.Direction = dice.Over
		}
		state("roll", r.Dice.Roll)
		state("win", r.Dice.Win)
	case "limbo":
		c.Bet = bet.Bet{Game: bet.Limbo, Limbo: limbo.Bet{TargetE2: r.Limbo.TargetE2}}
		state("outcomeE2", r.Limbo.OutcomeE2)
		state("win", r.Limbo.Win)
	case "roulette":
		chips, err := evidence.ParseChips(string(r.Roulette.Chips))
		if err != nil {
			t.Fatal(r.ID, err)
		}
		c.Bet = bet.Bet{Game: bet.Roulette, Roulette: chips}
		state("pocket", r.Roulette.Pocket)
	case "mines":
		c.Bet = bet.Bet{Game: bet.Mines, MineCount: r.Mines.MineCount}
		for _, tile := range r.Mines.Picks {
			c.Picks = append(c.Picks, uint8(tile))
		}
		state("mines", strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Mines.Mines), " ", ","), "[]"))
		state("hitMine", r.Mines.HitMine)
	default:
		t.Fatalf("%s: the game %q", r.ID, r.Game)
	}
	return c
}

// TestRowsOfTheOtherVerifiers: each row of the vectors is verified, and no stated value can be changed unseen.
func TestRowsOfTheOtherVerifiers(t *testing.T) {
	checkOf := map[string]string{
		"roll": "outcome", "outcomeE2": "outcome", "pocket": "outcome", "mines": "outcome",
		"win": "win", "hitMine": "win", "multiplierE4": "multiplier", "payout": "payout",
	}
	for _, r := range loadRows(t) {
		c := r.claim(t)
		result, err := evidence.VerifyRound(c)
		if err != nil || result.Report.Verdict != evidence.Verified || result.Signature != r.Signature {
			t.Fatalf("%s: %+v %v", r.ID, result, err)
		}
		for name, right := range c.Stated {
			c.Stated[name] = right + "0"
			changed, err := evidence.VerifyRound(c)
			if err != nil || changed.Report.Verdict != evidence.Failed || changed.Report.FirstFailed != checkOf[name] {
				t.Fatalf("%s with another %s: %s (%s) %v", r.ID, name, changed.Report.Verdict, changed.Report.FirstFailed, err)
			}
			c.Stated[name] = right
		}
	}
}

func firstRow(t *testing.T, game string) row {
	t.Helper()
	for _, r := range loadRows(t) {
		if r.Game == game && r.Nonce > 0 && len(r.ClientSeed) >= 16 {
			return r
		}
	}
	t.Fatal("no row of", game)
	return row{}
}

func failure(t *testing.T, c evidence.Claim) string {
	t.Helper()
	result, err := evidence.VerifyRound(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range result.Report.Checks {
		if !check.Passed {
			return check.Name + ": " + check.Failures[0].Words
		}
	}
	return ""
}

// TestUsualMistakesAreNamed: a player who made one reads which.
func TestUsualMistakesAreNamed(t *testing.T) {
	r := firstRow(t, "dice")
	want := func(name, got, words string) {
		t.Helper()
		if !strings.Contains(got, words) {
			t.Errorf("%s: %q, want %q in it", name, got, words)
		}
	}

	c := r.claim(t)
	for _, nonce := range []uint32{r.Nonce - 1, r.Nonce + 1} {
		c.Nonce = nonce
		want("nonce off by one", failure(t, c), fmt.Sprintf("nonce %d would give it", r.Nonce))
	}

	c = r.claim(t)
	var err error
	if c.ServerSeed, err = rng.ParseServerSeed(r.Commitment); err != nil {
		t.Fatal(err)
	}
	want("hash pasted for a server seed", failure(t, c), "a hash was pasted in place of the server seed")

	c = r.claim(t)
	if c.ServerSeed, err = rng.ParseServerSeed(strings.Repeat("ab", 32)); err != nil {
		t.Fatal(err)
	}
	c.ClientSeed = rng.ClientSeed(r.ServerSeed)
	want("seeds swapped", failure(t, c), "client seed and server seed are swapped")

	c = firstRow(t, "mines").claim(t)
	c.Bet.MineCount, c.Picks = 3, nil
	result, err := evidence.VerifyRound(c)
	if err != nil {
		t.Fatal(err)
	}
	tiles := strings.Split(result.Values[0].Text, ",")
	tiles[0], tiles[1] = tiles[1], tiles[0]
	c.Stated["mines"] = strings.Join(tiles, ",")
	want("mines sorted", failure(t, c), "the same tiles in another order")

	upper := strings.ToUpper(r.ServerSeed)
	for name, text := range map[string]string{
		"upper-case digits hash to something else": upper,
		"there is stray white space around it":     r.ServerSeed + "\n",
		"leave the 0x out":                         "0x" + r.ServerSeed,
		"it has 63 characters":                     r.ServerSeed[1:],
		"not all of it is hex digits":              "g" + r.ServerSeed[1:],
		"it is empty":                              "",
	} {
		want(name, evidence.ExplainServerSeed(text, r.ClientSeed, ""), name)
		want(name, evidence.HexMistake(text), name)
	}
	want("upper case", evidence.ExplainServerSeed(upper, r.ClientSeed, r.Commitment), "written as "+r.ServerSeed+" it hashes to the commitment")
	want("hash in upper case", evidence.ExplainServerSeed(strings.ToUpper(r.Commitment), r.ClientSeed, r.Commitment), "a hash was pasted")
	want("swapped", evidence.ExplainServerSeed(r.ClientSeed, r.ServerSeed, r.Commitment), "are swapped")
	want("client seed with a space", evidence.ExplainClientSeed("abc "), "stray white space")
	want("client seed too long", evidence.ExplainClientSeed(strings.Repeat("a", 65)), "65 bytes")
	if words := evidence.ExplainServerSeed(r.ServerSeed, r.ClientSeed, r.Commitment) + evidence.ExplainClientSeed(r.ClientSeed); words != "" {
		t.Errorf("nothing is wrong, and it says %q", words)
	}
}

// TestWeakClientSeed: 15 bytes are noted, 16 are not.
func TestWeakClientSeed(t *testing.T) {
	c := firstRow(t, "dice").claim(t)
	c.Stated = nil
	for length, weak := range map[int]bool{1: true, 15: true, 16: false, 64: false} {
		c.ClientSeed = rng.ClientSeed(strings.Repeat("k", length))
		result, err := evidence.VerifyRound(c)
		if err != nil || result.Report.Weak != weak {
			t.Errorf("%d bytes: weak %t, %v", length, result.Report.Weak, err)
		}
	}
}

// TestUnknownStatedValue: a misspelt name must not pass for a value that agrees.
func TestUnknownStatedValue(t *testing.T) {
	c := firstRow(t, "limbo").claim(t)
	for _, name := range []string{"roll", "Win", "outcomeE2 ", ""} {
		c.Stated = map[string]string{name: "1"}
		if _, err := evidence.VerifyRound(c); !errors.Is(err, evidence.ErrStated) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

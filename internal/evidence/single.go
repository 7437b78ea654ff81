package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// Claim is one round as its player has it. Seeds, nonce and bet must be valid.
type Claim struct {
	ServerSeed rng.ServerSeed
	ClientSeed rng.ClientSeed
	Nonce      uint32
	Commitment *rng.Commitment // nil when it was not kept
	Bet        bet.Bet
	Picks      []uint8     // mines
	Stake      money.Units // 0 when it is not known; of roulette the sum of the chips
	// Stated is what the player was shown, by name: roll, win, outcomeE2, pocket, mines, hitMine, multiplierE4, payout;
	// mines in draw order with commas. It may be empty.
	Stated map[string]string
}

// Value is one part of an outcome, as text.
type Value struct{ Name, Text string }

// Result is what the seeds give to a claim.
type Result struct {
	Commitment rng.Commitment
	Signature  string  // of this round
	Values     []Value // outcome, multiplierE4 and, where the stake is known, payout
	Report     Report
}

// ErrStated says that a stated value has a name that the game does not know.
var ErrStated = errors.New("evidence: the game has no such value")

// checkOf names the check that a stated value belongs to.
var checkOf = map[string]checkID{
	"roll": checkOutcome, "outcomeE2": checkOutcome, "pocket": checkOutcome, "mines": checkOutcome, "crashE2": checkOutcome,
	"win": checkWin, "hitMine": checkWin, "multiplierE4": checkMultiplier, "payout": checkPayout,
}

// CheckOf returns the name of the check that a stated value belongs to, "" for a name that no game has.
func CheckOf(value string) string {
	id, ok := checkOf[value]
	if !ok {
		return ""
	}
	return checks[id].name
}

// singleChecks are those that a single round can pass or fail.
var singleChecks = []checkID{checkCommitment, checkOutcome, checkWin, checkMultiplier, checkPayout}

// VerifyRound derives a single round and compares all that the claim states. Errors: bet.ErrPicks, ErrStated,
// money.ErrOverflow.
func VerifyRound(c Claim) (Result, error) {
	commitment, err := c.ServerSeed.Commitment()
	if err != nil {
		return Result{}, err
	}
	signature, err := c.ServerSeed.Sign(c.ClientSeed, c.Nonce)
	if err != nil {
		return Result{}, err
	}
	values, err := c.values(c.Nonce)
	if err != nil {
		return Result{}, err
	}
	var f findings
	if c.Commitment != nil && *c.Commitment != commitment {
		m, hint := commitmentMistake(c.ServerSeed.Reveal(), string(c.ClientSeed), c.Commitment.String())
		if m == "" {
			m, hint = mistake.OtherSeedPair, "; the server seed of another seed pair"
		}
		f.fail(checkCommitment, noNonce, "the server seed hashes to %s, and the commitment is %s%s", commitment, c.Commitment, hint)
		f.name(checkCommitment, m)
	}
	if err := c.compare(&f, values); err != nil {
		return Result{}, err
	}
	report := f.report(c.Commitment != nil)
	report.Checks = pick(report.Checks)
	if words := weakness([]byte(c.ClientSeed)); words != "" {
		report.Weak = true
		report.Notes = append(report.Notes, words)
	}
	if c.Commitment == nil {
		report.Notes = append(report.Notes, "give the commitment that you were shown before you played; without it anybody could have made up this server seed")
	}
	report.Summary = Summary{Rounds: 1, Games: map[string]uint64{c.Bet.Game.String(): 1}, Staked: []Sum{}, Paid: []Sum{}}
	return Result{commitment, signature.Reveal(), values, report}, nil
}

// NameOutcome names the mistake behind outcomes that do not hold, where none is named yet.
func (r *Report) NameOutcome(m mistake.Mistake) {
	for i := range r.Checks {
		if r.Checks[i].Name != checks[checkOutcome].name {
			continue
		}
		for k := range r.Checks[i].Failures {
			if f := &r.Checks[i].Failures[k]; f.Mistake == "" {
				f.Mistake = m
			}
		}
	}
}

func pick(all []Check) (some []Check) {
	for _, c := range singleChecks {
		some = append(some, all[c])
	}
	return some
}

// values derives the round at a nonce.
func (c Claim) values(nonce uint32) ([]Value, error) {
	signature, err := c.ServerSeed.Sign(c.ClientSeed, nonce)
	if err != nil {
		return nil, err
	}
	o, err := c.Bet.Outcome(signature, c.Stake, c.Picks)
	if err != nil {
		return nil, err
	}
	var values []Value
	add := func(name string, value any) { values = append(values, Value{name, fmt.Sprint(value)}) }
	switch c.Bet.Game {
	case bet.Dice:
		add("roll", o.Dice.Roll)
		add("win", o.Dice.Win)
	case bet.Limbo:
		add("outcomeE2", o.Limbo.OutcomeE2)
		add("win", o.Limbo.Win)
	case bet.Roulette:
		add("pocket", o.Pocket)
	case bet.Mines:
		add("mines", tileList(o.Mines))
		add("hitMine", o.HitMine)
	}
	if c.Bet.Game == bet.Roulette && c.Stake == 0 { // a pocket alone pays nothing
		return values, nil
	}
	add("multiplierE4", int64(o.Multiplier))
	if c.Stake > 0 {
		add("payout", int64(o.Payout))
	}
	return values, nil
}

func tileList(tiles []uint8) string {
	var texts []string
	for _, tile := range tiles {
		texts = append(texts, fmt.Sprint(tile))
	}
	return strings.Join(texts, ",")
}

// compare checks each stated value.
func (c Claim) compare(f *findings, values []Value) error {
	return f.compare(int64(c.Nonce), c.Stated, values, c.hint)
}

// compare checks each stated value, in the order of the names. hint explains an outcome that does not hold, which has
// this place among the values.
func (f *findings) compare(nonce int64, stated map[string]string, values []Value, hint func(at int, stated, right string) (mistake.Mistake, string)) error {
	names := make([]string, 0, len(stated))
	for name := range stated {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := slices.IndexFunc(values, func(v Value) bool { return v.Name == name })
		if at < 0 {
			return fmt.Errorf("%w: %q; known here: %s", ErrStated, name, valueNames(values))
		}
		claimed, right := stated[name], values[at].Text
		if claimed == right {
			continue
		}
		var m mistake.Mistake
		words := ""
		if checkOf[name] == checkOutcome {
			m, words = hint(at, claimed, right)
		}
		f.fail(checkOf[name], nonce, "%s is stated as %q, and the seeds give %s%s", name, claimed, right, words)
		f.name(checkOf[name], m)
	}
	return nil
}

func valueNames(values []Value) string {
	var names []string
	for _, v := range values {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// hint tries the usual mistakes that would explain a stated outcome.
func (c Claim) hint(at int, stated, right string) (m mistake.Mistake, words string) {
	if stated != right && sameTiles(stated, right) {
		return mistake.TileOrder, " (the same tiles in another order: mines are listed as they were drawn)"
	}
	c.Picks = nil // at another nonce they may be impossible
	if words := offByOne(c.Nonce, func(nonce uint32) bool { return c.gives(nonce, at, stated) }); words != "" {
		return mistake.NonceOffByOne, words
	}
	swapped, err := rng.ParseServerSeed(string(c.ClientSeed))
	if err != nil {
		return "", ""
	}
	c.ServerSeed, c.ClientSeed = swapped, rng.ClientSeed(c.ServerSeed.Reveal())
	if c.gives(c.Nonce, at, stated) {
		return mistake.SeedsSwapped, " (client seed and server seed are swapped)"
	}
	return "", ""
}

func (c Claim) gives(nonce uint32, at int, stated string) bool {
	values, err := c.values(nonce)
	return err == nil && values[at].Text == stated
}

func sameTiles(a, b string) bool {
	sorted := func(list string) []string {
		tiles := strings.Split(list, ",")
		slices.SortFunc(tiles, cmp.Compare[string])
		return tiles
	}
	return strings.Contains(a, ",") && slices.Equal(sorted(a), sorted(b))
}

// ParseChips reads a JSON list of chips as the API and the evidence write it, and returns the bet. The error is a
// *FormatError or the bet's *game.FieldError.
func ParseChips(text string) (roulette.Bet, error) {
	d := newDecoder(nil)
	d.text = []byte(text)
	chips := d.readChips()
	if d.space(); d.err == nil && d.at < len(d.text) {
		d.fail("something stands after the list of chips")
	}
	if d.err != nil {
		return roulette.Bet{}, d.err
	}
	b := roulette.Bet{Chips: chips}
	return b, b.Validate()
}

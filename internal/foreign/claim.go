package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/mistake"
)

// Claim is one bet as its player has it.
type Claim struct {
	Scheme     *Scheme
	Input      Input
	Commitment string  // that was shown before the bet; empty when it was not kept
	Stated     []Given // what was shown as the outcome, by the names of Scheme.Outcomes
}

// Verdict ranks what a judgement proves.
type Verdict string

// The verdicts. Without the commitment anybody could have made up a server seed that fits.
const (
	Verified   Verdict = "VERIFIED"
	Consistent Verdict = "CONSISTENT, COMMITMENT NOT CONFIRMED"
	Failed     Verdict = "FAILED"
)

// Failure is one thing that does not hold.
type Failure struct {
	Check   string // commitment or outcome
	Words   string
	Mistake mistake.Mistake // that explains it; may be empty
}

// Judgement is what became of a claim. It can be used again for the next, which overwrites it.
type Judgement struct {
	Commitment string // that the server seed hashes to; empty for rounds of a chain
	Outcome    Outcome
	Failures   []Failure
	Notes      []string
	confirmed  bool
}

// Verdict returns FAILED when anything does not hold, and VERIFIED when the commitment was given and holds.
func (j *Judgement) Verdict() Verdict {
	switch {
	case len(j.Failures) > 0:
		return Failed
	case j.confirmed:
		return Verified
	default:
		return Consistent
	}
}

// Judge derives a bet and compares all that is stated; explain names the usual mistake behind a difference, which takes
// some dozens of derivations. The error is a *game.FieldError.
func (d *Deriver) Judge(c *Claim, j *Judgement, explain bool) error {
	j.Failures, j.Notes, j.confirmed = j.Failures[:0], j.Notes[:0], false
	if err := d.Derive(c.Scheme, &c.Input, &j.Outcome); err != nil {
		return err
	}
	j.Notes = append(j.Notes, j.Outcome.Notes...)
	if err := d.judgeCommitment(c, j, explain); err != nil {
		return err
	}
	for i := range c.Stated {
		stated := &c.Stated[i]
		if right := j.Outcome.value(stated.Name); right != nil && right.Is(stated.Text) {
			continue
		}
		if err := c.judgeOutcome(j, *stated, explain); err != nil {
			return err
		}
	}
	return nil
}

// judgeOutcome compares a stated value that is not, to the letter, what the seeds give.
func (c *Claim) judgeOutcome(j *Judgement, stated Given, explain bool) error {
	right, ok := lookUp(&j.Outcome, stated.Name)
	if !ok {
		return c.unknownValue(stated.Name, &j.Outcome)
	}
	agrees, note := agree(&j.Outcome, right, stated)
	if note != "" {
		j.Notes = append(j.Notes, note)
	}
	if agrees {
		return nil
	}
	words := stated.Name + " is stated as " + strconv.Quote(stated.Text) + ", and the seeds give " + right.shownAs(stated.Name)
	var m mistake.Mistake
	if explain {
		var hint string
		m, hint = c.explain(right, stated)
		words += hint
	}
	j.Failures = append(j.Failures, Failure{"outcome", words, m})
	return nil
}

func (d *Deriver) judgeCommitment(c *Claim, j *Judgement, explain bool) error {
	j.Commitment = d.commitmentOf(c.Scheme, c.Input.ServerSeed)
	if c.Commitment == "" {
		return nil
	}
	if j.confirmed = c.Commitment == j.Commitment; j.confirmed {
		return nil
	}
	if j.Commitment == "" {
		return refuse("commitment", "%s shows none for a single round: walk its chain to the terminal hash", c.Scheme.House)
	}
	if problem := hexProblem(c.Commitment, 64); problem != "" {
		return refuse("commitment", "%s", problem)
	}
	words := "the server seed hashes to " + j.Commitment + ", and the commitment is " + c.Commitment
	var m mistake.Mistake
	if explain {
		var hint string
		m, hint = c.explainCommitment()
		words += hint
	}
	j.Failures = append(j.Failures, Failure{"commitment", words, m})
	return nil
}

// commitmentOf keeps the last commitment, as Deriver keeps the last key.
func (d *Deriver) commitmentOf(s *Scheme, serverSeed string) string {
	if d.committed.scheme != s || d.committed.serverSeed != serverSeed {
		d.committed = committed{s, serverSeed, s.Commitment(serverSeed)}
	}
	return d.committed.commitment
}

type committed struct {
	scheme                 *Scheme
	serverSeed, commitment string
}

// unknownValue tells apart a name that the game never gives from one that needs more parameters.
func (c *Claim) unknownValue(name string, out *Outcome) error {
	var names []string
	for _, v := range out.Values {
		names = append(names, v.Name)
	}
	if slices.Contains(c.Scheme.Outcomes, name) {
		return refuse(name, "cannot be compared with these parameters; they give %s", strings.Join(names, ", "))
	}
	return refuse(name, "is no outcome of %s, which gives %s", c.Scheme.Name, strings.Join(c.Scheme.Outcomes, ", "))
}

// lookUp finds a value by its name, or by its name without the E2 of hundredths.
func lookUp(out *Outcome, name string) (Value, bool) {
	for _, v := range out.Values {
		if v.Name == name || isHundredthsOf(v.Name, name) {
			return v, true
		}
	}
	return Value{}, false
}

func isHundredthsOf(name, shown string) bool {
	return len(name) == len(shown)+2 && strings.HasPrefix(name, shown) && strings.HasSuffix(name, "E2")
}

// shownAs writes a value in the unit of the name that was stated: 1286 of rollE2 is 12.86 of roll.
func (v Value) shownAs(name string) string {
	if v.Name == name {
		return v.Text()
	}
	digits := v.Text()
	for len(digits) < 3 {
		digits = "0" + digits
	}
	return digits[:len(digits)-2] + "." + digits[len(digits)-2:]
}

// agree compares what is stated with what the seeds give. note is what its reader has to know when they agree in a looser
// sense: tiles in another order, or the older formula of a house that has published two.
func agree(out *Outcome, right Value, stated Given) (ok bool, note string) {
	if right.is(stated) {
		return true, ""
	}
	if older, found := out.Get("olderOutcomeE2"); found && right.Name == "outcomeE2" {
		older.Name = right.Name
		if older.is(stated) {
			return true, "the outcome is that of the house's older formula"
		}
	}
	if right.Name == "mines" && sameTiles(right.Text(), stated.Text, 0) {
		return true, "the mines are the same in another order"
	}
	return false, ""
}

func (v Value) is(stated Given) bool {
	if v.Name != stated.Name {
		hundredths, ok := parseHundredths(stated.Text)
		return ok && v.Is(strconv.FormatUint(hundredths, 10))
	}
	if v.Is(stated.Text) {
		return true
	}
	decimal := v.Name == "payout" || v.Name == "multiplier" || v.Name == "fairMultiplier"
	return decimal && isDecimal(stated.Text, 40, 40) && trimDecimal(v.Text()) == trimDecimal(stated.Text)
}

// sameTiles reports whether two lists hold the same tiles, those of the second shift higher.
func sameTiles(list, other string, shift int) bool {
	a, okA := sortedTiles(list, shift)
	b, okB := sortedTiles(other, 0)
	return okA && okB && slices.Equal(a, b)
}

func sortedTiles(list string, shift int) (tiles []int, ok bool) {
	for part := range strings.SplitSeq(list, ",") {
		tile, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		tiles = append(tiles, tile+shift)
	}
	slices.Sort(tiles)
	return tiles, true
}

// FieldOf returns the field and the problem of an error of this package.
func FieldOf(err error) (field, problem string, ok bool) {
	refused, ok := err.(*game.FieldError)
	if !ok {
		return "", "", false
	}
	return refused.Field, refused.Problem, true
}

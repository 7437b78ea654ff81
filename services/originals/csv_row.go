package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/foreign"
)

// explainedRows is how many bad rows of a chunk are searched for the usual
// mistakes, so that a file of bad rows alone stays quick.
const explainedRows = 20

// place says what a column holds.
type place uint8

const (
	inNothing place = iota // left out
	inHouse
	inGame
	inVersion
	inServerSeed
	inClientSeed
	inNonce
	inCommitment
	inParameter
	inOutcome
)

var fixedColumns = map[string]place{
	"house": inHouse, "game": inGame, "version": inVersion, "serverSeed": inServerSeed, "hash": inServerSeed,
	"clientSeed": inClientSeed, "nonce": inNonce, "commitment": inCommitment,
}

// layout is what the header and the flags say of every row.
type layout struct {
	places []place
	names  []string
	steady int   // how many columns, from the first on, seldom differ from row to row
	given  rowOf // what the flags give to rows that have no cell for it
}

// rowOf is the text of one row.
type rowOf struct {
	house, game, version string
	claim                foreign.Claim
}

// layoutOf reads the header. Each column has to be known, so that a misspelt
// one is not left out in silence.
func layoutOf(c *cli.Command, header string) (*layout, error) {
	in, err := foreignInput(c)
	if err != nil {
		return nil, err
	}
	l := &layout{given: rowOf{house: c.String("house"), game: c.String("game"), version: takeVersion(c, &in)}}
	l.given.claim.Input, l.given.claim.Commitment = in, c.String("commitment")
	var cells []string
	if cells, err = splitRow(header, nil); err != nil {
		return nil, fmt.Errorf("--csv: the header: %w", err)
	}
	schemes, err := possibleSchemes(c, cells, l.given)
	if err != nil {
		return nil, err
	}
	for _, p := range in.Parameters {
		if !slices.ContainsFunc(schemes, func(s *foreign.Scheme) bool { return s.Knows(p.Name) }) {
			return nil, fmt.Errorf("--param %s is not a parameter of any of these bets", p.Name)
		}
	}
	outcomes := 0
	for i, name := range cells {
		place, err := placeOf(name, c.StringSlice("ignore"), schemes)
		if err != nil {
			return nil, err
		}
		if place != inNothing && slices.Contains(cells[:i], name) {
			return nil, fmt.Errorf("--csv: two columns are called %q", name)
		}
		if place == inOutcome {
			outcomes++
		}
		if l.steady == i && place != inNothing && place != inNonce && place != inOutcome {
			l.steady++
		}
		l.places, l.names = append(l.places, place), append(l.names, name)
	}
	if outcomes == 0 {
		return nil, errors.New("--csv: no column holds an outcome to compare, such as rollE2, pocket or mines")
	}
	return l, nil
}

// possibleSchemes are those that a row of this file can be of.
func possibleSchemes(c *cli.Command, cells []string, given rowOf) (some []*foreign.Scheme, err error) {
	perRow := slices.ContainsFunc(cells, func(name string) bool { return name == "house" || name == "game" || name == "version" })
	if perRow {
		return foreign.Schemes(), nil
	}
	s, err := foreignScheme(c, given.version)
	return []*foreign.Scheme{s}, err
}

func placeOf(name string, ignored []string, schemes []*foreign.Scheme) (place, error) {
	if slices.Contains(ignored, name) {
		return inNothing, nil
	}
	if place := fixedColumns[name]; place != inNothing {
		return place, nil
	}
	for _, s := range schemes {
		if slices.Contains(s.Outcomes, name) || slices.Contains(s.Outcomes, name+"E2") {
			return inOutcome, nil
		}
	}
	for _, s := range schemes {
		if s.Knows(name) {
			return inParameter, nil
		}
	}
	if strings.ContainsAny(name, ";\t") {
		return inNothing, fmt.Errorf("--csv: the columns are parted by commas alone, and the first line has %q", name)
	}
	return inNothing, fmt.Errorf("--csv: no game has a column %q: leave it out with --ignore %s", name, name)
}

// rowJudge judges rows, one after another, and uses its memory again.
type rowJudge struct {
	layout    *layout
	deriver   foreign.Deriver
	judgement foreign.Judgement
	row       rowOf
	scheme    *foreign.Scheme // that of the last row

	cells []string
	// Of the row before, when the next may go on from it: see follow.
	raw     []string        // its cells, with their quotation marks
	slots   []*string       // where the text of each belongs; nil where a change means another bet
	steady  string          // its beginning, up to the first column that mostly differs
	right   foreign.Verdict // what it deserved, without a word: see again
	stated  []uint64        // numbers of the next
	nowhere string          // for columns that are left out
}

// chunk judges every row of a chunk. Empty lines are no rows. When it returns,
// no part of the text is read again: words about bad rows are copies, the next
// row begins from nothing, and the deriver has forgotten the last.
func (j *rowJudge) chunk(text string) (r chunkResult) {
	r.bytes = len(text)
	for ; text != ""; r.lines++ {
		if size := j.again(text); size > 0 {
			r.counts.hold(j.right)
			text = text[size:]
			continue
		}
		steady := 0
		if strings.HasPrefix(text, j.steady) {
			steady = len(j.steady)
		}
		row := text
		if end := strings.IndexByte(text[steady:], '\n'); end >= 0 {
			row, text = text[:steady+end], text[steady+end+1:]
		} else {
			text = ""
		}
		row = strings.TrimSuffix(row, "\r")
		if row == "" {
			continue
		}
		j.count(&r, row, steady)
	}
	j.forget()
	j.deriver.Forget()
	return r
}

// forget lets no row go on from the last one.
func (j *rowJudge) forget() { j.slots, j.steady, j.right = j.slots[:0], "", "" }

func (j *rowJudge) count(r *chunkResult, row string, steady int) {
	j.right = ""
	if err := j.judge(row, steady, len(r.bad) < explainedRows); err != nil {
		r.counts.Rows++
		r.counts.Unusable++
		r.bad = append(r.bad, badRow{r.lines, "format", rowProblem(err)})
		return
	}
	verdict := j.judgement.Verdict()
	r.counts.hold(verdict)
	for _, failure := range j.judgement.Failures {
		r.bad = append(r.bad, badRow{r.lines, failure.Check, failure.Words})
	}
	if verdict != foreign.Failed {
		j.right = verdict
	}
}

func rowProblem(err error) string {
	if field, problem, ok := foreign.FieldOf(err); ok {
		return field + " " + problem
	}
	return err.Error()
}

// judge judges one row, whose first bytes are known to be the steady ones.
func (j *rowJudge) judge(row string, steady int, explain bool) error {
	if !j.follow(row, steady) {
		if err := j.begin(row); err != nil {
			j.forget()
			return err
		}
	}
	return j.deriver.Judge(&j.row.claim, &j.judgement, explain)
}

// follow reads a row that differs from the one before in some texts alone, as
// most do: only the cells that changed are moved, and the others keep the very
// string, so that whoever compares it with that of the row before is done at
// once. It returns false, with the row half read, when begin has to read it.
func (j *rowJudge) follow(row string, steady int) bool {
	first, last := 0, len(j.slots)-1
	if steady > 0 {
		first = j.layout.steady
	}
	rest := row[steady:]
	for i := first; i <= last; i++ {
		if raw := j.raw[i]; i < last && len(rest) > len(raw) && rest[len(raw)] == ',' && rest[:len(raw)] == raw {
			rest = rest[len(raw)+1:]
			continue
		}
		cell, behind, err := cutCell(rest)
		if err != nil || cell == "" || j.slots[i] == nil || (behind == "") != (i == last) {
			return false
		}
		*j.slots[i], j.raw[i] = cell, rest[:len(rest)-len(behind)]
		if i < last {
			rest = behind[1:]
		}
		if i < j.layout.steady {
			j.steady = ""
		}
	}
	if j.steady == "" && last >= 0 {
		j.keepSteady(row)
	}
	return last >= 0
}

// keepSteady notes the beginning that the next row is likely to have, too.
func (j *rowJudge) keepSteady(row string) {
	length := 0
	for _, raw := range j.raw[:j.layout.steady] {
		length += len(raw) + len(",")
	}
	j.steady = row[:min(length, len(row))]
}

// begin reads a row from nothing.
func (j *rowJudge) begin(row string) (err error) {
	if j.cells, err = splitRow(row, j.cells[:0]); err != nil {
		return err
	}
	if len(j.cells) != len(j.layout.places) {
		return fmt.Errorf("the row has %d cells, and the header %d", len(j.cells), len(j.layout.places))
	}
	j.read()
	if len(j.row.claim.Stated) == 0 {
		return errors.New("the row states no outcome")
	}
	if err := j.findScheme(); err != nil {
		return err
	}
	j.complete()
	j.place(row)
	return nil
}

// place notes where the next row's cells belong.
func (j *rowJudge) place(row string) {
	claim := &j.row.claim
	j.raw, j.slots = j.raw[:0], j.slots[:0]
	whole, parameters, stated := row, 0, 0
	for i, cell := range j.cells {
		_, rest, _ := cutCell(row) // as splitRow did
		j.raw = append(j.raw, row[:len(row)-len(rest)])
		row = strings.TrimPrefix(rest, ",")
		var slot *string
		switch place := j.layout.places[i]; {
		case place == inNothing:
			slot = &j.nowhere
		case cell == "":
		case place == inServerSeed:
			slot = &claim.Input.ServerSeed
		case place == inClientSeed:
			slot = &claim.Input.ClientSeed
		case place == inNonce:
			slot = &claim.Input.Nonce
		case place == inCommitment:
			slot = &claim.Commitment
		case place == inParameter:
			slot = &claim.Input.Parameters[parameters].Text
			parameters++
		case place == inOutcome:
			slot = &claim.Stated[stated].Text
			stated++
		}
		j.slots = append(j.slots, slot)
	}
	j.keepSteady(whole)
}

// read puts the cells where they belong. An empty cell leaves what the flags
// give, but for parameters: see complete.
func (j *rowJudge) read() {
	given := &j.layout.given
	claim := &j.row.claim
	parameters, stated := claim.Input.Parameters[:0], claim.Stated[:0]
	j.row = *given
	for i, cell := range j.cells {
		if cell == "" {
			continue
		}
		switch j.layout.places[i] {
		case inHouse:
			j.row.house = cell
		case inGame:
			j.row.game = cell
		case inVersion:
			j.row.version = cell
		case inServerSeed:
			claim.Input.ServerSeed = cell
		case inClientSeed:
			claim.Input.ClientSeed = cell
		case inNonce:
			claim.Input.Nonce = cell
		case inCommitment:
			claim.Commitment = cell
		case inParameter:
			parameters = append(parameters, foreign.Given{Name: j.layout.names[i], Text: cell})
		case inOutcome:
			stated = append(stated, foreign.Given{Name: j.layout.names[i], Text: cell})
		}
	}
	claim.Input.Parameters, claim.Stated = parameters, stated
}

// complete adds the parameters of the flags that the row's game has and that
// no cell gives.
func (j *rowJudge) complete() {
	in := &j.row.claim.Input
	cells := len(in.Parameters)
	for _, p := range j.layout.given.claim.Input.Parameters {
		given := slices.ContainsFunc(in.Parameters[:cells], func(g foreign.Given) bool { return g.Name == p.Name })
		if !given && j.scheme.Knows(p.Name) {
			in.Parameters = append(in.Parameters, p)
		}
	}
}

// findScheme looks the scheme up, unless it is that of the last row.
func (j *rowJudge) findScheme() error {
	if s := j.scheme; s == nil || s.House != j.row.house || s.Game != j.row.game || s.Version != j.row.version {
		found, err := foreign.Find(j.row.house, j.row.game, j.row.version)
		if err != nil {
			return err
		}
		j.scheme = found
	}
	j.row.claim.Scheme = j.scheme
	return nil
}

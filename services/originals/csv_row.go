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
	return inNothing, fmt.Errorf("--csv: no game has a column %q: leave it out with --ignore %s", name, name)
}

// rowJudge judges rows, one after another, and uses its memory again.
type rowJudge struct {
	layout    *layout
	deriver   foreign.Deriver
	judgement foreign.Judgement
	cells     []string
	row       rowOf
	scheme    *foreign.Scheme // that of the last row
}

// chunk judges every row of a chunk. Empty lines are no rows.
func (j *rowJudge) chunk(next chunk) (r chunkResult) {
	r.bytes = len(next.text)
	line := next.line
	for text := next.text; text != ""; line++ {
		row := text
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			row, text = text[:end], text[end+1:]
		} else {
			text = ""
		}
		row = strings.TrimSuffix(row, "\r")
		if row == "" {
			continue
		}
		r.counts.Rows++
		j.count(&r, line, row)
	}
	return r
}

func (j *rowJudge) count(r *chunkResult, line int, row string) {
	if err := j.judge(row, len(r.bad) < explainedRows); err != nil {
		r.counts.Unusable++
		r.bad = append(r.bad, badRow{line, "format", rowProblem(err)})
		return
	}
	switch j.judgement.Verdict() {
	case foreign.Verified:
		r.counts.Verified++
	case foreign.Consistent:
		r.counts.Consistent++
	default:
		r.counts.Failed++
		for _, failure := range j.judgement.Failures {
			r.bad = append(r.bad, badRow{line, failure.Check, failure.Words})
		}
	}
}

func rowProblem(err error) string {
	if field, problem, ok := foreign.FieldOf(err); ok {
		return field + " " + problem
	}
	return err.Error()
}

func (j *rowJudge) judge(row string, explain bool) (err error) {
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
	return j.deriver.Judge(&j.row.claim, &j.judgement, explain)
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

var errQuotes = errors.New("a quotation mark is not closed, or something stands behind it: a cell with line breaks is not read")

// splitRow appends the cells of one line: RFC 4180 without line breaks in
// cells. Cells are not trimmed.
func splitRow(row string, cells []string) ([]string, error) {
	for {
		if strings.HasPrefix(row, `"`) {
			cell, rest, err := quotedCell(row)
			if err != nil {
				return cells, err
			}
			cells = append(cells, cell)
			if rest == "" {
				return cells, nil
			}
			row = rest[1:]
			continue
		}
		end := strings.IndexByte(row, ',')
		if end < 0 {
			return append(cells, row), nil
		}
		cells, row = append(cells, row[:end]), row[end+1:]
	}
}

// quotedCell returns a cell in quotation marks and what follows it: nothing,
// or a comma and more.
func quotedCell(row string) (cell, rest string, err error) {
	var text strings.Builder
	for row = row[1:]; ; {
		end := strings.IndexByte(row, '"')
		if end < 0 {
			return "", "", errQuotes
		}
		text.WriteString(row[:end])
		row = row[end+1:]
		if !strings.HasPrefix(row, `"`) {
			break
		}
		text.WriteByte('"')
		row = row[1:]
	}
	if row != "" && row[0] != ',' {
		return "", "", errQuotes
	}
	return text.String(), row, nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/foreign"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/wronghouse"
)

// houseFlags are the flags of bets of other houses, beside those of a single
// round.
func houseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "house", Usage: "the `HOUSE` whose bet it is, such as stake; see --list"},
		&cli.BoolFlag{Name: "list", Usage: "show every house: schemes, games, commitment, source, and how many real bets our copy gives again"},
		&cli.StringFlag{Name: "house-version", Usage: "`VERSION` of a game that has several, such as v3 for crash of bustabit"},
		&cli.StringFlag{Name: "params", Usage: "the bet's parameters, whose values --list shows, as one `JSON` object, such as '{\"mineCount\":3,\"firstTile\":1}'"},
		&cli.StringSliceFlag{Name: "param", Usage: "one parameter `NAME=VALUE`, such as salt=0000ab; again for each"},
		&cli.StringFlag{Name: "hash", Usage: "the hash `HEX` of a game, for crash games of a chain; the same as --server-seed"},
		&cli.StringFlag{Name: "salt", Usage: "the `SALT` of a chain, such as the hash of a Bitcoin block; the same as --param salt=SALT"},
		&cli.StringFlag{Name: "terminal", Usage: "walk the chain back from --hash to this terminal `HASH`"},
		&cli.StringFlag{Name: "from", Usage: "with --terminal: the number `N` of the game of --hash, such as 12424168"},
		&cli.StringFlag{Name: "to", Usage: "with --terminal: the number `N` that the terminal hash stands for, such as 10000000"},
		&cli.StringFlag{Name: "csv", Usage: "check every bet of a `FILE`, - for standard input; such as bets.csv"},
		&cli.StringSliceFlag{Name: "ignore", Usage: "with --csv: leave out the column `NAME`, such as date; again for each"},
	}
}

// sameFlags are flags of single rounds that are parameters of foreign bets
// under other names.
var sameFlags = []struct{ flag, parameter string }{
	{"mines", "mineCount"}, {"picks", "picks"}, {"target", "target"}, {"stake", "stake"}, {"salt", "salt"},
}

// refuseFlags refuses flags that mean nothing for this use.
func refuseFlags(c *cli.Command, use string, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) {
			return fmt.Errorf("--%s does not go with %s", name, use)
		}
	}
	return nil
}

// verifyForeign checks one bet of another house.
func verifyForeign(_ context.Context, c *cli.Command) error {
	claim, err := foreignClaim(c)
	if err != nil {
		return err
	}
	var d foreign.Deriver
	var j foreign.Judgement
	if err := d.Judge(&claim, &j, true); err != nil {
		return foreignError(err, claim.Stated)
	}
	wronghouse.NoteOurs(&claim, &j)
	if c.Bool("json") {
		err = printJSON(c.Root().Writer, foreignJSON(claim.Scheme, &j))
	} else {
		printForeign(c.Root().Writer, &claim, &j)
	}
	if j.Verdict() == foreign.Failed {
		err = errors.Join(err, cli.Exit("", exitFailed))
	}
	return err
}

// foreignClaim reads the bet that the flags describe.
func foreignClaim(c *cli.Command) (claim foreign.Claim, err error) {
	err = refuseFlags(c, "a single bet of --house", "last-nonce", "last-ply", "from", "to", "ignore", "direction", "target-e2", "chips")
	if err != nil {
		return claim, err
	}
	if claim.Input, err = foreignInput(c); err != nil {
		return claim, err
	}
	if claim.Scheme, err = foreignScheme(c, takeVersion(c, &claim.Input)); err != nil {
		return claim, err
	}
	claim.Commitment = c.String("commitment")
	if c.IsSet("commitment") && claim.Commitment == "" {
		return claim, errors.New("--commitment: it is empty")
	}
	stated, err := statedOf(c)
	for name, value := range stated {
		claim.Stated = append(claim.Stated, foreign.Given{Name: name, Text: value})
	}
	slices.SortFunc(claim.Stated, func(a, b foreign.Given) int { return strings.Compare(a.Name, b.Name) })
	return claim, err
}

func foreignScheme(c *cli.Command, version string) (*foreign.Scheme, error) {
	s, err := foreign.Find(c.String("house"), c.String("game"), version)
	if err != nil {
		return nil, foreignError(err, nil)
	}
	return s, nil
}

// takeVersion returns the version, which may also stand among the parameters.
func takeVersion(c *cli.Command, in *foreign.Input) string {
	version := c.String("house-version")
	in.Parameters = slices.DeleteFunc(in.Parameters, func(g foreign.Given) bool {
		if g.Name == "version" && version == "" {
			version = g.Text
			return true
		}
		return false
	})
	return version
}

// foreignInput reads seeds, nonce and parameters exactly as they were given.
func foreignInput(c *cli.Command) (in foreign.Input, err error) {
	if c.IsSet("hash") && c.IsSet("server-seed") {
		return in, errors.New("--hash and --server-seed are the same: give one")
	}
	in.ServerSeed, in.ClientSeed, in.Nonce = c.String("server-seed")+c.String("hash"), c.String("client-seed"), c.String("nonce")
	if in.Parameters, err = jsonParameters(c.String("params")); err != nil {
		return in, err
	}
	for _, text := range c.StringSlice("param") {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return in, fmt.Errorf("--param: %q is not NAME=VALUE", text)
		}
		in.Parameters = append(in.Parameters, foreign.Given{Name: name, Text: value})
	}
	for _, same := range sameFlags {
		if c.IsSet(same.flag) {
			in.Parameters = append(in.Parameters, foreign.Given{Name: same.parameter, Text: c.String(same.flag)})
		}
	}
	return in, nil
}

// jsonParameters reads an object of strings, numbers, booleans and lists of
// numbers. A name that stands twice is refused later, with all the others.
func jsonParameters(text string) (given []foreign.Given, err error) {
	if text == "" {
		return nil, nil
	}
	malformed := errors.New(`--params: wants one JSON object, such as '{"mineCount":3,"picks":[0,7]}'`)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return nil, malformed
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, malformed
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, malformed
		}
		words, ok := parameterText(value)
		if !ok {
			return nil, fmt.Errorf("--params: %s is no string, number, boolean or list of numbers", name)
		}
		given = append(given, foreign.Given{Name: fmt.Sprint(name), Text: words})
	}
	if _, err := decoder.Token(); err != nil {
		return nil, malformed
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, malformed
	}
	return given, nil
}

func parameterText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number, bool:
		return fmt.Sprint(v), true
	case []any:
		var numbers []string
		for _, item := range v {
			number, ok := item.(json.Number)
			if !ok {
				return "", false
			}
			numbers = append(numbers, number.String())
		}
		return strings.Join(numbers, ","), true
	default:
		return "", false
	}
}

// flagOf says by which flag a field of a foreign bet is given.
var flagOf = map[string]string{
	"house": "--house", "game": "--game", "version": "--house-version", "serverSeed": "--server-seed", "clientSeed": "--client-seed",
	"nonce": "--nonce", "commitment": "--commitment", "hash": "--hash", "terminal": "--terminal",
}

// foreignError puts the flag's name in front of what is wrong.
func foreignError(err error, stated []foreign.Given) error {
	field, problem, ok := foreign.FieldOf(err)
	if !ok {
		return err
	}
	flag := flagOf[field]
	switch {
	case flag != "":
	case slices.ContainsFunc(stated, func(g foreign.Given) bool { return g.Name == field }):
		flag = "--claimed " + field
	default:
		flag = "--param " + field
	}
	return fmt.Errorf("%s %s", flag, problem)
}

func printForeign(out io.Writer, claim *foreign.Claim, j *foreign.Judgement) {
	printLine(out, "scheme", claim.Scheme.Name)
	if j.Commitment != "" {
		printLine(out, "commitment", j.Commitment)
	}
	for _, v := range j.Outcome.Values {
		printLine(out, v.Name, shownValue(v))
	}
	for _, failure := range j.Failures {
		printLine(out, failure.Check, "FAILED  "+failure.Words)
	}
	for _, note := range j.Notes {
		printLine(out, "note", note)
	}
	if claim.Commitment == "" {
		printLine(out, "note", missingCommitment(claim.Scheme))
	}
	printLine(out, "verdict", string(j.Verdict()))
}

func missingCommitment(s *foreign.Scheme) string {
	if s.Chain != nil {
		return "one round proves nothing about its chain: walk it with --terminal to the hash that was announced"
	}
	return "give the commitment that you were shown before you played with --commitment; without it anybody could have made up this server seed"
}

// shownValue shows hundredths as a decimal beside the number.
func shownValue(v foreign.Value) string {
	text := v.Text()
	if !strings.HasSuffix(v.Name, "E2") {
		return text
	}
	digits := strings.Repeat("0", max(0, 3-len(text))) + text
	return fmt.Sprintf("%s  (%s.%s)", text, digits[:len(digits)-2], digits[len(digits)-2:])
}

// foreignReport is the report of one foreign bet.
type foreignReport struct {
	Scheme     string            `json:"scheme"`
	Commitment string            `json:"commitment,omitempty"`
	Values     map[string]string `json:"values"`
	Failures   []foreignFailure  `json:"failures"`
	Notes      []string          `json:"notes"`
	Verdict    foreign.Verdict   `json:"verdict"`
}

type foreignFailure struct {
	Check   string          `json:"check"`
	Words   string          `json:"words"`
	Mistake mistake.Mistake `json:"mistake,omitempty"`
}

func foreignJSON(s *foreign.Scheme, j *foreign.Judgement) foreignReport {
	r := foreignReport{s.Name, j.Commitment, map[string]string{}, []foreignFailure{}, append([]string{}, j.Notes...), j.Verdict()}
	for _, v := range j.Outcome.Values {
		r.Values[v.Name] = v.Text()
	}
	for _, f := range j.Failures {
		r.Failures = append(r.Failures, foreignFailure(f))
	}
	return r
}

// listHouses prints every house and what it can be asked.
func listHouses(_ context.Context, c *cli.Command) error {
	if c.Bool("json") {
		return printJSON(c.Root().Writer, housesJSON())
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HOUSE\tSCHEME\tGAME\tPARAMETERS\tOUTCOME\tREPRODUCED\tREAL BETS")
	outcomes, realBets := 0, 0
	for _, h := range foreign.Houses() {
		for _, s := range h.Schemes {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", h.Name, s.Name, s.Game, parameterNames(s), strings.Join(s.Outcomes, " "), s.Reproduced, s.Real)
		}
		all, some := h.Reproduced()
		outcomes, realBets = outcomes+all, realBets+some
	}
	fmt.Fprintf(w, "all\t\t\t\t\t%d\t%d\n", outcomes, realBets)
	_ = w.Flush() // into memory
	fmt.Fprintln(&table)
	w = tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HOUSE\tCOMMITMENT\tSOURCE")
	for _, h := range foreign.Houses() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", h.Name, h.Commitment, h.Source)
	}
	_ = w.Flush()
	fmt.Fprintln(&table)
	listValues(&table)
	fmt.Fprintln(&table, "\nREPRODUCED counts the published outcomes and rounds that the tests of this program derive again, REAL BETS those of them")
	fmt.Fprintln(&table, "that were played. Parameters in brackets may be left out; they are given as --param NAME=VALUE or in --params. Where a game has a")
	fmt.Fprintf(&table, "clientSeed, it is 1 to %d bytes of well-formed text; where it has a nonce, that is 0 to %d.\n", foreign.MaxTextBytes, uint64(math.MaxUint64))
	_, err := c.Root().Writer.Write(table.Bytes())
	return err
}

// listValues writes which values each input of each game takes.
func listValues(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCHEME\tINPUT\tVALUES")
	for _, s := range foreign.Schemes() {
		seed := "serverSeed"
		if s.Chain != nil {
			seed = "hash"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, seed, s.ServerSeedForm())
		for i, name := range strings.Fields(parameterNames(s)) {
			fmt.Fprintf(w, "\t%s\t%s\n", name, s.Parameters[i].Usage)
		}
	}
	_ = w.Flush() // into memory
}

func parameterNames(s *foreign.Scheme) string {
	var names []string
	for _, p := range s.Parameters {
		if p.Required {
			names = append(names, p.Name)
		} else {
			names = append(names, "["+p.Name+"]")
		}
	}
	return strings.Join(names, " ")
}

// housesJSON is the list for programs.
func housesJSON() any {
	type parameter struct {
		Name     string `json:"name"`
		Required bool   `json:"required"`
		Values   string `json:"values"`
	}
	type scheme struct {
		Scheme     string      `json:"scheme"`
		Game       string      `json:"game"`
		Version    string      `json:"version,omitempty"`
		Parameters []parameter `json:"parameters"`
		Outcomes   []string    `json:"outcomes"`
		Reproduced int         `json:"reproduced"`
		RealBets   int         `json:"realBets"`
	}
	type house struct {
		House      string   `json:"house"`
		Commitment string   `json:"commitment"`
		Source     string   `json:"source"`
		Schemes    []scheme `json:"schemes"`
	}
	var list []house
	for _, h := range foreign.Houses() {
		item := house{House: h.Name, Commitment: h.Commitment, Source: h.Source}
		for _, s := range h.Schemes {
			parameters := []parameter{}
			for _, p := range s.Parameters {
				parameters = append(parameters, parameter{p.Name, p.Required, p.Usage})
			}
			item.Schemes = append(item.Schemes, scheme{s.Name, s.Game, s.Version, parameters, s.Outcomes, s.Reproduced, s.Real})
		}
		list = append(list, item)
	}
	return list
}

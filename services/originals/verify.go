package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/services/duel"
)

// The exit statuses of verify.
const (
	exitFailed   = 1 // a check does not hold
	exitUnusable = 2 // bad usage, or a file that cannot be read or judged
)

// verifyCommand checks bets offline: a whole evidence file, or one round from
// flags. It talks to nobody.
func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:  "verify",
		Usage: "check a bet, the evidence of a seed pair or a duel, or rounds of a crash table, offline",
		Description: "A whole seed pair, from the file that GET /v1/seed-pairs/{id}/evidence gives:\n" +
			"   originals verify --evidence evidence.json --commitment HEX --last-nonce 41\n" +
			"A duel that has ended, from the file that GET /v1/duels/{id} gives:\n" +
			"   originals verify --evidence duel.json --commitment HEX --last-ply 59\n" +
			"One round:\n" +
			"   originals verify --server-seed HEX --client-seed TEXT --nonce 3 --commitment HEX \\\n" +
			"      --game dice --target 5050 --direction over --stake 100 --claimed roll=7391 --claimed payout=202\n" +
			"Rounds of a crash table, as GET /v1/crash/tables/{table}/rounds or .../rounds/{number} answers them, also several\n" +
			"answers one after the other, with those of GET /v1/rounds?game=CRASH if your bets are to be checked, too:\n" +
			"   originals verify --crash rounds.json --terminal HEX --salt HEX\n" +
			"and one of them:\n" +
			"   originals verify --scheme crash-v1 --table main --number 7 --hash HEX --salt HEX --terminal HEX --claimed crashE2=136\n" +
			"A bet of another house (originals verify --list shows them), a file of many, or a round of a chain:\n" +
			"   originals verify --house stake --game mines --server-seed HEX --client-seed TEXT --nonce 1 \\\n" +
			"      --commitment HEX --mines 3 --claimed mines=2,12,5\n" +
			"   originals verify --house stake --game dice --csv bets.csv\n" +
			"   originals verify --house bustabit --game crash --house-version v2 --hash HEX --terminal HEX\n" +
			csvColumns +
			"The commitment is the one you were shown before the first bet. Without it the verdict is at best\n" +
			"CONSISTENT, COMMITMENT NOT CONFIRMED: the numbers agree with each other, and anybody can make such numbers.\n" +
			"Exit status: 0 all checks hold, 1 a check fails, 2 bad usage or unusable input.",
		DisableSliceFlagSeparator: true, // mines=12,3,9 is one value
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "evidence", Usage: "`FILE` of a whole seed pair or of a duel, - for standard input; such as evidence.json"},
			&cli.StringFlag{Name: "last-nonce", Usage: "with --evidence: the greatest nonce `N` that you have seen, such as 41; the file must reach it"},
			&cli.StringFlag{Name: "last-ply", Usage: "with --evidence of a duel: the greatest ply `N` that you have seen, such as 59; the rolls must reach it"},
			&cli.StringFlag{Name: "commitment", Usage: "the commitment `HEX` that you kept, 64 lower-case hex digits"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as one JSON object"},
		}, append(roundFlags(), append(houseFlags(), crashFlags()...)...)...),
		Action: func(ctx context.Context, c *cli.Command) error {
			err := verificationOf(c)(ctx, c)
			var exit cli.ExitCoder
			if err != nil && !errors.As(err, &exit) {
				return cli.Exit(err, exitUnusable)
			}
			return err
		},
	}
}

// verificationOf chooses what is to be verified by the flags that say so.
func verificationOf(c *cli.Command) func(context.Context, *cli.Command) error {
	switch {
	case c.IsSet("crash"):
		return verifyCrash
	case c.IsSet("evidence"):
		return verifyEvidence
	case c.Bool("list"):
		return listHouses
	case c.IsSet("scheme"), c.IsSet("table"), c.IsSet("number"):
		return verifyScheme
	case c.IsSet("csv"):
		return verifyHistory
	case c.IsSet("terminal"):
		return verifyChain
	case c.IsSet("house"):
		return verifyForeign
	default:
		return verifyRound
	}
}

func verifyEvidence(ctx context.Context, c *cli.Command) error {
	ofTables := []string{"terminal", "salt"}
	for _, f := range append(houseFlags(), crashFlags()...) {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(ofTables, name) {
			return fmt.Errorf("--%s does not go with --evidence", name)
		}
	}
	for _, f := range roundFlags() {
		if name := f.Names()[0]; c.IsSet(name) {
			return fmt.Errorf("--%s is for a single round and does not go with --evidence", name)
		}
	}
	file, size, err := openEvidence(ctx, c, "evidence")
	if err != nil {
		return err
	}
	defer file.Close()
	document, isCrash, err := evidence.IsCrash(file)
	if err != nil {
		return fmt.Errorf("--evidence: %w", err)
	}
	if isCrash {
		return verifyAnswers(ctx, c, "evidence", document)
	}
	if err := refuseFlags(c, "--evidence of a seed pair or a duel", ofTables...); err != nil {
		return err
	}
	o, err := keptOptions(c)
	if err != nil {
		return err
	}
	finish := showProgress(&o, size)
	report, err := evidence.Verify(ctx, document, o)
	finish()
	return printVerified(c, "evidence", report, err)
}

// printVerified prints a report, or says why there is none.
func printVerified(c *cli.Command, flag string, report evidence.Report, err error) error {
	if evidence.IsUnusable(err) {
		return printUnusable(c, err)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	if c.Bool("json") {
		err = printJSON(c.Root().Writer, report)
	} else {
		printReport(c.Root().Writer, report)
	}
	return errors.Join(err, exitOf(report))
}

// keptOptions reads what the player kept.
func keptOptions(c *cli.Command) (evidence.Options, error) {
	var o evidence.Options
	commitment, err := commitmentFlag(c)
	if err != nil {
		return o, err
	}
	o.Commitment = commitment
	if c.IsSet("last-nonce") {
		nonce, err := rng.ParseNonce(c.String("last-nonce"))
		if err != nil {
			return o, fmt.Errorf("--last-nonce: %w", err)
		}
		o.LastNonce = &nonce
	}
	if c.IsSet("last-ply") {
		ply, err := number(c, "last-ply", duel.MaxPlies-1)
		if err != nil {
			return o, err
		}
		o.LastPly = &ply
	}
	return o, nil
}

func commitmentFlag(c *cli.Command) (*rng.Commitment, error) {
	if !c.IsSet("commitment") {
		return nil, nil
	}
	text := c.String("commitment")
	commitment, err := rng.ParseCommitment(text)
	if err == nil {
		return &commitment, nil
	}
	words := "--commitment: wants 64 lower-case hex digits: " + evidence.HexMistake(text)
	if repaired, ok := evidence.RepairHex(text); ok {
		words += "; did you mean " + repaired + "?"
	}
	return nil, errors.New(words)
}

// openEvidence opens the file of a flag and returns its size, 0 when it is not
// known.
func openEvidence(ctx context.Context, c *cli.Command, flag string) (io.ReadCloser, int64, error) {
	name := c.String(flag)
	if name == "-" {
		return interruptible(ctx, c.Root().Reader), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("--%s: %w", flag, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, fmt.Errorf("--%s: %w", flag, err)
	}
	return file, info.Size(), nil
}

// interruptible lets an interrupt end a read from a terminal on which nobody
// types. What still waits for the terminal then ends with the process.
func interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}

// bigFile is the size in bytes from which a progress bar is worth its line:
// it takes about half a second.
const bigFile = 256 << 20

// showProgress draws a bar on a terminal's standard error, and returns what
// takes it away.
func showProgress(o *evidence.Options, size int64) (finish func()) {
	if size < bigFile {
		return func() {}
	}
	bar := newBar(int(size), "verifying")
	o.Progress = func(bytes int) { _ = bar.Add(bytes) } // a bar that cannot be drawn changes no verdict
	return func() { _ = bar.Finish() }
}

// printUnusable says why there is no verdict.
func printUnusable(c *cli.Command, cause error) error {
	out := c.Root().Writer
	if c.Bool("json") {
		err := printJSON(out, map[string]string{"verdict": "UNUSABLE", "check": "format", "problem": cause.Error()})
		return errors.Join(err, cli.Exit("", exitUnusable))
	}
	printLine(out, "format", "FAILED  "+cause.Error())
	printLine(out, "verdict", "UNUSABLE (format)")
	return cli.Exit("", exitUnusable)
}

func exitOf(r evidence.Report) error {
	if r.Verdict == evidence.Failed {
		return cli.Exit("", exitFailed)
	}
	return nil
}

// shownFailures is how many failures of one check are printed.
const shownFailures = 5

// printReport prints one line for each check that holds and for each failure.
func printReport(out io.Writer, r evidence.Report) {
	printChecks(out, r)
	printLine(out, "summary", r.Summary.String())
	printVerdict(out, r)
}

func printChecks(out io.Writer, r evidence.Report) {
	for _, check := range r.Checks {
		if check.Passed {
			printLine(out, check.Name, "ok      "+check.Meaning)
		}
		shown := check.Failures[:min(shownFailures, len(check.Failures))]
		for _, failure := range shown {
			printLine(out, check.Name, "FAILED  "+failure.String())
		}
		if more := check.Count - uint64(len(shown)); more > 0 {
			printLine(out, "", fmt.Sprintf("        and %d more", more))
		}
	}
}

func printVerdict(out io.Writer, r evidence.Report) {
	for _, note := range r.Notes {
		printLine(out, "note", note)
	}
	verdict := string(r.Verdict)
	if r.FirstFailed != "" {
		verdict += " (" + r.FirstFailed + ")"
	}
	printLine(out, "verdict", verdict)
}

func printLine(out io.Writer, label, words string) {
	fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-14s%s", label, words), " "))
}

func printJSON(out io.Writer, value any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/walletcheck"
)

// walletcheckCommand plays the platform against a wallet.
func walletcheckCommand() *cli.Command {
	return &cli.Command{
		Name:  "walletcheck",
		Usage: "check a wallet: play the platform with every fault that one must come through",
		Description: "Example: originals walletcheck --command './my-wallet --test'\n" +
			"The command is run by /bin/sh for each case, with ORIGINALS_URL, ORIGINALS_GRPC, ORIGINALS_TOKEN,\n" +
			"WALLET_LISTEN and WALLET_DIR. The README says what the wallet has to serve there.\n" +
			"The exit status is 0 only when all cases pass.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "command", Usage: "`COMMAND` that starts the wallet (default: the reference wallet)"},
			&cli.StringSliceFlag{Name: "case", Usage: "`NAME` of a case to run; may stand several times (default: all)"},
			&cli.BoolFlag{Name: "list", Usage: "list the cases"},
			&cli.BoolFlag{Name: "json", Usage: "print the results as JSON"},
			&cli.DurationFlag{Name: "patience", Value: 40 * time.Second, Usage: "how long the wallet has for what a case waits for"},
			&cli.IntFlag{Name: "parallel", Value: 4, Usage: "cases at one time"},
		},
		Action: runWalletcheck,
	}
}

func runWalletcheck(ctx context.Context, c *cli.Command) error {
	out := c.Root().Writer
	cases, err := walletcheck.Find(c.StringSlice("case"))
	if err != nil {
		return fmt.Errorf("%w; --list shows all", err)
	}
	if c.Bool("list") {
		return listWalletCases(out, cases)
	}
	command := c.String("command")
	if command == "" {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		command = "'" + strings.ReplaceAll(program, "'", `'\''`) + "' reference-wallet"
	}
	if c.Duration("patience") <= 0 || c.Int("parallel") < 1 {
		return errors.New("--patience and --parallel must be positive")
	}
	dir, err := os.MkdirTemp("", "walletcheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bar := newBar(len(cases), "checking")
	results, err := walletcheck.Run(ctx, walletcheck.Options{
		Command: command, Dir: dir, Names: c.StringSlice("case"), Patience: c.Duration("patience"),
		Parallel: c.Int("parallel"), Clock: time.Now, Done: func(walletcheck.Result) { bar.Add(1) },
	})
	if err := errors.Join(err, bar.Finish()); err != nil {
		return err
	}
	return showWalletResults(out, results, c.Bool("json"))
}

func listWalletCases(out io.Writer, cases []walletcheck.Case) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range cases {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, c.About)
	}
	return w.Flush()
}

// showWalletResults prints the results, and returns an error of status 1 when a
// case has failed.
func showWalletResults(out io.Writer, results []walletcheck.Result, asJSON bool) error {
	failed := 0
	for _, r := range results {
		if !r.Passed {
			failed++
		}
	}
	var err error
	if asJSON {
		err = json.NewEncoder(out).Encode(results)
	} else {
		err = walletTable(out, results, failed)
	}
	if err == nil && failed > 0 {
		err = cli.Exit("", 1)
	}
	return err
}

func walletTable(out io.Writer, results []walletcheck.Result, failed int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range results {
		word := "passed"
		if !r.Passed {
			word = "FAILED"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, word, r.Note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if !r.Passed {
			fmt.Fprintf(out, "\n%s: %s\n  expected: %s\n  seen:     %s\n", r.Name, r.About, r.Expected, r.Seen)
		}
	}
	_, err := fmt.Fprintf(out, "\ncases: %d, passed: %d, failed: %d\n", len(results), len(results)-failed, failed)
	return err
}

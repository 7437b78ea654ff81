// Command originals is the whole product in one binary: every role of the
// backend, and the tools of players and operators. It is the only place where
// services meet; it must hold no rule of a game, of money or of a seed pair.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/config"
)

// gcPercent lets the heap grow further before it is collected. Collections
// shrink the stacks of waiting calls, which then grow anew: at the usual 100
// that is a fifth of the processor time of a bet. GOGC overrides it.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, newRoot(), os.Args, os.Environ()))
}

// newRoot returns the command line. Without a command it runs every role in
// one process.
func newRoot() *cli.Command {
	root := &cli.Command{
		Name:  "originals",
		Usage: "provably-fair casino originals: dice, limbo, roulette, mines, crash, dice for two seats",
		Description: "Without a command, every role runs in one process: REST on 127.0.0.1:8080, gRPC on\n" +
			"127.0.0.1:9090, an embedded store that keeps nothing, and play money for each new player.\n" +
			"Each flag has an environment variable; a flag wins over it.",
		Flags:  serveFlags(),
		Action: serveAll,
		Commands: []*cli.Command{
			serveCommand(), demoCommand(), verifyCommand(), rtpCommand(),
			tokenCommand(), walletCommand(), supportCommand(), crashCommand(), referenceWalletCommand(), walletcheckCommand(), certificatesCommand(), configCommand(),
		},
		Version:         version(),
		HideHelpCommand: true,
		ExitErrHandler:  func(context.Context, *cli.Command, error) {}, // run prints it
	}
	_ = root.Walk(func(c *cli.Command) error {
		c.ArgValidator, c.OnUsageError = noArguments, usageError
		return nil
	})
	return root
}

// version is that of the source which this binary was built from, as the Go
// command stamps it; (devel) where it was built without its history.
func version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok || build.Main.Version == "" {
		return "(devel)"
	}
	return build.Main.Version
}

// usageError says once what is wrong with a flag, and where the flags are
// explained: a whole page of help would push the message off the screen.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	return fmt.Errorf("%w; see %s --help", err, c.FullName())
}

// noArguments refuses words that are neither a command nor a flag, so that a
// misspelt one is not ignored.
func noArguments(_ context.Context, c *cli.Command) error {
	if c.Args().Present() {
		return fmt.Errorf("unknown command or argument %q; see %s --help", c.Args().First(), c.FullName())
	}
	return nil
}

// run returns the exit status: 0, that of an error which has its own, or 2.
func run(ctx context.Context, root *cli.Command, args, environ []string) int {
	stderr := root.ErrWriter
	if stderr == nil {
		stderr = os.Stderr
	}
	err := config.UnknownEnv("ORIGINALS_", knownEnv(root), environ)
	if err == nil {
		err = root.Run(ctx, args)
	}
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "originals:", text)
	}
	var exit cli.ExitCoder
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 2
}

// knownEnv lists the environment variables of every flag.
func knownEnv(c *cli.Command) []string {
	var known []string
	for _, f := range c.Flags {
		if documented, ok := f.(interface{ GetEnvVars() []string }); ok {
			known = append(known, documented.GetEnvVars()...)
		}
	}
	for _, sub := range c.Commands {
		known = append(known, knownEnv(sub)...)
	}
	return known
}

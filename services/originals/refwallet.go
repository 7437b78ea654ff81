package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/refwallet"
)

// referenceWalletCommand runs the reference wallet.
func referenceWalletCommand() *cli.Command {
	return &cli.Command{
		Name:  "reference-wallet",
		Usage: "run a small wallet that books every settlement exactly once, to try out and to learn from",
		Description: "Its books are a SQLite file in the folder. It shows them at GET /books, and takes\n" +
			"POST /deposit and /withdraw with {requestId, playerId, currency, amount}, and /cancel with {requestId}.",
		Flags: []cli.Flag{
			urlFlag("`URL` of the platform's REST API"),
			&cli.StringFlag{Name: "token", Sources: env("TOKEN"), Required: true, Usage: "`TOKEN` of the role wallet"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8090", Sources: cli.EnvVars("WALLET_LISTEN"), Usage: "`ADDRESS` of the wallet's own face"},
			&cli.StringFlag{Name: "dir", Sources: cli.EnvVars("WALLET_DIR"), Required: true, Usage: "`FOLDER` of the books, made when it is missing"},
			&cli.StringFlag{Name: "consumer", Value: "wallet", Usage: "`NAME` of this process in claims: another one for each process of the same books"},
			&cli.BoolFlag{Name: "cursor", Usage: "list the settlements with a cursor of its own instead of claiming them"},
			&cli.DurationFlag{Name: "poll", Value: 100 * time.Millisecond, Usage: "pause after a look that brought nothing"},
			&cli.DurationFlag{Name: "call-timeout", Value: 5 * time.Second, Usage: "after which a call counts as not answered"},
		},
		Action: runReferenceWallet,
	}
}

func runReferenceWallet(ctx context.Context, c *cli.Command) error {
	if c.Duration("poll") <= 0 || c.Duration("call-timeout") <= 0 {
		return fmt.Errorf("--poll and --call-timeout must be positive")
	}
	dir := c.String("dir")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Root().Writer, "  http://%s  REST: /books, /digest, /deposit, /withdraw, /cancel; the books are in %s\n", listener.Addr(), dir)
	stderr := c.Root().ErrWriter
	return refwallet.Run(ctx, refwallet.Options{
		Dir: dir, URL: c.String("url"), Token: c.String("token"), Consumer: c.String("consumer"), Cursor: c.Bool("cursor"),
		Listener: listener, HTTP: &http.Client{Timeout: c.Duration("call-timeout")}, Poll: c.Duration("poll"),
		Failed: func(step string, err error) { fmt.Fprintln(stderr, "reference wallet:", step+":", err) },
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
)

// tokenCommand prints a token of a development key.
func tokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "print a token signed by a development key",
		Description: "Example: originals token --dev-key dev.key --role player --subject alice\n" +
			"The key is made when the file is missing. It signs for one operator.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dev-key", Sources: env("DEV_KEY"), Required: true, Usage: "`FILE` with the signing key"},
			&cli.StringFlag{Name: "role", Value: "player", Usage: "`ROLE` of the token: player, wallet or support"},
			&cli.StringFlag{Name: "subject", Required: true, Usage: "`NAME` of the player, wallet or member of staff"},
			&cli.StringFlag{Name: "operator", Usage: "`NAME` of the operator, which must be the key's (default: the key's, demo for a new one)"},
			&cli.DurationFlag{Name: "ttl", Value: 24 * time.Hour, Usage: "how long the token is good for"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Duration("ttl") <= 0 {
				return errors.New("--ttl must be positive")
			}
			key, warning, err := auth.LoadOrCreateDevKey(c.String("dev-key"), c.String("operator"))
			if err != nil {
				return err
			}
			if warning != "" {
				fmt.Fprintln(c.Root().ErrWriter, warning)
			}
			id := auth.Identity{Subject: c.String("subject"), Operator: key.Operator(), Role: auth.Role(c.String("role"))}
			token, err := key.Mint(id, c.Duration("ttl"), time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintln(c.Root().Writer, token)
			return nil
		},
	}
}

// configCommand prints the commented example of a configuration file.
func configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print a commented example for --config",
		Action: func(_ context.Context, c *cli.Command) error {
			_, err := fmt.Fprint(c.Root().Writer, config.Example())
			return err
		},
	}
}

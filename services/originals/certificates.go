package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/pki"
)

// certificatesCommand makes certificates for trying roles in several
// processes.
func certificatesCommand() *cli.Command {
	return &cli.Command{
		Name:  "certificates",
		Usage: "make a certificate authority and certificates of roles, for mutual TLS",
		Description: "Example: originals certificates --dir tls --role gateway --role dice,limbo --host games.internal\n" +
			"makes tls/ca.pem, tls/gateway.pem and tls/dice+limbo.pem with their keys. An authority that is there is used again.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Required: true, Usage: "`FOLDER` of the authority and the certificates"},
			&cli.StringSliceFlag{Name: "role", Required: true, Usage: "`ROLES` of one certificate, by commas; again for the next certificate"},
			&cli.StringSliceFlag{Name: "host", Usage: "`NAME` or address of the host, beside localhost and 127.0.0.1"},
		},
		DisableSliceFlagSeparator: true,
		Action: func(_ context.Context, c *cli.Command) error {
			authority, err := pki.Open(c.String("dir"), time.Now())
			if err != nil {
				return err
			}
			for _, list := range c.StringSlice("role") {
				roles := strings.Split(list, ",")
				if slices.ContainsFunc(roles, func(r string) bool { return !slices.Contains(allRoles, r) }) {
					return errors.New("--role: unknown role in " + list + "; the roles are " + strings.Join(allRoles, ","))
				}
				certificate, key, err := authority.Issue(roles, c.StringSlice("host"), time.Now())
				if err != nil {
					return err
				}
				fmt.Fprintln(c.Root().Writer, certificate, key)
			}
			return nil
		},
	}
}

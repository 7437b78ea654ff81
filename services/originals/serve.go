package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/auth"
)

// serveAll runs every role in one process.
func serveAll(ctx context.Context, c *cli.Command) error {
	return serve(ctx, readSettings(c), c.Root().Writer, c.Root().ErrWriter)
}

// serveCommand runs some of the roles.
func serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run some of the roles in this process",
		Description: "Example: originals serve --role=seedpair --redis redis://10.0.0.4:6379 --seal-key-file seal.key \\\n" +
			"  --config house.yaml --internal :9443 --tls-ca ca.pem --tls-cert seedpair.pem --tls-key seedpair.key",
		Flags: append(serveFlags(), roleFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			s, err := readRoleSettings(c)
			if err != nil {
				return err
			}
			return serve(ctx, s, c.Root().Writer, c.Root().ErrWriter)
		},
	}
}

// serve runs a process until ctx is done, and then finishes the calls in
// flight. Its log says when it began, was told to end, and ended in good order.
func serve(ctx context.Context, s settings, out, logs io.Writer) (err error) {
	p, err := newProcess(ctx, s, logs)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := p.close(); err == nil {
			err = closeErr
		}
	}()
	if err := p.greet(ctx, out); err != nil {
		return err
	}
	p.log.Info("started", zap.String("version", version()), zap.Strings("roles", p.roles), zap.Bool("embedded_store", p.hasStore() && p.redis == ""))
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() {
		p.log.Info("ending: takes no more calls and finishes those in flight")
		end()
	})()
	if err := p.group.Serve(serving); err != nil {
		return err
	}
	p.log.Info("ended")
	return nil
}

// address returns host and port of a listener as a client on this machine
// reaches it; empty when there is none.
func (p *process) address(listener string) string {
	a := p.group.Addr(listener)
	if a == nil {
		return ""
	}
	text := a.String()
	for _, any := range []string{"[::]", "0.0.0.0"} {
		text = strings.Replace(text, any, "127.0.0.1", 1)
	}
	return text
}

// tokenTTL is how long the tokens are good that a process prints.
const tokenTTL = 24 * time.Hour

// greet says where the process listens and, where it holds a development key,
// how to place the first bet.
func (p *process) greet(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "Open Originals is running: %s\n\n", strings.Join(p.roles, ", "))
	if p.hasStore() && p.redis == "" {
		fmt.Fprintf(out, "  The embedded store is for trying out: it keeps nothing.\n\n")
	}
	for _, note := range p.notes {
		fmt.Fprintf(out, "  NOTE: %s\n\n", note)
	}
	for _, l := range []struct{ name, prefix, what string }{
		{"http", "http://", "REST, described at /openapi.json"},
		{"grpc", "", "gRPC, the same services"},
		{"internal", "", "other roles, by mutual TLS"},
		{"admin", "http://", "/metrics, /healthz, /readyz"},
	} {
		if a := p.address(l.name); a != "" {
			fmt.Fprintf(out, "  %-30s %s\n", l.prefix+a, l.what)
		}
	}
	if p.devKey == nil || p.pairs == nil || !p.has(roleGateway) {
		return nil
	}
	return p.greetPlayer(ctx, out)
}

const greeting = `
Tokens of operator %q, good for 24 hours:

  player alice   %s
  player bob     %s
%s
Place a bet as alice (paste all of it):

  TOKEN=%s
  curl -sw '\n' -H "Authorization: Bearer $TOKEN" %s/v1/seed-pair
  curl -sw '\n' -H "Authorization: Bearer $TOKEN" %s/v1/seed-pair:rotate \
    -d '{"clientSeed":"'$(openssl rand -hex 16)'","nextCommitment":"%s"}'
  curl -sw '\n' -H "Authorization: Bearer $TOKEN" %s/v1/dice/bets \
    -d '{"betId":"first","seedPairId":"%s","stake":{"currency":"FUN","amount":"100"},"target":5050,"direction":"OVER"}'

Or watch a whole session, verified at its end:  go run ./services/originals demo

`

const noPlayMoney = `
New players have no money here: a wallet has to bring some before the bet below is
taken, or --demo-balance gives it to them.
`

// greetPlayer prints tokens and a bet. The pair's id follows from the
// commitment that alice is shown, so that the bet can be pasted.
func (p *process) greetPlayer(ctx context.Context, out io.Writer) error {
	now := time.Now()
	mint := func(name string) (string, error) {
		return p.devKey.Mint(auth.Identity{Subject: name, Operator: p.devKey.Operator(), Role: auth.Player}, tokenTTL, now)
	}
	alice, err := mint("alice")
	if err != nil {
		return err
	}
	bob, err := mint("bob")
	if err != nil {
		return err
	}
	commitment, pair, err := p.pairs.Announce(ctx, auth.Identity{Subject: "alice", Operator: p.devKey.Operator(), Role: auth.Player}.Player())
	if err != nil {
		return err
	}
	note := ""
	if len(p.grant()) == 0 {
		note = noPlayMoney
	}
	url := "http://" + p.address("http")
	fmt.Fprintf(out, greeting, p.devKey.Operator(), alice, bob, note, alice, url, url, commitment, url, pair)
	return nil
}

package walletcheck

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	lookPause = 10 * time.Millisecond
	// setUp is the least patience with what is no part of what a case is about.
	setUp = 30 * time.Second
)

// scenario is one case at play: a platform, and the wallet at it.
type scenario struct {
	ctx      context.Context
	patience time.Duration
	dir      string
	platform *platform
	stage    *stage
	wallets  []*child
	command  string

	orders  int
	unbound map[string]bool // transferIds that the case itself made known
	poison  map[string]bool // settlements that cannot be booked
	loose   map[string]bool // settlements that may stay open
	transit map[account]int64
	alarms  map[string]bool // subjects of which the wallet must alarm

	expected, seen string // of a failure
	note           string
}

const firstToken = "the-token-of-the-wallet"

func newScenario(ctx context.Context, o Options, dir string) (*scenario, error) {
	p := newPlatform(o.Clock)
	s, err := newStage(p, firstToken)
	if err != nil {
		return nil, err
	}
	return &scenario{
		ctx: ctx, patience: o.Patience, dir: dir, platform: p, stage: s, command: o.Command,
		unbound: make(map[string]bool), poison: make(map[string]bool), loose: make(map[string]bool),
		transit: make(map[account]int64), alarms: make(map[string]bool),
	}, nil
}

func (c *scenario) close() {
	c.stage.lift()
	for _, w := range c.wallets {
		w.kill9()
	}
	c.stage.stop()
}

// stop ends the case as failed.
func (c *scenario) stop(expected, format string, args ...any) {
	c.expected, c.seen = expected, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// wallet starts one more process of the wallet, on the same books.
func (c *scenario) wallet() *child {
	listen, err := freeAddr()
	if err != nil {
		c.stop("a port for the wallet", "%v", err)
	}
	books := filepath.Join(c.dir, "books")
	if err := os.MkdirAll(books, 0o700); err != nil {
		c.stop("a folder for the wallet", "%v", err)
	}
	w := newChild(c.command, books, listen, "http://"+c.stage.httpAddr, c.stage.grpcAddr, firstToken)
	c.wallets = append(c.wallets, w)
	c.begin(w)
	return w
}

// begin starts a process of the wallet that does not run.
func (c *scenario) begin(w *child) {
	if err := w.start(); err != nil {
		c.stop("the wallet starts", "%v", err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, max(c.patience, setUp))
	defer cancel()
	if err := w.awaitHealthy(ctx); err != nil {
		c.stop("the wallet answers GET /healthz", "%v", err)
	}
}

// crash ends a process of the wallet by kill -9 and starts it again.
func (c *scenario) crash(w *child) {
	w.kill9()
	c.begin(w)
}

// order sends an order to the wallet's face until it is taken.
func (c *scenario) order(path string, o order) {
	deadline := time.Now().Add(c.patience)
	for {
		err := c.wallets[0].post(c.ctx, path, o)
		if err == nil {
			return
		}
		var refused *statusError
		if errors.As(err, &refused) && refused.status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			c.stop("POST "+path+" is answered with 200", "%v", err)
		}
		time.Sleep(lookPause)
	}
}

func (c *scenario) newOrder(player, currency string, amount int64) order {
	c.orders++
	return order{fmt.Sprintf("order-%d", c.orders), player, currency, fmt.Sprint(amount)}
}

func (c *scenario) deposit(player, currency string, amount int64) order {
	o := c.newOrder(player, currency, amount)
	c.order("/deposit", o)
	return o
}

func (c *scenario) withdraw(player, currency string, amount int64) order {
	o := c.newOrder(player, currency, amount)
	c.order("/withdraw", o)
	return o
}

// fund brings money into a game balance, without faults.
func (c *scenario) fund(player, currency string, amount int64) {
	c.deposit(player, currency, amount)
	c.convergeWithin(max(c.patience, setUp))
}

// win, lose and void end a round.
func (c *scenario) win(player string, stake, payout int64, edits ...func(*entry)) *entry {
	return c.platform.settle(player, "USD", stake, payout, originalsv1.Settlement_WON, edits...)
}

func (c *scenario) lose(player string, stake int64) *entry {
	return c.platform.settle(player, "USD", stake, 0, originalsv1.Settlement_LOST)
}

func (c *scenario) void(player string, stake int64) *entry {
	return c.platform.settle(player, "USD", stake, stake, originalsv1.Settlement_VOID)
}

// await waits for a signal of a fault.
func (c *scenario) await(what string, signal chan struct{}) {
	select {
	case <-signal:
	case <-time.After(c.patience):
		c.stop(what, "it did not come within %v", c.patience)
	}
}

// until waits for a condition.
func (c *scenario) until(what string, done func() bool) {
	for deadline := time.Now().Add(c.patience); !done(); time.Sleep(lookPause) {
		if time.Now().After(deadline) {
			c.stop(what, "it did not come within %v", c.patience)
		}
	}
}

// read reads the wallet's books; those of one player with their bookings.
func (c *scenario) read(player string) (*books, error) {
	path := "/books"
	if player != "" {
		path += "?playerId=" + player
	}
	var b books
	return &b, c.wallets[0].get(c.ctx, path, &b)
}

// output is the last of what the wallet's processes printed.
func (c *scenario) output() string {
	var all []string
	for _, w := range c.wallets {
		all = append(all, w.output.String())
	}
	return strings.Join(all, "\n")
}

package ledgertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// claimChaos has wallets share claims and forget what they hold: several make the
// same claim at once, acknowledge a part of it, give it back, prolong it, reject and
// put back, while players play. Everything is booked in the end, and nothing under
// two transactions.
func claimChaos(t *testing.T, w Wallets) {
	const workers, players, rounds, lease = 6, 8, 12, 300 * time.Millisecond
	operator := "op-" + unique()
	var done sync.WaitGroup
	var all []*subject
	for range players {
		all = append(all, playerOf(t, w, operator))
	}
	for _, p := range all {
		done.Go(func() { p.play(rounds) })
	}
	c := &chaos{t: t, w: w, operator: operator, lease: lease, booked: make(map[ledger.RoundID]bool)}
	seed := rand.Uint64()
	for i := range workers {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		done.Go(func() {
			for n, begin := 0, time.Now(); c.count() < players*rounds && !t.Failed() && time.Since(begin) < time.Minute; n++ {
				c.turn(random, n)
			}
		})
	}
	done.Wait()
	if n := c.count(); n != players*rounds {
		t.Fatalf("%d of %d settlements are booked; random numbers %d", n, players*rounds, seed)
	}
	for part := range ledger.Partitions {
		feed, _, err := w.Store.Settlements(ctx, operator, part, 0, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range feed {
			if r.WalletTransaction != transactionOf(r.Round) {
				t.Errorf("%s is booked as %q", r.Round, r.WalletTransaction)
			}
		}
	}
	if left, err := w.Store.Backlog(ctx, operator); err != nil || left != (ledger.Backlog{}) {
		t.Errorf("left %+v, %v", left, err)
	}
}

type chaos struct {
	t        *testing.T
	w        Wallets
	operator string
	lease    time.Duration

	mu     sync.Mutex
	booked map[ledger.RoundID]bool
}

func transactionOf(id ledger.RoundID) string { return "tx-" + id.String() }

func (c *chaos) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.booked)
}

// turn makes a claim that others may be making, and does something with it. All
// workers use the ids in the same order, a few at a time.
func (c *chaos) turn(random *rand.Rand, n int) {
	id := fmt.Sprintf("chaos-%s-%d", c.operator, n/2+random.IntN(3))
	got, err := c.w.Store.Claim(ctx, ledger.Claim{Operator: c.operator, ID: id, Consumer: "c", Max: 9, Lease: c.lease})
	if err != nil {
		c.t.Errorf("claim: %v", err)
		return
	}
	if len(got) > 9 {
		c.t.Errorf("%d settlements", len(got))
	}
	last := make(map[ledger.Player]uint64)
	for _, r := range got {
		if last[r.Player] >= r.Sequence {
			c.t.Errorf("%s comes after %d", r.Round, last[r.Player])
		}
		last[r.Player] = r.Sequence
	}
	switch random.IntN(8) {
	case 0:
		_, err = c.w.Store.Release(ctx, c.operator, id)
	case 1:
		_, _, err = c.w.Store.Extend(ctx, c.operator, id, c.lease)
	case 2:
		err = c.reject(got)
	case 3: // the wallet dies
	default:
		err = c.book(got[:random.IntN(len(got)+1)])
	}
	if err != nil {
		c.t.Errorf("%v", err)
	}
}

func (c *chaos) book(rounds []ledger.SettledRound) error {
	var acks []ledger.Ack
	for _, r := range rounds {
		acks = append(acks, ledger.Ack{Round: r.Round, Token: r.Token, WalletTransaction: transactionOf(r.Round)})
	}
	results, err := c.w.Store.Acknowledge(ctx, c.operator, acks)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range results {
		switch r.Status {
		case ledger.Acknowledged:
			if c.booked[rounds[i].Round] {
				c.t.Errorf("%s is acknowledged twice", rounds[i].Round)
			}
			c.booked[rounds[i].Round] = true
		case ledger.AlreadyAcknowledged, ledger.StaleLease:
		default:
			c.t.Errorf("%s: %+v", rounds[i].Round, r)
		}
	}
	return err
}

// reject makes a dead letter of the first one, and puts back all that there are.
func (c *chaos) reject(rounds []ledger.SettledRound) error {
	if len(rounds) > 0 {
		_, err := c.w.Store.Acknowledge(ctx, c.operator, []ledger.Ack{{Round: rounds[0].Round, Token: rounds[0].Token, Rejected: true}})
		if err != nil {
			return err
		}
	}
	for part := range ledger.Partitions {
		letters, err := c.w.Store.Rejected(ctx, c.operator, part, 0, 100)
		if err != nil {
			return err
		}
		for _, r := range letters {
			if err := c.w.Store.Requeue(ctx, c.operator, r.Round); err != nil && !errors.Is(err, ledger.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

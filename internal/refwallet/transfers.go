package refwallet

import (
	"context"
	"sync"
	"time"
)

// transfersAtOnce bounds the transfers that are under way at one time.
const transfersAtOnce = 16

// carrier brings transfers to an end: each by itself, so that one which hangs
// holds up no other.
type carrier struct {
	books    *Books
	platform *platform
	pause    backoff
	failed   func(string, error)

	mu   sync.Mutex
	busy map[string]*attempt
}

// attempt is a transfer that is under way, or waits for its next try.
type attempt struct {
	running bool
	tries   int
	due     time.Time
}

// carry starts a try of each open transfer that is due.
func (c *carrier) carry(ctx context.Context, now time.Time, all *sync.WaitGroup) error {
	open, err := c.books.OpenTransfers(ctx)
	if err != nil {
		return err
	}
	c.forget(open)
	for _, t := range open {
		if !c.start(t.ID, now) {
			continue
		}
		all.Go(func() {
			err := c.try(ctx, t)
			if err != nil {
				c.failed("transfer "+t.ID, err)
			}
			c.finish(t.ID)
		})
	}
	return nil
}

// forget drops the attempts of transfers that have ended.
func (c *carrier) forget(open []Transfer) {
	ids := make(map[string]bool, len(open))
	for _, t := range open {
		ids[t.ID] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, a := range c.busy {
		if !a.running && !ids[id] {
			delete(c.busy, id)
		}
	}
}

func (c *carrier) start(id string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	running := 0
	for _, a := range c.busy {
		if a.running {
			running++
		}
	}
	a := c.busy[id]
	if a == nil {
		a = new(attempt)
		c.busy[id] = a
	}
	if running >= transfersAtOnce || a.running || now.Before(a.due) {
		return false
	}
	a.running = true
	a.due = now.Add(c.pause.after(a.tries))
	a.tries++
	return true
}

func (c *carrier) finish(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy[id].running = false
}

// try makes one call about a transfer. Only an answer that says what became of
// it ends it; every other is no answer, and the same call is made again.
func (c *carrier) try(ctx context.Context, t Transfer) error {
	answer, err := c.call(ctx, t)
	switch reasonOf(err) {
	case "TRANSFER_CANCELLED":
		return c.books.End(ctx, t.ID, Cancelled)
	case "TRANSFER_ID_REUSED":
		return c.books.End(ctx, t.ID, Stuck)
	case "INVALID_FIELD":
		// It will never be taken. Whether an earlier try was is told by its
		// cancellation.
		_, err := c.books.GiveUp(ctx, t.ID)
		return err
	}
	if err != nil {
		return err
	}
	switch {
	case answer.ID != t.ID: // the answer to another call
	case answer.State == Applied, answer.State == Refused, answer.State == Cancelled:
		return c.books.End(ctx, t.ID, answer.State)
	}
	return nil
}

func (c *carrier) call(ctx context.Context, t Transfer) (transferAnswer, error) {
	if t.State == Cancelling {
		return c.platform.cancel(ctx, t.ID)
	}
	return c.platform.transfer(ctx, transferRequest{t.ID, t.Player, t.Direction, amount{t.Currency, integer(t.Amount)}})
}

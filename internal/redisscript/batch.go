package redisscript

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	maxSenders = 2  // exchanges under way at once
	maxBatch   = 64 // calls in one: two milliseconds of Redis at most

	exchangeTimeout = 2 * time.Second // of one
)

// batcher sends calls that wait at the same time together, so that many callers
// share the cost of a system call here and in Redis, and calls of one step the
// run of their script. It waits for nobody: while an exchange is under way, the
// next one gathers.
type batcher struct {
	client *redis.Client

	mu      sync.Mutex
	waiting []*call
	senders int
}

// do makes a call once and returns its answer. When its context ends first, the
// call was dropped unsent or may yet have an effect.
func (b *batcher) do(c *call) (any, error) {
	if b.enter(c) {
		perform(c.ctx, []*call{c}, b.send)
		b.leave()
		return c.answer, c.err
	}
	select {
	case <-c.done:
		return c.answer, c.err
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

// enter makes the caller a sender if there is room for one, and queues its call
// otherwise.
func (b *batcher) enter(c *call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.senders < maxSenders {
		b.senders++
		return true
	}
	c.done = make(chan struct{})
	b.waiting = append(b.waiting, c)
	return false
}

// leave ends a caller's time as a sender. What gathered meanwhile is sent by a
// goroutine, which ends when nothing waits: a batcher needs no closing.
func (b *batcher) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 {
		go b.work()
		return
	}
	b.senders--
}

func (b *batcher) work() {
	for batch := b.next(nil); len(batch) > 0; batch = b.next(batch) {
		b.exchange(batch)
		for _, c := range batch {
			close(c.done)
		}
	}
}

// next takes what waits; none when the sender has to end. The last batch gives
// its space.
func (b *batcher) next(last []*call) []*call {
	clear(last)
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), maxBatch)
	batch := append(last[:0], b.waiting[:n]...)
	rest := copy(b.waiting, b.waiting[n:])
	clear(b.waiting[rest:])
	b.waiting = b.waiting[:rest]
	if n == 0 {
		b.senders--
	}
	return batch
}

// exchange makes the calls of a batch. One whose caller has gone is dropped: it
// must not take effect late.
func (b *batcher) exchange(batch []*call) {
	ctx, cancel := context.WithTimeout(context.Background(), exchangeTimeout)
	defer cancel()
	wanted := make([]*call, 0, len(batch))
	for _, c := range batch {
		if c.err = c.ctx.Err(); c.err == nil {
			wanted = append(wanted, c)
		}
	}
	if len(wanted) > 0 {
		perform(ctx, wanted, b.send)
	}
}

// send sends commands, more than one of them in a pipeline.
func (b *batcher) send(ctx context.Context, commands []command) {
	if len(commands) == 1 {
		_ = b.client.Process(ctx, commands[0]) // the command holds the error, too
		return
	}
	pipe := b.client.Pipeline()
	for _, cmd := range commands {
		_ = pipe.Process(ctx, cmd)
	}
	_, _ = pipe.Exec(ctx) // each command holds its own error
}

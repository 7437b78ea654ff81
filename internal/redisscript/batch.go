package redisscript

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	maxSenders = 2   // pipelines under way at once
	maxBatch   = 128 // commands in one

	exchangeTimeout = 2 * time.Second // of one pipeline
)

// batcher sends commands that wait at the same time in one pipeline, so that
// many callers share the cost of a system call here and in Redis. It waits for
// nobody: while a pipeline is under way, the next one gathers.
type batcher struct {
	client *redis.Client

	mu      sync.Mutex
	waiting []*pending
	senders int
}

// pending is a command that waits to be sent, or for its answer.
type pending struct {
	ctx  context.Context
	cmd  call
	done chan struct{} // closed when cmd holds its answer
}

// process sends a command once and returns its answer. When ctx ends first,
// the command was dropped unsent or may yet have an effect.
func (b *batcher) process(ctx context.Context, cmd call) (any, error) {
	p := &pending{ctx, cmd, make(chan struct{})}
	if b.enter(p) {
		_ = b.client.Process(ctx, cmd) // the command holds the error, too
		b.leave()
		return cmd.Result()
	}
	select {
	case <-p.done:
		return cmd.Result()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enter makes the caller a sender if there is room for one, and queues its
// command otherwise.
func (b *batcher) enter(p *pending) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.senders < maxSenders {
		b.senders++
		return true
	}
	b.waiting = append(b.waiting, p)
	return false
}

// leave ends a caller's time as a sender. What gathered meanwhile is sent by a
// goroutine, which ends when nothing waits: a batcher needs no closing.
func (b *batcher) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 {
		go b.send()
		return
	}
	b.senders--
}

func (b *batcher) send() {
	for batch := b.next(nil); len(batch) > 0; batch = b.next(batch) {
		b.exchange(batch)
		for _, p := range batch {
			close(p.done)
		}
	}
}

// next takes what waits; none when the sender has to end. The last batch gives
// its space.
func (b *batcher) next(last []*pending) []*pending {
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

// exchange sends a batch and reads its answers. A command whose caller has
// gone is dropped: it must not take effect late.
func (b *batcher) exchange(batch []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), exchangeTimeout)
	defer cancel()
	pipe := b.client.Pipeline()
	for _, p := range batch {
		if err := p.ctx.Err(); err != nil {
			p.cmd.SetErr(err)
			continue
		}
		_ = pipe.Process(ctx, p.cmd)
	}
	_, _ = pipe.Exec(ctx) // each command holds its own error
}

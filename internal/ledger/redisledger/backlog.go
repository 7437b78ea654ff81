package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
)

// Backlog returns what an operator's wallet has left to do. It remembers up to
// where nothing waits, so that each settlement is looked at once.
func (s *Store) Backlog(ctx context.Context, operator string) (ledger.Backlog, error) {
	heads, err := s.Heads(ctx, operator)
	if err != nil {
		return ledger.Backlog{}, err
	}
	var letters [ledger.Partitions]*redis.IntCmd
	var sorted, done [ledger.Partitions]*redis.StringCmd
	err = s.look(ctx, "backlog", func(pipe redis.Pipeliner) {
		for p := range letters {
			letters[p] = pipe.ZCard(ctx, tag(p)+":d:"+operator)
			sorted[p] = pipe.HGet(ctx, tag(p)+":q:"+operator, "c")
			done[p] = pipe.HGet(ctx, tag(p)+":q:"+operator, "w")
		}
	})
	if err != nil {
		return ledger.Backlog{}, err
	}
	var b ledger.Backlog
	var waiting [ledger.Partitions]bool
	for p, head := range heads {
		upto, err1 := sequenceOf(sorted[p])
		quiet, err2 := sequenceOf(done[p])
		if err := errors.Join(err1, err2); err != nil {
			return ledger.Backlog{}, fmt.Errorf("redisledger: backlog: %w", err)
		}
		b.DeadLetters += letters[p].Val()
		b.Unclaimed += int64(head - min(head, upto)) // the heads were read before
		waiting[p] = quiet < head
	}
	b.OldestAge, err = s.oldestAge(ctx, operator, waiting)
	return b, err
}

// sequenceOf reads a sequence; 0 where there is none.
func sequenceOf(cmd *redis.StringCmd) (uint64, error) {
	n, err := cmd.Uint64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}

// oldestAge returns for how long the oldest settlement of these partitions has
// waited for the wallet; 0 where none does.
func (s *Store) oldestAge(ctx context.Context, operator string, waiting [ledger.Partitions]bool) (time.Duration, error) {
	var mu sync.Mutex
	var oldest time.Duration
	err := everyPartition(func(p int) error {
		if !waiting[p] {
			return nil
		}
		age, err := s.oldestOf(ctx, operator, p)
		mu.Lock()
		defer mu.Unlock()
		oldest = max(oldest, age)
		return err
	})
	return oldest, err
}

func (s *Store) oldestOf(ctx context.Context, operator string, partition int) (time.Duration, error) {
	for {
		r, err := s.run(ctx, oldestScript, []string{outboxKey(operator, partition)}, operator, sortStep)
		if err != nil {
			return 0, err
		}
		if r.word() == "MORE" {
			continue
		}
		if r.word() != "OK" {
			return 0, r.unexpected(oldestScript)
		}
		if r.text(1) == "" {
			return 0, nil
		}
		ms, err := strconv.ParseInt(r.text(1), 10, 64)
		if err != nil {
			return 0, r.unexpected(oldestScript)
		}
		return time.Duration(ms) * time.Millisecond, nil
	}
}

package redisledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
)

// Backlog returns how many settlements of an operator are dead letters, and how
// many nobody has claimed, acknowledged or looked for yet.
func (s *Store) Backlog(ctx context.Context, operator string) (dead, unclaimed int64, err error) {
	heads, err := s.Heads(ctx, operator)
	if err != nil {
		return 0, 0, err
	}
	var letters [ledger.Partitions]*redis.IntCmd
	var sorted [ledger.Partitions]*redis.StringCmd
	err = s.look(ctx, "backlog", func(pipe redis.Pipeliner) {
		for p := range letters {
			letters[p] = pipe.ZCard(ctx, tag(p)+":d:"+operator)
			sorted[p] = pipe.HGet(ctx, tag(p)+":q:"+operator, "c")
		}
	})
	if err != nil {
		return 0, 0, err
	}
	for p, head := range heads {
		upto, err := sorted[p].Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return 0, 0, fmt.Errorf("redisledger: backlog: %w", err)
		}
		dead += letters[p].Val()
		unclaimed += max(0, int64(head)-upto) // the heads were read before
	}
	return dead, unclaimed, nil
}

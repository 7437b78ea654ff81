package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/redisscript"
)

// ErrEviction says that Redis may evict keys to free memory. It must never:
// keys are money.
var ErrEviction = errors.New("redisledger: maxmemory-policy is not noeviction")

// Check asks every master, through INFO alone, whether it may hold money.
// Warnings are lines for a person: what a crash could lose. The error is
// ErrEviction, or that of a store that does not answer.
func (s *Store) Check(ctx context.Context) (warnings []string, err error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return check(ctx, s.client)
	}
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		w, err := check(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		for _, line := range w {
			warnings = append(warnings, c.Options().Addr+": "+line)
		}
		return err
	})
	return warnings, err
}

func check(ctx context.Context, c redis.Cmdable) ([]string, error) {
	memory, err := info(ctx, c, "memory")
	if err != nil {
		return nil, err
	}
	if memory["maxmemory_policy"] != "noeviction" {
		return nil, fmt.Errorf("%w but %q", ErrEviction, memory["maxmemory_policy"])
	}
	persistence, err := info(ctx, c, "persistence")
	if err != nil {
		return nil, err
	}
	if persistence["aof_enabled"] != "1" {
		return []string{"the append-only file is off: a crash loses bets and money; set appendonly yes and appendfsync always"}, nil
	}
	if persistence["aof_last_write_status"] == "err" {
		return []string{"the last write of the append-only file failed"}, nil
	}
	return []string{"appendfsync cannot be seen from here: with everysec, the default, a crash loses up to two seconds of bets and money; set it to always"}, nil
}

// info returns one section as names and values.
func info(ctx context.Context, c redis.Cmdable, section string) (map[string]string, error) {
	text, err := c.Info(ctx, section).Result()
	if err != nil {
		return nil, redisscript.Failure("info", err)
	}
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// Package redisledger holds the ledger.Store on Redis: a single node, Sentinel
// or Cluster. It must never import a service, a game's rules, or anything that
// opens a server seed.
//
// Each method is one script, scripts/*.lua, that runs in the slot of one
// partition; scripts/prelude.lua says what the keys hold. No call is ever
// repeated by the driver: a caller repeats it, and every script then finds
// what the first call left.
package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options adjust a Store.
type Options struct {
	// OnCall is told of every call: the script's name, how long it took with
	// the way to Redis and back, and what Redis or the driver answered. Refusals
	// are no errors here. It must be quick and safe for concurrent use.
	OnCall func(script string, took time.Duration, err error)
}

// Store keeps players in Redis. It is safe for concurrent use.
type Store struct {
	client redis.UniversalClient
	batch  *batcher // nil in a Cluster, whose driver sends a pipeline again
	onCall func(script string, took time.Duration, err error)
}

// New returns a Store on a client, which Dial should have made: another one
// must have the same options, MaxRetries -1 above all. The caller closes it.
func New(client redis.UniversalClient, o Options) *Store {
	s := &Store{client: client, onCall: o.OnCall}
	if one, ok := client.(*redis.Client); ok {
		s.batch = &batcher{client: one}
	}
	if s.onCall == nil {
		s.onCall = func(string, time.Duration, error) {}
	}
	return s
}

// call is a command that is sent at most once. MaxRetries -1 alone does not
// say so to a Cluster client, which goes on to the next node after a time-out.
type call struct{ *redis.Cmd }

// NoRetry tells the driver never to send the command again.
func (call) NoRetry() bool { return true }

// run executes a script and returns its answer: a word, and what follows it.
// Every script goes through here.
func (s *Store) run(ctx context.Context, sc *script, keys []string, args ...any) (reply, error) {
	start := time.Now()
	answer, err := s.send(ctx, "evalsha", sc.sha, keys, args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		answer, err = s.send(ctx, "eval", sc.text, keys, args) // surely not executed before
	}
	s.onCall(sc.name, time.Since(start), err)
	if err != nil {
		return nil, s.failed(ctx, sc.name, err)
	}
	list, ok := answer.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("redisledger: %s: %w", sc.name, errReply)
	}
	return list, nil
}

func (s *Store) send(ctx context.Context, command, text string, keys []string, args []any) (any, error) {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, command, text, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	cmd := call{redis.NewCmd(ctx, append(all, args...)...)}
	if s.batch != nil {
		return s.batch.process(ctx, cmd)
	}
	_ = s.client.Process(ctx, cmd) // the command holds the error, too
	return cmd.Result()
}

// failed sorts an error. The driver looks for the masters of a Cluster anew
// only when it repeats a command, which ours forbid, or once a minute.
func (s *Store) failed(ctx context.Context, script string, err error) error {
	err = failure(script, err)
	cluster, ok := s.client.(*redis.ClusterClient)
	if ok && errors.Is(err, error(storeUnavailable)) {
		cluster.ReloadState(ctx) // in the background
	}
	return err
}

// Now returns the clock of the store; in a Cluster, of any of its nodes.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	start := time.Now()
	now, err := s.client.Time(ctx).Result()
	s.onCall("time", time.Since(start), err)
	if err != nil {
		return time.Time{}, s.failed(ctx, "time", err)
	}
	return now.UTC(), nil
}

var errReply = errors.New("unexpected answer of Redis")

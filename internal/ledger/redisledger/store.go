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
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/redisscript"
)

// Options adjust a Store.
type Options struct {
	// OnCall is told of every call: the script's name, how long it took with
	// the way to Redis and back, and what Redis or the driver answered. Refusals
	// are no errors here. It must be quick and safe for concurrent use.
	OnCall func(script string, took time.Duration, err error)

	// TransferLease is how long a repeat of a transfer that was begun and not
	// finished is told IN_PROGRESS; 5 s when zero.
	TransferLease time.Duration
	// Attempts is how often a player's oldest settlement is claimed in vain before
	// it becomes a dead letter, 1..255; 10 when zero.
	Attempts int
	// Backoff is the delay after the first vain claim; it doubles with each further
	// one, up to an hour. 1 s when zero.
	Backoff time.Duration
}

// Store keeps players in Redis. It is safe for concurrent use.
type Store struct {
	client redis.UniversalClient
	runner *redisscript.Runner
	onCall func(script string, took time.Duration, err error)

	transferLease time.Duration
	attempts      int
	backoff       time.Duration
	turn          atomic.Uint32 // partition at which the next claim begins
}

// New returns a Store on a client, which Dial should have made: another one
// must have the same options, MaxRetries -1 above all. The caller closes it.
func New(client redis.UniversalClient, o Options) *Store {
	if o.OnCall == nil {
		o.OnCall = func(string, time.Duration, error) {}
	}
	return &Store{
		client: client, runner: redisscript.NewRunner(client, o.OnCall), onCall: o.OnCall,
		transferLease: cmp.Or(o.TransferLease, 5*time.Second), attempts: cmp.Or(o.Attempts, 10), backoff: cmp.Or(o.Backoff, time.Second),
	}
}

// run executes a script and returns its answer: a word, and what follows it.
// Every script goes through here.
func (s *Store) run(ctx context.Context, sc *redisscript.Script, keys []string, args ...any) (reply, error) {
	return s.runner.Run(ctx, sc, keys, args...)
}

// Now returns the clock of the store; in a Cluster, of any of its nodes.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	start := time.Now()
	now, err := s.client.Time(ctx).Result()
	s.onCall("time", time.Since(start), err)
	if err != nil {
		return time.Time{}, s.runner.Failed(ctx, "time", err)
	}
	return now.UTC(), nil
}

var errReply = errors.New("unexpected answer of Redis")

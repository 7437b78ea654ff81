// Package redisscript runs Lua scripts on Redis, each at most once a call, and
// sorts what can go wrong. It must never import a store, a service or a game.
package redisscript

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua program and the digest by which Redis knows it.
type Script struct{ name, text, sha string }

// New returns the script that consists of these parts, one after the other.
// The name is for logs and metrics.
func New(name string, parts ...string) *Script {
	text := strings.Join(parts, "")
	sum := sha1.Sum([]byte(text)) // not for security: EVALSHA names scripts so
	return &Script{name, text, hex.EncodeToString(sum[:])}
}

// Name returns the name.
func (s *Script) Name() string { return s.name }

// Runner runs scripts. It is safe for concurrent use.
type Runner struct {
	client redis.UniversalClient
	batch  *batcher // nil in a Cluster, whose driver sends a pipeline again
	onCall func(script string, took time.Duration, err error)
}

// NewRunner returns a Runner on a client whose MaxRetries is -1. onCall, which
// may be nil, is told of every call: the script's name, how long it took with
// the way to Redis and back, and what Redis or the driver answered.
func NewRunner(client redis.UniversalClient, onCall func(script string, took time.Duration, err error)) *Runner {
	if onCall == nil {
		onCall = func(string, time.Duration, error) {}
	}
	r := &Runner{client: client, onCall: onCall}
	if one, ok := client.(*redis.Client); ok {
		r.batch = &batcher{client: one}
	}
	return r
}

// call is a command that is sent at most once. MaxRetries -1 alone does not
// say so to a Cluster client, which goes on to the next node after a time-out.
type call struct{ *redis.Cmd }

// NoRetry tells the driver never to send the command again.
func (call) NoRetry() bool { return true }

var errReply = errors.New("unexpected answer of Redis")

// Run executes a script and returns its answer, a list that is not empty.
// Errors: STORE_UNAVAILABLE when it is not known whether the script ran;
// another one when the data are not what the script needs.
func (r *Runner) Run(ctx context.Context, s *Script, keys []string, args ...any) ([]any, error) {
	start := time.Now()
	answer, err := r.send(ctx, "evalsha", s.sha, keys, args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		answer, err = r.send(ctx, "eval", s.text, keys, args) // surely not executed before
	}
	r.onCall(s.name, time.Since(start), err)
	if err != nil {
		return nil, r.Failed(ctx, s.name, err)
	}
	list, ok := answer.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("redisscript: %s: %w", s.name, errReply)
	}
	return list, nil
}

func (r *Runner) send(ctx context.Context, command, text string, keys []string, args []any) (any, error) {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, command, text, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	cmd := call{redis.NewCmd(ctx, append(all, args...)...)}
	if r.batch != nil {
		return r.batch.process(ctx, cmd)
	}
	_ = r.client.Process(ctx, cmd) // the command holds the error, too
	return cmd.Result()
}

// Failed sorts an error of a call. The driver looks for the masters of a Cluster anew
// only when it repeats a command, which ours forbid, or once a minute.
func (r *Runner) Failed(ctx context.Context, script string, err error) error {
	err = Failure(script, err)
	cluster, ok := r.client.(*redis.ClusterClient)
	if ok && errors.Is(err, error(storeUnavailable)) {
		cluster.ReloadState(ctx) // in the background
	}
	return err
}

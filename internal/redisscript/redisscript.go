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
type Script struct {
	name, text, sha string

	keys, args int // of one call of a step; 0 keys: not a step
}

// New returns the script that consists of these parts, one after the other.
// The name is for logs and metrics.
func New(name string, parts ...string) *Script {
	text := strings.Join(parts, "")
	sum := sha1.Sum([]byte(text)) // not for security: EVALSHA names scripts so
	return &Script{name: name, text: text, sha: hex.EncodeToString(sum[:])}
}

// stepText calls the function step with the keys and arguments of each call in
// turn. A refusal, and whatever goes wrong, is the answer of that call alone.
const stepText = `
local answers = {}
for i = 1, #KEYS, %[1]d do
  local last = (i - 1) / %[1]d * %[2]d + %[2]d
  local _, answer = pcall(step, %[3]s, unpack(ARGV, last - %[2]d + 1, last))
  if type(answer) == 'string' then -- an error: that of a command, or of the script
    answer = {err = answer:find('^%%u+ ') and answer or 'ERR ' .. answer}
  end
  answers[#answers + 1] = answer
end
return answers
`

// NewStep returns a script that many calls can share in one run of it. Its parts
// define a Lua function step, which takes that many keys (at least one) and then
// arguments, and answers as a script does. Each call has exactly as many. Calls
// that share a run are one atomic step of Redis, in which each finds what those
// before it left; a step that fails fails for its own caller. Calls for different
// slots of a Cluster never share a run.
func NewStep(name string, keys, args int, parts ...string) *Script {
	list := make([]string, keys)
	for i := range list {
		list[i] = fmt.Sprintf("KEYS[i + %d]", i)
	}
	s := New(name, append(parts, fmt.Sprintf(stepText, keys, args, strings.Join(list, ", ")))...)
	s.keys, s.args = keys, args
	return s
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
	if cluster, ok := client.(*redis.ClusterClient); ok {
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(stay{}) })
	}
	return r
}

var errReply = errors.New("unexpected answer of Redis")

// Run executes a script and returns its answer, a list that is not empty.
// Errors: STORE_UNAVAILABLE when it is not known whether the script ran;
// another one when the data are not what the script needs.
func (r *Runner) Run(ctx context.Context, s *Script, keys []string, args ...any) ([]any, error) {
	if s.keys > 0 && (len(keys) != s.keys || len(args) != s.args) {
		return nil, fmt.Errorf("redisscript: %s: called with %d keys and %d arguments", s.name, len(keys), len(args))
	}
	start := time.Now()
	answer, err := r.do(&call{ctx: ctx, script: s, keys: keys, args: args})
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

func (r *Runner) do(c *call) (any, error) {
	if r.batch != nil {
		return r.batch.do(c)
	}
	perform(c.ctx, []*call{c}, r.one)
	return c.answer, c.err
}

// one sends commands one by one.
func (r *Runner) one(ctx context.Context, commands []command) {
	for _, cmd := range commands {
		_ = r.client.Process(ctx, cmd) // the command holds the error, too
	}
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

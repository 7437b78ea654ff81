package redisscript

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// call is one call of a script.
type call struct {
	ctx    context.Context
	script *Script
	keys   []string
	args   []any

	answer any
	err    error
	done   chan struct{} // closed when the answer is there; nil where nobody waits
}

// command is sent to Redis at most once. MaxRetries -1 alone does not say so to
// a Cluster client, which goes on to the next node after a time-out.
type command struct{ *redis.Cmd }

// NoRetry tells the driver never to send the command again.
func (command) NoRetry() bool { return true }

// perform makes calls, those of one step in one run of its script. send sends
// commands once and waits for their answers, which the commands then hold.
func perform(ctx context.Context, calls []*call, send func(context.Context, []command)) {
	unknown := exchange(ctx, calls, "evalsha", send)
	if len(unknown) > 0 { // the script, and so nothing of these calls was executed
		exchange(ctx, unknown, "eval", send)
	}
}

// exchange sends calls and hands out their answers. It returns those whose
// script Redis does not know.
func exchange(ctx context.Context, calls []*call, verb string, send func(context.Context, []command)) (unknown []*call) {
	runs := share(calls)
	commands := make([]command, len(runs))
	for i, run := range runs {
		commands[i] = command{redis.NewCmd(ctx, words(verb, run)...)}
	}
	send(ctx, commands)
	for i, run := range runs {
		answer, err := commands[i].Result()
		if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
			unknown = append(unknown, run...)
		}
		handOut(run, answer, err)
	}
	return unknown
}

// share puts the calls of each step together, in the order in which they came,
// and every other call alone.
func share(calls []*call) (runs [][]*call) {
	place := make(map[*Script]int)
	for _, c := range calls {
		at, ok := place[c.script]
		if !ok || c.script.keys == 0 {
			place[c.script] = len(runs)
			runs = append(runs, []*call{c})
			continue
		}
		runs[at] = append(runs[at], c)
	}
	return runs
}

// words returns the command that runs the script of these calls.
func words(verb string, run []*call) []any {
	first := run[0]
	all := make([]any, 0, 3+len(run)*(len(first.keys)+len(first.args)))
	text := first.script.sha
	if verb == "eval" {
		text = first.script.text
	}
	all = append(all, verb, text, len(run)*len(first.keys))
	for _, c := range run {
		for _, k := range c.keys {
			all = append(all, k)
		}
	}
	for _, c := range run {
		all = append(all, c.args...)
	}
	return all
}

// handOut gives each call of a run its own answer.
func handOut(run []*call, answer any, err error) {
	if run[0].script.keys == 0 || err != nil {
		for _, c := range run {
			c.answer, c.err = answer, err
		}
		return
	}
	answers, _ := answer.([]any)
	for i, c := range run {
		c.answer, c.err = nil, errReply
		if len(answers) == len(run) {
			c.answer = answers[i]
			c.err, _ = answers[i].(error)
		}
	}
}

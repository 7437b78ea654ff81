package redisledger_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger/ledgertest"
)

// faultHook fails scripts on their way to Redis, or their answers on the way back.
type faultHook struct {
	mu     sync.Mutex
	calls  int
	decide func(call int) ledgertest.Fault
}

var errInjected = errors.New("injected fault")

func (h *faultHook) next(cmd redis.Cmder) ledgertest.Fault {
	if !strings.HasPrefix(strings.ToLower(cmd.Name()), "eval") {
		return ledgertest.None
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	return h.decide(h.calls - 1)
}

func (h *faultHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *faultHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.exchange([]redis.Cmder{cmd}, func(cmds []redis.Cmder) error { return next(ctx, cmds[0]) })
	}
}

func (h *faultHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h.exchange(cmds, func(cmds []redis.Cmder) error { return next(ctx, cmds) })
	}
}

func (h *faultHook) exchange(cmds []redis.Cmder, send func([]redis.Cmder) error) error {
	var sent, lost []redis.Cmder
	for _, cmd := range cmds {
		switch h.next(cmd) {
		case ledgertest.Failed:
			cmd.SetErr(errInjected)
			continue
		case ledgertest.Persisted:
			lost = append(lost, cmd)
		}
		sent = append(sent, cmd)
	}
	var err error
	if len(sent) > 0 {
		err = send(sent)
	}
	for _, cmd := range lost {
		cmd.SetErr(errInjected)
	}
	if len(lost)+len(cmds)-len(sent) > 0 {
		return errInjected
	}
	return err
}

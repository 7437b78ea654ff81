package crash

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// dying is the store of an owner who dies as soon as a round is locked.
type dying struct {
	ledger.CrashStore
	die func()
}

func (d dying) LockCrashRound(ctx context.Context, o ledger.CrashOwner, number uint32) (ledger.CrashState, error) {
	s, err := d.CrashStore.LockCrashRound(ctx, o, number)
	d.die()
	return s, err
}

// halfway lets the call through by which a bet finds its round, and holds the one
// that takes it, which names the player's key.
type halfway struct {
	line
	once    sync.Once
	held    chan struct{} // closed when it is held
	release chan struct{}
}

func (w *halfway) meet(cmds ...redis.Cmder) {
	for _, cmd := range cmds {
		if !strings.Contains(fmt.Sprint(cmd.Args()...), "}:u:") {
			continue
		}
		w.once.Do(func() {
			close(w.held)
			<-w.release
		})
	}
}

func (w *halfway) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { w.meet(cmd); return next(ctx, cmd) }
}

func (w *halfway) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { w.meet(cmds...); return next(ctx, cmds) }
}

// Bets accepted after the round has begun: a bet that found its round before the
// lock, and was held up, does not enter it after the lock, even where the owner
// dies at once. With a beacon it could come when the crash point is known.
func TestABetThatWasHeldUpDoesNotEnterALockedRound(t *testing.T) {
	h := onRedis(t)
	way := &line{}
	owner := &process{line: way, done: make(chan struct{})}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	die := func() { way.cut.Store(true); end() }
	owner.Service = New(Options{
		Store: dying{redisledger.New(h.dial(way), redisledger.Options{}), die}, House: config.Default(), Growth: growth, Log: zap.NewNop(),
		Tables: []Table{{Name: "main", Chain: h.chain, Timings: h.short}}, pace: h.pace,
	})
	alice := h.player("alice")
	client := h.dial(nil)
	slow := &halfway{held: make(chan struct{}), release: make(chan struct{})}
	client.(*redis.Client).AddHook(slow)
	front := &process{Service: New(Options{
		Store: redisledger.New(client, redisledger.Options{}), House: config.Default(), Growth: growth, Log: zap.NewNop(),
		Tables: []Table{{Name: "main", Chain: h.chain, Timings: h.short}},
	})}
	go func() { defer close(owner.done); owner.Run(ctx) }()
	h.awaitPhase(1, ledger.CrashBetting)
	type answer struct {
		round *originalsv1.Round
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		round, err := front.bet(alice, "x", 200)
		answered <- answer{round, err}
	}()
	<-slow.held
	h.awaitPhase(1, ledger.CrashClosing)
	<-owner.done
	if s := h.state(); s.Round.Number != 1 || s.Round.Phase != ledger.CrashClosing {
		t.Fatalf("the owner has lived on: %+v", s.Round)
	}
	close(slow.release)
	select {
	case a := <-answered:
		if a.err == nil && a.round.GetCrash().GetNumber() != 2 || a.err != nil && reason.Of(a.err) != reason.BettingClosed {
			t.Errorf("after the lock: %v %v", a.round, a.err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no answer")
	}
}

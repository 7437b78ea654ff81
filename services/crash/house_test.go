package crash

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// growth is made once: it takes a while.
var growth = crash.NewGrowth()

// house is a store and a table that several processes may own by turns.
type house struct {
	t     testing.TB
	url   string
	chain *Chain
	pace  int64
	short Timings

	patience, stale time.Duration
	store           *redisledger.Store // never cut off
}

// quick are the timings of tests.
var quick = Timings{Betting: 300 * time.Millisecond, Crashed: 20 * time.Millisecond, Tick: 5 * time.Millisecond}

func newHouse(t testing.TB, url string) *house {
	t.Helper()
	h := &house{t: t, url: url, chain: newChain(t), pace: 200, short: quick}
	h.store = redisledger.New(h.dial(nil), redisledger.Options{})
	return h
}

func newChain(t testing.TB) *Chain {
	t.Helper()
	chain, err := NewOwnChain("main", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func onRedis(t testing.TB) *house {
	t.Helper()
	return newHouse(t, testenv.Redis(t, testenv.InMemory, testenv.Args("--enable-debug-command", "yes")).URL())
}

func onEmbedded(t testing.TB) (*house, *embedded.Embedded) {
	t.Helper()
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return newHouse(t, e.URL()), e
}

func (h *house) dial(l *line) redis.UniversalClient {
	h.t.Helper()
	c, err := redisledger.Dial(h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	if l != nil {
		c.(*redis.Client).AddHook(l)
	}
	h.t.Cleanup(func() { c.Close() })
	return c
}

// line is the way of one process to the store.
type line struct {
	cut    atomic.Bool // nothing gets through any more, as though the process were dead
	paused atomic.Pointer[chan struct{}]
}

var errCut = errors.New("the process is dead")

func (l *line) pass() error {
	if wait := l.paused.Load(); wait != nil {
		<-*wait
	}
	if l.cut.Load() {
		return errCut
	}
	return nil
}

// pause holds every call back, as SIGSTOP does, until the returned function.
func (l *line) pause() (resume func()) {
	wait := make(chan struct{})
	l.paused.Store(&wait)
	return func() {
		l.paused.Store(nil)
		close(wait)
	}
}

func (l *line) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (l *line) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := l.pass(); err != nil {
			cmd.SetErr(err)
			return err
		}
		return next(context.WithoutCancel(ctx), cmd)
	}
}

func (l *line) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := l.pass(); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(context.WithoutCancel(ctx), cmds)
	}
}

// process is one process that may own the table.
type process struct {
	*Service
	line *line
	end  context.CancelFunc
	done chan struct{}
}

// start starts a process; play says whether it wants the table.
func (h *house) start(play bool) *process {
	h.t.Helper()
	return h.startTables(play, []Table{{Name: "main", Chain: h.chain, Timings: h.short}}, nil)
}

func (h *house) startTables(play bool, tables []Table, chains *Chains) *process {
	h.t.Helper()
	p := &process{line: &line{}, done: make(chan struct{})}
	p.Service = New(Options{
		Store: redisledger.New(h.dial(p.line), redisledger.Options{}), House: config.Default(), Growth: growth, Log: zap.NewNop(),
		Tables: tables, Chains: chains, pace: h.pace, patience: h.patience, stale: h.stale, turn: 10 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	if !play {
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		p.Run(ctx)
	}()
	h.t.Cleanup(func() {
		p.line.cut.Store(true)
		p.stop()
	})
	return p
}

// stop ends a process in good order.
func (p *process) stop() {
	p.end()
	<-p.done
}

// kill ends a process as kill -9 does: whatever it does next reaches nobody.
func (p *process) kill() {
	p.line.cut.Store(true)
	p.end()
}

// player makes a player with 1000.00 FUN.
func (h *house) player(name string) ledger.Player {
	h.t.Helper()
	p := ledger.Player{Operator: "house", ID: name}
	var c rng.Commitment
	copy(c[:], name)
	offer := ledger.Announced{ID: ledger.NewPairID(p, c), Sealed: make([]byte, redisledger.SealedSize)}
	if _, err := h.store.Open(context.Background(), p, offer, []ledger.Grant{{Currency: "FUN", Amount: 100_000}}); err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) balance(p ledger.Player) money.Units {
	h.t.Helper()
	all, err := h.store.Balances(context.Background(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	return all["FUN"]
}

func as(p ledger.Player) context.Context {
	return auth.NewContext(context.Background(), auth.Identity{Subject: p.ID, Operator: p.Operator, Role: auth.Player})
}

func (p *process) bet(player ledger.Player, id string, target uint32) (*originalsv1.Round, error) {
	req := &originalsv1.CrashServicePlaceBetRequest{Table: "main", BetId: id, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}}
	if target > 0 {
		req.AutoCashOutE2 = &target
	}
	return p.PlaceBet(as(player), req)
}

func (p *process) cash(player ledger.Player, id string) (*originalsv1.Round, error) {
	ctx, cancel := context.WithTimeout(as(player), 5*time.Second)
	defer cancel()
	return p.CashOut(ctx, &originalsv1.CrashServiceCashOutRequest{Table: "main", BetId: id})
}

func (h *house) state() ledger.CrashState {
	h.t.Helper()
	s, err := h.store.CrashState(context.Background(), "main")
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// await waits until something is so.
func (h *house) await(what string, done func() bool) {
	h.t.Helper()
	longest := 20 * time.Second
	if os.Getenv(realVariable) != "" {
		longest = 5 * time.Minute // a round may run that long
	}
	for deadline := time.Now().Add(longest); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited in vain for %s: %+v", what, h.state())
		}
	}
}

// awaitPhase waits until a round is in a phase, or beyond.
func (h *house) awaitPhase(number uint32, phase ledger.CrashPhase) {
	h.t.Helper()
	h.await(fmt.Sprintf("phase %d of round %d", phase, number), func() bool {
		r := h.state().Round
		return r.Number > number || r.Number == number && r.Phase >= phase
	})
}

// point is the crash point by the chain.
func (h *house) point(number uint32) uint32 {
	h.t.Helper()
	link, err := h.chain.Link(number)
	if err != nil {
		h.t.Fatal(err)
	}
	digest, err := link.CrashDigest("main", number, rng.Salt(h.chain.Salt().GetValue()))
	if err != nil {
		h.t.Fatal(err)
	}
	point, err := crash.Point(digest)
	if err != nil {
		h.t.Fatal(err)
	}
	return point
}

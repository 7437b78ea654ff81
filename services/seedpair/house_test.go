package seedpair_test

import (
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/server"
	"github.com/openoriginals/originals/internal/testenv"
	"github.com/openoriginals/originals/services/dice"
	"github.com/openoriginals/originals/services/limbo"
	"github.com/openoriginals/originals/services/mines"
	"github.com/openoriginals/originals/services/roulette"
	"github.com/openoriginals/originals/services/seedpair"
)

// house is the seed-pair service and the four games in one process, on a store.
type house struct {
	t       *testing.T
	client  redis.UniversalClient
	store   *redisledger.Store
	calls   *callList
	keys    *seal.Keys
	devKey  *auth.DevKey
	rival   *auth.DevKey // of another operator
	replace func()       // the store gets a new identity
	grant   money.Units  // of players with a known server seed; 0 for 1,000,000

	pairs  *seedpair.Service
	public *server.Local
	vault  *server.Local
	logs   *observer.ObservedLogs
}

// newHouse is on the embedded store. Rounds count as left behind at once, and
// mines rounds as expired, but for what the options say.
func newHouse(t *testing.T, options ...func(*seedpair.Options)) *house {
	t.Helper()
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return openHouse(t, e.URL(), e.Replace, options)
}

// newRedisHouse is on a real Redis.
func newRedisHouse(t *testing.T, options ...func(*seedpair.Options)) *house {
	t.Helper()
	r := testenv.Redis(t, testenv.Always)
	return openHouse(t, r.URL(), r.Restart, options)
}

// onEachStore runs a test on the embedded store and on a real Redis.
func onEachStore(t *testing.T, test func(t *testing.T, h *house), options ...func(*seedpair.Options)) {
	t.Run("embedded", func(t *testing.T) { test(t, newHouse(t, options...)) })
	t.Run("redis", func(t *testing.T) { test(t, newRedisHouse(t, options...)) })
}

func openHouse(t *testing.T, url string, replace func(), options []func(*seedpair.Options)) *house {
	t.Helper()
	client, err := redisledger.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	h := &house{t: t, client: client, replace: replace, calls: new(callList)}
	h.store = redisledger.New(client, redisledger.Options{OnCall: h.calls.add})
	if h.keys, err = seal.NewKeys(); err != nil {
		t.Fatal(err)
	}
	if h.devKey, err = auth.NewDevKey(""); err != nil {
		t.Fatal(err)
	}
	if h.rival, err = auth.NewDevKey("rival"); err != nil {
		t.Fatal(err)
	}
	return h.process(options...)
}

// process is another process of the same house: it shares the store and the
// keys, and remembers nothing.
func (h *house) process(options ...func(*seedpair.Options)) *house {
	h.t.Helper()
	n := *h
	core, logs := observer.New(zapcore.DebugLevel)
	n.logs = logs
	o := seedpair.Options{
		Store: h.store, Crash: h.store, Keys: h.keys, House: config.Default(), Log: zap.New(core),
		Grant: []ledger.Grant{{Currency: "FUN", Amount: 1_000_000}},
	}
	for _, option := range options {
		option(&o)
	}
	n.pairs = seedpair.New(o)
	verifier, err := auth.NewVerifier(time.Now, h.devKey.Key(), h.rival.Key())
	if err != nil {
		h.t.Fatal(err)
	}
	deps := server.Deps{
		Logger: zap.New(core), Metrics: server.NewMetrics(), Verifier: verifier, Policy: auth.Methods, Clock: time.Now,
	}
	n.vault = server.NewLocal(server.NewInnerChain(deps), server.NewInnerStreamChain(deps))
	seedpair.BindVault(n.vault, n.pairs)
	n.public = server.NewLocal(server.NewChain(deps), server.NewStreamChain(deps))
	seedpair.Bind(n.public, n.pairs)
	dice.Bind(n.public, n.vault.As("dice"))
	limbo.Bind(n.public, n.vault.As("limbo"))
	roulette.Bind(n.public, n.vault.As("roulette"))
	mines.Bind(n.public, n.vault.As("mines"))
	return &n
}

// answer is what a call came to.
type answer[T any] struct {
	value T
	err   error
}

func got[T any](value T, err error) answer[T] { return answer[T]{value, err} }

// must stops the test on an error.
func (a answer[T]) must(t *testing.T) T {
	t.Helper()
	if a.err != nil {
		t.Fatalf("%v: %v", reason.Of(a.err), a.err)
	}
	return a.value
}

// refused stops the test unless the call was refused for this reason, with
// these metadata, key before value. A value of "*" may be anything.
func (a answer[T]) refused(t *testing.T, why reason.Reason, metadata ...string) *reason.Error {
	t.Helper()
	e, ok := reason.From(a.err)
	if !ok && a.err != nil && why == reason.Internal {
		return nil // it gets its reason where the call came in
	}
	if !ok || e.Reason != why {
		t.Fatalf("got %v, %v; want %s", a.value, a.err, why)
	}
	for i := 0; i < len(metadata); i += 2 {
		value, ok := e.Metadata[metadata[i]]
		if !ok || metadata[i+1] != "*" && value != metadata[i+1] {
			t.Errorf("%s: metadata %v, want %s=%s", why, e.Metadata, metadata[i], metadata[i+1])
		}
	}
	return e
}

// same fails the test unless two messages are equal.
func same(t *testing.T, what string, a, b proto.Message) {
	t.Helper()
	if !proto.Equal(a, b) {
		t.Errorf("%s differ:\n%v\n%v", what, a, b)
	}
}

// callList gathers the names of the calls to the store.
type callList struct {
	mu    sync.Mutex
	names []string
}

func (c *callList) add(script string, _ time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = append(c.names, script)
}

// take returns the names since the last take.
func (c *callList) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := c.names
	c.names = nil
	return names
}

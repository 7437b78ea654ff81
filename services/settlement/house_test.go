package settlement_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/settlement"
)

// house is the service behind a real gRPC server, with wallets of two
// operators.
type house struct {
	originalsv1.SettlementServiceClient
	t       testing.TB
	service *settlement.Service
	keys    map[string]*auth.DevKey
	log     *lockedBuffer
	seen    *observer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// observer notes what the service tells of itself.
type observer struct {
	mu     sync.Mutex
	counts map[string]int
}

func (o *observer) add(what string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = make(map[string]int)
	}
	o.counts[what] += n
}

func (o *observer) count(what string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts[what]
}

func (o *observer) Claimed(n int)              { o.add("claimed", n) }
func (o *observer) Acknowledged(status string) { o.add(status, 1) }
func (o *observer) CalledBack(result string)   { o.add("callback "+result, 1) }
func (o *observer) Backlog(operator string, b ledger.Backlog) {
	o.add("dead of "+operator, int(b.DeadLetters))
	o.add("unclaimed of "+operator, int(b.Unclaimed))
}

func newHouse(t testing.TB, store settlement.Store, change func(*settlement.Options)) *house {
	t.Helper()
	h := &house{t: t, keys: make(map[string]*auth.DevKey), log: new(lockedBuffer), seen: new(observer)}
	var public []auth.Key
	for _, name := range []string{"north", "south"} {
		key, err := auth.NewDevKey(name)
		if err != nil {
			t.Fatal(err)
		}
		h.keys[name], public = key, append(public, key.Key())
	}
	verifier, err := auth.NewVerifier(time.Now, public...)
	if err != nil {
		t.Fatal(err)
	}
	logger, closeLog := server.NewLogger(h.log, zap.DebugLevel)
	t.Cleanup(func() { _ = closeLog() })
	o := settlement.Options{Store: store, House: config.Default(), Log: logger, Observer: h.seen, PollInterval: 5 * time.Millisecond}
	if change != nil {
		change(&o)
	}
	h.service = settlement.New(o)
	s := server.NewGRPC(server.Deps{
		Logger: logger, Metrics: server.NewMetrics(), Verifier: verifier, Policy: auth.Methods, Clock: time.Now,
	}, server.GRPCOptions{})
	settlement.Bind(s, h.service)
	h.SettlementServiceClient = originalsv1.NewSettlementServiceClient(overTCP(t, s))
	return h
}

func overTCP(t testing.TB, s *grpc.Server) *grpc.ClientConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// as returns a context that carries a token.
func (h *house) as(operator string, role auth.Role) context.Context {
	h.t.Helper()
	token, err := h.keys[operator].Mint(auth.Identity{Subject: "w", Operator: operator, Role: role}, time.Hour, time.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	h.t.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

func (h *house) wallet(operator string) context.Context { return h.as(operator, auth.Wallet) }

func fun(units int64) *originalsv1.Money { return &originalsv1.Money{Currency: "FUN", Amount: units} }

func deposit(id, player string, units int64) *originalsv1.CreateTransferRequest {
	return &originalsv1.CreateTransferRequest{TransferId: id, PlayerId: player, Direction: originalsv1.Transfer_DEPOSIT, Money: fun(units)}
}

func withdrawal(id, player string, units int64) *originalsv1.CreateTransferRequest {
	q := deposit(id, player, units)
	q.Direction = originalsv1.Transfer_WITHDRAWAL
	return q
}

func player(operator, id string) ledger.Player { return ledger.Player{Operator: operator, ID: id} }

// wantReason checks a refusal and its metadata, name before value.
func wantReason(t testing.TB, what string, err error, want reason.Reason, metadata ...string) {
	t.Helper()
	e, ok := reason.From(err)
	if !ok || e.Reason != want {
		t.Errorf("%s: %v, want %s", what, err, want)
		return
	}
	for i := 0; i+1 < len(metadata); i += 2 {
		if e.Metadata[metadata[i]] != metadata[i+1] {
			t.Errorf("%s: metadata %v, want %s %s", what, e.Metadata, metadata[i], metadata[i+1])
		}
	}
}

// faults makes calls of a store fail, as decide says: "failed" before the store
// has seen it, "persisted" when the answer is lost. Both look the same.
type faults struct {
	settlement.Store
	mu     sync.Mutex
	decide func(method string) string
}

var errLost = reason.New(reason.StoreUnavailable, "injected fault")

func fault[T any](f *faults, method string, do func() (T, error)) (T, error) {
	f.mu.Lock()
	verdict := f.decide(method)
	f.mu.Unlock()
	var nothing T
	switch verdict {
	case "failed":
		return nothing, errLost
	case "persisted":
		_, _ = do()
		return nothing, errLost
	case "broken":
		return nothing, errors.New("a record that cannot be")
	}
	return do()
}

func (f *faults) Transfer(ctx context.Context, t ledger.Transfer) (ledger.Transfer, error) {
	return fault(f, "Transfer", func() (ledger.Transfer, error) { return f.Store.Transfer(ctx, t) })
}

func (f *faults) GetTransfer(ctx context.Context, operator, id string) (ledger.Transfer, error) {
	return fault(f, "GetTransfer", func() (ledger.Transfer, error) { return f.Store.GetTransfer(ctx, operator, id) })
}

func (f *faults) CancelTransfer(ctx context.Context, operator, id string) (ledger.Transfer, error) {
	return fault(f, "CancelTransfer", func() (ledger.Transfer, error) { return f.Store.CancelTransfer(ctx, operator, id) })
}

func (f *faults) Balances(ctx context.Context, p ledger.Player) (map[money.Currency]money.Units, error) {
	return fault(f, "Balances", func() (map[money.Currency]money.Units, error) { return f.Store.Balances(ctx, p) })
}

func (f *faults) Claim(ctx context.Context, c ledger.Claim) ([]ledger.SettledRound, error) {
	return fault(f, "Claim", func() ([]ledger.SettledRound, error) { return f.Store.Claim(ctx, c) })
}

func (f *faults) Acknowledge(ctx context.Context, operator string, acks []ledger.Ack) ([]ledger.AckResult, error) {
	return fault(f, "Acknowledge", func() ([]ledger.AckResult, error) { return f.Store.Acknowledge(ctx, operator, acks) })
}

func (f *faults) Requeue(ctx context.Context, operator string, id ledger.RoundID) error {
	_, err := fault(f, "Requeue", func() (struct{}, error) { return struct{}{}, f.Store.Requeue(ctx, operator, id) })
	return err
}

func (f *faults) Release(ctx context.Context, operator, claimID string) (int, error) {
	return fault(f, "Release", func() (int, error) { return f.Store.Release(ctx, operator, claimID) })
}

func (f *faults) Extend(ctx context.Context, operator, claimID string, lease time.Duration) (n int, until time.Time, err error) {
	n, err = fault(f, "Extend", func() (n int, err error) {
		n, until, err = f.Store.Extend(ctx, operator, claimID, lease)
		return n, err
	})
	return n, until, err
}

func (f *faults) Digest(ctx context.Context, span ledger.DigestSpan) (ledger.Digest, error) {
	return fault(f, "Digest", func() (ledger.Digest, error) { return f.Store.Digest(ctx, span) })
}

func (f *faults) Settlement(ctx context.Context, operator string, id ledger.RoundID) (ledger.SettledRound, error) {
	return fault(f, "Settlement", func() (ledger.SettledRound, error) { return f.Store.Settlement(ctx, operator, id) })
}

func (f *faults) Settlements(ctx context.Context, operator string, partition int, after uint64, count int) (all []ledger.SettledRound, last uint64, err error) {
	all, err = fault(f, "Settlements", func() (all []ledger.SettledRound, err error) {
		all, last, err = f.Store.Settlements(ctx, operator, partition, after, count)
		return all, err
	})
	return all, last, err
}

func (f *faults) Rejected(ctx context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, error) {
	return fault(f, "Rejected", func() ([]ledger.SettledRound, error) { return f.Store.Rejected(ctx, operator, partition, after, count) })
}

func (f *faults) Heads(ctx context.Context, operator string) ([ledger.Partitions]uint64, error) {
	return fault(f, "Heads", func() ([ledger.Partitions]uint64, error) { return f.Store.Heads(ctx, operator) })
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

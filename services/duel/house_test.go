package duel_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/duel"
)

// house is the service on a store whose clock and identity the test sets.
type house struct {
	*duel.Service
	t     testing.TB
	redis *miniredis.Miniredis
	store *duelstore.Store
	keys  *seal.Keys
	now   time.Time
	life  atomic.Int64
	log   bytes.Buffer
	open  int
	count int
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, redis: miniredis.NewMiniRedis(), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := h.redis.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.redis.Close)
	h.redis.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "INFO" {
			return false
		}
		c.WriteBulk(fmt.Sprintf("master_replid:%020x%020x\r\n", h.life.Load(), 0))
		return true
	})
	client, err := redisledger.Dial("redis://" + h.redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	h.store = duelstore.New(client, nil)
	if h.keys, err = seal.NewKeys(); err != nil {
		t.Fatal(err)
	}
	h.Service = h.service(h.store, nil)
	h.pass(0)
	return h
}

// service returns one more service on the same keys.
func (h *house) service(store duel.Store, stop <-chan struct{}) *duel.Service {
	return duel.New(duel.Options{
		Store: store, Keys: h.keys, Log: zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&h.log), zap.DebugLevel)),
		OnOpenDuels: func(n int) { h.open = n }, PollInterval: 5 * time.Millisecond, Stop: stop,
	})
}

func (h *house) pass(d time.Duration) {
	h.now = h.now.Add(d)
	h.redis.SetTime(h.now)
}

// contents is everything in Redis, byte for byte.
func (h *house) contents() string {
	h.t.Helper()
	var all strings.Builder
	for _, key := range h.redis.Keys() {
		fmt.Fprintln(&all, key)
		switch h.redis.Type(key) {
		case "hash":
			fields, err := h.redis.HKeys(key)
			if err != nil {
				h.t.Fatal(err)
			}
			for _, field := range fields {
				fmt.Fprintln(&all, field, h.redis.HGet(key, field))
			}
		case "string":
			text, err := h.redis.Get(key)
			fmt.Fprintln(&all, text, err)
		case "zset":
			members, err := h.redis.SortedSet(key)
			fmt.Fprintln(&all, members, err)
		default:
			h.t.Fatalf("%s is a %s", key, h.redis.Type(key))
		}
	}
	return all.String()
}

func as(role auth.Role, name string) context.Context {
	return auth.NewContext(context.Background(), auth.Identity{Subject: name, Operator: "house", Role: role})
}

var (
	chess = as(auth.Wallet, "chess")
	alice = as(auth.Player, "alice")
	bob   = as(auth.Player, "bob")
)

const (
	whiteSeed = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	blackSeed = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
)

// hash is what a seat sends first, by its definition and not by the code under test.
func hash(id, seat, seed string) string {
	sum := sha256.Sum256([]byte(id + ":" + seat + ":" + seed))
	return hex.EncodeToString(sum[:])
}

// create makes a duel.
func (h *house) create(mode originalsv1.Duel_Mode) *originalsv1.Duel {
	h.t.Helper()
	h.count++
	d, err := h.CreateDuel(chess, &originalsv1.CreateDuelRequest{RequestId: fmt.Sprint("game-", h.count), White: "alice", Black: "bob", Mode: &mode})
	return h.must(d, err)
}

func (h *house) must(d *originalsv1.Duel, err error) *originalsv1.Duel {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *house) commit(ctx context.Context, id, seat, seed string) (*originalsv1.Duel, error) {
	return h.CommitSeat(ctx, &originalsv1.CommitSeatRequest{DuelId: id, Seat: seat, ClientSeedHash: hash(id, seat, seed)})
}

func (h *house) seed(ctx context.Context, id, seat, seed string) (*originalsv1.Duel, error) {
	return h.SeedSeat(ctx, &originalsv1.SeedSeatRequest{DuelId: id, Seat: seat, ClientSeed: seed})
}

func (h *house) get(ctx context.Context, id string) *originalsv1.Duel {
	h.t.Helper()
	d, err := h.GetDuel(ctx, &originalsv1.GetDuelRequest{DuelId: id})
	return h.must(d, err)
}

func (h *house) roll(id string, ply uint32) (*originalsv1.DuelRoll, error) {
	return h.Roll(chess, &originalsv1.RollRequest{DuelId: id, Ply: &ply})
}

func (h *house) end(id string) *originalsv1.Duel {
	h.t.Helper()
	d, err := h.EndDuel(chess, &originalsv1.EndDuelRequest{DuelId: id})
	return h.must(d, err)
}

// commitBoth and readyCommitted bring a duel of committed mode on its way.
func (h *house) commitBoth(id string) *originalsv1.Duel {
	h.t.Helper()
	h.must(h.commit(alice, id, "white", whiteSeed))
	return h.must(h.commit(bob, id, "black", blackSeed))
}

func (h *house) readyCommitted() *originalsv1.Duel {
	h.t.Helper()
	id := h.create(originalsv1.Duel_COMMITTED).GetDuelId()
	h.commitBoth(id)
	h.must(h.seed(alice, id, "white", whiteSeed))
	return h.must(h.seed(bob, id, "black", blackSeed))
}

func wantReason(t testing.TB, err error, want reason.Reason) {
	t.Helper()
	if err == nil || reason.Of(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// document is a duel as REST writes it.
func document(t testing.TB, d *originalsv1.Duel) string {
	t.Helper()
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// verified checks the evidence of a duel that has ended with the commitment
// that was shown at its creation.
func verified(t testing.TB, shown string, d *originalsv1.Duel) {
	t.Helper()
	kept, err := rng.ParseCommitment(shown)
	if err != nil {
		t.Fatal(err)
	}
	report, err := evidence.Verify(context.Background(), strings.NewReader(document(t, d)), evidence.Options{Commitment: &kept})
	if err != nil || report.Verdict != evidence.Verified {
		t.Errorf("%v: %+v\n%s", err, report, document(t, d))
	}
}

// faulty is a store whose calls fail now and then: every other one of them has had its effect.
type faulty struct {
	duel.Store
	calls int
}

var errFault = errors.New("fault")

// fails reports whether the call that begins has no effect, or its answer is lost.
func (f *faulty) fails() (before, after bool) {
	f.calls++
	return f.calls%3 == 1, f.calls%3 == 2
}

func fault(f *faulty, do func() (duelstore.Duel, error)) (duelstore.Duel, error) {
	before, after := f.fails()
	if before {
		return duelstore.Duel{}, errFault
	}
	d, err := do()
	if after {
		return duelstore.Duel{}, errFault
	}
	return d, err
}

// Create fails now and then.
func (f *faulty) Create(ctx context.Context, c duelstore.Creation) (duelstore.Duel, error) {
	return fault(f, func() (duelstore.Duel, error) { return f.Store.Create(ctx, c) })
}

// Commit fails now and then.
func (f *faulty) Commit(ctx context.Context, id duelstore.ID, c duelstore.Caller, s duelstore.Seat, hash string) (duelstore.Duel, error) {
	return fault(f, func() (duelstore.Duel, error) { return f.Store.Commit(ctx, id, c, s, hash) })
}

// Seed fails now and then.
func (f *faulty) Seed(ctx context.Context, id duelstore.ID, c duelstore.Caller, s duelstore.Seat, o duelstore.Opening) (duelstore.Duel, error) {
	return fault(f, func() (duelstore.Duel, error) { return f.Store.Seed(ctx, id, c, s, o) })
}

// Roll fails now and then.
func (f *faulty) Roll(ctx context.Context, id duelstore.ID, operator string, ply uint32) (duelstore.Duel, error) {
	return fault(f, func() (duelstore.Duel, error) { return f.Store.Roll(ctx, id, operator, ply) })
}

// End fails now and then.
func (f *faulty) End(ctx context.Context, id duelstore.ID, operator string) (duelstore.Duel, error) {
	return fault(f, func() (duelstore.Duel, error) { return f.Store.End(ctx, id, operator) })
}

// insist repeats a call until it is answered.
func insist[T proto.Message](t testing.TB, do func() (T, error)) T {
	t.Helper()
	for range 10 {
		m, err := do()
		if err == nil {
			return m
		}
		if !errors.Is(err, errFault) {
			t.Fatal(err)
		}
	}
	t.Fatal("never answered")
	panic("unreachable")
}

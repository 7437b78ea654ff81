package support_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/server"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/dice"
	"github.com/openoriginals/originals/services/mines"
	"github.com/openoriginals/originals/services/seedpair"
	"github.com/openoriginals/originals/services/support"
)

// house is support, seed pairs and two games in one process, on a store that a
// test may let fail.
type house struct {
	t      *testing.T
	client redis.UniversalClient
	store  *redisledger.Store
	faults *faults
	devKey *auth.DevKey
	rival  *auth.DevKey // of another operator
	public *server.Local
	vault  grpc.ClientConnInterface // as the role support reaches it
}

// onEachStore runs a test on the embedded store and on a real Redis.
func onEachStore(t *testing.T, test func(t *testing.T, h *house)) {
	t.Run("embedded", func(t *testing.T) {
		e, err := embedded.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		test(t, newHouse(t, e.URL()))
	})
	t.Run("redis", func(t *testing.T) { test(t, newHouse(t, testenv.Redis(t, testenv.Always).URL())) })
}

func newHouse(t *testing.T, url string) *house {
	t.Helper()
	h := &house{t: t}
	h.client = must(redisledger.Dial(url))(t)
	t.Cleanup(func() { _ = h.client.Close() })
	h.store = redisledger.New(h.client, redisledger.Options{})
	h.faults = &faults{Store: h.store, log: h.store}
	h.devKey, h.rival = must(auth.NewDevKey(""))(t), must(auth.NewDevKey("rival"))(t)

	pairs := seedpair.New(seedpair.Options{
		Store: h.faults, Crash: h.store, Keys: must(seal.NewKeys())(t), House: config.Default(), Log: zap.NewNop(),
		Grant: []ledger.Grant{{Currency: "FUN", Amount: 1_000_000}},
	})
	deps := server.Deps{
		Logger: zap.NewNop(), Metrics: server.NewMetrics(), Policy: auth.Methods, Clock: time.Now,
		Verifier: must(auth.NewVerifier(time.Now, h.devKey.Key(), h.rival.Key()))(t),
	}
	vault := server.NewLocal(server.NewInnerChain(deps), server.NewInnerStreamChain(deps))
	seedpair.BindVault(vault, pairs)
	seedpair.BindSupport(vault, pairs)
	h.vault = vault.As("support")
	h.public = server.NewLocal(server.NewChain(deps), server.NewStreamChain(deps))
	seedpair.Bind(h.public, pairs)
	dice.Bind(h.public, vault.As("dice"))
	mines.Bind(h.public, vault.As("mines"))
	support.Bind(h.public, support.New(support.Options{Audit: h.faults, Feed: h.store, Vault: h.vault}))
	return h
}

// must returns a value, or stops the test on its error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v: %v", reason.Of(err), err)
		}
		return value
	}
}

// refused stops the test unless the call was refused for this reason.
func refused(t *testing.T, err error, why reason.Reason) *reason.Error {
	t.Helper()
	e, _ := reason.From(err)
	if e == nil || e.Reason != why {
		t.Fatalf("%v, want %s", err, why)
	}
	return e
}

var counter atomic.Uint64

func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }

func (h *house) as(key *auth.DevKey, name string, role auth.Role) context.Context {
	h.t.Helper()
	token := must(key.Mint(auth.Identity{Subject: name, Operator: key.Operator(), Role: role}, time.Hour, time.Now()))(h.t)
	return metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
}

// staff is a member of staff.
type staff struct {
	originalsv1.SupportServiceClient
	h   *house
	ctx context.Context
}

func (h *house) staff(name string) *staff { return h.staffOf(h.devKey, name) }

func (h *house) staffOf(key *auth.DevKey, name string) *staff {
	h.t.Helper()
	return &staff{originalsv1.NewSupportServiceClient(h.public), h, h.as(key, name, auth.Support)}
}

func (s *staff) reveal(pair string) (*originalsv1.SeedPair, error) {
	return s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: pair, Reason: "player asked", Ticket: "T-7"})
}

// log is the whole audit log as support sees it, oldest first, without the looks
// at it.
func (s *staff) log() []*originalsv1.AuditEntry {
	s.h.t.Helper()
	var all []*originalsv1.AuditEntry
	for token := ""; ; {
		page := must(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PageToken: token}))(s.h.t)
		for _, e := range page.GetEntries() {
			if e.GetAction() != "VIEW_AUDIT_LOG" {
				all = append([]*originalsv1.AuditEntry{e}, all...)
			}
		}
		if token = page.GetNextPageToken(); token == "" {
			return all
		}
	}
}

// actions are those of the audit log, oldest first.
func (s *staff) actions() []string {
	s.h.t.Helper()
	var names []string
	for _, e := range s.log() {
		names = append(names, e.GetAction())
	}
	return names
}

// player is a player with an active pair.
type player struct {
	h    *house
	id   ledger.Player
	ctx  context.Context
	pair string
	next string

	pairs  originalsv1.SeedPairServiceClient
	rounds originalsv1.RoundServiceClient
	dice   originalsv1.DiceServiceClient
	mines  originalsv1.MinesServiceClient
}

func (h *house) player() *player { return h.playerOf(h.devKey, unique("player")) }

func (h *house) playerOf(key *auth.DevKey, name string) *player {
	h.t.Helper()
	p := &player{
		h: h, id: ledger.Player{Operator: key.Operator(), ID: name}, ctx: h.as(key, name, auth.Player),
		pairs: originalsv1.NewSeedPairServiceClient(h.public), rounds: originalsv1.NewRoundServiceClient(h.public),
		dice: originalsv1.NewDiceServiceClient(h.public), mines: originalsv1.NewMinesServiceClient(h.public),
	}
	p.next = must(p.pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{}))(h.t).GetNextCommitment()
	p.rotate()
	return p
}

func (p *player) rotate() {
	p.h.t.Helper()
	r := must(p.tryRotate())(p.h.t)
	p.pair, p.next = r.GetActive().GetSeedPairId(), r.GetNextCommitment()
}

func (p *player) tryRotate() (*originalsv1.RotateSeedPairResponse, error) {
	return p.pairs.RotateSeedPair(p.ctx, &originalsv1.RotateSeedPairRequest{ClientSeed: unique("seed"), NextCommitment: p.next})
}

func (p *player) bet() (*originalsv1.Round, error) {
	return p.dice.PlaceBet(p.ctx, &originalsv1.DiceServicePlaceBetRequest{
		BetId: unique("bet"), SeedPairId: p.pair, Stake: fun(100), Target: 5000, Direction: originalsv1.Dice_UNDER,
	})
}

func (p *player) startMines() *originalsv1.Round {
	p.h.t.Helper()
	return must(p.mines.StartRound(p.ctx, &originalsv1.StartRoundRequest{
		BetId: unique("bet"), SeedPairId: p.pair, Stake: fun(100), MineCount: 1,
	}))(p.h.t)
}

func (p *player) shown(pair string) *originalsv1.SeedPair {
	p.h.t.Helper()
	return must(p.pairs.GetSeedPairById(p.ctx, &originalsv1.GetSeedPairByIdRequest{SeedPairId: pair}))(p.h.t)
}

func fun(amount int64) *originalsv1.Money { return &originalsv1.Money{Currency: "FUN", Amount: amount} }

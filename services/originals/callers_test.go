package main

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	callers     = 64
	callerSteps = 15
)

// playTogether lets 64 callers play one player at once, and audits the books.
func playTogether(t *testing.T, s *session, grant int64) audit {
	t.Helper()
	random := testRandom(t)
	var all sync.WaitGroup
	for range callers {
		r := rand.New(rand.NewPCG(random.Uint64(), 3))
		all.Go(func() {
			for range callerSteps {
				s.stepWithin(r)
			}
		})
	}
	all.Wait()
	a := s.audit(grant)
	checked := s.verifyWithPython(a, 2)
	t.Logf("%d callers, %d rounds, %d pairs, %d documents verified in Python; %s",
		callers, len(a.rounds), len(a.pairs), checked, tallyOf([]*session{s}))
	// Rounds that stay open hold rotations back, mostly; one reveal under way is what is needed.
	if len(a.rounds) < callers || len(a.pairs) < 2 || checked == 0 {
		t.Errorf("%d rounds and %d pairs are too few", len(a.rounds), len(a.pairs))
	}
	return a
}

// inProcess serves all roles in this process, under the race detector with the
// test. It returns a player's session.
func inProcess(t *testing.T, change func(*settings), name string) *session {
	t.Helper()
	o := settings{
		roles: allRoles, http: "127.0.0.1:0", grpc: "127.0.0.1:0",
		demoBalance: grantUnits, minesExpiry: time.Hour, duelTimes: duelSettings{minExpiry: time.Minute, retention: time.Hour}, watchers: 100, logLevel: "warn",
	}
	change(&o)
	p, err := newProcess(context.Background(), o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.group.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	token, err := p.devKey.Mint(auth.Identity{Subject: name, Role: auth.Player}, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return newSession(t, name, testenv.NewPlayer(token, "http://"+p.address("http")))
}

// TestConcurrentCallersOnOnePlayer holds the reveal guard, the nonces and the
// money against every interleaving that 64 callers come up with.
func TestConcurrentCallersOnOnePlayer(t *testing.T) {
	t.Run("embedded store", func(t *testing.T) {
		playTogether(t, inProcess(t, func(*settings) {}, "crowd"), grantUnits)
	})
	t.Run("one process on Redis", func(t *testing.T) {
		redis := testenv.Redis(t)
		site := newSite(t, redis.URL())
		s := inProcess(t, func(o *settings) {
			o.redis, o.sealKeyFile, o.devKey = site.store, site.sealKey, site.devKey
		}, "crowd")
		checkOutbox(t, redis.URL(), []audit{playTogether(t, s, grantUnits)})
	})
	t.Run("two gateways and two vaults on one Redis", func(t *testing.T) {
		redis := testenv.Redis(t)
		site := newSite(t, redis.URL())
		site.twoOfEach()
		checkOutbox(t, redis.URL(), []audit{playTogether(t, site.session("crowd"), grantUnits)})
	})
}

// TestOneBetFromManyCallersIsOneRound sends the same bet 64 times at once.
func TestOneBetFromManyCallersIsOneRound(t *testing.T) {
	s := inProcess(t, func(*settings) {}, "echo")
	ctx := t.Context()
	s.rotate(ctx)
	for _, game := range []string{"dice", "limbo", "roulette", "mines"} {
		b := s.newWager(rand.New(rand.NewPCG(1, 2)), game)
		atOnce(callers, func(int) { s.place(ctx, b) })
		if s.taken(b) == "" {
			t.Errorf("%s: the bet was not taken", game)
		}
	}
	if a := s.audit(grantUnits); len(a.rounds) != 4 {
		t.Errorf("%d rounds, want 4", len(a.rounds))
	}
}

// TestManyCashOutsPayOnce sends picks, and then cash-outs, of one mines round at
// once.
func TestManyCashOutsPayOnce(t *testing.T) {
	s := inProcess(t, func(*settings) {}, "rush")
	ctx := t.Context()
	s.rotate(ctx)
	cashedOut := 0
	for turn := range 24 {
		round := s.place(ctx, s.newWager(rand.New(rand.NewPCG(uint64(turn), 2)), "mines"))
		if turn%2 == 0 {
			atOnce(12, func(i int) { s.pick(ctx, round.GetRoundId(), uint32(i)) })
		} else if s.pick(ctx, round.GetRoundId(), 7).GetState() == originalsv1.Round_OPEN {
			cashedOut++
		}
		atOnce(callers, func(int) { s.cashOut(ctx, round.GetRoundId()) })
	}
	if cashedOut == 0 {
		t.Error("no round was open at its cash-out")
	}
	if a := s.audit(grantUnits); len(a.rounds) != 24 {
		t.Errorf("%d rounds, want 24", len(a.rounds))
	}
}

// atOnce makes n calls, which begin together.
func atOnce(n int, call func(i int)) {
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			call(i)
		})
	}
	close(begin)
	all.Wait()
}

// TestManualRotationDuringAnOpenMinesRound wants it refused, by the name of the
// round, without any effect.
func TestManualRotationDuringAnOpenMinesRound(t *testing.T) {
	s := inProcess(t, func(*settings) {}, "undecided")
	ctx := t.Context()
	s.rotate(ctx)
	round := s.place(ctx, s.newWager(rand.New(rand.NewPCG(5, 5)), "mines"))
	var before, after originalsv1.GetSeedPairResponse
	if err := s.get(ctx, "/v1/seed-pair", &before); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := s.player.Post(ctx, "/v1/seed-pair:rotate", &originalsv1.RotateSeedPairRequest{
			ClientSeed: newClientSeed(), NextCommitment: before.GetNextCommitment(),
		}, new(originalsv1.RotateSeedPairResponse))
		if testenv.Refused(err) != reason.RoundOpen || toldOf(err)["roundId"] != round.GetRoundId() {
			t.Errorf("rotation: %v, want ROUND_OPEN of %s", err, round.GetRoundId())
		}
	}
	if err := s.get(ctx, "/v1/seed-pair", &after); err != nil || !proto.Equal(&before, &after) {
		t.Errorf("a refused rotation changed %v into %v, %v", &before, &after, err)
	}
	if s.place(ctx, s.newWager(rand.New(rand.NewPCG(5, 5)), "dice")) == nil {
		t.Error("the pair takes no bets any more")
	}
	if a := s.audit(grantUnits); len(a.rounds) != 2 {
		t.Errorf("%d rounds, want 2", len(a.rounds))
	}
}

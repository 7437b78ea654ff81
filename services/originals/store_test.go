package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// callDeadline is what the callers of these tests allow. With slack, for a
// machine under load, it is less than any time-out of the system's own.
const (
	callDeadline = 200 * time.Millisecond
	slack        = 1500 * time.Millisecond
)

// wantUnavailable places a bet and wants it answered within the caller's
// deadline, as one whose fate is not known. The machine may be slow once or
// twice.
func wantUnavailable(t *testing.T, s *session, b wager) {
	t.Helper()
	fastest := time.Hour
	for range 3 {
		start := time.Now()
		checkUnavailable(t, placeWithin(t, s, b))
		fastest = min(fastest, time.Since(start))
	}
	if fastest > callDeadline+slack {
		t.Errorf("the fastest answer took %v, the caller allowed %v", fastest, callDeadline)
	}
}

func checkUnavailable(t *testing.T, err error) {
	t.Helper()
	var r *testenv.Refusal
	if !errors.As(err, &r) {
		t.Errorf("bet without a store: %v", err)
		return
	}
	unavailable := r.Status == http.StatusServiceUnavailable && r.Reason == reason.StoreUnavailable
	late := r.Status == http.StatusGatewayTimeout && r.Reason != ""
	if !unavailable && !late {
		t.Errorf("%v, want STORE_UNAVAILABLE or a deadline", r)
	}
	if r.Reason.Known() {
		t.Errorf("reason %s says that nothing happened, which nobody can know", r.Reason)
	}
}

// placeWithin places a bet once. The gateway is told of the deadline; the client
// itself waits longer.
func placeWithin(t *testing.T, s *session, b wager) error {
	t.Helper()
	return s.player.WithTimeout(callDeadline).Post(t.Context(), b.path, b.request, new(originalsv1.Round))
}

func awaitReadiness(t *testing.T, url string, want bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); testenv.Ready(url) != want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("readiness does not become %v", want)
		}
	}
}

// TestDeadlinesThatDoNotBoundRedisCalls stops Redis, without a word and by a
// kill, in one process and with the gateway apart.
func TestDeadlinesThatDoNotBoundRedisCalls(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*site){
		"one process":      func(s *site) { s.oneProcess() },
		"a process a role": func(s *site) { s.fourProcesses() },
	} {
		t.Run(name, func(t *testing.T) {
			redis := testenv.Redis(t, testenv.Always)
			site := newSite(t, redis.URL())
			start(site)
			vault := site.ready[site.processes[0]]
			s := site.session("patient")
			s.rotate(t.Context())
			random := rand.New(rand.NewPCG(1, 1))
			s.place(t.Context(), s.newWager(random, "dice"))

			hanging := s.newWager(random, "dice")
			redis.Pause()
			wantUnavailable(t, s, hanging)
			awaitReadiness(t, vault, false)
			redis.Resume()
			s.notSure(hanging)
			if s.place(t.Context(), hanging) == nil {
				t.Error("the bet was not taken after the pause")
			}
			awaitReadiness(t, vault, true)

			dead := s.newWager(random, "limbo")
			redis.Kill9()
			wantUnavailable(t, s, dead)
			awaitReadiness(t, vault, false)
			redis.Start()
			s.notSure(dead)
			if round := s.place(t.Context(), dead); round != nil {
				t.Errorf("the pair takes bets after a restart of the store: %v", round)
			}
			if s.place(t.Context(), s.newWager(random, "roulette")) == nil {
				t.Error("no bet was taken after the restart")
			}
			awaitReadiness(t, vault, true)
			a := s.audit(grantUnits)
			if len(a.rounds) != 3 || len(a.pairs) < 3 {
				t.Errorf("%d rounds and %d pairs", len(a.rounds), len(a.pairs))
			}
		})
	}
}

// TestAStoreThatHangsHoldsUpNobody stops Redis while bets are anywhere between
// their draw and their settlement.
func TestAStoreThatHangsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	redis := testenv.Redis(t)
	site := newSite(t, redis.URL())
	site.oneProcess()
	s := site.session("hurried")
	s.rotate(t.Context())
	random := testRandom(t)
	ctx, stop := context.WithCancel(t.Context())
	var play sync.WaitGroup
	var slow, fast atomic.Int64
	for range 16 {
		r := rand.New(rand.NewPCG(random.Uint64(), 4))
		play.Go(func() {
			for ctx.Err() == nil {
				b := s.newWager(r, []string{"dice", "limbo", "roulette"}[r.IntN(3)])
				start := time.Now()
				err := placeWithin(t, s, b)
				s.notSure(b) // the answer is thrown away
				if time.Since(start) > callDeadline+slack {
					slow.Add(1)
				} else {
					fast.Add(1)
				}
				if err != nil {
					checkUnavailable(t, err)
				}
			}
		})
	}
	for range 4 {
		time.Sleep(time.Duration(100+random.IntN(100)) * time.Millisecond)
		redis.Pause()
		time.Sleep(callDeadline + slack + time.Second)
		redis.Resume()
	}
	stop()
	play.Wait()
	// A machine under load is slow here and there; a call that waits for a
	// time-out of its own is slow in every pause.
	if slow.Load() > 3 {
		t.Errorf("%d of %d answers came long after the caller's deadline", slow.Load(), slow.Load()+fast.Load())
	}
	a := s.audit(grantUnits)
	t.Logf("%d rounds, %d answers in time, %d late; %s", len(a.rounds), fast.Load(), slow.Load(), tallyOf([]*session{s}))
}

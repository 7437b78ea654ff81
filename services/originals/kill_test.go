package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/testenv"
)

// killer ends parts of a site while players play, and starts them again.
type killer struct {
	*site
	redis  *testenv.RedisServer
	random *rand.Rand
	killed map[string]int
}

// testRandom returns the random numbers of a test, which prints how to have
// them again.
func testRandom(t testing.TB) *rand.Rand {
	t.Helper()
	start := rand.Uint64()
	if text := os.Getenv("ORIGINALS_TEST_RANDOM"); text != "" {
		var err error
		if start, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ORIGINALS_TEST_RANDOM=%d", start)
	return rand.New(rand.NewPCG(start, 1))
}

func soaking() bool { return os.Getenv("ORIGINALS_TEST_SOAK") != "" }

const (
	killPlayers = 8
	killHands   = 2 // goroutines that play one player
)

// TestKillLosesNothingAndDoublesNothing kills, at random points of bets, the
// whole process, single roles, and Redis.
func TestKillLosesNothingAndDoublesNothing(t *testing.T) {
	kills := 20
	if soaking() {
		kills = 100
	}
	t.Run("one process", func(t *testing.T) {
		redis := testenv.Redis(t, testenv.Always)
		k := &killer{site: newSite(t, redis.URL()), redis: redis, random: testRandom(t)}
		k.oneProcess()
		k.run(kills)
	})
	t.Run("a process a role", func(t *testing.T) {
		redis := testenv.Redis(t, testenv.Always)
		k := &killer{site: newSite(t, redis.URL()), redis: redis, random: testRandom(t)}
		k.fourProcesses()
		k.run(kills)
	})
}

func (k *killer) run(kills int) {
	k.t.Helper()
	k.killed = make(map[string]int)
	ctx, stop := context.WithCancel(context.Background())
	var play sync.WaitGroup
	var steps atomic.Int64
	var sessions []*session
	for i := range killPlayers {
		s := k.session(fmt.Sprintf("kill-%d", i))
		sessions = append(sessions, s)
		for range killHands {
			r := rand.New(rand.NewPCG(k.random.Uint64(), 2))
			play.Go(func() {
				for ctx.Err() == nil && !k.t.Failed() {
					s.stepWithin(r)
					steps.Add(1)
				}
			})
		}
	}
	for range kills {
		k.awaitSteps(&steps, int64(1+k.random.IntN(60)))
		time.Sleep(time.Duration(k.random.IntN(20_000)) * time.Microsecond)
		k.killOne()
	}
	k.awaitSteps(&steps, 50)
	stop()
	play.Wait()

	var audits []audit
	rounds, checked := 0, 0
	for _, s := range sessions {
		a := s.audit(grantUnits)
		audits = append(audits, a)
		rounds += len(a.rounds)
		checked += s.verifyWithPython(a, 1)
	}
	checkOutbox(k.t, k.store, audits)
	k.t.Logf("%d kills %v, %d players, %d rounds, %d documents verified in Python; %s",
		kills, k.killed, len(sessions), rounds, checked, tallyOf(sessions))
	if rounds < 2*kills || checked == 0 {
		k.t.Errorf("%d rounds in %d kills, and %d documents", rounds, kills, checked)
	}
}

// stepWithin bounds one step: within this time everything must have recovered.
func (s *session) stepWithin(r *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.step(ctx, r)
}

// awaitSteps waits until players have done n more steps, so that each kill
// falls into play.
func (k *killer) awaitSteps(steps *atomic.Int64, n int64) {
	k.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for goal := steps.Load() + n; steps.Load() < goal && !k.t.Failed(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatal("nobody plays any more")
		}
	}
	if k.t.Failed() {
		k.t.FailNow()
	}
}

func (k *killer) killOne() {
	k.t.Helper()
	down := time.Duration(k.random.IntN(150)) * time.Millisecond
	n := k.random.IntN(len(k.processes) + 1)
	if len(k.processes) == 1 {
		n = k.random.IntN(3) / 2 // twice the process for once the store
	}
	if n == len(k.processes) {
		k.killed["redis"]++
		k.redis.Kill9()
		time.Sleep(down)
		k.redis.Start()
		return
	}
	p := k.processes[n]
	k.killed[p.Name()]++
	p.Kill9()
	time.Sleep(down)
	k.restart(p)
}

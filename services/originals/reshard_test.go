package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/testenv"
)

// TestReshardingUnderBets moves the slots of players to other masters by MIGRATE, a few keys at a time, while they play: each call
// is answered or repeated until it is, the store's other identity retires the pairs that moved, and at the end all books add up.
func TestReshardingUnderBets(t *testing.T) {
	cluster := testenv.Cluster(t)
	site := newSite(t, cluster.URL())
	site.oneProcess()
	random := testRandom(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var play sync.WaitGroup
	var steps atomic.Int64
	var sessions []*session
	slots := make(map[string]bool)
	for i := range 4 {
		name := fmt.Sprintf("moved-%d", i)
		s := site.session(name)
		sessions = append(sessions, s)
		slots[fmt.Sprintf("{p%d}", ledger.Player{Operator: "demo", ID: name}.Partition())] = true
		for range 2 {
			r := rand.New(rand.NewPCG(random.Uint64(), 2))
			play.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					s.stepWithin(r)
					steps.Add(1)
				}
			})
		}
	}
	k := &killer{site: site}
	k.awaitSteps(&steps, 40)
	moved := 0
	for range 2 { // there, and back or on
		for tag := range slots {
			moved += moveSlot(t, cluster, tag)
			k.awaitSteps(&steps, 20)
		}
	}
	stop()
	play.Wait()
	var audits []audit
	rounds := 0
	for _, s := range sessions {
		a := s.audit(grantUnits)
		audits = append(audits, a)
		rounds += len(a.rounds)
	}
	checkOutbox(t, site.store, audits)
	t.Logf("%d keys of %d slots moved under %d rounds; %s", moved, len(slots), rounds, tallyOf(sessions))
	if moved < 20 || rounds < 40 {
		t.Errorf("%d keys moved and %d rounds played: too few to show anything", moved, rounds)
	}
}

// moveSlot moves the slot of a tag from its master to another one, as redis-cli does it, and returns how many keys there were.
func moveSlot(t *testing.T, c *testenv.RedisCluster, tag string) (moved int) {
	t.Helper()
	do := func(s *testenv.RedisServer, args ...any) string {
		answer, err := c.Do(s, args...)
		if err != nil && err != redis.Nil {
			t.Fatalf("%v: %v", args, err)
		}
		return answer
	}
	from := c.Master(tag)
	var to *testenv.RedisServer
	for _, s := range c.Masters() {
		if s != from {
			to = s
		}
	}
	slot, source, target := do(from, "cluster", "keyslot", tag), do(from, "cluster", "myid"), do(to, "cluster", "myid")
	do(to, "cluster", "setslot", slot, "importing", source)
	do(from, "cluster", "setslot", slot, "migrating", target)
	host, port, _ := strings.Cut(to.Addr(), ":")
	for {
		keys := strings.Fields(strings.Trim(do(from, "cluster", "getkeysinslot", slot, 3), "[]"))
		if len(keys) == 0 {
			break
		}
		args := []any{"migrate", host, port, "", 0, 5000, "keys"}
		for _, key := range keys {
			args = append(args, key)
		}
		do(from, args...)
		moved += len(keys)
		time.Sleep(20 * time.Millisecond)
	}
	for _, s := range append([]*testenv.RedisServer{to, from}, c.Masters()...) {
		do(s, "cluster", "setslot", slot, "node", target)
	}
	return moved
}

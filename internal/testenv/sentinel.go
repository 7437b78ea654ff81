package testenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisSentinel is a master, its replica, and a sentinel that watches them
// under the name "house".
type RedisSentinel struct {
	t                         testing.TB
	Master, Replica, Sentinel *RedisServer
}

// Sentinel starts the three. They end with the test.
func Sentinel(t testing.TB) *RedisSentinel {
	t.Helper()
	master := Redis(t, InMemory)
	replica := Redis(t, InMemory, Args("--replicaof", "127.0.0.1", strconv.Itoa(master.port), "--repl-diskless-sync-delay", "0"))
	config := filepath.Join(t.TempDir(), "sentinel.conf") // a sentinel writes to it
	text := fmt.Sprintf("sentinel monitor house 127.0.0.1 %d 1\nsentinel down-after-milliseconds house 1000\n"+
		"sentinel failover-timeout house 5000\n", master.port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &RedisSentinel{t: t, Master: master, Replica: replica}
	s.Sentinel = &RedisServer{t: t, port: freePort(t), dir: t.TempDir(), config: config, args: []string{"--sentinel"}}
	t.Cleanup(s.Sentinel.Stop)
	s.Sentinel.Start()
	s.await("the sentinel to know the replica", func(c *redis.SentinelClient) bool {
		replicas, err := c.Replicas(context.Background(), "house").Result()
		return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok"
	})
	return s
}

// URL returns the address as the ledger dials it.
func (s *RedisSentinel) URL() string { return s.Sentinel.URL() + "?master=house" }

// FailOver kills the master and waits until the sentinel has put the replica
// in its place.
func (s *RedisSentinel) FailOver() {
	s.t.Helper()
	s.Master.Kill9()
	s.await("the promotion of the replica", func(c *redis.SentinelClient) bool {
		addr, err := c.GetMasterAddrByName(context.Background(), "house").Result()
		return err == nil && len(addr) == 2 && addr[1] == strconv.Itoa(s.Replica.port)
	})
}

func (s *RedisSentinel) await(what string, done func(*redis.SentinelClient) bool) {
	s.t.Helper()
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Sentinel.Addr()})
	defer c.Close()
	for deadline := time.Now().Add(2 * patience); !done(c); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("sentinel: waited in vain for %s", what)
		}
	}
}

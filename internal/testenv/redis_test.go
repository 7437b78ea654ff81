package testenv_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/testenv"
)

func client(t *testing.T, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	return c
}

func get(t *testing.T, s *testenv.RedisServer) string {
	t.Helper()
	v, err := client(t, s.Addr()).Get(context.Background(), "k").Result()
	if err != nil && err != redis.Nil {
		t.Fatal(err)
	}
	return v
}

func set(t *testing.T, s *testenv.RedisServer, value string) {
	t.Helper()
	if err := client(t, s.Addr()).Set(context.Background(), "k", value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRedisKeepsItsDataOverACrash(t *testing.T) {
	s := testenv.Redis(t, testenv.Always)
	set(t, s, "one")
	s.Kill9()
	s.Start()
	if got := get(t, s); got != "one" {
		t.Fatalf("after a crash: %q", got)
	}
	old := s.Copy()
	set(t, s, "two")
	s.Restart()
	if got := get(t, s); got != "two" {
		t.Fatalf("after a restart: %q", got)
	}
	s.Restore(old)
	if got := get(t, s); got != "one" {
		t.Fatalf("after the older copy came back: %q", got)
	}
}

func TestClusterFailOverLosesWhatAFrozenReplicaMissed(t *testing.T) {
	c := testenv.Cluster(t)
	master := c.Master("k")
	set(t, master, "one")
	replica := c.Replica(master)
	c.Sync(master)
	c.Freeze(replica)
	set(t, master, "two")
	if promoted := c.FailOver(master); promoted != replica || c.Master("k") != replica {
		t.Fatal("another server was promoted")
	}
	if got := get(t, replica); got != "one" {
		t.Fatalf("after fail-over: %q", got)
	}
	c.Recover(master)
	if c.Replica(replica) != master {
		t.Fatal("the old master is not a replica of the new one")
	}
}

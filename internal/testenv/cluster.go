package testenv

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisCluster is a cluster of the test's own: three masters, each with a
// replica.
type RedisCluster struct {
	t       testing.TB
	Servers []*RedisServer
}

// Cluster starts six servers and joins them. They end with the test.
func Cluster(t testing.TB) *RedisCluster {
	t.Helper()
	c := &RedisCluster{t: t}
	args := []string{"--cluster", "create"}
	for range 6 {
		s := Redis(t, InMemory, Args(
			"--cluster-enabled", "yes", "--cluster-node-timeout", "1500", "--cluster-replica-validity-factor", "0",
			"--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes",
		))
		c.Servers = append(c.Servers, s)
		args = append(args, s.Addr())
	}
	args = append(args, "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.Command("redis-cli", args...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli --cluster create: %v\n%s", err, out)
	}
	c.await("six servers of one mind", func() bool {
		masters := 0
		for _, s := range c.Servers {
			if !c.ready(s) {
				return false
			}
			if c.Replica(s) != nil {
				masters++
			}
		}
		return masters == 3
	})
	return c
}

// URL returns the address as the ledger dials it.
func (c *RedisCluster) URL() string {
	var addrs []string
	for _, s := range c.Servers {
		addrs = append(addrs, s.Addr())
	}
	return "redis://" + strings.Join(addrs, ",") + "?cluster=true"
}

// await polls until done, and fails the test when that never comes.
func (c *RedisCluster) await(what string, done func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(2 * patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("cluster: waited in vain for %s", what)
		}
	}
}

// Do runs a command on one server and returns its answer as text.
func (c *RedisCluster) Do(s *RedisServer, args ...any) (string, error) {
	client := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	answer, err := client.Do(ctx, args...).Result()
	return fmt.Sprint(answer), err
}

func (c *RedisCluster) has(s *RedisServer, text string, args ...any) bool {
	answer, err := c.Do(s, args...)
	return err == nil && strings.Contains(answer, text)
}

// ready reports whether a server sees the whole cluster and, as a replica, has
// all of its master's data.
func (c *RedisCluster) ready(s *RedisServer) bool {
	if !c.has(s, "cluster_state:ok", "cluster", "info") || !c.has(s, "cluster_known_nodes:6", "cluster", "info") {
		return false
	}
	return c.isMaster(s) || c.has(s, "master_link_status:up", "info", "replication")
}

func (c *RedisCluster) isMaster(s *RedisServer) bool {
	return c.has(s, "role:master", "info", "replication")
}

// Master returns the server that holds a key.
func (c *RedisCluster) Master(key string) *RedisServer {
	c.t.Helper()
	for _, s := range c.Servers {
		if s.cmd == nil || !c.isMaster(s) {
			continue
		}
		if _, err := c.Do(s, "exists", key); err == nil {
			return s
		}
	}
	c.t.Fatalf("no server holds %s", key)
	return nil
}

// Replica returns a replica of a master, nil when it has none.
func (c *RedisCluster) Replica(master *RedisServer) *RedisServer {
	port := fmt.Sprintf("master_port:%d\r", master.port)
	for _, s := range c.Servers {
		if s.cmd != nil && c.has(s, port, "info", "replication") {
			return s
		}
	}
	return nil
}

// Freeze cuts a replica off from its master's writes, for good. It stays in the
// cluster and can be promoted: then the writes since are lost.
func (c *RedisCluster) Freeze(replica *RedisServer) {
	c.t.Helper()
	for _, args := range [][]any{
		{"config", "set", "masterauth", "not-the-password"}, // so that it cannot come back
		{"client", "kill", "type", "master"},
	} {
		if answer, err := c.Do(replica, args...); err != nil {
			c.t.Fatalf("%v: %s, %v", args, answer, err)
		}
	}
	c.await("the replica to lose its master", func() bool {
		return c.has(replica, "master_link_status:down", "info", "replication")
	})
}

// FailOver kills a master and returns the replica that took its place.
func (c *RedisCluster) FailOver(master *RedisServer) *RedisServer {
	c.t.Helper()
	replica := c.Replica(master)
	if replica == nil {
		c.t.Fatalf("%s has no replica", master.Addr())
	}
	master.Kill9()
	c.await("the promotion of the replica", func() bool {
		return c.isMaster(replica) && c.has(replica, "cluster_state:ok", "cluster", "info")
	})
	return replica
}

// Sync waits until a master's replica has all that was written so far.
func (c *RedisCluster) Sync(master *RedisServer) {
	c.t.Helper()
	c.await("the replica to catch up", func() bool {
		answer, err := c.Do(master, "wait", "1", "1000")
		return err == nil && answer == "1"
	})
}

// Recover starts a killed server again, as a replica of whoever took its place,
// and waits until the cluster is whole.
func (c *RedisCluster) Recover(s *RedisServer) {
	c.t.Helper()
	s.Start()
	c.await("the cluster to be whole again", func() bool {
		for _, s := range c.Servers {
			if !c.ready(s) {
				return false
			}
		}
		return !c.isMaster(s)
	})
}

// Masters returns the servers that are masters now.
func (c *RedisCluster) Masters() []*RedisServer {
	var masters []*RedisServer
	for _, s := range c.Servers {
		if s.cmd != nil && c.isMaster(s) {
			masters = append(masters, s)
		}
	}
	return masters
}

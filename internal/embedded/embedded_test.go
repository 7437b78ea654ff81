package embedded_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/embedded"
)

var replid = regexp.MustCompile(`master_replid:([0-9a-f]{40})\r\n`)

// TestInfoReplicationInsideAScript is what the fence of the ledger stands on.
func TestInfoReplicationInsideAScript(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c := redis.NewClient(&redis.Options{Addr: e.Addr(), MaxRetries: -1})
	defer c.Close()
	ctx := context.Background()
	id := func() string {
		t.Helper()
		text, err := c.Eval(ctx, "return redis.call('INFO', 'replication')", nil).Text()
		if err != nil {
			t.Fatal(err)
		}
		found := replid.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("no id in %q", text)
		}
		if outside := c.Info(ctx, "replication").Val(); outside != text {
			t.Fatalf("%q in a script, %q outside", text, outside)
		}
		return found[1]
	}
	first := id()
	if id() != first {
		t.Fatal("the id changes by itself")
	}
	e.Replace()
	if id() == first {
		t.Fatal("the id stays when the store is replaced")
	}

	other, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	second := redis.NewClient(&redis.Options{Addr: other.Addr(), MaxRetries: -1})
	defer second.Close()
	if text := second.Info(ctx, "replication").Val(); replid.FindStringSubmatch(text)[1] == first {
		t.Fatal("two stores have one id")
	}
}

func TestCloseEndsTheStore(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: e.Addr(), MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	if err := c.Ping(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	e.Close()
	if c.Ping(context.Background()).Err() == nil {
		t.Fatal("the store answers after Close")
	}
}

package redisledger_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

func client(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	c, err := redisledger.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func backend(c redis.UniversalClient, replace func(t testing.TB)) ledgertest.Backend {
	return ledgertest.Backend{
		Store: redisledger.New(c, redisledger.Options{}),
		SetNonce: func(t testing.TB, p ledger.Player, nonce uint32) {
			key := fmt.Sprintf("{p%d}:u:%s", p.Partition(), p)
			if err := c.HSet(context.Background(), key, "n", nonce).Err(); err != nil {
				t.Fatal(err)
			}
		},
		Replace: replace,
	}
}

func TestConformanceOnRedis(t *testing.T) {
	c := client(t, testenv.Redis(t, testenv.Args("--enable-debug-command", "yes")).URL())
	ledgertest.Run(t, backend(c, func(t testing.TB) {
		if err := c.Do(context.Background(), "debug", "change-repl-id").Err(); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestConformanceOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	ledgertest.Run(t, backend(client(t, e.URL()), func(testing.TB) { e.Replace() }))
}

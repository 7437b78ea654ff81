package redisledger_test

import (
	"context"
	"testing"

	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

func TestCrashOnRedis(t *testing.T) {
	c := client(t, testenv.Redis(t, testenv.Args("--enable-debug-command", "yes")).URL())
	ledgertest.RunCrash(t, ledgertest.CrashBackend{Store: redisledger.New(c, redisledger.Options{}), Replace: func(t testing.TB) {
		if err := c.Do(context.Background(), "debug", "change-repl-id").Err(); err != nil {
			t.Fatal(err)
		}
	}})
}

func TestCrashOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	c := client(t, e.URL())
	ledgertest.RunCrash(t, ledgertest.CrashBackend{
		Store: redisledger.New(c, redisledger.Options{}), Replace: func(testing.TB) { e.Replace() },
	})
}

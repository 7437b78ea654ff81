package redisledger_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/testenv"
)

func TestFailoverMovesTheNonceCounterBackwards_OlderCopy(t *testing.T) {
	server := testenv.Redis(t, testenv.Always)
	ledgertest.RunLoss(t, dial(t, server.URL()), func(t *testing.T, _ ledger.Player, writes func()) {
		older := server.Copy()
		writes()
		server.Restore(older)
	})
}

func TestFailoverMovesTheNonceCounterBackwards_PlannedRestart(t *testing.T) {
	server := testenv.Redis(t, testenv.Always)
	b := backend(client(t, server.URL()), func(testing.TB) { server.Restart() })
	ledgertest.RunFence(t, b)
}

func TestOnCluster(t *testing.T) {
	cluster := testenv.Cluster(t)
	c := client(t, cluster.URL())
	b := backend(c, func(t testing.TB) {
		for _, m := range cluster.Masters() {
			if _, err := cluster.Do(m, "debug", "change-repl-id"); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("conformance", func(t *testing.T) { ledgertest.Run(t, b) })
	t.Run("check names each master", func(t *testing.T) {
		warnings, err := dial(t, cluster.URL()).Check(context.Background())
		if err != nil || len(warnings) != 3 {
			t.Fatalf("%q, %v", warnings, err)
		}
	})
	t.Run("fail-over moves the nonce counter backwards", func(t *testing.T) {
		ledgertest.RunLoss(t, b.Store, func(t *testing.T, p ledger.Player, writes func()) {
			master := cluster.Master(fmt.Sprintf("{p%d}", p.Partition()))
			cluster.Sync(master)
			cluster.Freeze(cluster.Replica(master))
			writes()
			cluster.FailOver(master)
			t.Cleanup(func() { cluster.Recover(master) })
		})
	})
}

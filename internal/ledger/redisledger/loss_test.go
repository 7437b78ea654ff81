package redisledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/reason"
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

func TestFailoverMovesTheNonceCounterBackwards_Sentinel(t *testing.T) {
	sentinel := testenv.Sentinel(t)
	b := newTable(t, sentinel.URL(), "alice")
	if _, err := b.Draw(ctx, b.bet()); err != nil {
		t.Fatal(err)
	}
	b.do("wait", 1, 5000)
	sentinel.FailOver()
	var changed *ledger.ChangedError
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err := b.Draw(ctx, b.bet())
		if errors.As(err, &changed) {
			break
		}
		if reason.Of(err) != reason.StoreUnavailable || time.Now().After(deadline) {
			t.Fatalf("draw after fail-over: %v", err)
		}
	}
	if changed.Cause != ledger.CauseStoreReplaced {
		t.Fatalf("cause %s", changed.Cause)
	}
	a, err := b.Open(ctx, b.player, offer(b.player, "after"), nil)
	if err != nil || a.Active != nil || a.Balances["FUN"] != 990 {
		t.Fatalf("account %+v, %v", a, err)
	}
}

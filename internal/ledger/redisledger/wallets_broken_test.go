package redisledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/testenv"
)

func TestNanPassesTheBalanceTestInTransfers(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	if _, err := b.Draw(ctx, b.bet()); err != nil {
		t.Fatal(err)
	}
	n := 0
	transfer := func(d ledger.Direction) func() error {
		return func() error {
			n++
			_, err := b.Transfer(ctx, ledger.Transfer{Operator: "acme", ID: fmt.Sprint("t", n), Player: "alice", Direction: d, Currency: "FUN", Amount: 1})
			return err
		}
	}
	for _, field := range []string{"bFUN", "xFUN"} {
		good := b.redis.HGet(ctx, b.playerKey(), field).Val()
		for _, value := range []string{"nan", "-nan", "inf", "1e3", "0x10", "-5", "", " 7", "7\n"} {
			b.do("hset", b.playerKey(), field, value)
			b.unchanged("deposit with "+field+" "+value, transfer(ledger.Deposit))
			b.unchanged("withdrawal with "+field+" "+value, transfer(ledger.Withdrawal))
		}
		b.do("hset", b.playerKey(), field, good)
	}
	if err := transfer(ledger.Withdrawal)(); err != nil {
		t.Fatal(err)
	}
	if balances, err := b.Balances(ctx, b.player); err != nil || balances["FUN"] != 989 {
		t.Fatalf("%v, %v", balances, err)
	}
}

func TestScriptErrorLeavesNoHalfOfATransfer(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	q := ledger.Transfer{Operator: "acme", ID: "t", Player: "alice", Direction: ledger.Deposit, Currency: "FUN", Amount: 1}
	period := time.Now().UnixMilli() / (100 * 24 * time.Hour.Milliseconds())
	for part := range 256 { // whatever part the id picks: its hash is another type
		b.do("set", fmt.Sprintf("%s:ta:acme:%d:%d", b.tag(), period, part), "x")
	}
	b.unchanged("deposit", func() error { _, err := b.Transfer(ctx, q); return err })
}

// Cluster slot errors from keys built inside scripts: each script stays within
// the slot of its first key.
func TestWalletsOnCluster(t *testing.T) {
	w := wallets(t, testenv.Cluster(t).URL(), time.Sleep)
	ledgertest.RunTransfers(t, w)
	ledgertest.RunFeed(t, w)
	w.Bisect = 1000
	ledgertest.RunDigests(t, w)
}

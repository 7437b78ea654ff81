package redisledger_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
)

// Bets of many players that reach Redis together: one meets a key of another
// type, one has not the money, one was decided for another nonce, one names a
// pair that is none of his. Each is answered for itself, and the others are taken
// and settled as though they had come alone.
func TestScriptErrorLeavesTheBetsBesideItAlone(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	const players = 24
	tables := make([]*table, players)
	for i := range tables {
		tables[i] = newTable(t, server.URL(), fmt.Sprint("together-", i))
		tables[i].Store = tables[0].Store // one store, which gathers the bets of all
	}
	if _, err := tables[0].Draw(ctx, tables[0].bet()); err != nil { // the script is known from here on
		t.Fatal(err)
	}
	play := func(i int) error {
		b := tables[i]
		d := b.bet()
		d.Decided = &ledger.Decided{Nonce: 0, Payout: 20}
		want := ledger.Settled
		switch i {
		case 0:
			want = ledger.Open // its next nonce is 1
		case 7:
			d.Stake, d.WorstCase = 2000, 4000
		case 9:
			d.Pair = ledger.PairID(string(d.Pair[:3]) + "aaaaaaaaaaaaaaaa")
		}
		drawn, err := b.Draw(ctx, d)
		if err == nil && (drawn.Round.State != want || drawn.Round.ID.Pair != b.pair) {
			t.Errorf("player %d: %+v", i, drawn)
		}
		return err
	}
	broken := tables[5].tag() + ":r:" + string(tables[5].pair[3:]) + ":0"
	tables[5].do("rpush", broken, "not what it was")
	tables[0].do("client", "pause", 200, "all")
	errs := make([]error, players)
	var all sync.WaitGroup
	for i := range tables {
		all.Go(func() { errs[i] = play(i) })
	}
	all.Wait()
	for i, err := range errs {
		switch i {
		case 5:
			if err == nil || reason.Of(err) != reason.Internal {
				t.Errorf("a key of another type: %v", err)
			}
		case 7:
			if reason.Of(err) != reason.InsufficientFunds {
				t.Errorf("2000 of 1000: %v", err)
			}
		case 9:
			if !errors.Is(err, ledger.ErrNoPair) {
				t.Errorf("a pair of nobody: %v", err)
			}
		default:
			if err != nil {
				t.Errorf("player %d: %v", i, err)
			}
		}
		balance, balanceErr := tables[i].Balances(ctx, tables[i].player)
		want := 1010
		switch i {
		case 0:
			want = 980 // two open bets of 10
		case 5, 7, 9:
			want = 1000
		}
		if balanceErr != nil || int(balance["FUN"]) != want {
			t.Errorf("player %d has %v, %v; want %d", i, balance, balanceErr, want)
		}
	}
	tables[5].do("del", broken)
	if err := play(5); err != nil {
		t.Errorf("after repair: %v", err)
	}
}

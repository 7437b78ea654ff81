package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
)

// mortal starts a process that is killed as a whole: its way to chains is cut
// with that to tables.
func (l *lineHouse) mortal() (kill func()) {
	l.t.Helper()
	way := &line{}
	chains := &Chains{Store: redisledger.New(l.dial(way), redisledger.Options{}), Keys: l.chains.Keys, Sources: l.chains.Sources, lead: l.chains.lead}
	tables, err := chains.OpenLine(context.Background(), "main", l.next, l.short)
	if err != nil {
		l.t.Fatal(err)
	}
	p := l.startTables(true, tables, chains)
	return func() {
		way.cut.Store(true)
		p.kill()
	}
}

// TestOwnersDieWhileChainsChange kills owners at random while one chain follows
// the other: no chain is made twice, no round is missing, and no bet is lost.
func TestOwnersDieWhileChainsChange(t *testing.T) {
	h := onRedis(t)
	l := newLine(t, h, NextChain{Length: 3, Low: 2, Salt: ownSalt})
	random := rand.New(rand.NewPCG(7, 7))
	h.stale = 150 * time.Millisecond
	kills := []func(){l.mortal(), l.mortal()}
	taker := l.open(false) // takes bets, and plays nothing
	alice := l.player("alice")
	const last = 7
	var ids []string
	var where []string
	for killed, bets := 0, 0; l.stateOf(string(ledger.CrashSuccessor("main", last))).Number == 0; {
		newest := "main"
		for n := 2; n <= last && l.stateOf(newest).Number >= 3; n++ {
			newest = string(ledger.CrashSuccessor("main", n))
		}
		if taker.find(newest) == nil {
			taker = l.open(false)
		}
		id := fmt.Sprintf("bet-%d", bets)
		if _, err := taker.betAt(newest, alice, id); err == nil {
			ids, where, bets = append(ids, id), append(where, newest), bets+1
		}
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		if killed < 14 {
			i := random.IntN(len(kills))
			kills[i]()
			kills[i] = l.mortal()
			killed++
		}
	}
	seen := make(map[string]bool)
	chains, err := ledger.CrashLine(context.Background(), l.store, "main")
	if err != nil || len(chains) < last {
		t.Fatalf("%d chains, %v", len(chains), err)
	}
	for _, c := range chains[:last-1] {
		if terminal := c.Kept.Terminal.String(); seen[terminal] {
			t.Errorf("two tables have the chain %s", terminal)
		} else {
			seen[terminal] = true
		}
		rounds, err := finalRounds(context.Background(), l.store, string(c.Table), 1, 3)
		if err != nil || len(rounds) != 3 {
			t.Errorf("%s lists %d rounds, %v", c.Table, len(rounds), err)
		}
	}
	want := money.Units(100_000)
	for i, id := range ids {
		bet, err := l.store.FindCrashBet(context.Background(), where[i], alice, id)
		if err != nil || bet.Round.State == ledger.Open && where[i] != string(ledger.CrashSuccessor("main", last)) {
			t.Errorf("%s at %s is %+v, %v", id, where[i], bet.Round, err)
		}
		want += bet.Round.Payout - bet.Round.Stake
	}
	if got := l.balance(alice); got != want || len(ids) == 0 {
		t.Errorf("balance %d after %d bets, want %d", got, len(ids), want)
	}
}

package ledgertest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

var raceChecks = []check{
	{"64 callers, one player: nonces without a gap", manyCallers},
	{"n cash-outs in one tick", manyCashOuts},
	{"one bet id from many callers is one round", oneBetID},
	{"a balance is spent once", spendOnce},
	{"rotate and start race", rotateAndStart},
	{"many first calls make one player", manyOpens},
	{"rotations of one commitment: one wins", manyRotations},
}

const callers = 64

// together runs f in many goroutines at once, each with its number.
func together(f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func manyCallers(t *testing.T, b Backend) {
	const each = 5
	p := newSubject(t, b.Store)
	var mu sync.Mutex
	var nonces []uint32
	together(func(int) {
		for range each {
			drawn, err := b.Store.Draw(ctx, p.dice(2))
			if err != nil {
				t.Errorf("draw: %v", err)
				return
			}
			if _, err := b.Store.Settle(ctx, p.settlement(drawn, 1)); err != nil {
				t.Errorf("settle: %v", err)
				return
			}
			mu.Lock()
			nonces = append(nonces, drawn.Round.ID.Nonce)
			mu.Unlock()
		}
	})
	slices.Sort(nonces)
	for i, n := range nonces {
		if n != uint32(i) {
			t.Fatalf("nonce %d at place %d", n, i)
		}
	}
	if len(nonces) != callers*each {
		t.Fatalf("%d bets, want %d", len(nonces), callers*each)
	}
	p.wantBalance(1000 - callers*each)
	outbox := p.outbox()
	seen := map[ledger.RoundID]bool{}
	for _, e := range outbox {
		seen[e.Round] = true
	}
	if len(outbox) != callers*each || len(seen) != callers*each {
		t.Fatalf("outbox of %d, %d different", len(outbox), len(seen))
	}
}

func manyCashOuts(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	drawn := p.draw(p.mines(100))
	answers := make([]ledger.Loaded, callers)
	together(func(i int) {
		l, err := b.Store.Settle(ctx, p.settlement(drawn, money.Units(100+i)))
		if err != nil {
			t.Errorf("settle: %v", err)
		}
		answers[i] = l
	})
	for _, l := range answers {
		if l.Round.Payout != answers[0].Round.Payout || l.Balance != 900+l.Round.Payout {
			t.Fatalf("%+v beside %+v", l, answers[0])
		}
	}
	p.wantBalance(900 + answers[0].Round.Payout)
	if got := p.outbox(); len(got) != 1 {
		t.Fatalf("outbox %v", got)
	}
}

func oneBetID(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.dice(10)
	together(func(int) {
		if drawn, err := b.Store.Draw(ctx, d); err != nil || drawn.Round.ID.Nonce != 0 {
			t.Errorf("draw: %+v, %v", drawn.Round, err)
		}
	})
	p.wantBalance(990)
	p.wantPair(p.pair, ledger.Active, "", 1)
}

func spendOnce(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	var mu sync.Mutex
	taken := 0
	together(func(int) {
		_, err := b.Store.Draw(ctx, p.dice(100))
		if err == nil {
			mu.Lock()
			taken++
			mu.Unlock()
			return
		}
		if reason.Of(err) != reason.InsufficientFunds {
			t.Errorf("draw: %v", err)
		}
	})
	if taken != 10 {
		t.Fatalf("%d bets of 100 from 1000", taken)
	}
	p.wantBalance(0)
	p.wantPair(p.pair, ledger.Active, "", 10)
}

// rotateAndStart lets callers start mines rounds while others rotate. Whatever
// the order, no pair is revealed under an open round.
func rotateAndStart(t *testing.T, b Backend) {
	for range 20 {
		p := newSubject(t, b.Store)
		old, r := p.pair, p.rotation()
		var drawn ledger.Drawn
		var drawErr, rotateErr error
		together(func(i int) {
			switch i {
			case 0:
				drawn, drawErr = b.Store.Draw(ctx, p.mines(10))
			case 1:
				_, rotateErr = b.Store.Rotate(ctx, r)
			}
		})
		pair := p.seedPair(old)
		switch {
		case drawErr == nil:
			wantRoundOpen(t, rotateErr, drawn.Round.ID)
			if pair.State != ledger.Active {
				t.Fatalf("pair in state %d under an open round", pair.State)
			}
		case rotateErr == nil:
			wantChanged(t, drawErr, ledger.CauseRotated)
			if pair.State != ledger.Revealed || pair.Nonce != 0 {
				t.Fatalf("pair %+v after a rotation", pair)
			}
		default:
			t.Fatalf("neither: %v and %v", drawErr, rotateErr)
		}
	}
}

func manyOpens(t *testing.T, b Backend) {
	p := &subject{Player: ledger.Player{Operator: "op", ID: "many" + unique()}, t: t, store: b.Store}
	accounts := make([]ledger.Account, callers)
	together(func(i int) {
		a, err := b.Store.Open(ctx, p.Player, p.offer(), []ledger.Grant{{Currency: fun, Amount: 5}})
		if err != nil {
			t.Errorf("open: %v", err)
		}
		accounts[i] = a
	})
	for _, a := range accounts {
		wantSame(t, "account", a, accounts[0])
	}
	p.wantBalance(5)
}

func manyRotations(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	shown := p.next.ID
	var mu sync.Mutex
	var winners []ledger.Rotated
	together(func(int) {
		r, err := b.Store.Rotate(ctx, p.rotation())
		if err == nil {
			mu.Lock()
			winners = append(winners, r)
			mu.Unlock()
			return
		}
		var stale *ledger.StaleError
		if !errors.As(err, &stale) || stale.Pair != shown {
			t.Errorf("rotate: %v", err)
		}
	})
	if len(winners) != 1 {
		t.Fatalf("%d rotations of one commitment", len(winners))
	}
	a := p.open()
	if a.Active.ID != shown || a.Active.ClientSeed != winners[0].Active.ClientSeed || a.Announced.ID != winners[0].Announced.ID {
		t.Fatalf("account %+v, winner %+v", a, winners[0])
	}
}

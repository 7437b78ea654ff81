package ledgertest

import (
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
)

var fenceChecks = []check{
	{"fail-over moves the nonce counter backwards: both pairs are retired", replaced},
	{"a replaced store and a player without a pair", replacedNewcomer},
	{"a replaced store and open instant rounds", replacedOpen},
	{"a replaced store and an open mines round", replacedMines},
	{"a replaced store and repeats", replacedRepeats},
}

func replaced(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	p.settle(p.settlement(p.draw(p.dice(10)), 0))
	active, announced := p.pair, p.next.ID
	b.Replace(t)

	for range 2 {
		_, err := b.Store.Draw(ctx, p.dice(10))
		wantChanged(t, err, ledger.CauseStoreReplaced)
		_, err = b.Store.Rotate(ctx, p.rotation())
		wantChanged(t, err, ledger.CauseStoreReplaced)
	}
	p.wantBalance(990)
	late := p.rotation()
	a := p.open()
	if a.Active != nil || a.Announced.ID == announced || a.Announced.ID == active {
		t.Fatalf("account %+v", a)
	}
	p.wantPair(active, ledger.Revealed, ledger.CauseStoreReplaced, 1)
	p.wantPair(announced, ledger.Unused, ledger.CauseStoreReplaced, 0)
	if u := p.seedPair(announced); u.ClientSeed != "" || u.Previous != active || u.Player != p.Player {
		t.Fatalf("unused %+v", u)
	}
	wantSame(t, "second open", p.open(), a)

	_, err := b.Store.Rotate(ctx, late)
	wantChanged(t, err, ledger.CauseStoreReplaced)
	_, err = b.Store.Draw(ctx, p.dice(10))
	wantChanged(t, err, ledger.CauseStoreReplaced)
	if r := p.rotate(); r.Active.ID != a.Announced.ID || r.Active.Previous != announced {
		t.Fatalf("rotated %+v", r)
	}
	p.draw(p.dice(10))
	pairs, err := b.Store.SeedPairs(ctx, p.Player, "", 10)
	if err != nil || len(pairs) != 3 || pairs[1].ID != announced || pairs[2].ID != active {
		t.Fatalf("pairs %+v, %v", pairs, err)
	}
}

func replacedNewcomer(t *testing.T, b Backend) {
	p := newcomer(t, b.Store, ledger.Player{Operator: "op", ID: "lost" + unique()}, 100)
	first := p.next
	b.Replace(t)
	_, err := b.Store.Rotate(ctx, p.rotation())
	wantChanged(t, err, ledger.CauseStoreReplaced)
	p.open(ledger.Grant{Currency: fun, Amount: 1000}) // not a new player
	second := p.next
	b.Replace(t)
	p.open()
	p.wantPair(first.ID, ledger.Unused, ledger.CauseStoreReplaced, 0)
	p.wantPair(second.ID, ledger.Unused, ledger.CauseStoreReplaced, 0)
	p.wantBalance(100)
	p.rotate()
}

func replacedOpen(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.dice(10))
	old := p.pair
	b.Replace(t)
	p.open()
	p.wantPair(old, ledger.Retired, ledger.CauseStoreReplaced, 1)
	if l := p.settle(p.settlement(d, 20)); l.Pair.State != ledger.Revealed || l.Balance != 1010 {
		t.Fatalf("settled %+v", l)
	}
	p.wantPair(old, ledger.Revealed, ledger.CauseStoreReplaced, 1)
}

func replacedMines(t *testing.T, b Backend) {
	for _, opened := range []bool{false, true} { // before and after the player came back
		p := newSubject(t, b.Store)
		d := p.draw(p.mines(10))
		if _, err := b.Store.Advance(ctx, p.Player, d.Round.ID, []uint8{3}); err != nil {
			t.Fatal(err)
		}
		old := p.pair
		b.Replace(t)
		if opened {
			p.open()
		}
		_, err := b.Store.Advance(ctx, p.Player, d.Round.ID, []uint8{3, 4})
		wantErr(t, err, ledger.ErrInterrupted)
		s := p.settlement(d, 0)
		s.Before, s.Picks = []uint8{3}, []uint8{3, 4}
		_, err = b.Store.Settle(ctx, s)
		wantErr(t, err, ledger.ErrInterrupted)
		if l, err := b.Store.Advance(ctx, p.Player, d.Round.ID, []uint8{3}); err != nil || len(l.Round.Picks) != 1 {
			t.Fatalf("a stored pick: %+v, %v", l, err)
		}
		if opened {
			p.rotate() // the old round does not hold the player up
			_, err = b.Store.Draw(ctx, p.mines(10))
			wantRoundOpen(t, err, d.Round.ID)
		}
		s.Picks = s.Before
		s.Payout = 11
		p.settle(s)
		p.wantBalance(1001)
		if opened {
			p.wantPair(old, ledger.Revealed, ledger.CauseStoreReplaced, 1)
			p.draw(p.mines(10))
		}
	}
}

func replacedRepeats(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	r := p.rotation()
	first, err := b.Store.Rotate(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	p.pair, p.next = first.Active.ID, first.Announced
	d := p.dice(10)
	drawn := p.draw(d)
	b.Replace(t)
	for range 2 {
		if got := p.draw(d); got.Round.ID != drawn.Round.ID {
			t.Fatalf("repeat gave %s", got.Round.ID)
		}
		again, err := b.Store.Rotate(ctx, r)
		if err != nil || again.Active.ID != first.Active.ID || again.Announced.ID != first.Announced.ID {
			t.Fatalf("repeat gave %+v, %v", again, err)
		}
		p.open()
	}
	p.wantBalance(990)
}

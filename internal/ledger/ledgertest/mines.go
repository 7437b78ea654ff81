package ledgertest

import (
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
)

var minesChecks = []check{
	{"picks are stored one at a time", picks},
	{"picks that were decided on others are refused", picksChanged},
	{"a settlement stores the last pick", lastPick},
	{"one mines round a player", oneMinesRound},
}

func picks(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.mines(10))
	var stored []uint8
	for _, tile := range []uint8{0, 24, 10, 13} { // 10 and 13 are line ends, 0 ends a C string
		stored = append(stored, tile)
		for range 2 {
			l, err := b.Store.Advance(ctx, p.Player, d.Round.ID, stored)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, "picks", l.Round.Picks, stored)
			if l.Round.State != ledger.Open || l.Balance != 990 || l.Pair.ID != p.pair {
				t.Fatalf("advanced %+v", l)
			}
		}
	}
	if got := p.draw(p.mines2(d)); string(got.Round.Picks) != string(stored) {
		t.Fatalf("repeat of the bet shows picks %v", got.Round.Picks)
	}
	rounds, err := b.Store.Rounds(ctx, p.pair, 0, 1)
	if err != nil || len(rounds) != 1 || string(rounds[0].Picks) != string(stored) {
		t.Fatalf("rounds %+v, %v", rounds, err)
	}
}

// mines2 is the draw that made this round.
func (p *subject) mines2(d ledger.Drawn) ledger.Draw {
	again := p.mines(d.Round.Stake)
	again.BetID = d.Round.BetID
	return again
}

func picksChanged(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.mines(10))
	advance := func(picks ...uint8) error {
		_, err := b.Store.Advance(ctx, p.Player, d.Round.ID, picks)
		return err
	}
	if err := advance(5); err != nil {
		t.Fatal(err)
	}
	wantErr(t, advance(6), ledger.ErrPicksChanged)
	wantErr(t, advance(6, 5), ledger.ErrPicksChanged)
	wantErr(t, advance(5, 6, 7), ledger.ErrPicksChanged)
	s := p.settlement(d, 10) // decided before the pick
	_, err := b.Store.Settle(ctx, s)
	wantErr(t, err, ledger.ErrPicksChanged)
	s.Before, s.Picks = []uint8{6}, []uint8{6, 7}
	_, err = b.Store.Settle(ctx, s)
	wantErr(t, err, ledger.ErrPicksChanged)
	p.wantBalance(990)

	s.Before, s.Picks = []uint8{5}, []uint8{5}
	p.settle(s)
	wantErr(t, advance(5, 6), ledger.ErrPicksChanged)
	l, err := b.Store.Advance(ctx, p.Player, d.Round.ID, []uint8{5})
	if err != nil || l.Round.State != ledger.Settled {
		t.Fatalf("a stored pick of a settled round: %+v, %v", l, err)
	}
	instant := p.draw(p.dice(10))
	_, err = b.Store.Advance(ctx, p.Player, instant.Round.ID, []uint8{5})
	wantErr(t, err, ledger.ErrPicksChanged)
}

func lastPick(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.mines(10))
	if _, err := b.Store.Advance(ctx, p.Player, d.Round.ID, []uint8{5}); err != nil {
		t.Fatal(err)
	}
	s := p.settlement(d, 0)
	s.Before, s.Picks = []uint8{5}, []uint8{5, 6}
	first := p.settle(s)
	if string(first.Round.Picks) != "\x05\x06" || first.Round.State != ledger.Settled {
		t.Fatalf("settled %+v", first)
	}
	wantSame(t, "repeat", p.settle(s), first)
	l, err := b.Store.Load(ctx, d.Round.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "loaded", l, first)

	for _, bad := range [][2][]uint8{{{5}, {6}}, {{5}, nil}, {nil, {5, 6}}} {
		s.Before, s.Picks = bad[0], bad[1]
		if _, err := b.Store.Settle(ctx, s); err == nil {
			t.Fatalf("picks %v after %v were accepted", bad[1], bad[0])
		}
	}
}

func oneMinesRound(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	first := p.draw(p.mines(10))
	for range 2 {
		_, err := b.Store.Draw(ctx, p.mines(10))
		wantRoundOpen(t, err, first.Round.ID)
	}
	instant := p.draw(p.dice(10)) // other games go on
	p.settle(p.settlement(instant, 0))
	_, err := b.Store.Draw(ctx, p.mines(10))
	wantRoundOpen(t, err, first.Round.ID)
	p.settle(p.settlement(first, 0))
	if got := p.draw(p.mines(10)); got.Round.ID.Nonce != 2 {
		t.Fatalf("nonce %d", got.Round.ID.Nonce)
	}
}

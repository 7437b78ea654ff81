package ledgertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
)

// Lose runs writes of a player that the store then forgets, as an older copy
// or a replica that lagged has never seen them.
type Lose func(t *testing.T, p ledger.Player, writes func())

// RunLoss plays on after a store lost writes: bets, a rotation, picks of a
// mines round. No nonce of a commitment is used for two bets, and no board is
// played on that its player has seen.
func RunLoss(t *testing.T, s ledger.Store, lose Lose) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, ledger.Store, Lose)
	}{
		{"older copy from before bets", loseBets},
		{"older copy from before a rotation", loseRotation},
		{"older copy from within a mines round", loseMines},
		{"older copy from before the player", losePlayer},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, s, lose) })
	}
}

// witness remembers what a player saw: which bet each nonce was used for.
type witness map[ledger.RoundID]string

func (w witness) draw(p *subject, d ledger.Draw) ledger.Drawn {
	p.t.Helper()
	drawn := p.draw(d)
	if other, ok := w[drawn.Round.ID]; ok && other != d.BetID {
		p.t.Fatalf("%s was used for bet %s and for bet %s", drawn.Round.ID, other, d.BetID)
	}
	w[drawn.Round.ID] = d.BetID
	return drawn
}

// awaitStore waits until the store answers again.
func awaitStore(t *testing.T, s ledger.Store, p ledger.Player) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err := s.Balances(ctx, p)
		if reason.Of(err) != reason.StoreUnavailable {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store does not come back: %v", err)
		}
	}
}

// playOn does what a vault does after SEED_PAIR_CHANGED, and plays.
func (p *subject) playOn(w witness) {
	p.t.Helper()
	if a := p.open(); a.Active != nil {
		p.t.Fatalf("pair %s is active after writes were lost", a.Active.ID)
	}
	p.rotate()
	for range 5 {
		p.settle(p.settlement(w.draw(p, p.dice(1)), 1))
	}
}

func loseBets(t *testing.T, s ledger.Store, lose Lose) {
	p, w := newSubject(t, s), witness{}
	p.settle(p.settlement(w.draw(p, p.dice(1)), 1))
	var lost ledger.Draw
	lose(t, p.Player, func() {
		for range 3 {
			lost = p.dice(1)
			p.settle(p.settlement(w.draw(p, lost), 1))
		}
	})
	awaitStore(t, s, p.Player)
	for _, d := range []ledger.Draw{p.dice(1), lost, p.mines(1)} {
		_, err := s.Draw(ctx, d)
		wantChanged(t, err, ledger.CauseStoreReplaced)
	}
	_, err := s.Rotate(ctx, p.rotation())
	wantChanged(t, err, ledger.CauseStoreReplaced)
	old := p.pair
	p.playOn(w)
	p.wantPair(old, ledger.Revealed, ledger.CauseStoreReplaced, 1)
	p.wantBalance(1000)
}

func loseRotation(t *testing.T, s ledger.Store, lose Lose) {
	p, w := newSubject(t, s), witness{}
	old, shown := p.pair, p.next
	var later ledger.Announced
	lose(t, p.Player, func() {
		p.rotate()
		later = p.next
		for range 3 {
			p.settle(p.settlement(w.draw(p, p.dice(1)), 1))
		}
	})
	awaitStore(t, s, p.Player)
	lostPair := p.pair
	p.next = shown // the store would take the rotation again, with another client seed
	known := []ledger.Rotation{p.rotation(), p.rotation(), p.rotation()}
	_, err := s.Rotate(ctx, known[0])
	wantChanged(t, err, ledger.CauseStoreReplaced)
	p.open()
	_, err = s.Rotate(ctx, known[1]) // of a commitment that ended unused
	wantChanged(t, err, ledger.CauseStoreReplaced)
	known[2].Announced = later.ID // of one that the store has never announced
	if _, err = s.Rotate(ctx, known[2]); !errors.Is(err, ledger.ErrNoPair) {
		t.Fatalf("error %v, want ErrNoPair", err)
	}
	p.wantBurnt(known)
	_, err = s.Draw(ctx, p.dice(1)) // of a pair that the store has never seen active
	if err == nil {
		t.Fatal("a bet on a lost pair was taken")
	}
	p.playOn(w)
	if p.pair == lostPair || p.pair == later.ID {
		t.Fatalf("pair %s was used before the loss", p.pair)
	}
	p.wantPair(old, ledger.Revealed, ledger.CauseStoreReplaced, 0)
	p.wantPair(shown.ID, ledger.Unused, ledger.CauseStoreReplaced, 0)
}

// wantBurnt checks that client seeds which were known before the commitment of
// now was made cannot be used with it: the server seed is never chosen after the
// client seed is known.
func (p *subject) wantBurnt(known []ledger.Rotation) {
	p.t.Helper()
	p.open()
	for i, r := range known {
		r.Announced = p.next.ID
		if _, err := p.store.Rotate(ctx, r); reason.Of(err) != reason.ClientSeedUsed {
			p.t.Fatalf("client seed %d, known before the commitment: error %v, want CLIENT_SEED_USED", i, err)
		}
	}
}

func loseMines(t *testing.T, s ledger.Store, lose Lose) {
	p, w := newSubject(t, s), witness{}
	d := w.draw(p, p.mines(10))
	if _, err := s.Advance(ctx, p.Player, d.Round.ID, []uint8{1}); err != nil {
		t.Fatal(err)
	}
	lose(t, p.Player, func() { // the second pick was a mine: the board was shown
		q := p.settlement(d, 0)
		q.Before, q.Picks = []uint8{1}, []uint8{1, 2}
		p.settle(q)
	})
	awaitStore(t, s, p.Player)
	_, err := s.Advance(ctx, p.Player, d.Round.ID, []uint8{1, 3})
	wantErr(t, err, ledger.ErrInterrupted)
	q := p.settlement(d, 0)
	q.Before, q.Picks = []uint8{1}, []uint8{1, 3}
	_, err = s.Settle(ctx, q)
	wantErr(t, err, ledger.ErrInterrupted)
	p.open()
	_, err = s.Advance(ctx, p.Player, d.Round.ID, []uint8{1, 3})
	wantErr(t, err, ledger.ErrInterrupted)
	q.Picks = q.Before
	p.settle(q)
	p.playOn(w)
}

func losePlayer(t *testing.T, s ledger.Store, lose Lose) {
	p, w := &subject{Player: ledger.Player{Operator: "op-" + unique(), ID: "lost"}, t: t, store: s}, witness{}
	lose(t, p.Player, func() {
		p.open(ledger.Grant{Currency: fun, Amount: 100})
		p.rotate()
		w.draw(p, p.dice(1))
	})
	awaitStore(t, s, p.Player)
	if _, err := s.Balances(ctx, p.Player); !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("the player was not lost: %v", err)
	}
	_, err := s.Draw(ctx, p.dice(1))
	wantErr(t, err, ledger.ErrNoPair)
	lost := fmt.Sprint(p.pair, p.next.ID)
	p.open(ledger.Grant{Currency: fun, Amount: 100})
	p.rotate()
	w.draw(p, p.dice(1))
	if got := fmt.Sprint(p.pair, p.next.ID); got == lost {
		t.Fatalf("pairs %s came back", got)
	}
}

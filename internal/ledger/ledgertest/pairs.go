package ledgertest

import (
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
)

var pairChecks = []check{
	{"a new player has a commitment and no pair", newPlayer},
	{"server seed chosen after the client seed is known: only what was announced is activated", announcedFirst},
	{"rotations keep a chain of pairs", rotationChain},
	{"a repeated rotation gives the same answer", rotationRepeated},
	{"a stale commitment burns the client seed", staleBurns},
	{"a client seed is used once", clientSeedOnce},
	{"a commitment of nobody or of another player", strangersCommitment},
	{"nonce returns to 0 only with a new server seed", nonceRestarts},
	{"manual rotation during an open mines round is refused", rotateDuringMines},
	{"automatic rotation reveals nothing while a round is open", revealGuard},
	{"support retires a pair", retire},
	{"support and an open round", retireDuringRound},
	{"nonce wraps: the pair is exhausted before", exhausted},
	{"an exhausted pair with an open mines round", exhaustedDuringMines},
	{"a sealed server seed that is missing or short is refused", shortOffer},
}

func newPlayer(t *testing.T, b Backend) {
	p := &subject{Player: ledger.Player{Operator: "op-" + unique(), ID: "new"}, t: t, store: b.Store}
	if _, err := b.Store.Balances(ctx, p.Player); !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("balances of nobody: %v", err)
	}
	first := p.offer()
	grant := []ledger.Grant{{Currency: "FUN", Amount: 500}, {Currency: "BTC", Amount: 7}}
	a, err := b.Store.Open(ctx, p.Player, first, grant)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "announced", a.Announced, first)
	if a.Active != nil || a.Balances["FUN"] != 500 || a.Balances["BTC"] != 7 || len(a.Balances) != 2 {
		t.Fatalf("account %+v", a)
	}
	again, err := b.Store.Open(ctx, p.Player, p.offer(), grant)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "second open", again, a)
}

func announcedFirst(t *testing.T, b Backend) {
	p := newcomer(t, b.Store, ledger.Player{Operator: "op", ID: "a" + unique()}, 0)
	shown, r := p.next, p.rotation()
	r.Announced = r.Offer.ID // a pair that nobody was shown
	_, err := b.Store.Rotate(ctx, r)
	wantErr(t, err, ledger.ErrNoPair)
	wantSame(t, "announced", p.open().Announced, shown)

	rotated := p.rotate()
	if rotated.Active.ID != shown.ID || string(rotated.Active.Sealed) != string(shown.Sealed) || rotated.Previous != nil {
		t.Fatalf("rotated %+v, shown %s", rotated, shown.ID)
	}
	a := p.open()
	if a.Active == nil || a.Active.ID != shown.ID || a.Active.Nonce != 0 {
		t.Fatalf("account %+v", a)
	}
	wantSame(t, "next", a.Announced, rotated.Announced)
}

func rotationChain(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	first := p.pair
	p.settle(p.settlement(p.draw(p.dice(10)), 0))
	r := p.rotate()
	if r.Previous == nil || r.Previous.ID != first || r.Previous.State != ledger.Revealed || r.Previous.Next != p.pair {
		t.Fatalf("previous %+v", r.Previous)
	}
	if r.Active.Previous != first || r.Active.Next != r.Announced.ID || r.Active.Player != p.Player {
		t.Fatalf("active %+v", r.Active)
	}
	p.wantPair(first, ledger.Revealed, ledger.CauseRotated, 1)
	p.wantPair(p.pair, ledger.Active, "", 0)
}

func rotationRepeated(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	r := p.rotation()
	first, err := b.Store.Rotate(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Store.Rotate(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "repeat", again, first)

	p.pair, p.next = first.Active.ID, first.Announced
	p.rotate()
	r.Offer = p.offer() // a repeat by a new process comes with another offer
	late, err := b.Store.Rotate(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "announced then", late.Announced, first.Announced)
	wantSame(t, "previous", late.Previous, first.Previous)
	if late.Active.ID != first.Active.ID || late.Active.State != ledger.Revealed {
		t.Fatalf("late repeat %+v", late.Active)
	}
	if a := p.open(); a.Active.ID != p.pair {
		t.Fatalf("a repeat moved the active pair to %s", a.Active.ID)
	}
}

func staleBurns(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	stale := p.rotation()
	p.rotate()
	active, next := p.pair, p.next
	for range 2 {
		_, err := b.Store.Rotate(ctx, stale)
		var e *ledger.StaleError
		if !errors.As(err, &e) || e.Pair != stale.Announced {
			t.Fatalf("error %v, want StaleError of %s", err, stale.Announced)
		}
	}
	r := p.rotation()
	r.ClientSeed = stale.ClientSeed
	_, err := b.Store.Rotate(ctx, r)
	wantReason(t, err, reason.ClientSeedUsed)
	a := p.open()
	if a.Active.ID != active {
		t.Fatalf("active %s, want %s", a.Active.ID, active)
	}
	wantSame(t, "announced", a.Announced, next)
}

func clientSeedOnce(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	used := p.rotation()
	r, err := b.Store.Rotate(ctx, used)
	if err != nil {
		t.Fatal(err)
	}
	p.pair, p.next = r.Active.ID, r.Announced
	again := p.rotation()
	again.ClientSeed = used.ClientSeed
	_, err = b.Store.Rotate(ctx, again)
	wantReason(t, err, reason.ClientSeedUsed)
	if a := p.open(); a.Active.ID != p.pair || a.Announced.ID != p.next.ID {
		t.Fatal("a refused rotation changed something")
	}
	other := newSubject(t, b.Store) // only this player's own use counts
	r2 := other.rotation()
	r2.ClientSeed = used.ClientSeed
	if _, err := b.Store.Rotate(ctx, r2); err != nil {
		t.Fatal(err)
	}
	for _, seed := range []rng.ClientSeed{"!", "~!{}:\\\"", rng.ClientSeed(make64())} {
		r3 := p.rotation()
		r3.ClientSeed = seed
		got, err := b.Store.Rotate(ctx, r3)
		if err != nil || got.Active.ClientSeed != seed {
			t.Fatalf("client seed %q: %q, %v", seed, got.Active.ClientSeed, err)
		}
		p.pair, p.next = got.Active.ID, got.Announced
	}
}

func make64() string {
	text := make([]byte, 64)
	for i := range text {
		text[i] = byte('!' + i)
	}
	return string(text)
}

func strangersCommitment(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	q := newcomer(t, b.Store, neighbour(p.Player), 100)
	for _, id := range []ledger.PairID{p.next.ID, p.pair, p.offer().ID, "", "00-short"} {
		r := q.rotation()
		r.Announced = id
		_, err := b.Store.Rotate(ctx, r)
		wantErr(t, err, ledger.ErrNoPair)
		d := q.dice(10)
		d.Pair = id
		_, err = b.Store.Draw(ctx, d)
		wantErr(t, err, ledger.ErrNoPair)
		_, err = b.Store.Retire(ctx, q.Player, id, "")
		wantErr(t, err, ledger.ErrNoPair)
	}
	d := q.dice(10)
	d.Pair = q.next.ID // announced, not active
	_, err := b.Store.Draw(ctx, d)
	wantErr(t, err, ledger.ErrNoPair)
	nobody := &subject{Player: neighbour(p.Player), t: t, store: b.Store}
	r := nobody.rotation()
	r.Announced = p.next.ID
	_, err = b.Store.Rotate(ctx, r)
	wantErr(t, err, ledger.ErrNoPair)
	p.wantBalance(1000)
	q.wantBalance(100)
}

func nonceRestarts(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	seen := map[string]bool{}
	for range 3 {
		for want := range uint32(3) {
			d := p.draw(p.dice(1))
			if d.Round.ID.Nonce != want || d.Pair.ID != p.pair {
				t.Fatalf("nonce %d of %s, want %d of %s", d.Round.ID.Nonce, d.Pair.ID, want, p.pair)
			}
			if seen[d.Round.ID.String()] {
				t.Fatalf("%s was used twice", d.Round.ID)
			}
			seen[d.Round.ID.String()] = true
		}
		p.rotate()
	}
}

func rotateDuringMines(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.mines(10))
	r := p.rotation()
	_, err := b.Store.Rotate(ctx, r)
	wantRoundOpen(t, err, d.Round.ID)
	p.wantPair(p.pair, ledger.Active, "", 1)
	p.settle(p.settlement(d, 0))
	if _, err := b.Store.Rotate(ctx, r); err != nil { // the client seed of a refused rotation is not burnt
		t.Fatal(err)
	}
}

func revealGuard(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	first, second := p.draw(p.dice(10)), p.draw(p.dice(10))
	old := p.pair
	r := p.rotate()
	if r.Previous.State != ledger.Retired || len(r.Previous.Open) != 2 {
		t.Fatalf("previous %+v", r.Previous)
	}
	p.wantPair(old, ledger.Retired, ledger.CauseRotated, 2)
	if l := p.settle(p.settlement(second, 20)); l.Pair.State != ledger.Retired {
		t.Fatalf("state %d with a round open", l.Pair.State)
	}
	d := p.dice(10)
	d.Pair = old
	_, err := b.Store.Draw(ctx, d)
	wantChanged(t, err, ledger.CauseRotated)
	if l := p.settle(p.settlement(first, 0)); l.Pair.State != ledger.Revealed || l.Pair.Nonce != 2 {
		t.Fatalf("pair after its last round %+v", l.Pair)
	}
	p.wantPair(old, ledger.Revealed, ledger.CauseRotated, 2)
}

func retire(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	p.settle(p.settlement(p.draw(p.dice(10)), 0))
	old := p.pair
	got, err := b.Store.Retire(ctx, p.Player, old, "ticket 7: asked by mail")
	if err != nil || got.State != ledger.Revealed || got.Detail != "ticket 7: asked by mail" || got.Cause != ledger.CauseSupport {
		t.Fatalf("retired %+v, %v", got, err)
	}
	again, err := b.Store.Retire(ctx, p.Player, old, "another")
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "repeat", again, got)
	_, err = b.Store.Draw(ctx, p.dice(10))
	wantChanged(t, err, ledger.CauseSupport)
	a := p.open()
	if a.Active != nil || a.Announced.ID != p.next.ID {
		t.Fatalf("account %+v", a)
	}
	if r := p.rotate(); r.Previous.ID != old || r.Active.Previous != old {
		t.Fatalf("rotated %+v", r)
	}
	p.wantPair(old, ledger.Revealed, ledger.CauseSupport, 1)
	got, err = b.Store.Retire(ctx, p.Player, p.pair, "x")
	if err != nil || got.State != ledger.Revealed {
		t.Fatalf("a second pair: %+v, %v", got, err)
	}
}

func retireDuringRound(t *testing.T, b Backend) {
	for _, draw := range []func(*subject) ledger.Draw{
		func(p *subject) ledger.Draw { return p.dice(10) },
		func(p *subject) ledger.Draw { return p.mines(10) },
	} {
		p := newSubject(t, b.Store)
		d := p.draw(draw(p))
		_, err := b.Store.Retire(ctx, p.Player, p.pair, "")
		wantRoundOpen(t, err, d.Round.ID)
		p.wantPair(p.pair, ledger.Active, "", 1)
		p.settle(p.settlement(d, 0))
		if _, err := b.Store.Retire(ctx, p.Player, p.pair, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func exhausted(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	b.SetNonce(t, p.Player, rng.MaxNonce-1)
	one := p.draw(p.dice(10))
	last := p.draw(p.dice(10))
	if one.Round.ID.Nonce != rng.MaxNonce-1 || last.Round.ID.Nonce != rng.MaxNonce || last.Pair.Nonce != rng.MaxNonce+1 {
		t.Fatalf("nonces %d and %d", one.Round.ID.Nonce, last.Round.ID.Nonce)
	}
	repeat := p.dice(10)
	repeat.BetID = last.Round.BetID
	for range 2 {
		_, err := b.Store.Draw(ctx, p.dice(10))
		wantChanged(t, err, ledger.CauseExhausted)
	}
	if again := p.draw(repeat); again.Round.ID != last.Round.ID {
		t.Fatalf("repeat of the last bet gave %s", again.Round.ID)
	}
	p.wantPair(p.pair, ledger.Retired, ledger.CauseExhausted, rng.MaxNonce+1)
	p.settle(p.settlement(one, 0))
	p.settle(p.settlement(last, 0))
	p.wantPair(p.pair, ledger.Revealed, ledger.CauseExhausted, rng.MaxNonce+1)
	p.wantBalance(980)
	if a := p.open(); a.Active != nil {
		t.Fatalf("active %+v", a.Active)
	}
	p.rotate()
	p.draw(p.dice(10))
}

func exhaustedDuringMines(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	b.SetNonce(t, p.Player, rng.MaxNonce)
	d := p.draw(p.mines(10))
	_, err := b.Store.Draw(ctx, p.dice(10))
	wantChanged(t, err, ledger.CauseExhausted)
	old := p.pair
	p.rotate()
	p.rotate() // the round is not the active pair's
	_, err = b.Store.Draw(ctx, p.mines(10))
	wantRoundOpen(t, err, d.Round.ID)
	l, err := b.Store.Advance(ctx, p.Player, d.Round.ID, []uint8{4})
	if err != nil {
		t.Fatal(err)
	}
	p.wantPair(old, ledger.Retired, ledger.CauseExhausted, rng.MaxNonce+1)
	p.settle(p.settlement(ledger.Drawn(l), 11))
	p.wantPair(old, ledger.Revealed, ledger.CauseExhausted, rng.MaxNonce+1)
	p.draw(p.mines(10))
}

func shortOffer(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	fresh := ledger.Player{Operator: p.Operator, ID: "fresh" + unique()}
	for _, size := range []int{0, 1, 32, 60} {
		r := p.rotation()
		r.Offer.Sealed = r.Offer.Sealed[:size]
		if _, err := b.Store.Rotate(ctx, r); err == nil {
			t.Fatalf("rotation that announces %d sealed bytes was accepted", size)
		}
		o := (&subject{Player: fresh}).offer()
		o.Sealed = o.Sealed[:size]
		if _, err := b.Store.Open(ctx, fresh, o, nil); err == nil {
			t.Fatalf("player with %d sealed bytes was made", size)
		}
	}
	if _, err := b.Store.Balances(ctx, fresh); !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("a refused player exists: %v", err)
	}
	p.wantPair(p.pair, ledger.Active, "", 0)
}

package ledgertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
)

// fataler is what the suite needs of a test; rapid's tests have it as well.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var ctx = context.Background()

var counter atomic.Uint64

func unique() string { return fmt.Sprintf("%d", counter.Add(1)) }

const fun money.Currency = "FUN"

// subject is a player under test.
type subject struct {
	ledger.Player
	t     fataler
	store ledger.Store
	pair  ledger.PairID    // the active one
	next  ledger.Announced // the announced one
}

// newSubject returns a player of an operator of his own, with 1000 FUN and an
// active pair.
func newSubject(t fataler, s ledger.Store) *subject {
	t.Helper()
	p := newcomer(t, s, ledger.Player{Operator: "op-" + unique(), ID: "p" + unique()}, 1000)
	p.rotate()
	return p
}

// newcomer returns a player with a balance and no active pair.
func newcomer(t fataler, s ledger.Store, id ledger.Player, balance money.Units) *subject {
	t.Helper()
	p := &subject{Player: id, t: t, store: s}
	p.open(ledger.Grant{Currency: fun, Amount: balance})
	return p
}

func (p *subject) offer() ledger.Announced {
	text := unique()
	return ledger.Announced{
		ID:     ledger.NewPairID(p.Player, rng.Commitment(sha256.Sum256([]byte("offer "+p.String()+text)))),
		Sealed: bytes.Repeat([]byte{text[len(text)-1]}, 61),
	}
}

func (p *subject) open(grant ...ledger.Grant) ledger.Account {
	p.t.Helper()
	a, err := p.store.Open(ctx, p.Player, p.offer(), grant)
	if err != nil {
		p.t.Fatalf("open: %v", err)
	}
	p.next = a.Announced
	return a
}

func (p *subject) rotation() ledger.Rotation {
	return ledger.Rotation{Player: p.Player, Announced: p.next.ID, ClientSeed: rng.ClientSeed("client-" + unique()), Offer: p.offer()}
}

func (p *subject) rotate() ledger.Rotated {
	p.t.Helper()
	r, err := p.store.Rotate(ctx, p.rotation())
	if err != nil {
		p.t.Fatalf("rotate: %v", err)
	}
	p.pair, p.next = r.Active.ID, r.Announced
	return r
}

// dice is a bet on an even chance.
func (p *subject) dice(stake money.Units) ledger.Draw {
	return ledger.Draw{
		Player: p.Player, Pair: p.pair, BetID: "bet-" + unique(), Currency: fun, Stake: stake, WorstCase: 2 * stake,
		Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}},
	}
}

func (p *subject) mines(stake money.Units) ledger.Draw {
	d := p.dice(stake)
	d.Bet, d.MaxPicks = bet.Bet{Game: bet.Mines, MineCount: 3}, 22
	return d
}

func (p *subject) draw(d ledger.Draw) ledger.Drawn {
	p.t.Helper()
	drawn, err := p.store.Draw(ctx, d)
	if err != nil {
		p.t.Fatalf("draw: %v", err)
	}
	return drawn
}

// settlement ends a round of dice or mines with this payout, at its picks.
func (p *subject) settlement(d ledger.Drawn, payout money.Units) ledger.Settlement {
	return ledger.Settlement{
		Player: p.Player, Round: d.Round.ID, Currency: d.Round.Currency, State: ledger.Settled,
		Payout: payout, WorstCase: 2 * d.Round.Stake, Before: d.Round.Picks, Picks: d.Round.Picks,
	}
}

func (p *subject) settle(s ledger.Settlement) ledger.Loaded {
	p.t.Helper()
	l, err := p.store.Settle(ctx, s)
	if err != nil {
		p.t.Fatalf("settle: %v", err)
	}
	return l
}

func (p *subject) balance() money.Units {
	p.t.Helper()
	b, err := p.store.Balances(ctx, p.Player)
	if err != nil {
		p.t.Fatalf("balances: %v", err)
	}
	return b[fun]
}

func (p *subject) seedPair(id ledger.PairID) ledger.SeedPair {
	p.t.Helper()
	pair, err := p.store.SeedPair(ctx, id)
	if err != nil {
		p.t.Fatalf("seed pair %s: %v", id, err)
	}
	return pair
}

func (p *subject) outbox() []ledger.OutboxEntry {
	p.t.Helper()
	e, err := p.store.Outbox(ctx, p.Operator, p.Partition(), 0, 10000)
	if err != nil {
		p.t.Fatalf("outbox: %v", err)
	}
	return e
}

// wantPair checks where a pair stands: its reveal follows from the state.
func (p *subject) wantPair(id ledger.PairID, state ledger.PairState, cause ledger.Cause, nonce uint32) {
	p.t.Helper()
	pair := p.seedPair(id)
	if pair.State != state || pair.Cause != cause || pair.Nonce != nonce {
		p.t.Fatalf("pair %s: state %d cause %q nonce %d, want %d %q %d", id, pair.State, pair.Cause, pair.Nonce, state, cause, nonce)
	}
	public := state == ledger.Revealed || state == ledger.Unused
	if pair.RevealTime.IsZero() == public {
		p.t.Fatalf("pair %s in state %d: reveal time %v", id, state, pair.RevealTime)
	}
}

func (p *subject) wantBalance(want money.Units) {
	p.t.Helper()
	if got := p.balance(); got != want {
		p.t.Fatalf("balance %d, want %d", got, want)
	}
}

// wantReason checks a refusal and its metadata, name before value.
func wantReason(t fataler, err error, r reason.Reason, metadata ...string) {
	t.Helper()
	var e *reason.Error
	if !errors.As(err, &e) || e.Reason != r {
		t.Fatalf("error %v, want reason %s", err, r)
	}
	for i := 0; i+1 < len(metadata); i += 2 {
		if e.Metadata[metadata[i]] != metadata[i+1] {
			t.Fatalf("%s: metadata %v, want %s %s", r, e.Metadata, metadata[i], metadata[i+1])
		}
	}
}

func wantChanged(t fataler, err error, cause ledger.Cause) {
	t.Helper()
	var e *ledger.ChangedError
	if !errors.As(err, &e) || e.Cause != cause {
		t.Fatalf("error %v, want ChangedError %s", err, cause)
	}
}

func wantRoundOpen(t fataler, err error, id ledger.RoundID) {
	t.Helper()
	var e *ledger.RoundOpenError
	if !errors.As(err, &e) || e.Round != id {
		t.Fatalf("error %v, want RoundOpenError of %s", err, id)
	}
}

func wantErr(t fataler, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func wantSame(t fataler, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// betID returns an id of this length that is like no other in its beginning.
func betID(length int) string {
	const letters = "-_9Az0Zab"
	id := make([]byte, length)
	for i := range id {
		id[i] = letters[(i*7+length)%len(letters)]
	}
	return string(id)
}

// neighbour returns another player of the same partition.
func neighbour(p ledger.Player) ledger.Player {
	for {
		q := ledger.Player{Operator: p.Operator, ID: "n" + unique()}
		if q.Partition() == p.Partition() && !strings.EqualFold(q.ID, p.ID) {
			return q
		}
	}
}

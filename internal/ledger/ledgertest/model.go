package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
)

var modelChecks = []check{
	{"any sequence of calls agrees with a model", anySequence},
}

func anySequence(t *testing.T, b Backend) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(rt, t, b)
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.compare,
			"open":    m.open,
			"rotate":  m.rotate,
			"draw":    m.draw,
			"advance": m.advance,
			"settle":  m.settle,
			"retire":  m.retire,
			"replace": func(*rapid.T) { b.Replace(t); m.replaced = true },
		})
	})
}

// model is a player as he should be, kept in the simplest way. Every write is
// made once or twice, as if the first answer was lost.
type model struct {
	*subject
	balance  money.Units
	active   *modelPair
	replaced bool // the store, since the announcement
	mines    *modelRound
	pairs    []*modelPair
	outbox   []ledger.RoundID
	used     map[rng.ClientSeed]bool
}

type modelPair struct {
	id         ledger.PairID
	state      ledger.PairState
	cause      ledger.Cause
	clientSeed rng.ClientSeed
	rounds     []*modelRound
}

type modelRound struct {
	draw        ledger.Draw
	id          ledger.RoundID
	state       ledger.RoundState
	payout      money.Units
	picks       []uint8
	pair        *modelPair
	interrupted bool
}

func newModel(rt *rapid.T, t *testing.T, b Backend) *model {
	s := newcomer(rt, b.Store, ledger.Player{Operator: "op-" + unique(), ID: "model"}, 1000)
	return &model{subject: s, balance: 1000, used: map[rng.ClientSeed]bool{}}
}

// twice makes a call, perhaps again, and wants the same answer.
func twice[T any](rt *rapid.T, do func() (T, error)) (T, error) {
	v, err := do()
	if !rapid.Bool().Draw(rt, "twice") {
		return v, err
	}
	again, err2 := do()
	if fmt.Sprint(err) != fmt.Sprint(err2) {
		rt.Fatalf("error %v, then %v", err, err2)
	}
	if err == nil {
		wantSame(rt, "repeat", again, v)
	}
	return again, err2
}

func (p *modelPair) open() (n int) {
	for _, r := range p.rounds {
		if r.state == ledger.Open {
			n++
		}
	}
	return n
}

func (m *model) end(p *modelPair, cause ledger.Cause) {
	p.cause, p.state = cause, ledger.Revealed
	if p.open() > 0 {
		p.state = ledger.Retired
	}
	m.active = nil
}

func (m *model) open(rt *rapid.T) {
	offer := m.offer()
	a, err := twice(rt, func() (ledger.Account, error) { return m.store.Open(ctx, m.Player, offer, nil) })
	if err != nil {
		rt.Fatalf("open: %v", err)
	}
	if m.replaced {
		if m.active != nil {
			m.end(m.active, ledger.CauseStoreReplaced)
		}
		m.pairs = append(m.pairs, &modelPair{id: m.next.ID, state: ledger.Unused, cause: ledger.CauseStoreReplaced})
		m.next, m.replaced = offer, false
	}
	if (a.Active == nil) != (m.active == nil) || a.Announced.ID != m.next.ID {
		rt.Fatalf("account %+v, want announced %s and active %+v", a, m.next.ID, m.active)
	}
}

func (m *model) rotate(rt *rapid.T) {
	r := m.rotation()
	r.ClientSeed = rng.ClientSeed(fmt.Sprint("seed-", rapid.IntRange(0, 30).Draw(rt, "client seed")))
	old := rapid.IntRange(-4, len(m.pairs)-1).Draw(rt, "announced")
	var target *modelPair
	if old >= 0 {
		target = m.pairs[old]
		r.Announced = target.id
	}
	got, err := twice(rt, func() (ledger.Rotated, error) { return m.store.Rotate(ctx, r) })
	var stale *ledger.StaleError
	switch {
	case target != nil && target.state == ledger.Unused:
		wantChanged(rt, err, ledger.CauseStoreReplaced)
		m.used[r.ClientSeed] = true
	case target != nil && target.clientSeed == r.ClientSeed:
		if err != nil || got.Active.ID != target.id {
			rt.Fatalf("repeated rotation: %+v, %v", got, err)
		}
	case target != nil:
		if !errors.As(err, &stale) {
			rt.Fatalf("stale rotation: %v", err)
		}
		m.used[r.ClientSeed] = true
	case m.replaced:
		wantChanged(rt, err, ledger.CauseStoreReplaced)
		m.used[r.ClientSeed] = true
	case m.used[r.ClientSeed]:
		wantReason(rt, err, reason.ClientSeedUsed)
	case m.mines != nil && m.mines.pair == m.active:
		wantRoundOpen(rt, err, m.mines.id)
	case err != nil:
		rt.Fatalf("rotate: %v", err)
	default:
		m.used[r.ClientSeed] = true
		if m.active != nil {
			m.end(m.active, ledger.CauseRotated)
		}
		m.active = &modelPair{id: r.Announced, state: ledger.Active, clientSeed: r.ClientSeed}
		m.pairs = append(m.pairs, m.active)
		m.next = r.Offer
	}
}

func (m *model) draw(rt *rapid.T) {
	if len(m.pairs) == 0 {
		return
	}
	pair := m.active
	if pair == nil || rapid.IntRange(0, 5).Draw(rt, "older pair") == 0 {
		pair = rapid.SampledFrom(m.pairs).Draw(rt, "pair")
	}
	d := m.dice(money.Units(rapid.SampledFrom([]int{1, 2, 300}).Draw(rt, "stake")))
	if rapid.Bool().Draw(rt, "mines") {
		d = m.mines2(ledger.Drawn{Round: ledger.Round{Stake: d.Stake}})
	}
	d.Pair, d.BetID = pair.id, fmt.Sprint("bet-", rapid.IntRange(0, 40).Draw(rt, "bet id"))
	if ahead := rapid.IntRange(-2, 1).Draw(rt, "decided"); d.Bet.Game != bet.Mines && ahead >= 0 {
		d.Decided = &ledger.Decided{
			Nonce:  uint32(len(pair.rounds) + ahead),
			Payout: money.Units(rapid.Int64Range(0, int64(d.WorstCase)).Draw(rt, "payout")),
		}
	}
	if rapid.IntRange(0, 9).Draw(rt, "refused") == 0 {
		d.Refusal = reason.New(reason.LimitExceeded, "limit")
	}
	got, err := twice(rt, func() (ledger.Drawn, error) { return withoutPair(m.store.Draw(ctx, d)) })

	nonce := fmt.Sprint(len(pair.rounds))
	i := slices.IndexFunc(pair.rounds, func(r *modelRound) bool { return r.draw.BetID == d.BetID })
	switch {
	case i >= 0 && sameContent(pair.rounds[i].draw, d):
		if err != nil || got.Round.ID != pair.rounds[i].id || got.Round.State != pair.rounds[i].state || got.Balance != m.balance {
			rt.Fatalf("repeat of %+v: %+v, %v", pair.rounds[i], got, err)
		}
	case i >= 0:
		wantReason(rt, err, reason.BetIDReused, "nonce", nonce)
	case pair != m.active:
		wantChanged(rt, err, pair.cause)
	case m.replaced:
		wantChanged(rt, err, ledger.CauseStoreReplaced)
	case d.Bet.Game == bet.Mines && m.mines != nil:
		wantRoundOpen(rt, err, m.mines.id)
	case d.Refusal != nil:
		wantReason(rt, err, reason.LimitExceeded, "nonce", nonce)
	case d.Stake > m.balance:
		wantReason(rt, err, reason.InsufficientFunds, "nonce", nonce, "balance", fmt.Sprint(m.balance))
	case err != nil:
		rt.Fatalf("draw: %v", err)
	default:
		r := &modelRound{draw: d, id: ledger.RoundID{Pair: pair.id, Nonce: uint32(len(pair.rounds))}, state: ledger.Open, pair: pair}
		pair.rounds = append(pair.rounds, r)
		m.balance -= d.Stake
		if d.Bet.Game == bet.Mines {
			m.mines = r
		}
		if d.Decided != nil && d.Decided.Nonce == r.id.Nonce {
			r.state, r.payout = ledger.Settled, d.Decided.Payout
			m.balance += r.payout
			m.outbox = append(m.outbox, r.id)
		}
		if got.Round.State != r.state || got.Round.Payout != r.payout {
			rt.Fatalf("drawn %+v, want state %d and payout %d", got, r.state, r.payout)
		}
		if got.Round.ID != r.id || got.Balance != m.balance {
			rt.Fatalf("drawn %+v, want %s and balance %d", got, r.id, m.balance)
		}
	}
}

// withoutPair leaves out what only a repeat is told.
func withoutPair(d ledger.Drawn, err error) (ledger.Drawn, error) {
	d.Pair = ledger.SeedPair{}
	return d, err
}

func sameContent(a, b ledger.Draw) bool { return a.Bet.Game == b.Bet.Game && a.Stake == b.Stake }

func (m *model) anyRound(rt *rapid.T) *modelRound {
	var all []*modelRound
	for _, p := range m.pairs {
		all = append(all, p.rounds...)
	}
	if m.mines != nil && rapid.Bool().Draw(rt, "the mines round") {
		return m.mines
	}
	if len(all) == 0 {
		return nil
	}
	return rapid.SampledFrom(all).Draw(rt, "round")
}

func (m *model) advance(rt *rapid.T) {
	r := m.anyRound(rt)
	if r == nil {
		return
	}
	picks := append(slices.Clone(r.picks), uint8(len(r.picks)))
	if len(r.picks) > 0 && rapid.Bool().Draw(rt, "stored picks") {
		picks = r.picks
	}
	got, err := twice(rt, func() (ledger.Loaded, error) { return m.store.Advance(ctx, m.Player, r.id, picks) })
	switch {
	case len(picks) == len(r.picks):
		wantSame(rt, "picks", got.Round.Picks, r.picks)
	case r != m.mines:
		wantErr(rt, err, ledger.ErrPicksChanged)
	case r.interrupted || m.replaced:
		wantErr(rt, err, ledger.ErrInterrupted)
	default:
		r.picks = picks
		wantSame(rt, "picks", got.Round.Picks, picks)
	}
}

func (m *model) settle(rt *rapid.T) {
	r := m.anyRound(rt)
	if r == nil {
		return
	}
	s := ledger.Settlement{
		Player: m.Player, Round: r.id, Currency: fun, State: ledger.Settled, WorstCase: r.draw.WorstCase,
		Payout: money.Units(rapid.Int64Range(0, int64(r.draw.WorstCase)).Draw(rt, "payout")), Before: r.picks, Picks: r.picks,
	}
	more := r == m.mines && rapid.Bool().Draw(rt, "with a pick")
	if more {
		s.Picks = append(slices.Clone(r.picks), uint8(len(r.picks)))
	}
	got, err := twice(rt, func() (ledger.Loaded, error) { return m.store.Settle(ctx, s) })
	if more && (r.interrupted || m.replaced) {
		wantErr(rt, err, ledger.ErrInterrupted)
		return
	}
	if err != nil {
		rt.Fatalf("settle: %v", err)
	}
	if r.state == ledger.Open {
		r.state, r.payout, r.picks = ledger.Settled, s.Payout, s.Picks
		m.balance += s.Payout
		m.outbox = append(m.outbox, r.id)
		if r == m.mines {
			m.mines = nil
		}
		if r.pair.state == ledger.Retired && r.pair.open() == 0 {
			r.pair.state = ledger.Revealed
		}
	}
	if got.Balance != m.balance || got.Round.Payout != r.payout || got.Pair.State != r.pair.state {
		rt.Fatalf("settled %+v, want %+v and balance %d", got, r, m.balance)
	}
}

// retire is rare, as it is in life: it would end most pairs before they are
// used.
func (m *model) retire(rt *rapid.T) {
	if len(m.pairs) == 0 || rapid.IntRange(0, 3).Draw(rt, "retire") > 0 {
		return
	}
	p := rapid.SampledFrom(m.pairs).Draw(rt, "pair")
	got, err := twice(rt, func() (ledger.SeedPair, error) { return m.store.Retire(ctx, m.Player, p.id, "why") })
	if p.open() > 0 {
		var open *ledger.RoundOpenError
		if !errors.As(err, &open) {
			rt.Fatalf("retired with an open round: %v", err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("retire: %v", err)
	}
	if p == m.active {
		m.end(p, ledger.CauseSupport)
	}
	if got.State != p.state {
		rt.Fatalf("retired %+v, want %+v", got, p)
	}
}

func (m *model) compare(rt *rapid.T) {
	if m.replaced && m.mines != nil {
		m.mines.interrupted = true
	}
	if got := m.subject.balance(); got != m.balance {
		rt.Fatalf("balance %d, want %d", got, m.balance)
	}
	pairs, err := m.store.SeedPairs(ctx, m.Player, "", 1000)
	if err != nil || len(pairs) != len(m.pairs) {
		rt.Fatalf("%d pairs, %v, want %d", len(pairs), err, len(m.pairs))
	}
	slices.Reverse(pairs)
	for i, p := range m.pairs {
		got := pairs[i]
		if got.ID != p.id || got.State != p.state || got.Cause != p.cause || int(got.Nonce) != len(p.rounds) ||
			len(got.Open) != p.open() || got.ClientSeed != p.clientSeed {
			rt.Fatalf("pair %+v, want %+v", got, p)
		}
		m.compareRounds(rt, p)
	}
	m.compareOutbox(rt)
}

func (m *model) compareRounds(rt *rapid.T, p *modelPair) {
	rounds, err := m.store.Rounds(ctx, p.id, 0, 1000)
	if err != nil || len(rounds) != len(p.rounds) {
		rt.Fatalf("%d rounds, %v, want %d", len(rounds), err, len(p.rounds))
	}
	for i, r := range p.rounds {
		got := rounds[i]
		if got.ID != r.id || got.State != r.state || got.Payout != r.payout || string(got.Picks) != string(r.picks) || got.BetID != r.draw.BetID {
			rt.Fatalf("round %+v, want %+v", got, r)
		}
	}
}

func (m *model) compareOutbox(rt *rapid.T) {
	entries, err := m.store.Outbox(ctx, m.Operator, m.Partition(), 0, 1000)
	if err != nil || len(entries) != len(m.outbox) {
		rt.Fatalf("outbox of %d, %v, want %d", len(entries), err, len(m.outbox))
	}
	for i, e := range entries {
		if e.Round != m.outbox[i] || e.Sequence != uint64(i)+1 {
			rt.Fatalf("outbox place %d: %+v, want %s", i, e, m.outbox[i])
		}
	}
}

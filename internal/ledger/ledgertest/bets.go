package ledgertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

var betChecks = []check{
	{"a bet is kept as it was made", kept},
	{"same idempotency key, different body", betIDReused},
	{"a repeat gives the same round, after rotation and reveal too", repeated},
	{"bet ids of every length", betIDLengths},
	{"bet ids beyond the first index", manyBets},
	{"roulette with 32 chips", manyChips},
	{"currencies of 2 to 8 characters", currencies},
	{"long player ids with braces and colons", oddPlayers},
	{"settlement is done once", settledOnce},
	{"settled by itself, then invalid session: it answers as it ended", settledAnswers},
	{"a decided bet is settled in the step that takes it", decidedBet},
	{"a bet decided for another nonce is left open", decidedForAnother},
	{"a decided payout above the worst case is refused", decidedTooHigh},
	{"a void round pays the stake back", void},
	{"rounds and pairs that are not there", notThere},
}

var limboBet = bet.Bet{Game: bet.Limbo, Limbo: limbo.Bet{TargetE2: 1000000}}

// redAndStraights returns this many chips.
func redAndStraights(count int) bet.Bet {
	b := bet.Bet{Game: bet.Roulette}
	all := roulette.All()
	for i := range count {
		chip := all[(i*5)%len(all)]
		chip.Amount = money.Units(1 + i*3)
		b.Roulette.Chips = append(b.Roulette.Chips, chip)
	}
	return b
}

// everyGame returns a bet of each game.
func (p *subject) everyGame() []ledger.Draw {
	l, r := p.dice(7), p.dice(1)
	l.Bet = limboBet
	r.Bet = redAndStraights(5)
	r.Stake = r.Bet.Roulette.Stake()
	r.WorstCase = 2 * r.Stake
	return []ledger.Draw{p.dice(9), l, r, p.mines(8)}
}

func kept(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	balance := money.Units(1000)
	for nonce, d := range p.everyGame() {
		balance -= d.Stake
		drawn := p.draw(d)
		r := drawn.Round
		if r.ID != (ledger.RoundID{Pair: p.pair, Nonce: uint32(nonce)}) || r.BetID != d.BetID || r.State != ledger.Open ||
			r.Currency != d.Currency || r.Stake != d.Stake || r.Payout != 0 || r.MaxPicks != d.MaxPicks || len(r.Picks) != 0 ||
			!r.SettleTime.IsZero() || r.CreateTime.IsZero() {
			t.Fatalf("round %+v of %+v", r, d)
		}
		wantSame(t, "bet", r.Bet, d.Bet)
		if drawn.Balance != balance || drawn.Pair.Nonce != uint32(nonce)+1 || len(drawn.Pair.Open) != nonce+1 ||
			drawn.Pair.State != ledger.Active || drawn.Pair.Player != p.Player || len(drawn.Pair.Sealed) != 61 {
			t.Fatalf("drawn %+v, want balance %d", drawn, balance)
		}
		l, err := b.Store.Load(ctx, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "loaded", l, ledger.Loaded(drawn))
	}
	if p.balance() != balance {
		t.Fatalf("balance %d, want %d", p.balance(), balance)
	}
}

func betIDReused(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.dice(10)
	p.draw(d)
	changes := map[string]func(*ledger.Draw){
		"stake":     func(d *ledger.Draw) { d.Stake++ },
		"currency":  func(d *ledger.Draw) { d.Currency = "FUM" },
		"target":    func(d *ledger.Draw) { d.Bet.Dice.Target++ },
		"direction": func(d *ledger.Draw) { d.Bet.Dice.Direction = dice.Under },
		"game":      func(d *ledger.Draw) { d.Bet = limboBet },
		"mines":     func(d *ledger.Draw) { d.Bet, d.MaxPicks = bet.Bet{Game: bet.Mines, MineCount: 3}, 22 },
		"roulette":  func(d *ledger.Draw) { d.Bet = redAndStraights(1) },
	}
	for name, change := range changes {
		other := d
		change(&other)
		_, err := b.Store.Draw(ctx, other)
		if reason.Of(err) != reason.BetIDReused {
			t.Fatalf("%s changed: %v", name, err)
		}
	}
	p.wantBalance(990)
	p.wantPair(p.pair, ledger.Active, "", 1)

	spin := p.dice(1)
	spin.Bet = redAndStraights(2)
	spin.Stake, spin.WorstCase = spin.Bet.Roulette.Stake(), 500
	first := p.draw(spin)
	again := spin
	again.Bet = redAndStraights(2)
	again.WorstCase = 600 // limits and the like may differ between the calls
	if got := p.draw(again); got.Round.ID != first.Round.ID {
		t.Fatalf("repeat gave %s", got.Round.ID)
	}
	again.Bet.Roulette.Chips[0], again.Bet.Roulette.Chips[1] = again.Bet.Roulette.Chips[1], again.Bet.Roulette.Chips[0]
	_, err := b.Store.Draw(ctx, again)
	wantReason(t, err, reason.BetIDReused, "nonce", "2")

	// The end of the first one's record reads as the second.
	long, short := p.dice(7), p.dice(1999)
	long.Currency, short.Currency, short.BetID = "AAAAA", "28WW", long.BetID
	q := &subject{Player: ledger.Player{Operator: "op", ID: "suffix" + unique()}, t: t, store: b.Store}
	q.open(ledger.Grant{Currency: "AAAAA", Amount: 100}, ledger.Grant{Currency: "28WW", Amount: 5000})
	q.rotate()
	long.Player, long.Pair, short.Player, short.Pair = q.Player, q.pair, q.Player, q.pair
	q.draw(long)
	_, err = b.Store.Draw(ctx, short)
	wantReason(t, err, reason.BetIDReused, "nonce", "1")

	m := p.mines(10)
	first = p.draw(m)
	m.MaxPicks-- // bounded by the limits of the day
	if got := p.draw(m); got.Round.ID != first.Round.ID || got.Round.MaxPicks != 22 {
		t.Fatalf("repeat gave %+v", got.Round)
	}
}

func repeated(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	draws := p.everyGame()
	var rounds []ledger.Drawn
	for _, d := range draws {
		first := p.draw(d)
		wantSame(t, "repeat", p.draw(d), first)
		rounds = append(rounds, first)
	}
	for _, r := range rounds {
		p.settle(p.settlement(r, r.Round.Stake))
	}
	p.rotate()
	for i, d := range draws {
		again := p.draw(d)
		if again.Round.ID != rounds[i].Round.ID || again.Round.State != ledger.Settled || again.Round.Payout != d.Stake {
			t.Fatalf("repeat of %+v gave %+v", d, again.Round)
		}
		if again.Pair.State != ledger.Revealed || again.Balance != 1000 {
			t.Fatalf("repeat with pair %+v and balance %d", again.Pair, again.Balance)
		}
		d.Stake++
		_, err := b.Store.Draw(ctx, d)
		wantReason(t, err, reason.BetIDReused)
	}
	p.wantBalance(1000)
}

func betIDLengths(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	for round := range 2 {
		for length := 1; length <= 40; length++ {
			d := p.dice(1)
			d.BetID = betID(length)
			got := p.draw(d)
			if got.Round.BetID != d.BetID || got.Round.ID.Nonce != uint32(length-1) {
				t.Fatalf("try %d: bet id %q gave %q of nonce %d", round, d.BetID, got.Round.BetID, got.Round.ID.Nonce)
			}
		}
	}
	for _, id := range []string{"abc", "abcA", "abcAA", "ab", "abA", "a", "aA", "A", "AA", "AAA", "AAAA"} { // A packs to zero bits
		d := p.dice(1)
		d.BetID = id
		if got := p.draw(d); got.Round.BetID != id {
			t.Fatalf("bet id %q gave %q", id, got.Round.BetID)
		}
	}
	p.wantBalance(1000 - 40 - 11)
}

func manyBets(t *testing.T, b Backend) {
	const count = 2300 // nonces 0..127, 128..2175 and 2176.. have a level of the index each
	p := newSubject(t, b.Store)
	id := func(nonce int) string { return fmt.Sprintf("many-%d", nonce) }
	for i := range count {
		d := p.dice(1)
		d.BetID, d.Decided = id(i), &ledger.Decided{Nonce: uint32(i), Payout: 1}
		p.draw(d)
	}
	repeated := 0
	for i := range count {
		border := i == 127 || i == 128 || i == 2175 || i == 2176 || i == count-1
		if i%20 != 0 && !border {
			continue
		}
		d := p.dice(1)
		d.BetID = id(i)
		if got := p.draw(d); got.Round.ID.Nonce != uint32(i) || got.Round.BetID != d.BetID {
			t.Fatalf("repeat of bet %d gave %s", i, got.Round.ID)
		}
		repeated++
	}
	if repeated < 115 {
		t.Errorf("%d bets were repeated", repeated)
	}
	p.wantBalance(1000)
	p.wantPair(p.pair, ledger.Active, "", count)
}

func manyChips(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	p.t = t
	for _, count := range []int{1, 31, 32} {
		d := p.dice(1)
		d.Bet = redAndStraights(count)
		d.Bet.Roulette.Chips[0].Amount, d.Stake = 1, 0
		for i := range d.Bet.Roulette.Chips {
			d.Bet.Roulette.Chips[i].Amount = 3
		}
		d.Stake = d.Bet.Roulette.Stake()
		d.WorstCase = 2 * d.Stake
		got := p.draw(d)
		wantSame(t, "chips", got.Round.Bet, d.Bet)
		wantSame(t, "settled", p.settle(p.settlement(got, 0)).Round.Bet, d.Bet)
		wantSame(t, "repeat", p.draw(d).Round.Bet, d.Bet)
	}
}

func currencies(t *testing.T, b Backend) {
	codes := []money.Currency{"00", "AZ", "FUN", "USDT", "9ZZ09", "A0A0A0", "1234567", "ZZZZZZZZ", "00000000"}
	p := &subject{Player: ledger.Player{Operator: "op", ID: "c" + unique()}, t: t, store: b.Store}
	var grants []ledger.Grant
	for _, c := range codes {
		grants = append(grants, ledger.Grant{Currency: c, Amount: 100})
	}
	p.open(grants...)
	p.rotate()
	for i, c := range codes {
		d := p.dice(money.Units(i + 1))
		d.Currency = c
		got := p.draw(d)
		l := p.settle(p.settlement(got, 2*d.Stake))
		if got.Round.Currency != c || got.Balance != 100-d.Stake || l.Balance != 100+d.Stake {
			t.Fatalf("%s: %+v, then balance %d", c, got, l.Balance)
		}
	}
	balances, err := b.Store.Balances(ctx, p.Player)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range codes {
		if balances[c] != money.Units(101+i) {
			t.Fatalf("balances %v", balances)
		}
	}
	d := p.dice(1)
	d.Currency = "NONE"
	_, err = b.Store.Draw(ctx, d)
	wantReason(t, err, reason.InsufficientFunds, "balance", "0")
}

func oddPlayers(t *testing.T, b Backend) {
	long := make([]byte, 128)
	for i := range long {
		long[i] = byte('!' + i%94)
	}
	for _, id := range []string{"{p1}", "}{", "{}", "a:b:c", ":", "*?[", `"\'`, string(long)} {
		p := newcomer(t, b.Store, ledger.Player{Operator: "op" + unique(), ID: id}, 50)
		p.rotate()
		d := p.draw(p.dice(10))
		if d.Pair.Player != p.Player {
			t.Fatalf("player %q came back as %q", id, d.Pair.Player.ID)
		}
		p.settle(p.settlement(d, 20))
		p.rotate()
		p.wantBalance(60)
		if got := p.outbox(); len(got) != 1 {
			t.Fatalf("outbox %v", got)
		}
	}
}

func settledOnce(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	for _, d := range p.everyGame() {
		before := p.balance()
		drawn := p.draw(d)
		s := p.settlement(drawn, 2*d.Stake)
		first := p.settle(s)
		if first.Round.State != ledger.Settled || first.Round.Payout != 2*d.Stake || first.Balance != before+d.Stake ||
			first.Round.SettleTime.Before(first.Round.CreateTime) || !first.Round.CreateTime.Equal(drawn.Round.CreateTime) {
			t.Fatalf("settled %+v", first)
		}
		wantSame(t, "bet", first.Round.Bet, d.Bet)
		wantSame(t, "repeat", p.settle(s), first)
	}
	if got := p.outbox(); len(got) != 4 {
		t.Fatalf("outbox %v", got)
	}
	if len(p.seedPair(p.pair).Open) != 0 {
		t.Fatal("rounds are still open")
	}
}

func settledAnswers(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	drawn := p.draw(p.dice(10))
	first := p.settle(p.settlement(drawn, 20))
	other := p.settlement(drawn, 0)
	other.State = ledger.Void
	wantSame(t, "another settlement", p.settle(other), first)
	p.wantBalance(1010)
}

func void(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	s := p.settlement(p.draw(p.mines(10)), 10)
	s.State = ledger.Void
	if l := p.settle(s); l.Round.State != ledger.Void || l.Round.Payout != 10 || l.Balance != 1000 {
		t.Fatalf("void %+v", l)
	}
	p.draw(p.mines(10))
}

func notThere(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.dice(10))
	missing := ledger.RoundID{Pair: p.pair, Nonce: 1}
	for _, id := range []ledger.RoundID{missing, {Pair: p.next.ID}, {Pair: p.offer().ID}, {}} {
		_, err := b.Store.Load(ctx, id)
		wantErr(t, err, ledger.ErrNotFound)
		_, err = b.Store.Advance(ctx, p.Player, id, []uint8{1})
		wantErr(t, err, ledger.ErrNotFound)
		s := p.settlement(d, 0)
		s.Round = id
		_, err = b.Store.Settle(ctx, s)
		wantErr(t, err, ledger.ErrNotFound)
	}
	stranger := newcomer(t, b.Store, neighbour(p.Player), 10)
	_, err := b.Store.Advance(ctx, stranger.Player, d.Round.ID, []uint8{1})
	wantErr(t, err, ledger.ErrNotFound)
	s := p.settlement(d, 0)
	s.Player = stranger.Player
	_, err = b.Store.Settle(ctx, s)
	wantErr(t, err, ledger.ErrNotFound)
	for _, id := range []ledger.PairID{p.next.ID, p.offer().ID, ""} {
		_, err := b.Store.SeedPair(ctx, id)
		wantErr(t, err, ledger.ErrNotFound)
	}
}

func decidedBet(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	balance := money.Units(1000)
	for nonce, d := range p.everyGame()[:3] {
		d.Decided = &ledger.Decided{Nonce: uint32(nonce), Payout: d.WorstCase - 1}
		balance += d.WorstCase - 1 - d.Stake
		drawn := p.draw(d)
		r := drawn.Round
		if r.State != ledger.Settled || r.Payout != d.WorstCase-1 || r.SettleTime.IsZero() || !r.SettleTime.Equal(r.CreateTime) ||
			r.ID.Nonce != uint32(nonce) || drawn.Balance != balance || drawn.Pair.ID != "" {
			t.Fatalf("drawn %+v, want balance %d", drawn, balance)
		}
		wantSame(t, "bet", r.Bet, d.Bet)
		again := p.draw(d)
		if again.Pair.ID != p.pair || again.Pair.Nonce != uint32(nonce)+1 || len(again.Pair.Open) != 0 {
			t.Fatalf("pair of the repeat %+v", again.Pair)
		}
		drawn.Pair = again.Pair
		wantSame(t, "repeat", again, drawn)
		d.Decided = nil
		wantSame(t, "repeat that is not decided", p.draw(d), drawn)
		wantSame(t, "settled again", p.settle(p.settlement(drawn, 0)).Round, r)
		if o := p.outbox(); len(o) != nonce+1 || o[nonce].Round != r.ID || o[nonce].Sequence != uint64(nonce+1) {
			t.Fatalf("outbox %+v", o)
		}
	}
	if open, err := b.Store.OpenRounds(ctx, p.Partition(), 0, 1000); err != nil || slices.ContainsFunc(open, func(o ledger.OpenRound) bool { return o.ID.Pair == p.pair }) {
		t.Fatalf("open rounds %+v, %v", open, err)
	}
	p.rotate()
	if p.balance() != balance {
		t.Fatalf("balance %d, want %d", p.balance(), balance)
	}
}

func decidedForAnother(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	p.draw(p.dice(1))
	for _, nonce := range []uint32{0, 2, 7} {
		d := p.dice(10)
		d.Decided = &ledger.Decided{Nonce: nonce, Payout: 20}
		if nonce == 2 {
			d.Decided.Nonce = 4 // the next is 2
		}
		before := p.balance()
		drawn := p.draw(d)
		if drawn.Round.State != ledger.Open || drawn.Round.Payout != 0 || drawn.Balance != before-10 {
			t.Fatalf("decided for nonce %d, got %+v", d.Decided.Nonce, drawn)
		}
		if l := p.settle(p.settlement(drawn, 20)); l.Balance != before+10 {
			t.Fatalf("settled %+v", l)
		}
	}
}

func decidedTooHigh(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	for _, change := range []func(*ledger.Draw){
		func(d *ledger.Draw) { d.Decided.Payout = d.WorstCase + 1 },
		func(d *ledger.Draw) { d.Decided.Payout = -1 },
		func(d *ledger.Draw) { d.Bet, d.MaxPicks = bet.Bet{Game: bet.Mines, MineCount: 3}, 22 },
	} {
		d := p.dice(10)
		d.Decided = &ledger.Decided{}
		change(&d)
		if _, err := b.Store.Draw(ctx, d); err == nil {
			t.Errorf("taken: %+v", d)
		}
	}
	if p.balance() != 1000 || len(p.outbox()) != 0 {
		t.Fatal("a refused bet had an effect")
	}
}

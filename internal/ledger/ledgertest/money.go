package ledgertest

import (
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

var moneyChecks = []check{
	{"integers past 2^53 or 10^14 break in Lua", hugeAmounts},
	{"balance, open rounds and worst case stay within 2^53-1", balanceCap},
	{"read-then-write balance; first bet never checked", firstBetChecked},
	{"a payout above the worst case is refused", payoutAboveWorst},
	{"a round is settled in its own currency", otherCurrency},
}

func hugeAmounts(t *testing.T, b Backend) {
	for _, balance := range []money.Units{99_999_999_999_999, 100_000_000_000_000, 123_456_789_012_345, money.MaxUnits - 1, money.MaxUnits} {
		p := newcomer(t, b.Store, ledger.Player{Operator: "op", ID: "huge" + unique()}, balance)
		p.wantBalance(balance)
		p.rotate()
		d := p.dice(1)
		d.Stake, d.WorstCase = balance, balance
		drawn := p.draw(d)
		if drawn.Round.Stake != balance || drawn.Balance != 0 {
			t.Fatalf("drawn %+v", drawn)
		}
		s := p.settlement(drawn, balance-1)
		s.WorstCase = balance
		l := p.settle(s)
		if l.Round.Payout != balance-1 || l.Balance != balance-1 {
			t.Fatalf("settled %+v", l)
		}
		p.wantBalance(balance - 1)
		d = p.dice(1)
		got := p.draw(d)
		if got.Balance != balance-2 {
			t.Fatalf("balance %d, want %d", got.Balance, balance-2)
		}
	}
}

func balanceCap(t *testing.T, b Backend) {
	p := newcomer(t, b.Store, ledger.Player{Operator: "op", ID: "cap" + unique()}, money.MaxUnits-100)
	p.rotate()
	d := p.dice(50)
	d.WorstCase = 151 // MaxUnits - 100 - 50 + 151 = MaxUnits + 1
	_, err := b.Store.Draw(ctx, d)
	wantReason(t, err, reason.BalanceLimit, "nonce", "0")
	d.WorstCase = 150
	first := p.draw(d)
	d = p.dice(50) // the open round's worst case counts
	d.WorstCase = 51
	_, err = b.Store.Draw(ctx, d)
	wantReason(t, err, reason.BalanceLimit, "nonce", "1")
	d.WorstCase = 50
	p.draw(d)

	s := p.settlement(first, 0)
	s.WorstCase = 150
	p.settle(s)
	d = p.dice(50) // and no longer once it is settled
	d.WorstCase = 200
	third := p.draw(d)
	s = p.settlement(third, 200)
	s.WorstCase = 200
	if l := p.settle(s); l.Balance != money.MaxUnits-50 {
		t.Fatalf("balance %d", l.Balance)
	}
	s = p.settlement(ledger.Drawn(load(t, b, ledger.RoundID{Pair: p.pair, Nonce: 1})), 50)
	s.WorstCase = 50
	if l := p.settle(s); l.Balance != money.MaxUnits {
		t.Fatalf("balance %d", l.Balance)
	}
}

func load(t *testing.T, b Backend, id ledger.RoundID) ledger.Loaded {
	t.Helper()
	l, err := b.Store.Load(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func firstBetChecked(t *testing.T, b Backend) {
	p := newcomer(t, b.Store, ledger.Player{Operator: "op", ID: "poor" + unique()}, 0)
	p.rotate()
	_, err := b.Store.Draw(ctx, p.dice(1))
	wantReason(t, err, reason.InsufficientFunds, "balance", "0", "nonce", "0")
	nothing := &subject{Player: ledger.Player{Operator: "op", ID: "none" + unique()}, t: t, store: b.Store}
	nothing.open()
	nothing.rotate()
	_, err = b.Store.Draw(ctx, nothing.dice(1))
	wantReason(t, err, reason.InsufficientFunds, "balance", "0", "nonce", "0")
}

func payoutAboveWorst(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.draw(p.dice(10))
	for _, s := range []ledger.Settlement{
		{Payout: 21, WorstCase: 20, State: ledger.Settled, Currency: fun},
		{Payout: -1, WorstCase: 20, State: ledger.Settled, Currency: fun},
		{Payout: 30, WorstCase: 30, State: ledger.Settled, Currency: fun}, // more than was held for it
		{Payout: 20, WorstCase: 20, State: ledger.Open, Currency: fun},
		{Payout: 20, WorstCase: 20, State: ledger.Settled, Currency: "BTC"},
	} {
		s.Player, s.Round = p.Player, d.Round.ID
		if _, err := b.Store.Settle(ctx, s); err == nil {
			t.Fatalf("settlement %+v was accepted", s)
		}
	}
	p.wantBalance(990)
	p.settle(p.settlement(d, 20))
	p.wantBalance(1010)
}

func otherCurrency(t *testing.T, b Backend) {
	p := &subject{Player: ledger.Player{Operator: "op", ID: "two" + unique()}, t: t, store: b.Store}
	p.open(ledger.Grant{Currency: fun, Amount: 100}, ledger.Grant{Currency: "BTC", Amount: 100})
	p.rotate()
	first := p.draw(p.dice(10))
	d := p.dice(10)
	d.Currency = "BTC"
	second := p.draw(d)
	s := p.settlement(first, 20)
	s.Currency = "BTC"
	if _, err := b.Store.Settle(ctx, s); err == nil {
		t.Fatal("a bet in FUN was paid in BTC")
	}
	p.settle(p.settlement(first, 20))
	if l := p.settle(p.settlement(second, 0)); l.Balance != 90 {
		t.Fatalf("balance %d BTC", l.Balance)
	}
	p.wantBalance(110)
}

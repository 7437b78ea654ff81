package ledgertest

import (
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

var refusalChecks = []check{
	{"a refused bet takes no nonce and names it", refusalsTakeNoNonce},
	{"a repeat is answered before any refusal", repeatBeforeRefusal},
	{"what is no bet is refused", noBet},
}

func refusalsTakeNoNonce(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	p.draw(p.dice(10))
	m := p.draw(p.mines(10))
	refusal := reason.New(reason.LimitExceeded, "too much", "limit", "maxStake")
	broken := errors.New("of no reason")

	_, err := b.Store.Draw(ctx, p.dice(981))
	wantReason(t, err, reason.InsufficientFunds, "nonce", "2", "balance", "980")
	d := p.dice(10)
	d.Refusal = refusal
	_, err = b.Store.Draw(ctx, d)
	wantReason(t, err, reason.LimitExceeded, "nonce", "2", "limit", "maxStake")
	if len(refusal.Metadata) != 1 {
		t.Fatal("the caller's refusal was changed")
	}
	d.Refusal = broken
	_, err = b.Store.Draw(ctx, d)
	wantErr(t, err, broken)
	d = p.dice(10)
	d.WorstCase = money.MaxUnits
	_, err = b.Store.Draw(ctx, d)
	wantReason(t, err, reason.BalanceLimit, "nonce", "2")
	d = p.mines(10)
	d.Refusal = refusal // an open round comes first
	_, err = b.Store.Draw(ctx, d)
	wantRoundOpen(t, err, m.Round.ID)
	var open *ledger.RoundOpenError
	if errors.As(err, &open); open.Nonce != 2 {
		t.Fatalf("refused bet would have had nonce %d, want 2", open.Nonce)
	}

	p.wantBalance(980)
	if got := p.draw(p.dice(980)); got.Round.ID.Nonce != 2 || got.Balance != 0 {
		t.Fatalf("next bet %+v", got)
	}
}

func repeatBeforeRefusal(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	d := p.dice(600)
	first := p.draw(d)
	d.Refusal = reason.New(reason.LimitExceeded, "limits changed meanwhile")
	d.WorstCase = 0
	if got := p.draw(d); got.Round.ID != first.Round.ID { // nor is there money for another
		t.Fatalf("repeat gave %s", got.Round.ID)
	}
	m := p.mines(10)
	first = p.draw(m)
	if got := p.draw(m); got.Round.ID != first.Round.ID { // nor may another be open
		t.Fatalf("repeat gave %s", got.Round.ID)
	}
	p.wantBalance(390)
}

func noBet(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	for name, change := range map[string]func(*ledger.Draw){
		"negative stake adds money": func(d *ledger.Draw) { d.Stake = -10 },
		"no stake":                  func(d *ledger.Draw) { d.Stake = 0 },
		"stake above the cap":       func(d *ledger.Draw) { d.Stake = money.MaxUnits + 1 },
		"worst case below stake":    func(d *ledger.Draw) { d.WorstCase = 1 },
		"worst case above the cap":  func(d *ledger.Draw) { d.WorstCase = money.MaxUnits + 1 },
		"no bet id":                 func(d *ledger.Draw) { d.BetID = "" },
		"long bet id":               func(d *ledger.Draw) { d.BetID = betID(41) },
		"bet id with a space":       func(d *ledger.Draw) { d.BetID = "a b" },
		"no game":                   func(d *ledger.Draw) { d.Bet = bet.Bet{} },
		"no currency":               func(d *ledger.Draw) { d.Currency = "" },
		"no chips":                  func(d *ledger.Draw) { d.Bet = bet.Bet{Game: bet.Roulette} },
	} {
		d := p.dice(10)
		change(&d)
		if _, err := b.Store.Draw(ctx, d); err == nil {
			t.Fatalf("%s was accepted", name)
		}
	}
	p.wantBalance(1000)
	p.wantPair(p.pair, ledger.Active, "", 0)
}

package redisledger_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
)

func dial(t testing.TB, url string) *redisledger.Store {
	t.Helper()
	client, err := redisledger.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return redisledger.New(client, redisledger.Options{})
}

func offer(p ledger.Player, text string) ledger.Announced {
	return ledger.Announced{
		ID:     ledger.NewPairID(p, rng.Commitment(sha256.Sum256([]byte(text)))),
		Sealed: bytes.Repeat([]byte{7}, redisledger.SealedSize),
	}
}

func TestABetFromOfferToOutbox(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for name, url := range map[string]string{"redis": testenv.Redis(t).URL(), "embedded": e.URL()} {
		t.Run(name, func(t *testing.T) { playOne(t, dial(t, url)) })
	}
}

func playOne(t *testing.T, s *redisledger.Store) {
	ctx := context.Background()
	p := ledger.Player{Operator: "acme", ID: "alice"}
	a, err := s.Open(ctx, p, offer(p, "1"), []ledger.Grant{{Currency: "FUN", Amount: 1000}})
	if err != nil || a.Active != nil || a.Balances["FUN"] != 1000 {
		t.Fatalf("open: %+v, %v", a, err)
	}
	r, err := s.Rotate(ctx, ledger.Rotation{Player: p, Announced: a.Announced.ID, ClientSeed: "mine", Offer: offer(p, "2")})
	if err != nil || r.Previous != nil || r.Active.ID != a.Announced.ID || r.Active.State != ledger.Active {
		t.Fatalf("rotate: %+v, %v", r, err)
	}
	d := ledger.Draw{Player: p, Pair: r.Active.ID, BetID: "bet-1", Currency: "FUN", Stake: 100, WorstCase: 198,
		Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}}}
	drawn, err := s.Draw(ctx, d)
	if err != nil || drawn.Balance != 900 || drawn.Round.ID.Nonce != 0 || drawn.Pair.Nonce != 1 || len(drawn.Pair.Open) != 1 {
		t.Fatalf("draw: %+v, %v", drawn, err)
	}
	l, err := s.Settle(ctx, ledger.Settlement{Player: p, Round: drawn.Round.ID, Currency: "FUN", State: ledger.Settled, Payout: 198, WorstCase: 198})
	if err != nil || l.Balance != 1098 || l.Round.State != ledger.Settled || l.Round.Payout != 198 || l.Round.Bet.Dice != d.Bet.Dice {
		t.Fatalf("settle: %+v, %v", l, err)
	}
	entries, err := s.Outbox(ctx, "acme", p.Partition(), 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Round != drawn.Round.ID || entries[0].Sequence != 1 {
		t.Fatalf("outbox: %+v, %v", entries, err)
	}
	if w, err := s.Check(ctx); err != nil || len(w) == 0 {
		t.Fatalf("check: %v, %v", w, err)
	}
}

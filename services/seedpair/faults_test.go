package seedpair_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/seedpair"
)

// insist repeats a call until its answer is definite, as a client does.
func insist[T any](t *testing.T, call func() (T, error)) T {
	t.Helper()
	for range 100 {
		a := got(call())
		if why := reason.Of(a.err); a.err == nil || why != reason.StoreUnavailable {
			return a.must(t)
		}
	}
	t.Fatal("the store never answers")
	panic("not reached")
}

// evening plays every game on a pair whose server seed is known, rotates,
// plays on, and is interrupted by nothing but its store.
func evening(t *testing.T, h *house, r row) {
	t.Helper()
	p := h.announce(h.stranger(), r.ServerSeed)
	p.next = insist(t, func() (*originalsv1.GetSeedPairResponse, error) {
		return p.pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{})
	}).GetNextCommitment()
	rotate := func(clientSeed string) *originalsv1.RotateSeedPairResponse {
		req := &originalsv1.RotateSeedPairRequest{ClientSeed: clientSeed, NextCommitment: p.next}
		res := insist(t, func() (*originalsv1.RotateSeedPairResponse, error) { return p.pairs.RotateSeedPair(p.ctx, req) })
		p.pair, p.next = res.GetActive().GetSeedPairId(), res.GetNextCommitment()
		return res
	}
	rotate(r.ClientSeed)
	p.setNonce(r.Nonce)
	safe, _ := tiles(r)

	var ended []*originalsv1.Round
	start := p.minesStart(r.Stake)
	id := insist(t, func() (*originalsv1.Round, error) { return p.mines.StartRound(p.ctx, start) }).GetRoundId()
	for _, tile := range safe[:2] {
		insist(t, func() (*originalsv1.Round, error) { return p.pick(id, tile) })
	}
	ended = append(ended, insist(t, func() (*originalsv1.Round, error) { return p.cashOut(id) }))
	d, l, w := p.diceBet(100), p.limboBet(200), p.rouletteBet(300)
	ended = append(ended,
		insist(t, func() (*originalsv1.Round, error) { return p.dice.PlaceBet(p.ctx, d) }),
		insist(t, func() (*originalsv1.Round, error) { return p.limbo.PlaceBet(p.ctx, l) }),
		insist(t, func() (*originalsv1.Round, error) { return p.roulette.PlaceBet(p.ctx, w) }))
	// A bet that another process takes makes the next guess of the nonce wrong:
	// that bet is taken and settled in two steps.
	elsewhere, twoSteps := p.diceBet(50), p.diceBet(60)
	ended = append(ended,
		got(p.at(h.process()).dice.PlaceBet(p.ctx, elsewhere)).must(t),
		insist(t, func() (*originalsv1.Round, error) { return p.dice.PlaceBet(p.ctx, twoSteps) }))
	left := p.diceBet(400)
	insist(t, func() (any, error) { return p.vault("dice").Draw(p.ctx, diceDraw(left)) })
	old := p.pair
	revealed := rotate("second-client-seed").GetRevealed()
	if revealed.GetSeedPairId() != old || revealed.GetState() != originalsv1.SeedPair_REVEALED || revealed.GetNonce() != r.Nonce+7 {
		t.Errorf("revealed %v", revealed)
	}
	ended = append(ended, insist(t, func() (*originalsv1.Round, error) { return p.dice.PlaceBet(p.ctx, left) }))
	last := p.diceBet(500)
	ended = append(ended, insist(t, func() (*originalsv1.Round, error) { return p.dice.PlaceBet(p.ctx, last) }))

	// Nothing is lost and nothing doubled, as a process on a whole store sees it.
	p = p.at(h.process())
	want := int64(1_000_000)
	for _, round := range ended {
		if round.GetState() != originalsv1.Round_SETTLED {
			t.Errorf("ended as %v", round)
		}
		want += round.GetPayout().GetAmount() - round.GetStake().GetAmount()
	}
	if ended[0].GetPayout().GetAmount() != multiply(r, 2) || !slices.Equal(ended[0].GetMines().GetPicks(), safe[:2]) {
		t.Errorf("mines ended as %v", ended[0])
	}
	if p.balance() != want || p.nonce() != 1 {
		t.Errorf("balance %d and nonce %d, want %d and 1", p.balance(), p.nonce(), want)
	}
	outbox := got(h.store.Outbox(p.ctx, p.id.Operator, p.id.Partition(), 0, 100)).must(t)
	settled := map[string]bool{}
	for _, e := range outbox {
		settled[e.Round.String()] = true
	}
	for _, round := range ended {
		if !settled[round.GetRoundId()] {
			t.Errorf("%s has no settlement", round.GetRoundId())
		}
	}
	if len(outbox) != len(ended) || len(settled) != len(ended) {
		t.Errorf("%d settlements of %d rounds", len(outbox), len(ended))
	}
	list, _ := p.allRounds(&originalsv1.ListRoundsRequest{}, func() {})
	if len(list) != len(ended) {
		t.Errorf("%d rounds are listed, want %d", len(list), len(ended))
	}
}

func TestStoreFaultsLoseNothingAndDoubleNothing(t *testing.T) {
	redis := testenv.Redis(t, testenv.InMemory)
	h := openHouse(t, redis.URL(), redis.Restart, nil)
	r := minesRow(t)
	run := func(t *testing.T, decide func(int) ledgertest.Fault) int {
		t.Helper()
		got(h.client.FlushAll(t.Context()).Result()).must(t)
		f := &ledgertest.Faulty{Store: h.store, Decide: decide}
		evening(t, h.process(func(o *seedpair.Options) { o.Store = f }), r)
		return f.Writes()
	}
	writes := run(t, func(int) ledgertest.Fault { return ledgertest.None })
	if writes < 18 {
		t.Fatalf("the evening has %d writes", writes)
	}
	for name, fault := range map[string]ledgertest.Fault{"failed": ledgertest.Failed, "failed but persisted": ledgertest.Persisted} {
		for i := range writes {
			t.Run(fmt.Sprintf("%s at write %d", name, i), func(t *testing.T) {
				run(t, func(n int) ledgertest.Fault {
					if n == i {
						return fault
					}
					return ledgertest.None
				})
			})
		}
		for chance := range uint64(3) {
			t.Run(fmt.Sprintf("%s, half of the writes, %d", name, chance), func(t *testing.T) {
				coin := rand.New(rand.NewPCG(7, chance))
				run(t, func(int) ledgertest.Fault {
					if coin.IntN(2) == 0 {
						return fault
					}
					return ledgertest.None
				})
			})
		}
	}
}

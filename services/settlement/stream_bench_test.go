package settlement_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// BenchmarkStream reports the time of a settlement that one of 64 consumers is
// sent by gRPC over TCP, from the first to the last, and that of an entry of the
// same size which one of 64 consumers reads by XREAD in the same run. Of both,
// messages as they are decoded by their client.
func BenchmarkStream(b *testing.B) {
	const consumers, players, rounds = 64, 64, 200
	const total = players * rounds
	c, err := redisledger.Dial(testenv.Redis(b, testenv.InMemory).URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	store := redisledger.New(c, redisledger.Options{})
	var g errgroup.Group
	g.SetLimit(16)
	for i := range players {
		g.Go(func() error { return playRounds(store, fmt.Sprint("player-", i), rounds) })
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	pipe, ctx := c.Pipeline(), context.Background()
	for i := range total {
		pipe.XAdd(ctx, &redis.XAddArgs{Stream: "entries", ID: fmt.Sprintf("0-%d", i+1),
			Values: []any{"r", "0123456789012345678901234567890123456789012345", "u", "acme:player-0000", "id", "aebagbaaaaaaaaaa"}})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		b.Fatal(err)
	}
	h := newHouse(b, store, nil)
	measure := func(name string, consume func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var all sync.WaitGroup
				for range consumers {
					all.Go(func() {
						if err := consume(); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total*consumers), "ns/settlement")
		})
	}
	measure("xread", func() error {
		for at := 0; at < total; {
			got, err := c.XRead(ctx, &redis.XReadArgs{Streams: []string{"entries", fmt.Sprintf("0-%d", at)}, Count: 200, Block: -1}).Result()
			if err != nil {
				return err
			}
			at += len(got[0].Messages)
		}
		return nil
	})
	measure("one-by-one", func() error { return consumeStream(h, 0, total) })
	measure("batches", func() error { return consumeStream(h, 256, total) })
}

// consumeStream reads so many settlements of a stream.
func consumeStream(h *house, batch int32, total int) error {
	ctx, cancel := context.WithCancel(h.as("north", auth.Wallet))
	defer cancel()
	s, err := h.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{Batch: batch})
	if err != nil {
		return err
	}
	for at := 0; at < total; {
		m, err := s.Recv()
		if err != nil {
			return err
		}
		at += len(m.GetSettlements())
		if m.GetSettlement() != nil {
			at++
		}
	}
	return nil
}

// playRounds has a new player of the operator north bet.
func playRounds(s *redisledger.Store, id string, rounds int) error {
	ctx, p := context.Background(), ledger.Player{Operator: "north", ID: id}
	offer := func(n int) ledger.Announced {
		return ledger.Announced{ID: ledger.NewPairID(p, rng.Commitment(sha256.Sum256(fmt.Append(nil, id, n)))), Sealed: make([]byte, redisledger.SealedSize)}
	}
	a, err := s.Open(ctx, p, offer(1), []ledger.Grant{{Currency: "FUN", Amount: 100_000}})
	if err != nil {
		return err
	}
	r, err := s.Rotate(ctx, ledger.Rotation{Player: p, Announced: a.Announced.ID, ClientSeed: "seed", Offer: offer(2)})
	if err != nil {
		return err
	}
	for n := range rounds {
		_, err := s.Draw(ctx, ledger.Draw{
			Player: p, Pair: r.Active.ID, BetID: fmt.Sprintf("0b7f5c1e-12ab-4d3f-9e00-%012d", n), Currency: "FUN", Stake: 100, WorstCase: 198,
			Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}}, Decided: &ledger.Decided{Nonce: uint32(n), Payout: 198},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

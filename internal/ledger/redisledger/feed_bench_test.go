package redisledger_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
)

const (
	feedPlayers = 200
	feedRounds  = 300
	feedBatch   = 100
	feedReaders = 64
	feedPage    = 200
)

// fillFeed has players of an operator play, and returns how many settlements
// there are.
func fillFeed(t testing.TB, s *redisledger.Store, operator string, rounds int, of func(i int) bool) int {
	players := make([]ledger.Player, 0, feedPlayers)
	for i := 0; len(players) < feedPlayers; i++ {
		p := ledger.Player{Operator: operator, ID: fmt.Sprintf("player-%04d", i)}
		if of(p.Partition()) {
			players = append(players, p)
		}
	}
	each(t, feedPlayers, func(i int) error {
		p := players[i]
		a, err := s.Open(ctx, p, offer(p, p.String()+"1"), []ledger.Grant{{Currency: "FUN", Amount: 100000}})
		if err != nil {
			return err
		}
		r, err := s.Rotate(ctx, ledger.Rotation{Player: p, Announced: a.Announced.ID, ClientSeed: rng.ClientSeed(p.ID), Offer: offer(p, p.String()+"2")})
		if err != nil {
			return err
		}
		for n := range rounds {
			d := ledger.Draw{Player: p, Pair: r.Active.ID, BetID: fmt.Sprintf("0b7f5c1e-12ab-4d3f-9e00-%012d", n), Currency: "FUN", Stake: 100, WorstCase: 198,
				Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}}, Decided: &ledger.Decided{Nonce: uint32(n), Payout: 198}}
			if _, err := s.Draw(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
	return feedPlayers * rounds
}

func everywhere(int) bool { return true }

// claimAll claims and acknowledges until nothing is left.
func claimAll(t testing.TB, s *redisledger.Store, operator string) (settlements int) {
	for n := 0; ; n++ {
		c := ledger.Claim{Operator: operator, ID: fmt.Sprint("claim-", n), Consumer: "c", Max: feedBatch, Lease: time.Minute}
		got, err := s.Claim(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			return settlements
		}
		acks := make([]ledger.Ack, len(got))
		for i, r := range got {
			acks[i] = ledger.Ack{Round: r.Round, Token: r.Token, WalletTransaction: fmt.Sprintf("9c1e5a70-12ab-4d3f-9e00-%012d", settlements+i)}
		}
		results, err := s.Acknowledge(ctx, operator, acks)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Status != ledger.Acknowledged {
				t.Fatalf("%+v", r)
			}
		}
		settlements += len(got)
	}
}

// bareClaims writes as much as claimAll, one command for each thing that is
// written of a settlement (its place, that it is pending, its acknowledgement,
// that it is not pending) and of a claim, in one pipeline to claim and one to
// acknowledge.
func bareClaims(t testing.TB, c redis.UniversalClient, settlements int) {
	for n := 0; n < settlements; n += feedBatch {
		claim := c.Pipeline()
		claim.HSet(ctx, fmt.Sprint("{p0}:jh:", n), "g", "fingerprint", "e", n, "m", n, "p", "0")
		claim.PExpire(ctx, fmt.Sprint("{p0}:jh:", n), time.Hour)
		for i := range feedBatch {
			pair := fmt.Sprint("{p0}:a:aebagbaaaaaaaaaa", i%16)
			claim.HSet(ctx, pair, n/16%128, "\x00abcde")
			claim.RPush(ctx, fmt.Sprint("{p0}:l:player-", i%16), n+i)
		}
		for i := range 16 {
			claim.HSet(ctx, fmt.Sprint("{p0}:k:player-", i), "T", n, "E", n, "C", n, "n", 6)
			claim.ZAdd(ctx, "{p0}:y", redis.Z{Score: float64(n), Member: fmt.Sprint("player-", i)})
		}
		claim.HSet(ctx, fmt.Sprint("{p0}:j:", n), "t", n, "e", n)
		claim.PExpire(ctx, fmt.Sprint("{p0}:j:", n), time.Hour)
		if _, err := claim.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		ack := c.Pipeline()
		for i := range feedBatch {
			pair := fmt.Sprint("{p0}:a:aebagbaaaaaaaaaa", i%16)
			ack.HSet(ctx, pair, n/16%128, "\x10abcde0123456789abcdef")
			ack.LPop(ctx, fmt.Sprint("{p0}:l:player-", i%16))
		}
		for i := range 16 {
			ack.HDel(ctx, fmt.Sprint("{p0}:k:player-", i), "T", "E", "C", "n")
			ack.ZRem(ctx, "{p0}:y", fmt.Sprint("player-", i))
		}
		if _, err := ack.Exec(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkClaims reports the time of a settlement that is claimed and
// acknowledged in batches of 100, and that of a bare pipeline of the same
// writes in the same run.
func BenchmarkClaims(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		c := client(b, testenv.Redis(b, testenv.InMemory).URL())
		for b.Loop() {
			bareClaims(b, c, feedPlayers*feedRounds)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*feedPlayers*feedRounds)/1000, "us/settlement")
	})
	b.Run("claim", func(b *testing.B) {
		c := client(b, testenv.Redis(b, testenv.InMemory).URL())
		s := redisledger.New(c, redisledger.Options{})
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			operator := fmt.Sprint("acme-", n)
			want := fillFeed(b, s, operator, feedRounds, everywhere)
			b.StartTimer()
			if got := claimAll(b, s, operator); got != want {
				b.Fatalf("%d of %d settlements", got, want)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*feedPlayers*feedRounds)/1000, "us/settlement")
	})
}

// read64 has 64 readers go from the beginning to the end, a page at a time.
func read64(t testing.TB, total int, page func(ctx context.Context, after int) (int, error)) {
	var g sync.WaitGroup
	for range feedReaders {
		g.Go(func() {
			for at := 0; at < total; {
				n, err := page(ctx, at)
				if err != nil || n == 0 {
					t.Errorf("after %d: %d, %v", at, n, err)
					return
				}
				at += n
			}
		})
	}
	g.Wait()
}

// BenchmarkFeed reports the time of a settlement that one of 64 readers reads in
// pages of 200, and that of an entry of the same size by XREAD in the same run.
func BenchmarkFeed(b *testing.B) {
	c := client(b, testenv.Redis(b, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	one := ledger.Player{Operator: "acme", ID: "player-0000"}.Partition()
	total := fillFeed(b, s, "acme", feedRounds, func(p int) bool { return p == one })
	pipe := c.Pipeline()
	for i := range total {
		pipe.XAdd(ctx, &redis.XAddArgs{Stream: "entries", ID: fmt.Sprintf("0-%d", i+1),
			Values: []any{"r", "0123456789012345678901234567890123456789012345", "u", "acme:player-0000", "id", "aebagbaaaaaaaaaa"}})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		b.Fatal(err)
	}
	measure := func(name string, page func(ctx context.Context, after int) (int, error)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				read64(b, total, page)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total*feedReaders), "ns/settlement")
		})
	}
	measure("xread", func(ctx context.Context, after int) (int, error) {
		got, err := c.XRead(ctx, &redis.XReadArgs{Streams: []string{"entries", fmt.Sprintf("0-%d", after)}, Count: feedPage, Block: -1}).Result()
		if err != nil {
			return 0, err
		}
		return len(got[0].Messages), nil
	})
	measure("settlements", func(ctx context.Context, after int) (int, error) {
		got, _, err := s.Settlements(ctx, "acme", one, uint64(after), feedPage)
		return len(got), err
	})
}

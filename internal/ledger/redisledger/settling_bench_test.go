package redisledger

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/redisscript"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
)

// BenchmarkSettling is 50,000 bets, each settled in the step that takes it, with
// what the feed of settlements adds to that step, and without.
func BenchmarkSettling(b *testing.B) {
	const players, rounds = 50, 1000
	without := drawText
	for _, line := range []string{"    write_slot(block, offset, slot)\n", "    call('INCR', outbox)\n"} {
		if !strings.Contains(without, line) {
			b.Fatalf("draw.lua has no line %q", line)
		}
		without = strings.Replace(without, line, "", 1)
	}
	feeding := drawScript
	b.Cleanup(func() { drawScript = feeding })
	bets := func(b *testing.B, script *redisscript.Script) {
		drawScript = script
		c, err := Dial(testenv.Redis(b, testenv.InMemory).URL())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		s := New(c, Options{})
		for n := 0; b.Loop(); n++ {
			var g errgroup.Group
			g.SetLimit(16)
			for i := range players {
				g.Go(func() error { return settleRounds(s, fmt.Sprint("player-", n, "-", i), rounds) })
			}
			if err := g.Wait(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*players*rounds)/1000, "us/bet")
	}
	b.Run("bare", func(b *testing.B) { bets(b, redisscript.NewStep("draw", 2, 12, prelude, roundPart, without)) })
	b.Run("feed", func(b *testing.B) { bets(b, feeding) })
}

// settleRounds has a new player bet.
func settleRounds(s *Store, id string, rounds int) error {
	ctx := context.Background()
	p := ledger.Player{Operator: "acme", ID: id}
	offer := func(n byte) ledger.Announced {
		return ledger.Announced{ID: ledger.NewPairID(p, rng.Commitment(sha256.Sum256(append([]byte(id), n)))), Sealed: make([]byte, SealedSize)}
	}
	a, err := s.Open(ctx, p, offer(1), []ledger.Grant{{Currency: "FUN", Amount: 100000}})
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

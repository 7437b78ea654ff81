package redisledger_test

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
)

// What a store may cost, in bytes of used_memory with Redis' default
// configuration.
const (
	roundBytes  = 120 // a settled dice round with a bet id of 36 characters, its index, outbox, and a hundredth of its pair
	playerBytes = 700 // a player who rotated in once: pair, announced pair, a balance

	memoryPlayers = 1000
	roundsEach    = 100
)

func TestMemoryOfAHundredThousandRounds(t *testing.T) {
	player, round := measureMemory(t, memoryPlayers)
	t.Logf("%d bytes an idle player, %d a settled round", player, round)
	if player > playerBytes || player < 100 {
		t.Errorf("%d bytes an idle player, want at most %d", player, playerBytes)
	}
	if round > roundBytes || round < 50 {
		t.Errorf("%d bytes a settled round, want at most %d", round, roundBytes)
	}
}

// BenchmarkMemory reports what a player and a round cost, over ten times as
// many of them.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		player, round := measureMemory(b, 10*memoryPlayers)
		b.ReportMetric(float64(player), "B/player")
		b.ReportMetric(float64(round), "B/round")
	}
}

func measureMemory(t testing.TB, players int) (player, round int) {
	c := client(t, testenv.Redis(t, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	each(t, 100, func(i int) error { return memoryPlayer(s, fmt.Sprintf("warm-up-%d", i), 10) }) // buffers of connections count as well
	empty := usedMemory(t, c)
	each(t, players, func(i int) error { return memoryPlayer(s, fmt.Sprintf("idle-%07d", i), 0) })
	idle := usedMemory(t, c)
	each(t, players, func(i int) error { return memoryPlayer(s, fmt.Sprintf("busy-%07d", i), roundsEach) })
	player = (idle - empty) / players
	// What a busy player costs beyond an idle one, and his pair, are the rounds'.
	return player, (usedMemory(t, c) - idle - players*(player-pairBytes)) / (players * roundsEach)
}

// pairBytes is about what the record of a pair and its client seed take: they
// are counted with the rounds, and with the player.
const pairBytes = 400

// each runs f for 0..count-1, a few at a time.
func each(t testing.TB, count int, f func(i int) error) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(16)
	for i := range count {
		g.Go(func() error { return f(i) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// memoryPlayer makes a player who rotates in and plays.
func memoryPlayer(s *redisledger.Store, id string, rounds int) error {
	p := ledger.Player{Operator: "acme", ID: id}
	a, err := s.Open(ctx, p, offer(p, id+"1"), []ledger.Grant{{Currency: "FUN", Amount: 100000}})
	if err != nil {
		return err
	}
	seed := rng.ClientSeed(rand.Text() + "123456") // 32 characters, as our clients draw
	r, err := s.Rotate(ctx, ledger.Rotation{Player: p, Announced: a.Announced.ID, ClientSeed: seed, Offer: offer(p, id+"2")})
	if err != nil {
		return err
	}
	for nonce := range rounds {
		d := ledger.Draw{Player: p, Pair: r.Active.ID, BetID: rand.Text() + "-ABC456789", Currency: "FUN", Stake: 100, WorstCase: 198,
			Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}}, Decided: &ledger.Decided{Nonce: uint32(nonce), Payout: 198}}
		if _, err := s.Draw(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func usedMemory(t testing.TB, c redis.UniversalClient) int {
	t.Helper()
	text, err := c.Info(ctx, "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "used_memory:"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no used_memory")
	return 0
}

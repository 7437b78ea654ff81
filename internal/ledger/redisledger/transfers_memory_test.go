package redisledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

// transferBytes is what a transfer may cost with both of its records, for 400
// days, when the ids of transfer and player have 36 characters.
const transferBytes = 220

func measureTransfers(t testing.TB, count int) int {
	c := client(t, testenv.Redis(t, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	const players = 100
	deposit := func(i int) error {
		_, err := s.Transfer(ctx, ledger.Transfer{
			Operator: "acme", ID: fmt.Sprintf("0b7f5c1e-12ab-4d3f-9e00-%012d", i), Player: fmt.Sprintf("5d0c2fa0-93ba-4e1c-8d00-%012d", i%players),
			Direction: ledger.Deposit, Currency: "FUN", Amount: 100_000,
		})
		return err
	}
	each(t, players, deposit)
	before := usedMemory(t, c)
	each(t, count, func(i int) error { return deposit(players + i) })
	return (usedMemory(t, c) - before) / count
}

func TestMemoryOfTransfers(t *testing.T) {
	bytes := measureTransfers(t, 60_000)
	t.Logf("%d bytes a transfer, both records", bytes)
	if bytes > transferBytes || bytes < 80 {
		t.Errorf("%d bytes a transfer, want at most %d", bytes, transferBytes)
	}
}

// BenchmarkTransfers is a deposit from each of 16 callers, and what it costs.
// Beside it are three bare commands, as many as a transfer has steps.
func BenchmarkTransfers(b *testing.B) {
	b.Run("transfer", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(float64(measureTransfers(b, 100_000)), "B/transfer")
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*100_000), "us/transfer")
	})
	b.Run("bare", func(b *testing.B) {
		c := client(b, testenv.Redis(b, testenv.InMemory).URL())
		for b.Loop() {
			each(b, 100_000, func(i int) error {
				for range 3 {
					if err := set(ctx, c, fmt.Sprint(i%1000)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*100_000), "us/transfer")
	})
}

func set(ctx context.Context, c redis.UniversalClient, key string) error {
	return c.Set(ctx, key, "0123456789012345678901234567890123456789", 0).Err()
}

// Whatever is kept of a transfer or of an acknowledgement lives for 400 days at
// least; what is money, and what nobody acknowledged yet, has no end.
func TestNothingIsForgottenBeforeItsTime(t *testing.T) {
	c := client(t, testenv.Redis(t, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	deposit := ledger.Transfer{Operator: "acme", ID: "t", Player: "player-0000", Direction: ledger.Deposit, Currency: "FUN", Amount: 1}
	if _, err := s.Transfer(ctx, deposit); err != nil {
		t.Fatal(err)
	}
	fillFeed(t, s, "acme", 2, everywhere)
	pending, err := s.Claim(ctx, ledger.Claim{Operator: "acme", ID: "one", Consumer: "c", Max: 500, Lease: time.Minute})
	if err != nil || len(pending) != 2*feedPlayers {
		t.Fatalf("%d settlements, %v", len(pending), err)
	}
	lives := func(pattern string) (count int, least time.Duration) {
		keys := c.Keys(ctx, pattern).Val()
		for _, key := range keys {
			life := c.PTTL(ctx, key).Val()
			if least == 0 || life < least {
				least = life
			}
		}
		return len(keys), least
	}
	const days = 24 * time.Hour
	for _, pattern := range []string{"*:t:acme:*", "*:ta:acme:*"} {
		if n, least := lives(pattern); n != 1 || least < 400*days || least > 501*days {
			t.Errorf("%d keys %s live for %v", n, pattern, least)
		}
	}
	for _, pattern := range []string{"*:a:*", "*:k:acme:*", "*:q:acme", "*:y:acme", "*:u:acme:*"} {
		if n, least := lives(pattern); n == 0 || least >= 0 {
			t.Errorf("%d keys %s live for %v", n, pattern, least)
		}
	}
	var acks []ledger.Ack
	for _, r := range pending {
		acks = append(acks, ledger.Ack{Round: r.Round, Token: r.Token, WalletTransaction: "x"})
	}
	if _, err := s.Acknowledge(ctx, "acme", acks); err != nil {
		t.Fatal(err)
	}
	if n, least := lives("*:a:*"); n != feedPlayers || least < 399*days {
		t.Errorf("%d keys of acknowledgements live for %v", n, least)
	}
}

// acknowledgedBytes is what a settlement costs with its acknowledgement by a
// UUID, for 400 days, beyond the round itself.
const acknowledgedBytes = 60

func TestMemoryOfAcknowledgements(t *testing.T) {
	c := client(t, testenv.Redis(t, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	total := fillFeed(t, s, "acme", 128, everywhere)
	before := usedMemory(t, c)
	claimAll(t, s, "acme")
	for _, pattern := range []string{"*:j:*", "*:jh:*"} { // of claims, which go within hours or a day
		for _, key := range c.Keys(ctx, pattern).Val() {
			c.Del(ctx, key)
		}
	}
	bytes := (usedMemory(t, c) - before) / total
	t.Logf("%d bytes an acknowledged settlement", bytes)
	if bytes > acknowledgedBytes || bytes < 20 {
		t.Errorf("%d bytes an acknowledged settlement, want at most %d", bytes, acknowledgedBytes)
	}
}

// claimBytes is what a claim that leased something costs, for a day where it is
// recorded, and for an hour in each partition where it leased.
const claimBytes = 230

func TestMemoryOfClaims(t *testing.T) {
	c := client(t, testenv.Redis(t, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	fillFeed(t, s, "acme", 30, everywhere)
	for i := range 400 {
		id := fmt.Sprintf("9c1e5a70-12ab-4d3f-9e00-%012d", i)
		got, err := s.Claim(ctx, ledger.Claim{Operator: "acme", ID: id, Consumer: "wallet-1", Max: 5, Lease: time.Minute})
		if err != nil || len(got) == 0 {
			t.Fatalf("claim %d: %d settlements, %v", i, len(got), err)
		}
		if _, err := s.Acknowledge(ctx, "acme", bookedAll(got)); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, life := range map[string]time.Duration{"*:jh:*": 25 * time.Hour, "*:j:*": 2 * time.Hour} {
		keys, total := c.Keys(ctx, pattern).Val(), int64(0)
		for _, key := range keys {
			total += c.MemoryUsage(ctx, key).Val()
			if left := c.PTTL(ctx, key).Val(); left <= 0 || left > life {
				t.Errorf("%s is kept for %v", key, left)
			}
		}
		if len(keys) < 400 {
			t.Fatalf("%d keys %s", len(keys), pattern)
		}
		bytes := total / int64(len(keys))
		t.Logf("%s: %d bytes", pattern, bytes)
		if bytes > claimBytes || bytes < 80 {
			t.Errorf("%s: %d bytes a claim, want at most %d", pattern, bytes, claimBytes)
		}
	}
}

// bookedAll acknowledges what was claimed.
func bookedAll(got []ledger.SettledRound) []ledger.Ack {
	acks := make([]ledger.Ack, len(got))
	for i, r := range got {
		acks[i] = ledger.Ack{Round: r.Round, Token: r.Token, WalletTransaction: "9c1e5a70-12ab-4d3f-9e00-" + r.Round.String()[3:15]}
	}
	return acks
}

package redisledger_test

import (
	"context"
	"fmt"
	"testing"

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
	bytes := measureTransfers(t, 150_000)
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

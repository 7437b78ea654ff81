package crash

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/ledger"
)

// fill places bets of n players in the round that takes bets.
func (h *house) fill(n int, target uint32) (*process, []ledger.Player) {
	h.t.Helper()
	players := make([]ledger.Player, n)
	for i := range players {
		players[i] = h.player(fmt.Sprint("many-", i))
	}
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	var wg sync.WaitGroup
	for part := range slices.Chunk(players, (n+31)/32) {
		wg.Go(func() {
			for _, player := range part {
				if _, err := p.bet(player, "x", target); err != nil {
					h.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return p, players
}

// BenchmarkBurst is 5,000 cash-outs that arrive within 100 ms: how many of them were
// decided in 5 ms, and the time to the durable answer.
func BenchmarkBurst(b *testing.B) {
	const n = 5000
	for range b.N {
		h := onRedis(b)
		for h.point(1) < 150 { // it would end before the burst
			h.chain = newChain(b)
		}
		h.pace = 1
		h.short = Timings{Betting: 10 * time.Second, Crashed: time.Second, Tick: 100 * time.Millisecond}
		p, players := h.fill(n, 0)
		number := h.state().Round.Number
		h.awaitPhase(number, ledger.CrashRunning)
		time.Sleep(200 * time.Millisecond)
		took := make([]time.Duration, n)
		var wg sync.WaitGroup
		start := time.Now()
		for i, player := range players {
			time.Sleep(time.Until(start.Add(time.Duration(i) * 100 * time.Millisecond / n)))
			wg.Go(func() {
				began := time.Now()
				if _, err := p.cash(player, "x"); err != nil {
					b.Error(err)
				}
				took[i] = time.Since(began)
			})
		}
		wg.Wait()
		p.stop() // it must not play on beside the next one
		slices.Sort(took)
		b.ReportMetric(float64(took[n*99/100].Milliseconds()), "p99-ms")
		b.ReportMetric(float64(took[n/2].Milliseconds()), "p50-ms")
		b.ReportMetric(p.decidedWithin(0.005)*100, "%-decided-in-5ms")
	}
}

// decidedWithin returns the share of cash-outs that were decided within some seconds,
// one of the histogram's bounds.
func (p *process) decidedWithin(bound float64) float64 {
	registry := prometheus.NewRegistry()
	registry.MustRegister(p.o.Watch.decisions)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		return 0
	}
	all := families[0].GetMetric()[0].GetHistogram()
	for _, bucket := range all.GetBucket() {
		if bucket.GetUpperBound() == bound {
			return float64(bucket.GetCumulativeCount()) / float64(all.GetSampleCount())
		}
	}
	return 0
}

// BenchmarkSettle is a round of 10,000 bets, from its crash to its end.
func BenchmarkSettle(b *testing.B) {
	const n = 10_000
	for range b.N {
		h := onRedis(b)
		h.pace = 50
		h.short = Timings{Betting: 15 * time.Second, Crashed: 10 * time.Second, Tick: 100 * time.Millisecond}
		p, _ := h.fill(n, 1_000_000)
		number := h.state().Round.Number
		h.awaitPhase(number, ledger.CrashFinal)
		finalUs := time.Now().UnixMicro()
		p.stop()
		rounds, err := h.store.CrashRounds(context.Background(), "main", number, number)
		if err != nil || len(rounds) != 1 || rounds[0].BetCount != n {
			b.Fatalf("%+v %v", rounds, err)
		}
		b.ReportMetric(float64(finalUs-rounds[0].CrashUs)/1000, "ms-to-final")
	}
}

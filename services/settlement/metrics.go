package settlement

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/ledger"
)

// Metrics is an Observer that counts for Prometheus. Operators are those of the
// configuration, so that labels stay bounded.
type Metrics struct {
	claimed      prometheus.Counter
	acknowledged *prometheus.CounterVec
	conflicts    prometheus.Counter
	callbacks    *prometheus.CounterVec
	deadLetters  *prometheus.GaugeVec
	unclaimed    *prometheus.GaugeVec
	oldest       *prometheus.GaugeVec
}

// NewMetrics returns metrics that have counted nothing.
func NewMetrics() *Metrics {
	return &Metrics{
		claimed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "originals_settlement_claimed_total", Help: "Settlements that were leased by claims. A repeat counts again.",
		}),
		acknowledged: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "originals_settlement_acknowledgements_total", Help: "Acknowledgements, by the status that was answered.",
		}, []string{"status"}),
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "originals_settlement_conflicts_total", Help: "Settlements for which two wallet transactions were reported: a wallet booked one twice. Look at once.",
		}),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "originals_settlement_callbacks_total", Help: "Callbacks, by result: delivered, refused, or failed where there was no answer.",
		}, []string{"result"}),
		deadLetters: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "originals_settlement_dead_letters", Help: "Settlements that were rejected or claimed in vain too often.",
		}, []string{"operator"}),
		unclaimed: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "originals_settlement_unclaimed", Help: "Settlements that no wallet has claimed or acknowledged yet.",
		}, []string{"operator"}),
		oldest: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "originals_settlement_oldest_age_seconds", Help: "How long ago the oldest settlement ended that is neither acknowledged nor a dead letter; 0 when there is none.",
		}, []string{"operator"}),
	}
}

// Collectors returns what is to be registered.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.claimed, m.acknowledged, m.conflicts, m.callbacks, m.deadLetters, m.unclaimed, m.oldest}
}

// Claimed implements Observer.
func (m *Metrics) Claimed(settlements int) { m.claimed.Add(float64(settlements)) }

// Acknowledged implements Observer.
func (m *Metrics) Acknowledged(status string) {
	m.acknowledged.WithLabelValues(status).Inc()
	if status == "CONFLICT" {
		m.conflicts.Inc()
	}
}

// CalledBack implements Observer.
func (m *Metrics) CalledBack(result string) { m.callbacks.WithLabelValues(result).Inc() }

// Backlog implements Observer.
func (m *Metrics) Backlog(operator string, b ledger.Backlog) {
	m.deadLetters.WithLabelValues(operator).Set(float64(b.DeadLetters))
	m.unclaimed.WithLabelValues(operator).Set(float64(b.Unclaimed))
	m.oldest.WithLabelValues(operator).Set(b.OldestAge.Seconds())
}

// Watch tells the observer, every interval and until ctx ends, what operators'
// wallets have left to do.
func (s *Service) Watch(ctx context.Context, operators []string, interval time.Duration) {
	for {
		for _, name := range operators {
			step, cancel := context.WithTimeout(ctx, stepTime)
			left, err := s.o.Store.Backlog(step, name)
			cancel()
			if err == nil { // a store that does not answer shows in its own metrics
				s.o.Observer.Backlog(name, left)
			}
		}
		if !wait(ctx, interval) {
			return
		}
	}
}

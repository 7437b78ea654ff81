package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count those who watch crash tables.
type Metrics struct {
	watchers prometheus.Gauge
	fanOut   prometheus.Histogram
	dropped  *prometheus.CounterVec
}

// NewMetrics returns metrics that have counted nothing.
func NewMetrics() *Metrics {
	return &Metrics{
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "originals_crash_watchers", Help: "Watchers of crash tables by Server-Sent Events.",
		}),
		fanOut: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "originals_crash_fan_out_seconds", Help: "Time from the receipt of an event until it was written to the last watcher.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .15, .2, .5, 1, 2},
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "originals_crash_watchers_dropped_total", Help: "Watchers by Server-Sent Events that were dropped, by reason: SLOW, SHUTDOWN or UPSTREAM.",
		}, []string{"reason"}),
	}
}

// Collectors returns what a registry is to hold.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.watchers, m.fanOut, m.dropped}
}

func (m *Metrics) watch(n int) { m.watchers.Set(float64(n)) }

func (m *Metrics) fannedOut(took time.Duration) { m.fanOut.Observe(took.Seconds()) }

func (m *Metrics) drop(reason string) { m.dropped.WithLabelValues(reason).Inc() }

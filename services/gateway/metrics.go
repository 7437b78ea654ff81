package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/reason"
)

// Metrics count those who watch crash tables, and what the gateway refuses
// itself.
type Metrics struct {
	refusals *prometheus.CounterVec
	watchers prometheus.Gauge
	fanOut   prometheus.Histogram
	dropped  *prometheus.CounterVec
}

// NewMetrics returns metrics that have counted nothing.
func NewMetrics() *Metrics {
	m := &Metrics{
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "originals_gateway_refusals_total", Help: "Requests that the gateway refused before any service saw them, by reason.",
		}, []string{"reason"}),
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
	for _, r := range []reason.Reason{reason.InvalidField, reason.TokenInvalid, reason.RouteNotFound, reason.RateLimited} {
		m.refusals.WithLabelValues(string(r)) // so that the first one is a rise
	}
	for _, why := range []string{droppedSlow, droppedShutdown, droppedUpstream} {
		m.dropped.WithLabelValues(why)
	}
	return m
}

// Collectors returns what a registry is to hold.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.refusals, m.watchers, m.fanOut, m.dropped}
}

func (m *Metrics) refused(r reason.Reason) { m.refusals.WithLabelValues(string(r)).Inc() }

func (m *Metrics) watch(n int) { m.watchers.Set(float64(n)) }

func (m *Metrics) fannedOut(took time.Duration) { m.fanOut.Observe(took.Seconds()) }

func (m *Metrics) drop(reason string) { m.dropped.WithLabelValues(reason).Inc() }

package crash

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/ledger"
)

// Metrics count what tables do. The label table has the names of the house's
// tables alone.
type Metrics struct {
	phaseOf   *prometheus.GaugeVec
	number    *prometheus.GaugeVec
	count     *prometheus.GaugeVec
	exposure  *prometheus.GaugeVec
	owned     *prometheus.GaugeVec
	left      *prometheus.GaugeVec
	announced *prometheus.GaugeVec
	decisions prometheus.Histogram
	beacon    prometheus.Histogram
	watchers  *prometheus.GaugeVec
	dropped   *prometheus.CounterVec
}

// NewMetrics returns metrics that have counted nothing.
func NewMetrics() *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "originals_crash_" + name, Help: help}, append([]string{"table"}, labels...))
	}
	m := &Metrics{
		phaseOf:   gauge("phase", "Phase of the newest round at its owner: 1 betting, 2 closing, 3 running, 4 crashed, 5 final."),
		number:    gauge("round", "Number of the newest round, at the table's owner."),
		count:     gauge("bets", "Bets of the round that takes bets, at the table's owner."),
		exposure:  gauge("exposure_units", "What the bets of the round that takes bets may pay at most, by currency.", "currency"),
		owned:     gauge("owned", "1 in the process that owns the table."),
		left:      gauge("links_left", "Rounds that the table's chain has left."),
		announced: gauge("next_announced", "1 once the chain that comes after the table's is announced, at the table's owner."),
		watchers:  gauge("streams", "Watchers by gRPC, gateways among them."),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "originals_crash_streams_dropped_total", Help: "Watchers by gRPC that were dropped, by reason: SLOW or SHUTDOWN.",
		}, []string{"reason"}),
		decisions: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "originals_crash_decision_seconds", Help: "Time from the receipt of a cash-out to its decision.",
			Buckets: []float64{.00001, .00005, .0001, .0005, .001, .002, .005, .01, .05, .1},
		}),
		beacon: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "originals_crash_beacon_wait_seconds", Help: "Time from the close of betting until the beacon that salts the round was there.",
			Buckets: []float64{.5, 1, 2, 3, 4, 5, 7, 10, 30, 60, 300, 600},
		}),
	}
	for _, why := range []string{droppedSlow, droppedShutdown} {
		m.dropped.WithLabelValues(why) // so that the first one is a rise
	}
	return m
}

// Collectors returns what a registry is to hold.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.phaseOf, m.number, m.count, m.exposure, m.owned, m.left, m.announced, m.decisions, m.beacon, m.watchers, m.dropped}
}

func (m *Metrics) phase(table string, r ledger.CrashRound) {
	m.phaseOf.WithLabelValues(table).Set(float64(r.Phase))
	m.number.WithLabelValues(table).Set(float64(r.Number))
}

func (m *Metrics) chain(table string, left uint32, announced bool) {
	m.left.WithLabelValues(table).Set(float64(left))
	m.announced.WithLabelValues(table).Set(oneIf(announced))
}

// forget ends the series of a table whose chain is used up: nobody owns it any
// more, and nobody need be called for that.
func (m *Metrics) forget(table string) {
	for _, gauge := range []*prometheus.GaugeVec{m.phaseOf, m.number, m.count, m.exposure, m.owned, m.left, m.announced} {
		gauge.DeletePartialMatch(prometheus.Labels{"table": table})
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (m *Metrics) bets(table string, t ledger.CrashTotals) {
	m.count.WithLabelValues(table).Set(float64(t.Count))
	m.exposure.DeletePartialMatch(prometheus.Labels{"table": table}) // currencies of the round before
	for c, u := range t.Worst {
		m.exposure.WithLabelValues(table, string(c)).Set(float64(u))
	}
}

func (m *Metrics) owns(table string, yes bool) {
	m.owned.WithLabelValues(table).Set(oneIf(yes))
}

func (m *Metrics) beaconWaited(took time.Duration) { m.beacon.Observe(took.Seconds()) }

func (m *Metrics) decided(took time.Duration) { m.decisions.Observe(took.Seconds()) }

func (m *Metrics) watch(table string, n float64) { m.watchers.WithLabelValues(table).Add(n) }

func (m *Metrics) drop(reason string) { m.dropped.WithLabelValues(reason).Inc() }

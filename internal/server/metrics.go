package server

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"

	"github.com/openoriginals/originals/internal/reason"
)

// Metrics counts what a process does, in a registry of its own. No label has
// a value that a client can choose.
type Metrics struct {
	requestsOf, redisOf sync.Map // observers by label, which are found faster here

	registry      *prometheus.Registry
	bets          *prometheus.CounterVec
	requests      *prometheus.HistogramVec
	redis         *prometheus.HistogramVec
	redisFailures prometheus.Counter
	openRounds    prometheus.Gauge
	openDuels     prometheus.Gauge
	duelRolls     prometheus.Counter
}

// NewMetrics returns metrics that have counted nothing.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		bets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "originals_bets_total",
			Help: "Answers to calls that place or end a bet, by game and result: WON, LOST, OPEN, VOID, or the reason of a refusal. A repeat counts again.",
		}, []string{"game", "result"}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "originals_request_seconds",
			Help:    "Duration of calls, by full method name.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method"}),
		redis: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "originals_redis_seconds",
			Help:    "Duration of Redis calls, by script.",
			Buckets: []float64{.00005, .0001, .0002, .0005, .001, .002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"script"}),
		redisFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "originals_redis_errors_total",
			Help: "Redis calls that did not succeed.",
		}),
		openRounds: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "originals_open_rounds",
			Help: "Rounds that were open when last looked at.",
		}),
		openDuels: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "originals_open_duels",
			Help: "Duels that had not ended when last looked at.",
		}),
		duelRolls: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "originals_duel_rolls_total",
			Help: "Plies of duels that were answered with dice. A repeat counts again.",
		}),
	}
	m.registry.MustRegister(m.bets, m.requests, m.redis, m.redisFailures, m.openRounds, m.openDuels, m.duelRolls,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Register adds what a service counts by itself.
func (m *Metrics) Register(c ...prometheus.Collector) { m.registry.MustRegister(c...) }

// Handler serves the metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// ObserveRedis records one call of a script. A refusal that a script answers
// with is a success: only err that is not a *reason.Error of the contract, or
// is STORE_UNAVAILABLE, counts as a failure.
func (m *Metrics) ObserveRedis(script string, took time.Duration, err error) {
	observer(&m.redisOf, m.redis, script).Observe(took.Seconds())
	if err == nil {
		return
	}
	if refusal, ok := reason.From(err); ok && refusal.Reason != reason.StoreUnavailable {
		return
	}
	m.redisFailures.Inc()
}

// observer returns the observer of a label's value, of which there are few.
func observer(known *sync.Map, all *prometheus.HistogramVec, value string) prometheus.Observer {
	if o, ok := known.Load(value); ok {
		return o.(prometheus.Observer)
	}
	o := all.WithLabelValues(value)
	known.Store(value, o)
	return o
}

// SetOpenRounds records how many rounds are open.
func (m *Metrics) SetOpenRounds(n int) { m.openRounds.Set(float64(n)) }

// SetOpenDuels records how many duels have not ended.
func (m *Metrics) SetOpenDuels(n int) { m.openDuels.Set(float64(n)) }

// observe records one call.
func (m *Metrics) observe(method string, took time.Duration, resp any, err error) {
	observer(&m.requestsOf, m.requests, method).Observe(took.Seconds())
	if _, rolled := resp.(*originalsv1.DuelRoll); rolled && err == nil {
		m.duelRolls.Inc()
	}
	game := gameOf(method)
	if game == "" {
		return
	}
	if err != nil {
		m.bets.WithLabelValues(game, string(reason.Of(err))).Inc()
		return
	}
	round, ok := resp.(*originalsv1.Round)
	if !ok || (isPick(method) && round.GetState() == originalsv1.Round_OPEN) {
		return
	}
	m.bets.WithLabelValues(game, result(round)).Inc()
}

// gameOf returns the game whose bets a method places or ends; empty for any
// other method. Its answers are few, so that labels stay bounded.
func gameOf(method string) string {
	switch {
	case strings.HasPrefix(method, "/originals.v1.DiceService/"):
		return "dice"
	case strings.HasPrefix(method, "/originals.v1.LimboService/"):
		return "limbo"
	case strings.HasPrefix(method, "/originals.v1.RouletteService/"):
		return "roulette"
	case strings.HasPrefix(method, "/originals.v1.MinesService/"):
		return "mines"
	case strings.HasPrefix(method, "/originals.v1.CrashService/"):
		return "crash"
	}
	return ""
}

// isPick reports whether a method goes on with a round, which the call that
// opened it has counted.
func isPick(method string) bool { return strings.HasSuffix(method, "/Pick") }

func result(r *originalsv1.Round) string {
	switch {
	case r.GetState() != originalsv1.Round_SETTLED:
		return r.GetState().String()
	case r.GetPayout().GetAmount() > 0:
		return "WON"
	}
	return "LOST"
}

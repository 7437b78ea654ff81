package crash

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// measured returns the values of a process's metrics by their names: of gauges and
// counters their sum, of histograms how many were observed.
func (p *process) measured(t testing.TB) map[string]float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(p.o.Watch.Collectors()...)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			all[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

func TestMetricsShowTheTable(t *testing.T) {
	h := onRedis(t)
	h.pace, h.short.Betting = 10, 1500*betsInterval/1000
	for h.point(1) < 200 {
		h.chain = newChain(t)
	}
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	v := p.view(t, 10_000, &originalsv1.WatchRequest{})
	v.next()
	alice, bob := h.player("alice"), h.player("bob")
	for player, target := range map[ledger.Player]uint32{alice: 150, bob: 100_000} {
		if _, err := p.bet(player, "x", target); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, values map[string]float64) {
		t.Helper()
		got := p.measured(t)
		for name, value := range values {
			if got["originals_crash_"+name] != value {
				t.Errorf("%s %s is %v, want %v", when, name, got["originals_crash_"+name], value)
			}
		}
	}
	h.await("the bets", func() bool { return p.measured(t)["originals_crash_bets"] == 2 })
	want("while bets are taken", map[string]float64{
		"phase": 1, "round": 1, "exposure_units": 150 + 100_000, "owned": 1, "links_left": 99_999, "streams": 1,
		"decision_seconds": 0, "next_announced": 0, "streams_dropped_total": 0,
	})
	h.awaitPhase(1, ledger.CrashRunning)
	if _, err := p.cash(bob, "x"); err != nil {
		t.Fatal(err)
	}
	h.await("the phase", func() bool { return p.measured(t)["originals_crash_phase"] == 3 })
	want("in the running round", map[string]float64{"decision_seconds": 1, "round": 1})
	h.awaitPhase(2, ledger.CrashBetting)
	v.leave()
	<-v.ended
	h.await("the next round", func() bool { return p.measured(t)["originals_crash_round"] == 2 })
	want("in the next round", map[string]float64{"links_left": 99_998, "streams": 0})
	p.stop()
	want("afterwards", map[string]float64{"owned": 0})
}

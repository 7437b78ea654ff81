package gateway

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// measuredWatching returns how many watch, how many passes to all were timed, and
// how many watchers were dropped.
func measuredWatching(t *testing.T, m *Metrics) (watchers, passes, dropped float64) {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(m.Collectors()...)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			switch f.GetName() {
			case "originals_crash_watchers":
				watchers = one.GetGauge().GetValue()
			case "originals_crash_fan_out_seconds":
				passes = float64(one.GetHistogram().GetSampleCount())
			case "originals_crash_watchers_dropped_total":
				dropped += one.GetCounter().GetValue()
			}
		}
	}
	return watchers, passes, dropped
}

func TestMetricsOfWatchers(t *testing.T) {
	s := newTableStage(t, nil)
	s.fake.events <- tableSnapshot(1)
	all := []*viewer{view(t, s.url), view(t, s.url), view(t, s.url)}
	for _, v := range all {
		v.want("event: snapshot|")
	}
	if watchers, passes, dropped := measuredWatching(t, s.h.metrics); watchers != 3 || passes != 0 || dropped != 0 {
		t.Errorf("%v watchers, %v passes, %v dropped", watchers, passes, dropped)
	}
	for n := range int64(4) {
		s.fake.events <- tableTick(n + 2)
		for _, v := range all {
			v.want("event: tick|")
		}
	}
	// Each writer times its own pass, once it has written to all.
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, passes, _ := measuredWatching(t, s.h.metrics); passes >= 4 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no pass was timed")
		}
	}
	s.end()
	if watchers, _, dropped := measuredWatching(t, s.h.metrics); watchers != 0 || dropped != 3 {
		t.Errorf("at the end %v watchers, %v dropped", watchers, dropped)
	}
}

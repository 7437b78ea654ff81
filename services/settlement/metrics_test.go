package settlement_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/services/settlement"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := newBooks(), settlement.NewMetrics()
		b.settle(player("north", "alice"), 0)
		b.settle(player("north", "bob"), 0)
		s := settlement.New(settlement.Options{Store: b, Log: quiet, Observer: m})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.Watch(ctx, []string{"north", "south"}, 15*time.Second)
		m.Acknowledged("ACKNOWLEDGED")
		m.Acknowledged("CONFLICT")
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(m.Collectors()...)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]float64)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"originals_settlement_conflicts_total":                 1,
			"originals_settlement_acknowledgements_total CONFLICT": 1,
			"originals_settlement_unclaimed north":                 2,
			"originals_settlement_unclaimed south":                 0,
			"originals_settlement_dead_letters north":              0,
			"originals_settlement_oldest_age_seconds north":        90,
			"originals_settlement_oldest_age_seconds south":        0,
		} {
			if value, ok := got[name]; !ok || value != want {
				t.Errorf("%s is %v, want %v: %v", name, value, want, got)
			}
		}
	})
}

var _ settlement.Store = (*books)(nil)
var _ ledger.Feed = (*books)(nil)

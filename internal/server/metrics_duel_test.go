package server

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func TestDuelsAndTheirRollsAreCounted(t *testing.T) {
	m := NewMetrics()
	const method = "/originals.v1.DuelService/Roll"
	m.observe(method, time.Millisecond, new(originalsv1.DuelRoll), nil)
	m.observe(method, time.Millisecond, new(originalsv1.DuelRoll), nil)
	m.observe(method, time.Millisecond, nil, errors.New("refused"))
	m.SetOpenDuels(3)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{"\noriginals_duel_rolls_total 2\n", "\noriginals_open_duels 3\n"} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no line %q", line)
		}
	}
}

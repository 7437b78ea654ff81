package server

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"

	"github.com/openoriginals/originals/internal/reason"
)

func (r *rig) metrics(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.deps.Metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCallsAreCounted(t *testing.T) {
	r := newRig(t)
	answers := []func() (*originalsv1.Round, error){
		func() (*originalsv1.Round, error) { return settled(5), nil },
		func() (*originalsv1.Round, error) { return settled(5), nil },
		func() (*originalsv1.Round, error) { return settled(0), nil },
		func() (*originalsv1.Round, error) { return &originalsv1.Round{State: originalsv1.Round_OPEN}, nil },
		func() (*originalsv1.Round, error) { return nil, reason.New(reason.InsufficientFunds, "no") },
		func() (*originalsv1.Round, error) { return nil, errPlain },
	}
	next := 0
	conn, ctx := r.serve(t, GRPCOptions{}, func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		next++
		return answers[next-1]()
	})
	for range answers {
		_, _ = originalsv1.NewDiceServiceClient(conn).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{})
	}
	if _, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(t.Context(), &originalsv1.DiceServicePlaceBetRequest{}); reason.Of(err) != reason.TokenInvalid {
		t.Errorf("without a token: %v", err)
	}
	r.deps.Metrics.ObserveRedis("draw", time.Millisecond, nil)
	r.deps.Metrics.ObserveRedis("draw", time.Millisecond, reason.New(reason.InsufficientFunds, "no"))
	r.deps.Metrics.ObserveRedis("draw", time.Millisecond, reason.New(reason.StoreUnavailable, "no"))
	r.deps.Metrics.ObserveRedis("draw", time.Millisecond, errPlain)
	r.deps.Metrics.SetOpenRounds(3)
	text := r.metrics(t)
	for _, want := range []string{
		`originals_bets_total{game="dice",result="WON"} 2`,
		`originals_bets_total{game="dice",result="LOST"} 1`,
		`originals_bets_total{game="dice",result="OPEN"} 1`,
		`originals_bets_total{game="dice",result="INSUFFICIENT_FUNDS"} 1`,
		`originals_bets_total{game="dice",result="INTERNAL"} 1`,
		`originals_bets_total{game="dice",result="TOKEN_INVALID"} 1`,
		`originals_request_seconds_count{method="` + placeBet + `"} 7`,
		`originals_redis_seconds_count{script="draw"} 4`,
		`originals_redis_errors_total 2`,
		`originals_open_rounds 3`,
		`go_goroutines`,
		`process_open_fds`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestMinesRoundIsCountedWhenItOpensAndWhenItEnds(t *testing.T) {
	m := NewMetrics()
	open := &originalsv1.Round{State: originalsv1.Round_OPEN}
	m.observe("/originals.v1.MinesService/StartRound", 0, open, nil)
	m.observe("/originals.v1.MinesService/Pick", 0, open, nil)
	m.observe("/originals.v1.MinesService/Pick", 0, settled(0), nil)
	m.observe("/originals.v1.RoundService/GetRound", 0, settled(7), nil)
	text := (&rig{deps: Deps{Metrics: m}}).metrics(t)
	for _, want := range []string{`originals_bets_total{game="mines",result="OPEN"} 1`, `originals_bets_total{game="mines",result="LOST"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, `result="WON"`) {
		t.Error("a look at a round was counted as a bet")
	}
}

package redisledger_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
)

// evaluations returns how often the server ran a script since the last reset.
func (b *table) evaluations(t *testing.T) string {
	t.Helper()
	text, err := b.redis.Info(ctx, "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if calls, ok := strings.CutPrefix(line, "cmdstat_evalsha:calls="); ok {
			count, _, _ := strings.Cut(calls, ",")
			return count
		}
	}
	return "0"
}

// connect opens this many connections and leaves them idle.
func (b *table) connect(count int) {
	var wg sync.WaitGroup
	for range count {
		wg.Go(func() { b.redis.BLPop(ctx, 300*time.Millisecond, b.tag()+":nothing") })
	}
	wg.Wait()
}

func TestDriverRepeatsNothingAfterAReadTimeout(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (*testenv.RedisServer, string){
		"single": func(t *testing.T) (*testenv.RedisServer, string) {
			s := testenv.Redis(t, testenv.InMemory)
			return s, s.URL()
		},
		"cluster": func(t *testing.T) (*testenv.RedisServer, string) {
			s := testenv.Redis(t, testenv.InMemory, testenv.Args("--cluster-enabled", "yes"))
			if err := client(t, s.URL()).Do(ctx, "cluster", "addslotsrange", 0, 16383).Err(); err != nil {
				t.Fatal(err)
			}
			for client(t, s.URL()).Exists(ctx, "any").Err() != nil { // until the cluster says that it is up
				time.Sleep(10 * time.Millisecond)
			}
			return s, s.URL() + "?cluster=true"
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, url := open(t)
			b := newTable(t, url, "alice")
			d := b.bet()
			if _, err := b.Draw(ctx, b.bet()); err != nil { // the script is known from here on
				t.Fatal(err)
			}
			b.connect(8) // so that a repeat would find a connection on which nothing is left but to send it
			b.do("config", "resetstat")
			server.Pause()
			_, err := b.Draw(ctx, d)
			server.Resume()
			if reason.Of(err) != reason.StoreUnavailable {
				t.Fatalf("draw: %v", err)
			}
			for b.evaluations(t) == "0" { // the paused server finds the command in its socket
				time.Sleep(time.Millisecond)
			}
			for range 3 {
				b.do("ping")
			}
			if got := b.evaluations(t); got != "1" {
				t.Fatalf("the bet was sent %s times", got)
			}
			again, err := b.Draw(ctx, d) // the caller's own repeat finds it
			if err != nil || again.Round.ID.Nonce != 1 || again.Balance != 980 {
				t.Fatalf("%+v, %v", again, err)
			}
		})
	}
}

func TestDeadlinesBoundRedisCalls(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	b := newTable(t, server.URL(), "alice")
	d := b.bet()
	server.Pause()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := b.Draw(short, d)
	took := time.Since(start)
	server.Resume()
	if reason.Of(err) != reason.StoreUnavailable || took > time.Second {
		t.Fatalf("after %v: %v", took, err)
	}
	again, err := b.Draw(ctx, d) // whether the first call took effect or not
	if err != nil || again.Round.ID != (ledger.RoundID{Pair: b.pair}) || again.Balance != 990 {
		t.Fatalf("%+v, %v", again, err)
	}
}

package redisscript_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/redisscript"
	"github.com/openoriginals/originals/internal/testenv"
)

var (
	ctx     = context.Background()
	counter = redisscript.New("counter", "local n = redis.call('INCR', KEYS[1])\n", "return {'OK', tostring(n), ARGV[1]}")
	broken  = redisscript.New("broken", "return {err = 'BROKEN record'}")
	empty   = redisscript.New("empty", "return {}")
)

func dial(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	c, err := redisledger.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestRunTellsOfEveryCall(t *testing.T) {
	client := dial(t, testenv.Redis(t, testenv.InMemory).URL())
	var told []string
	r := redisscript.NewRunner(client, func(script string, took time.Duration, err error) {
		if took <= 0 {
			t.Errorf("%s took %v", script, took)
		}
		told = append(told, script)
	})
	for _, n := range []string{"1", "2"} { // the first one is not known to Redis yet
		if answer, err := r.Run(ctx, counter, []string{"k"}, "x"); err != nil || len(answer) != 3 || answer[1] != n || answer[2] != "x" {
			t.Fatalf("%v, %v", answer, err)
		}
	}
	if _, err := r.Run(ctx, broken, []string{"k"}); err == nil || reason.Of(err) != reason.Internal || !strings.Contains(err.Error(), "broken: BROKEN record") {
		t.Errorf("%v", err)
	}
	if answer, err := r.Run(ctx, empty, []string{"k"}); err == nil {
		t.Errorf("%v", answer)
	}
	if got := strings.Join(told, " "); got != "counter counter broken empty" {
		t.Error(got)
	}
	if _, err := redisscript.NewRunner(client, nil).Run(ctx, counter, []string{"k"}, "x"); err != nil {
		t.Error(err)
	}
}

func TestDriverRepeatsNothingAfterAReadTimeout(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (*testenv.RedisServer, string){
		"single": func(t *testing.T) (*testenv.RedisServer, string) {
			s := testenv.Redis(t, testenv.InMemory)
			return s, s.URL()
		},
		"cluster": func(t *testing.T) (*testenv.RedisServer, string) {
			s := testenv.Redis(t, testenv.InMemory, testenv.Args("--cluster-enabled", "yes"))
			c := dial(t, s.URL())
			if err := c.Do(ctx, "cluster", "addslotsrange", 0, 16383).Err(); err != nil {
				t.Fatal(err)
			}
			for c.Exists(ctx, "any").Err() != nil { // until the cluster says that it is up
				time.Sleep(10 * time.Millisecond)
			}
			return s, s.URL() + "?cluster=true"
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, url := open(t)
			client := dial(t, url)
			r := redisscript.NewRunner(client, nil)
			if _, err := r.Run(ctx, counter, []string{"k"}, "x"); err != nil { // the script is known from here on
				t.Fatal(err)
			}
			var idle sync.WaitGroup
			for range 8 { // so that a repeat would find a connection on which nothing is left but to send it
				idle.Go(func() { client.BLPop(ctx, 300*time.Millisecond, "nothing") })
			}
			idle.Wait()
			server.Pause()
			_, err := r.Run(ctx, counter, []string{"k"}, "x")
			server.Resume()
			if reason.Of(err) != reason.StoreUnavailable {
				t.Fatalf("%v", err)
			}
			for client.Get(ctx, "k").Val() == "1" { // the paused server finds the command in its socket
				time.Sleep(time.Millisecond)
			}
			for range 3 {
				client.Ping(ctx)
			}
			if got := client.Get(ctx, "k").Val(); got != "2" {
				t.Errorf("the script ran %s times", got)
			}
		})
	}
}

func TestDeadlinesBoundRedisCalls(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	r := redisscript.NewRunner(dial(t, server.URL()), nil)
	server.Pause()
	defer server.Resume()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := r.Run(short, counter, []string{"k"}, "x"); reason.Of(err) != reason.StoreUnavailable || time.Since(start) > time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

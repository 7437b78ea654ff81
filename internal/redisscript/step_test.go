package redisscript_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/redisscript"
	"github.com/openoriginals/originals/internal/testenv"
)

// spend takes from one key and gives to another, if there is enough; 'odd' makes
// it fail for a reason of its own.
var spend = redisscript.NewStep("spend", 2, 2, `
local runs = 0
local function step(from, to, units, what)
  runs = runs + 1
  if what == 'broken' then return {err = 'BROKEN record'} end
  if what == 'odd' then return nil .. what end
  local balance = tonumber(redis.call('GET', from) or '0')
  redis.call('STRLEN', to)
  if balance < tonumber(units) then return {'FUNDS', balance} end
  redis.call('DECRBY', from, units)
  redis.call('INCRBY', to, units)
  return {'OK', balance - units, runs}
end
`)

// together makes calls at the same time, while Redis answers nobody: the first
// ones are sent, and the rest gather behind them.
func together(t *testing.T, c redis.UniversalClient, calls ...func()) {
	t.Helper()
	if err := c.Do(ctx, "client", "pause", 300, "all").Err(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, call := range calls {
		all.Go(call)
	}
	all.Wait()
}

// Whatever becomes of one call is its own: a refusal, a key of another type, data
// that cannot be, an error of the script. Those beside it are carried out, each
// wholly, and none of the failed ones in part.
func TestOneCallOfManyFailsAlone(t *testing.T) {
	c := dial(t, testenv.Redis(t, testenv.InMemory).URL())
	r := redisscript.NewRunner(c, nil)
	var shared atomic.Int64
	if _, err := r.Run(ctx, spend, []string{"a", "b"}, 1, ""); err != nil {
		t.Fatal(err)
	}
	c.RPush(ctx, "list", "not a number")
	var calls []func()
	for i := range 20 {
		key := fmt.Sprint("purse-", i)
		c.Set(ctx, key, 10, 0)
		calls = append(calls, func() {
			answer, err := r.Run(ctx, spend, []string{key, key + "-to"}, 3, "")
			if err != nil || answer[0] != "OK" || answer[1] != int64(7) {
				t.Errorf("%s: %v, %v", key, answer, err)
				return
			}
			if answer[2].(int64) > 1 {
				shared.Add(1)
			}
		}, func() {
			switch i % 5 {
			case 0:
				if answer, err := r.Run(ctx, spend, []string{key + "-to", key}, 4, ""); err != nil || answer[0] != "FUNDS" {
					t.Errorf("%v, %v", answer, err)
				}
			case 1:
				if answer, err := r.Run(ctx, spend, []string{key, "list"}, 3, ""); reason.Of(err) != reason.Internal || !strings.Contains(err.Error(), "spend: WRONGTYPE") {
					t.Errorf("%v, %v", answer, err)
				}
			case 2:
				if answer, err := r.Run(ctx, spend, []string{"list", key}, 3, ""); reason.Of(err) != reason.Internal || !strings.Contains(err.Error(), "spend: WRONGTYPE") {
					t.Errorf("%v, %v", answer, err)
				}
			case 3:
				if answer, err := r.Run(ctx, spend, []string{key, key}, 3, "broken"); reason.Of(err) != reason.Internal || !strings.Contains(err.Error(), "BROKEN record") {
					t.Errorf("%v, %v", answer, err)
				}
			case 4:
				if answer, err := r.Run(ctx, spend, []string{key, key}, 3, "odd"); reason.Of(err) != reason.Internal || !strings.Contains(err.Error(), "ERR ") {
					t.Errorf("%v, %v", answer, err)
				}
			}
		})
	}
	together(t, c, calls...)
	if shared.Load() < 10 {
		t.Errorf("%v calls came after another in their run", shared.Load())
	}
	for i := range 20 {
		key := fmt.Sprint("purse-", i)
		if from, to := c.Get(ctx, key).Val(), c.Get(ctx, key+"-to").Val(); from != "7" || to != "3" {
			t.Errorf("%s holds %s, and %s was given", key, from, to)
		}
	}
}

// Calls of other scripts travel along, and each gets its own answer.
func TestStepsAndScriptsInOneExchange(t *testing.T) {
	c := dial(t, testenv.Redis(t, testenv.InMemory).URL())
	r := redisscript.NewRunner(c, nil)
	var calls []func()
	for i := range 30 {
		key := fmt.Sprint("k", i)
		calls = append(calls, func() {
			if answer, err := r.Run(ctx, counter, []string{key}, key); err != nil || answer[1] != "1" || answer[2] != key {
				t.Errorf("counter %s: %v, %v", key, answer, err)
			}
		}, func() {
			if answer, err := r.Run(ctx, spend, []string{"rich" + key, "poor"}, 0, ""); err != nil || answer[0] != "OK" {
				t.Errorf("spend %s: %v, %v", key, answer, err)
			}
		}, func() {
			if _, err := r.Run(ctx, broken, []string{key}); err == nil || !strings.Contains(err.Error(), "BROKEN record") {
				t.Errorf("broken %s: %v", key, err)
			}
		})
	}
	together(t, c, calls...) // of scripts that Redis does not know yet
	c.ScriptFlush(ctx)
	again := calls[1:2]
	together(t, c, append(again, again...)...) // nor any longer
}

// Many calls of one player are one after the other, whether they share a run or
// not: what he has can be spent once.
func TestReadThenWriteBalance(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	cluster := testenv.Cluster(t)
	for name, url := range map[string]string{
		"single": testenv.Redis(t, testenv.InMemory).URL(), "embedded": e.URL(), "cluster": cluster.URL(),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, url)
			r := redisscript.NewRunner(c, nil)
			const players, calls, balance = 8, 60, 40
			for p := range players {
				c.Set(ctx, fmt.Sprintf("{p%d}from", p), balance, 0)
			}
			c.RPush(ctx, "{p0}list", "x")
			var taken [players]int
			var mu sync.Mutex
			var all sync.WaitGroup
			for i := range players * calls {
				all.Go(func() {
					p := i % players
					from, to := fmt.Sprintf("{p%d}from", p), fmt.Sprintf("{p%d}to", p)
					if i%40 == 0 { // partition 0
						if _, err := r.Run(ctx, spend, []string{from, "{p0}list"}, 1, ""); reason.Of(err) != reason.Internal || !strings.Contains(err.Error(), "WRONGTYPE") {
							t.Errorf("a key of another type: %v", err)
						}
					}
					answer, err := r.Run(ctx, spend, []string{from, to}, 1, "")
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if answer[0] == "OK" {
						taken[p]++
					}
				})
			}
			all.Wait()
			for p := range players {
				from, to := c.Get(ctx, fmt.Sprintf("{p%d}from", p)).Val(), c.Get(ctx, fmt.Sprintf("{p%d}to", p)).Val()
				if taken[p] != balance || from != "0" || to != strconv.Itoa(balance) {
					t.Errorf("player %d: %d calls were told OK, %s is left, %s was given", p, taken[p], from, to)
				}
			}
		})
	}
}

// A caller who counts wrong would shift the arguments of all calls beside his.
func TestAStepIsCalledWithAllOfItsArguments(t *testing.T) {
	r := redisscript.NewRunner(dial(t, testenv.Redis(t, testenv.InMemory).URL()), nil)
	for _, wrong := range []struct {
		keys []string
		args []any
	}{{[]string{"a"}, []any{1, ""}}, {[]string{"a", "b", "c"}, []any{1, ""}}, {[]string{"a", "b"}, []any{1}}, {[]string{"a", "b"}, []any{1, "", ""}}} {
		if answer, err := r.Run(ctx, spend, wrong.keys, wrong.args...); err == nil {
			t.Errorf("%v: %v", wrong, answer)
		}
	}
}

// A store that is gone has told nobody anything: each caller learns that it is
// not known what became of his call.
func TestALostExchangeIsUnknownToEachOfItsCallers(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	c := dial(t, server.URL())
	r := redisscript.NewRunner(c, nil)
	server.Pause()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			short, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if _, err := r.Run(short, spend, []string{"a", "b"}, 1, ""); reason.Of(err) != reason.StoreUnavailable {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	server.Kill9()
	all.Wait()
}

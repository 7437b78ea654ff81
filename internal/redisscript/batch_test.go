package redisscript

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/testenv"
)

func newBatcher(t *testing.T) (*batcher, *redis.Client) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: testenv.Redis(t, testenv.InMemory).Addr(), MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	return &batcher{client: client}, client
}

var (
	incr = New("incr", "return redis.call('INCR', KEYS[1])")
	add  = NewStep("add", 1, 1, "local function step(key, n) return {'OK', redis.call('INCRBY', key, n)} end")
)

func increment(ctx context.Context, b *batcher, key string) (int64, error) {
	answer, err := b.do(&call{ctx: ctx, script: incr, keys: []string{key}})
	if err != nil {
		return 0, err
	}
	return answer.(int64), nil
}

func addTo(ctx context.Context, b *batcher, key string, n int) (int64, error) {
	answer, err := b.do(&call{ctx: ctx, script: add, keys: []string{key}, args: []any{n}})
	if err != nil {
		return 0, err
	}
	return answer.([]any)[1].(int64), nil
}

// hold makes Redis answer nobody for a while, with both senders waiting for it.
func hold(t *testing.T, b *batcher, client *redis.Client, d time.Duration) *sync.WaitGroup {
	t.Helper()
	if err := client.Do(t.Context(), "client", "pause", d.Milliseconds(), "all").Err(); err != nil {
		t.Fatal(err)
	}
	var senders sync.WaitGroup
	for range maxSenders {
		senders.Go(func() {
			if _, err := increment(context.Background(), b, "held"); err != nil {
				t.Error(err)
			}
		})
	}
	for b.busy() < maxSenders {
		time.Sleep(time.Millisecond)
	}
	return &senders
}

func (b *batcher) busy() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.senders
}

// Server timeout answered as failure while the bet stands: a command whose
// caller has gone before it was sent is never sent, and he does not wait for it.
func TestServerTimeoutAnsweredAsFailureWhileTheBetStands(t *testing.T) {
	b, client := newBatcher(t)
	senders := hold(t, b, client, 400*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := increment(ctx, b, "late"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the end of the caller's time", err)
	}
	if took := time.Since(start); took > 300*time.Millisecond {
		t.Errorf("the caller waited %v", took)
	}
	senders.Wait()
	if n, err := increment(t.Context(), b, "after"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n := client.Exists(t.Context(), "late").Val(); n != 0 {
		t.Error("a command took effect whose caller had been told that it failed before it was sent")
	}
}

// Every command is sent once, and its answer reaches its own caller, also where
// callers leave at any moment.
func TestCommandsThatShareAPipelineKeepTheirAnswers(t *testing.T) {
	b, client := newBatcher(t)
	senders := hold(t, b, client, 200*time.Millisecond)
	const callers, each = 3 * maxBatch, 20
	var all sync.WaitGroup
	for i := range callers {
		key := fmt.Sprint("caller-", i)
		all.Go(func() {
			for want := range int64(each) {
				if n, err := increment(context.Background(), b, key); n != want+1 || err != nil {
					t.Errorf("%s: %d, %v; want %d", key, n, err, want+1)
					return
				}
				if n, err := addTo(context.Background(), b, "sum-"+key, i); n != (want+1)*int64(i) || err != nil {
					t.Errorf("%s: the sum %d, %v; want %d", key, n, err, (want+1)*int64(i))
					return
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Microsecond)
				_, _ = addTo(ctx, b, "leaves-"+key, 1)
				cancel()
			}
		})
	}
	all.Wait()
	senders.Wait()
	for deadline := time.Now().Add(5 * time.Second); b.busy() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a sender has not ended")
		}
	}
	if len(b.waiting) > 0 {
		t.Errorf("%d commands still wait", len(b.waiting))
	}
}

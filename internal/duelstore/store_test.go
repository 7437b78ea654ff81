package duelstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

var ctx = context.Background()

// shop is a store whose clock and identity the test sets.
type shop struct {
	*duelstore.Store
	redis *miniredis.Miniredis
	now   time.Time
	life  atomic.Int64
	calls atomic.Int64
}

func newShop(t interface {
	Fatal(...any)
	Cleanup(func())
}) *shop {
	s := &shop{redis: miniredis.NewMiniRedis(), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := s.redis.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.redis.Close)
	s.redis.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "INFO" {
			return false
		}
		c.WriteBulk(fmt.Sprintf("master_replid:%020x%020x\r\n", s.life.Load(), 0))
		return true
	})
	client, err := redisledger.Dial("redis://" + s.redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	s.Store = duelstore.New(client, func(string, time.Duration, error) { s.calls.Add(1) })
	s.pass(0)
	return s
}

// pass lets time pass.
func (s *shop) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.redis.SetTime(s.now)
}

// replace gives the store a new identity, as a restart or a promotion does.
func (s *shop) replace() { s.life.Add(1) }

const operator = "house"

var (
	game  = duelstore.Caller{Operator: operator}
	alice = duelstore.Caller{Operator: operator, Player: "alice"}
	bob   = duelstore.Caller{Operator: operator, Player: "bob"}
)

func creation(mode duelstore.Mode, request string) duelstore.Creation {
	c := duelstore.Creation{
		Operator: operator, RequestID: request, White: "alice", Black: "bob", Mode: mode, Grace: 5 * time.Second, Expiry: time.Hour, Retention: 400 * 24 * time.Hour,
		Sealed: bytes.Repeat([]byte{1}, duelstore.SealedSize),
	}
	c.Commitment = sha256.Sum256([]byte(request + string(mode)))
	if mode == duelstore.Plain {
		c.SealedFallbacks = [2][]byte{bytes.Repeat([]byte{2}, duelstore.SealedSize), bytes.Repeat([]byte{3}, duelstore.SealedSize)}
		c.FallbackHashes = [2][32]byte{{1}, {2}}
	}
	c.ID = duelstore.NewID(c.Operator, c.RequestID, c.Commitment)
	return c
}

func must(t testing.TB, d duelstore.Duel, err error) duelstore.Duel {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func want(t testing.TB, err error, refusal duelstore.Refusal) {
	t.Helper()
	if !errors.Is(err, refusal) {
		t.Errorf("%v, want %v", err, refusal)
	}
}

// opening is a seed whose hash is, in these tests, the word hash and the seed.
func opening(seed string) duelstore.Opening {
	return duelstore.Opening{Seed: seed, Hash: "hash " + seed, IsHex: true}
}

// ready brings a committed duel to where dice can be rolled.
func ready(t testing.TB, s *duelstore.Store, request string) duelstore.ID {
	t.Helper()
	d, err := s.Create(ctx, creation(duelstore.Committed, request))
	id := must(t, d, err).ID
	for _, step := range []func() (duelstore.Duel, error){
		func() (duelstore.Duel, error) { return s.Commit(ctx, id, alice, duelstore.White, "hash w") },
		func() (duelstore.Duel, error) { return s.Commit(ctx, id, bob, duelstore.Black, "hash b") },
		func() (duelstore.Duel, error) { return s.Seed(ctx, id, alice, duelstore.White, opening("w")) },
		func() (duelstore.Duel, error) { return s.Seed(ctx, id, bob, duelstore.Black, opening("b")) },
	} {
		d, err := step()
		must(t, d, err)
	}
	return id
}

// everyStore runs a test on each kind of Redis.
func everyStore(t *testing.T, test func(t *testing.T, s *duelstore.Store)) {
	t.Run("embedded", func(t *testing.T) { test(t, newShop(t).Store) })
	for name, url := range map[string]func(t *testing.T) string{
		"redis":   func(t *testing.T) string { return testenv.Redis(t).URL() },
		"cluster": func(t *testing.T) string { return testenv.Cluster(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			client, err := redisledger.Dial(url(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			test(t, duelstore.New(client, nil))
		})
	}
}

func TestADuelFromItsCreationToItsEnd(t *testing.T) {
	everyStore(t, func(t *testing.T, s *duelstore.Store) {
		for i := range 8 { // in several slots
			id := ready(t, s, fmt.Sprint("game-", i))
			for ply := range uint32(3) {
				d, err := s.Roll(ctx, id, operator, ply)
				if must(t, d, err); d.Rolls != ply+1 || d.State != duelstore.Playing {
					t.Errorf("%+v", d)
				}
			}
			d, err := s.Roll(ctx, id, operator, 4)
			if want(t, err, duelstore.Order); d.Rolls != 3 {
				t.Errorf("%d rolls", d.Rolls)
			}
			d, err = s.End(ctx, id, operator)
			if must(t, d, err); d.State != duelstore.Ended || d.Cause != duelstore.ByGameServer || d.EndTime.IsZero() {
				t.Errorf("%+v", d)
			}
			again, err := s.End(ctx, id, operator)
			if must(t, again, err); again.EndTime != d.EndTime || again.Version != d.Version {
				t.Errorf("the end differs: %+v and %+v", d, again)
			}
			_, err = s.Roll(ctx, id, operator, 2)
			if err != nil {
				t.Errorf("a ply that was rolled: %v", err)
			}
			_, err = s.Roll(ctx, id, operator, 3)
			want(t, err, duelstore.Over)
		}
	})
}

func TestSameIdempotencyKeyDifferentBody(t *testing.T) {
	s := newShop(t)
	first := creation(duelstore.Committed, "r")
	d, err := s.Create(ctx, first)
	must(t, d, err)
	for name, change := range map[string]func(*duelstore.Creation){
		"white":  func(c *duelstore.Creation) { c.White = "carol" },
		"black":  func(c *duelstore.Creation) { c.Black = "carol" },
		"grace":  func(c *duelstore.Creation) { c.Grace = 6 * time.Second },
		"expiry": func(c *duelstore.Creation) { c.Expiry = 2 * time.Hour },
	} {
		c := creation(duelstore.Committed, "r")
		copy(c.Commitment[:], name) // each try offers another commitment
		c.ID = duelstore.NewID(operator, "r", c.Commitment)
		again, err := s.Create(ctx, c)
		if must(t, again, err); again.ID != d.ID || again.Commitment != d.Commitment || again.Version != d.Version {
			t.Errorf("the same content: %+v", again)
		}
		change(&c)
		_, err = s.Create(ctx, c)
		want(t, err, duelstore.Reused)
	}
	_, err = s.Create(ctx, creation(duelstore.Plain, "r"))
	want(t, err, duelstore.Reused)
	other := creation(duelstore.Committed, "r")
	other.Operator = "another"
	other.ID = duelstore.NewID(other.Operator, "r", other.Commitment)
	if made, err := s.Create(ctx, other); err != nil || made.ID == d.ID {
		t.Errorf("operators share request ids: %v, %v", made.ID, err)
	}
}

// TestEndedDuelsAreKeptForTheirRetention and no longer: an unended one has no such time, later looks do not renew it, and
// afterwards the request id is free.
func TestEndedDuelsAreKeptForTheirRetention(t *testing.T) {
	s := newShop(t)
	id := ready(t, s.Store, "r")
	times := func() map[string]time.Duration {
		all := make(map[string]time.Duration)
		for _, key := range s.redis.Keys() {
			all[key] = s.redis.TTL(key)
		}
		return all
	}
	for key, left := range times() {
		if left != 0 {
			t.Errorf("unended, and %s is gone in %v", key, left)
		}
	}
	d, err := s.End(ctx, id, operator)
	must(t, d, err)
	if all := times(); len(all) != 2 {
		t.Errorf("%v, want the duel and its request", all)
	} else {
		for key, left := range all {
			if left != 400*24*time.Hour {
				t.Errorf("%s is kept for %v", key, left)
			}
		}
	}
	s.redis.FastForward(399 * 24 * time.Hour)
	d, err = s.Look(ctx, id, game)
	must(t, d, err)
	d, err = s.End(ctx, id, operator)
	must(t, d, err)
	for key, left := range times() {
		if left != 24*time.Hour {
			t.Errorf("a look keeps %s for %v more", key, left)
		}
	}
	s.redis.FastForward(25 * time.Hour)
	if keys := s.redis.Keys(); len(keys) != 0 {
		t.Errorf("left: %v", keys)
	}
	_, err = s.Look(ctx, id, game)
	want(t, err, duelstore.NotFound)
	c := creation(duelstore.Plain, "r")
	d, err = s.Create(ctx, c)
	if must(t, d, err); d.ID != c.ID {
		t.Errorf("%v", d)
	}
}

// TestARequestOutlivesItsDuelWithoutHarm: whatever was lost, the request makes a duel.
func TestARequestOutlivesItsDuelWithoutHarm(t *testing.T) {
	s := newShop(t)
	d, err := s.Create(ctx, creation(duelstore.Committed, "r"))
	must(t, d, err)
	for _, key := range s.redis.Keys() {
		if strings.Contains(key, ":d:") {
			s.redis.Del(key)
		}
	}
	c := creation(duelstore.Plain, "r")
	d, err = s.Create(ctx, c)
	if must(t, d, err); d.ID != c.ID {
		t.Errorf("%v", d)
	}
}

// TestAStrangerSeesNothing: neither another player, nor another operator, nor one who guesses an id.
func TestAStrangerSeesNothing(t *testing.T) {
	s := newShop(t)
	id := ready(t, s.Store, "r")
	for name, step := range map[string]func() (duelstore.Duel, error){
		"player": func() (duelstore.Duel, error) {
			return s.Look(ctx, id, duelstore.Caller{Operator: operator, Player: "eve"})
		},
		"operator": func() (duelstore.Duel, error) {
			return s.Look(ctx, id, duelstore.Caller{Operator: "another", Player: "alice"})
		},
		"roll": func() (duelstore.Duel, error) { return s.Roll(ctx, id, "another", 0) },
		"end":  func() (duelstore.Duel, error) { return s.End(ctx, id, "another") },
		"seed": func() (duelstore.Duel, error) {
			return s.Seed(ctx, id, duelstore.Caller{Operator: operator, Player: "eve"}, duelstore.White, opening("w"))
		},
		"guess": func() (duelstore.Duel, error) { return s.Look(ctx, id[:len(id)-1]+"q", game) },
	} {
		d, err := step()
		if want(t, err, duelstore.NotFound); d.ID != "" {
			t.Errorf("%s is shown %+v", name, d)
		}
	}
	_, err := s.Seed(ctx, id, bob, duelstore.White, opening("w"))
	want(t, err, duelstore.OtherSeat)
	_, err = s.Commit(ctx, id, alice, duelstore.Black, "hash b")
	want(t, err, duelstore.OtherSeat)
}

// TestSixtyFourRollsOfOnePlyTakeItOnce: with as many at work, each ply is taken once, in order.
func TestSixtyFourRollsOfOnePlyTakeItOnce(t *testing.T) {
	client, err := redisledger.Dial(testenv.Redis(t, testenv.InMemory).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := duelstore.New(client, nil)
	id := ready(t, s, "r")
	before, err := s.Look(ctx, id, game)
	must(t, before, err)
	for ply := range uint32(5) {
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				if d, err := s.Roll(ctx, id, operator, ply); err != nil || d.Rolls != ply+1 {
					t.Errorf("ply %d: %d rolls, %v", ply, d.Rolls, err)
				}
			})
		}
		all.Wait()
	}
	if d, err := s.Look(ctx, id, game); err != nil || d.Version != before.Version+5 {
		t.Errorf("version %d after %d, %v", d.Version, before.Version, err)
	}
}

// TestRollIsOneCall counts what reaches Redis.
func TestRollIsOneCall(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	client, err := redisledger.Dial(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := duelstore.New(client, nil)
	id := ready(t, s, "r")
	if _, err := s.Roll(ctx, id, operator, 0); err != nil { // the script is known from here on
		t.Fatal(err)
	}
	const rolls = 20
	count := func() int {
		n := -1
		text := client.Info(ctx, "stats").Val()
		for line := range strings.Lines(text) {
			_, _ = fmt.Sscanf(line, "total_reads_processed:%d", &n)
		}
		return n
	}
	before := count()
	for ply := range uint32(rolls) {
		if _, err := s.Roll(ctx, id, operator, ply+1); err != nil {
			t.Fatal(err)
		}
	}
	if got := count() - before - 1; got != rolls { // one is the question itself
		t.Errorf("%d requests for %d rolls", got, rolls)
	}
}

// TestMissingSeedRecordReadAsAnEmptySeed: a record that lost a part is broken, and nothing is written.
func TestMissingSeedRecordReadAsAnEmptySeed(t *testing.T) {
	for _, field := range []string{"k", "c", "f", "n", "g", "x", "l", "t", "v", "d", "m", "w", "o"} {
		s := newShop(t)
		id := ready(t, s.Store, "r")
		key := "{p" + strings.TrimLeft(string(id[:2]), "0") + "}:d:" + string(id[3:])
		if strings.HasPrefix(key, "{p}") {
			key = "{p0}:d:" + string(id[3:])
		}
		s.redis.HDel(key, field)
		before := s.redis.Dump()
		if d, err := s.Roll(ctx, id, operator, 0); err == nil {
			t.Errorf("without %s: %+v", field, d)
		}
		if s.redis.Dump() != before {
			t.Errorf("without %s: something was written", field)
		}
	}
}

// TestScriptErrorLeavesHalfTheWrites: a key of a wrong type is met before the first write.
func TestScriptErrorLeavesHalfTheWrites(t *testing.T) {
	s := newShop(t)
	id := ready(t, s.Store, "r")
	for _, key := range s.redis.Keys() {
		if strings.HasSuffix(key, ":do") {
			s.redis.Del(key)
			_ = s.redis.Set(key, "x")
		}
	}
	before := s.redis.Dump()
	if _, err := s.Roll(ctx, id, operator, 0); err == nil {
		t.Error("rolled")
	}
	if s.redis.Dump() != before {
		t.Error("half of the step was written")
	}
}

func TestParseID(t *testing.T) {
	good := creation(duelstore.Committed, "r").ID
	if id, err := duelstore.ParseID(string(good)); err != nil || id != good {
		t.Error(id, err)
	}
	for _, text := range []string{"", "00-", "64-aaaaaaaaaaaaaaaa", "00-aaaaaaaaaaaaaaa", "00-aaaaaaaaaaaaaaaaa", "00-AAAAAAAAAAAAAAAA", "00-aaaaaaaaaaaaaaa1", "00-aaaaaaaaaaaaaaaa\n", "{0}-aaaaaaaaaaaaaaa"} {
		if _, err := duelstore.ParseID(text); err == nil {
			t.Errorf("%q is an id", text)
		}
	}
}

func BenchmarkRoll(b *testing.B) {
	client, err := redisledger.Dial(testenv.Redis(b, testenv.InMemory).URL())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	s := duelstore.New(client, nil)
	id := ready(b, s, "r")
	b.Run("roll", func(b *testing.B) {
		d, err := s.Look(ctx, id, game)
		for ply := must(b, d, err).Rolls; b.Loop(); ply++ {
			if _, err := s.Roll(ctx, id, operator, ply); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ping", func(b *testing.B) {
		for b.Loop() {
			if err := client.Ping(ctx).Err(); err != nil && err != redis.Nil {
				b.Fatal(err)
			}
		}
	})
}

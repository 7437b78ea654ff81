package redisledger_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
)

var ctx = context.Background()

// table is a player with a Redis of his own, whose data a test breaks.
type table struct {
	t *testing.T
	*redisledger.Store
	redis  redis.UniversalClient
	player ledger.Player
	pair   ledger.PairID
	next   ledger.Announced
	bets   int
}

func newTable(t *testing.T, url, name string) *table {
	t.Helper()
	c := client(t, url)
	b := &table{t: t, Store: redisledger.New(c, redisledger.Options{}), redis: c, player: ledger.Player{Operator: "acme", ID: name}}
	a, err := b.Open(ctx, b.player, offer(b.player, name+"1"), []ledger.Grant{{Currency: "FUN", Amount: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Rotate(ctx, ledger.Rotation{Player: b.player, Announced: a.Announced.ID, ClientSeed: "s", Offer: offer(b.player, name+"2")})
	if err != nil {
		t.Fatal(err)
	}
	b.pair, b.next = r.Active.ID, r.Announced
	return b
}

func (b *table) bet() ledger.Draw {
	b.bets++
	return ledger.Draw{Player: b.player, Pair: b.pair, BetID: fmt.Sprint("bet-", b.bets), Currency: "FUN", Stake: 10, WorstCase: 20,
		Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}}}
}

func (b *table) settle(d ledger.Drawn) (ledger.Loaded, error) {
	return b.Settle(ctx, ledger.Settlement{Player: b.player, Round: d.Round.ID, Currency: "FUN", State: ledger.Settled, Payout: 20, WorstCase: 20})
}

func (b *table) tag() string       { return fmt.Sprintf("{p%d}", b.player.Partition()) }
func (b *table) playerKey() string { return b.tag() + ":u:" + b.player.String() }

func (b *table) do(args ...any) {
	b.t.Helper()
	if err := b.redis.Do(ctx, args...).Err(); err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
}

// unchanged runs a step that must fail without effect on what is stored.
func (b *table) unchanged(what string, step func() error) {
	b.t.Helper()
	money := b.redis.HMGet(ctx, b.playerKey(), "n", "bFUN", "xFUN").Val()
	err := step()
	if err == nil {
		b.t.Fatalf("%s: no error", what)
	}
	if got := reason.Of(err); got != reason.Internal {
		b.t.Fatalf("%s: reason %s of %v", what, got, err)
	}
	if after := b.redis.HMGet(ctx, b.playerKey(), "n", "bFUN", "xFUN").Val(); fmt.Sprint(after) != fmt.Sprint(money) {
		b.t.Fatalf("%s: %v became %v", what, money, after)
	}
}

func TestMissingSeedRecordIsNotAnEmptySeed(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	sealed := strings.Repeat("k", redisledger.SealedSize)
	b := newTable(t, server.URL(), "alice")
	draw := func() error { _, err := b.Draw(ctx, b.bet()); return err }
	rotate := func() error {
		_, err := b.Rotate(ctx, ledger.Rotation{Player: b.player, Announced: b.next.ID, ClientSeed: "t", Offer: offer(b.player, "3")})
		return err
	}
	for _, short := range []string{"", "k", sealed[1:]} {
		b.do("hset", b.playerKey(), "K", short)
		b.unchanged("bet on a short server seed", draw)
		b.do("hset", b.playerKey(), "K", sealed)
		b.do("hset", b.playerKey(), "k", short)
		b.unchanged("rotation to a short server seed", rotate)
		b.unchanged("look at a short server seed", func() error { _, err := b.Open(ctx, b.player, offer(b.player, "4"), nil); return err })
		b.do("hset", b.playerKey(), "k", sealed)
	}
	b.do("hdel", b.playerKey(), "K")
	b.unchanged("bet on no server seed", draw)
	b.do("hset", b.playerKey(), "K", sealed)
	b.do("hdel", b.playerKey(), "s")
	b.unchanged("bet on no client seed", draw)
	b.do("hset", b.playerKey(), "s", "s")
	if err := draw(); err != nil {
		t.Fatal(err)
	}
	if err := rotate(); err != nil {
		t.Fatal(err)
	}
}

func TestNanPassesTheBalanceTestInsideALuaScript(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	drawn, err := b.Draw(ctx, b.bet())
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"bFUN", "xFUN", "n"} {
		good := b.redis.HGet(ctx, b.playerKey(), field).Val()
		for _, value := range []string{"nan", "-nan", "inf", "1e3", "0x10", "-5", "", " 7", "7\n"} {
			b.do("hset", b.playerKey(), field, value)
			b.unchanged("bet with "+field+" "+value, func() error { _, err := b.Draw(ctx, b.bet()); return err })
			if field != "n" {
				b.unchanged("settlement with "+field+" "+value, func() error { _, err := b.settle(drawn); return err })
			}
		}
		b.do("hset", b.playerKey(), field, good)
	}
	if l, err := b.settle(drawn); err != nil || l.Balance != 1010 {
		t.Fatalf("%+v, %v", l, err)
	}
}

func TestScriptErrorLeavesNoHalfOfTheWrites(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	for i, kind := range []string{":open", ":r:", ":i:", ":u:", ":o:"} {
		b := newTable(t, server.URL(), fmt.Sprint("player-", i))
		drawn, err := b.Draw(ctx, b.bet())
		if err != nil {
			t.Fatal(err)
		}
		var wrong string
		for _, k := range b.redis.Keys(ctx, "*").Val() {
			if strings.HasPrefix(k, b.tag()+kind) && (kind == ":open" || strings.Contains(k, string(b.pair[3:])) || strings.HasSuffix(k, b.player.String())) {
				wrong = k
			}
		}
		if kind == ":o:" {
			wrong = b.tag() + ":o:acme"
		} else {
			b.do("rename", wrong, "{"+b.tag()[1:]+":kept")
		}
		b.do("rpush", wrong, "not what it was")
		saved := func() error { _, err := b.settle(drawn); return err }
		if kind != ":open" && kind != ":i:" { // a settlement reads those of another type, or not at all
			if err := saved(); err == nil || reason.Of(err) != reason.Internal {
				t.Fatalf("%s: settle: %v", kind, err)
			}
		}
		if kind != ":o:" {
			if _, err := b.Draw(ctx, b.bet()); err == nil || reason.Of(err) != reason.Internal {
				t.Fatalf("%s: draw: %v", kind, err)
			}
		}
		b.do("del", wrong)
		if kind != ":o:" {
			b.do("rename", "{"+b.tag()[1:]+":kept", wrong)
		}
		next, err := b.Draw(ctx, b.bet())
		if err != nil || next.Round.ID.Nonce != 1 || next.Balance != 980 {
			t.Fatalf("%s: after repair: %+v, %v", kind, next, err)
		}
		if l, err := b.settle(drawn); err != nil || l.Balance != 1000 {
			t.Fatalf("%s: after repair: %+v, %v", kind, l, err)
		}
	}
}

// A settlement whose script fails stands nowhere, the outbox included: there it
// would be paid again by the repeat, or be one of a round that never was.
func TestScriptErrorLeavesNoSettlementInTheOutbox(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	for i, kind := range []string{"settle :open", "settle :o:acme:0", "draw :r:", "draw :i:", "draw :c:", "draw :o:acme:0"} {
		b := newTable(t, server.URL(), fmt.Sprint("outbox-", i))
		d := b.bet()
		if kind == "draw :c:" {
			d.Bet = bet.Bet{Game: bet.Roulette, Roulette: roulette.Bet{Chips: []roulette.Chip{{Kind: roulette.Red, Amount: 10}}}}
		}
		step, key, _ := strings.Cut(kind, " ")
		switch key {
		case ":r:", ":c:":
			key += string(b.pair[3:]) + ":0"
		case ":i:":
			key += string(b.pair[3:]) + ":0:0"
		}
		play := func() error {
			d.Decided = &ledger.Decided{Nonce: 0, Payout: 20}
			_, err := b.Draw(ctx, d)
			return err
		}
		if step == "settle" {
			drawn, err := b.Draw(ctx, d)
			if err != nil {
				t.Fatal(err)
			}
			play = func() error { _, err := b.settle(drawn); return err }
		}
		wrong, kept := b.tag()+key, b.tag()+":kept"
		if b.redis.Exists(ctx, wrong).Val() == 1 {
			b.do("rename", wrong, kept)
		}
		b.do("rpush", wrong, "not what it was")
		b.unchanged(kind, play)
		b.do("del", wrong)
		if b.redis.Exists(ctx, kept).Val() == 1 {
			b.do("rename", kept, wrong)
		}
		if err := play(); err != nil {
			t.Fatalf("%s: after repair: %v", kind, err)
		}
		entries, err := b.Outbox(ctx, "acme", b.player.Partition(), 0, 10)
		if err != nil || len(entries) != 1 || entries[0].Round.Pair != b.pair || entries[0].Round.Nonce != 0 {
			t.Errorf("%s: outbox %v, %v; want the one settlement", kind, entries, err)
		}
		b.do("flushall")
	}
}

func TestScriptErrorLeavesNoHalfOfARotation(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	record := b.tag() + ":s:" + string(b.pair[3:])
	rotation := ledger.Rotation{Player: b.player, Announced: b.next.ID, ClientSeed: "t", Offer: offer(b.player, "3")}
	b.do("rename", record, b.tag()+":kept")
	for _, kind := range []string{"another type", "nothing"} {
		if kind == "another type" {
			b.do("rpush", record, "not what it was")
		}
		b.unchanged("rotation on "+kind, func() error { _, err := b.Rotate(ctx, rotation); return err })
		b.unchanged("look at "+kind, func() error { _, err := b.Open(ctx, b.player, offer(b.player, "4"), nil); return err })
		b.do("del", record)
	}
	b.do("rename", b.tag()+":kept", record)
	if _, err := b.Rotate(ctx, rotation); err != nil { // not even the client seed was burnt
		t.Fatal(err)
	}
}

func TestNoTimeToLiveAndEveryKeyInItsSlot(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	drawn, err := b.Draw(ctx, b.bet())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.settle(drawn); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Draw(ctx, b.bet()); err != nil {
		t.Fatal(err)
	}
	keys := b.redis.Keys(ctx, "*").Val()
	if len(keys) != 8 { // player, client seeds, pair, rounds, index, open rounds, outbox and its block
		t.Fatalf("keys %q", keys)
	}
	for _, k := range keys {
		if !strings.HasPrefix(k, b.tag()+":") {
			t.Errorf("key %q is not in the slot of %s", k, b.tag())
		}
		if ttl := b.redis.TTL(ctx, k).Val(); ttl != -1 {
			t.Errorf("key %q ends in %v", k, ttl)
		}
	}
}

// TestAHashValueOver64BytesTurnsItsListpackIntoATable fills buckets with the
// longest of everything.
func TestAHashValueOver64BytesTurnsItsListpackIntoATable(t *testing.T) {
	c := client(t, testenv.Redis(t, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	p := ledger.Player{Operator: "acme", ID: "alice"}
	a, err := s.Open(ctx, p, offer(p, "1"), []ledger.Grant{{Currency: "ZZZZZZZZ", Amount: money.MaxUnits / 2}})
	if err != nil {
		t.Fatal(err)
	}
	longest := rng.ClientSeed(strings.Repeat("~", 64))
	if _, err := s.Rotate(ctx, ledger.Rotation{Player: p, Announced: a.Announced.ID, ClientSeed: longest, Offer: offer(p, "2")}); err != nil {
		t.Fatal(err)
	}
	for i := range 256 {
		d := ledger.Draw{Player: p, Pair: a.Announced.ID, BetID: fmt.Sprintf("%040d", i), Currency: "ZZZZZZZZ", Stake: 1 << 40, WorstCase: 1 << 41,
			MaxPicks: 22, Bet: bet.Bet{Game: bet.Mines, MineCount: 3}}
		drawn, err := s.Draw(ctx, d)
		if err != nil {
			t.Fatal(err)
		}
		var picks []uint8
		for tile := range uint8(25) {
			picks = append(picks, tile)
			if _, err := s.Advance(ctx, p, drawn.Round.ID, picks); err != nil {
				t.Fatal(err)
			}
		}
		q := ledger.Settlement{Player: p, Round: drawn.Round.ID, Currency: d.Currency, State: ledger.Settled, Payout: 1 << 40, WorstCase: 1 << 41, Before: picks, Picks: picks}
		if _, err := s.Settle(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"u": "listpack", "s": "listpack", "r": "listpack", "i": "listpack", "w": "intset"}
	seen := map[string]int{}
	for _, k := range c.Keys(ctx, "*").Val() {
		kind := strings.Split(k, ":")[1]
		seen[kind]++
		if e := c.ObjectEncoding(ctx, k).Val(); want[kind] != "" && e != want[kind] {
			t.Errorf("%s is a %s", k, e)
		}
	}
	if seen["r"] != 2 || seen["i"] < 2 || seen["u"] != 1 || seen["s"] != 1 || seen["w"] != 1 {
		t.Fatalf("keys %v", seen)
	}
}

func TestOutOfMemoryIsUnavailableAndChangesNothing(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	drawn, err := b.Draw(ctx, b.bet())
	if err != nil {
		t.Fatal(err)
	}
	b.do("config", "set", "maxmemory", "1")
	if _, err := b.Draw(ctx, b.bet()); reason.Of(err) != reason.StoreUnavailable {
		t.Fatalf("draw: %v", err)
	}
	if _, err := b.settle(drawn); reason.Of(err) != reason.StoreUnavailable {
		t.Fatalf("settle: %v", err)
	}
	b.do("config", "set", "maxmemory", "0")
	if l, err := b.settle(drawn); err != nil || l.Balance != 1010 || l.Pair.Nonce != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
}

func TestEvictionDeletesSeeds_NoevictionIsAsserted(t *testing.T) {
	for _, policy := range []string{"allkeys-lru", "volatile-ttl"} {
		s := dial(t, testenv.Redis(t, testenv.InMemory, testenv.Args("--maxmemory-policy", policy)).URL())
		if _, err := s.Check(ctx); err == nil || !strings.Contains(err.Error(), policy) {
			t.Errorf("%s: %v", policy, err)
		}
	}
	for name, option := range map[string]testenv.RedisOption{"append-only file is off": testenv.InMemory, "appendfsync": testenv.Always} {
		if w, err := dial(t, testenv.Redis(t, option).URL()).Check(ctx); err != nil || len(w) != 1 || !strings.Contains(w[0], name) {
			t.Errorf("%s: %q, %v", name, w, err)
		}
	}
}

func TestScriptsAreLoadedAgainAfterTheyWereFlushed(t *testing.T) {
	b := newTable(t, testenv.Redis(t, testenv.InMemory).URL(), "alice")
	for want := range uint32(3) {
		b.do("script", "flush")
		if d, err := b.Draw(ctx, b.bet()); err != nil || d.Round.ID.Nonce != want {
			t.Fatalf("%+v, %v", d, err)
		}
	}
}

func TestEveryCallIsTold(t *testing.T) {
	server := testenv.Redis(t, testenv.InMemory)
	told := map[string]int{}
	var failed error
	s := redisledger.New(client(t, server.URL()), redisledger.Options{OnCall: func(script string, took time.Duration, err error) {
		told[script]++
		failed = err
	}})
	p := ledger.Player{Operator: "acme", ID: "alice"}
	if _, err := s.Open(ctx, p, offer(p, "1"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Now(ctx); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	server.Stop()
	if _, err := s.Balances(ctx, p); reason.Of(err) != reason.StoreUnavailable {
		t.Fatal(err)
	}
	if fmt.Sprint(told) != "map[balances:1 open:1 time:1]" || failed == nil {
		t.Fatalf("told %v, %v", told, failed)
	}
}

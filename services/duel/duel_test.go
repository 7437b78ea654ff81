package duel_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/duelstore"
	game "github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	committed = originalsv1.Duel_COMMITTED
	plain     = originalsv1.Duel_PLAIN
)

// TestCommitmentOnlyGivenWhenAskedFor: the answer to the creation has it, with
// both fallback hashes in plain mode, and nothing secret.
func TestCommitmentOnlyGivenWhenAskedFor(t *testing.T) {
	h := newHouse(t)
	d := h.create(committed)
	if len(d.GetCommitment()) != 64 || d.GetState() != originalsv1.Duel_COMMITTING || d.GetScheme() != "duel-v1" || d.GetFormat() != "originals-duel-v1" || d.ServerSeed != nil ||
		d.GetWhite().FallbackHash != nil || d.GetGraceSeconds() != 5 || d.GetExpirySeconds() != 86400 || d.CommitDeadline != nil || !d.GetExpireTime().AsTime().Equal(h.now.Add(24*time.Hour)) {
		t.Errorf("%v", d)
	}
	p := h.create(plain)
	if len(p.GetWhite().GetFallbackHash()) != 64 || p.GetWhite().GetFallbackHash() == p.GetBlack().GetFallbackHash() || p.GetState() != originalsv1.Duel_SEEDING || p.GetWhite().FallbackSeed != nil || p.ServerSeed != nil {
		t.Errorf("%v", p)
	}
	if p.GetCommitment() == d.GetCommitment() {
		t.Error("two duels share a server seed")
	}
}

func TestCommittedModeToItsEnd(t *testing.T) {
	h := newHouse(t)
	d := h.readyCommitted()
	id := d.GetDuelId()
	if d.GetState() != originalsv1.Duel_READY || d.GetWhite().GetSource() != originalsv1.DuelSeat_COMMITTED || d.SeedDeadline != nil {
		t.Errorf("%v", d)
	}
	var rolls []*originalsv1.DuelRoll
	for ply := range uint32(30) {
		roll, err := h.roll(id, ply)
		if err != nil || roll.GetPly() != ply || len(roll.GetDice()) != 3 {
			t.Fatal(roll, err)
		}
		rolls = append(rolls, roll)
	}
	end := h.end(id)
	if end.GetState() != originalsv1.Duel_ENDED || end.GetEndReason() != "GAME_SERVER" || len(end.GetServerSeed()) != 64 || !slices.EqualFunc(end.GetRolls(), rolls, func(a, b *originalsv1.DuelRoll) bool { return proto.Equal(a, b) }) {
		t.Errorf("%v", end)
	}
	verified(t, d.GetCommitment(), end)
	for ply, want := range rolls { // answers can be had again after the end
		if roll, err := h.roll(id, uint32(ply)); err != nil || !proto.Equal(roll, want) {
			t.Errorf("%v, %v; want %v", roll, err, want)
		}
	}
	if again := h.get(bob, id); !proto.Equal(again, end) || !proto.Equal(h.end(id), end) {
		t.Errorf("the end differs: %v", again)
	}
}

// TestEverySourceAndEveryEnd plays to each, and verifies the evidence.
func TestEverySourceAndEveryEnd(t *testing.T) {
	const own = "a:client:seed:in:clear"
	meet := func(h *house, id string) { h.get(alice, id); h.get(bob, id) }
	for name, c := range map[string]struct {
		mode originalsv1.Duel_Mode
		play func(h *house, id string)
		want string // state, reason, sources, forfeits, rolls
	}{
		"own seeds": {plain, func(h *house, id string) {
			h.must(h.seed(alice, id, "white", own))
			h.must(h.seed(bob, id, "black", blackSeed))
			_, _ = h.roll(id, 0)
			h.end(id)
		}, "ENDED GAME_SERVER OWN OWN [] 1"},
		"black falls back": {plain, func(h *house, id string) {
			h.must(h.seed(alice, id, "white", own))
			h.get(bob, id)
			h.pass(5 * time.Second)
			_, _ = h.roll(id, 0)
			_, _ = h.roll(id, 1)
			h.end(id)
		}, "ENDED GAME_SERVER OWN FALLBACK [] 2"},
		"white falls back": {plain, func(h *house, id string) {
			h.must(h.seed(bob, id, "black", own))
			h.get(alice, id)
			h.pass(5 * time.Second)
			_, _ = h.roll(id, 0)
			h.end(id)
		}, "ENDED GAME_SERVER FALLBACK OWN [] 1"},
		"both silent in plain mode":     {plain, func(h *house, id string) { meet(h, id); h.pass(5 * time.Second) }, "VOID GRACE_PERIOD - - [] 0"},
		"both silent in committed mode": {committed, func(h *house, id string) { meet(h, id); h.pass(5 * time.Second) }, "VOID GRACE_PERIOD - - [] 0"},
		"one never hashed": {committed, func(h *house, id string) {
			h.must(h.commit(alice, id, "white", whiteSeed))
			h.get(bob, id)
			h.pass(5 * time.Second)
		}, "VOID GRACE_PERIOD - - [] 0"},
		"black does not open": {committed, func(h *house, id string) {
			h.commitBoth(id)
			h.must(h.seed(alice, id, "white", whiteSeed))
			h.pass(5 * time.Second)
		}, "FORFEITED GRACE_PERIOD COMMITTED - [black] 0"},
		"nobody opens":    {committed, func(h *house, id string) { h.commitBoth(id); h.pass(5 * time.Second) }, "FORFEITED GRACE_PERIOD - - [white black] 0"},
		"abandoned early": {committed, func(h *house, id string) { h.pass(24 * time.Hour) }, "VOID EXPIRED - - [] 0"},
		"ended early":     {committed, func(h *house, id string) { h.commitBoth(id); h.end(id) }, "VOID GAME_SERVER - - [] 0"},
		"abandoned late": {committed, func(h *house, id string) {
			h.commitBoth(id)
			h.must(h.seed(alice, id, "white", whiteSeed))
			h.must(h.seed(bob, id, "black", blackSeed))
			_, _ = h.roll(id, 0)
			h.pass(24 * time.Hour)
		}, "ENDED EXPIRED COMMITTED COMMITTED [] 1"},
		"store replaced while seeds may be lost": {committed, func(h *house, id string) { h.commitBoth(id); h.life.Add(1) }, "VOID STORE_REPLACED - - [] 0"},
		"store replaced while rolling": {committed, func(h *house, id string) {
			h.commitBoth(id)
			h.must(h.seed(alice, id, "white", whiteSeed))
			h.must(h.seed(bob, id, "black", blackSeed))
			_, _ = h.roll(id, 0)
			h.life.Add(1)
			if _, err := h.roll(id, 1); reason.Of(err) != reason.DuelEnded {
				t.Errorf("rolled on: %v", err)
			}
		}, "VOID STORE_REPLACED COMMITTED COMMITTED [] 1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			made := h.create(c.mode)
			c.play(h, made.GetDuelId())
			d := h.get(alice, made.GetDuelId())
			source := func(s *originalsv1.DuelSeat) string {
				if s.Source == nil {
					return "-"
				}
				return s.GetSource().String()
			}
			got := fmt.Sprint(d.GetState(), " ", d.GetEndReason(), " ", source(d.GetWhite()), " ", source(d.GetBlack()), " ", d.GetForfeitedBy(), " ", len(d.GetRolls()))
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			verified(t, made.GetCommitment(), d)
		})
	}
}

// TestGracePeriodStartsWhenBothAreThere: not at creation, and for each of both steps anew.
func TestGracePeriodStartsWhenBothAreThere(t *testing.T) {
	h := newHouse(t)
	id := h.create(committed).GetDuelId()
	h.pass(time.Hour)
	if d := h.must(h.commit(alice, id, "white", whiteSeed)); d.CommitDeadline != nil {
		t.Errorf("the time runs before black is there: %v", d)
	}
	h.pass(time.Hour)
	if d := h.get(bob, id); !d.GetCommitDeadline().AsTime().Equal(h.now.Add(5 * time.Second)) {
		t.Errorf("%v at %v", d.GetCommitDeadline().AsTime(), h.now)
	}
	h.pass(4999 * time.Millisecond)
	if d := h.must(h.commit(bob, id, "black", blackSeed)); !d.GetSeedDeadline().AsTime().Equal(h.now.Add(5*time.Second)) || d.CommitDeadline != nil {
		t.Errorf("%v", d)
	}
	h.pass(4999 * time.Millisecond)
	h.must(h.seed(alice, id, "white", whiteSeed))
	h.pass(time.Millisecond)
	_, err := h.seed(bob, id, "black", blackSeed)
	wantReason(t, err, reason.SeedTooLate)
}

// TestFirstValidSeedWins: the same again is acknowledged again, another one is refused.
func TestFirstValidSeedWins(t *testing.T) {
	h := newHouse(t)
	id := h.create(committed).GetDuelId()
	first := h.must(h.commit(alice, id, "white", whiteSeed))
	if again := h.must(h.commit(alice, id, "white", whiteSeed)); !proto.Equal(again, first) {
		t.Errorf("%v, then %v", first, again)
	}
	_, err := h.commit(alice, id, "white", blackSeed)
	wantReason(t, err, reason.CommitAlreadySet)
	_, err = h.seed(alice, id, "white", whiteSeed)
	wantReason(t, err, reason.CommitRequired)
	h.must(h.commit(bob, id, "black", blackSeed))
	_, err = h.seed(alice, id, "white", blackSeed)
	wantReason(t, err, reason.CommitMismatch)
	opened := h.must(h.seed(alice, id, "white", whiteSeed))
	if again := h.must(h.seed(alice, id, "white", whiteSeed)); !proto.Equal(again, opened) || !again.GetWhite().GetSeeded() {
		t.Errorf("%v, then %v", opened, again)
	}
	_, err = h.seed(alice, id, "white", blackSeed)
	wantReason(t, err, reason.SeedAlreadySet)
	_, err = h.roll(id, 0)
	wantReason(t, err, reason.SeedsRequired)
	h.must(h.seed(bob, id, "black", blackSeed))
	h.end(id)
	if _, err = h.seed(alice, id, "white", whiteSeed); err != nil { // also after the end
		t.Error(err)
	}
}

func TestRefusalsHaveTheirReasons(t *testing.T) {
	h := newHouse(t)
	id := h.create(plain).GetDuelId()
	_, err := h.commit(alice, id, "white", whiteSeed)
	wantReason(t, err, reason.CommitNotTaken)
	_, err = h.seed(alice, id, "black", whiteSeed)
	wantReason(t, err, reason.RoleRequired)
	_, err = h.seed(as(auth.Player, "eve"), id, "white", whiteSeed)
	wantReason(t, err, reason.DuelNotFound)
	h.end(id)
	_, err = h.seed(alice, id, "white", whiteSeed)
	wantReason(t, err, reason.DuelEnded)

	id = h.create(committed).GetDuelId()
	h.get(alice, id)
	h.get(bob, id)
	h.pass(5 * time.Second)
	_, err = h.commit(alice, id, "white", whiteSeed)
	wantReason(t, err, reason.CommitTooLate)

	id = h.readyCommitted().GetDuelId()
	_, err = h.roll(id, 1)
	if e, ok := reason.From(err); !ok || e.Reason != reason.PlyOutOfOrder || e.Metadata["ply"] != "0" || e.Metadata["state"] != "READY" {
		t.Errorf("%v", err)
	}
	_, err = h.CreateDuel(chess, &originalsv1.CreateDuelRequest{RequestId: fmt.Sprint("game-", h.count), White: "alice", Black: "carol"})
	wantReason(t, err, reason.RequestIDReused)
}

// TestBadInputHasNoEffect: each is refused, with the field's name, and nothing is written.
func TestBadInputHasNoEffect(t *testing.T) {
	h := newHouse(t)
	id := h.create(plain).GetDuelId()
	hashed := h.create(committed).GetDuelId()
	h.commitBoth(hashed)
	create := func(change func(*originalsv1.CreateDuelRequest)) func() error {
		return func() error {
			q := &originalsv1.CreateDuelRequest{RequestId: "r", White: "alice", Black: "bob"}
			change(q)
			_, err := h.CreateDuel(chess, q)
			return err
		}
	}
	seed := func(id, seat, text string) func() error {
		return func() error { _, err := h.seed(alice, id, seat, text); return err }
	}
	sendHash := func(seat, text string) func() error {
		return func() error {
			_, err := h.CommitSeat(alice, &originalsv1.CommitSeatRequest{DuelId: hashed, Seat: seat, ClientSeedHash: text})
			return err
		}
	}
	before := h.contents()
	for name, c := range map[string]struct {
		do     func() error
		reason reason.Reason
		field  string
	}{
		"no request id":       {create(func(q *originalsv1.CreateDuelRequest) { q.RequestId = "" }), reason.InvalidField, "requestId"},
		"long request id":     {create(func(q *originalsv1.CreateDuelRequest) { q.RequestId = strings.Repeat("x", 41) }), reason.InvalidField, "requestId"},
		"request id newline":  {create(func(q *originalsv1.CreateDuelRequest) { q.RequestId = "x\n" }), reason.InvalidField, "requestId"},
		"request id braces":   {create(func(q *originalsv1.CreateDuelRequest) { q.RequestId = "{x}" }), reason.InvalidField, "requestId"},
		"no white":            {create(func(q *originalsv1.CreateDuelRequest) { q.White = "" }), reason.InvalidField, "white"},
		"white with a space":  {create(func(q *originalsv1.CreateDuelRequest) { q.White = "a b" }), reason.InvalidField, "white"},
		"long black":          {create(func(q *originalsv1.CreateDuelRequest) { q.Black = strings.Repeat("x", 129) }), reason.InvalidField, "black"},
		"against oneself":     {create(func(q *originalsv1.CreateDuelRequest) { q.Black = q.White }), reason.InvalidField, "black"},
		"mode 0":              {create(func(q *originalsv1.CreateDuelRequest) { q.Mode = originalsv1.Duel_MODE_UNSPECIFIED.Enum() }), reason.InvalidField, "mode"},
		"mode 99":             {create(func(q *originalsv1.CreateDuelRequest) { q.Mode = originalsv1.Duel_Mode(99).Enum() }), reason.InvalidField, "mode"},
		"no grace":            {create(func(q *originalsv1.CreateDuelRequest) { q.GraceSeconds = proto.Uint32(0) }), reason.InvalidField, "graceSeconds"},
		"long grace":          {create(func(q *originalsv1.CreateDuelRequest) { q.GraceSeconds = proto.Uint32(301) }), reason.InvalidField, "graceSeconds"},
		"short expiry":        {create(func(q *originalsv1.CreateDuelRequest) { q.ExpirySeconds = proto.Uint32(3599) }), reason.InvalidField, "expirySeconds"},
		"endless expiry":      {create(func(q *originalsv1.CreateDuelRequest) { q.ExpirySeconds = proto.Uint32(1<<32 - 1) }), reason.InvalidField, "expirySeconds"},
		"seed empty":          {seed(id, "white", ""), reason.SeedTooShort, "clientSeed"},
		"seed short":          {seed(id, "white", strings.Repeat("x", 15)), reason.SeedTooShort, "clientSeed"},
		"seed long":           {seed(id, "white", strings.Repeat("x", 257)), reason.SeedTooLong, "clientSeed"},
		"seed with a space":   {seed(id, "white", strings.Repeat("x", 15)+" "), reason.InvalidField, "clientSeed"},
		"seed with a newline": {seed(id, "white", strings.Repeat("x", 16)+"\n"), reason.InvalidField, "clientSeed"},
		"seed not ASCII":      {seed(id, "white", strings.Repeat("\u00e9", 16)), reason.InvalidField, "clientSeed"},
		"seed not UTF-8":      {seed(id, "white", strings.Repeat("\xff", 16)), reason.InvalidField, "clientSeed"},
		"seed 63 digits":      {seed(hashed, "white", whiteSeed[1:]), reason.SeedTooShort, "clientSeed"},
		"seed 65 digits":      {seed(hashed, "white", whiteSeed+"0"), reason.SeedTooLong, "clientSeed"},
		"seed upper case":     {seed(hashed, "white", strings.ToUpper(whiteSeed)), reason.InvalidField, "clientSeed"},
		"hash upper case":     {sendHash("white", strings.ToUpper(whiteSeed)), reason.InvalidField, "clientSeedHash"},
		"hash short":          {sendHash("white", whiteSeed[1:]), reason.InvalidField, "clientSeedHash"},
		"hash empty":          {sendHash("white", ""), reason.InvalidField, "clientSeedHash"},
		"seat in capitals":    {sendHash("WHITE", whiteSeed), reason.InvalidField, "seat"},
		"no seat":             {sendHash("", whiteSeed), reason.InvalidField, "seat"},
		"no ply":              {func() error { _, err := h.Roll(chess, &originalsv1.RollRequest{DuelId: id}); return err }, reason.InvalidField, "ply"},
		"ply 10000":           {func() error { _, err := h.roll(id, 10000); return err }, reason.InvalidField, "ply"},
		"id of nothing":       {func() error { _, err := h.roll("x", 0); return err }, reason.DuelNotFound, ""},
		"no id":               {func() error { _, err := h.EndDuel(chess, &originalsv1.EndDuelRequest{}); return err }, reason.DuelNotFound, ""},
		"nobody": {func() error {
			_, err := h.GetDuel(context.Background(), &originalsv1.GetDuelRequest{DuelId: id})
			return err
		}, reason.RoleRequired, ""},
	} {
		err := c.do()
		e, ok := reason.From(err)
		if !ok || e.Reason != c.reason || e.Metadata["field"] != c.field {
			t.Errorf("%s: %v, want %s of %q", name, err, c.reason, c.field)
		}
	}
	if h.contents() != before {
		t.Error("something was written")
	}
}

// TestSecretsStayUntilTheEnd looks for the server seed and the fallback seeds in
// every answer, every log line and everything in Redis before the end.
func TestSecretsStayUntilTheEnd(t *testing.T) {
	for _, mode := range []originalsv1.Duel_Mode{committed, plain} {
		h := newHouse(t)
		var seen strings.Builder
		note := func(d *originalsv1.Duel) *originalsv1.Duel {
			seen.WriteString(document(t, d))
			seen.WriteString(h.contents())
			return d
		}
		id := note(h.create(mode)).GetDuelId()
		if mode == committed {
			note(h.commitBoth(id))
		}
		note(h.must(h.seed(alice, id, "white", whiteSeed)))
		note(h.get(bob, id))
		if strings.Contains(seen.String(), `"clientSeed":"`) {
			t.Error("a seat that is still to send its seed sees the other's")
		}
		if mode == committed {
			note(h.must(h.seed(bob, id, "black", blackSeed)))
		} else {
			h.pass(5 * time.Second) // black falls back: its seed is effective from here on, and white's fallback never
		}
		for ply := range uint32(3) {
			roll, err := h.roll(id, ply)
			if err != nil {
				t.Fatal(err)
			}
			seen.WriteString(roll.String())
			note(h.get(alice, id))
		}
		_, err := h.roll(id, 7)
		fmt.Fprint(&seen, err)
		before := seen.String() + h.log.String()
		end := h.end(id)
		secrets := []string{end.GetServerSeed()}
		if mode == plain {
			secrets = append(secrets, end.GetWhite().GetFallbackSeed())
		}
		for _, secret := range secrets {
			raw, err := hex.DecodeString(secret)
			if err != nil || len(raw) != 32 {
				t.Fatal(secret, err)
			}
			for _, form := range []string{secret, strings.ToUpper(secret), string(raw), fmt.Sprintf("%q", raw)} {
				if strings.Contains(before, form) {
					t.Errorf("%v: a secret was seen before the end", mode)
				}
			}
		}
		if strings.Contains(h.contents()+h.log.String(), end.GetServerSeed()) {
			t.Error("Redis or a log holds the server seed in clear")
		}
	}
}

// TestFailedCallThatHadAnEffect: of three calls one has no effect, one has an effect and no answer.
func TestFailedCallThatHadAnEffect(t *testing.T) {
	for _, mode := range []originalsv1.Duel_Mode{committed, plain} {
		h := newHouse(t)
		f := &faulty{Store: h.store}
		h.Service = h.service(f, nil)
		request := &originalsv1.CreateDuelRequest{RequestId: "r", White: "alice", Black: "bob", Mode: &mode}
		made := insist(t, func() (*originalsv1.Duel, error) { return h.CreateDuel(chess, request) })
		id := made.GetDuelId()
		if mode == committed {
			insist(t, func() (*originalsv1.Duel, error) { return h.commit(alice, id, "white", whiteSeed) })
			insist(t, func() (*originalsv1.Duel, error) { return h.commit(bob, id, "black", blackSeed) })
		}
		insist(t, func() (*originalsv1.Duel, error) { return h.seed(alice, id, "white", whiteSeed) })
		insist(t, func() (*originalsv1.Duel, error) { return h.seed(bob, id, "black", blackSeed) })
		var rolls []*originalsv1.DuelRoll
		for ply := range uint32(10) {
			rolls = append(rolls, insist(t, func() (*originalsv1.DuelRoll, error) { return h.roll(id, ply) }))
		}
		end := insist(t, func() (*originalsv1.Duel, error) { return h.EndDuel(chess, &originalsv1.EndDuelRequest{DuelId: id}) })
		if !slices.EqualFunc(end.GetRolls(), rolls, func(a, b *originalsv1.DuelRoll) bool { return proto.Equal(a, b) }) {
			t.Errorf("%v, rolled %v", end.GetRolls(), rolls)
		}
		verified(t, made.GetCommitment(), end)
		if keys := h.redis.Keys(); len(keys) != 2 { // the duel and its request; nothing is left of the calls that failed
			t.Errorf("keys %q are left", keys)
		}
	}
}

// TestAbandonedGamesHoldSeeds: the sweeper ends, and so reveals, what nobody goes on with, and what an earlier store made.
func TestAbandonedGamesHoldSeeds(t *testing.T) {
	h := newHouse(t)
	abandoned, live := h.create(committed).GetDuelId(), ""
	sweep := func(want int) {
		t.Helper()
		if err := h.SweepOnce(t.Context()); err != nil || h.open != want {
			t.Errorf("%d duels are open, want %d, %v", h.open, want, err)
		}
	}
	state := func(id string) duelstore.State { // as it is stored: a look would end it
		t.Helper()
		for _, key := range h.redis.Keys() {
			if strings.HasSuffix(key, id[3:]) && strings.Contains(key, ":d:") {
				return map[string]duelstore.State{"": duelstore.Committing, "E": duelstore.Ended, "V": duelstore.Void, "F": duelstore.Forfeited}[h.redis.HGet(key, "e")]
			}
		}
		t.Fatal("no such duel")
		return 0
	}
	sweep(1)
	h.pass(23 * time.Hour)
	live = h.create(committed).GetDuelId()
	silent := h.create(committed).GetDuelId()
	h.commitBoth(silent)
	sweep(3)
	h.pass(5 * time.Second)
	sweep(2)
	if state(silent) != duelstore.Forfeited {
		t.Errorf("the silent seats: %v", state(silent))
	}
	h.pass(time.Hour)
	sweep(1)
	if state(abandoned) != duelstore.Void || state(live) != duelstore.Committing {
		t.Errorf("abandoned %v, live %v", state(abandoned), state(live))
	}
	for range 250 { // more than one batch
		h.create(committed)
	}
	h.life.Add(1)
	sweep(0)
	if state(live) != duelstore.Void {
		t.Errorf("a duel of an earlier store: %v", state(live))
	}
	if d := h.get(alice, live); d.GetEndReason() != "STORE_REPLACED" || d.ServerSeed == nil {
		t.Errorf("%v", d)
	}
}

// TestStoredSeedThatDoesNotOpenItsCommitment is an alarm, and no dice.
func TestStoredSeedThatDoesNotOpenItsCommitment(t *testing.T) {
	h := newHouse(t)
	id, other := h.readyCommitted().GetDuelId(), h.create(plain).GetDuelId()
	for _, key := range h.redis.Keys() {
		if strings.HasSuffix(key, id[3:]) && strings.Contains(key, ":d:") {
			h.redis.HSet(key, "k", strings.Repeat("x", duelstore.SealedSize))
		}
		if strings.HasSuffix(key, other[3:]) && strings.Contains(key, ":d:") {
			h.redis.HSet(key, "fw", h.redis.HGet(key, "fb"))
		}
	}
	_, err := h.roll(id, 0)
	wantReason(t, err, reason.CommitmentMismatch)
	if !strings.Contains(h.log.String(), "does not open its commitment") {
		t.Error("no alarm")
	}
	_, err = h.EndDuel(chess, &originalsv1.EndDuelRequest{DuelId: other})
	wantReason(t, err, reason.CommitmentMismatch)
}

// TestGuardCheckedBeforeAwait: 64 callers who roll one ply at once have one answer, and the duel one ply more.
func TestGuardCheckedBeforeAwait(t *testing.T) {
	h := newHouse(t)
	id := h.readyCommitted().GetDuelId()
	for ply := range uint32(4) {
		answers := make(chan string, 64)
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				roll, err := h.roll(id, ply)
				answers <- fmt.Sprint(roll.GetPly(), roll.GetDice(), err)
			})
		}
		all.Wait()
		close(answers)
		first := <-answers
		for a := range answers {
			if a != first || !strings.HasSuffix(a, "<nil>") {
				t.Errorf("ply %d: %s and %s", ply, first, a)
			}
		}
		if d := h.get(chess, id); len(d.GetRolls()) != int(ply)+1 {
			t.Errorf("%d plies after ply %d", len(d.GetRolls()), ply)
		}
	}
}

// TestOutcomeComputedFromThePublishedCommitmentItself: dice follow from the server seed, which is shown at the end, and
// not from the commitment.
func TestOutcomeComputedFromThePublishedCommitmentItself(t *testing.T) {
	h := newHouse(t)
	id := h.readyCommitted().GetDuelId()
	for ply := range uint32(20) {
		if _, err := h.roll(id, ply); err != nil {
			t.Fatal(err)
		}
	}
	d := h.end(id)
	like := func(key string) (same int) {
		seed, err := rng.ParseServerSeed(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range d.GetRolls() {
			dice, err := game.Roll(seed, whiteSeed, blackSeed, uint64(r.GetPly()))
			if err != nil {
				t.Fatal(err)
			}
			if dice == (game.Dice{uint8(r.GetDice()[0]), uint8(r.GetDice()[1]), uint8(r.GetDice()[2])}) {
				same++
			}
		}
		return same
	}
	if like(d.GetServerSeed()) != 20 || like(d.GetCommitment()) > 4 || like(whiteSeed) > 4 {
		t.Errorf("%d plies are those of the server seed, %d of the commitment", like(d.GetServerSeed()), like(d.GetCommitment()))
	}
}

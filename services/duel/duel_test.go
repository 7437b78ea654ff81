package duel_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

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

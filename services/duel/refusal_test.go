package duel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

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

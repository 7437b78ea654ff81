package duel_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

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

package duel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/duel"
)

// watcher is somebody at the stream of a duel.
type watcher struct {
	t      testing.TB
	events chan *originalsv1.DuelEvent
	end    chan error
}

func watch(t testing.TB, s *duel.Service, id string, after *uint32) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	local := server.NewLocal(nil, nil)
	duel.Bind(local, s)
	stream, err := originalsv1.NewDuelServiceClient(local).WatchDuel(ctx, &originalsv1.WatchDuelRequest{DuelId: id, AfterEvent: after})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t, make(chan *originalsv1.DuelEvent, 1000), make(chan error, 1)}
	go func() {
		for {
			e, err := stream.Recv()
			if err != nil {
				w.end <- err
				close(w.events)
				return
			}
			w.events <- e
		}
	}()
	return w
}

const patience = 10 * time.Second

func (w *watcher) next() *originalsv1.DuelEvent {
	w.t.Helper()
	select {
	case e := <-w.events:
		return e
	case <-time.After(patience):
		w.t.Fatal("no event")
		return nil
	}
}

// await returns the first event of a kind that is awaited.
func (w *watcher) await(what string, is func(*originalsv1.DuelEvent) bool) *originalsv1.DuelEvent {
	w.t.Helper()
	for {
		e := w.next()
		if e == nil {
			w.t.Fatalf("the stream ended before %s", what)
		}
		if is(e) {
			return e
		}
	}
}

// rest reads to the end of the stream.
func (w *watcher) rest() (events []*originalsv1.DuelEvent, err error) {
	w.t.Helper()
	for e := range w.events {
		events = append(events, e)
	}
	return events, <-w.end
}

// TestJoinerMidRoundSeesAnIdleGame: the first event is the duel as it stands, rolls follow one by one, the end is the last.
func TestJoinerMidRoundSeesAnIdleGame(t *testing.T) {
	h := newHouse(t)
	id := h.readyCommitted().GetDuelId()
	for ply := range uint32(3) {
		if _, err := h.roll(id, ply); err != nil {
			t.Fatal(err)
		}
	}
	w := watch(t, h.Service, id, nil)
	first := w.next()
	if d := first.GetDuel(); len(d.GetRolls()) != 3 || d.GetState() != originalsv1.Duel_PLAYING || d.GetEventNumber() != first.GetEventNumber() || d.ServerSeed != nil {
		t.Fatalf("%v", first)
	}
	if first.GetDuel().GetWhite().PlayerId != nil {
		t.Error("a stream without a token names the players")
	}
	last := first.GetEventNumber()
	for ply := uint32(3); ply < 6; ply++ {
		roll, err := h.roll(id, ply)
		if err != nil {
			t.Fatal(err)
		}
		e := w.next()
		if last++; e.GetEventNumber() != last || !proto.Equal(e.GetRoll(), roll) {
			t.Errorf("%v, want %v with number %d", e, roll, last)
		}
	}
	end := h.end(id)
	events, err := w.rest()
	if !errors.Is(err, io.EOF) || len(events) != 1 || events[0].GetEventNumber() != last+1 || events[0].GetDuel().GetServerSeed() != end.GetServerSeed() {
		t.Errorf("%v, %v", events, err)
	}
}

// TestEventsAreTheSameInEveryProcess: two services on one store number alike, and each sees what the other did.
func TestEventsAreTheSameInEveryProcess(t *testing.T) {
	h := newHouse(t)
	other := h.service(h.store, nil)
	id := h.create(committed).GetDuelId()
	here, there := watch(t, h.Service, id, nil), watch(t, other, id, nil)
	h.commitBoth(id)
	h.must(h.seed(alice, id, "white", whiteSeed))
	h.must(h.seed(bob, id, "black", blackSeed))
	ready := func(e *originalsv1.DuelEvent) bool { return e.GetDuel().GetState() == originalsv1.Duel_READY }
	fixed := here.await("both seeds", ready)
	if e := there.await("both seeds", ready); e.GetEventNumber() != fixed.GetEventNumber() || !proto.Equal(e.GetDuel(), fixed.GetDuel()) {
		t.Errorf("%v and %v", fixed, e)
	}
	for ply := range uint32(20) {
		if _, err := h.roll(id, ply); err != nil {
			t.Fatal(err)
		}
	}
	h.end(id)
	a, _ := here.rest()
	b, _ := there.rest()
	if !slices.EqualFunc(a, b, func(x, y *originalsv1.DuelEvent) bool { return proto.Equal(x, y) }) || len(a) != 21 {
		t.Errorf("%d events here, %d there", len(a), len(b))
	}
	for i, e := range a[:20] {
		if e.GetRoll().GetPly() != uint32(i) || e.GetEventNumber() != fixed.GetEventNumber()+1+uint32(i) {
			t.Errorf("event %d is %v", i, e)
		}
	}
}

// TestWatcherComesAgain: he gets what he missed and no more, from any event on.
func TestWatcherComesAgain(t *testing.T) {
	h := newHouse(t)
	ready := h.readyCommitted()
	id, fixed := ready.GetDuelId(), ready.GetEventNumber()
	for ply := range uint32(4) {
		if _, err := h.roll(id, ply); err != nil {
			t.Fatal(err)
		}
	}
	for seen := range fixed + 6 {
		w := watch(t, h.Service, id, &seen)
		if seen >= fixed && seen <= fixed+4 {
			for ply := seen - fixed; ply < 4; ply++ {
				if e := w.next(); e.GetRoll().GetPly() != ply || e.GetRoll() == nil || e.GetEventNumber() != fixed+1+ply {
					t.Errorf("after %d: %v, want ply %d", seen, e, ply)
				}
			}
			select {
			case e := <-w.events:
				t.Errorf("after %d: one event too many: %v", seen, e)
			case <-time.After(20 * time.Millisecond):
			}
			continue
		}
		if e := w.next(); len(e.GetDuel().GetRolls()) != 4 { // too long ago, or a number that never was
			t.Errorf("after %d: %v", seen, e)
		}
	}
	end := h.end(id)
	for seen := fixed; seen < end.GetEventNumber()+2; seen++ { // the end is told even to who has seen it: a stream without it was cut off
		events, err := watch(t, h.Service, id, &seen).rest()
		if !errors.Is(err, io.EOF) || len(events) == 0 || events[len(events)-1].GetDuel().GetServerSeed() == "" {
			t.Errorf("after %d: %v, %v", seen, events, err)
		}
	}
}

// TestWatcherSeesWhatTimeDoes: nobody calls, and the duel is forfeited.
func TestWatcherSeesWhatTimeDoes(t *testing.T) {
	h := newHouse(t)
	id := h.create(committed).GetDuelId()
	h.commitBoth(id)
	w := watch(t, h.Service, id, nil)
	w.next()
	h.pass(5 * time.Second)
	events, err := w.rest()
	if len(events) != 1 || !errors.Is(err, io.EOF) || fmt.Sprint(events[0].GetDuel().GetForfeitedBy()) != "[white black]" || events[0].GetDuel().ServerSeed == nil {
		t.Errorf("%v, %v", events, err)
	}
}

// TestWatchingIsNotPresence: only the seats' own calls start the grace period.
func TestWatchingIsNotPresence(t *testing.T) {
	h := newHouse(t)
	id := h.create(committed).GetDuelId()
	watch(t, h.Service, id, nil).next()
	if d := h.get(chess, id); d.GetWhite().GetPresent() || d.GetBlack().GetPresent() || d.GetEventNumber() != 1 {
		t.Errorf("%v", d)
	}
}

func TestWatchOfNothing(t *testing.T) {
	h := newHouse(t)
	for _, id := range []string{"", "x", "00-aaaaaaaaaaaaaaaa"} {
		if _, err := watch(t, h.Service, id, nil).rest(); reason.Of(err) != reason.DuelNotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestStreamsEndWithTheProcess(t *testing.T) {
	h := newHouse(t)
	stop := make(chan struct{})
	s := h.service(h.store, stop)
	w := watch(t, s, h.create(committed).GetDuelId(), nil)
	w.next()
	close(stop)
	if _, err := w.rest(); status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
}

// TestAStepOfAnotherProcessIsToldAtOnce: by a notice, long before the poll, which is a minute here.
func TestAStepOfAnotherProcessIsToldAtOnce(t *testing.T) {
	h := newHouse(t)
	notices := h.store.Notices()
	t.Cleanup(func() { _ = notices.Close() })
	other := duel.New(duel.Options{Store: h.store, Keys: h.keys, Log: zap.NewNop(), Notices: notices, PollInterval: time.Minute})
	listening, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		other.Listen(listening)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	id := h.readyCommitted().GetDuelId()
	w := watch(t, other, id, nil)
	w.next()
	for len(h.redis.PubSubChannels("*")) == 0 { // the subscription takes effect after its call
		time.Sleep(time.Millisecond)
	}
	for ply := range uint32(3) {
		roll, err := h.roll(id, ply)
		if err != nil {
			t.Fatal(err)
		}
		if e := w.next(); !proto.Equal(e.GetRoll(), roll) {
			t.Errorf("%v, want %v", e, roll)
		}
	}
	h.end(id)
	if events, err := w.rest(); !errors.Is(err, io.EOF) || len(events) != 1 {
		t.Errorf("%v, %v", events, err)
	}
	for deadline := time.Now().Add(patience); len(h.redis.PubSubChannels("*")) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a duel is followed that nobody watches")
		}
	}
}

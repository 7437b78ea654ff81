package gateway

import (
	"fmt"
	"strings"
	"testing"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestMemoryOfAFeedIsBounded: who has missed more than it keeps gets the duel.
func TestMemoryOfAFeedIsBounded(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	v := s.view("00-x")
	v.want("event: duel|")
	for i := range uint32(feedMemory + 5) {
		s.fake.events <- rollEvent(2+i, i)
		v.want("event: roll|")
	}
	s.h.mu.Lock()
	f := s.h.feeds["00-x"]
	s.h.mu.Unlock()
	f.mu.Lock()
	if len(f.recent) > feedMemory {
		t.Errorf("%d events are kept", len(f.recent))
	}
	f.mu.Unlock()
	s.view("00-x", "Last-Event-ID", "2").want("event: duel|id: ")
}

// TestSlowWatcherIsDroppedWithAReason, and the others see everything.
func TestSlowWatcherIsDroppedWithAReason(t *testing.T) {
	codec, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed("00-x", codec, func() {})
	if err := f.take(duelEvent(1, originalsv1.Duel_READY)); err != nil {
		t.Fatal(err)
	}
	slow, err := f.join(nil)
	if err != nil {
		t.Fatal(err)
	}
	quick, err := f.join(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(placeRoom + 10) {
		if err := f.take(rollEvent(2+i, i)); err != nil {
			t.Fatal(err)
		}
		if frame := string(<-quick.frames); !strings.Contains(frame, fmt.Sprintf("id: %d\n", 2+i)) {
			t.Errorf("%q", frame)
		}
	}
	got := 0
	for range slow.frames {
		got++
	}
	if got != placeRoom || string(slow.last) != "event: dropped\ndata: {\"reason\":\"SLOW\"}\n\n" || len(f.places) != 1 {
		t.Errorf("%d frames, then %q; %d places", got, slow.last, len(f.places))
	}
	f.quit(slow)
	f.quit(quick)
	if len(f.places) != 0 {
		t.Errorf("%d places are left", len(f.places))
	}
}

func BenchmarkTellAThousandWatchers(b *testing.B) {
	codec, err := newCodec()
	if err != nil {
		b.Fatal(err)
	}
	f := newFeed("00-x", codec, func() {})
	_ = f.take(duelEvent(1, originalsv1.Duel_READY))
	var all []*place
	for range 1000 {
		p, _ := f.join(nil)
		all = append(all, p)
	}
	for n := uint32(0); b.Loop(); n++ {
		f.duel.Rolls = nil
		_ = f.take(rollEvent(2+n, n))
		for _, p := range all {
			<-p.frames
		}
	}
}

// Numbers that do not go on hide events: who has one from before the gap gets the
// duel.
func TestAGapInTheEventsOfADuel(t *testing.T) {
	codec, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed("00-x", codec, func() {})
	for _, e := range []*originalsv1.DuelEvent{duelEvent(1, originalsv1.Duel_READY), rollEvent(2, 0), rollEvent(5, 3)} {
		if err := f.take(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, after := range []uint32{2, 3} {
		if p, err := f.join(&after); err != nil || len(p.first) != 1 || !strings.HasPrefix(string(p.first[0]), "event: duel\nid: 5\n") {
			t.Errorf("after %d: %q, %v", after, p.first, err)
		}
	}
}

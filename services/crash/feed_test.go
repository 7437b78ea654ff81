package crash

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// stage is a service without a store, whose one feed the test tells what to tell.
func stage(t *testing.T, stop chan struct{}) (*Service, *feed) {
	t.Helper()
	s := New(Options{Growth: growth, Tables: []Table{{Name: "main", Chain: newChain(t), Timings: quick}}, Stop: stop})
	f := newFeed(s.tables["main"], func() {})
	f.view.Apply(&originalsv1.CrashEvent{Event: 1, Body: &originalsv1.CrashEvent_Snapshot{Snapshot: &originalsv1.CrashTable{}}}, time.Now())
	close(f.begun)
	s.tables["main"].feed = f
	return s, f
}

func tickEvent(n int64) *originalsv1.CrashEvent {
	return &originalsv1.CrashEvent{Event: n, Body: &originalsv1.CrashEvent_Tick_{Tick: &originalsv1.CrashEvent_Tick{}}}
}

// A slow watcher is dropped with a reason, and never waited for.
func TestASlowWatcherIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := stage(t, nil)
		quick, slow := s.view(t, 10_000, &originalsv1.WatchRequest{}), s.view(t, 0, &originalsv1.WatchRequest{})
		late := s.view(t, 10, &originalsv1.WatchRequest{})
		synctest.Wait()
		for n := range int64(placeRoom + 20) {
			f.tell(tickEvent(n + 2))
			if n%50 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		if n := len(quick.events); n != placeRoom+21 {
			t.Errorf("the quick one has %d events", n)
		}
		// The late one reads what he was sent, and is told.
		last := late.next()
		for last.GetDropped() == nil {
			last = late.next()
		}
		if last.GetDropped().GetReason() != "SLOW" || last.GetEvent() != 0 {
			t.Errorf("dropped as %v", last)
		}
		if err := <-late.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		// The slow one takes nothing, and is cut off.
		begin := time.Now()
		if err := <-slow.ended; reason.Of(err) != reason.RateLimited || time.Since(begin) != dropPatience {
			t.Errorf("cut off after %v with %v", time.Since(begin), err)
		}
		quick.leave()
		slow.leave()
	})
}

func TestAJoinerSeesTheBetsOfTheRound(t *testing.T) {
	s, f := stage(t, nil)
	f.tell(&originalsv1.CrashEvent{Event: 2, Body: &originalsv1.CrashEvent_Bets_{Bets: &originalsv1.CrashEvent_Bets{Count: 7}}})
	v := s.view(t, 10, &originalsv1.WatchRequest{})
	if e := v.next(); e.GetSnapshot() == nil || e.GetEvent() != 2 {
		t.Errorf("first %v", e)
	}
	if e := v.next(); e.GetBets().GetCount() != 7 || e.GetEvent() != 0 {
		t.Errorf("then %v", e)
	}
	f.tell(tickEvent(3))
	if e := v.next(); e.GetTick() == nil || e.GetEvent() != 3 {
		t.Errorf("last %v", e)
	}
}

func TestHeartbeatInSilenceAndTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		s, f := stage(t, stop)
		v := s.view(t, 10, &originalsv1.WatchRequest{})
		v.next()
		begin := time.Now()
		for range 2 {
			if e := v.next(); !e.GetHeartbeat() || e.GetEvent() != 0 {
				t.Errorf("in silence: %v", e)
			}
		}
		if took := time.Since(begin); took != 2*heartbeatInterval {
			t.Errorf("two heartbeats in %v", took)
		}
		time.Sleep(heartbeatInterval - 1)
		f.tell(tickEvent(2))
		v.next()
		time.Sleep(heartbeatInterval - 1)
		synctest.Wait()
		if len(v.events) > 0 {
			t.Errorf("a heartbeat after an event: %v", v.next())
		}
		close(stop)
		if e := v.next(); e.GetDropped().GetReason() != "SHUTDOWN" {
			t.Errorf("at the end: %v", e)
		}
		if err := <-v.ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

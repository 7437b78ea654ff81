package crash

import (
	"cmp"
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// viewer is the far end of one Watch.
type viewer struct {
	grpc.ServerStream
	t      testing.TB
	ctx    context.Context
	leave  context.CancelFunc
	events chan *originalsv1.CrashEvent
	ended  chan error
}

func (v *viewer) Context() context.Context { return v.ctx }

func (v *viewer) Send(e *originalsv1.CrashEvent) error {
	select {
	case v.events <- e:
		return nil
	case <-v.ctx.Done():
		return v.ctx.Err()
	}
}

// view watches a table. room is how much is taken before anybody looks.
func (s *Service) view(t testing.TB, room int, req *originalsv1.WatchRequest) *viewer {
	t.Helper()
	v := &viewer{t: t, events: make(chan *originalsv1.CrashEvent, room), ended: make(chan error, 1)}
	v.ctx, v.leave = context.WithCancel(context.Background())
	t.Cleanup(v.leave)
	req.Table = "main"
	go func() { v.ended <- s.Watch(req, v) }()
	return v
}

func (v *viewer) next() *originalsv1.CrashEvent {
	v.t.Helper()
	select {
	case e := <-v.events:
		return e
	default:
	}
	select {
	case e := <-v.events:
		return e
	case err := <-v.ended:
		v.ended <- err
		if len(v.events) > 0 {
			return <-v.events
		}
		v.t.Fatalf("the stream ended: %v", err)
	case <-time.After(20 * time.Second):
		v.t.Fatal("no event")
	}
	return nil
}

// until returns the first event that is so, and how many were before it. Numbers
// must go on without a gap, but at snapshots.
func (v *viewer) until(so func(*originalsv1.CrashEvent) bool) (*originalsv1.CrashEvent, int) {
	v.t.Helper()
	last, begin := int64(0), time.Now()
	for n := 0; ; n++ {
		e := v.next()
		if e.GetHeartbeat() || len(v.events) == 0 && time.Since(begin) > 60*time.Second {
			v.t.Fatalf("not among %d events", n)
		}
		if e.GetSnapshot() == nil && e.GetEvent() != 0 && last != 0 && e.GetEvent() != last+1 {
			v.t.Fatalf("event %d follows %d", e.GetEvent(), last)
		}
		last = cmp.Or(e.GetEvent(), last)
		if so(e) {
			return e, n
		}
	}
}

// checkPhases wants every phase and crash of rounds 2 to last once, in their
// order, whoever died between a step and the next. The first round may begin in
// the snapshot.
func (v *viewer) checkPhases(last uint32) {
	v.t.Helper()
	phases := make(map[uint32]string)
	v.until(func(e *originalsv1.CrashEvent) bool {
		if c := e.GetCrash(); c != nil {
			phases[c.GetNumber()] += "crash "
		}
		if p := e.GetPhase(); p != nil {
			phases[p.GetNumber()] += p.GetPhase().String() + " "
		}
		return e.GetPhase().GetNumber() == last && e.GetPhase().GetPhase() == originalsv1.CrashTable_CRASHED
	})
	for n := uint32(2); n <= last; n++ {
		if phases[n] != "BETTING CLOSING RUNNING crash CRASHED " {
			v.t.Errorf("round %d was shown as %q", n, phases[n])
		}
	}
}

func isCrash(e *originalsv1.CrashEvent) bool { return e.GetCrash() != nil }

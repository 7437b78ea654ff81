package crash

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// DefaultMaxWatchers is how many watch in one process at once where Options
// does not say it.
const DefaultMaxWatchers = 20_000

const (
	heartbeatInterval = 15 * time.Second // of silence
	dropPatience      = 5 * time.Second  // for a watcher who is told that he is dropped
)

var (
	errTooManyWatch = reason.New(reason.RateLimited, "too many watch at once; try again later")
	errSlowWatcher  = reason.New(reason.RateLimited, "the watcher was too slow; come again with the last event")
)

// Why a watcher is dropped.
const (
	droppedSlow     = "SLOW"
	droppedShutdown = "SHUTDOWN"
)

// Watch sends a snapshot, unless the watcher has an event already that is still
// kept, and then every event of the table. All who watch a table share one
// reader of the store.
func (s *Service) Watch(req *originalsv1.WatchRequest, stream grpc.ServerStreamingServer[originalsv1.CrashEvent]) error {
	t, err := s.table(req.GetTable())
	if err != nil {
		return err
	}
	f := s.enter(t)
	if f == nil {
		return errTooManyWatch
	}
	defer s.leave(f)
	ctx := stream.Context()
	select {
	case <-f.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.err != nil {
		return f.err
	}
	p := f.join(req.GetAfterEvent(), req.GetHistory())
	defer f.quit(p)
	return s.send(stream, p)
}

// enter returns the feed of a table, and begins it for the first watcher; nil
// when there are too many.
func (s *Service) enter(t *table) *feed {
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	if s.watchers >= cmp.Or(s.o.MaxWatchers, DefaultMaxWatchers) {
		return nil
	}
	s.watchers++
	s.o.Watch.watch(t.name(), 1)
	if t.feed == nil {
		ctx, cancel := context.WithCancel(context.Background())
		t.feed = newFeed(t, cancel)
		go t.feed.run(ctx)
	}
	t.feed.users++
	return t.feed
}

// leave ends a feed with its last watcher. One that never began is replaced by
// the next who enters.
func (s *Service) leave(f *feed) {
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	s.watchers--
	s.o.Watch.watch(f.t.name(), -1)
	f.users--
	if f.t.feed == f && (f.users == 0 || f.failed()) {
		f.t.feed = nil
	}
	if f.users == 0 {
		f.cancel()
	}
}

// failed reports whether a feed never began.
func (f *feed) failed() bool {
	select {
	case <-f.begun:
		return f.err != nil
	default:
		return false
	}
}

// send sends events until the watcher goes or is dropped. One who does not even
// take that he is dropped is cut off.
func (s *Service) send(stream grpc.ServerStreamingServer[originalsv1.CrashEvent], p *place) error {
	ended := make(chan error, 1)
	go func() { ended <- s.sendAll(stream, p) }()
	select {
	case err := <-ended:
		return err
	case <-p.slow:
		s.o.Watch.drop(droppedSlow)
	case <-s.o.Stop:
		s.o.Watch.drop(droppedShutdown)
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(dropPatience):
		return errSlowWatcher
	}
}

func (s *Service) sendAll(stream grpc.ServerStreamingServer[originalsv1.CrashEvent], p *place) error {
	for _, m := range p.first {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	beat := time.NewTicker(heartbeatInterval)
	defer beat.Stop()
	for {
		m := heartbeat
		select {
		case event, open := <-p.events:
			if !open {
				return stream.Send(dropped(droppedSlow))
			}
			m = event
			beat.Reset(heartbeatInterval)
		case <-beat.C:
		case <-s.o.Stop:
			return stream.Send(dropped(droppedShutdown))
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
		if err := stream.Send(m); err != nil {
			return err
		}
	}
}

var heartbeat = &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Heartbeat{Heartbeat: true}}

func dropped(why string) *originalsv1.CrashEvent {
	return &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Dropped_{Dropped: &originalsv1.CrashEvent_Dropped{Reason: why}}}
}

package crash

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

var errStopping = status.Error(codes.Unavailable, "the process is ending")

// Watch sends a snapshot, unless the watcher has an event already that is still
// kept, and then every event of the table.
func (s *Service) Watch(req *originalsv1.WatchRequest, stream grpc.ServerStreamingServer[originalsv1.CrashEvent]) error {
	defer s.watchers.Add(-1)
	if s.watchers.Add(1) > maxWatchers {
		return reason.New(reason.RateLimited, "too many watch at once; try again later")
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	if s.o.Stop != nil {
		go func() {
			select {
			case <-s.o.Stop:
				cancel(errStopping)
			case <-ctx.Done():
			}
		}()
	}
	snapshot, err := s.Snapshot(ctx, req.GetTable())
	if err != nil {
		return err
	}
	after := snapshot.GetEvent()
	if seen := req.GetAfterEvent(); seen > 0 && seen <= after && after-seen < keptEvents {
		after = seen
	} else if err := stream.Send(snapshot); err != nil {
		return err
	}
	err = s.Events(ctx, req.GetTable(), uint64(after), func(e *originalsv1.CrashEvent) error { return stream.Send(e) })
	if cause := context.Cause(ctx); errors.Is(cause, errStopping) {
		return errStopping
	}
	return err
}

// maxWatchers bounds the streams of one process. Each waits on a connection to
// the store of its own, and bets need some of those.
const maxWatchers = 8

// keptEvents is how many events a watcher may be behind and still go on without
// a snapshot. The store keeps a few more.
const keptEvents = 900

package gateway

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Bounds of watching.
const (
	maxWatchers    = 10_000           // at once, of all duels
	watchHeartbeat = 15 * time.Second // of silence, then a comment
	watchPace      = 10 * time.Second // for a watcher to take what is written
)

// watch serves duels as Server-Sent Events. All who watch a duel share one call
// of the service, and each event is encoded once.
//
// The events are duel (the duel as it stands), roll and end (the last one, the
// evidence); and, from the gateway itself and without a number, dropped, with
// the reason SLOW, SHUTDOWN or UPSTREAM, after which the watcher is to come
// again with Last-Event-ID, as EventSource does by itself.
type watch struct {
	mux   *runtime.ServeMux
	codec codec
	duels originalsv1.DuelServiceClient
	stop  <-chan struct{}

	heartbeat time.Duration
	limit     int

	mu       sync.Mutex
	watchers int
	feeds    map[string]*feed // by duel id
}

func newWatch(mux *runtime.ServeMux, codec codec, duels originalsv1.DuelServiceClient, stop <-chan struct{}) *watch {
	return &watch{
		mux: mux, codec: codec, duels: duels, stop: stop,
		heartbeat: watchHeartbeat, limit: maxWatchers, feeds: make(map[string]*feed),
	}
}

const lastEventID = "Last-Event-Id"

func (h *watch) serve(w http.ResponseWriter, r *http.Request, path map[string]string) {
	after, problem := afterEvent(r)
	if problem != nil {
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	f := h.enter(path["duel_id"])
	if f == nil {
		full := reason.New(reason.RateLimited, "too many watch at once; try again later")
		refuse(w, runtime.HTTPStatusFromCode(full.Reason.Code()), full)
		return
	}
	defer h.leave(f)
	ctx, cancel := context.WithTimeout(r.Context(), watchPace)
	defer cancel()
	select {
	case <-f.begun:
	case <-ctx.Done():
		runtime.HTTPError(r.Context(), h.mux, h.codec, w, r, status.FromContextError(ctx.Err()).Err())
		return
	}
	place, err := f.join(after)
	if err != nil {
		runtime.HTTPError(r.Context(), h.mux, h.codec, w, r, err)
		return
	}
	defer f.quit(place)
	h.stream(w, r, place)
}

// afterEvent reads the newest event that a returning watcher has.
func afterEvent(r *http.Request) (*uint32, *reason.Error) {
	given := r.Header[lastEventID]
	if len(given) == 0 {
		return nil, nil
	}
	n, err := strconv.ParseUint(given[0], 10, 32)
	if err != nil || len(given) > 1 || strconv.FormatUint(n, 10) != given[0] {
		return nil, reason.Field("Last-Event-ID", "must be the number of an event")
	}
	number := uint32(n)
	return &number, nil
}

// enter returns the feed of a duel, and begins it for the first watcher; nil
// when there are too many.
func (h *watch) enter(duelID string) *feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers >= h.limit {
		return nil
	}
	h.watchers++
	f := h.feeds[duelID]
	if f == nil || f.over() {
		ctx, cancel := context.WithCancel(context.Background())
		f = newFeed(duelID, h.codec, cancel)
		h.feeds[duelID] = f
		go f.run(ctx, h.duels)
	}
	f.users++
	return f
}

// leave ends a feed with its last watcher. One that failed or came to its end is
// replaced by the next who enters.
func (h *watch) leave(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers--
	f.users--
	if (f.users == 0 || f.over()) && h.feeds[f.duelID] == f {
		delete(h.feeds, f.duelID)
	}
	if f.users == 0 {
		f.cancel()
	}
}

// stream writes frames to one watcher until the feed ends or he goes.
func (h *watch) stream(w http.ResponseWriter, r *http.Request, p *place) {
	to, there := newEvents(w, watchPace)
	if !there {
		return
	}
	beat := time.NewTicker(h.heartbeat)
	defer beat.Stop()
	for _, frame := range p.first {
		if !to.write(frame) {
			return
		}
	}
	for {
		select {
		case frame, open := <-p.frames:
			if !open {
				to.write(h.last(p))
				return
			}
			if !to.write(frame) {
				return
			}
			beat.Reset(h.heartbeat)
		case <-beat.C:
			if !to.write(heartbeatFrame) {
				return
			}
		case <-h.stop:
			to.write(droppedFrame(droppedShutdown))
			return
		case <-r.Context().Done():
			return
		}
	}
}

// last returns the last frame of a closed place. When the process ends, the duels
// of the same process end with it: it is the process that watchers are told of.
func (h *watch) last(p *place) []byte {
	select {
	case <-h.stop:
		if len(p.last) > 0 {
			return droppedFrame(droppedShutdown)
		}
	default:
	}
	return p.last
}

package gateway

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const settlementStreamPath = "/v1/wallet/settlements:stream"

// Bounds of streaming settlements.
const (
	maxSettlementStreams = 1000
	settlementRoom       = 64               // events that are read ahead of a reader
	settlementWrite      = 32 << 10         // bytes of events that are written at once, if so many wait
	settlementSlow       = 10 * time.Second // for one write: then the reader is told that he is dropped
	settlementPace       = 2 * settlementSlow
)

// settlementStream serves the settlements of a wallet's operator as Server-Sent
// Events: settlement, whose id is the cursor after it; a comment in silence; and,
// without an id, dropped, with the reason SLOW, SHUTDOWN or UPSTREAM, after which
// the reader is to come again with his last cursor. Each reader has a call of the
// service to himself, which waits while he does.
type settlementStream struct {
	mux     *runtime.ServeMux
	codec   codec
	wallets originalsv1.SettlementServiceClient
	stop    <-chan struct{}
	slow    time.Duration
	readers atomic.Int64
	limit   int64
}

func newSettlementStream(mux *runtime.ServeMux, codec codec, wallets originalsv1.SettlementServiceClient, stop <-chan struct{}) *settlementStream {
	return &settlementStream{mux: mux, codec: codec, wallets: wallets, stop: stop, slow: settlementSlow, limit: maxSettlementStreams}
}

func (h *settlementStream) serve(w http.ResponseWriter, r *http.Request, _ map[string]string) {
	defer h.readers.Add(-1)
	if h.readers.Add(1) > h.limit {
		full := reason.New(reason.RateLimited, "too many streams at once; try again later")
		refuse(w, runtime.HTTPStatusFromCode(full.Reason.Code()), full)
		return
	}
	cursor, problem := givenCursor(r)
	if problem != nil {
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	upstream, err := h.wallets.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{Cursor: cursor})
	if err == nil {
		_, err = upstream.Recv() // that the caller is let in
	}
	if err != nil {
		runtime.HTTPError(r.Context(), h.mux, h.codec, w, r, err)
		return
	}
	to, there := newEvents(w, settlementPace)
	if !there {
		return
	}
	frames := make(chan []byte, settlementRoom)
	go h.read(ctx, upstream, frames)
	h.write(ctx, to, frames)
}

// givenCursor returns where to begin. A client that comes again by itself sends
// the id of its last event, and the address of its first request.
func givenCursor(r *http.Request) (string, *reason.Error) {
	given := r.Header[lastEventID]
	switch {
	case r.URL.Query().Has("batch"):
		return "", reason.Field("batch", "is for gRPC: events come one by one")
	case len(given) > 1:
		return "", reason.Field("Last-Event-ID", "stands there twice")
	case len(given) == 1:
		return given[0], nil
	}
	return r.URL.Query().Get("cursor"), nil
}

// read makes frames of what the service sends, until ctx is done. It closes
// frames when nothing more comes.
func (h *settlementStream) read(ctx context.Context, upstream interface {
	Recv() (*originalsv1.StreamSettlementsResponse, error)
}, frames chan<- []byte) {
	defer close(frames)
	for {
		m, err := upstream.Recv()
		if err != nil {
			return
		}
		frame, err := h.frame(m)
		if err != nil {
			return
		}
		select {
		case frames <- frame:
		case <-ctx.Done():
			return
		}
	}
}

func (h *settlementStream) frame(m *originalsv1.StreamSettlementsResponse) ([]byte, error) {
	if m.GetSettlement() == nil {
		return heartbeatFrame, nil
	}
	frame := make([]byte, 0, answerSize)
	frame = append(frame, "event: settlement\nid: "...)
	frame = append(frame, m.GetCursor()...)
	frame = append(frame, "\ndata: "...)
	frame, err := h.codec.encoder.Append(frame, m.GetSettlement())
	return append(frame, '\n', '\n'), err
}

// write gives frames to the reader, those that wait together in one write.
func (h *settlementStream) write(ctx context.Context, to *events, frames <-chan []byte) {
	buffer := make([]byte, 0, settlementWrite+answerSize)
	for {
		select {
		case frame, open := <-frames:
			if !open {
				to.write(droppedFrame(droppedUpstream))
				return
			}
			buffer = append(buffer[:0], frame...)
		case <-h.stop:
			to.write(droppedFrame(droppedShutdown))
			return
		case <-ctx.Done():
			return
		}
		buffer = gather(buffer, frames)
		begin := time.Now()
		if !to.write(buffer) {
			return
		}
		if time.Since(begin) > h.slow {
			to.write(droppedFrame(droppedSlow))
			return
		}
	}
}

// gather appends the frames that wait, up to the size of one write.
func gather(buffer []byte, frames <-chan []byte) []byte {
	for len(buffer) < settlementWrite {
		select {
		case frame, open := <-frames:
			if !open {
				return buffer // and so the next receive says again
			}
			buffer = append(buffer, frame...)
		default:
			return buffer
		}
	}
	return buffer
}

package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// feedFake is the settlement service as a stream's reader meets it: it lets him
// in, or refuses with err, sends messages, and ends, or holds on if it is to.
type feedFake struct {
	originalsv1.SettlementServiceClient
	messages []*originalsv1.StreamSettlementsResponse
	err      error
	hold     bool

	mu      sync.Mutex
	cursors []string
}

func (f *feedFake) StreamSettlements(ctx context.Context, r *originalsv1.StreamSettlementsRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[originalsv1.StreamSettlementsResponse], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cursors = append(f.cursors, r.GetCursor())
	return &feedCall{ctx: ctx, fake: f, left: append([]*originalsv1.StreamSettlementsResponse{{}}, f.messages...)}, nil
}

type feedCall struct {
	grpc.ClientStream
	ctx  context.Context
	fake *feedFake
	left []*originalsv1.StreamSettlementsResponse
}

func (c *feedCall) Recv() (*originalsv1.StreamSettlementsResponse, error) {
	if c.fake.err != nil {
		return nil, c.fake.err
	}
	if len(c.left) > 0 {
		m := c.left[0]
		c.left = c.left[1:]
		return m, nil
	}
	if c.fake.hold {
		<-c.ctx.Done()
	}
	return nil, io.EOF
}

func settled(cursor string) *originalsv1.StreamSettlementsResponse {
	return &originalsv1.StreamSettlementsResponse{Cursor: cursor, Settlement: &originalsv1.Settlement{}}
}

func streamOf(t *testing.T, f *feedFake, stop <-chan struct{}) *settlementStream {
	t.Helper()
	encoding, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	return newSettlementStream(runtime.NewServeMux(runtime.WithErrorHandler(failures{log: zap.NewNop()}.call)), encoding, f, stop)
}

// readStream serves one request to its end; headers are name, value.
func readStream(h *settlementStream, query string, headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, settlementStreamPath+query, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	h.serve(w, r, nil)
	return w
}

func wantDropped(t *testing.T, body, why string) {
	t.Helper()
	if want := "event: dropped\ndata: {\"reason\":\"" + why + "\"}\n\n"; !strings.HasSuffix(body, want) {
		t.Errorf("the stream ends %q, want %q", body, want)
	}
}

// Each settlement has the cursor after it as id, silence is a comment, and a
// stream that the service ends is dropped as UPSTREAM, without an id.
func TestSettlementStreamFramesAndUpstream(t *testing.T) {
	f := &feedFake{messages: []*originalsv1.StreamSettlementsResponse{settled("c1"), {}, settled("c2")}}
	body := readStream(streamOf(t, f, nil), "").Body.String()
	wantDropped(t, body, "UPSTREAM")
	first, beat, second := strings.Index(body, "event: settlement\nid: c1\ndata: {"), strings.Index(body, ": heartbeat\n\n"), strings.Index(body, "event: settlement\nid: c2\ndata: {")
	if first != 0 || beat < first || second < beat {
		t.Errorf("events at %d, %d, %d of %q", first, beat, second, body)
	}
	if n := strings.Count(body, "id: "); n != 2 {
		t.Errorf("%d ids, want 2", n)
	}
}

// A client that comes again sends the address of its first request: the id of
// its last event counts.
func TestSettlementStreamLastEventIDGoesBeforeCursor(t *testing.T) {
	f := &feedFake{}
	h := streamOf(t, f, nil)
	readStream(h, "?cursor=old")
	readStream(h, "?cursor=old", "Last-Event-ID", "new")
	readStream(h, "")
	if got := strings.Join(f.cursors, ","); got != "old,new," {
		t.Errorf("cursors %q", got)
	}
	if w := readStream(h, "?batch=5"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"batch"`) || len(f.cursors) != 3 {
		t.Errorf("a batch: status %d, %s", w.Code, w.Body)
	}
	if w := readStream(h, "", "Last-Event-ID", "a", "Last-Event-ID", "b"); w.Code != http.StatusBadRequest || len(f.cursors) != 3 {
		t.Errorf("two ids: status %d, %d calls", w.Code, len(f.cursors))
	}
}

// A refusal of the service is an HTTP error and no stream that ends.
func TestSettlementStreamRefusedByTheService(t *testing.T) {
	for why, want := range map[reason.Reason]int{reason.TokenInvalid: 401, reason.RoleRequired: 403, reason.InvalidField: 400} {
		w := readStream(streamOf(t, &feedFake{err: reason.New(why, "no")}, nil), "?cursor=foreign")
		if w.Code != want || w.Header().Get("Content-Type") == "text/event-stream" || !strings.Contains(w.Body.String(), string(why)) {
			t.Errorf("%s: status %d, %v, %s", why, w.Code, w.Header(), w.Body)
		}
	}
}

func TestSettlementStreamLimit(t *testing.T) {
	f := &feedFake{}
	h := streamOf(t, f, nil)
	h.limit = 1
	h.readers.Store(1)
	if w := readStream(h, ""); w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "RATE_LIMITED") || len(f.cursors) != 0 {
		t.Errorf("one too many: status %d, %s, %d calls", w.Code, w.Body, len(f.cursors))
	}
	h.readers.Store(0)
	for range 3 { // each gives its place back
		if w := readStream(h, ""); w.Code != http.StatusOK {
			t.Errorf("status %d", w.Code)
		}
	}
}

func TestSettlementStreamShutdown(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	wantDropped(t, readStream(streamOf(t, &feedFake{hold: true}, stop), "").Body.String(), "SHUTDOWN")
}

// slowWriter takes its time for every settlement.
type slowWriter struct {
	*httptest.ResponseRecorder
}

func (w slowWriter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("settlement")) {
		time.Sleep(5 * time.Millisecond)
	}
	return w.ResponseRecorder.Write(b)
}

func TestSettlementStreamSlow(t *testing.T) {
	h := streamOf(t, &feedFake{messages: []*originalsv1.StreamSettlementsResponse{settled("c1")}, hold: true}, nil)
	h.slow = time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	w := slowWriter{httptest.NewRecorder()}
	h.serve(w, httptest.NewRequest(http.MethodGet, settlementStreamPath, nil).WithContext(ctx), nil)
	body := w.Body.String()
	wantDropped(t, body, "SLOW")
	if !strings.Contains(body, "id: c1\n") {
		t.Errorf("the event of the slow write is missing: %q", body)
	}
}

package gateway

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// duelFake streams what the test gives it to whoever watches.
type duelFake struct {
	originalsv1.UnimplementedDuelServiceServer
	events chan *originalsv1.DuelEvent // closed at the end of the stream
	err    error                       // of the stream

	mu    sync.Mutex
	calls []*originalsv1.WatchDuelRequest
}

// WatchDuel notes the call and streams the events.
func (f *duelFake) WatchDuel(req *originalsv1.WatchDuelRequest, stream grpc.ServerStreamingServer[originalsv1.DuelEvent]) error {
	f.mu.Lock()
	f.calls = append(f.calls, req)
	f.mu.Unlock()
	for {
		select {
		case e, open := <-f.events:
			if !open {
				return f.err
			}
			if err := stream.Send(e); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (f *duelFake) called() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

func duelEvent(number uint32, state originalsv1.Duel_State) *originalsv1.DuelEvent {
	return &originalsv1.DuelEvent{EventNumber: number, Event: &originalsv1.DuelEvent_Duel{Duel: &originalsv1.Duel{
		Format: "originals-duel-v1", DuelId: "00-x", State: state, EventNumber: number, White: &originalsv1.DuelSeat{}, Black: &originalsv1.DuelSeat{},
	}}}
}

func rollEvent(number, ply uint32) *originalsv1.DuelEvent {
	return &originalsv1.DuelEvent{EventNumber: number, Event: &originalsv1.DuelEvent_Roll{Roll: &originalsv1.DuelRoll{Ply: ply, Dice: []uint32{1, 2, 3}}}}
}

// stage is a watch before a fake service.
type stage struct {
	t    *testing.T
	fake *duelFake
	h    *watch
	url  string
	stop chan struct{}
}

func newStage(t *testing.T, change func(*watch)) *stage {
	t.Helper()
	s := &stage{t: t, fake: &duelFake{events: make(chan *originalsv1.DuelEvent, 1000)}, stop: make(chan struct{})}
	local := server.NewLocal(nil, nil)
	originalsv1.RegisterDuelServiceServer(local, s.fake)
	encoding, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	mux := runtime.NewServeMux(runtime.WithErrorHandler(failures{log: nil}.call))
	s.h = newWatch(mux, encoding, originalsv1.NewDuelServiceClient(local), s.stop)
	if change != nil {
		change(s.h)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.h.serve(w, r, map[string]string{"duel_id": r.URL.Path[1:]})
	}))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	s.url = front.URL
	return s
}

// viewer reads frames, each without the empty line that ends it.
type viewer struct {
	t      *testing.T
	header http.Header
	status int
	frames chan string
	leave  context.CancelFunc
}

func (s *stage) view(path string, headers ...string) *viewer {
	s.t.Helper()
	return view(s.t, s.url+"/"+path, headers...)
}

// view watches what an address sends.
func view(t *testing.T, url string, headers ...string) *viewer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	v := &viewer{t, response.Header, response.StatusCode, make(chan string, 1000), cancel}
	go func() {
		defer response.Body.Close()
		defer close(v.frames)
		var frame []string
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if text := lines.Text(); text != "" {
				frame = append(frame, text)
				continue
			}
			v.frames <- strings.Join(frame, "|")
			frame = nil
		}
	}()
	return v
}

func (v *viewer) next() string {
	v.t.Helper()
	select {
	case f, open := <-v.frames:
		if !open {
			return "EOF"
		}
		return f
	case <-time.After(10 * time.Second):
		v.t.Fatal("no frame")
		return ""
	}
}

func (v *viewer) want(begins ...string) {
	v.t.Helper()
	for _, begin := range begins {
		if got := v.next(); !strings.HasPrefix(got, begin) {
			v.t.Errorf("%q, want %q", got, begin)
		}
	}
}

// TestStreamErrorsAndBuffering: snapshot first, numbered events at once, an explicit end.
func TestStreamErrorsAndBuffering(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(7, originalsv1.Duel_READY)
	v := s.view("00-x")
	if v.header.Get("Content-Type") != "text/event-stream" || v.header.Get("X-Accel-Buffering") != "no" || v.status != 200 {
		t.Errorf("%d %v", v.status, v.header)
	}
	v.want(`event: duel|id: 7|data: {"format":"originals-duel-v1","duelId":"00-x"`)
	s.fake.events <- rollEvent(8, 0)
	v.want(`event: roll|id: 8|data: {"ply":0,"dice":[1,2,3]}`)
	s.fake.events <- duelEvent(9, originalsv1.Duel_ENDED)
	close(s.fake.events)
	v.want("event: end|id: 9|data: {", "EOF")
}

// TestAllWhoWatchShareOneCall: each event is asked for and encoded once, and a joiner gets the duel with every roll so far.
func TestAllWhoWatchShareOneCall(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(7, originalsv1.Duel_READY)
	var all []*viewer
	for range 20 {
		v := s.view("00-x")
		v.want("event: duel|id: 7|")
		all = append(all, v)
	}
	s.fake.events <- rollEvent(8, 0)
	for _, v := range all {
		v.want("event: roll|id: 8|")
	}
	late := s.view("00-x")
	if got := late.next(); !strings.HasPrefix(got, "event: duel|id: 8|") || !strings.Contains(got, `"state":"PLAYING"`) || !strings.Contains(got, `"rolls":[{"ply":0,"dice":[1,2,3]}]`) || !strings.Contains(got, `"eventNumber":8`) {
		t.Errorf("%s", got)
	}
	if s.fake.called() != 1 {
		t.Errorf("%d calls of the service", s.fake.called())
	}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if s.h.watchers != 21 {
		t.Errorf("%d watchers", s.h.watchers)
	}
}

func TestResumeByLastEventID(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(7, originalsv1.Duel_READY)
	first := s.view("00-x")
	first.want("event: duel|id: 7|")
	for i := range uint32(5) {
		s.fake.events <- rollEvent(8+i, i)
		first.want("event: roll|")
	}
	s.view("00-x", "Last-Event-ID", "10").want("event: roll|id: 11|", "event: roll|id: 12|")
	s.view("00-x", "Last-Event-ID", "7").want("event: roll|id: 8|")
	s.view("00-x", "Last-Event-ID", "5").want("event: duel|id: 12|")   // too long ago
	s.view("00-x", "Last-Event-ID", "900").want("event: duel|id: 12|") // of another duel
	current := s.view("00-x", "Last-Event-ID", "12")
	s.fake.events <- rollEvent(13, 5)
	current.want("event: roll|id: 13|")
	for _, bad := range []string{"x", "-1", "01", "1.0", "4294967296", "7\n8"} { // the last one stands for two headers
		r := send(t, "GET", s.url+"/00-x", "", "Last-Event-Id", bad)
		if _, why, metadata := failureOf(t, r); r.status != 400 || why != "INVALID_FIELD" || metadata["field"] != "Last-Event-ID" {
			t.Errorf("%q: %d %s", bad, r.status, r.body)
		}
	}
}

func TestHeartbeatInSilence(t *testing.T) {
	s := newStage(t, func(h *watch) { h.heartbeat = 10 * time.Millisecond })
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	s.view("00-x").want("event: duel|", ": heartbeat", ": heartbeat")
}

func TestTooManyWatchersAreRefused(t *testing.T) {
	s := newStage(t, func(h *watch) { h.limit = 2 })
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	s.view("00-x").want("event: duel|")
	s.view("00-x").want("event: duel|")
	r := send(t, "GET", s.url+"/00-x", "")
	if _, why, _ := failureOf(t, r); r.status != 429 || why != "RATE_LIMITED" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestRefusalOfTheServiceIsAnAnswer(t *testing.T) {
	s := newStage(t, nil)
	s.fake.err = reason.New(reason.DuelNotFound, "no such duel").GRPCStatus().Err()
	close(s.fake.events)
	for range 2 {
		r := send(t, "GET", s.url+"/00-x", "")
		if _, why, _ := failureOf(t, r); r.status != 404 || why != "DUEL_NOT_FOUND" {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if s.fake.called() != 2 {
		t.Errorf("a failure is remembered: %d calls", s.fake.called())
	}
}

// TestWatchersAreToldWhenTheServiceGoes, and the next who comes asks it anew.
func TestWatchersAreToldWhenTheServiceGoes(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	v := s.view("00-x")
	v.want("event: duel|")
	s.fake.err = status.Error(codes.Unavailable, "gone")
	close(s.fake.events)
	v.want(`event: dropped|data: {"reason":"UPSTREAM"}`, "EOF")
	s.fake.events = make(chan *originalsv1.DuelEvent, 1)
	s.fake.events <- duelEvent(2, originalsv1.Duel_READY)
	s.view("00-x").want("event: duel|id: 2|")
}

func TestStreamsEndWithTheProcess(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	v := s.view("00-x")
	v.want("event: duel|")
	close(s.stop)
	v.want(`event: dropped|data: {"reason":"SHUTDOWN"}`, "EOF")
}

// TestStreamsEndWithTheProcessAndItsServices: where the duels are in the same
// process, their streams end at the same time.
func TestStreamsEndWithTheProcessAndItsServices(t *testing.T) {
	s := newStage(t, nil)
	close(s.stop)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &place{frames: make(chan []byte), last: droppedFrame(droppedUpstream)}
		close(p.frames)
		s.h.stream(w, r, p)
	}))
	defer front.Close()
	for range 20 {
		view(t, front.URL).want(`event: dropped|data: {"reason":"SHUTDOWN"}`, "EOF")
	}
}

// TestFeedEndsWithItsLastWatcher: nothing is left of a duel that nobody watches.
func TestFeedEndsWithItsLastWatcher(t *testing.T) {
	s := newStage(t, nil)
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/00-x", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	cancel()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.h.mu.Lock()
		left := len(s.h.feeds) + s.h.watchers
		s.h.mu.Unlock()
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a feed without watchers goes on")
		}
	}
}

// TestStreamOutlivesTheServersTimeouts: the bounds on reading and writing a request are for those, not for streams.
func TestStreamOutlivesTheServersTimeouts(t *testing.T) {
	s := newStage(t, func(h *watch) { h.heartbeat = 50 * time.Millisecond })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &http.Server{ReadTimeout: 100 * time.Millisecond, WriteTimeout: 100 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.h.serve(&answer{ResponseWriter: w}, r, map[string]string{"duel_id": "00-x"})
	})}
	go func() { _ = front.Serve(listener) }()
	t.Cleanup(func() { _ = front.Close() })
	s.url = "http://" + listener.Addr().String()
	s.fake.events <- duelEvent(1, originalsv1.Duel_READY)
	v := s.view("00-x")
	v.want("event: duel|")
	for range 8 {
		v.want(": heartbeat")
	}
	s.fake.events <- rollEvent(2, 0)
	got := v.next()
	for got == ": heartbeat" {
		got = v.next()
	}
	if !strings.HasPrefix(got, "event: roll|id: 2|") {
		t.Errorf("%q", got)
	}
}

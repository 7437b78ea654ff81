package gateway

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// tableFake streams what the test gives it.
type tableFake struct {
	originalsv1.UnimplementedCrashServiceServer
	events chan *originalsv1.CrashEvent

	mu    sync.Mutex
	err   error // with which streams end when it is set, and events are read
	calls []*originalsv1.WatchRequest
}

// Watch notes the call and streams the events. It ends with a nil event, or when
// it has dropped the watcher.
func (f *tableFake) Watch(req *originalsv1.WatchRequest, stream grpc.ServerStreamingServer[originalsv1.CrashEvent]) error {
	f.mu.Lock()
	f.calls = append(f.calls, req)
	err := f.err
	f.mu.Unlock()
	if err != nil {
		return err
	}
	for {
		select {
		case e := <-f.events:
			if e == nil {
				return status.Error(codes.Unavailable, "gone")
			}
			if err := stream.Send(e); err != nil || e.GetDropped() != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (f *tableFake) asked() []*originalsv1.WatchRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*originalsv1.WatchRequest(nil), f.calls...)
}

func (f *tableFake) failWith(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func tableEvent(n int64, phase originalsv1.CrashTable_Phase) *originalsv1.CrashEvent {
	return &originalsv1.CrashEvent{Event: n, Body: &originalsv1.CrashEvent_Phase{Phase: &originalsv1.CrashTable{
		Table: "main", Phase: phase, Number: 4, MultiplierE2: 100, ServerTime: timestamppb.Now(),
	}}}
}

func tableSnapshot(n int64) *originalsv1.CrashEvent {
	return &originalsv1.CrashEvent{Event: n, Body: &originalsv1.CrashEvent_Snapshot{Snapshot: &originalsv1.CrashTable{
		Table: "main", Phase: originalsv1.CrashTable_RUNNING, Number: 4, MultiplierE2: 100, ServerTime: timestamppb.Now(),
	}}}
}

func tableTick(n int64) *originalsv1.CrashEvent {
	return &originalsv1.CrashEvent{Event: n, Body: &originalsv1.CrashEvent_Tick_{Tick: &originalsv1.CrashEvent_Tick{ElapsedUs: 1000 * n, MultiplierE2: uint32(100 + n)}}}
}

// tableStage is a gateway before a fake service of crash tables.
type tableStage struct {
	t    testing.TB
	fake *tableFake
	g    *Gateway
	h    *crashWatch
	url  string
	stop chan struct{}
}

func newTableStage(t testing.TB, change func(*crashWatch)) *tableStage {
	t.Helper()
	s := &tableStage{t: t, fake: &tableFake{events: make(chan *originalsv1.CrashEvent, 1000)}, stop: make(chan struct{})}
	local := server.NewLocal(nil, nil)
	originalsv1.RegisterCrashServiceServer(local, s.fake)
	var err error
	if s.g, err = New(Options{Conn: local, Stop: s.stop, CORS: []string{"https://casino.example"}}); err != nil {
		t.Fatal(err)
	}
	s.h = s.g.crash
	if change != nil {
		change(s.h)
	}
	front := httptest.NewUnstartedServer(s.g)
	front.Config.ReadTimeout, front.Config.WriteTimeout = time.Second, time.Second
	front.Start()
	t.Cleanup(front.Close)
	t.Cleanup(s.end)
	s.url = front.URL + "/v1/crash/tables/main:watch"
	return s
}

// end has the process end.
func (s *tableStage) end() {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.g.Drain()
}

func (s *tableStage) left() int {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	return s.h.watchers
}

func (s *tableStage) awaitLeft(want int) {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); s.left() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%d watchers, want %d", s.left(), want)
		}
	}
}

// Streams: errors, snapshot first, buffering proxies, explicit end.
func TestTableStream(t *testing.T) {
	s := newTableStage(t, nil)
	s.fake.events <- tableSnapshot(7)
	v := view(t, s.url, "Origin", "https://casino.example", "X-Request-Id", "my-id")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-store", "X-Request-Id": "my-id",
		"Access-Control-Allow-Origin": "https://casino.example", "X-Content-Type-Options": "nosniff",
	} {
		if got := v.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	v.want(`event: snapshot|id: 7|data: {"table":"main"`)
	for _, c := range []struct {
		event *originalsv1.CrashEvent
		want  string
	}{
		{tableTick(8), `event: tick|id: 8|data: {"elapsedUs":"8000","multiplierE2":108}`},
		{&originalsv1.CrashEvent{Event: 9, Body: &originalsv1.CrashEvent_CashOuts_{CashOuts: &originalsv1.CrashEvent_CashOuts{More: 3, CashOuts: []*originalsv1.CrashEvent_CashOut{
			{Player: "0a1b", CashOutE2: 107, Stake: &originalsv1.Money{Currency: "FUN", Amount: 5}},
		}}}}, `event: cashOuts|id: 9|data: {"cashOuts":[{"player":"0a1b","cashOutE2":107,"stake":{"currency":"FUN","amount":"5"}}],"more":3}`},
		{&originalsv1.CrashEvent{Event: 10, Body: &originalsv1.CrashEvent_Crash_{Crash: &originalsv1.CrashEvent_Crash{Number: 4, CrashE2: 108, Hash: "ff"}}},
			`event: crash|id: 10|data: {"number":4,"crashE2":108,"hash":"ff"}`},
		{tableEvent(11, originalsv1.CrashTable_CRASHED), `event: phase|id: 11|data: {"table":"main",`},
		{&originalsv1.CrashEvent{Event: 12, Body: &originalsv1.CrashEvent_Bets_{Bets: &originalsv1.CrashEvent_Bets{Number: 5, Count: 2}}},
			`event: bets|id: 12|data: {"number":5,"count":2,"stakes":[]}`},
	} {
		s.fake.events <- c.event
		v.want(c.want)
	}
	time.Sleep(1200 * time.Millisecond) // longer than a request may take
	s.fake.events <- tableTick(13)
	v.want("event: tick|id: 13|")
	close(s.stop)
	v.want(`event: dropped|data: {"reason":"SHUTDOWN"}`, "EOF")
	s.g.Drain()
	s.awaitLeft(0)
	// Who comes while the process ends is told so, too.
	s.fake.events <- tableSnapshot(14)
	view(t, s.url).want("event: snapshot|", `event: dropped|data: {"reason":"SHUTDOWN"}`, "EOF")
}

// Joiner mid-round sees an idle game; and each event is asked for once for all.
func TestAllWhoWatchATableShareOneCall(t *testing.T) {
	s := newTableStage(t, nil)
	s.fake.events <- tableSnapshot(7)
	var all []*viewer
	for range 20 {
		v := view(t, s.url)
		v.want("event: snapshot|id: 7|")
		all = append(all, v)
	}
	for n := range int64(5) {
		s.fake.events <- tableTick(8 + n)
	}
	for _, v := range all {
		v.want("event: tick|id: 8|", "event: tick|id: 9|", "event: tick|id: 10|", "event: tick|id: 11|", "event: tick|id: 12|")
	}
	late := view(t, s.url)
	if got := late.next(); !strings.HasPrefix(got, "event: snapshot|id: 12|") || !strings.Contains(got, `"phase":"RUNNING"`) || !strings.Contains(got, `"multiplierE2":112`) {
		t.Errorf("a joiner sees %s", got)
	}
	s.fake.events <- &originalsv1.CrashEvent{Event: 13, Body: &originalsv1.CrashEvent_Bets_{Bets: &originalsv1.CrashEvent_Bets{Number: 4, Count: 9}}}
	late.want("event: bets|id: 13|")
	last := view(t, s.url)
	last.want("event: snapshot|id: 13|", `event: bets|data: {"number":4,"count":9,"stakes":[]}`) // of the round so far
	all = append(all, last)
	if calls := s.fake.asked(); len(calls) != 1 || !calls[0].GetHistory() || calls[0].GetAfterEvent() != 0 || calls[0].GetTable() != "main" {
		t.Errorf("asked the service %v", calls)
	}
	for _, v := range append(all, late) {
		v.leave()
	}
	for n := int64(14); s.left() > 0; n++ { // who has gone is found out by writing
		s.fake.events <- tableTick(n)
		time.Sleep(5 * time.Millisecond)
	}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if len(s.h.feeds) > 0 {
		t.Error("a table that nobody watches goes on")
	}
}

func TestAWatcherOfATableGoesOnWhereHeWas(t *testing.T) {
	s := newTableStage(t, nil)
	for n := range int64(4) { // a gateway that has just started: history comes first
		s.fake.events <- tableTick(3 + n)
	}
	s.fake.events <- tableSnapshot(6)
	view(t, s.url, "Last-Event-ID", "4").want("event: tick|id: 5|", "event: tick|id: 6|")
	last := view(t, s.url, "Last-Event-ID", "6")
	s.fake.events <- tableTick(7)
	last.want("event: tick|id: 7|")
	view(t, s.url, "Last-Event-ID", "5").want("event: tick|id: 6|", "event: tick|id: 7|")
	for _, unknown := range []string{"0", "1", "8", "9007199254740993", "9223372036854775807"} {
		view(t, s.url, "Last-Event-ID", unknown).want("event: snapshot|id: 7|")
	}
	// After a gap numbers go on elsewhere.
	s.fake.events <- tableSnapshot(2)
	s.fake.events <- tableTick(3)
	last.want("event: snapshot|id: 2|", "event: tick|id: 3|")
	view(t, s.url, "Last-Event-ID", "2").want("event: tick|id: 3|")
	view(t, s.url, "Last-Event-ID", "7").want("event: snapshot|id: 2|", "event: tick|id: 3|")
	for _, bad := range []string{"x", "-1", "01", "1.0", "9223372036854775808", "7\n8"} { // the last one stands for two headers
		r := send(t, "GET", s.url, "", "Last-Event-Id", bad)
		if _, why, metadata := failureOf(t, r); r.status != 400 || why != "INVALID_FIELD" || metadata["field"] != "Last-Event-ID" {
			t.Errorf("%q: %d %s", bad, r.status, r.body)
		}
	}
}

func TestHeartbeatOfATableInSilence(t *testing.T) {
	s := newTableStage(t, func(h *crashWatch) { h.heartbeat = 10 * time.Millisecond })
	s.fake.events <- tableSnapshot(1)
	view(t, s.url).want("event: snapshot|", ": heartbeat", ": heartbeat")
}

func TestATableIsRefused(t *testing.T) {
	s := newTableStage(t, func(h *crashWatch) { h.limit = 1 })
	s.fake.failWith(reason.New(reason.TableNotFound, "no such table").GRPCStatus().Err())
	for range 2 {
		r := send(t, "GET", s.url, "")
		if _, why, _ := failureOf(t, r); r.status != 404 || why != "TABLE_NOT_FOUND" {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if n := len(s.fake.asked()); n != 2 {
		t.Errorf("a failure is remembered: %d calls", n)
	}
	s.fake.failWith(nil)
	s.fake.events <- tableSnapshot(1)
	view(t, s.url).want("event: snapshot|")
	r := send(t, "GET", s.url, "")
	if _, why, _ := failureOf(t, r); r.status != 429 || why != "RATE_LIMITED" {
		t.Errorf("one too many: %d %s", r.status, r.body)
	}
}

// A source that goes is found again by those who watch already, and nobody notices.
func TestTheSourceOfATableIsReplaced(t *testing.T) {
	s := newTableStage(t, nil)
	s.fake.events <- tableSnapshot(1)
	v := view(t, s.url)
	v.want("event: snapshot|id: 1|")
	for n, end := range []*originalsv1.CrashEvent{nil, {Body: &originalsv1.CrashEvent_Dropped_{Dropped: &originalsv1.CrashEvent_Dropped{Reason: "SHUTDOWN"}}}} {
		s.fake.events <- end
		s.fake.events <- tableTick(int64(n + 2))
		v.want(fmt.Sprintf("event: tick|id: %d|", n+2))
	}
	calls := s.fake.asked()
	if len(calls) != 3 || calls[1].GetAfterEvent() != 1 || calls[2].GetAfterEvent() != 2 || calls[2].GetHistory() {
		t.Errorf("asked %v", calls)
	}
	s.fake.failWith(reason.New(reason.TableNotFound, "gone").GRPCStatus().Err())
	s.fake.events <- nil
	v.want(`event: dropped|data: {"reason":"UPSTREAM"}`, "EOF")
	s.fake.failWith(nil)
	s.fake.events <- tableSnapshot(9)
	view(t, s.url).want("event: snapshot|id: 9|")
}

// A slow watcher is dropped with a reason, and never waited for.
func TestASlowWatcherOfATable(t *testing.T) {
	s := newTableStage(t, func(h *crashWatch) { h.slow, h.patience = time.Second, 4*time.Second })
	s.fake.events <- tableSnapshot(1)
	quick := view(t, s.url)
	quick.want("event: snapshot|")
	slow := func() net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://")[:strings.Index(strings.TrimPrefix(s.url, "http://"), "/")])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /v1/crash/tables/main:watch HTTP/1.1\r\nHost: x\r\n\r\n")
		return conn
	}
	late, never := slow(), slow()
	s.awaitLeft(3)
	many := make([]*originalsv1.CrashEvent_CashOut, 200)
	for i := range many {
		many[i] = &originalsv1.CrashEvent_CashOut{Player: "0a1b2c3d4e5f", CashOutE2: 200, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}}
	}
	n := int64(2)
	tell := func(some int) {
		for range some {
			s.fake.events <- &originalsv1.CrashEvent{Event: n, Body: &originalsv1.CrashEvent_CashOuts_{CashOuts: &originalsv1.CrashEvent_CashOuts{CashOuts: many}}}
			begin := time.Now()
			quick.want(fmt.Sprintf("event: cashOuts|id: %d|", n))
			if took := time.Since(begin); took > 900*time.Millisecond {
				t.Errorf("event %d came after %v: a slow watcher was waited for", n, took)
			}
			n++
		}
	}
	tell(100) // 1.6 MB: more than a connection holds
	time.Sleep(1100 * time.Millisecond)
	tell(1)
	// The late one reads on: whole events, and last why there are no more.
	if err := late.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	frames, lines := []string{""}, bufio.NewScanner(late)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text := lines.Text(); text != "" {
			frames[len(frames)-1] += text + "|"
			continue
		}
		frames = append(frames, "")
	}
	if len(frames) < 4 || frames[len(frames)-2] != `event: dropped|data: {"reason":"SLOW"}|` || frames[len(frames)-1] != "" {
		t.Fatalf("%d frames, the last %.80q", len(frames), frames[max(0, len(frames)-2):])
	}
	for i, f := range frames[1 : len(frames)-2] {
		if i > 0 && (!strings.HasPrefix(f, fmt.Sprintf("event: cashOuts|id: %d|data: {", i+1)) || !strings.HasSuffix(f, `}],"more":0}|`)) {
			t.Fatalf("frame %d was cut: %.60q", i, f)
		}
	}
	// The one who never reads is cut off.
	s.awaitLeft(1)
	tell(1)
	never.Close()
}

func TestThousandsWatchATableAndLeave(t *testing.T) {
	s := newTableStage(t, nil)
	s.fake.events <- tableSnapshot(1)
	stop := make(chan struct{})
	var teller, all sync.WaitGroup
	teller.Go(func() {
		for n := int64(2); ; n++ {
			select {
			case <-stop:
				return
			case s.fake.events <- tableTick(n):
				time.Sleep(time.Millisecond)
			}
		}
	})
	first := view(t, s.url) // so that the table is watched all the time
	for worker := range 20 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			for i := range 100 {
				response, err := client.Get(s.url)
				if err != nil {
					t.Error(err)
					return
				}
				if (worker+i)%3 > 0 {
					if _, err := response.Body.Read(make([]byte, 50)); err != nil {
						t.Error(err)
					}
				}
				response.Body.Close()
			}
		})
	}
	all.Wait()
	s.awaitLeft(1)
	close(stop)
	teller.Wait()
	if n := len(s.fake.asked()); n != 1 {
		t.Errorf("%d calls of the service", n)
	}
	first.want("event: snapshot|")
}

// A feed that came to its end is not given to those who come, and when those who
// still have it leave, the one that took its place stays.
func TestAFeedThatHasEndedIsReplaced(t *testing.T) {
	h := newTableStage(t, nil).h
	ended := h.enter("main")
	ended.end()
	next := h.enter("main")
	if next == ended {
		t.Fatal("whoever comes is given a feed that has ended")
	}
	kept := func() *crashFeed {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.feeds["main"]
	}
	if h.leave(ended); kept() != next {
		t.Error("the feed that goes on is forgotten with the one that has ended")
	}
	if h.leave(next); kept() != nil {
		t.Error("a feed that nobody watches is kept")
	}
}

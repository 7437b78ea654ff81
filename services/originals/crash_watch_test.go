package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/testenv"
)

// seat watches a table at one gateway for as long as a test lasts.
type seat struct {
	mu     sync.Mutex
	events map[int64]string // by number
	last   int64
	breaks []string // where the numbers did not go on
	told   int      // that the process ends
}

func takeSeat(t *testing.T, gateway string) *seat {
	s := &seat{events: make(map[int64]string)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := tableWatcher{url: gateway + "/v1/crash/tables/main:watch"}
		if err := w.watch(ctx, s.take); !errors.Is(err, context.Canceled) && ctx.Err() == nil {
			t.Errorf("watching %s: %v", gateway, err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

func (s *seat) take(e tableEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Name == "dropped" {
		s.told++
	}
	if e.ID == "" {
		return nil
	}
	n, err := strconv.ParseInt(e.ID, 10, 64)
	if err != nil {
		return err
	}
	if s.last != 0 && n != s.last+1 {
		s.breaks = append(s.breaks, fmt.Sprintf("%s %d follows %d", e.Name, n, s.last))
	}
	if s.last = n; e.Name != "snapshot" {
		s.events[n] = e.Name + " " + string(e.Data)
	}
	return nil
}

func (s *seat) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events)
}

// more waits for some more events.
func (s *seat) more(t *testing.T) {
	t.Helper()
	want := s.count() + 10
	for deadline := time.Now().Add(time.Minute); s.count() < want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d events, want %d", s.count(), want)
		}
	}
}

// TestWatchersMissNothing: at any gateway, whoever owns the table, whichever
// process dies.
func TestWatchersMissNothing(t *testing.T) {
	s := newSite(t, testenv.Redis(t).URL())
	s.twoOfEach()
	seats := []*seat{takeSeat(t, s.gateways[0]), takeSeat(t, s.gateways[1])}
	both := func() {
		t.Helper()
		for _, w := range seats {
			w.more(t)
		}
	}
	both()
	tables := slices.DeleteFunc(slices.Clone(s.processes), func(p *testenv.Process) bool { return p.URL() != "" || !strings.Contains(p.Name(), "crash") })
	if len(tables) != 2 {
		t.Fatalf("%d processes with tables", len(tables))
	}
	for _, p := range tables { // one of them is the owner
		p.Kill9()
		time.Sleep(time.Second)
		s.restart(p)
		both()
	}
	gateways := slices.DeleteFunc(slices.Clone(s.processes), func(p *testenv.Process) bool { return p.URL() == "" })
	gateways[0].Terminate()
	if status := gateways[0].Wait(); status != 0 {
		t.Errorf("a gateway with watchers ended with %d", status)
	}
	s.restart(gateways[0])
	gateways[1].Kill9()
	s.restart(gateways[1])
	both()
	for i, w := range seats {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.breaks) > 0 {
			t.Errorf("watcher %d: %q", i, w.breaks)
		}
		if i == 0 && w.told == 0 {
			t.Error("nobody was told that the first gateway ends")
		}
	}
	same := 0
	for n := range maps.Keys(seats[0].events) {
		if other, ok := seats[1].events[n]; ok {
			if same++; other != seats[0].events[n] {
				t.Errorf("event %d: %s and %s", n, seats[0].events[n], other)
			}
		}
	}
	if same < 50 {
		t.Errorf("%d events were seen by both", same)
	}
}

func TestCrashWatchCommand(t *testing.T) {
	p := testenv.Serve(t, "--http", testenv.FreeAddr(t), "--grpc", testenv.FreeAddr(t), "--log-level", "warn")
	p.AwaitReady(p.URL())
	out := wantRun(t, 0, "Round ", "", nil, "crash", "watch", "--url", p.URL(), "--for", "7s")
	for line := range strings.Lines(out) {
		if len(strings.TrimSuffix(line, "\n")) > 79 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }) {
			t.Errorf("not a line of a terminal of 80 columns: %q", line)
		}
	}
	first, last := "", ""
	for range 5 { // one round in thirty runs for longer than a command may take here
		out := wantRun(t, 0, "", "", nil, "crash", "watch", "--url", p.URL(), "--rounds", "1", "--json", "--for", "45s")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if first, last = lines[0], lines[len(lines)-1]; strings.HasPrefix(last, `{"event":"crash","id":"`) {
			break
		}
	}
	if !strings.HasPrefix(first, `{"event":"snapshot","id":"`) || !strings.HasPrefix(last, `{"event":"crash","id":"`) {
		t.Errorf("from %s\nto %s", first, last)
	}
	wantRun(t, 2, "", "TABLE_NOT_FOUND", nil, "crash", "watch", "--url", p.URL(), "--table", "none")
	wantRun(t, 2, "", "refused", nil, "crash", "watch", "--url", "http://"+testenv.FreeAddr(t))
}

// A stream that ends is asked for again, and half an event is none.
func TestAStreamThatWasCutOffGoesOn(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	answers := []string{
		"event: snapshot\nid: 5\ndata: {}\n\n: heartbeat\n\nevent: tick\nid: 6\ndata: {}\n\nevent: tick\nid: 7\ndata: {\"elapsed",
		"", // 503
		"event: tick\nid: 7\ndata: {}\n\nevent: dropped\ndata: {\"reason\":\"SLOW\"}\n\n",
		"event: crash\nid: 8\ndata: {}\n\n",
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text := answers[len(asked)]
		asked = append(asked, r.Header.Get("Last-Event-ID"))
		if text == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	defer front.Close()
	var seen []string
	w := tableWatcher{url: front.URL}
	err := w.watch(t.Context(), func(e tableEvent) error {
		seen = append(seen, e.Name+e.ID)
		if e.Name == "crash" {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.Equal(seen, []string{"snapshot5", "tick6", "tick7", "dropped", "crash8"}) {
		t.Errorf("%q, then %v", seen, err)
	}
	if !slices.Equal(asked, []string{"", "6", "6", "7"}) {
		t.Errorf("asked after %q", asked)
	}
}

// The curve grows in place on a terminal, and its last point is the crash point.
func TestTableScreen(t *testing.T) {
	play := []tableEvent{
		{Name: "snapshot", Data: []byte(`{"table":"main","number":7,"phase":"RUNNING"}`)},
		{Name: "tick", Data: []byte(`{"elapsedUs":"0","multiplierE2":100}`)},
		{Name: "cashOuts", Data: []byte(`{"cashOuts":[{"player":"a"},{"player":"b"}]}`)},
		{Name: "tick", Data: []byte(`{"elapsedUs":"11552454","multiplierE2":200}`)},
		{Name: "crash", Data: []byte(`{"number":7,"crashE2":203,"hash":"ab"}`)},
		{Name: "phase", Data: []byte(`{"table":"main","number":7,"phase":"CRASHED","crashE2":203}`)},
		{Name: "phase", Data: []byte(`{"table":"main","number":8,"phase":"BETTING"}`)},
		{Name: "bets", Data: []byte(`{"number":8,"count":2,"stakes":[{"currency":"FUN","amount":"300"}]}`)},
		{Name: "phase", Data: []byte(`{"table":"main","number":8,"phase":"CRASHED"}`)},
		{Name: "crash", Data: []byte(`{"number":9,"crashE2":100,"hash":"cd"}`)},
		{Name: "phase", Data: []byte(`{"table":"main","number":9,"phase":"STOPPED","next":{"table":"main-2"}}`)},
		{Name: "dropped", Data: []byte(`{"reason":"SLOW"}`)},
	}
	show := func(live bool) string {
		var b strings.Builder
		s := &tableScreen{out: &b, live: live}
		for _, e := range play {
			if err := s.show(e); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	plain, live := show(false), show(true)
	for _, want := range []string{
		"Round 7 crashed at 2.03x. 2 cashed out in time.\n  hash ab\n", "2.03x after 11.6 s\n", "    2.03x |" + strings.Repeat(" ", curveWidth-1) + "*\n",
		"Round 8: bets: 2, stakes: 300 units of FUN.\n", "Round 8 is void", "Round 9 crashed at 1.00x. 0 cashed out",
		"Table main has ended; its players go on at main-2.\n", `The gateway ends the stream ({"reason":"SLOW"})`,
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is not in\n%s", want, plain)
		}
	}
	if strings.Count(live, "\x1b[13A\x1b[J") != 2 || strings.Contains(plain, "\x1b") {
		t.Errorf("drawn in place:\n%q", live)
	}
	if err := (&tableScreen{out: io.Discard}).show(tableEvent{Name: "tick", Data: []byte(`{`)}); err == nil {
		t.Error("half an event was shown")
	}
}

// What a gateway sends is drawn, whatever it says.
func FuzzTableScreen(f *testing.F) {
	f.Add(`{}`, `{}`)
	f.Add(`{"elapsedUs":"-9000000000","multiplierE2":99}`, `{"crashE2":0}`)
	f.Add(`{"elapsedUs":"200000000000000000","multiplierE2":200}`, `{"crashE2":200}`)
	f.Add(`{"elapsedUs":"9223372036854775807","multiplierE2":4294967295}`, `{"crashE2":4294967295}`)
	f.Fuzz(func(t *testing.T, tick, crash string) {
		s := &tableScreen{out: io.Discard, live: true}
		for _, e := range []tableEvent{{Name: "tick", Data: []byte(tick)}, {Name: "tick", Data: []byte(tick)}, {Name: "crash", Data: []byte(crash)}} {
			_ = s.show(e) // a broken event is an error
		}
	})
}

//go:build unix

package gateway

import (
	"bytes"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// begun is a feed that has shown its table, and then so many ticks, numbered from 1.
func begun(t *testing.T, ticks int) *crashFeed {
	t.Helper()
	codec, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	f := newCrashFeed("main", codec, func() {}, func() {})
	f.more(t, &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Snapshot{Snapshot: &originalsv1.CrashTable{Table: "main"}}})
	f.tick(t, 1, ticks)
	return f
}

func (f *crashFeed) more(t *testing.T, e *originalsv1.CrashEvent) {
	t.Helper()
	if err := f.take(e); err != nil {
		t.Fatal(err)
	}
}

func (f *crashFeed) tick(t *testing.T, first, last int) {
	t.Helper()
	for i := first; i <= last; i++ {
		f.more(t, &originalsv1.CrashEvent{Event: int64(i), Body: &originalsv1.CrashEvent_Tick_{Tick: &originalsv1.CrashEvent_Tick{ElapsedUs: int64(i), MultiplierE2: 100}}})
	}
}

// Positions go on while the memory of a feed is trimmed: whoever comes again goes
// on after the event that he has.
func TestPositionsOfAFeedOutliveItsMemory(t *testing.T) {
	const ticks = 5*crashMemory + 7
	f := begun(t, ticks)
	frames, base, _ := f.newest()
	if base == 0 || base+uint64(len(frames)) != ticks || len(frames) < crashMemory || len(frames) > 2*crashMemory {
		t.Fatalf("%d frames from %d on", len(frames), base)
	}
	for _, after := range []int64{ticks - crashMemory + 1, ticks - 1, ticks} {
		first, next, err := f.join(after)
		if err != nil || first != nil || next != uint64(after) {
			t.Errorf("after %d: %q, then %d, %v", after, first, next, err)
		}
		if next < ticks && frames[next-base].event != after+1 {
			t.Errorf("after %d comes %d", after, frames[next-base].event)
		}
	}
	if first, next, err := f.join(1); err != nil || next != ticks || !bytes.HasPrefix(first, []byte("event: snapshot\n")) {
		t.Errorf("after what is forgotten: %q, then %d, %v", first, next, err)
	}
	f = newCrashFeed("main", f.codec, func() {}, func() {})
	f.more(t, tableSnapshot(9))
	if first, next, err := f.join(9); err != nil || first != nil || next != 0 {
		t.Errorf("after the snapshot with which all began: %q, then %d, %v", first, next, err)
	}
}

// tap is a watcher on a connection of its own, with a writer that writes when the
// test says it.
type tap struct {
	w   *crashWriter
	g   *crashGroup
	f   *crashFeed
	c   *crashWatcher
	far net.Conn
}

func newTap(t *testing.T, f *crashFeed, next uint64) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close(); near.Close() })
	raw, err := near.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	h := newCrashWatch(Options{Metrics: NewMetrics()}, nil, f.codec, nil)
	now := time.Now()
	c := &crashWatcher{feed: f, conn: near, raw: raw, next: next, caught: now}
	h.watchers, f.users = 1, 1
	return &tap{w: h.writers[0], f: f, c: c, far: far, g: &crashGroup{watchers: []*crashWatcher{c}, next: next, spoke: now, behind: 1}}
}

// pass writes once, at a time, and returns what came.
func (p *tap) pass(t *testing.T, now time.Time) string {
	t.Helper()
	p.w.passGroup(p.f, p.g, now)
	_ = p.far.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	buffer := make([]byte, 1<<20)
	n := 0
	for {
		got, err := p.far.Read(buffer[n:])
		if n += got; err != nil {
			return string(buffer[:n])
		}
	}
}

// A watcher who has missed more than is kept is told so, and dropped.
func TestAWatcherBehindTheMemoryOfAFeedIsDropped(t *testing.T) {
	p := newTap(t, begun(t, 3*crashMemory), 5)
	if got, want := p.pass(t, time.Now()), string(droppedFrame(droppedSlow)); got != want || len(p.g.watchers) != 0 {
		t.Errorf("%d watchers, the last was told %q", len(p.g.watchers), got)
	}
}

// A watcher is given each event once, and a heartbeat when there was none for long.
func TestAWriterSaysNothingTwice(t *testing.T) {
	f := begun(t, 3)
	p := newTap(t, f, 2)
	now := time.Now()
	tick := func(i int) string {
		return fmt.Sprintf("event: tick\nid: %d\ndata: {\"elapsedUs\":\"%d\",\"multiplierE2\":100}\n\n", i, i)
	}
	if got := p.pass(t, now); got != tick(3) {
		t.Errorf("first %q", got)
	}
	if got := p.pass(t, now.Add(time.Second)); got != "" {
		t.Errorf("again %q", got)
	}
	later := now.Add(p.w.h.heartbeat)
	if got := p.pass(t, later); got != string(heartbeatFrame) || !p.c.caught.Equal(later) {
		t.Errorf("in silence %q; he had everything at %v", got, p.c.caught)
	}
	f.tick(t, 4, 5)
	if got := p.pass(t, later.Add(time.Second)); got != tick(4)+tick(5) || !p.c.caught.Equal(later.Add(time.Second)) {
		t.Errorf("then %q; he had everything at %v", got, p.c.caught)
	}
}

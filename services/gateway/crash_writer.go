package gateway

import (
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	writerBeat  = 250 * time.Millisecond // between two looks at the clock
	behindBeat  = 20 * time.Millisecond  // between two tries with watchers who are behind
	gatherPause = 2 * time.Millisecond   // events that come together are written together
	watcherRoom = 16 << 10               // bytes that the kernel holds for a watcher, who takes twice as many
)

// crashWriter writes to some of the watchers, one after the other, and waits for
// none: what a watcher's connection does not take at once is left for later. So
// a watcher costs no goroutine, and no event a change of goroutines for each.
type crashWriter struct {
	h    *crashWatch
	wake chan struct{} // of one place
	done chan struct{} // closed when all have been told of the end

	mu     sync.Mutex
	joined []*crashWatcher // not in groups yet
	ended  bool

	groups map[*crashFeed]*crashGroup // of the writer's goroutine alone
	prompt *promptWriter
}

// crashGroup are those of a writer's watchers who watch one table.
type crashGroup struct {
	watchers []*crashWatcher
	next     uint64    // position of the first frame that was not written yet
	spoke    time.Time // when something was written to all
	behind   int       // watchers who have not taken everything
}

// crashWatcher is one connection.
type crashWatcher struct {
	feed   *crashFeed
	conn   net.Conn
	raw    syscall.RawConn
	next   uint64    // position of the next frame
	rest   []byte    // what is to be written before it; never written to
	caught time.Time // when he had taken everything last
	last   bool      // nothing comes after rest
}

func newCrashWriter(h *crashWatch) *crashWriter {
	return &crashWriter{
		h: h, wake: make(chan struct{}, 1), done: make(chan struct{}), groups: make(map[*crashFeed]*crashGroup), prompt: newPromptWriter(),
	}
}

// rouse has the writer look for something to write.
func (w *crashWriter) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// add hands a watcher over. It reports whether the writer still goes on.
func (w *crashWriter) add(c *crashWatcher) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return false
	}
	w.joined = append(w.joined, c)
	w.rouse()
	return true
}

// run writes until the end, which all are told of.
func (w *crashWriter) run() {
	defer close(w.done)
	beat := time.NewTimer(writerBeat)
	defer beat.Stop()
	for {
		select {
		case <-w.wake:
			time.Sleep(gatherPause)
		case <-beat.C:
		case <-w.h.stop:
			w.finish()
			return
		case <-w.h.ending:
			w.finish()
			return
		}
		if w.pass(time.Now()) {
			beat.Reset(behindBeat)
		} else {
			beat.Reset(writerBeat)
		}
	}
}

// pass writes to everybody what he has not got yet. It reports whether somebody
// has not taken it.
func (w *crashWriter) pass(now time.Time) (behind bool) {
	w.mu.Lock()
	joined := w.joined
	w.joined = nil
	w.mu.Unlock()
	for _, c := range joined {
		g := w.groups[c.feed]
		if g == nil {
			g = &crashGroup{next: c.next, spoke: now}
			w.groups[c.feed] = g
		}
		g.watchers = append(g.watchers, c)
		g.behind++
	}
	for f, g := range w.groups {
		w.passGroup(f, g, now)
		behind = behind || g.behind > 0
		if len(g.watchers) == 0 {
			delete(w.groups, f)
		}
	}
	return behind
}

// supply is what there is to write in one pass.
type supply struct {
	frames []crashFrame
	base   uint64 // position of the first
	head   uint64 // position after the last
	from   uint64 // position of the first that is new
	fresh  []byte // those that are new, in one piece
	beat   bool   // there was nothing for long
	end    string // why all are dropped; empty while they are not
	now    time.Time
}

func (w *crashWriter) passGroup(f *crashFeed, g *crashGroup, now time.Time) {
	frames, base, gone := f.newest()
	s := supply{frames: frames, base: base, head: base + uint64(len(frames)), now: now}
	s.from = max(g.next, base)
	if gone {
		s.end = droppedUpstream
	}
	news := frames[s.from-base:]
	s.beat = len(news) == 0 && now.Sub(g.spoke) >= w.h.heartbeat
	if len(news) == 0 && !s.beat && g.behind == 0 && !gone {
		return
	}
	s.fresh = inOnePiece(news)
	if len(news) > 0 || s.beat {
		g.spoke = now
	}
	g.next, g.behind = s.head, 0
	g.watchers = slices.DeleteFunc(g.watchers, func(c *crashWatcher) bool {
		stays := w.serve(c, &s)
		if !stays {
			w.close(c)
		} else if len(c.rest) > 0 {
			g.behind++
		}
		return !stays
	})
	if len(news) > 0 {
		w.h.metrics.fannedOut(time.Since(news[0].at))
	}
}

func inOnePiece(frames []crashFrame) []byte {
	if len(frames) == 1 {
		return frames[0].text
	}
	var all []byte
	for _, f := range frames {
		all = append(all, f.text...)
	}
	return all
}

// serve writes to a watcher all that he takes. It reports whether he stays.
func (w *crashWriter) serve(c *crashWatcher, s *supply) bool {
	if s.end != "" {
		w.drop(c, s.end, s.now)
	}
	beat := s.beat
	for {
		if len(c.rest) > 0 {
			n, err := w.prompt.write(c, c.rest)
			if err != nil {
				return false
			}
			if c.rest = c.rest[n:]; len(c.rest) > 0 {
				return w.bear(c, s.now)
			}
		}
		switch {
		case c.last:
			return false
		case c.next == s.head && !beat:
			c.caught, c.rest = s.now, nil
			return true
		case c.next == s.head:
			beat, c.rest = false, heartbeatFrame
		case c.next == s.from:
			c.rest, c.next = s.fresh, s.head
		case c.next < s.base:
			w.drop(c, droppedSlow, s.now)
		default:
			c.rest = s.frames[c.next-s.base].text
			c.next++
		}
	}
}

// bear decides about a watcher who does not take more now. One who is too slow
// is told why he is dropped, if he reads so far.
func (w *crashWriter) bear(c *crashWatcher, now time.Time) bool {
	behind := now.Sub(c.caught)
	if c.last {
		return behind < w.h.patience
	}
	if behind >= w.h.slow {
		w.drop(c, droppedSlow, now)
	}
	return true
}

// drop has a watcher told that he is dropped, after what is on the way to him.
func (w *crashWriter) drop(c *crashWatcher, why string, now time.Time) {
	if c.last {
		return
	}
	c.rest = append(slices.Clone(c.rest), droppedFrame(why)...)
	c.last, c.caught = true, now
	w.h.metrics.drop(why)
}

func (w *crashWriter) close(c *crashWatcher) {
	_ = c.conn.Close() // whoever is there has been told
	w.h.leave(c.feed)
}

// finish tells all that the process ends.
func (w *crashWriter) finish() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.pass(time.Now())
	for _, g := range w.groups {
		for _, c := range g.watchers {
			w.drop(c, droppedShutdown, time.Now())
		}
		g.behind = len(g.watchers)
	}
	for end := time.Now().Add(w.h.patience); len(w.groups) > 0 && time.Now().Before(end); time.Sleep(gatherPause) {
		w.pass(time.Now())
	}
	for _, g := range w.groups {
		for _, c := range g.watchers {
			w.close(c)
		}
	}
}

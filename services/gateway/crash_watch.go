package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	gwruntime "github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// DefaultMaxWatchers is how many watch crash tables at once where Options does
// not say it.
const DefaultMaxWatchers = 20_000

const crashWatchPath = "/v1/crash/tables/{table}:watch"

// Bounds of watching a crash table.
const (
	crashSlow     = 10 * time.Second // for a watcher to have taken everything once
	crashPatience = 5 * time.Second  // for one who is dropped to read why
)

// crashWatch serves crash tables as Server-Sent Events. All who watch a table
// share one call of the service; each event is encoded once, and written by few
// goroutines to all.
//
// The events are snapshot, phase, tick, bets, cashOuts and crash, whose ids are
// their numbers; a comment in silence; and, without an id, dropped, with the
// reason SLOW, SHUTDOWN or UPSTREAM, after which the watcher is to come again
// with Last-Event-ID, as EventSource does by itself.
type crashWatch struct {
	mux     *gwruntime.ServeMux
	codec   codec
	tables  originalsv1.CrashServiceClient
	stop    <-chan struct{}
	metrics *Metrics
	limit   int

	heartbeat, slow, patience time.Duration

	ending  chan struct{} // closed by drain
	end     sync.Once
	begin   sync.Once // of the writers, with the first watcher
	writers []*crashWriter
	turn    atomic.Uint32 // whose turn it is to get a watcher

	mu       sync.Mutex
	watchers int
	feeds    map[string]*crashFeed // by table
}

func newCrashWatch(o Options, mux *gwruntime.ServeMux, codec codec, tables originalsv1.CrashServiceClient) *crashWatch {
	h := &crashWatch{
		mux: mux, codec: codec, tables: tables, stop: o.Stop, metrics: o.Metrics, limit: cmp.Or(o.MaxWatchers, DefaultMaxWatchers),
		heartbeat: watchHeartbeat, slow: crashSlow, patience: crashPatience,
		ending: make(chan struct{}), feeds: make(map[string]*crashFeed),
	}
	for range runtime.GOMAXPROCS(0) {
		h.writers = append(h.writers, newCrashWriter(h))
	}
	return h
}

func (h *crashWatch) serve(w http.ResponseWriter, r *http.Request, path map[string]string) {
	after, problem := afterTableEvent(r)
	if problem != nil {
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	f := h.enter(path["table"])
	if f == nil {
		full := reason.New(reason.RateLimited, "too many watch at once; try again later")
		refuse(w, gwruntime.HTTPStatusFromCode(full.Reason.Code()), full)
		return
	}
	if err := h.join(w, r, f, after); err != nil {
		h.leave(f)
		gwruntime.HTTPError(r.Context(), h.mux, h.codec, w, r, err)
	}
}

// afterTableEvent reads the newest event that a returning watcher has; 0 for
// none.
func afterTableEvent(r *http.Request) (int64, *reason.Error) {
	given := r.Header[lastEventID]
	if len(given) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseInt(given[0], 10, 64)
	if err != nil || n < 0 || len(given) > 1 || strconv.FormatInt(n, 10) != given[0] {
		return 0, reason.Field("Last-Event-ID", "must be the number of an event")
	}
	return n, nil
}

// enter returns the feed of a table, and begins it for the first watcher; nil
// when there are too many.
func (h *crashWatch) enter(table string) *crashFeed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers >= h.limit {
		return nil
	}
	h.watchers++
	h.metrics.watch(h.watchers)
	f := h.feeds[table]
	if f == nil || f.over() {
		ctx, cancel := context.WithCancel(context.Background())
		f = newCrashFeed(table, h.codec, h.rouse, cancel)
		h.feeds[table] = f
		go f.run(ctx, h.tables)
	}
	f.users++
	return f
}

// leave ends a feed with its last watcher. One that came to its end is replaced
// by the next who enters.
func (h *crashWatch) leave(f *crashFeed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers--
	h.metrics.watch(h.watchers)
	f.users--
	if f.users > 0 {
		return
	}
	f.cancel()
	if h.feeds[f.table] == f {
		delete(h.feeds, f.table)
	}
}

func (h *crashWatch) runWriters() {
	for _, w := range h.writers {
		go w.run()
	}
}

func (h *crashWatch) rouse() {
	for _, w := range h.writers {
		w.rouse()
	}
}

// join answers a watcher with the first events, and hands his connection to a
// writer. After an error nothing was answered yet.
func (h *crashWatch) join(w http.ResponseWriter, r *http.Request, f *crashFeed, after int64) error {
	ctx, cancel := context.WithTimeout(r.Context(), watchPace)
	defer cancel()
	select {
	case <-f.begun:
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	first, next, err := f.join(after)
	if err != nil {
		return err
	}
	conn, raw, err := takeOver(w)
	if err != nil {
		return err
	}
	c := &crashWatcher{feed: f, conn: conn, raw: raw, next: next, caught: time.Now()}
	c.rest = append(eventsHead(w.Header()), first...)
	h.begin.Do(h.runWriters)
	if !h.writers[int(h.turn.Add(1))%len(h.writers)].add(c) {
		h.refuseAtEnd(c)
	}
	return nil
}

// refuseAtEnd tells one who came when the process was ending already.
func (h *crashWatch) refuseAtEnd(c *crashWatcher) {
	_ = c.conn.SetWriteDeadline(time.Now().Add(h.patience))
	_, _ = c.conn.Write(append(c.rest, droppedFrame(droppedShutdown)...)) // he may have left
	_ = c.conn.Close()
	h.leave(c.feed)
}

// drain tells all watchers that the process ends, and returns once they know.
func (h *crashWatch) drain() {
	h.end.Do(func() { close(h.ending) })
	h.begin.Do(h.runWriters) // whoever comes yet is told, too
	for _, w := range h.writers {
		<-w.done
	}
}

var errNoConnection = errors.New("gateway: the answer is not written to a connection of HTTP/1")

// takeOver takes the connection from the server of HTTP, whose buffers and
// goroutine it needs no longer.
func takeOver(w http.ResponseWriter) (net.Conn, syscall.RawConn, error) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	c, ok := conn.(interface {
		syscall.Conn
		SetWriteBuffer(bytes int) error
	})
	if !ok {
		return nil, nil, errors.Join(errNoConnection, conn.Close())
	}
	raw, err := c.SyscallConn()
	if err == nil {
		err = c.SetWriteBuffer(watcherRoom)
	}
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, raw, nil
}

// eventsHead is the head of an answer that lasts until its connection ends.
func eventsHead(header http.Header) []byte {
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // else a proxy may hold events back
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	_ = header.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

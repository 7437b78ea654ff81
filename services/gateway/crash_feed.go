package gateway

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/crashview"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	crashMemory = 900                    // frames that a watcher may have missed
	sourcePause = 100 * time.Millisecond // before a source that went is asked again
	sourceGone  = 10 * time.Second       // after which watchers are told so
)

// crashFeed is one crash table that is watched: one call of the service, any of
// its processes, whose events are encoded once for all.
type crashFeed struct {
	table  string
	codec  codec
	cancel context.CancelFunc
	wake   func()        // tells the writers that there is something to write
	users  int           // guarded by the watch
	begun  chan struct{} // closed when there is a table to show, or an error

	mu     sync.Mutex
	err    error // of a feed that never began
	gone   bool  // nothing more will come
	view   crashview.View
	frames []crashFrame // the newest; none is ever written to
	base   uint64       // position of the first of frames
}

// crashFrame is one event as it is sent.
type crashFrame struct {
	event int64
	text  []byte
	at    time.Time // when it was read
}

func newCrashFeed(table string, codec codec, wake, cancel func()) *crashFeed {
	return &crashFeed{table: table, codec: codec, wake: wake, cancel: cancel, begun: make(chan struct{})}
}

// run reads events until ctx ends, the table is none, or the source stays away.
// Meanwhile watchers wait, and are told what they missed.
func (f *crashFeed) run(ctx context.Context, tables originalsv1.CrashServiceClient) {
	var failing time.Time
	for ctx.Err() == nil {
		read, err := f.read(ctx, tables)
		if f.fail(err) {
			return
		}
		if read || failing.IsZero() {
			failing = time.Now()
		}
		if reason.Of(err) == reason.TableNotFound || time.Since(failing) >= sourceGone {
			f.end()
			return
		}
		select {
		case <-time.After(sourcePause):
		case <-ctx.Done():
		}
	}
}

// fail ends a feed that has not begun.
func (f *crashFeed) fail(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.view.Begun() {
		return false
	}
	f.err, f.gone = err, true
	close(f.begun)
	return true
}

func (f *crashFeed) end() {
	f.mu.Lock()
	f.gone = true
	f.mu.Unlock()
	f.wake()
}

var errSourceEnds = errors.New("gateway: the source of a table's events ends")

// read makes one call and takes its events. It reports whether there were any.
func (f *crashFeed) read(ctx context.Context, tables originalsv1.CrashServiceClient) (read bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	request := &originalsv1.WatchRequest{Table: f.table, AfterEvent: f.view.Event(), History: !f.view.Begun()}
	f.mu.Unlock()
	stream, err := tables.Watch(ctx, request)
	for err == nil {
		var e *originalsv1.CrashEvent
		if e, err = stream.Recv(); err != nil {
			break
		}
		if e.GetDropped() != nil {
			return read, errSourceEnds
		}
		if read = true; !e.GetHeartbeat() {
			err = f.take(e)
		}
	}
	return read, err
}

// take encodes an event and has it written. History, and the first snapshot, is
// for those who will come.
func (f *crashFeed) take(e *originalsv1.CrashEvent) error {
	frame, err := f.frame(e)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	began := f.view.Begun()
	if began || e.GetSnapshot() != nil {
		f.view.Apply(e, now)
	}
	first := !began && f.view.Begun()
	if frame != nil && !first {
		f.keep(crashFrame{e.GetEvent(), frame, now})
	}
	if first {
		close(f.begun)
	}
	if began {
		f.wake()
	}
	return nil
}

func (f *crashFeed) keep(frame crashFrame) {
	if len(f.frames) == 2*crashMemory {
		f.frames = append([]crashFrame(nil), f.frames[crashMemory:]...)
		f.base += crashMemory
	}
	f.frames = append(f.frames, frame)
}

// join returns what a watcher is sent first, and his position after it. He goes
// on after the event that he has, if that is known.
func (f *crashFeed) join(after int64) (first []byte, next uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, 0, f.err
	}
	head := f.base + uint64(len(f.frames))
	if after > 0 {
		for i := len(f.frames) - 1; i >= 0; i-- {
			if f.frames[i].event == after {
				return nil, f.base + uint64(i) + 1, nil
			}
		}
		if after == f.view.Event() {
			return nil, head, nil
		}
	}
	first, err = f.frame(f.view.Snapshot(time.Now()))
	if err != nil || f.view.Bets() == nil {
		return first, head, err
	}
	bets, err := f.frame(f.view.Bets())
	return append(first, bets...), head, err
}

// newest returns the newest frames, the position of the first, and whether
// nothing more will come.
func (f *crashFeed) newest() (frames []crashFrame, base uint64, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frames, f.base, f.gone
}

func (f *crashFeed) over() bool {
	_, _, gone := f.newest()
	return gone
}

// frame encodes an event; nil for one that shows nothing.
func (f *crashFeed) frame(e *originalsv1.CrashEvent) ([]byte, error) {
	name, data := crashBody(e)
	if data == nil {
		return nil, nil
	}
	frame := []byte("event: " + name + "\n")
	if e.GetEvent() != 0 || e.GetSnapshot() != nil {
		frame = append(frame, "id: "+strconv.FormatInt(e.GetEvent(), 10)+"\n"...)
	}
	frame = append(frame, "data: "...)
	frame, err := f.codec.encoder.Append(frame, data)
	return append(frame, '\n', '\n'), err
}

func crashBody(e *originalsv1.CrashEvent) (name string, data proto.Message) {
	switch body := e.GetBody().(type) {
	case *originalsv1.CrashEvent_Snapshot:
		return "snapshot", body.Snapshot
	case *originalsv1.CrashEvent_Phase:
		return "phase", body.Phase
	case *originalsv1.CrashEvent_Tick_:
		return "tick", body.Tick
	case *originalsv1.CrashEvent_CashOuts_:
		return "cashOuts", body.CashOuts
	case *originalsv1.CrashEvent_Bets_:
		return "bets", body.Bets
	case *originalsv1.CrashEvent_Crash_:
		return "crash", body.Crash
	}
	return "", nil
}

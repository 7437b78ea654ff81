package gateway

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	placeRoom  = 64  // frames that a watcher may be behind
	feedMemory = 256 // events that a returning watcher may have missed
)

var heartbeatFrame = []byte(": heartbeat\n\n")

func droppedFrame(why string) []byte {
	return []byte("event: dropped\ndata: {\"reason\":\"" + why + "\"}\n\n")
}

// feed is one duel that is watched: what the service has told of it, and who
// is to be told.
type feed struct {
	duelID string
	codec  codec
	cancel context.CancelFunc
	users  int           // guarded by the watch
	begun  chan struct{} // closed when there is something to tell, or an error

	mu       sync.Mutex
	err      error // of a feed that never began
	ended    bool
	duel     *originalsv1.Duel // as it stands
	number   uint32            // of the newest event
	snapshot []byte            // frame of the duel as it stands; nil when not made yet
	recent   [][]byte          // frames of the newest events, without a gap up to number
	places   map[*place]bool
}

// place is one watcher of a feed.
type place struct {
	first  [][]byte
	frames chan []byte // closed when last says why
	last   []byte      // the last frame of a closed place; may be empty
}

func newFeed(duelID string, codec codec, cancel context.CancelFunc) *feed {
	return &feed{duelID: duelID, codec: codec, cancel: cancel, begun: make(chan struct{}), places: make(map[*place]bool)}
}

// run takes events from the service until the duel has ended or ctx is done.
func (f *feed) run(ctx context.Context, duels originalsv1.DuelServiceClient) {
	stream, err := duels.WatchDuel(ctx, &originalsv1.WatchDuelRequest{DuelId: f.duelID})
	for err == nil {
		var e *originalsv1.DuelEvent
		if e, err = stream.Recv(); err == nil {
			err = f.take(e)
		}
	}
	f.end(err)
}

var errEvent = errors.New("gateway: an event of a duel without the duel")

// take folds an event into the duel, and tells it to all.
func (f *feed) take(e *originalsv1.DuelEvent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.duel == nil
	switch {
	case e.GetDuel() != nil:
		f.duel = e.GetDuel()
	case e.GetRoll() != nil && !first:
		f.duel.Rolls = append(f.duel.Rolls, e.GetRoll())
		f.duel.State, f.duel.EventNumber = originalsv1.Duel_PLAYING, e.GetEventNumber()
	default:
		return errEvent
	}
	frame, err := f.frame(e)
	if err != nil {
		return err
	}
	if f.snapshot = nil; e.GetDuel() != nil {
		f.snapshot = frame
	}
	if e.GetEventNumber() != f.number+1 || len(f.recent) == feedMemory {
		f.recent = nil
	}
	f.recent, f.number = append(f.recent, frame), e.GetEventNumber()
	for p := range f.places {
		f.tell(p, frame)
	}
	if first {
		close(f.begun)
	}
	return nil
}

// tell gives a frame to a watcher, or drops one who is too far behind.
func (f *feed) tell(p *place, frame []byte) {
	select {
	case p.frames <- frame:
	default:
		f.drop(p, droppedFrame(droppedSlow))
	}
}

func (f *feed) drop(p *place, last []byte) {
	p.last = last
	close(p.frames)
	delete(f.places, p)
}

// end closes all places: silently after the end of the duel, which every
// watcher has been told.
func (f *feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	last := droppedFrame(droppedUpstream)
	if errors.Is(err, io.EOF) && isOver(f.duel) {
		last = nil
	}
	for p := range f.places {
		f.drop(p, last)
	}
	if f.duel == nil {
		f.err = err
		close(f.begun)
	}
}

func (f *feed) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// join adds a watcher, who gets first what came after the event that he has, or
// else the duel as it stands.
func (f *feed) join(after *uint32) (*place, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.duel == nil {
		return nil, f.err
	}
	p := &place{frames: make(chan []byte, placeRoom)}
	var err error
	if p.first, err = f.missed(after); err != nil {
		return nil, err
	}
	switch {
	case !f.ended:
		f.places[p] = true
	case isOver(f.duel):
		close(p.frames)
	default:
		p.last = droppedFrame(droppedUpstream)
		close(p.frames)
	}
	return p, nil
}

func (f *feed) quit(p *place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.places, p)
}

// missed returns the frames that bring a watcher up to date.
func (f *feed) missed(after *uint32) ([][]byte, error) {
	oldest := f.number - uint32(len(f.recent))
	if after != nil && *after >= oldest && *after < f.number {
		return f.recent[*after-oldest:], nil
	}
	if after != nil && *after == f.number && !isOver(f.duel) {
		return nil, nil
	}
	if f.snapshot == nil {
		var err error
		f.snapshot, err = f.frame(&originalsv1.DuelEvent{EventNumber: f.number, Event: &originalsv1.DuelEvent_Duel{Duel: f.duel}})
		if err != nil {
			return nil, err
		}
	}
	return [][]byte{f.snapshot}, nil
}

// frame encodes an event.
func (f *feed) frame(e *originalsv1.DuelEvent) ([]byte, error) {
	name, data := "roll", proto.Message(e.GetRoll())
	if e.GetDuel() != nil {
		name, data = "duel", e.GetDuel()
		if isOver(e.GetDuel()) {
			name = "end"
		}
	}
	frame := append([]byte("event: "+name+"\nid: "), strconv.FormatUint(uint64(e.GetEventNumber()), 10)...)
	frame = append(frame, "\ndata: "...)
	frame, err := f.codec.encoder.Append(frame, data)
	return append(frame, '\n', '\n'), err
}

func isOver(d *originalsv1.Duel) bool { return d.GetState() >= originalsv1.Duel_ENDED }

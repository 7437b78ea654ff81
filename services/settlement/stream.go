package settlement

import (
	"context"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// streamLife ends a stream whose token was checked that long ago. Its reader
// comes again with his cursor.
const streamLife = time.Hour

var (
	errStopping = status.Error(codes.Unavailable, "the process is ending: go on with the last cursor")
	errOld      = status.Error(codes.Unavailable, "the stream has lasted an hour: go on with the last cursor")
	errAhead    = reason.Field("cursor", "is ahead of the settlements that are there: the store has lost some; compare digests and go on from before")
)

// heads are the newest sequences of an operator's partitions.
type heads = [ledger.Partitions]uint64

// feeds are the operators whose settlements are being streamed.
type feeds struct {
	mu sync.Mutex
	of map[string]*feed
}

// feed is an operator's outbox, which is looked at while somebody streams it.
type feed struct {
	pages  pages
	users  int // guarded by feeds
	cancel context.CancelFunc

	mu      sync.Mutex
	heads   heads
	changed chan struct{} // closed, and replaced, by each change
}

// enter returns the feed of an operator, and begins to look for the first
// reader.
func (s *Service) enter(name string) *feed {
	s.feeds.mu.Lock()
	defer s.feeds.mu.Unlock()
	f := s.feeds.of[name]
	if f == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f = &feed{pages: pages{store: s.o.Store, operator: name}, cancel: cancel, changed: make(chan struct{})}
		if s.feeds.of == nil {
			s.feeds.of = make(map[string]*feed)
		}
		s.feeds.of[name] = f
		go s.poll(ctx, f)
	}
	f.users++
	return f
}

func (s *Service) leave(f *feed) {
	s.feeds.mu.Lock()
	defer s.feeds.mu.Unlock()
	if f.users--; f.users == 0 {
		delete(s.feeds.of, f.pages.operator)
		f.cancel()
	}
}

// poll looks for new settlements until the last reader has left.
func (s *Service) poll(ctx context.Context, f *feed) {
	tick := time.NewTicker(s.o.PollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_ = s.look(ctx, f) // a store that does not answer is asked again, and shows in its own metrics
	}
}

// look asks the store for the heads.
func (s *Service) look(ctx context.Context, f *feed) error {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	f.mu.Lock()
	before := f.heads
	f.mu.Unlock()
	now, err := s.o.Store.Heads(ctx, f.pages.operator)
	if err != nil {
		return err
	}
	f.note(before, now)
	return nil
}

// note takes heads that were asked for when the feed had those before. Looks may
// overtake each other, so that a lower head counts only when it is below what was
// known before it was asked for: then the store has lost settlements.
func (f *feed) note(before, now heads) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed, lost := false, false
	for p, head := range now {
		switch {
		case head > f.heads[p]:
			f.heads[p], changed = head, true
		case head < before[p]:
			f.heads[p], changed, lost = head, true, true
		}
	}
	if lost {
		f.pages.forget()
	}
	if changed {
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

func (f *feed) state() (heads, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heads, f.changed
}

// StreamSettlements sends the settlements of all partitions. The first message
// is without one: it says that the caller is let in, and where he stands. A reader
// who is slow waits for himself alone, and nothing is kept for him.
func (s *Service) StreamSettlements(req *originalsv1.StreamSettlementsRequest, stream grpc.ServerStreamingServer[originalsv1.StreamSettlementsResponse]) error {
	ctx := stream.Context()
	name, err := operator(ctx)
	if err != nil {
		return err
	}
	at, err := parseCursor(req.GetCursor())
	if err != nil {
		return err
	}
	if req.GetBatch() < 0 || req.GetBatch() > pageSize {
		return reason.Field("batch", "must be 0 to "+strconv.Itoa(pageSize))
	}
	f := s.enter(name)
	defer s.leave(f)
	if err := s.look(ctx, f); err != nil {
		return err
	}
	r := &reader{at: at, batch: int(max(req.GetBatch(), 1)), feed: f, stop: s.o.Stop, stream: stream, message: new(originalsv1.StreamSettlementsResponse)}
	if now, _ := f.state(); r.isAhead(now) {
		return errAhead
	}
	if err := r.beat(); err != nil {
		return err
	}
	return s.serve(ctx, r)
}

// serve sends until the reader leaves, or is to come again.
func (s *Service) serve(ctx context.Context, r *reader) error {
	old := time.NewTimer(streamLife)
	defer old.Stop()
	silence := time.NewTimer(s.o.Heartbeat)
	defer silence.Stop()
	for {
		now, changed := r.feed.state()
		sent, err := r.send(ctx, now)
		if err != nil {
			return err
		}
		if sent {
			silence.Reset(s.o.Heartbeat)
		}
		select {
		case <-changed:
		case <-silence.C:
			if err := r.beat(); err != nil {
				return err
			}
			silence.Reset(s.o.Heartbeat)
		case <-ctx.Done():
			return ctx.Err()
		case <-s.o.Stop:
			return errStopping
		case <-old.C:
			return errOld
		}
	}
}

// reader is one stream.
type reader struct {
	at      cursor
	batch   int // settlements in one message, from 1
	feed    *feed
	stop    <-chan struct{}
	stream  grpc.ServerStreamingServer[originalsv1.StreamSettlementsResponse]
	message *originalsv1.StreamSettlementsResponse // filled anew for each send
	buffer  []byte                                 // of a batch
}

func (r *reader) isAhead(now heads) bool {
	for p, head := range now {
		if r.at[p] > head {
			return true
		}
	}
	return false
}

// beat says that the stream lives, and where it stands.
func (r *reader) beat() error { return r.put(nil, r.at.text()) }

// send brings the reader up to the heads, a page of each partition at a time.
func (r *reader) send(ctx context.Context, now heads) (sent bool, err error) {
	if r.isAhead(now) {
		return false, errAhead
	}
	for more := true; more; {
		more = false
		for p, head := range now {
			if r.at[p] == head {
				continue
			}
			if err := r.sendPage(ctx, p, head); err != nil {
				return sent, err
			}
			sent, more = true, true
		}
	}
	return sent, nil
}

func (r *reader) sendPage(ctx context.Context, partition int, head uint64) error {
	select {
	case <-r.stop:
		return errStopping
	default:
	}
	items, err := r.feed.pages.after(ctx, partition, r.at[partition], head)
	if err != nil {
		return err
	}
	before := r.at.text()
	for len(items) > 0 {
		n := min(len(items), r.batch)
		next := r.at[partition] + uint64(n)
		if err := r.put(r.joined(items[:n]), eventText(before, partition, next)); err != nil {
			return err
		}
		r.at[partition], items = next, items[n:]
	}
	return nil
}

// joined returns settlements as one message has them: a single one as it is, and
// those of a batch one after the other under the field of batches.
func (r *reader) joined(items [][]byte) []byte {
	if r.batch == 1 {
		return items[0]
	}
	r.buffer = r.buffer[:0]
	for _, item := range items {
		at := len(r.buffer)
		r.buffer = append(r.buffer, item...)
		r.buffer[at] = batchTag
	}
	return r.buffer
}

// put sends one message. What it has of settlements is on the wire already, and stands
// there as fields that the message does not know: to the receiver it is the same.
func (r *reader) put(item []byte, cursor string) error {
	r.message.Cursor = cursor
	r.message.ProtoReflect().SetUnknown(item)
	return r.stream.Send(r.message)
}

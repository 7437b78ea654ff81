package duel

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/duelstore"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// board shows the newest state of each duel that is watched.
type board struct {
	mu     sync.Mutex
	topics map[duelstore.ID]*topic
}

// topic is one watched duel.
type topic struct {
	watchers int
	duel     duelstore.Duel
	changed  chan struct{} // closed, and replaced, by each change
	gone     chan struct{} // closed when the last watcher left
	hint     chan struct{} // gets a value when it is worth looking at the duel
}

// note tells the watchers of a duel, if there are any, how it stands.
func (b *board) note(d duelstore.Duel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.topics[d.ID]
	if t == nil || t.duel.Version >= d.Version {
		return
	}
	t.duel = d
	close(t.changed)
	t.changed = make(chan struct{})
}

// join adds a watcher. first says that he is the only one.
func (b *board) join(d duelstore.Duel) (t *topic, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t = b.topics[d.ID]
	if t == nil {
		t, first = &topic{duel: d, changed: make(chan struct{}), gone: make(chan struct{}), hint: make(chan struct{}, 1)}, true
		if b.topics == nil {
			b.topics = make(map[duelstore.ID]*topic)
		}
		b.topics[d.ID] = t
	}
	t.watchers++
	return t, first
}

func (b *board) watched(id duelstore.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.topics[id] != nil
}

func (b *board) leave(t *topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.watchers--; t.watchers == 0 {
		delete(b.topics, t.duel.ID)
		close(t.gone)
	}
}

// hint has a duel looked at, if it is watched and has changed since.
func (b *board) hint(id duelstore.ID, version uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.topics[id]
	if t == nil || t.duel.Version >= version {
		return
	}
	select {
	case t.hint <- struct{}{}:
	default: // it is going to be looked at
	}
}

// state returns how the duel stands, and what is closed when it no longer does.
func (b *board) state(t *topic) (duelstore.Duel, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return t.duel, t.changed
}

// Listen follows the notices of steps that other processes took, until ctx ends.
func (s *Service) Listen(ctx context.Context) {
	if s.o.Notices != nil {
		s.o.Notices.Listen(ctx, s.board.hint)
	}
}

// follow has notices of a duel sent, until the last watcher has left. A store
// that does not answer is followed later.
func (s *Service) follow(t *topic, id duelstore.ID) {
	if s.o.Notices == nil {
		return
	}
	within := func(call func(context.Context, duelstore.ID) error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := call(ctx, id); err != nil {
			s.o.Log.Debug("no notices of a duel for now", zap.String("duelId", string(id)), zap.Error(err))
		}
	}
	within(s.o.Notices.Follow)
	<-t.gone
	if !s.board.watched(id) { // else somebody has come since, who follows it
		within(s.o.Notices.Unfollow)
	}
}

// poll looks at a watched duel again and again, for steps that other processes
// took and for what time did, until the last watcher has left.
func (s *Service) poll(t *topic, id duelstore.ID) {
	tick := time.NewTicker(s.o.PollInterval)
	defer tick.Stop()
	for {
		select {
		case <-t.gone:
			return
		case <-tick.C:
		case <-t.hint:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		d, err := s.o.Store.Look(ctx, id, duelstore.Caller{})
		cancel()
		if err == nil { // a store that does not answer is asked again, and shows in its own metrics
			s.board.note(d)
		}
	}
}

var errStopping = status.Error(codes.Unavailable, "the process is ending")

// WatchDuel streams what is public of a duel until it ends.
func (s *Service) WatchDuel(req *originalsv1.WatchDuelRequest, stream grpc.ServerStreamingServer[originalsv1.DuelEvent]) error {
	id, err := parseID(req.GetDuelId())
	if err != nil {
		return err
	}
	ctx := stream.Context()
	d, err := s.o.Store.Look(ctx, id, duelstore.Caller{})
	if err != nil {
		return refused(d, err)
	}
	t, first := s.board.join(d)
	defer s.board.leave(t)
	if first {
		go s.follow(t, id)
		go s.poll(t, id)
	}
	s.board.note(d)
	seen := req.AfterEvent
	for {
		d, changed := s.board.state(t)
		events, err := s.events(&d, seen)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := stream.Send(e); err != nil {
				return err
			}
		}
		if d.State.Over() {
			return nil
		}
		seen = &d.Version
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.o.Stop:
			return errStopping
		}
	}
}

// events returns what came after an event that a watcher has seen; nil stands
// for a watcher who has seen nothing.
//
// Numbers follow from the record alone, so that they are the same in every
// process: each step adds 1, and once both client seeds are fixed nothing but
// rolls and the end are steps. Before that the duel as it stands tells
// everything. The end is told even to a watcher who has seen it.
func (s *Service) events(d *duelstore.Duel, seen *uint32) ([]*originalsv1.DuelEvent, error) {
	over := uint32(0)
	if d.State.Over() {
		over = 1
	}
	fixed := d.Version - d.Rolls - over // number of the step that fixed the seeds, if they are
	if seen == nil || !d.Fixed || *seen < fixed || *seen > d.Version {
		if seen != nil && *seen == d.Version && over == 0 {
			return nil, nil
		}
		return s.snapshot(d)
	}
	var events []*originalsv1.DuelEvent
	rolls, err := s.rolls(d, min(*seen-fixed, d.Rolls))
	if err != nil {
		return nil, err
	}
	for _, roll := range rolls {
		events = append(events, &originalsv1.DuelEvent{
			EventNumber: fixed + 1 + roll.GetPly(), Event: &originalsv1.DuelEvent_Roll{Roll: roll},
		})
	}
	if over == 0 {
		return events, nil
	}
	end, err := s.snapshot(d)
	return append(events, end...), err
}

func (s *Service) snapshot(d *duelstore.Duel) ([]*originalsv1.DuelEvent, error) {
	m, err := s.message(d, false)
	if err != nil {
		return nil, err
	}
	return []*originalsv1.DuelEvent{{EventNumber: d.Version, Event: &originalsv1.DuelEvent_Duel{Duel: m}}}, nil
}

package crash

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/crashview"
	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	// keptEvents is how many events a watcher may be behind and still go on
	// without a snapshot. The store keeps a few more.
	keptEvents = 900
	// placeRoom is how many events a watcher may be behind who is connected.
	placeRoom = 256
	// eventSeries is the distance of two series of event numbers: writes may
	// have been lost between them.
	eventSeries = 1 << 32
)

// feed reads the events of one table, once for all who watch it in this
// process. It ends with the last of them.
type feed struct {
	t      *table
	cancel context.CancelFunc
	users  int           // guarded by the service
	begun  chan struct{} // closed when there is a table to show, or an error

	last uint64 // newest event that was read; of the reader alone

	mu     sync.Mutex
	err    error // of a feed that never began
	view   crashview.View
	recent []*originalsv1.CrashEvent // the newest events; never written to
	places map[*place]bool
}

// place is one watcher of a feed.
type place struct {
	first  []*originalsv1.CrashEvent
	events chan *originalsv1.CrashEvent
	slow   chan struct{} // closed when he was dropped for being slow; events is then closed, too
}

func newFeed(t *table, cancel context.CancelFunc) *feed {
	return &feed{t: t, cancel: cancel, begun: make(chan struct{}), places: make(map[*place]bool)}
}

// run reads events until ctx ends. While the store is away, watchers wait.
func (f *feed) run(ctx context.Context) {
	f.err = f.begin(ctx)
	close(f.begun)
	for f.err == nil && ctx.Err() == nil {
		f.follow(ctx)
	}
}

// begin reads the events that are kept, and the table as it stands.
func (f *feed) begin(ctx context.Context) error {
	state, err := f.t.store().CrashState(ctx, f.t.name())
	if err != nil {
		return err
	}
	f.last = state.LastEvent - min(state.LastEvent%eventSeries, keptEvents)
	now := time.Now()
	var later []*originalsv1.CrashEvent
	for f.last < state.LastEvent {
		events, err := f.t.store().CrashEvents(ctx, f.t.name(), f.last)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			break // they were lost
		}
		for _, e := range events {
			m := f.message(ctx, e)
			f.keep(m)
			if e.Number > state.LastEvent {
				later = append(later, m)
			} else {
				f.view.Apply(m, now) // the bets of the round
			}
			f.last = e.Number
		}
	}
	f.last = max(f.last, state.LastEvent)
	f.view.Apply(f.t.snapshot(ctx, state), now)
	for _, m := range later {
		f.view.Apply(m, now)
	}
	return nil
}

// follow waits for the next events and tells them. Numbers that do not go on,
// as after the store was replaced, are answered by a snapshot.
func (f *feed) follow(ctx context.Context) {
	events, err := f.t.store().CrashEvents(ctx, f.t.name(), f.last)
	if err != nil {
		f.t.report(ctx, "events are not read", err)
		sleep(ctx, lookInterval)
		return
	}
	for _, e := range events {
		if e.Number != f.last+1 {
			f.resync(ctx)
			return
		}
		f.last = e.Number
		f.tell(f.message(ctx, e))
	}
	if len(events) == 0 {
		f.check(ctx)
	}
}

// check looks, in silence, whether the events go on elsewhere: below the last
// one they would never be read.
func (f *feed) check(ctx context.Context) {
	state, err := f.t.store().CrashState(ctx, f.t.name())
	if err != nil {
		f.t.report(ctx, "the table cannot be read for its watchers", err)
		return
	}
	if state.LastEvent < f.last || state.LastEvent/eventSeries != f.last/eventSeries {
		f.show(ctx, state)
	}
}

func (f *feed) resync(ctx context.Context) {
	state, err := f.t.store().CrashState(ctx, f.t.name())
	if err != nil {
		f.t.report(ctx, "the table cannot be read for its watchers", err)
		sleep(ctx, lookInterval)
		return
	}
	f.show(ctx, state)
}

// show tells all the table anew, after which its events go on.
func (f *feed) show(ctx context.Context, state ledger.CrashState) {
	f.last = state.LastEvent
	f.tell(f.t.snapshot(ctx, state))
}

// message decodes an event. One that is broken is an empty event: its number
// stays, and so there is no gap.
func (f *feed) message(ctx context.Context, e ledger.CrashEvent) *originalsv1.CrashEvent {
	m := &originalsv1.CrashEvent{}
	switch {
	case e.Crash:
		m.Body = &originalsv1.CrashEvent_Crash_{Crash: f.t.crashMessage(ctx, e.Step.Round)}
	case e.Step != nil:
		m.Body = &originalsv1.CrashEvent_Phase{Phase: f.t.message(ctx, *e.Step)}
	default:
		if err := proto.Unmarshal(e.Encoded, m); err != nil {
			f.t.report(ctx, "an event is broken", err)
			m.Reset()
		}
	}
	m.Event = int64(e.Number)
	return m
}

// keep remembers an event for those who come again.
func (f *feed) keep(m *originalsv1.CrashEvent) {
	if len(f.recent) == 2*keptEvents {
		f.recent = append([]*originalsv1.CrashEvent(nil), f.recent[keptEvents:]...)
	}
	f.recent = append(f.recent, m)
}

// tell gives an event to all, and drops those who are too far behind.
func (f *feed) tell(m *originalsv1.CrashEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(m)
	f.view.Apply(m, time.Now())
	for p := range f.places {
		select {
		case p.events <- m:
		default:
			delete(f.places, p)
			close(p.slow)
			close(p.events)
		}
	}
}

// join adds a watcher. He is given first what came after the event that he has;
// else a snapshot, with what is kept before it if he wants that.
func (f *feed) join(after int64, history bool) *place {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &place{events: make(chan *originalsv1.CrashEvent, placeRoom), slow: make(chan struct{})}
	f.places[p] = true
	if missed, ok := f.missed(after); ok {
		p.first = missed
		return p
	}
	if history {
		p.first = slices.Clone(f.recent)
	}
	p.first = append(p.first, f.view.Snapshot(time.Now()))
	if bets := f.view.Bets(); bets != nil {
		p.first = append(p.first, bets)
	}
	return p
}

// missed returns what came after an event, and whether that is known.
func (f *feed) missed(after int64) ([]*originalsv1.CrashEvent, bool) {
	if after <= 0 {
		return nil, false
	}
	for i := len(f.recent) - 1; i >= 0; i-- {
		if f.recent[i].GetEvent() == after {
			return slices.Clone(f.recent[i+1:]), true
		}
	}
	return nil, after == f.view.Event()
}

func (f *feed) quit(p *place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.places, p)
}

// snapshot shows a table as it stands, numbered as the newest event.
func (t *table) snapshot(ctx context.Context, s ledger.CrashState) *originalsv1.CrashEvent {
	return &originalsv1.CrashEvent{Event: int64(s.LastEvent), Body: &originalsv1.CrashEvent_Snapshot{Snapshot: t.message(ctx, s)}}
}

// crashMessage shows the end of a round, with its link: every round up to it has
// its outcome.
func (t *table) crashMessage(ctx context.Context, r ledger.CrashRound) *originalsv1.CrashEvent_Crash {
	m := &originalsv1.CrashEvent_Crash{Number: r.Number, CrashE2: r.PointE2}
	link, err := t.Chain.Link(r.Number)
	if err != nil {
		t.report(ctx, "the link of a crashed round cannot be read", err)
		return m
	}
	m.Hash = link.Reveal()
	return m
}

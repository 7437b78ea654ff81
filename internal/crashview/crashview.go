// Package crashview holds a crash table as the events that were read of it leave
// it, so that whoever joins can be shown it at once. It must never import a
// store or a service.
package crashview

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// View follows one table. The zero value has seen nothing. It is not safe for
// concurrent use.
type View struct {
	table *originalsv1.CrashTable // as the last snapshot or phase showed it; never written to
	at    time.Time               // when that was read
	tick  uint32                  // hundredths, of the last tick since; 0 for none
	bets  *originalsv1.CrashEvent_Bets
	event int64
}

// Apply takes an event, which was read at now. It keeps the event's content.
func (v *View) Apply(e *originalsv1.CrashEvent, now time.Time) {
	switch {
	case e.GetSnapshot() != nil:
		v.show(e.GetSnapshot(), now)
	case e.GetPhase() != nil:
		v.show(e.GetPhase(), now)
	case e.GetTick() != nil:
		v.tick = e.GetTick().GetMultiplierE2()
	case e.GetBets() != nil:
		v.bets = e.GetBets()
	}
	if e.GetEvent() != 0 || e.GetSnapshot() != nil {
		v.event = e.GetEvent()
	}
}

func (v *View) show(table *originalsv1.CrashTable, now time.Time) {
	v.table, v.at, v.tick = table, now, 0
	if v.bets.GetNumber() != table.GetNumber() {
		v.bets = nil
	}
}

// Begun reports whether there is a table to show.
func (v *View) Begun() bool { return v.table != nil }

// Event returns the number of the newest event.
func (v *View) Event() int64 { return v.event }

// Snapshot shows the table at now, numbered as the newest event. The server's
// time in it goes on since the table was read.
func (v *View) Snapshot(now time.Time) *originalsv1.CrashEvent {
	table := proto.CloneOf(v.table)
	if t := table.GetServerTime(); t != nil {
		table.ServerTime = timestamppb.New(t.AsTime().Add(max(0, now.Sub(v.at))))
	}
	if table.GetPhase() == originalsv1.CrashTable_RUNNING {
		table.MultiplierE2 = max(table.GetMultiplierE2(), v.tick)
	}
	return &originalsv1.CrashEvent{Event: v.event, Body: &originalsv1.CrashEvent_Snapshot{Snapshot: table}}
}

// Bets shows the bets of the round as they were shown last, without a number;
// nil when they were not.
func (v *View) Bets() *originalsv1.CrashEvent {
	if v.bets == nil {
		return nil
	}
	return &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Bets_{Bets: v.bets}}
}

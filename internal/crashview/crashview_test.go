package crashview

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Joiner mid-round sees an idle game.
func TestJoinerMidRoundSeesTheRunningMultiplier(t *testing.T) {
	read, server := time.Unix(1000, 0), time.Unix(5000, 0)
	var v View
	if v.Begun() {
		t.Error("begun before the first event")
	}
	phase := func(number int64, p originalsv1.CrashTable_Phase) *originalsv1.CrashEvent {
		return &originalsv1.CrashEvent{Event: number, Body: &originalsv1.CrashEvent_Phase{Phase: &originalsv1.CrashTable{
			Table: "main", Phase: p, Number: 3, ServerTime: timestamppb.New(server), MultiplierE2: 100,
		}}}
	}
	running := phase(7, originalsv1.CrashTable_RUNNING)
	kept := proto.CloneOf(running)
	v.Apply(running, read)
	v.Apply(&originalsv1.CrashEvent{Event: 8, Body: &originalsv1.CrashEvent_Tick_{Tick: &originalsv1.CrashEvent_Tick{MultiplierE2: 123}}}, read.Add(time.Second))
	bets := func(event int64, number uint32, count int32) *originalsv1.CrashEvent {
		return &originalsv1.CrashEvent{Event: event, Body: &originalsv1.CrashEvent_Bets_{Bets: &originalsv1.CrashEvent_Bets{Number: number, Count: count}}}
	}
	if v.Bets() != nil {
		t.Errorf("bets that nobody showed: %v", v.Bets())
	}
	v.Apply(bets(9, 3, 4), read)
	v.Apply(bets(0, 3, 5), read) // as those who joined are shown it
	if got := v.Bets(); !proto.Equal(got, bets(0, 3, 5)) {
		t.Errorf("bets %v", got)
	}
	e := v.Snapshot(read.Add(2 * time.Second))
	got := e.GetSnapshot()
	if e.GetEvent() != 9 || v.Event() != 9 || got.GetMultiplierE2() != 123 || got.GetNumber() != 3 || !got.GetServerTime().AsTime().Equal(server.Add(2*time.Second)) {
		t.Errorf("%v", e)
	}
	if !proto.Equal(running, kept) {
		t.Errorf("an event that others read was written to: %v", running)
	}
	v.Apply(phase(10, originalsv1.CrashTable_BETTING), read)
	if m := v.Snapshot(read.Add(-time.Second)).GetSnapshot(); m.GetMultiplierE2() != 100 || !m.GetServerTime().AsTime().Equal(server) {
		t.Errorf("the next round begins at %v", m)
	}
	v.Apply(&originalsv1.CrashEvent{Event: 4, Body: &originalsv1.CrashEvent_Snapshot{Snapshot: &originalsv1.CrashTable{Number: 9}}}, read)
	if v.Bets() != nil {
		t.Errorf("bets of a round that is over: %v", v.Bets())
	}
	if e := v.Snapshot(read); e.GetEvent() != 4 || e.GetSnapshot().GetNumber() != 9 || e.GetSnapshot().GetServerTime() != nil {
		t.Errorf("a snapshot after a gap: %v", e)
	}
	v.Apply(&originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Snapshot{Snapshot: &originalsv1.CrashTable{}}}, read)
	if v.Event() != 0 {
		t.Errorf("a snapshot of a store without events is of event %d", v.Event())
	}
}

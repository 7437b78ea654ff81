package ledgertest

import (
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
)

// testCrashEvents: a step and its event can not be parted, so that no death of an owner hides a phase.
func testCrashEvents(t *testing.T, f *floor) {
	before, err := f.b.Store.CrashState(f.ctx, f.table)
	f.ok(err)
	f.open(1)
	first, err := f.b.Store.CrashState(f.ctx, f.table)
	f.ok(err)
	last, err := f.b.Store.PublishCrash(f.ctx, f.owner, [][]byte{[]byte("a"), {0, 255, 13, 10}})
	f.ok(err)
	f.lock(1)
	for range 2 { // a repeat is no second event
		_, err = f.b.Store.StartCrashRound(f.ctx, f.owner, 1)
		f.ok(err)
	}
	_, err = f.b.Store.EndCrashRound(f.ctx, f.owner, 1, 234)
	f.ok(err)
	end, err := f.b.Store.FinishCrashRound(f.ctx, f.owner, 1, 0, "")
	f.ok(err)
	if before.LastEvent != 0 || last != first.LastEvent+2 || end.LastEvent != first.LastEvent+6 {
		t.Fatalf("numbered %d, %d, %d, %d", before.LastEvent, first.LastEvent, last, end.LastEvent)
	}
	events, err := f.b.Store.CrashEvents(f.ctx, f.table, 0)
	f.ok(err)
	if len(events) != 7 {
		t.Fatalf("%d events", len(events))
	}
	for i, want := range []struct {
		encoded string
		phase   ledger.CrashPhase
		crash   bool
		pointE2 uint32
	}{
		{phase: ledger.CrashBetting}, {encoded: "a"}, {encoded: "\x00\xff\r\n"}, {phase: ledger.CrashClosing}, {phase: ledger.CrashRunning},
		{phase: ledger.CrashCrashed, crash: true, pointE2: 234}, {phase: ledger.CrashCrashed, pointE2: 234},
	} {
		e := events[i]
		if e.Number != first.LastEvent+uint64(i) || string(e.Encoded) != want.encoded || e.Crash != want.crash || (e.Step == nil) != (want.encoded != "") {
			t.Fatalf("event %d: %+v", i, e)
		}
		if e.Step == nil {
			continue
		}
		r := e.Step.Round
		if r.Phase != want.phase || r.PointE2 != want.pointE2 || r.Number != 1 || e.Step.NowUs < r.OpenUs || r.OpenUs == 0 || e.Step.Mask != "" || e.Step.RoundLife == "" {
			t.Fatalf("event %d: %+v", i, e.Step)
		}
	}
	some, err := f.b.Store.CrashEvents(f.ctx, f.table, last)
	f.ok(err)
	if len(some) != 4 || some[0].Number != last+1 {
		t.Fatalf("after %d: %+v", last, some)
	}
	if none, err := f.b.Store.CrashEvents(f.ctx, f.table, end.LastEvent); err != nil || len(none) > 0 {
		t.Fatalf("events after the last: %v %v", none, err)
	}
}

func testCrashEventSeries(t *testing.T, f *floor, b CrashBackend) {
	const series = 1 << 32
	before, err := f.b.Store.PublishCrash(f.ctx, f.owner, [][]byte{{1}, {2}})
	f.ok(err)
	b.Replace(t)
	after, err := f.b.Store.PublishCrash(f.ctx, f.owner, [][]byte{{3}})
	f.ok(err)
	if before/series == after/series || before%series != 2 || after%series != 3 || after > 1<<53 {
		t.Fatalf("numbered %d, then %d", before, after)
	}
	events, err := f.b.Store.CrashEvents(f.ctx, f.table, after-1)
	f.ok(err)
	if len(events) != 1 || events[0].Number != after {
		t.Fatalf("events %+v", events)
	}
}

func testCrashRefusals(t *testing.T, f *floor) {
	p := f.player()
	_, err := f.b.Store.PlaceCrashBet(f.ctx, f.placement(p, "x", 200))
	f.refused(err, reason.BettingClosed)
	f.open(1)
	poor := f.placement(p, "x", 200)
	poor.Stake, poor.WorstCase = 1001, 2002
	_, err = f.b.Store.PlaceCrashBet(f.ctx, poor)
	f.refused(err, reason.InsufficientFunds)
	if e, _ := reason.From(err); e.Metadata["balance"] != "1000" {
		t.Errorf("metadata %v", e.Metadata)
	}
	stranger := f.placement(ledger.Player{Operator: "house", ID: "nobody"}, "x", 200)
	_, err = f.b.Store.PlaceCrashBet(f.ctx, stranger)
	f.refused(err, reason.InsufficientFunds)
	end := f.placement(p, "x", 200)
	end.LastNumber = 0
	_, err = f.b.Store.PlaceCrashBet(f.ctx, end)
	f.refused(err, reason.BettingClosed)
	own := f.placement(p, "x", 200)
	own.Refusal = reason.New(reason.StakeTooSmall, "too small")
	_, err = f.b.Store.PlaceCrashBet(f.ctx, own)
	f.refused(err, reason.StakeTooSmall)
	totals, err := f.b.Store.CrashTotals(f.ctx, f.table)
	f.ok(err)
	if totals.Count != 0 || totals.Worst[fun] != 0 {
		t.Fatalf("held after refusals: %+v", totals)
	}
	f.wantBalance(p, 1000)
	if _, err := f.b.Store.OpenCrashRound(f.ctx, f.owner, ledger.CrashOpening{Number: 2, BettingUs: 1}); !errors.Is(err, ledger.ErrCrashStep) {
		t.Fatalf("opened over an open round: %v", err)
	}
	if _, err := f.b.Store.StartCrashRound(f.ctx, f.owner, 1); !errors.Is(err, ledger.ErrCrashStep) {
		t.Fatalf("started before the lock: %v", err)
	}
}

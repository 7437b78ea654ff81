package crash

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

var phases = map[ledger.CrashPhase]originalsv1.CrashTable_Phase{
	ledger.CrashNone:    originalsv1.CrashTable_STOPPED,
	ledger.CrashBetting: originalsv1.CrashTable_BETTING,
	ledger.CrashClosing: originalsv1.CrashTable_CLOSING,
	ledger.CrashRunning: originalsv1.CrashTable_RUNNING,
	ledger.CrashCrashed: originalsv1.CrashTable_CRASHED,
	ledger.CrashFinal:   originalsv1.CrashTable_CRASHED,
}

// message shows a table. What a running round will come to is not in the state
// that it is made from.
func (t *table) message(ctx context.Context, s ledger.CrashState) *originalsv1.CrashTable {
	r := s.Round
	m := &originalsv1.CrashTable{
		Table: t.name(), Scheme: crash.Scheme, Growth: crash.GrowthScheme, GrowthSha256: t.s.digest,
		Phase: phases[r.Phase], Number: r.Number,
		Terminal: t.Chain.Terminal().String(), ChainLength: t.Chain.Length(), Salt: t.Chain.Salt(), Beacon: t.beaconMessage(r),
		Next: t.nextMessage(), Previous: t.Chain.Kept().After, End: t.endText(ctx, s),
		Timings: &originalsv1.CrashTable_Timings{
			BettingMs: uint32(t.Betting.Milliseconds()), CrashedMs: uint32(t.Crashed.Milliseconds()), TickMs: uint32(t.Tick.Milliseconds()),
		},
		ServerTime: stamp(s.NowUs), StartTime: stamp(r.StartUs), MultiplierE2: crash.MinPointE2,
	}
	m.NextTerminal = m.GetNext().GetTerminal()
	switch r.Phase {
	case ledger.CrashBetting:
		m.LockTime = stamp(r.LockUs)
	case ledger.CrashRunning:
		m.MultiplierE2 = t.s.o.Growth.MultiplierAt(t.s.o.pace * (s.NowUs - r.StartUs))
	case ledger.CrashCrashed, ledger.CrashFinal:
		if r.Void == "" {
			point := r.PointE2
			m.CrashE2, m.MultiplierE2 = &point, point
		}
	}
	if t.isUsedUp(s) {
		m.Phase = originalsv1.CrashTable_STOPPED
	}
	return m
}

// stamp returns a time in microseconds since 1970; nil for 0.
func stamp(us int64) *timestamppb.Timestamp {
	if us == 0 {
		return nil
	}
	return timestamppb.New(time.UnixMicro(us))
}

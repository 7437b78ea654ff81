package wire

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// CrashBet returns the message of a bet at a crash table. The crash point of
// its round in hundredths is 0 until the round has crashed. The balance is left
// out.
func CrashBet(t ledger.CrashTaken, pointE2 uint32) *originalsv1.Round {
	r, b := t.Round, t.Round.Bet.Crash
	m := &originalsv1.Round{
		RoundId: r.ID.String(), BetId: r.BetID, Game: originalsv1.Game(bet.Crash), Scheme: crash.Scheme,
		State: originalsv1.Round_State(r.State), Stake: Money(r.Currency, r.Stake), Payout: Money(r.Currency, r.Payout),
		CreateTime: timestamppb.New(r.CreateTime), SettleTime: timestamp(r.SettleTime),
		Crash: &originalsv1.Crash{
			Table: t.Table, Number: b.Number, AutoCashOutE2: b.TargetE2, CashOutE2: b.CashOutE2,
		},
	}
	if r.State == ledger.Settled {
		m.MultiplierE4 = int64(b.Paid())
	}
	if pointE2 != 0 {
		point := pointE2
		m.Crash.CrashE2 = &point
	}
	return m
}

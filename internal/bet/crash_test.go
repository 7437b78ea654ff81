package bet_test

import (
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/crash"
)

// Why a stake was given back stands in the place of a cash-out, and is never
// read as one.
func TestVoidCrashBetsKeepTheirReason(t *testing.T) {
	for _, why := range []string{"", "CANCELLED", "STORE_REPLACED", "NO_OWNER", "BEACON_UNPUBLISHED"} {
		in := bet.Bet{Game: bet.Crash, Crash: bet.CrashBet{Bet: crash.Bet{TargetE2: 1_000_000}, Number: 7, Void: why}}
		stored := in.AppendBinary(nil)
		out, err := bet.ParseBinary(bet.Crash, stored)
		if err != nil || out.Crash != in.Crash || out.Crash.Paid() != 0 || len(stored) != 9 {
			t.Errorf("%q: %+v, %v", why, out.Crash, err)
		}
	}
	for _, bad := range []bet.CrashBet{{Void: "BECAUSE"}, {Void: "CANCELLED", CashOutE2: 150}, {CashOutE2: 5}} {
		bad.TargetE2 = 200
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}

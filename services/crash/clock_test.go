package crash

import (
	"fmt"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// Where the owner lives on when the clock of the store is set, its rounds go on by
// its own clock, and none is void.
func TestAClockIsSetUnderALivingOwner(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		for _, phase := range []ledger.CrashPhase{ledger.CrashBetting, ledger.CrashRunning, ledger.CrashFinal} {
			t.Run(fmt.Sprintf("%s in phase %d", name, phase), func(t *testing.T) {
				h, e := onEmbedded(t)
				h.pace = 100
				first := h.start(true)
				h.awaitPhase(1, ledger.CrashBetting)
				bots := h.seat(first, 20, name)
				number := uint32(bots[0].round.GetCrash().GetNumber())
				h.awaitPhase(number, phase)
				e.SetTime(time.Now().Add(step))
				h.awaitFinal(number + 2)
				for _, b := range bots {
					h.check(b)
				}
				rounds, err := h.store.CrashRounds(t.Context(), "main", 1, number+2)
				if err != nil || len(rounds) != int(number)+2 {
					t.Fatalf("%d rounds, %v", len(rounds), err)
				}
				for _, r := range rounds {
					if r.Void != "" || r.StartUs == 0 {
						t.Errorf("a clock that was set has made %+v", r)
					}
				}
				h.checkHistory(number + 2)
			})
		}
	}
}

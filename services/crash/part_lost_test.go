package crash

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// In a cluster the home of a table and the partitions of its players are on
// several nodes, and one of them may lose writes alone.

// rewind gives a table's home back as it was, as a replica has it that takes
// over without the newest writes.
func rewind(t *testing.T, c redis.UniversalClient, kept map[string]string) {
	t.Helper()
	ctx := context.Background()
	kept["f"] = "0123456789abcdef0123" // opened in another life
	if err := c.Del(ctx, "{c:main}:s").Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.HSet(ctx, "{c:main}:s", kept).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestTheHomeOfATableAloneIsReplaced(t *testing.T) {
	for phase, name := range map[ledger.CrashPhase]string{
		ledger.CrashBetting: "betting", ledger.CrashClosing: "closing", ledger.CrashRunning: "running",
		ledger.CrashCrashed: "crashed", ledger.CrashFinal: "final",
	} {
		t.Run(name, func(t *testing.T) {
			h := onRedis(t)
			h.pace = 2000
			first := h.start(true)
			raw := h.dial(nil)
			h.awaitPhase(1, phase)
			kept, err := raw.HGetAll(context.Background(), "{c:main}:s").Result()
			if err != nil {
				t.Fatal(err)
			}
			h.awaitFinal(3)
			first.kill()
			<-first.done
			rewind(t, raw, kept)
			second := h.start(true)
			h.await("a later round", func() bool { return h.state().Round.Number > 4 && h.state().Round.Phase == ledger.CrashFinal })
			alice := h.player("alice")
			h.await("a bet that is taken", func() bool { _, err := second.bet(alice, "a", 101); return err == nil })
		})
	}
}

// A running round goes on after a loss, by the time that the store shows. Where
// that is less than what was shown before, the round may have crashed in public:
// whoever saw it would cash out just below.
func TestNobodyCashesOutAfterALossWithAClockThatWasSetBack(t *testing.T) {
	h, e := onEmbedded(t)
	h.pace = 20
	for h.point(1) < 500 {
		h.chain = newChain(t)
	}
	first := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	alice := h.player("alice")
	if _, err := first.bet(alice, "a", 1_000_000); err != nil {
		t.Fatal(err)
	}
	h.awaitPhase(1, ledger.CrashRunning)
	first.kill()
	<-first.done
	e.Replace()
	e.SetTime(time.Now().Add(-time.Hour))
	second := h.start(true)
	h.await("an answer", func() bool {
		round, err := second.cash(alice, "a")
		if err == nil && (round.GetState() != originalsv1.Round_SETTLED || round.GetPayout().GetAmount() != 0) {
			t.Errorf("cashed out as %v", round)
		}
		return err == nil
	})
	if r := h.state().Round; h.point(1) != r.PointE2 && r.Number == 1 {
		t.Errorf("round 1 ended as %+v", r)
	}
}

package rounds_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/rounds"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// slowVault takes its time to settle.
type slowVault struct {
	vaultv1.VaultServiceClient
	takes   time.Duration
	settled chan string
}

func (v *slowVault) Settle(ctx context.Context, req *vaultv1.SettleRequest, _ ...grpc.CallOption) (*originalsv1.Round, error) {
	select {
	case <-time.After(v.takes):
		v.settled <- req.GetRoundId()
		return req.GetRound(), nil
	case <-ctx.Done():
		v.settled <- ""
		return nil, ctx.Err()
	}
}

// The caller is answered by his deadline, and the settlement is not ended by
// it: once the nonce is taken the round is played to its end.
func TestFailedCallThatHadAnEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vault := &slowVault{takes: 3 * time.Second, settled: make(chan string, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := rounds.Settle(ctx, vault, &originalsv1.Round{RoundId: "a-round"}, bet.Bet{Game: bet.Dice, Dice: dice.Bet{Target: 5000, Direction: dice.Over}}, bet.Outcome{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v, want the end of the deadline after 1s", err, time.Since(start))
		}
		if got := <-vault.settled; got != "a-round" || time.Since(start) != 3*time.Second {
			t.Errorf("settled %q after %v, want the round after 3s", got, time.Since(start))
		}
	})
}

// A settlement that nobody waits for does not wait for ever.
func TestDeadlinesThatDoNotBoundRedisCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vault := &slowVault{takes: time.Hour, settled: make(chan string, 1)}
		_, err := rounds.Settle(t.Context(), vault, &originalsv1.Round{RoundId: "a-round"}, bet.Bet{Game: bet.Dice, Dice: dice.Bet{Target: 5000, Direction: dice.Over}}, bet.Outcome{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the settlement's own deadline", err)
		}
		if got := <-vault.settled; got != "" {
			t.Errorf("settled %q", got)
		}
	})
}

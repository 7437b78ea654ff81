// Package rounds plays a round against the vault: draw, derive, settle. Every
// game service is built on it; it must never import a service or a store.
package rounds

import (
	"context"
	"fmt"
	"time"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// settleTimeout bounds a settlement, which goes on after its caller is gone:
// once the nonce is taken the round is played to its end.
const settleTimeout = 5 * time.Second

// Play takes an instant bet and settles it. The vault may do both in one step;
// the game then derives the outcome all the same, and an outcome that differs
// is an error. A repeat of a bet that was taken before is answered with its
// round, which is settled now if it was left open.
func Play(ctx context.Context, vault vaultv1.VaultServiceClient, b bet.Bet, req *vaultv1.DrawRequest) (*originalsv1.Round, error) {
	req.Settle = true
	drawn, err := vault.Draw(auth.Forward(ctx), req)
	if err != nil {
		return nil, err
	}
	round := drawn.GetRound()
	if round.GetState() != originalsv1.Round_OPEN && drawn.GetSignature() == "" {
		return round, nil
	}
	o, err := Outcome(b, drawn, nil)
	if err != nil {
		return nil, err
	}
	if round.GetState() == originalsv1.Round_OPEN {
		round, err = Settle(ctx, vault, round, b, o, nil)
		return round, afterTheStake(err)
	}
	if int64(o.Payout) != round.GetPayout().GetAmount() || int64(o.Multiplier) != round.GetMultiplierE4() {
		return nil, fmt.Errorf("rounds: %s: the vault has paid another outcome", round.GetRoundId())
	}
	return round, nil
}

// Outcome derives the outcome of an open round from its signature; in mines,
// that of stopping after picks.
func Outcome(b bet.Bet, drawn *vaultv1.DrawResponse, picks []uint8) (bet.Outcome, error) {
	signature, err := rng.ParseSignature(drawn.GetSignature())
	if err != nil {
		return bet.Outcome{}, fmt.Errorf("rounds: %w", err)
	}
	return b.Outcome(signature, money.Units(drawn.GetRound().GetStake().GetAmount()), picks)
}

// afterTheStake keeps a refusal from saying that surely nothing happened, once
// the stake is taken: a token may expire between the two calls of one bet.
func afterTheStake(err error) error {
	if refusal, ok := reason.From(err); ok && refusal.Reason.Known() {
		return reason.New(reason.StoreUnavailable, "the bet was taken and is not known to be settled; repeat it with the same id")
	}
	return err
}

// Settle ends a round with an outcome, which the vault finds again.
func Settle(ctx context.Context, vault vaultv1.VaultServiceClient, round *originalsv1.Round, b bet.Bet, o bet.Outcome, picks []uint8) (*originalsv1.Round, error) {
	req := &vaultv1.SettleRequest{RoundId: round.GetRoundId(), Round: wire.Decided(b, o, picks)}
	return Finish(ctx, func(ctx context.Context) (*originalsv1.Round, error) { return vault.Settle(ctx, req) })
}

// Finish makes a call of the vault that follows from a round's outcome. It
// returns no later than ctx ends; the call then goes on without its caller.
// Every such call is made here, so that one which is slow or fails looks the
// same whatever the outcome is.
func Finish(ctx context.Context, call func(context.Context) (*originalsv1.Round, error)) (*originalsv1.Round, error) {
	finished := make(chan settlement, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
		defer cancel()
		round, err := call(auth.Forward(ctx))
		finished <- settlement{round, err}
	}()
	select {
	case f := <-finished:
		return f.round, f.err
	case <-ctx.Done():
		return nil, fmt.Errorf("rounds: not known to be finished: %w", ctx.Err())
	}
}

// settlement is the vault's answer.
type settlement struct {
	round *originalsv1.Round
	err   error
}

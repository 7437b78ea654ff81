package gateway

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// BindVerifier registers VerifierService, which needs nothing but its request.
func BindVerifier(reg grpc.ServiceRegistrar) {
	originalsv1.RegisterVerifierServiceServer(reg, verifier{})
}

type verifier struct {
	originalsv1.UnimplementedVerifierServiceServer
}

// Verify derives the outcome of a bet from its seeds, by the code that plays;
// that of another house by the arithmetic which that house has published.
func (verifier) Verify(_ context.Context, r *originalsv1.VerifyRequest) (*originalsv1.VerifyResponse, error) {
	if bet := r.GetForeign(); bet != nil {
		return verifyForeign(r, bet)
	}
	commitment, signature, err := derive(r)
	if err != nil {
		return nil, err
	}
	b, picks, err := parameters(r)
	if err != nil {
		return nil, err
	}
	// Of the stake only roulette's multiplier depends; the others show theirs
	// for any.
	outcome, err := b.Outcome(signature, b.Roulette.Stake(), picks)
	if errors.Is(err, bet.ErrPicks) {
		return nil, reason.Field("picks", "cannot be: a tile outside 0 to 24 or opened twice, or a pick after a mine")
	}
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	answer := &originalsv1.VerifyResponse{
		Commitment:   commitment.String(),
		Signature:    signature.Reveal(),
		MultiplierE4: int64(outcome.Multiplier),
	}
	show(answer, b, picks, outcome)
	return answer, nil
}

// derive reads the seeds and the nonce.
func derive(r *originalsv1.VerifyRequest) (rng.Commitment, rng.Signature, error) {
	refused := func(name, problem string) (rng.Commitment, rng.Signature, error) {
		return rng.Commitment{}, rng.Signature{}, reason.Field(name, problem)
	}
	if r.GetScheme() != rng.Scheme {
		return refused("scheme", "must be "+rng.Scheme+"; a bet of another house stands in foreign")
	}
	serverSeed, err := rng.ParseServerSeed(r.GetServerSeed())
	if err != nil {
		return refused("serverSeed", "must be 64 lower-case hex digits")
	}
	clientSeed, err := rng.ParseClientSeed(r.GetClientSeed())
	if err != nil {
		return refused("clientSeed", "must be 1 to 64 characters of visible ASCII")
	}
	if r.Nonce == nil || r.GetNonce() > rng.MaxNonce {
		return refused("nonce", "must be 0 to 4294967294")
	}
	commitment, err := serverSeed.Commitment()
	if err != nil {
		return rng.Commitment{}, rng.Signature{}, fmt.Errorf("verify: %w", err)
	}
	signature, err := serverSeed.Sign(clientSeed, r.GetNonce())
	if err != nil {
		return rng.Commitment{}, rng.Signature{}, fmt.Errorf("verify: %w", err)
	}
	return commitment, signature, nil
}

// parameters reads the bet. Roulette may have no chips: its pocket depends on
// none.
func parameters(r *originalsv1.VerifyRequest) (b bet.Bet, picks []uint8, err error) {
	switch p := r.GetParameters().(type) {
	case *originalsv1.VerifyRequest_Dice:
		b, err = wire.DiceBet(p.Dice)
	case *originalsv1.VerifyRequest_Limbo:
		b, err = wire.LimboBet(p.Limbo)
	case *originalsv1.VerifyRequest_Roulette:
		if len(p.Roulette.GetChips()) == 0 {
			return bet.Bet{Game: bet.Roulette}, nil, nil
		}
		b, err = wire.RouletteBet(p.Roulette)
	case *originalsv1.VerifyRequest_Mines:
		if b, err = wire.MinesBet(p.Mines); err == nil {
			picks, err = wire.Picks(p.Mines.GetPicks())
		}
	default:
		err = reason.New(reason.InvalidField, "one of dice, limbo, roulette, mines and foreign is required", "field", "dice")
	}
	return b, picks, err
}

// show puts the parameters and the outcome into the answer.
func show(answer *originalsv1.VerifyResponse, b bet.Bet, picks []uint8, o bet.Outcome) {
	switch b.Game {
	case bet.Dice:
		answer.Outcome = &originalsv1.VerifyResponse_Dice{Dice: wire.Dice(b.Dice, &o.Dice)}
	case bet.Limbo:
		answer.Outcome = &originalsv1.VerifyResponse_Limbo{Limbo: wire.Limbo(b.Limbo, &o.Limbo)}
	case bet.Roulette:
		answer.Outcome = &originalsv1.VerifyResponse_Roulette{Roulette: wire.Roulette(b.Roulette, &o.Pocket)}
	case bet.Mines:
		answer.Outcome = &originalsv1.VerifyResponse_Mines{Mines: &originalsv1.Mines{
			MineCount: uint32(b.MineCount),
			MaxPicks:  uint32(mines.Tiles - b.MineCount),
			Picks:     wire.Tiles(picks),
			Mines:     wire.Tiles(o.Mines),
			HitMine:   o.HitMine,
		}}
	}
}

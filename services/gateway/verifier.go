package gateway

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/bet"
	proof "github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	"github.com/openoriginals/originals/internal/wronghouse"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// BindVerifier registers VerifierService, which needs nothing but its request.
func BindVerifier(reg grpc.ServiceRegistrar) {
	originalsv1.RegisterVerifierServiceServer(reg, verifier{beacons: newBeacons(), walks: newWalks()})
}

type verifier struct {
	originalsv1.UnimplementedVerifierServiceServer
	beacons map[string]*beacon.Network
	walks   walks
}

// Verify derives the outcome of a bet from its seeds, by the code that plays;
// that of another house by the arithmetic which that house has published. It
// compares the commitment and the result that the player was shown.
func (v verifier) Verify(ctx context.Context, r *originalsv1.VerifyRequest) (*originalsv1.VerifyResponse, error) {
	if bet := r.GetForeign(); bet != nil {
		return verifyForeign(r, bet)
	}
	if round := r.GetCrash(); round != nil {
		return v.verifyCrash(ctx, r, round)
	}
	claim, err := claimOf(r)
	if err != nil {
		return nil, err
	}
	result, err := proof.VerifyRound(claim)
	switch {
	case errors.Is(err, bet.ErrPicks):
		return nil, reason.Field("picks", "cannot be: a tile outside 0 to 24 or opened twice, or a pick after a mine")
	case errors.Is(err, proof.ErrStated):
		return nil, reason.Field("claimed", "has a name that this game does not give; payout needs stakeUnits")
	case errors.Is(err, money.ErrOverflow):
		return nil, reason.Field("stakeUnits", "gives a payout that is too large")
	case err != nil:
		return nil, fmt.Errorf("verify: %w", err)
	}
	wronghouse.NoteOthers(claim, &result)
	answer := &originalsv1.VerifyResponse{Commitment: result.Commitment.String(), Signature: result.Signature}
	compare(answer, result.Report, claim.Stated, claim.Commitment != nil)
	return answer, show(answer, claim)
}

// claimOf reads our own bet and what its player was shown.
func claimOf(r *originalsv1.VerifyRequest) (claim proof.Claim, err error) {
	if r.GetScheme() != rng.Scheme {
		return claim, reason.Field("scheme", "must be "+rng.Scheme+"; a round of a crash table stands in crash, a bet of another house in foreign")
	}
	if claim.ServerSeed, err = rng.ParseServerSeed(r.GetServerSeed()); err != nil {
		m, words := proof.ServerSeedMistake(r.GetServerSeed(), r.GetClientSeed(), r.GetCommitment())
		return claim, mistaken("serverSeed", words, m)
	}
	if claim.ClientSeed, err = rng.ParseClientSeed(r.GetClientSeed()); err != nil {
		return claim, mistaken("clientSeed", proof.ExplainClientSeed(r.GetClientSeed()), mistake.OfText(r.GetClientSeed()))
	}
	if r.Nonce == nil || r.GetNonce() > rng.MaxNonce {
		return claim, reason.Field("nonce", "must be 0 to 4294967294")
	}
	claim.Nonce = r.GetNonce()
	if claim.Bet, claim.Picks, err = parameters(r); err != nil {
		return claim, err
	}
	if r.Commitment != nil {
		commitment, err := rng.ParseCommitment(r.GetCommitment())
		if err != nil {
			return claim, mistaken("commitment", "must be 64 lower-case hex digits: "+proof.HexMistake(r.GetCommitment()), mistake.OfText(r.GetCommitment()))
		}
		claim.Commitment = &commitment
	}
	if claim.Stake, err = stakeOf(r, claim.Bet); err != nil {
		return claim, err
	}
	claim.Stated, err = claimedOf(r)
	return claim, err
}

// stakeOf reads the stake, 0 when it is not given; that of roulette is the sum
// of its chips.
func stakeOf(r *originalsv1.VerifyRequest, b bet.Bet) (money.Units, error) {
	stake := money.Units(r.GetStakeUnits())
	switch {
	case b.Game == bet.Roulette && r.StakeUnits != nil && stake != b.Roulette.Stake():
		return 0, reason.Field("stakeUnits", "must be the sum of the chips, or left out")
	case b.Game == bet.Roulette:
		return b.Roulette.Stake(), nil
	case r.StakeUnits != nil && (stake < 1 || stake > money.MaxUnits):
		return 0, reason.Field("stakeUnits", "must be 1 to 9007199254740991")
	}
	return stake, nil
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
		err = reason.New(reason.InvalidField, "one of dice, limbo, roulette, mines, crash and foreign is required", "field", "dice")
	}
	return b, picks, err
}

// show puts the parameters and the outcome into the answer.
func show(answer *originalsv1.VerifyResponse, claim proof.Claim) error {
	signature, err := claim.ServerSeed.Sign(claim.ClientSeed, claim.Nonce)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	b := claim.Bet
	o, err := b.Outcome(signature, claim.Stake, claim.Picks)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	answer.MultiplierE4 = int64(o.Multiplier)
	if claim.Stake > 0 {
		answer.PayoutUnits = proto.Int64(int64(o.Payout))
	}
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
			Picks:     wire.Tiles(claim.Picks),
			Mines:     wire.Tiles(o.Mines),
			HitMine:   o.HitMine,
		}}
	}
	return nil
}

package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/beacon"
	proof "github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wronghouse"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	// maxLinks is how many links one call may walk: some tenths of a second.
	maxLinks = 1_000_000
	// freeLinks are walked without a turn: less than the call itself takes.
	freeLinks = 1000
	// maxWaiting is how many calls may wait for their turn to walk.
	maxWaiting = 16
)

// walks lets one call after the other walk a chain, so that those who need no
// token cannot take all processors.
type walks struct{ turn, waiting chan struct{} }

func newWalks() walks { return walks{make(chan struct{}, 1), make(chan struct{}, maxWaiting)} }

// take waits for the turn, and returns what gives it back.
func (w walks) take(ctx context.Context) (done func(), err error) {
	select {
	case w.waiting <- struct{}{}:
		defer func() { <-w.waiting }()
	default:
		return nil, reason.New(reason.RateLimited, "too many verify rounds far from their terminals; try again later")
	}
	select {
	case w.turn <- struct{}{}:
		return func() { <-w.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newBeacons makes the networks that tables may name.
func newBeacons() map[string]*beacon.Network {
	made := make(map[string]*beacon.Network)
	for _, hash := range []string{proof.QuicknetHash, beacon.TestHash} {
		if n, ok := beacon.Known(hash); ok {
			made[hash] = n
		}
	}
	return made
}

// beacon finds the network of a hash, that of quicknet for none.
func (v verifier) beacon(network string) proof.Beacon {
	if n := v.beacons[cmp.Or(network, proof.QuicknetHash)]; n != nil {
		return n
	}
	return nil
}

// verifyCrash judges a round of a crash table, and a bet in it.
func (v verifier) verifyCrash(ctx context.Context, r *originalsv1.VerifyRequest, p *originalsv1.CrashParameters) (*originalsv1.VerifyResponse, error) {
	claim, err := crashClaim(r, p)
	if err != nil {
		return nil, err
	}
	if claim.Number-claim.Anchor > freeLinks {
		done, err := v.walks.take(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	result, err := proof.VerifyCrashRound(ctx, claim, proof.CrashOptions{Beacons: v.beacon})
	switch {
	case errors.Is(err, proof.ErrStated):
		return nil, reason.Field("claimed", "has a name that this game does not give; win and multiplierE4 need targetE2, payout also stakeUnits")
	case errors.Is(err, money.ErrOverflow):
		return nil, reason.Field("stakeUnits", "gives a payout that is too large")
	case err != nil:
		return nil, fmt.Errorf("verify: %w", err)
	}
	wronghouse.NoteOtherTables(claim, &result)
	answer := &originalsv1.VerifyResponse{Commitment: result.Reached.String(), Signature: result.Digest}
	compare(answer, result.Report, claim.Stated, claim.Terminal != nil)
	outcome := &originalsv1.Crash{Table: string(claim.Table), Number: claim.Number, AutoCashOutE2: claim.TargetE2, CrashE2: proto.Uint32(result.PointE2)}
	if claim.TargetE2 != 0 && (crash.Bet{TargetE2: claim.TargetE2}).Wins(result.PointE2) {
		outcome.CashOutE2 = claim.TargetE2
	}
	multiplier := crash.Bet{TargetE2: outcome.CashOutE2}.Multiplier() // 0 of a loss
	answer.MultiplierE4 = int64(multiplier)
	if claim.Stake > 0 {
		payout, err := money.Payout(claim.Stake, multiplier)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		answer.PayoutUnits = proto.Int64(int64(payout))
	}
	answer.Outcome = &originalsv1.VerifyResponse_Crash{Crash: outcome}
	return answer, nil
}

// crashClaim reads the round, the bet and what its player was shown.
func crashClaim(r *originalsv1.VerifyRequest, p *originalsv1.CrashParameters) (claim proof.CrashClaim, err error) {
	switch {
	case r.GetScheme() != crash.Scheme:
		return claim, reason.Field("scheme", "must be "+crash.Scheme+" with crash")
	case r.GetClientSeed() != "":
		return claim, reason.Field("clientSeed", "is of no crash round: leave it out")
	case r.Nonce != nil:
		return claim, reason.Field("nonce", "is of no crash round: leave it out")
	case p.GetNumber() == 0:
		return claim, reason.Field("number", "must be 1 or more")
	case p.AnchorNumber != nil && (r.Commitment == nil || p.GetAnchorNumber() >= p.GetNumber()):
		return claim, reason.Field("anchorNumber", "must be that of an earlier round, whose hash stands in commitment")
	case p.GetNumber()-p.GetAnchorNumber() > maxLinks:
		return claim, reason.Field("anchorNumber", fmt.Sprintf("must be given, for it is more than %d links to the terminal: originals verify walks them all", maxLinks))
	}
	claim.Number, claim.Anchor = p.GetNumber(), p.GetAnchorNumber()
	if claim.Table, err = rng.ParseTable(p.GetTable()); err != nil {
		return claim, reason.Field("table", "must be 1 to 32 of a-z, 0-9 and -")
	}
	if claim.Link, err = rng.ParseLink(r.GetServerSeed()); err != nil {
		return claim, mistaken("serverSeed", hex64Problem(r.GetServerSeed()), mistake.OfText(r.GetServerSeed()))
	}
	if r.Commitment != nil {
		terminal, err := rng.ParseTerminal(r.GetCommitment())
		if err != nil {
			return claim, mistaken("commitment", hex64Problem(r.GetCommitment()), mistake.OfText(r.GetCommitment()))
		}
		claim.Terminal = &terminal
	}
	if err := crashSalt(p, &claim); err != nil {
		return claim, err
	}
	if err := crashBet(r, p, &claim); err != nil {
		return claim, err
	}
	claim.Stated, err = claimedOf(r)
	return claim, err
}

func hex64Problem(text string) string {
	return "must be 64 lower-case hex digits: " + proof.HexMistake(text)
}

var signaturePattern = regexp.MustCompile(`\A[0-9a-f]{96}\z`)

// crashSalt reads the salt, or the beacon that is the salt of this round.
func crashSalt(p *originalsv1.CrashParameters, claim *proof.CrashClaim) (err error) {
	if p.Salt != nil {
		if claim.Salt, err = rng.ParseSalt(p.GetSalt()); err != nil {
			return mistaken("salt", hex64Problem(p.GetSalt()), mistake.OfText(p.GetSalt()))
		}
	}
	switch {
	case p.BeaconSignature == nil && p.Salt == nil:
		return reason.Field("salt", "must be given, or beaconSignature and beaconRound")
	case p.BeaconSignature == nil && p.BeaconNetwork != nil:
		return reason.Field("beaconNetwork", "is that of beaconSignature")
	case p.BeaconNetwork != nil && proof.HexMistake(p.GetBeaconNetwork()) != "":
		return reason.Field("beaconNetwork", hex64Problem(p.GetBeaconNetwork()))
	case (p.BeaconSignature == nil) != (p.BeaconRound == nil):
		return reason.Field("beaconRound", "and beaconSignature must stand together")
	case p.BeaconSignature == nil:
		return nil
	case !signaturePattern.MatchString(p.GetBeaconSignature()):
		return reason.Field("beaconSignature", "must be 96 lower-case hex digits")
	case p.GetBeaconRound() < 1:
		return reason.Field("beaconRound", "must be 1 or more")
	}
	claim.BeaconRound, claim.BeaconNetwork = uint64(p.GetBeaconRound()), p.GetBeaconNetwork()
	claim.BeaconSignature, err = hex.DecodeString(p.GetBeaconSignature())
	return err // never: the pattern has seen it
}

// crashBet reads the bet, when there was one.
func crashBet(r *originalsv1.VerifyRequest, p *originalsv1.CrashParameters, claim *proof.CrashClaim) error {
	if claim.TargetE2 = p.GetTargetE2(); p.TargetE2 != nil && (claim.TargetE2 < crash.MinTargetE2 || claim.TargetE2 > crash.MaxTargetE2) {
		return reason.Field("targetE2", "must be 101 to 1000000")
	}
	if r.StakeUnits == nil {
		return nil
	}
	claim.Stake = money.Units(r.GetStakeUnits())
	switch {
	case p.TargetE2 == nil:
		return reason.Field("stakeUnits", "needs targetE2: where the bet cashed out, or would have")
	case claim.Stake < 1 || claim.Stake > money.MaxUnits:
		return reason.Field("stakeUnits", "must be 1 to 9007199254740991")
	}
	return nil
}

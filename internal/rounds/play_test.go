package rounds_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rounds"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// fakeVault answers as it is told, and keeps what it was asked.
type fakeVault struct {
	vaultv1.VaultServiceClient
	drawn     *vaultv1.DrawResponse
	refusal   error
	settles   []*vaultv1.SettleRequest
	outgoing  []metadata.MD
	afterDraw func()
}

func (v *fakeVault) Draw(ctx context.Context, _ *vaultv1.DrawRequest, _ ...grpc.CallOption) (*vaultv1.DrawResponse, error) {
	md, _ := metadata.FromOutgoingContext(ctx)
	v.outgoing = append(v.outgoing, md)
	if v.afterDraw != nil {
		v.afterDraw()
	}
	return v.drawn, v.refusal
}

func (v *fakeVault) Settle(ctx context.Context, req *vaultv1.SettleRequest, _ ...grpc.CallOption) (*originalsv1.Round, error) {
	md, _ := metadata.FromOutgoingContext(ctx)
	v.outgoing = append(v.outgoing, md)
	v.settles = append(v.settles, req)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return req.GetRound(), nil
}

// vector is a dice round that the reference verifiers derived: dice-0001.
const (
	vectorSignature = "ce7c6eab1c111741b5b6c0efd37a1e767fe6fb856586657ad0462608419818c0"
	vectorRoll      = 8481
	vectorStake     = 12345
	vectorPayout    = 12470
)

func vectorBet() bet.Bet {
	return bet.Bet{Game: bet.Dice, Dice: dice.Bet{Target: 199, Direction: dice.Over}}
}

func openRound() *vaultv1.DrawResponse {
	return &vaultv1.DrawResponse{Signature: vectorSignature, Round: &originalsv1.Round{
		RoundId: "a-round", State: originalsv1.Round_OPEN, Stake: &originalsv1.Money{Currency: "FUN", Amount: vectorStake},
	}}
}

func TestPlayDerivesAndSettles(t *testing.T) {
	vault := &fakeVault{drawn: openRound()}
	round, err := rounds.Play(t.Context(), vault, vectorBet(), &vaultv1.DrawRequest{})
	if err != nil || len(vault.settles) != 1 || vault.settles[0].GetRoundId() != "a-round" {
		t.Fatalf("%v, %v, settled %v", round, err, vault.settles)
	}
	if d := round.GetDice(); d.GetRoll() != vectorRoll || !d.GetWin() || round.GetPayout().GetAmount() != vectorPayout || round.GetMultiplierE4() != 10102 {
		t.Errorf("settled as %v", round)
	}
}

// A repeat of a bet whose round has ended is answered with it, and settles
// nothing.
func TestPlayOfARoundThatHasEnded(t *testing.T) {
	for _, state := range []originalsv1.Round_State{originalsv1.Round_SETTLED, originalsv1.Round_VOID} {
		vault := &fakeVault{drawn: &vaultv1.DrawResponse{Round: &originalsv1.Round{RoundId: "a-round", State: state}}}
		round, err := rounds.Play(t.Context(), vault, vectorBet(), &vaultv1.DrawRequest{})
		if err != nil || round.GetState() != state || len(vault.settles) != 0 {
			t.Errorf("%v, %v, settled %v", round, err, vault.settles)
		}
	}
}

// A vault that settles in the step that takes the bet is checked all the same.
func TestPlayOfARoundThatTheVaultHasSettled(t *testing.T) {
	settled := func(payout, multiplier int64) *fakeVault {
		drawn := openRound()
		drawn.Round.State = originalsv1.Round_SETTLED
		drawn.Round.Payout = &originalsv1.Money{Currency: "FUN", Amount: payout}
		drawn.Round.MultiplierE4 = multiplier
		return &fakeVault{drawn: drawn}
	}
	honest := settled(vectorPayout, 10102)
	if round, err := rounds.Play(t.Context(), honest, vectorBet(), &vaultv1.DrawRequest{}); err != nil || round != honest.drawn.GetRound() || len(honest.settles) != 0 {
		t.Errorf("%v, %v, settled %v", round, err, honest.settles)
	}
	for _, vault := range []*fakeVault{settled(vectorPayout-1, 10102), settled(vectorPayout, 10101), settled(0, 0)} {
		if round, err := rounds.Play(t.Context(), vault, vectorBet(), &vaultv1.DrawRequest{}); err == nil {
			t.Errorf("another outcome passed: %v", round)
		}
	}
}

func TestRefusedDrawSettlesNothing(t *testing.T) {
	vault := &fakeVault{refusal: reason.New(reason.InsufficientFunds, "no money")}
	if _, err := rounds.Play(t.Context(), vault, vectorBet(), &vaultv1.DrawRequest{}); reason.Of(err) != reason.InsufficientFunds || len(vault.settles) != 0 {
		t.Errorf("%v, settled %v", err, vault.settles)
	}
}

// Recovery invents a result with a fallback generator: without a signature
// there is no outcome.
func TestMissingSignatureHasNoOutcome(t *testing.T) {
	for _, signature := range []string{"", "ce7c", vectorSignature[:63], vectorSignature + "0", "CE" + vectorSignature[2:]} {
		drawn := openRound()
		drawn.Signature = signature
		vault := &fakeVault{drawn: drawn}
		if round, err := rounds.Play(t.Context(), vault, vectorBet(), &vaultv1.DrawRequest{}); err == nil || len(vault.settles) != 0 {
			t.Errorf("signature %q gave %v", signature, round)
		}
	}
	if _, err := rounds.Outcome(bet.Bet{}, openRound(), nil); !errors.Is(err, bet.ErrGame) {
		t.Errorf("an unknown game: %v", err)
	}
}

// "Failed" call that had an effect: once the stake is taken, no refusal says
// that surely nothing happened. A token may expire between the two calls.
func TestRefusedSettlementDoesNotSayThatNothingHappened(t *testing.T) {
	for _, known := range []reason.Reason{reason.TokenInvalid, reason.RoleRequired, reason.InProgress, reason.RoundNotFound} {
		vault := &refusingVault{fakeVault{drawn: openRound()}, reason.New(known, "no")}
		_, err := rounds.Play(t.Context(), vault, vectorBet(), &vaultv1.DrawRequest{})
		if err == nil || reason.Of(err).Known() {
			t.Errorf("%s reached the player as %v", known, err)
		}
	}
}

// refusingVault takes bets and settles none.
type refusingVault struct {
	fakeVault
	refusal error
}

func (v *refusingVault) Settle(context.Context, *vaultv1.SettleRequest, ...grpc.CallOption) (*originalsv1.Round, error) {
	return nil, v.refusal
}

// A caller who goes away once the nonce is taken does not stop the settlement.
func TestSettlementIsNotStoppedByItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	vault := &waitingVault{fakeVault: fakeVault{drawn: openRound(), afterDraw: cancel}, done: done}
	_, _ = rounds.Play(ctx, vault, vectorBet(), &vaultv1.DrawRequest{})
	if err := <-done; err != nil {
		t.Errorf("the settlement was made with a context that had ended: %v", err)
	}
}

// waitingVault tells how each settlement began.
type waitingVault struct {
	fakeVault
	done chan error
}

func (v *waitingVault) Settle(ctx context.Context, req *vaultv1.SettleRequest, _ ...grpc.CallOption) (*originalsv1.Round, error) {
	v.done <- ctx.Err()
	return req.GetRound(), nil
}

// The player's token goes on to the vault, which checks it itself.
func TestTokenGoesOnToTheVault(t *testing.T) {
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("authorization", "Bearer token", "x-request-id", "r-1", "x-other", "stays"))
	vault := &fakeVault{drawn: openRound()}
	if _, err := rounds.Play(ctx, vault, vectorBet(), &vaultv1.DrawRequest{}); err != nil {
		t.Fatal(err)
	}
	if len(vault.outgoing) != 2 {
		t.Fatalf("%d calls", len(vault.outgoing))
	}
	for _, md := range vault.outgoing {
		if len(md.Get("authorization")) != 1 || md.Get("authorization")[0] != "Bearer token" || md.Get("x-request-id")[0] != "r-1" || len(md.Get("x-other")) != 0 {
			t.Errorf("metadata %v", md)
		}
	}
}

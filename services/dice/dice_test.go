package dice_test

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
	"github.com/openoriginals/originals/services/dice"
)

// vault draws the round dice-0001 of the vectors, and keeps what it was asked.
type vault struct {
	vaultv1.UnimplementedVaultServiceServer
	drawn   *vaultv1.DrawRequest
	settled *vaultv1.SettleRequest
}

// Draw implements the vault.
func (v *vault) Draw(_ context.Context, req *vaultv1.DrawRequest) (*vaultv1.DrawResponse, error) {
	v.drawn = req
	return &vaultv1.DrawResponse{
		Signature: "ce7c6eab1c111741b5b6c0efd37a1e767fe6fb856586657ad0462608419818c0",
		Round:     &originalsv1.Round{RoundId: "r", State: originalsv1.Round_OPEN, Stake: req.GetStake()},
	}, nil
}

// Settle implements the vault.
func (v *vault) Settle(_ context.Context, req *vaultv1.SettleRequest) (*originalsv1.Round, error) {
	v.settled = req
	return req.GetRound(), nil
}

func newClient(v *vault) originalsv1.DiceServiceClient {
	private, public := server.NewLocal(nil, nil), server.NewLocal(nil, nil)
	vaultv1.RegisterVaultServiceServer(private, v)
	dice.Bind(public, private.As("dice"))
	return originalsv1.NewDiceServiceClient(public)
}

func goodBet() *originalsv1.DiceServicePlaceBetRequest {
	return &originalsv1.DiceServicePlaceBetRequest{BetId: "b", SeedPairId: "p", Stake: &originalsv1.Money{Currency: "FUN", Amount: 12345}, Target: 199, Direction: originalsv1.Dice_OVER}
}

func TestBetGoesToTheVaultAsItCame(t *testing.T) {
	v := new(vault)
	round, err := newClient(v).PlaceBet(t.Context(), goodBet())
	if err != nil {
		t.Fatal(err)
	}
	if v.drawn.GetBetId() != "b" || v.drawn.GetSeedPairId() != "p" || v.drawn.GetStake().GetCurrency() != "FUN" || v.drawn.GetStake().GetAmount() != 12345 || v.drawn.GetDice().GetTarget() != 199 || v.drawn.GetDice().GetDirection() != originalsv1.Dice_OVER {
		t.Errorf("drawn %v", v.drawn)
	}
	if round.GetDice().GetRoll() != 8481 || !round.GetDice().GetWin() || round.GetPayout().GetAmount() != 12470 || v.settled.GetRoundId() != "r" {
		t.Errorf("settled %v", v.settled)
	}
}

// A bad parameter is refused here: the vault hears nothing of it.
func TestBadParametersNeverReachTheVault(t *testing.T) {
	for field, change := range map[string]func(*originalsv1.DiceServicePlaceBetRequest){
		"target":    func(q *originalsv1.DiceServicePlaceBetRequest) { q.Target = 198 },
		"direction": func(q *originalsv1.DiceServicePlaceBetRequest) { q.Direction = 7 },
	} {
		v, req := new(vault), proto.CloneOf(goodBet())
		change(req)
		_, err := newClient(v).PlaceBet(t.Context(), req)
		if e, ok := reason.From(err); !ok || e.Reason != reason.InvalidField || e.Metadata["field"] != field || v.drawn != nil {
			t.Errorf("%s: %v, drawn %v", field, err, v.drawn)
		}
	}
}

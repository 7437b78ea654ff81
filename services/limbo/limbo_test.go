package limbo_test

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
	"github.com/openoriginals/originals/services/limbo"
)

// vault draws the round limbo-0001 of the vectors, and keeps what it was asked.
type vault struct {
	vaultv1.UnimplementedVaultServiceServer
	drawn   *vaultv1.DrawRequest
	settled *vaultv1.SettleRequest
}

// Draw implements the vault.
func (v *vault) Draw(_ context.Context, req *vaultv1.DrawRequest) (*vaultv1.DrawResponse, error) {
	v.drawn = req
	return &vaultv1.DrawResponse{
		Signature: "ed0d837bae64962f95c937aaf2aa00ed711c0732fc96fb523e8bbce0e1c79bf6",
		Round:     &originalsv1.Round{RoundId: "r", State: originalsv1.Round_OPEN, Stake: req.GetStake()},
	}, nil
}

// Settle implements the vault.
func (v *vault) Settle(_ context.Context, req *vaultv1.SettleRequest) (*originalsv1.Round, error) {
	v.settled = req
	return req.GetRound(), nil
}

func newClient(v *vault) originalsv1.LimboServiceClient {
	private, public := server.NewLocal(nil, nil), server.NewLocal(nil, nil)
	vaultv1.RegisterVaultServiceServer(private, v)
	limbo.Bind(public, private.As("limbo"))
	return originalsv1.NewLimboServiceClient(public)
}

func goodBet() *originalsv1.LimboServicePlaceBetRequest {
	return &originalsv1.LimboServicePlaceBetRequest{BetId: "b", SeedPairId: "p", Stake: &originalsv1.Money{Currency: "FUN", Amount: 1}, TargetE2: 101}
}

func TestBetGoesToTheVaultAsItCame(t *testing.T) {
	v := new(vault)
	round, err := newClient(v).PlaceBet(t.Context(), goodBet())
	if err != nil {
		t.Fatal(err)
	}
	if v.drawn.GetBetId() != "b" || v.drawn.GetSeedPairId() != "p" || v.drawn.GetStake().GetCurrency() != "FUN" || v.drawn.GetStake().GetAmount() != 1 || v.drawn.GetLimbo().GetTargetE2() != 101 {
		t.Errorf("drawn %v", v.drawn)
	}
	if round.GetLimbo().GetOutcomeE2() != 171 || !round.GetLimbo().GetWin() || round.GetPayout().GetAmount() != 1 || v.settled.GetRoundId() != "r" {
		t.Errorf("settled %v", v.settled)
	}
}

// A bad parameter is refused here: the vault hears nothing of it.
func TestBadParametersNeverReachTheVault(t *testing.T) {
	for field, change := range map[string]func(*originalsv1.LimboServicePlaceBetRequest){
		"targetE2": func(q *originalsv1.LimboServicePlaceBetRequest) { q.TargetE2 = 100 },
	} {
		v, req := new(vault), proto.CloneOf(goodBet())
		change(req)
		_, err := newClient(v).PlaceBet(t.Context(), req)
		if e, ok := reason.From(err); !ok || e.Reason != reason.InvalidField || e.Metadata["field"] != field || v.drawn != nil {
			t.Errorf("%s: %v, drawn %v", field, err, v.drawn)
		}
	}
}

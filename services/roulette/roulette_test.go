package roulette_test

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
	"github.com/openoriginals/originals/services/roulette"
)

// vault draws the round roulette-0001 of the vectors, and keeps what it was asked.
type vault struct {
	vaultv1.UnimplementedVaultServiceServer
	drawn   *vaultv1.DrawRequest
	settled *vaultv1.SettleRequest
}

// Draw implements the vault.
func (v *vault) Draw(_ context.Context, req *vaultv1.DrawRequest) (*vaultv1.DrawResponse, error) {
	v.drawn = req
	return &vaultv1.DrawResponse{
		Signature: "5184519730a46d291b831a2bf96e09ec344c4b7574c9f6d1b251b9798bf02947",
		Round:     &originalsv1.Round{RoundId: "r", State: originalsv1.Round_OPEN, Stake: req.GetStake()},
	}, nil
}

// Settle implements the vault.
func (v *vault) Settle(_ context.Context, req *vaultv1.SettleRequest) (*originalsv1.Round, error) {
	v.settled = req
	return req.GetRound(), nil
}

func newClient(v *vault) originalsv1.RouletteServiceClient {
	private, public := server.NewLocal(nil, nil), server.NewLocal(nil, nil)
	vaultv1.RegisterVaultServiceServer(private, v)
	roulette.Bind(public, private.As("roulette"))
	return originalsv1.NewRouletteServiceClient(public)
}

func goodBet() *originalsv1.RouletteServicePlaceBetRequest {
	return &originalsv1.RouletteServicePlaceBetRequest{BetId: "b", SeedPairId: "p", Currency: "FUN", Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_BLACK, Amount: 1}}}
}

func TestBetGoesToTheVaultAsItCame(t *testing.T) {
	v := new(vault)
	round, err := newClient(v).PlaceBet(t.Context(), goodBet())
	if err != nil {
		t.Fatal(err)
	}
	if v.drawn.GetBetId() != "b" || v.drawn.GetSeedPairId() != "p" || v.drawn.GetStake().GetCurrency() != "FUN" || v.drawn.GetStake().GetAmount() != 1 || len(v.drawn.GetRoulette().GetChips()) != 1 || v.drawn.GetRoulette().GetChips()[0].GetKind() != originalsv1.Chip_BLACK {
		t.Errorf("drawn %v", v.drawn)
	}
	if round.GetRoulette().GetPocket() != 14 || round.GetPayout().GetAmount() != 0 || v.settled.GetRoundId() != "r" {
		t.Errorf("settled %v", v.settled)
	}
}

// A bad parameter is refused here: the vault hears nothing of it.
func TestBadParametersNeverReachTheVault(t *testing.T) {
	for field, change := range map[string]func(*originalsv1.RouletteServicePlaceBetRequest){
		"kind":    func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips[0].Kind = 16 },
		"numbers": func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips[0].Numbers = []uint32{1} },
		"amount":  func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips[0].Amount = -1 },
		"chips":   func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips = nil },
	} {
		v, req := new(vault), proto.CloneOf(goodBet())
		change(req)
		_, err := newClient(v).PlaceBet(t.Context(), req)
		if e, ok := reason.From(err); !ok || e.Reason != reason.InvalidField || e.Metadata["field"] != field || v.drawn != nil {
			t.Errorf("%s: %v, drawn %v", field, err, v.drawn)
		}
	}
}

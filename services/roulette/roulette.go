// Package roulette is the roulette service. It takes bets to the vault and
// derives their outcome; it must never import another service.
package roulette

import (
	"context"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/rounds"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

type service struct {
	originalsv1.UnimplementedRouletteServiceServer
	vault vaultv1.VaultServiceClient
}

// Bind registers the roulette service, which draws from the vault at conn.
func Bind(r grpc.ServiceRegistrar, conn grpc.ClientConnInterface) {
	originalsv1.RegisterRouletteServiceServer(r, &service{vault: vaultv1.NewVaultServiceClient(conn)})
}

// PlaceBet plays one round; its stake is the sum of the chips.
func (s *service) PlaceBet(ctx context.Context, req *originalsv1.RouletteServicePlaceBetRequest) (*originalsv1.Round, error) {
	p := &originalsv1.RouletteParameters{Chips: req.GetChips()}
	b, err := wire.RouletteBet(p)
	if err != nil {
		return nil, err
	}
	return rounds.Play(ctx, s.vault, b, &vaultv1.DrawRequest{
		BetId: req.GetBetId(), SeedPairId: req.GetSeedPairId(),
		Stake:      &originalsv1.Money{Currency: req.GetCurrency(), Amount: int64(b.Roulette.Stake())},
		Parameters: &vaultv1.DrawRequest_Roulette{Roulette: p},
	})
}

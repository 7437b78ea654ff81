// Package limbo is the limbo service. It takes bets to the vault and derives
// their outcome; it must never import another service.
package limbo

import (
	"context"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/rounds"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

type service struct {
	originalsv1.UnimplementedLimboServiceServer
	vault vaultv1.VaultServiceClient
}

// Bind registers the limbo service, which draws from the vault at conn.
func Bind(r grpc.ServiceRegistrar, conn grpc.ClientConnInterface) {
	originalsv1.RegisterLimboServiceServer(r, &service{vault: vaultv1.NewVaultServiceClient(conn)})
}

// PlaceBet plays one round.
func (s *service) PlaceBet(ctx context.Context, req *originalsv1.LimboServicePlaceBetRequest) (*originalsv1.Round, error) {
	p := &originalsv1.LimboParameters{TargetE2: req.GetTargetE2()}
	b, err := wire.LimboBet(p)
	if err != nil {
		return nil, err
	}
	return rounds.Play(ctx, s.vault, b, &vaultv1.DrawRequest{
		BetId: req.GetBetId(), SeedPairId: req.GetSeedPairId(), Stake: req.GetStake(),
		Parameters: &vaultv1.DrawRequest_Limbo{Limbo: p},
	})
}

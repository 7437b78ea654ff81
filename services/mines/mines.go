// Package mines is the mines service. It starts rounds, opens tiles and cashes
// out. The board is never stored: it is derived again from the round's
// signature. It must never import another service.
package mines

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rounds"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// attempts bounds how often a call is decided anew because another call has
// changed the round meanwhile. A round has at most 24 picks and one end.
const attempts = mines.Tiles

type service struct {
	originalsv1.UnimplementedMinesServiceServer
	vault vaultv1.VaultServiceClient
}

// Bind registers the mines service, which draws from the vault at conn.
func Bind(r grpc.ServiceRegistrar, conn grpc.ClientConnInterface) {
	originalsv1.RegisterMinesServiceServer(r, &service{vault: vaultv1.NewVaultServiceClient(conn)})
}

// StartRound locks the stake and fixes the board.
func (s *service) StartRound(ctx context.Context, req *originalsv1.StartRoundRequest) (*originalsv1.Round, error) {
	p := &originalsv1.MinesParameters{MineCount: req.GetMineCount()}
	if _, err := wire.MinesBet(p); err != nil {
		return nil, err
	}
	drawn, err := s.vault.Draw(auth.Forward(ctx), &vaultv1.DrawRequest{
		BetId: req.GetBetId(), SeedPairId: req.GetSeedPairId(), Stake: req.GetStake(),
		Parameters: &vaultv1.DrawRequest_Mines{Mines: p},
	})
	if err != nil {
		return nil, err
	}
	return drawn.GetRound(), nil
}

// Pick opens a tile. A tile that is open already answers with the round.
func (s *service) Pick(ctx context.Context, req *originalsv1.PickRequest) (*originalsv1.Round, error) {
	if req.Tile == nil {
		return nil, reason.Field("tile", "is missing")
	}
	if err := mines.ValidateTile(req.GetTile()); err != nil {
		return nil, wire.FieldError(err)
	}
	tile := uint8(req.GetTile())
	return s.decide(ctx, req.GetRoundId(), func(g *game) (*originalsv1.Round, error) { return g.pick(ctx, tile) })
}

// CashOut ends the round at its picks. A round that has ended answers with
// itself.
func (s *service) CashOut(ctx context.Context, req *originalsv1.MinesServiceCashOutRequest) (*originalsv1.Round, error) {
	return s.decide(ctx, req.GetRoundId(), func(g *game) (*originalsv1.Round, error) { return g.cashOut(ctx) })
}

// game is a round as it stood when a decision was made.
type game struct {
	vault vaultv1.VaultServiceClient
	drawn *vaultv1.DrawResponse
	round *originalsv1.Round
	bet   bet.Bet
	picks []uint8
}

// decide loads the round and moves it, anew when another call was faster.
func (s *service) decide(ctx context.Context, roundID string, move func(*game) (*originalsv1.Round, error)) (*originalsv1.Round, error) {
	var round *originalsv1.Round
	var err error
	for range attempts {
		var g *game
		if g, err = s.load(ctx, roundID); err != nil {
			return nil, err
		}
		if round, err = move(g); reason.Of(err) != reason.InProgress || err == nil {
			return round, err
		}
	}
	return nil, err
}

func (s *service) load(ctx context.Context, roundID string) (*game, error) {
	drawn, err := s.vault.Resume(auth.Forward(ctx), &vaultv1.ResumeRequest{RoundId: roundID})
	if err != nil {
		return nil, err
	}
	g := &game{vault: s.vault, drawn: drawn, round: drawn.GetRound()}
	if g.picks, err = wire.Picks(g.round.GetMines().GetPicks()); err != nil {
		return nil, err
	}
	g.bet, err = wire.MinesBet(&originalsv1.MinesParameters{MineCount: g.round.GetMines().GetMineCount()})
	return g, err
}

func (g *game) pick(ctx context.Context, tile uint8) (*originalsv1.Round, error) {
	if slices.Contains(g.picks, tile) {
		return g.round, nil
	}
	if g.round.GetState() != originalsv1.Round_OPEN {
		return nil, reason.New(reason.RoundSettled, "the round has ended", "roundId", g.round.GetRoundId())
	}
	picks := append(slices.Clone(g.picks), tile)
	o, err := rounds.Outcome(g.bet, g.drawn, picks)
	if err != nil {
		return nil, err
	}
	if o.HitMine || len(picks) >= int(g.round.GetMines().GetMaxPicks()) {
		return rounds.Settle(ctx, g.vault, g.round, g.bet, o, picks)
	}
	req := &vaultv1.AdvanceRequest{RoundId: g.round.GetRoundId(), Picks: wire.Tiles(picks)}
	return rounds.Finish(ctx, func(ctx context.Context) (*originalsv1.Round, error) { return g.vault.Advance(ctx, req) })
}

func (g *game) cashOut(ctx context.Context) (*originalsv1.Round, error) {
	if g.round.GetState() != originalsv1.Round_OPEN {
		return g.round, nil
	}
	o, err := rounds.Outcome(g.bet, g.drawn, g.picks)
	if err != nil {
		return nil, err
	}
	return rounds.Settle(ctx, g.vault, g.round, g.bet, o, g.picks)
}

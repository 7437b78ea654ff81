package seedpair

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

const (
	supportPageSize = 50 // pairs, and rounds, that support sees of a player

	// revealTries is how often a reveal settles what is open and then retires,
	// while the player goes on betting.
	revealTries = 8
)

// support answers the support service.
type support struct {
	vaultv1.UnimplementedSupportVaultServiceServer
	s *Service
}

// BindSupport registers what the support service asks. Only its role may reach
// it.
func BindSupport(r grpc.ServiceRegistrar, s *Service) {
	vaultv1.RegisterSupportVaultServiceServer(r, &support{s: s})
}

// operator returns the operator of the member of staff whom the token names.
func operator(ctx context.Context) (string, error) {
	id, ok := auth.FromContext(ctx)
	if !ok || id.Role != auth.Support {
		return "", reason.New(reason.RoleRequired, "a support token is required")
	}
	return id.Operator, nil
}

// GetPlayer shows a player of the operator.
func (v *support) GetPlayer(ctx context.Context, req *vaultv1.GetPlayerRequest) (*originalsv1.SupportPlayer, error) {
	op, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.PlayerID("playerId", req.GetPlayerId()); err != nil {
		return nil, err
	}
	p := ledger.Player{Operator: op, ID: req.GetPlayerId()}
	balances, err := v.s.o.Store.Balances(ctx, p)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, reason.New(reason.PlayerNotFound, "there is no such player")
	}
	if err != nil {
		return nil, err
	}
	m := &originalsv1.SupportPlayer{PlayerId: p.ID, Balances: wire.Balances(balances)}
	if m.SeedPairs, err = v.pairs(ctx, p); err != nil {
		return nil, err
	}
	if m.OpenRounds, err = v.rounds(ctx, p, originalsv1.Round_OPEN); err != nil {
		return nil, err
	}
	m.RecentRounds, err = v.rounds(ctx, p, originalsv1.Round_STATE_UNSPECIFIED)
	return m, err
}

// pairs shows the newest pairs. One that does not open its commitment is left
// out, with the alarm raised, so that support still sees the player.
func (v *support) pairs(ctx context.Context, p ledger.Player) ([]*originalsv1.SeedPair, error) {
	pairs, err := v.s.o.Store.SeedPairs(ctx, p, "", supportPageSize)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
	return v.s.whole(pairs), nil
}

func (v *support) rounds(ctx context.Context, p ledger.Player, state originalsv1.Round_State) ([]*originalsv1.Round, error) {
	l := &lister{s: v.s, player: p, state: state, size: supportPageSize}
	if err := l.list(ctx, ""); err != nil {
		return nil, err
	}
	return l.rounds, nil
}

// GetRound shows a round of a player of the operator.
func (v *support) GetRound(ctx context.Context, req *vaultv1.GetRoundRequest) (*vaultv1.GetRoundResponse, error) {
	op, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	id, err := readRoundID(req.GetRoundId())
	if err != nil {
		return nil, err
	}
	l, err := v.s.o.Store.Load(ctx, id)
	if errors.Is(err, ledger.ErrBook) {
		return v.crashBet(ctx, op, id)
	}
	if errors.Is(err, ledger.ErrNotFound) || err == nil && l.Pair.Player.Operator != op {
		return nil, errRoundNotFound
	}
	if err != nil {
		return nil, err
	}
	res := &vaultv1.GetRoundResponse{PlayerId: l.Pair.Player.ID}
	if res.Round, err = v.s.record(l); err != nil {
		return nil, err
	}
	res.SeedPair, err = v.s.pairView(l.Pair)
	return res, err
}

// crashBet shows a bet at a crash table, which has no seed pair.
func (v *support) crashBet(ctx context.Context, op string, id ledger.RoundID) (*vaultv1.GetRoundResponse, error) {
	p, round, err := v.s.crashBet(ctx, id, func(p ledger.Player) bool { return p.Operator == op })
	if err != nil {
		return nil, err
	}
	return &vaultv1.GetRoundResponse{PlayerId: p.ID, Round: round}, nil
}

// GetSeedPair shows a pair of a player of the operator.
func (v *support) GetSeedPair(ctx context.Context, req *vaultv1.GetSeedPairRequest) (*vaultv1.GetSeedPairResponse, error) {
	pair, err := v.pair(ctx, req.GetSeedPairId())
	if err != nil {
		return nil, err
	}
	view, err := v.s.pairView(pair)
	return &vaultv1.GetSeedPairResponse{PlayerId: pair.Player.ID, SeedPair: view}, err
}

func (v *support) pair(ctx context.Context, text string) (ledger.SeedPair, error) {
	op, err := operator(ctx)
	if err != nil {
		return ledger.SeedPair{}, err
	}
	if err := wire.ID("seedPairId", text); err != nil {
		return ledger.SeedPair{}, err
	}
	id, err := ledger.ParsePairID(text)
	if err != nil {
		return ledger.SeedPair{}, errSeedPairNotFound
	}
	pair, err := v.s.o.Store.SeedPair(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && pair.Player.Operator != op {
		return ledger.SeedPair{}, errSeedPairNotFound
	}
	return pair, err
}

// RevealSeedPair makes a server seed public. What is open and decided is
// settled first, as a rotation does; an undecided mines round refuses it, and
// the pair then stays as it is.
func (v *support) RevealSeedPair(ctx context.Context, req *vaultv1.RevealSeedPairRequest) (*originalsv1.SeedPair, error) {
	if req.GetDetail() == "" {
		return nil, reason.Field("detail", "must say who reveals, and why")
	}
	pair, err := v.pair(ctx, req.GetSeedPairId())
	if err != nil {
		return nil, err
	}
	if _, err := v.s.open(pair.Player, pair.ID, pair.Sealed); err != nil {
		return nil, err
	}
	for range revealTries {
		if err := v.finishInstant(ctx, pair); err != nil {
			return nil, err
		}
		retired, err := v.s.o.Store.Retire(ctx, pair.Player, pair.ID, req.GetDetail())
		if err == nil {
			return v.s.pairView(retired)
		}
		if err := v.retireRefusal(ctx, err); err != nil {
			return nil, err
		}
		if pair, err = v.s.o.Store.SeedPair(ctx, pair.ID); err != nil {
			return nil, err
		}
	}
	return nil, reason.New(reason.InProgress, "the player is betting with this seed pair: repeat", "seedPairId", string(pair.ID))
}

func (v *support) finishInstant(ctx context.Context, pair ledger.SeedPair) error {
	for _, nonce := range pair.Open {
		if err := v.s.finish(ctx, ledger.RoundID{Pair: pair.ID, Nonce: nonce}, false); err != nil {
			return err
		}
	}
	return nil
}

// retireRefusal returns nil when the pair can be retired at another try: the
// round in the way is one that ends by itself.
func (v *support) retireRefusal(ctx context.Context, err error) error {
	if errors.Is(err, ledger.ErrNoPair) {
		return errSeedPairNotFound
	}
	var open *ledger.RoundOpenError
	if !errors.As(err, &open) {
		return err
	}
	l, loadErr := v.s.o.Store.Load(ctx, open.Round)
	if loadErr != nil {
		return loadErr
	}
	if l.Round.Bet.Game == bet.Mines && l.Round.State == ledger.Open {
		return roundOpen(open)
	}
	return nil
}

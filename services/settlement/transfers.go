package settlement

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// CreateTransfer moves money once for each transfer id. What a rule refused is
// answered as a transfer in state REFUSED.
func (s *Service) CreateTransfer(ctx context.Context, req *originalsv1.CreateTransferRequest) (*originalsv1.Transfer, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.readTransfer(name, req)
	if err != nil {
		return nil, err
	}
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return transfer(s.o.Store.Transfer(step, t))
}

// GetTransfer resolves an unknown result. A transfer that was begun and not
// finished is finished first.
func (s *Service) GetTransfer(ctx context.Context, req *originalsv1.GetTransferRequest) (*originalsv1.Transfer, error) {
	return s.resolve(ctx, req.GetTransferId(), s.o.Store.GetTransfer)
}

// CancelTransfer makes sure that a transfer that was not applied never is.
func (s *Service) CancelTransfer(ctx context.Context, req *originalsv1.CancelTransferRequest) (*originalsv1.Transfer, error) {
	return s.resolve(ctx, req.GetTransferId(), s.o.Store.CancelTransfer)
}

func (s *Service) resolve(ctx context.Context, id string, step func(context.Context, string, string) (ledger.Transfer, error)) (*originalsv1.Transfer, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.CallerID("transferId", id); err != nil {
		return nil, err
	}
	own, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return transfer(step(own, name, id))
}

// ListPlayerBalances shows a player's balances, sorted by currency.
func (s *Service) ListPlayerBalances(ctx context.Context, req *originalsv1.ListPlayerBalancesRequest) (*originalsv1.ListPlayerBalancesResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.PlayerID("playerId", req.GetPlayerId()); err != nil {
		return nil, err
	}
	balances, err := s.o.Store.Balances(ctx, ledger.Player{Operator: name, ID: req.GetPlayerId()})
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, reason.New(reason.PlayerNotFound, "no such player of this operator")
	}
	if err != nil {
		return nil, err
	}
	return &originalsv1.ListPlayerBalancesResponse{Balances: wire.Balances(balances)}, nil
}

var directions = map[originalsv1.Transfer_Direction]ledger.Direction{
	originalsv1.Transfer_DEPOSIT: ledger.Deposit, originalsv1.Transfer_WITHDRAWAL: ledger.Withdrawal,
}

// readTransfer reads a request, whose operator is known.
func (s *Service) readTransfer(name string, req *originalsv1.CreateTransferRequest) (ledger.Transfer, error) {
	t := ledger.Transfer{Operator: name, ID: req.GetTransferId(), Player: req.GetPlayerId(), Direction: directions[req.GetDirection()]}
	if err := wire.CallerID("transferId", t.ID); err != nil {
		return t, err
	}
	if err := wire.PlayerID("playerId", t.Player); err != nil {
		return t, err
	}
	if t.Direction == 0 {
		return t, reason.Field("direction", "must be one of DEPOSIT, WITHDRAWAL")
	}
	var err error
	t.Currency, t.Amount, err = wire.Amount("money", req.GetMoney())
	if err != nil {
		return t, err
	}
	if !s.o.House.Has(t.Currency) {
		return t, reason.Field("currency", "is not one of this house's; see ListGames")
	}
	return t, nil
}

var transferStates = map[ledger.TransferState]originalsv1.Transfer_State{
	ledger.Applied: originalsv1.Transfer_APPLIED, ledger.Refused: originalsv1.Transfer_REFUSED, ledger.Cancelled: originalsv1.Transfer_CANCELLED,
}

// transfer returns the message of a transfer that has ended, or what the caller
// is told of the error.
func transfer(t ledger.Transfer, err error) (*originalsv1.Transfer, error) {
	var reused *ledger.TransferReusedError
	switch {
	case errors.As(err, &reused):
		return nil, reason.New(reason.TransferIDReused, "the transferId belongs to a transfer with another "+reused.Field, "field", reused.Field)
	case errors.Is(err, ledger.ErrNotFound):
		return nil, reason.New(reason.TransferNotFound, "no such transfer of this operator")
	case err != nil:
		return nil, err
	}
	m := &originalsv1.Transfer{
		TransferId: t.ID, PlayerId: t.Player, State: transferStates[t.State], Refusal: string(t.Refusal),
		Replayed: t.Replayed, CreateTime: timestamppb.New(t.CreateTime),
	}
	if t.Player != "" {
		m.Direction = originalsv1.Transfer_Direction(t.Direction)
		m.Money = wire.Money(t.Currency, t.Amount)
	}
	if t.State == ledger.Applied {
		m.BalanceAfter = wire.Money(t.Currency, t.Balance)
	}
	return m, nil
}

package seedpair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// Resume returns a round of the caller's game and, while it is open, its
// signature.
func (s *Service) Resume(ctx context.Context, req *vaultv1.ResumeRequest) (*vaultv1.DrawResponse, error) {
	l, err := s.own(ctx, req.GetRoundId())
	if err != nil {
		return nil, err
	}
	if auth.RequirePeer(ctx, l.Round.Bet.Game.String()) != nil {
		return nil, errRoundNotFound // a round of another game
	}
	return s.drawResponse(l)
}

// Advance records a safe pick. The vault looks at the board itself: a mine is
// refused here.
func (s *Service) Advance(ctx context.Context, req *vaultv1.AdvanceRequest) (*originalsv1.Round, error) {
	l, picks, err := s.readPicks(ctx, req.GetRoundId(), req.GetPicks())
	if err != nil {
		return nil, err
	}
	if l.Round.State != ledger.Open {
		return s.view(l)
	}
	out, err := s.outcome(l, picks)
	if err != nil {
		return nil, err
	}
	if out.HitMine || len(picks) >= int(l.Round.MaxPicks) {
		return nil, fmt.Errorf("seedpair: round %s: a pick that ends the round came as one that does not", l.Round.ID)
	}
	after, err := s.o.Store.Advance(ctx, l.Pair.Player, l.Round.ID, picks)
	if err != nil {
		return nil, roundRefusal(l.Round.ID, err)
	}
	return s.view(after)
}

func (s *Service) readPicks(ctx context.Context, roundID string, tiles []uint32) (ledger.Loaded, []uint8, error) {
	l, err := s.own(ctx, roundID)
	if err != nil {
		return ledger.Loaded{}, nil, err
	}
	if err := auth.RequirePeer(ctx, bet.Mines.String()); err != nil {
		return ledger.Loaded{}, nil, err
	}
	picks, err := wire.Picks(tiles)
	if err != nil {
		return ledger.Loaded{}, nil, err
	}
	if l.Round.Bet.Game != bet.Mines {
		return ledger.Loaded{}, nil, reason.New(reason.RoundNotFound, "there is no such mines round")
	}
	return l, picks, nil
}

// Settle ends a round with the outcome that the game found. The vault finds it
// again, and refuses any difference.
func (s *Service) Settle(ctx context.Context, req *vaultv1.SettleRequest) (*originalsv1.Round, error) {
	l, err := s.toSettle(ctx, req.GetRoundId())
	if err != nil {
		return nil, err
	}
	if err := auth.RequirePeer(ctx, l.Round.Bet.Game.String()); err != nil {
		return nil, err
	}
	if l.Round.State != ledger.Open {
		return s.view(l)
	}
	var picks []uint8
	if l.Round.Bet.Game == bet.Mines {
		if picks, err = wire.Picks(req.GetRound().GetMines().GetPicks()); err != nil {
			return nil, err
		}
		if len(picks) == 0 {
			return s.closeWithoutPick(ctx, l)
		}
		if !goesOn(l.Round.Picks, picks) {
			return nil, roundRefusal(l.Round.ID, ledger.ErrPicksChanged)
		}
	}
	out, err := s.outcome(l, picks)
	if err != nil {
		return nil, err
	}
	if err := sameOutcome(out, req.GetRound()); err != nil {
		s.o.Log.Error("a game and the vault disagree", zap.String("roundId", l.Round.ID.String()), zap.Error(err))
		return nil, reason.New(reason.Internal, "internal error")
	}
	return s.settle(ctx, l, picks, out)
}

// goesOn reports whether picks are those before, or those and one more. When
// they are not, the game decided on a round that another call has changed.
func goesOn(before, picks []uint8) bool {
	more := len(picks) - len(before)
	return (more == 0 || more == 1) && slices.Equal(picks[:len(before)], before)
}

// toSettle finds a round of this player, without a look at the store when this
// process has drawn it.
func (s *Service) toSettle(ctx context.Context, roundID string) (ledger.Loaded, error) {
	p, err := player(ctx)
	if err != nil {
		return ledger.Loaded{}, err
	}
	id, err := readRoundID(roundID)
	if err != nil {
		return ledger.Loaded{}, err
	}
	if l, ok := s.drawn.take(id); ok && l.Pair.Player == p {
		return l, nil
	}
	return s.own(ctx, roundID)
}

// sameOutcome compares what was found here with what the game says.
func sameOutcome(o bet.Outcome, m *originalsv1.Round) error {
	same := int64(o.Payout) == m.GetPayout().GetAmount() && int64(o.Multiplier) == m.GetMultiplierE4()
	switch {
	case m.GetDice() != nil:
		same = same && o.Dice.Roll == m.GetDice().GetRoll() && o.Dice.Win == m.GetDice().GetWin()
	case m.GetLimbo() != nil:
		same = same && o.Limbo.OutcomeE2 == m.GetLimbo().GetOutcomeE2() && o.Limbo.Win == m.GetLimbo().GetWin()
	case m.GetRoulette() != nil:
		same = same && uint32(o.Pocket) == m.GetRoulette().GetPocket()
	case m.GetMines() != nil:
		same = same && o.HitMine == m.GetMines().GetHitMine() && slices.Equal(wire.Tiles(o.Mines), m.GetMines().GetMines())
	default:
		same = false
	}
	if !same {
		return errors.New("seedpair: outcomes differ")
	}
	return nil
}

// settle ends a round with an outcome found here.
func (s *Service) settle(ctx context.Context, l ledger.Loaded, picks []uint8, out bet.Outcome) (*originalsv1.Round, error) {
	after, err := s.close(ctx, l, picks, ledger.Settled, out.Payout)
	if err != nil {
		return nil, roundRefusal(l.Round.ID, err)
	}
	return s.view(after)
}

func (s *Service) close(ctx context.Context, l ledger.Loaded, picks []uint8, state ledger.RoundState, payout money.Units) (ledger.Loaded, error) {
	worst, err := l.Round.Bet.WorstCase(l.Round.Stake, l.Round.MaxPicks)
	if err != nil {
		return ledger.Loaded{}, err
	}
	return s.o.Store.Settle(ctx, ledger.Settlement{
		Player: l.Pair.Player, Round: l.Round.ID, Currency: l.Round.Currency,
		State: state, Payout: payout, WorstCase: worst, Before: l.Round.Picks, Picks: picks,
	})
}

// closeWithoutPick refunds a mines round without a pick if the store was
// replaced under it; otherwise a cash-out needs a pick.
func (s *Service) closeWithoutPick(ctx context.Context, l ledger.Loaded) (*originalsv1.Round, error) {
	l, interrupted, err := s.interrupted(ctx, l)
	if err != nil {
		return nil, err
	}
	if l.Round.State != ledger.Open {
		return s.view(l)
	}
	if len(l.Round.Picks) > 0 {
		return nil, roundRefusal(l.Round.ID, ledger.ErrPicksChanged)
	}
	if !interrupted {
		return nil, reason.New(reason.PickRequired, "a cash-out needs at least one pick", "roundId", l.Round.ID.String())
	}
	after, err := s.close(ctx, l, nil, ledger.Void, l.Round.Stake)
	if err != nil {
		return nil, roundRefusal(l.Round.ID, err)
	}
	return s.view(after)
}

// interrupted reports whether the store was replaced since the round began,
// and returns the round as it stands now.
func (s *Service) interrupted(ctx context.Context, l ledger.Loaded) (ledger.Loaded, bool, error) {
	if _, err := s.account(ctx, l.Pair.Player); err != nil {
		return l, false, err
	}
	l, err := s.o.Store.Load(ctx, l.Round.ID)
	return l, l.Pair.Cause == ledger.CauseStoreReplaced, err
}

// roundRefusal turns an error of the store into what the client acts on.
func roundRefusal(id ledger.RoundID, err error) error {
	switch {
	case errors.Is(err, ledger.ErrPicksChanged):
		return reason.New(reason.InProgress, "another call has changed the round: repeat", "roundId", id.String())
	case errors.Is(err, ledger.ErrInterrupted):
		return reason.New(reason.RoundInterrupted, "the store was replaced during the round: cash out; no tile can be opened", "roundId", id.String())
	case errors.Is(err, ledger.ErrNotFound):
		return errRoundNotFound
	}
	return err
}

var errRoundNotFound = reason.New(reason.RoundNotFound, "there is no such round")

package seedpair

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
)

// sweepBatch is how many open rounds of a partition are looked at in one call.
const sweepBatch = 100

// Sweep finishes, every interval, the rounds that were left open by a process
// that died: instant rounds with the outcome that their nonce always had, and
// mines rounds, at their last pick, that have expired or whose store was
// replaced. Several processes may sweep at once. It returns when ctx ends.
func (s *Service) Sweep(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := s.SweepOnce(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("sweep cut short", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SweepOnce looks at every open round once. A round that cannot be finished is
// logged and left for the next sweep; the error is that of a store which does
// not answer.
func (s *Service) SweepOnce(ctx context.Context) error {
	now, err := s.o.Store.Now(ctx)
	if err != nil {
		return err
	}
	open := 0
	for partition := range ledger.Partitions {
		n, err := s.sweepPartition(ctx, partition, now)
		if err != nil {
			return err
		}
		open += n
	}
	s.o.OnOpenRounds(open)
	return nil
}

func (s *Service) sweepPartition(ctx context.Context, partition int, now time.Time) (int, error) {
	open := 0
	for {
		rounds, err := s.o.Store.OpenRounds(ctx, partition, open, sweepBatch)
		if err != nil {
			return open, err
		}
		for _, r := range rounds {
			left, err := s.sweepRound(ctx, r, now)
			if err != nil {
				s.o.Log.Error("round left open", zap.String("roundId", r.ID.String()), zap.Error(err))
			}
			if left {
				open++
			}
		}
		if len(rounds) < sweepBatch {
			return open, nil
		}
	}
}

// sweepRound reports whether the round is still open.
func (s *Service) sweepRound(ctx context.Context, r ledger.OpenRound, now time.Time) (bool, error) {
	age := now.Sub(r.CreateTime)
	if age < s.o.SweepAge {
		return true, nil
	}
	if err := s.finish(ctx, r.ID, age >= s.o.MinesExpiry); err != nil {
		return true, err
	}
	l, err := s.o.Store.Load(ctx, r.ID)
	return err == nil && l.Round.State == ledger.Open, err
}

// finish ends an open round as far as the rules allow: an instant round with
// its outcome; a mines round at its last pick if it has expired or was
// interrupted. A round that has ended stays as it is.
func (s *Service) finish(ctx context.Context, id ledger.RoundID, expired bool) error {
	l, err := s.o.Store.Load(ctx, id)
	if err != nil || l.Round.State != ledger.Open {
		return err
	}
	if l.Round.Bet.Game == bet.Mines {
		return s.finishMines(ctx, l, expired)
	}
	out, err := s.outcome(l, nil)
	if err != nil {
		return err
	}
	_, err = s.close(ctx, l, nil, ledger.Settled, out.Payout)
	return err
}

func (s *Service) finishMines(ctx context.Context, l ledger.Loaded, expired bool) error {
	l, interrupted, err := s.interrupted(ctx, l)
	if err != nil || l.Round.State != ledger.Open {
		return err
	}
	if interrupted && len(l.Round.Picks) == 0 {
		_, err := s.close(ctx, l, nil, ledger.Void, l.Round.Stake)
		return err
	}
	if !interrupted && (!expired || len(l.Round.Picks) == 0) {
		return nil
	}
	out, err := s.outcome(l, l.Round.Picks)
	if err != nil {
		return err
	}
	_, err = s.close(ctx, l, l.Round.Picks, ledger.Settled, out.Payout)
	if errors.Is(err, ledger.ErrPicksChanged) {
		return nil // the player is playing: he is not to be hurried
	}
	return err
}

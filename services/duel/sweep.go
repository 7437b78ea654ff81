package duel

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/duelstore"
)

// sweepBatch is how many duels of a partition are looked at in one call.
const sweepBatch = 100

// Sweep looks, every interval, at each duel for which something is due: the end
// of a grace period, abandonment, or a store that was replaced. A look is
// enough, for time passes with every step. It returns when ctx ends. Several
// processes may sweep at once, but no Service twice.
func (s *Service) Sweep(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := s.SweepOnce(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("sweep of duels cut short", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SweepOnce looks at all duels for which something is due. The error is that of
// a store which does not answer.
func (s *Service) SweepOnce(ctx context.Context) error {
	open := 0
	for partition := range duelstore.Partitions {
		n, err := s.sweepPartition(ctx, partition)
		if err != nil {
			return err
		}
		open += n
	}
	s.o.OnOpenDuels(open)
	return nil
}

// sweepPartition returns how many duels of a partition are unended.
func (s *Service) sweepPartition(ctx context.Context, partition int) (int, error) {
	for stay := 0; ; {
		due, err := s.o.Store.Due(ctx, partition, s.lives[partition], stay, sweepBatch)
		if err != nil {
			return 0, err
		}
		for _, id := range due.IDs {
			d, err := s.o.Store.Look(ctx, id, duelstore.Caller{})
			switch {
			case err != nil:
				s.o.Log.Error("duel left as it is", zap.String("duelId", string(id)), zap.Error(err))
				stay++
			case d.State.Over():
				due.Open--
			case due.All:
				stay++
			}
			if err == nil {
				s.board.note(d)
			}
		}
		if len(due.IDs) < sweepBatch {
			s.lives[partition] = due.Life
			return due.Open, nil
		}
	}
}

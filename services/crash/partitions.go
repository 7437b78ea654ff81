package crash

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/ledger"
)

// holding is what all partitions together hold of a round that is closed.
type holding struct {
	number  uint32            // of the round
	bets    []ledger.CrashBet // not settled yet
	settled int
	// newest is the round that was opened last in any of them. It is above that
	// which is closed where the table's home alone has lost writes.
	newest uint32
}

// count returns how many bets the round has.
func (h holding) count() int { return len(h.bets) + h.settled }

// close closes every partition and returns the bets of a round. Bets of older
// rounds that were left behind are settled on the way.
func (g *dealer) close(ctx context.Context, number uint32) (all holding, err error) {
	all.number = number
	var mu sync.Mutex
	older := make(map[uint32][]int) // number -> partitions
	err = g.eachPartition(ctx, "a partition is not closed", func(partition int) error {
		some, err := g.store().CloseCrashPartition(ctx, g.owner, partition, number)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all.bets = append(all.bets, some.Bets...)
		all.settled += some.Settled
		all.newest = max(all.newest, some.Newest)
		for _, n := range some.Numbers {
			older[n] = append(older[n], partition)
		}
		return nil
	})
	if err != nil {
		return holding{}, err
	}
	for n, partitions := range older {
		if err := g.settleOlder(ctx, n, partitions); err != nil {
			return holding{}, err
		}
	}
	return all, nil
}

// settleOlder settles bets that a round has left behind, which happens when a
// part of the store has lost writes: by the crash point of the round, or, when
// it was never played, by giving the stakes back.
func (g *dealer) settleOlder(ctx context.Context, number uint32, partitions []int) error {
	history, err := insist(ctx, g.table, "the history is not read", func() ([]ledger.CrashRound, error) {
		return g.store().CrashRounds(ctx, g.name(), number, number)
	})
	if err != nil {
		return err
	}
	for _, partition := range partitions {
		bets, err := insist(ctx, g.table, "bets left behind are not read", func() ([]ledger.CrashBet, error) {
			return g.store().OpenCrashBets(ctx, g.name(), partition, number)
		})
		if err != nil {
			return err
		}
		if len(history) == 1 && history[0].Void == "" {
			err = g.settleAt(ctx, bets, history[0].PointE2)
		} else {
			why := ledger.CrashVoidStore // a number that was skipped
			if len(history) == 1 {
				why = history[0].Void
			}
			err = g.refund(ctx, bets, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partitionsAtOnce is how many partitions are spoken to at the same time.
const partitionsAtOnce = 16

// eachPartition does a step in every partition, and repeats it where it is not
// known to have been done.
func (g *dealer) eachPartition(ctx context.Context, what string, step func(partition int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(partitionsAtOnce)
	for partition := range ledger.Partitions {
		group.Go(func() error {
			_, err := insist(ctx, g.table, what, func() (struct{}, error) { return struct{}{}, step(partition) })
			return err
		})
	}
	return group.Wait()
}

package crash

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/openoriginals/originals/internal/ledger"
)

// maxSettled is how many bets of a partition are settled in one step.
const maxSettled = 128

// settler makes decisions durable. Those of one partition that wait at the same
// time share a step; partitions do not wait for each other.
type settler struct {
	t     *table
	ctx   context.Context
	owner ledger.CrashOwner
	all   sync.WaitGroup

	mu     sync.Mutex
	queues [ledger.Partitions]struct {
		waiting []*liveBet
		busy    bool
	}
}

func newSettler(ctx context.Context, t *table, owner ledger.CrashOwner) *settler {
	return &settler{t: t, ctx: ctx, owner: owner}
}

// add settles a bet that is decided, soon.
func (s *settler) add(b *liveBet) {
	s.all.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queues[b.ID.Pair.Partition()]
	q.waiting = append(q.waiting, b)
	if !q.busy {
		q.busy = true
		go s.work(b.ID.Pair.Partition())
	}
}

// wait returns when all bets that were added are settled, or the owner has
// ended.
func (s *settler) wait() { s.all.Wait() }

func (s *settler) work(partition int) {
	for batch := s.next(partition); len(batch) > 0; batch = s.next(partition) {
		s.settle(partition, batch)
		for range batch {
			s.all.Done()
		}
	}
}

func (s *settler) next(partition int) []*liveBet {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queues[partition]
	n := min(len(q.waiting), maxSettled)
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	q.busy = n > 0
	return batch
}

// settle settles a batch. It goes on until the store has answered, since what
// was decided is not decided again by this owner. Where it ends without, the
// next owner decides, and callers are told that they cannot know.
func (s *settler) settle(partition int, batch []*liveBet) {
	bets := make([]ledger.CrashSettlement, len(batch))
	for i, b := range batch {
		bets[i] = ledger.CrashSettlement{Bet: b.CrashBet, CashOutE2: b.cashOutE2}
	}
	taken, err := insist(s.ctx, s.t, "bets are not settled", func() ([]ledger.CrashTaken, error) {
		return s.t.settleSome(s.ctx, s.owner, partition, bets)
	})
	for i, b := range batch {
		switch {
		case err != nil:
			b.err = errNoOwner
		case taken[i].Round.ID.Pair == "":
			b.err = fmt.Errorf("crash: bet %s: %w", b.ID, errNotSettled)
		default:
			b.taken = taken[i]
		}
		close(b.done)
	}
}

// settleSome settles bets of one partition. Bets that are broken in the store are
// left as they are, for a person to look at, and hold up no others.
func (t *table) settleSome(ctx context.Context, owner ledger.CrashOwner, partition int, bets []ledger.CrashSettlement) ([]ledger.CrashTaken, error) {
	taken, err := t.store().SettleCrashBets(ctx, owner, partition, bets)
	if err != nil && len(taken) == len(bets) {
		t.report(ctx, "a bet cannot be settled", err)
		return taken, nil
	}
	return taken, err
}

var errNotSettled = errors.New("it is not in the store, or broken there")

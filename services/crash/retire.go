package crash

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// errUsedUp says that the last round of a chain is final.
var errUsedUp = errors.New("crash: the chain of the table is used up")

// retire tells watchers that the table has ended, and where its players go on.
// It always answers errUsedUp, or that of ctx.
func (g *dealer) retire(ctx context.Context, s ledger.CrashState) error {
	next := g.next.Load()
	if next == nil {
		g.s.o.Log.Error("the chain of the table is used up, and none comes next", zap.String("table", g.name()))
	}
	g.events.publish(ctx, &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Phase{Phase: g.message(ctx, s)}})
	return errors.Join(errUsedUp, ctx.Err())
}

// skipRest ends a chain whose last rounds may all have been opened in time that
// the store has lost: they are listed as void, and bets that wait for them are
// given back first. No partition takes bets for them any more.
func (g *dealer) skipRest(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	last := g.Chain.Length()
	all, err := g.close(ctx, last)
	if err != nil {
		return s, err
	}
	if err := g.refund(ctx, all.bets, ledger.CrashVoidStore); err != nil {
		return s, err
	}
	return insist(ctx, g.table, "the last rounds are not skipped", func() (ledger.CrashState, error) {
		return g.store().SkipCrashRounds(ctx, g.owner, last, ledger.CrashVoidStore)
	})
}

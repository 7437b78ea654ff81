// Package settlement is the service of wallets: it moves money into and out of
// game balances, and tells of every round that ended. It holds no server seed
// and no key, and must never import another service.
package settlement

import (
	"context"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Store is what the service reads and writes.
type Store interface {
	ledger.Transfers
	ledger.Feed

	// Balances returns the player's balances. ledger.ErrNotFound: no such player.
	Balances(ctx context.Context, p ledger.Player) (map[money.Currency]money.Units, error)

	// Heads returns the newest sequence of each partition of an operator; 0
	// where it has no settlement.
	Heads(ctx context.Context, operator string) ([ledger.Partitions]uint64, error)

	// Backlog returns what the wallet of an operator has left to do.
	Backlog(ctx context.Context, operator string) (ledger.Backlog, error)
}

// Observer is told what happens, for metrics. Its methods must not block.
type Observer interface {
	// Claimed is told how many settlements a claim leased.
	Claimed(settlements int)
	// Acknowledged is told the status of one acknowledgement, by its public name.
	Acknowledged(status string)
	// CalledBack is told what came of one callback: "delivered", "refused" for
	// an answer other than 2xx, or "failed" where there was none.
	CalledBack(result string)
	// Backlog is told what the wallet of an operator has left to do.
	Backlog(operator string, b ledger.Backlog)
}

// Options are what a Service is made of.
type Options struct {
	Store    Store
	House    config.Config // currencies
	Log      *zap.Logger
	Observer Observer // nil for none

	// PollInterval is how often new settlements are looked for while somebody
	// streams; 50 ms when zero.
	PollInterval time.Duration
	// Heartbeat is how long a stream is silent before it says that it lives; 15 s
	// when zero.
	Heartbeat time.Duration
	// Stop ends streams when it is closed; nil for never.
	Stop <-chan struct{}
}

// stepTime bounds a call of the store that writes. It is the call's own time,
// whatever became of the caller.
const stepTime = 5 * time.Second

// Service implements SettlementService.
type Service struct {
	originalsv1.UnimplementedSettlementServiceServer

	o     Options
	feeds feeds
}

// New returns a Service.
func New(o Options) *Service {
	if o.Observer == nil {
		o.Observer = silent{}
	}
	if o.PollInterval == 0 {
		o.PollInterval = 50 * time.Millisecond
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 15 * time.Second
	}
	return &Service{o: o}
}

// Bind registers the service.
func Bind(r grpc.ServiceRegistrar, s *Service) {
	originalsv1.RegisterSettlementServiceServer(r, s)
}

type silent struct{}

func (silent) Claimed(int)                    {}
func (silent) Acknowledged(string)            {}
func (silent) CalledBack(string)              {}
func (silent) Backlog(string, ledger.Backlog) {}

// operator returns the operator whom the token names. Nothing in a request
// does.
func operator(ctx context.Context) (string, error) {
	id, ok := auth.FromContext(ctx)
	if !ok || id.Role != auth.Wallet {
		return "", reason.New(reason.RoleRequired, "a wallet's token is required", "role", string(auth.Wallet))
	}
	return id.Operator, nil
}

// detached returns a context for a step that writes: a caller who leaves does
// not cut it in half. It fails when the caller has left already.
func detached(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	step, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	return step, cancel, nil
}

// Package crash is the service of crash tables: it takes bets, owns tables, and
// decides cash-outs. It holds the links of chains, and must never import
// another service.
//
// Any process takes bets and shows tables. One process at a time owns a table:
// it opens, locks, starts and ends its rounds, and decides cash-outs, which the
// others pass on to it. When it dies, another takes the table from where the
// store has it.
package crash

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Table is a table of the house. Its name serves one chain for ever.
type Table struct {
	Name  rng.Table
	Chain *Chain
	Place Place // what comes after it
	Timings
}

// Timings are the settings of a table's clock.
type Timings struct {
	Betting time.Duration // how long bets are taken
	Crashed time.Duration // pause before the next round
	Tick    time.Duration // between two events that show the multiplier
}

// DefaultTimings are those of a table that was told none.
var DefaultTimings = Timings{Betting: 5 * time.Second, Crashed: 3 * time.Second, Tick: 100 * time.Millisecond}

// Options are what a Service is made of.
type Options struct {
	Store  ledger.CrashStore
	House  config.Config // currencies and limits
	Tables []Table
	Growth *crash.Growth
	Log    *zap.Logger
	// Chains makes and opens the chains that come next; nil where no table has a
	// Place.
	Chains *Chains

	// Address is where other processes reach this one; empty for nowhere.
	Address string
	// Dial connects to the owner of a table in another process; nil where there
	// is none. A connection is kept.
	Dial func(address string) (grpc.ClientConnInterface, error)
	// Watch is told what the tables do; may be nil.
	Watch *Metrics
	// Stop ends the streams of watchers when it is closed; nil for never.
	Stop <-chan struct{}
	// MaxWatchers bounds those of this process at once; DefaultMaxWatchers when 0.
	MaxWatchers int

	pace  int64         // of rounds, so that those of tests are short; 1 otherwise
	stale time.Duration // after which an owner counts as dead; staleAfter otherwise

	patience time.Duration // with a beacon that is not published; beaconPatience otherwise
	turn     time.Duration // between two looks for what comes next; turnInterval otherwise
}

// Service implements CrashService.
type Service struct {
	originalsv1.UnimplementedCrashServiceServer

	o      Options
	name   string // of this process among owners
	peers  peers
	digest string // of the growth table

	tablesMu sync.RWMutex
	tables   map[string]*table

	watchMu  sync.Mutex
	watchers int
}

// New returns a Service. Call Run beside it.
func New(o Options) *Service {
	digest := o.Growth.SHA256()
	s := &Service{o: o, name: rand.Text(), tables: make(map[string]*table), digest: hexOf(digest[:])}
	s.o.pace, s.o.stale = max(s.o.pace, 1), cmp.Or(s.o.stale, staleAfter)
	s.o.patience, s.o.turn = cmp.Or(s.o.patience, beaconPatience), cmp.Or(s.o.turn, turnInterval)
	if s.o.Watch == nil {
		s.o.Watch = NewMetrics()
	}
	var before *table
	for _, t := range o.Tables { // those of a line stand one after the other
		if t.Place.Number > 1 {
			before = s.add(t, before)
			continue
		}
		before = newTable(s, t)
		s.tables[before.name()] = before
	}
	return s
}

// Bind registers the service.
func Bind(r grpc.ServiceRegistrar, s *Service) { originalsv1.RegisterCrashServiceServer(r, s) }

// Run plays the tables that this process can get hold of, and those that come
// after them, until ctx ends. It then gives them up, so that another process
// goes on at once.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, n := range s.o.Tables {
		t := s.find(string(n.Name))
		all.Go(func() { t.run(ctx) })
		if t.Place.Number > 0 && t.next.Load() == nil && s.o.Chains != nil { // the last of its line
			all.Go(func() { s.follow(ctx, t, &all) })
		}
	}
	all.Wait()
}

var (
	errTableNotFound = reason.New(reason.TableNotFound, "no such table")
	errBetNotFound   = reason.New(reason.BetNotFound, "the player has no bet with this id at the table")
	errRoundNotFound = reason.New(reason.RoundNotFound, "the table has no such round")
	errNotStarted    = reason.New(reason.RoundNotStarted, "the round of this bet has not started")
	errNoOwner       = reason.New(reason.StoreUnavailable, "the table changes its owner; whether the call took effect is not known")
)

func (s *Service) table(name string) (*table, error) {
	t := s.find(name)
	if t == nil {
		return nil, errTableNotFound
	}
	return t, nil
}

// find returns a table; nil when there is none.
func (s *Service) find(name string) *table {
	s.tablesMu.RLock()
	defer s.tablesMu.RUnlock()
	return s.tables[name]
}

// player returns the player whom the token names.
func player(ctx context.Context) (ledger.Player, error) {
	id, ok := auth.FromContext(ctx)
	if !ok || id.Role != auth.Player {
		return ledger.Player{}, reason.New(reason.RoleRequired, "a player's token is required")
	}
	return id.Player(), nil
}

// maybePlayer returns the player whom a token names, if there is one.
func maybePlayer(ctx context.Context) (ledger.Player, bool) {
	id, ok := auth.FromContext(ctx)
	return id.Player(), ok && id.Role == auth.Player
}

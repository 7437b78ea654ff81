package crash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// moneyTimeout bounds a step that moves money. It goes on when its caller has
// left.
const moneyTimeout = 5 * time.Second

// PlaceBet takes a bet for the round that takes bets, else for the next.
func (s *Service) PlaceBet(ctx context.Context, req *originalsv1.CrashServicePlaceBetRequest) (*originalsv1.Round, error) {
	p, err := s.readPlacement(ctx, req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moneyTimeout)
	defer cancel()
	taken, err := s.o.Store.PlaceCrashBet(ctx, p)
	if reason.Of(err) == reason.BettingClosed {
		return nil, s.closed(ctx, s.find(p.Table), err)
	}
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, taken)
}

// closed says where to bet instead, when a table takes no bets for ever.
func (s *Service) closed(ctx context.Context, t *table, err error) error {
	next := t.next.Load()
	if next == nil {
		return err
	}
	if ended, lookErr := t.usedUp(ctx); lookErr != nil || !ended {
		return err
	}
	return reason.New(reason.BettingClosed, "the table has ended; another has taken its place", "next", next.name())
}

// readPlacement reads a bet. What its terms are refused for is kept in it, so
// that a repeat of an older bet is answered first.
func (s *Service) readPlacement(ctx context.Context, req *originalsv1.CrashServicePlaceBetRequest) (p ledger.CrashPlacement, err error) {
	if p.Player, err = player(ctx); err != nil {
		return p, err
	}
	t, err := s.table(req.GetTable())
	if err != nil {
		return p, err
	}
	p.Table, p.BetID, p.LastNumber = t.name(), req.GetBetId(), t.Chain.Length()
	if err := wire.BetID(p.BetID); err != nil {
		return p, err
	}
	if p.Currency, p.Stake, err = wire.Stake(req.GetStake()); err != nil {
		return p, err
	}
	limits, ok := s.o.House.Limits(bet.Crash, p.Currency)
	if !ok {
		return p, reason.Field("currency", "is not taken by this house")
	}
	if p.Target, err = readTarget(req.AutoCashOutE2, p.Stake, limits.MaxPayout); err != nil {
		return p, err
	}
	p.RoundLimit = s.o.House.CrashRoundLimit(p.Currency)
	b := bet.Bet{Game: bet.Crash, Crash: bet.CrashBet{Bet: p.Target}}
	terms, refusal := b.Terms(p.Stake, limits)
	p.WorstCase, p.Refusal = terms.WorstCase, termsRefusal(refusal)
	return p, nil
}

// readTarget reads the automatic cash-out; without one it is the largest that
// the limits allow.
func readTarget(asked *uint32, stake, maxPayout money.Units) (crash.Bet, error) {
	if asked == nil {
		b, ok := crash.LargestTarget(stake, maxPayout)
		if !ok {
			b.TargetE2 = crash.MinTargetE2 // refused by the limits
		}
		return b, nil
	}
	b := crash.Bet{TargetE2: *asked}
	var field *game.FieldError
	if err := b.Validate(); errors.As(err, &field) {
		return b, reason.Field(field.Field, field.Problem)
	}
	return b, nil
}

// termsRefusal gives a refusal of bet.Terms its reason.
func termsRefusal(err error) error {
	var limit *bet.LimitError
	switch {
	case errors.As(err, &limit):
		return reason.New(reason.LimitExceeded, fmt.Sprintf("the bet is outside the limit %s", limit.Limit),
			"limit", limit.Limit, "value", strconv.FormatInt(int64(limit.Value), 10))
	case errors.Is(err, bet.ErrStakeTooSmall):
		return reason.New(reason.StakeTooSmall, "a win would not pay more than the stake")
	}
	return err
}

// CancelBet gives the stake back, while betting is open.
func (s *Service) CancelBet(ctx context.Context, req *originalsv1.CancelBetRequest) (*originalsv1.Round, error) {
	t, p, err := s.target(ctx, req.GetTable(), req.GetBetId())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moneyTimeout)
	defer cancel()
	taken, err := s.o.Store.CancelCrashBet(ctx, t.name(), p, req.GetBetId())
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, errBetNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, taken)
}

// target reads which bet of the caller a call is about.
func (s *Service) target(ctx context.Context, table, betID string) (*table, ledger.Player, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, p, err
	}
	t, err := s.table(table)
	if err != nil {
		return nil, p, err
	}
	return t, p, wire.BetID(betID)
}

// answer shows a bet with the balance, and the crash point of its round where
// that is public.
func (s *Service) answer(ctx context.Context, taken ledger.CrashTaken) (*originalsv1.Round, error) {
	point, err := s.publicPoint(ctx, taken)
	if err != nil {
		return nil, err
	}
	m := wire.CrashBet(taken, point)
	m.Balance = wire.Money(taken.Round.Currency, taken.Balance)
	return m, nil
}

// publicPoint returns the crash point of a bet's round once it has crashed; 0
// before, and of a void round.
func (s *Service) publicPoint(ctx context.Context, taken ledger.CrashTaken) (uint32, error) {
	if taken.Round.State == ledger.Open {
		return 0, nil
	}
	number := taken.Round.Bet.Crash.Number
	if t := s.find(taken.Table); t != nil {
		if l := t.live.Load(); l != nil && l.number == number {
			return l.publicPoint(), nil
		}
	}
	r, _, err := findRound(ctx, s.o.Store, taken.Table, number)
	if errors.Is(err, ledger.ErrNotFound) {
		return 0, nil
	}
	return r.PointE2, err
}

// hopKey marks a call that another process has passed on, so that two processes
// that take each other for the owner do not pass it to and fro.
const hopKey = "x-crash-hop"

// CashOut ends a running bet at the multiplier of now, when this process owns
// the table, and passes the call on to the owner otherwise.
func (s *Service) CashOut(ctx context.Context, req *originalsv1.CrashServiceCashOutRequest) (*originalsv1.Round, error) {
	t, p, err := s.target(ctx, req.GetTable(), req.GetBetId())
	if err != nil {
		return nil, err
	}
	silent := false
	for try := 0; ; try++ {
		round, err := s.cashOut(ctx, t, p, req)
		switch {
		case errors.Is(err, errSilent) && !silent && ctx.Err() == nil:
			silent = true // by now another has the table
		case errors.Is(err, errBetween) && try < betweenTries && ctx.Err() == nil:
			sleep(ctx, betweenPause)
		case errors.Is(err, errSilent), errors.Is(err, errBetween):
			return nil, errNoOwner
		default:
			return round, err
		}
	}
}

var (
	// errBetween says that this process owns a table whose round is about to get
	// into its memory, or has just left it.
	errBetween = errors.New("crash: between two phases")
	// errSilent says that the owner has said nothing for so long that another has
	// taken the table, unless there is none.
	errSilent = errors.New("crash: the owner of the table is silent")
)

const (
	betweenTries = 20
	betweenPause = 5 * time.Millisecond
)

func (s *Service) cashOut(ctx context.Context, t *table, p ledger.Player, req *originalsv1.CrashServiceCashOutRequest) (*originalsv1.Round, error) {
	if l := t.live.Load(); l != nil {
		began := time.Now()
		if b := l.cashOut(p, req.GetBetId()); b != nil {
			s.o.Watch.decided(time.Since(began))
			return s.await(ctx, b)
		}
	}
	taken, err := s.o.Store.FindCrashBet(ctx, t.name(), p, req.GetBetId())
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, errBetNotFound
	}
	if err != nil {
		return nil, err
	}
	if taken.Round.State != ledger.Open {
		return s.answer(ctx, taken)
	}
	state, err := s.o.Store.CrashState(ctx, t.name())
	if err != nil {
		return nil, err
	}
	number := taken.Round.Bet.Crash.Number
	if number > state.Round.Number || number == state.Round.Number && state.Round.Phase < ledger.CrashRunning {
		return nil, errNotStarted
	}
	return s.passOn(ctx, t, req)
}

// await waits until a decision is durable.
func (s *Service) await(ctx context.Context, b *liveBet) (*originalsv1.Round, error) {
	select {
	case <-b.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b.err != nil {
		return nil, b.err
	}
	return s.answer(ctx, b.taken)
}

// passOn passes a cash-out on to the owner of the table.
func (s *Service) passOn(ctx context.Context, t *table, req *originalsv1.CrashServiceCashOutRequest) (*originalsv1.Round, error) {
	if t.owner.Load() != nil {
		return nil, errBetween
	}
	if len(metadata.ValueFromIncomingContext(ctx, hopKey)) > 0 {
		return nil, errNoOwner
	}
	lease, err := s.o.Store.CrashLease(ctx, t.name())
	if err != nil {
		return nil, err
	}
	if lease.Owner == "" || lease.Owner == s.name || lease.Address == "" || s.o.Dial == nil {
		return nil, errNoOwner
	}
	conn, err := s.peers.dial(lease.Address, s.o.Dial)
	if err != nil {
		return nil, err
	}
	out, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(auth.Forward(ctx), hopKey, "1"), s.o.stale+s.o.stale/3)
	defer cancel()
	round, err := originalsv1.NewCrashServiceClient(conn).CashOut(out, req)
	if status.Code(err) == codes.DeadlineExceeded && ctx.Err() == nil {
		return nil, errSilent
	}
	return round, err
}

// Package duel is the service of dice for two seats: it makes duels, takes the
// seats' client seeds, rolls and reveals, by the scheme duel-v1. It holds the
// server seeds of duels and of nothing else, and must never import another
// service.
package duel

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Store is what the service keeps duels in. *duelstore.Store is one, and says
// what each method promises.
type Store interface {
	Create(ctx context.Context, c duelstore.Creation) (duelstore.Duel, error)
	Look(ctx context.Context, id duelstore.ID, c duelstore.Caller) (duelstore.Duel, error)
	Commit(ctx context.Context, id duelstore.ID, c duelstore.Caller, s duelstore.Seat, hash string) (duelstore.Duel, error)
	Seed(ctx context.Context, id duelstore.ID, c duelstore.Caller, s duelstore.Seat, o duelstore.Opening) (duelstore.Duel, error)
	Roll(ctx context.Context, id duelstore.ID, operator string, ply uint32) (duelstore.Duel, error)
	End(ctx context.Context, id duelstore.ID, operator string) (duelstore.Duel, error)
	Due(ctx context.Context, partition int, life string, offset, count int) (duelstore.Due, error)
}

// Notices tell of steps that other processes took, as hints. *duelstore.Notices
// are some, and say what each method promises.
type Notices interface {
	Follow(ctx context.Context, id duelstore.ID) error
	Unfollow(ctx context.Context, id duelstore.ID) error
	Listen(ctx context.Context, heard func(id duelstore.ID, version uint32))
}

// Bounds of what the creator of a duel may choose.
const (
	MinGrace, DefaultGrace, MaxGrace    = time.Second, 5 * time.Second, 5 * time.Minute
	MinExpiry, DefaultExpiry, MaxExpiry = time.Hour, 24 * time.Hour, 7 * 24 * time.Hour
	MaxPlies                            = 10_000
)

// DefaultRetention is how long an ended duel is kept, where nothing else is
// chosen: 400 days, as digests are.
const DefaultRetention = 400 * 24 * time.Hour

// Options are what a Service is made of.
type Options struct {
	Store Store
	Keys  *seal.Keys
	Log   *zap.Logger

	// MinExpiry is the least time without a step, of at least a second, that the
	// creator of a duel may choose; MinExpiry when zero.
	MinExpiry time.Duration
	// Retention is how long an ended duel is kept; DefaultRetention when zero.
	Retention time.Duration
	// OnOpenDuels is told by each sweep how many duels are unended; may be nil.
	OnOpenDuels func(n int)
	// Notices are of steps that another process took; nil for none. Call Listen
	// beside the service.
	Notices Notices
	// PollInterval is how often a duel that is watched is looked at, for steps
	// of which no notice came; when zero 500 ms, and 3 s with Notices.
	PollInterval time.Duration
	// Stop ends the streams of watchers when it is closed; nil for never.
	Stop <-chan struct{}
}

// Service implements DuelService.
type Service struct {
	originalsv1.UnimplementedDuelServiceServer

	o      Options
	opened opened
	board  board
	lives  [duelstore.Partitions]string // of the store, by partition, as the last sweep met it
}

// New returns a Service. Call Sweep beside it.
func New(o Options) *Service {
	if o.OnOpenDuels == nil {
		o.OnOpenDuels = func(int) {}
	}
	if o.MinExpiry == 0 {
		o.MinExpiry = MinExpiry
	}
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.PollInterval == 0 {
		o.PollInterval = 500 * time.Millisecond
		if o.Notices != nil {
			o.PollInterval = 3 * time.Second
		}
	}
	return &Service{o: o}
}

// Bind registers the service.
func Bind(r grpc.ServiceRegistrar, s *Service) { originalsv1.RegisterDuelServiceServer(r, s) }

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}\z`)

// CreateDuel makes a duel, or finds the one that the request made.
func (s *Service) CreateDuel(ctx context.Context, req *originalsv1.CreateDuelRequest) (*originalsv1.Duel, error) {
	c, err := s.creation(ctx, req)
	if err != nil {
		return nil, err
	}
	serverSeed, err := rng.NewServerSeed()
	if err != nil {
		return nil, err
	}
	if c.Commitment, err = duel.Commitment(serverSeed); err != nil {
		return nil, err
	}
	c.ID = duelstore.NewID(c.Operator, c.RequestID, c.Commitment)
	if c.Sealed, err = s.o.Keys.Seal(string(c.ID), serverSeed); err != nil {
		return nil, err
	}
	if c.Mode == duelstore.Plain {
		if err := s.addFallbacks(&c); err != nil {
			return nil, err
		}
	}
	d, err := s.o.Store.Create(ctx, c)
	return s.answer(d, err)
}

// creation reads what the game server wishes.
func (s *Service) creation(ctx context.Context, req *originalsv1.CreateDuelRequest) (c duelstore.Creation, err error) {
	caller, err := identify(ctx)
	if err != nil {
		return c, err
	}
	c = duelstore.Creation{
		Operator: caller.Operator, RequestID: req.GetRequestId(), White: req.GetWhite(), Black: req.GetBlack(), Mode: duelstore.Committed,
		Retention: s.o.Retention,
	}
	if !requestIDPattern.MatchString(c.RequestID) {
		return c, reason.Field("requestId", "must be 1 to 40 of A-Z a-z 0-9 _ -")
	}
	for _, p := range []struct{ field, id string }{{"white", c.White}, {"black", c.Black}} {
		if err := wire.PlayerID(p.field, p.id); err != nil {
			return c, err
		}
	}
	if c.White == c.Black {
		return c, reason.Field("black", "must be another player than white")
	}
	if req.Mode != nil {
		switch req.GetMode() {
		case originalsv1.Duel_COMMITTED:
		case originalsv1.Duel_PLAIN:
			c.Mode = duelstore.Plain
		default:
			return c, reason.Field("mode", "must be one of COMMITTED, PLAIN")
		}
	}
	if c.Grace, err = seconds("graceSeconds", req.GraceSeconds, MinGrace, DefaultGrace, MaxGrace); err != nil {
		return c, err
	}
	c.Expiry, err = seconds("expirySeconds", req.ExpirySeconds, s.o.MinExpiry, DefaultExpiry, MaxExpiry)
	return c, err
}

func seconds(field string, given *uint32, low, otherwise, high time.Duration) (time.Duration, error) {
	if given == nil {
		return otherwise, nil
	}
	d := time.Duration(*given) * time.Second
	if d < low || d > high {
		return 0, reason.Field(field, "must be "+strconv.Itoa(int(low/time.Second))+" to "+strconv.Itoa(int(high/time.Second)))
	}
	return d, nil
}

// CommitSeat takes the hash of a seat's client seed.
func (s *Service) CommitSeat(ctx context.Context, req *originalsv1.CommitSeatRequest) (*originalsv1.Duel, error) {
	id, seat, c, err := target(ctx, req.GetDuelId(), req.GetSeat())
	if err != nil {
		return nil, err
	}
	if !duel.IsCommittedSeed(req.GetClientSeedHash()) { // the same form: 64 lower-case hex digits
		return nil, reason.Field("clientSeedHash", "must be 64 lower-case hex digits")
	}
	d, err := s.o.Store.Commit(ctx, id, c, seat, req.GetClientSeedHash())
	return s.answer(d, err)
}

// SeedSeat takes a seat's client seed.
func (s *Service) SeedSeat(ctx context.Context, req *originalsv1.SeedSeatRequest) (*originalsv1.Duel, error) {
	id, seat, c, err := target(ctx, req.GetDuelId(), req.GetSeat())
	if err != nil {
		return nil, err
	}
	text := req.GetClientSeed()
	switch {
	case len(text) < duel.MinSeedBytes:
		return nil, seedLength(reason.SeedTooShort, "must have 16 characters at least")
	case len(text) > duel.MaxSeedBytes:
		return nil, seedLength(reason.SeedTooLong, "must have 256 characters at most")
	case duel.ValidateSeed(text) != nil:
		return nil, reason.Field("clientSeed", "must be visible ASCII characters")
	}
	d, err := s.o.Store.Seed(ctx, id, c, seat, duelstore.Opening{
		Seed: text, Hash: duel.SeatCommitment(string(id), seat.String(), text), IsHex: duel.IsCommittedSeed(text),
	})
	if errors.Is(err, duelstore.Form) {
		s.board.note(d)
		return nil, badCommittedSeed(text)
	}
	return s.answer(d, err)
}

// badCommittedSeed says what is wrong with a client seed in committed mode.
func badCommittedSeed(text string) error {
	switch {
	case len(text) < duel.CommittedSeedBytes:
		return seedLength(reason.SeedTooShort, "must have 64 hex digits in committed mode")
	case len(text) > duel.CommittedSeedBytes:
		return seedLength(reason.SeedTooLong, "must have 64 hex digits in committed mode")
	}
	return reason.Field("clientSeed", "must be 64 lower-case hex digits in committed mode")
}

func seedLength(r reason.Reason, problem string) error {
	return reason.New(r, "clientSeed "+problem, "field", "clientSeed")
}

// Roll takes the next ply, or repeats the answer of one that was taken. The
// store is asked once.
func (s *Service) Roll(ctx context.Context, req *originalsv1.RollRequest) (*originalsv1.DuelRoll, error) {
	caller, err := identify(ctx)
	if err != nil {
		return nil, err
	}
	id, err := parseID(req.GetDuelId())
	if err != nil {
		return nil, err
	}
	if req.Ply == nil || req.GetPly() >= MaxPlies {
		return nil, reason.Field("ply", "must be 0 to "+strconv.Itoa(MaxPlies-1))
	}
	d, err := s.o.Store.Roll(ctx, id, caller.Operator, req.GetPly())
	if d.ID != "" {
		s.board.note(d)
	}
	if err != nil {
		return nil, refused(d, err)
	}
	return s.roll(&d, req.GetPly())
}

// EndDuel ends a duel.
func (s *Service) EndDuel(ctx context.Context, req *originalsv1.EndDuelRequest) (*originalsv1.Duel, error) {
	caller, err := identify(ctx)
	if err != nil {
		return nil, err
	}
	id, err := parseID(req.GetDuelId())
	if err != nil {
		return nil, err
	}
	d, err := s.o.Store.End(ctx, id, caller.Operator)
	return s.answer(d, err)
}

// GetDuel returns a duel; of one that has ended, the evidence.
func (s *Service) GetDuel(ctx context.Context, req *originalsv1.GetDuelRequest) (*originalsv1.Duel, error) {
	c, err := identify(ctx)
	if err != nil {
		return nil, err
	}
	id, err := parseID(req.GetDuelId())
	if err != nil {
		return nil, err
	}
	d, err := s.o.Store.Look(ctx, id, c)
	return s.answer(d, err)
}

// answer tells watchers what a step has made of a duel, and returns it, or the
// step's refusal.
func (s *Service) answer(d duelstore.Duel, err error) (*originalsv1.Duel, error) {
	if d.ID != "" {
		s.board.note(d)
	}
	if err != nil {
		return nil, refused(d, err)
	}
	return s.message(&d, true)
}

// identify returns whom the token names: a player, or an operator's game
// server.
func identify(ctx context.Context) (duelstore.Caller, error) {
	id, ok := auth.FromContext(ctx)
	switch {
	case ok && id.Role == auth.Player:
		return duelstore.Caller{Operator: id.Operator, Player: id.Subject}, nil
	case ok && id.Role == auth.Wallet:
		return duelstore.Caller{Operator: id.Operator}, nil
	}
	return duelstore.Caller{}, reason.New(reason.RoleRequired, "a player's or a wallet's token is required")
}

// target reads which seat of which duel a player's call is about.
func target(ctx context.Context, id, seat string) (duelstore.ID, duelstore.Seat, duelstore.Caller, error) {
	c, err := identify(ctx)
	if err != nil {
		return "", 0, c, err
	}
	s, ok := duelstore.ParseSeat(seat)
	if !ok {
		return "", 0, c, reason.Field("seat", "must be white or black")
	}
	d, err := parseID(id)
	return d, s, c, err
}

func parseID(text string) (duelstore.ID, error) {
	id, err := duelstore.ParseID(text)
	if err != nil {
		return "", errNotFound
	}
	return id, nil
}

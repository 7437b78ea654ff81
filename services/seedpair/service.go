// Package seedpair is the seed-pair service: its public half shows
// commitments, rotates pairs and reveals them; its private half, the vault,
// takes bets and hands each game the signature of one round. It is the only
// package that holds server seeds, and must never import another service.
package seedpair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// CrashTables are the bets at crash tables, and the chains of these.
type CrashTables interface {
	ledger.CrashStore
	ledger.CrashChains
}

// Options are what a Service is made of.
type Options struct {
	Store ledger.Store
	Crash CrashTables // bets at crash tables; nil where there are none
	Keys  *seal.Keys
	House config.Config  // currencies and limits
	Grant []ledger.Grant // each new player receives it
	Log   *zap.Logger

	// MinesExpiry is the age at which the sweeper cashes out an open mines
	// round that has a pick. A round without a pick stays open.
	MinesExpiry time.Duration
	// SweepAge is the age at which an open instant round counts as left behind.
	SweepAge time.Duration

	// OnOpenRounds is told by each sweep how many rounds are open; may be nil.
	OnOpenRounds func(n int)
}

// Service implements the public SeedPairService and RoundService, and the
// private VaultService.
type Service struct {
	originalsv1.UnimplementedSeedPairServiceServer
	originalsv1.UnimplementedRoundServiceServer
	vaultv1.UnimplementedVaultServiceServer

	o      Options
	opened opened
	drawn  drawn
	next   nextBets
}

// New returns a Service. Call Sweep beside it.
func New(o Options) *Service {
	if o.OnOpenRounds == nil {
		o.OnOpenRounds = func(int) {}
	}
	return &Service{o: o}
}

// Bind registers the public half.
func Bind(r grpc.ServiceRegistrar, s *Service) {
	originalsv1.RegisterSeedPairServiceServer(r, s)
	originalsv1.RegisterRoundServiceServer(r, s)
}

// BindVault registers the private half. Only game roles may reach it.
func BindVault(r grpc.ServiceRegistrar, s *Service) {
	vaultv1.RegisterVaultServiceServer(r, s)
}

// player returns the player whom the token names.
func player(ctx context.Context) (ledger.Player, error) {
	id, ok := auth.FromContext(ctx)
	if !ok || id.Role != auth.Player {
		return ledger.Player{}, reason.New(reason.RoleRequired, "a player's token is required")
	}
	return id.Player(), nil
}

// offer makes a fresh commitment for the player.
func (s *Service) offer(p ledger.Player) (ledger.Announced, error) {
	serverSeed, err := rng.NewServerSeed()
	if err != nil {
		return ledger.Announced{}, err
	}
	commitment, err := serverSeed.Commitment()
	if err != nil {
		return ledger.Announced{}, err
	}
	id := ledger.NewPairID(p, commitment)
	sealed, err := s.o.Keys.Seal(string(id), serverSeed)
	if err != nil {
		return ledger.Announced{}, err
	}
	return ledger.Announced{ID: id, Sealed: sealed}, nil
}

// account returns the player as he stands. He is created if he is new, and his
// pairs are retired if the store was replaced.
func (s *Service) account(ctx context.Context, p ledger.Player) (ledger.Account, error) {
	offer, err := s.offer(p)
	if err != nil {
		return ledger.Account{}, err
	}
	return s.o.Store.Open(ctx, p, offer, s.o.Grant)
}

// opening is an opened pair: the server seed and its commitment.
type opening struct {
	serverSeed rng.ServerSeed
	commitment rng.Commitment
}

// open opens a sealed server seed and compares it with the pair's id, which is
// taken from the commitment. A difference is an alarm and reaches the client
// as COMMITMENT_MISMATCH; the pair takes no bets while it lasts.
func (s *Service) open(p ledger.Player, id ledger.PairID, sealed []byte) (opening, error) {
	if o, ok := s.opened.get(id); ok {
		return o, nil
	}
	o, err := s.unseal(p, id, sealed)
	if err != nil {
		s.o.Log.Error("a stored server seed does not open its commitment",
			zap.String("seedPairId", string(id)), zap.Error(err))
		return opening{}, reason.New(reason.CommitmentMismatch,
			"the stored server seed does not open its commitment; no bets are taken with this seed pair", "seedPairId", string(id))
	}
	s.opened.put(id, o)
	return o, nil
}

func (s *Service) unseal(p ledger.Player, id ledger.PairID, sealed []byte) (opening, error) {
	serverSeed, err := s.o.Keys.Open(string(id), sealed)
	if err != nil {
		return opening{}, err
	}
	commitment, err := serverSeed.Commitment()
	if err != nil {
		return opening{}, err
	}
	if ledger.NewPairID(p, commitment) != id {
		return opening{}, errors.New("seedpair: commitment differs from the pair's id")
	}
	return opening{serverSeed, commitment}, nil
}

// outcome derives the outcome of a round from its pair.
func (s *Service) outcome(l ledger.Loaded, picks []uint8) (bet.Outcome, error) {
	o, err := s.open(l.Pair.Player, l.Pair.ID, l.Pair.Sealed)
	if err != nil {
		return bet.Outcome{}, err
	}
	signature, err := o.serverSeed.Sign(l.Pair.ClientSeed, l.Round.ID.Nonce)
	if err != nil {
		return bet.Outcome{}, err
	}
	out, err := l.Round.Bet.Outcome(signature, l.Round.Stake, picks)
	if err != nil {
		return bet.Outcome{}, fmt.Errorf("seedpair: round %s: %w", l.Round.ID, err)
	}
	return out, nil
}

// Package support is the support service: staff of an operator look at players
// and rounds and reveal seed pairs on request. It keeps the record of what they
// did, holds no server seed, and must never import another service.
package support

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// revealTime bounds a reveal from its first entry in the log to its last.
const revealTime = 10 * time.Second

// Options are what a Service is made of.
type Options struct {
	Audit ledger.AuditLog
	Feed  ledger.Feed              // says what became of a settlement
	Vault grpc.ClientConnInterface // the seed-pair service, as the role support reaches it
}

// Service implements the public SupportService.
type Service struct {
	originalsv1.UnimplementedSupportServiceServer

	o     Options
	vault vaultv1.SupportVaultServiceClient
}

// New returns a Service.
func New(o Options) *Service {
	return &Service{o: o, vault: vaultv1.NewSupportVaultServiceClient(o.Vault)}
}

// Bind registers the service.
func Bind(r grpc.ServiceRegistrar, s *Service) { originalsv1.RegisterSupportServiceServer(r, s) }

// staff returns the member of staff whom the token names.
func staff(ctx context.Context) (auth.Identity, error) {
	id, ok := auth.FromContext(ctx)
	if !ok || id.Role != auth.Support {
		return auth.Identity{}, reason.New(reason.RoleRequired, "a support token is required")
	}
	return id, nil
}

// record writes down what a member of staff does, before he gets an answer.
func (s *Service) record(ctx context.Context, id auth.Identity, e ledger.AuditEntry) error {
	e.Staff = id.Subject
	_, err := s.o.Audit.AppendAudit(ctx, id.Operator, e)
	return err
}

// GetPlayer shows a player.
func (s *Service) GetPlayer(ctx context.Context, req *originalsv1.GetPlayerRequest) (*originalsv1.SupportPlayer, error) {
	id, err := staff(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.PlayerID("playerId", req.GetPlayerId()); err != nil {
		return nil, err
	}
	if err := s.record(ctx, id, ledger.AuditEntry{Action: ledger.ViewPlayer, Player: req.GetPlayerId()}); err != nil {
		return nil, err
	}
	return s.vault.GetPlayer(auth.Forward(ctx), &vaultv1.GetPlayerRequest{PlayerId: req.GetPlayerId()})
}

// RevealSeedPair makes a server seed public. That it was begun, by whom and
// why, is written down first; a repeat completes what was interrupted.
func (s *Service) RevealSeedPair(ctx context.Context, req *originalsv1.RevealSeedPairRequest) (*originalsv1.SeedPair, error) {
	id, err := staff(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkReveal(req); err != nil {
		return nil, err
	}
	entry := ledger.AuditEntry{Action: ledger.RevealBegun, Pair: req.GetSeedPairId(), Reason: req.GetReason(), Ticket: req.GetTicket()}
	shown, err := s.vault.GetSeedPair(auth.Forward(ctx), &vaultv1.GetSeedPairRequest{SeedPairId: req.GetSeedPairId()})
	if err != nil {
		return nil, s.refused(ctx, id, entry, err)
	}
	entry.Player = shown.GetPlayerId()
	if err := s.record(ctx, id, entry); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revealTime) // what is begun is ended, whoever still waits
	defer cancel()
	detail := fmt.Sprintf("%s (ticket %s, by %s)", req.GetReason(), req.GetTicket(), id.Subject)
	pair, err := s.vault.RevealSeedPair(auth.Forward(ctx), &vaultv1.RevealSeedPairRequest{SeedPairId: req.GetSeedPairId(), Detail: detail})
	if err != nil {
		return nil, s.refused(ctx, id, entry, err)
	}
	entry.Action = ledger.RevealDone
	if err := s.record(ctx, id, entry); err != nil {
		return nil, err
	}
	return pair, nil
}

// refused writes down that a reveal was refused, and returns why. A reveal of
// which it is not known whether it happened stays begun.
func (s *Service) refused(ctx context.Context, id auth.Identity, e ledger.AuditEntry, cause error) error {
	if !reason.Of(cause).Known() {
		return cause
	}
	e.Action = ledger.RevealRefused
	if err := s.record(ctx, id, e); err != nil {
		return err
	}
	return cause
}

func checkReveal(req *originalsv1.RevealSeedPairRequest) error {
	if err := wire.ID("seedPairId", req.GetSeedPairId()); err != nil {
		return err
	}
	if !isText(req.GetReason(), 200, ' ') {
		return reason.Field("reason", "must be 1 to 200 visible ASCII characters and spaces")
	}
	if !isText(req.GetTicket(), 64, '!') {
		return reason.Field("ticket", "must be 1 to 64 visible ASCII characters")
	}
	return nil
}

// isText reports whether s has 1 to most characters from least to '~', and is
// not of spaces alone.
func isText(s string, most int, least byte) bool {
	visible := false
	for i := range len(s) {
		if s[i] < least || s[i] > '~' {
			return false
		}
		visible = visible || s[i] != ' '
	}
	return visible && len(s) <= most
}

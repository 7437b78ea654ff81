package support

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// GetRoundTimeline shows a round and what happened to it, in order.
func (s *Service) GetRoundTimeline(ctx context.Context, req *originalsv1.GetRoundTimelineRequest) (*originalsv1.RoundTimeline, error) {
	id, err := staff(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.ID("roundId", req.GetRoundId()); err != nil {
		return nil, err
	}
	seen, seenErr := s.vault.GetRound(auth.Forward(ctx), &vaultv1.GetRoundRequest{RoundId: req.GetRoundId()})
	entry := ledger.AuditEntry{Action: ledger.ViewRound, Round: req.GetRoundId(), Player: seen.GetPlayerId()}
	if err := s.record(ctx, id, entry); err != nil {
		return nil, err
	}
	if seenErr != nil {
		return nil, seenErr
	}
	t := &originalsv1.RoundTimeline{PlayerId: seen.GetPlayerId(), Round: seen.GetRound(), SeedPair: seen.GetSeedPair()}
	settled, err := s.settlement(ctx, id.Operator, seen.GetRound())
	if err != nil {
		return nil, err
	}
	t.Events = events(t, settled)
	return t, nil
}

// settlement returns what the wallet was told and answered, nil while the round
// is open.
func (s *Service) settlement(ctx context.Context, operator string, r *originalsv1.Round) (*ledger.SettledRound, error) {
	if r.GetState() == originalsv1.Round_OPEN {
		return nil, nil
	}
	id, err := ledger.ParseRoundID(r.GetRoundId())
	if err != nil {
		return nil, reason.New(reason.RoundNotFound, "there is no such round")
	}
	settled, err := s.o.Feed.Settlement(ctx, operator, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &settled, nil
}

// story gathers the events of a round.
type story []*originalsv1.RoundTimeline_Event

func (s *story) tell(at *timestamppb.Timestamp, event, detail string) {
	*s = append(*s, &originalsv1.RoundTimeline_Event{Time: at, Event: event, Detail: detail})
}

// events puts what is known of a round in its order.
func events(t *originalsv1.RoundTimeline, settled *ledger.SettledRound) []*originalsv1.RoundTimeline_Event {
	var s story
	r, pair := t.GetRound(), t.GetSeedPair()
	if pair != nil {
		s.tell(nil, "COMMITMENT_ANNOUNCED", pair.GetCommitment())
		s.tell(pair.GetCreateTime(), "SEED_PAIR_ACTIVATED", "client seed "+pair.GetClientSeed())
	}
	s.tell(r.GetCreateTime(), "STAKE_LOCKED", amount(r.GetStake()))
	var later story
	switch r.GetState() {
	case originalsv1.Round_SETTLED:
		later.tell(r.GetSettleTime(), "SETTLED", "payout "+amount(r.GetPayout()))
	case originalsv1.Round_VOID:
		later.tell(r.GetSettleTime(), "VOIDED", "stake given back"+why(settled))
	}
	if settled != nil {
		tellSettlement(&later, r.GetSettleTime(), settled)
	}
	retired := pair.GetRevealReason() != ""
	if retired && pair.GetRevealTime() == nil {
		s.tell(nil, "SEED_PAIR_RETIRED", pair.GetRevealReason())
	}
	s = append(s, later...)
	if retired && pair.GetRevealTime() != nil {
		s.tell(pair.GetRevealTime(), "SEED_PAIR_REVEALED", pair.GetRevealReason())
	}
	return s
}

// why says why a round was void, if its settlement knows.
func why(settled *ledger.SettledRound) string {
	if settled == nil || settled.VoidReason == "" {
		return ""
	}
	return ": " + settled.VoidReason
}

func tellSettlement(s *story, at *timestamppb.Timestamp, settled *ledger.SettledRound) {
	place := fmt.Sprintf("partition %d, sequence %d", settled.Round.Pair.Partition(), settled.Sequence)
	s.tell(at, "SETTLEMENT_QUEUED", place)
	switch {
	case settled.RejectReason != "":
		s.tell(nil, "SETTLEMENT_REJECTED", settled.RejectReason)
	case settled.WalletTransaction != "":
		s.tell(nil, "SETTLEMENT_ACKNOWLEDGED", "wallet transaction "+settled.WalletTransaction)
	case settled.Attempt > 0:
		s.tell(nil, "SETTLEMENT_CLAIMED", fmt.Sprintf("attempt %d, %s", settled.Attempt, lease(settled.LeaseExpire)))
	}
}

func lease(end time.Time) string {
	if end.IsZero() {
		return "given back"
	}
	return "lease until " + end.UTC().Format(time.RFC3339)
}

func amount(m *originalsv1.Money) string {
	return fmt.Sprintf("%d units of %s", m.GetAmount(), m.GetCurrency())
}

package settlement

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

var errSettlementNotFound = reason.New(reason.SettlementNotFound, "no such settlement of this operator")

// ListSettlements lists the settlements of one partition in their order.
func (s *Service) ListSettlements(ctx context.Context, req *originalsv1.ListSettlementsRequest) (*originalsv1.ListSettlementsResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	partition, err := readPartition(req.GetPartition())
	if err != nil {
		return nil, err
	}
	after, err := readSequence("afterSequence", req.GetAfterSequence())
	if err != nil {
		return nil, err
	}
	size, err := wire.PageSize(req.PageSize)
	if err != nil {
		return nil, err
	}
	rounds, last, err := s.o.Store.Settlements(ctx, name, partition, after, size)
	if err != nil {
		return nil, err
	}
	return &originalsv1.ListSettlementsResponse{Settlements: settlements(rounds), LastSequence: int64(last)}, nil
}

// GetSettlement returns the settlement of one round.
func (s *Service) GetSettlement(ctx context.Context, req *originalsv1.GetSettlementRequest) (*originalsv1.Settlement, error) {
	name, id, err := readTarget(ctx, req.GetSettlementId())
	if err != nil {
		return nil, err
	}
	round, err := s.o.Store.Settlement(ctx, name, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, errSettlementNotFound
	}
	if err != nil {
		return nil, err
	}
	return settlement(round), nil
}

// ClaimSettlements leases players, each with his oldest settlements.
func (s *Service) ClaimSettlements(ctx context.Context, req *originalsv1.ClaimSettlementsRequest) (*originalsv1.ClaimSettlementsResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	claim, err := readClaim(name, req)
	if err != nil {
		return nil, err
	}
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	rounds, err := s.claim(step, claim)
	if err != nil {
		return nil, err
	}
	return &originalsv1.ClaimSettlementsResponse{Settlements: settlements(rounds)}, nil
}

func (s *Service) claim(ctx context.Context, c ledger.Claim) ([]ledger.SettledRound, error) {
	rounds, err := s.o.Store.Claim(ctx, c)
	if errors.Is(err, ledger.ErrClaimReused) {
		return nil, reason.New(reason.ClaimIDReused, "the claimId belongs to a claim of another consumer or size")
	}
	if err == nil {
		s.o.Observer.Claimed(len(rounds))
	}
	return rounds, err
}

// AcknowledgeSettlements takes what the wallet did, each item by itself.
func (s *Service) AcknowledgeSettlements(ctx context.Context, req *originalsv1.AcknowledgeSettlementsRequest) (*originalsv1.AcknowledgeSettlementsResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	items, err := readAcks(req.GetItems())
	if err != nil {
		return nil, err
	}
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	answers, err := s.acknowledge(step, name, items.acks)
	if err != nil {
		return nil, err
	}
	return items.answer(answers), nil
}

// acknowledge also raises the alarm where two wallet transactions were reported
// for one settlement: one of both moved money that it should not have.
func (s *Service) acknowledge(ctx context.Context, name string, acks []ledger.Ack) ([]ledger.AckResult, error) {
	if len(acks) == 0 {
		return nil, nil
	}
	answers, err := s.o.Store.Acknowledge(ctx, name, acks)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(acks) {
		return nil, errors.New("settlement: the store answered another number of acknowledgements")
	}
	for i, a := range answers {
		s.o.Observer.Acknowledged(statuses[a.Status].String())
		if a.Status == ledger.Conflict {
			s.o.Log.Error("two wallet transactions were reported for one settlement",
				zap.String("settlement_id", acks[i].Round.String()), zap.String("operator", name))
		}
	}
	return answers, nil
}

// ReleaseSettlements gives back what a claim still holds.
func (s *Service) ReleaseSettlements(ctx context.Context, req *originalsv1.ReleaseSettlementsRequest) (*originalsv1.ReleaseSettlementsResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.CallerID("claimId", req.GetClaimId()); err != nil {
		return nil, err
	}
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	released, err := s.o.Store.Release(step, name, req.GetClaimId())
	if err != nil {
		return nil, err
	}
	return &originalsv1.ReleaseSettlementsResponse{Released: int32(released)}, nil
}

// ExtendClaim sets a new end of what a claim still holds.
func (s *Service) ExtendClaim(ctx context.Context, req *originalsv1.ExtendClaimRequest) (*originalsv1.ExtendClaimResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.CallerID("claimId", req.GetClaimId()); err != nil {
		return nil, err
	}
	lease, err := readLease(req.GetLeaseSeconds())
	if err != nil {
		return nil, err
	}
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	extended, until, err := s.o.Store.Extend(step, name, req.GetClaimId(), lease)
	if err != nil {
		return nil, err
	}
	return &originalsv1.ExtendClaimResponse{Extended: int32(extended), LeaseExpireTime: timestamp(until)}, nil
}

// ListRejected lists dead letters by partition and, within one, by sequence.
func (s *Service) ListRejected(ctx context.Context, req *originalsv1.ListRejectedRequest) (*originalsv1.ListRejectedResponse, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	size, err := wire.PageSize(req.PageSize)
	if err != nil {
		return nil, err
	}
	filter := wire.ListFilter("rejected", name)
	partition, after, err := readRejectedToken(filter, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	res := &originalsv1.ListRejectedResponse{}
	for ; partition < ledger.Partitions; partition, after = partition+1, 0 {
		room := size - len(res.Settlements)
		rounds, err := s.o.Store.Rejected(ctx, name, partition, after, room)
		if err != nil {
			return nil, err
		}
		res.Settlements = append(res.Settlements, settlements(rounds)...)
		if len(rounds) == room {
			res.NextPageToken = rejectedToken(filter, partition, rounds[room-1].Sequence)
			break
		}
	}
	return res, nil
}

// RequeueSettlement makes a dead letter claimable again. What is claimable stays so.
func (s *Service) RequeueSettlement(ctx context.Context, req *originalsv1.RequeueSettlementRequest) (*originalsv1.RequeueSettlementResponse, error) {
	name, id, err := readTarget(ctx, req.GetSettlementId())
	if err != nil {
		return nil, err
	}
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	err = s.o.Store.Requeue(step, name, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, reason.New(reason.SettlementNotFound, "no such settlement of this operator, or it was acknowledged")
	}
	if err != nil {
		return nil, err
	}
	return &originalsv1.RequeueSettlementResponse{}, nil
}

// settlements returns the messages of rounds.
func settlements(rounds []ledger.SettledRound) []*originalsv1.Settlement {
	all := make([]*originalsv1.Settlement, 0, len(rounds))
	for _, r := range rounds {
		all = append(all, settlement(r))
	}
	return all
}

// settlement returns the message of a round that ended.
func settlement(r ledger.SettledRound) *originalsv1.Settlement {
	return &originalsv1.Settlement{
		SettlementId: r.Round.String(), RoundId: r.Round.String(), BetId: r.BetID, PlayerId: r.Player.ID,
		Partition: uint32(r.Round.Pair.Partition()), Sequence: int64(r.Sequence), Game: originalsv1.Game(r.Game),
		Stake: wire.Money(r.Currency, r.Stake), Payout: wire.Money(r.Currency, r.Payout), Result: result(r),
		SettleTime: timestamp(r.SettleTime), FencingToken: int64(r.Token), LeaseExpireTime: timestamp(r.LeaseExpire),
		Attempt: r.Attempt, WalletTransactionId: r.WalletTransaction, RejectReason: r.RejectReason, VoidReason: r.VoidReason,
	}
}

func result(r ledger.SettledRound) originalsv1.Settlement_Result {
	switch {
	case r.State == ledger.Void:
		return originalsv1.Settlement_VOID
	case r.Payout > 0:
		return originalsv1.Settlement_WON
	}
	return originalsv1.Settlement_LOST
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

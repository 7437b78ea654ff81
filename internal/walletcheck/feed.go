package walletcheck

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// shown returns a settlement as lists show it.
func (e *entry) shown() *originalsv1.Settlement { return proto.CloneOf(e.Settlement) }

// ClaimSettlements leases players, each with the run of his open settlements.
func (p *platform) ClaimSettlements(_ context.Context, req *originalsv1.ClaimSettlementsRequest) (*originalsv1.ClaimSettlementsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case req.GetClaimId() == "" || len(req.GetClaimId()) > 40:
		return nil, reason.Field("claimId", "must be 1 to 40 characters")
	case req.GetConsumer() == "" || len(req.GetConsumer()) > 64:
		return nil, reason.Field("consumer", "must be 1 to 64 characters")
	case req.GetMax() < 1 || req.GetMax() > 500:
		return nil, reason.Field("max", "must be 1 to 500")
	case req.GetLeaseSeconds() < 1 || req.GetLeaseSeconds() > 3600:
		return nil, reason.Field("leaseSeconds", "must be 1 to 3600")
	}
	if known := p.claims[req.GetClaimId()]; known != nil {
		return p.claimAgain(known, req)
	}
	c := &claim{request: proto.CloneOf(req)}
	p.claims[req.GetClaimId()] = c
	players := p.players
	if p.vain[req.GetClaimId()] {
		delete(p.vain, req.GetClaimId())
		players = nil
	}
	for _, player := range players {
		p.lease(c, player)
		if len(c.items) == int(req.GetMax()) {
			break
		}
	}
	return &originalsv1.ClaimSettlementsResponse{Settlements: cloneAll(c.items)}, nil
}

// claimAgain answers with the items whose lease still lasts, acknowledged or not.
func (p *platform) claimAgain(known *claim, req *originalsv1.ClaimSettlementsRequest) (*originalsv1.ClaimSettlementsResponse, error) {
	if !proto.Equal(known.request, req) {
		return nil, reason.New(reason.ClaimIDReused, "the claimId belongs to another claim")
	}
	res := new(originalsv1.ClaimSettlementsResponse)
	for _, item := range known.items {
		l := p.leases[item.GetPlayerId()]
		if l != nil && l.claim == req.GetClaimId() && p.now().Before(l.expires) {
			res.Settlements = append(res.Settlements, proto.CloneOf(item))
		}
	}
	return res, nil
}

func (p *platform) lease(c *claim, player string) {
	if l := p.leases[player]; l != nil && p.now().Before(l.expires) {
		return
	}
	var taken *lease
	for _, e := range p.runs[player] {
		if len(c.items) == int(c.request.GetMax()) {
			return
		}
		if !e.open() {
			continue
		}
		if taken == nil {
			p.tokens[player]++
			taken = &lease{c.request.GetClaimId(), p.now().Add(time.Duration(c.request.GetLeaseSeconds()) * time.Second)}
			p.leases[player] = taken
		}
		e.Attempt++
		item := e.shown()
		item.FencingToken, item.LeaseExpireTime = p.tokens[player], timestamppb.New(taken.expires)
		c.items = append(c.items, item)
	}
}

func cloneAll(items []*originalsv1.Settlement) []*originalsv1.Settlement {
	var all []*originalsv1.Settlement
	for _, item := range items {
		all = append(all, proto.CloneOf(item))
	}
	return all
}

// AcknowledgeSettlements takes what the wallet did, each item by itself.
func (p *platform) AcknowledgeSettlements(_ context.Context, req *originalsv1.AcknowledgeSettlementsRequest) (*originalsv1.AcknowledgeSettlementsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(req.GetItems()); n < 1 || n > 500 {
		return nil, reason.Field("items", "must be 1 to 500")
	}
	for i, item := range req.GetItems() {
		tx := item.GetWalletTransactionId()
		if len(tx) > 64 || tx == "" && item.GetResult() == originalsv1.Acknowledgement_APPLIED {
			return nil, reason.Field(fmt.Sprintf("items[%d].walletTransactionId", i), "must be 1 to 64 characters")
		}
		if item.GetResult() == originalsv1.Acknowledgement_RESULT_UNSPECIFIED {
			return nil, reason.Field(fmt.Sprintf("items[%d].result", i), "must be APPLIED or REJECTED")
		}
	}
	res := new(originalsv1.AcknowledgeSettlementsResponse)
	touched := make(map[string]bool)
	for _, item := range req.GetItems() {
		res.Results = append(res.Results, p.acknowledge(item))
		if e := p.byID[item.GetSettlementId()]; e != nil {
			touched[e.GetPlayerId()] = true
		}
	}
	for player := range touched {
		p.freeIfDone(player)
	}
	return res, nil
}

func (p *platform) acknowledge(item *originalsv1.Acknowledgement) *originalsv1.AcknowledgementAnswer {
	answer := &originalsv1.AcknowledgementAnswer{SettlementId: item.GetSettlementId()}
	e := p.byID[item.GetSettlementId()]
	switch {
	case e == nil:
		answer.Status = originalsv1.AcknowledgementAnswer_NOT_FOUND
	case e.acknowledged && e.GetWalletTransactionId() == item.GetWalletTransactionId():
		e.again = false
		answer.Status = originalsv1.AcknowledgementAnswer_ALREADY_ACKNOWLEDGED
	case e.acknowledged:
		e.again = false
		answer.Status, answer.WalletTransactionId = originalsv1.AcknowledgementAnswer_CONFLICT, e.GetWalletTransactionId()
	case item.FencingToken != nil && item.GetFencingToken() != p.tokens[e.GetPlayerId()]:
		answer.Status = originalsv1.AcknowledgementAnswer_STALE_LEASE
	case item.GetResult() == originalsv1.Acknowledgement_REJECTED:
		e.rejected, e.RejectReason = true, item.GetRejectReason()
		answer.Status = originalsv1.AcknowledgementAnswer_ACKNOWLEDGED
	default:
		e.acknowledged, e.WalletTransactionId = true, item.GetWalletTransactionId()
		answer.Status = originalsv1.AcknowledgementAnswer_ACKNOWLEDGED
	}
	return answer
}

// freeIfDone ends the lease of a player whose claimed settlements have all
// been answered.
func (p *platform) freeIfDone(player string) {
	l := p.leases[player]
	if l == nil {
		return
	}
	if c := p.claims[l.claim]; c != nil {
		for _, item := range c.items {
			if item.GetPlayerId() == player && p.byID[item.GetSettlementId()].open() {
				return
			}
		}
	}
	delete(p.leases, player)
}

// ReleaseSettlements gives back what a claim still holds.
func (p *platform) ReleaseSettlements(_ context.Context, req *originalsv1.ReleaseSettlementsRequest) (*originalsv1.ReleaseSettlementsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	res := new(originalsv1.ReleaseSettlementsResponse)
	for player, l := range p.leases {
		if l.claim == req.GetClaimId() && p.now().Before(l.expires) {
			delete(p.leases, player)
			p.tokens[player]++
			res.Released++
		}
	}
	return res, nil
}

// ExtendClaim sets a new end of what a claim still holds.
func (p *platform) ExtendClaim(_ context.Context, req *originalsv1.ExtendClaimRequest) (*originalsv1.ExtendClaimResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	until := p.now().Add(time.Duration(req.GetLeaseSeconds()) * time.Second)
	res := &originalsv1.ExtendClaimResponse{LeaseExpireTime: timestamppb.New(until)}
	for _, l := range p.leases {
		if l.claim == req.GetClaimId() && p.now().Before(l.expires) {
			l.expires = until
			res.Extended++
		}
	}
	return res, nil
}

// ListSettlements lists the settlements of one partition in their order.
func (p *platform) ListSettlements(_ context.Context, req *originalsv1.ListSettlementsRequest) (*originalsv1.ListSettlementsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := 50
	if req.PageSize != nil {
		size = int(req.GetPageSize())
	}
	if size < 1 || size > 200 {
		return nil, reason.Field("pageSize", "must be 1 to 200")
	}
	res := &originalsv1.ListSettlementsResponse{LastSequence: p.last[req.GetPartition()]}
	for _, e := range p.feed {
		if e.GetPartition() == req.GetPartition() && e.GetSequence() > req.GetAfterSequence() && len(res.Settlements) < size {
			res.Settlements = append(res.Settlements, e.shown())
		}
	}
	return res, nil
}

// GetSettlement returns one settlement.
func (p *platform) GetSettlement(_ context.Context, req *originalsv1.GetSettlementRequest) (*originalsv1.Settlement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.byID[req.GetSettlementId()]
	if e == nil {
		return nil, reason.New(reason.SettlementNotFound, "no such settlement")
	}
	return e.shown(), nil
}

// streamPause is the pause between two looks of a stream for new settlements.
const streamPause = 20 * time.Millisecond

// StreamSettlements sends the feed in the order of settling. The cursor is the
// count of what was sent.
func (p *platform) StreamSettlements(req *originalsv1.StreamSettlementsRequest, to grpc.ServerStreamingServer[originalsv1.StreamSettlementsResponse]) error {
	var sent int
	if req.GetCursor() != "" {
		if _, err := fmt.Sscanf(req.GetCursor(), "%d", &sent); err != nil || sent < 0 {
			return reason.Field("cursor", "is not one of ours")
		}
	}
	for to.Context().Err() == nil {
		var next *originalsv1.Settlement
		p.with(func() {
			if sent < len(p.feed) {
				next = p.feed[sent].shown()
			}
		})
		if next == nil {
			time.Sleep(streamPause)
			continue
		}
		sent++
		if err := to.Send(&originalsv1.StreamSettlementsResponse{Settlement: next, Cursor: fmt.Sprint(sent)}); err != nil {
			return err
		}
	}
	return to.Context().Err()
}

// ListRejected lists the dead letters, all on one page.
func (p *platform) ListRejected(context.Context, *originalsv1.ListRejectedRequest) (*originalsv1.ListRejectedResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	res := new(originalsv1.ListRejectedResponse)
	for _, e := range p.feed {
		if e.rejected {
			res.Settlements = append(res.Settlements, e.shown())
		}
	}
	return res, nil
}

// RequeueSettlement makes a dead letter claimable again.
func (p *platform) RequeueSettlement(_ context.Context, req *originalsv1.RequeueSettlementRequest) (*originalsv1.RequeueSettlementResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.byID[req.GetSettlementId()]
	if e == nil || !e.open() && !e.rejected {
		return nil, reason.New(reason.SettlementNotFound, "no such settlement, or it was acknowledged")
	}
	e.rejected, e.RejectReason = false, ""
	return new(originalsv1.RequeueSettlementResponse), nil
}

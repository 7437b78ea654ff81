package walletcheck

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// played is a platform that is called by gRPC.
type played struct {
	t *testing.T
	originalsv1.SettlementServiceClient
	ctx   context.Context
	stage *stage
}

func newPlayed(t *testing.T) played {
	t.Helper()
	s, err := newStage(newPlatform(time.Now), "right")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop() })
	conn, err := grpc.NewClient(s.grpcAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer right")
	return played{t, originalsv1.NewSettlementServiceClient(conn), ctx, s}
}

func (p played) wantCode(what string, err error, want codes.Code) {
	p.t.Helper()
	if status.Code(err) != want {
		p.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (p played) claim(id string) []*originalsv1.Settlement {
	p.t.Helper()
	res, err := p.ClaimSettlements(p.ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: id, Consumer: "c", Max: 500, LeaseSeconds: 30})
	if err != nil {
		p.t.Fatal(err)
	}
	return res.GetSettlements()
}

func (p played) acknowledge(s *originalsv1.Settlement, transaction string) originalsv1.AcknowledgementAnswer_Change {
	p.t.Helper()
	token := s.GetFencingToken()
	res, err := p.AcknowledgeSettlements(p.ctx, &originalsv1.AcknowledgeSettlementsRequest{Items: []*originalsv1.Acknowledgement{{
		SettlementId: s.GetSettlementId(), FencingToken: &token, WalletTransactionId: transaction, Result: originalsv1.Acknowledgement_APPLIED,
	}}})
	if err != nil || len(res.GetResults()) != 1 {
		p.t.Fatal(res, err)
	}
	return res.GetResults()[0].GetStatus()
}

// TestThePlayedPlatformKeepsThePromises walks through leases and tokens as the
// Wallet API promises them.
func TestThePlayedPlatformKeepsThePromises(t *testing.T) {
	p := newPlayed(t)
	for n := range int64(3) {
		p.stage.platform.settle("alice", "USD", 10, n, originalsv1.Settlement_WON)
	}
	first := p.claim("one")
	if len(first) != 3 || first[0].GetSequence() != 1 || first[2].GetSequence() != 3 || first[0].GetFencingToken() == 0 || first[0].GetAttempt() != 1 {
		t.Fatalf("claim: %v", first)
	}
	if again := p.claim("one"); len(again) != 3 || again[1].GetFencingToken() != first[1].GetFencingToken() {
		t.Errorf("the same claim again: %v", again)
	}
	if other := p.claim("two"); len(other) != 0 {
		t.Errorf("a leased player was given away: %v", other)
	}
	_, err := p.ClaimSettlements(p.ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: "one", Consumer: "c", Max: 5, LeaseSeconds: 30})
	p.wantCode("the claim's id with another size", err, codes.AlreadyExists)

	if got := p.acknowledge(first[0], "w1"); got != originalsv1.AcknowledgementAnswer_ACKNOWLEDGED {
		t.Error(got)
	}
	p.stage.platform.shiftClock(time.Minute)
	if late := p.claim("one"); len(late) != 0 {
		t.Errorf("a claim whose lease has ended has %v", late)
	}
	second := p.claim("three")
	if len(second) != 2 || second[0].GetFencingToken() <= first[1].GetFencingToken() || second[0].GetAttempt() != 2 {
		t.Fatalf("the next claim: %v", second)
	}
	for _, row := range []struct {
		settlement  *originalsv1.Settlement
		transaction string
		want        originalsv1.AcknowledgementAnswer_Change
	}{
		{first[0], "w1", originalsv1.AcknowledgementAnswer_ALREADY_ACKNOWLEDGED},
		{first[0], "w2", originalsv1.AcknowledgementAnswer_CONFLICT},
		{first[1], "w3", originalsv1.AcknowledgementAnswer_STALE_LEASE},
		{second[0], "w3", originalsv1.AcknowledgementAnswer_ACKNOWLEDGED},
		{first[1], "w3", originalsv1.AcknowledgementAnswer_ALREADY_ACKNOWLEDGED},
		{&originalsv1.Settlement{SettlementId: "no-such"}, "w4", originalsv1.AcknowledgementAnswer_NOT_FOUND},
	} {
		if got := p.acknowledge(row.settlement, row.transaction); got != row.want {
			t.Errorf("%s as %s: %v, want %v", row.settlement.GetSettlementId(), row.transaction, got, row.want)
		}
	}
	if extended, err := p.ExtendClaim(p.ctx, &originalsv1.ExtendClaimRequest{ClaimId: "three", LeaseSeconds: 60}); err != nil || extended.GetExtended() != 1 {
		t.Error(extended, err)
	}
	if released, err := p.ReleaseSettlements(p.ctx, &originalsv1.ReleaseSettlementsRequest{ClaimId: "three"}); err != nil || released.GetReleased() != 1 {
		t.Error(released, err)
	}
	if left := p.claim("four"); len(left) != 1 || left[0].GetSequence() != 3 {
		t.Errorf("what was given back: %v", left)
	}
}

// TestATransferOfThePlayedPlatformHappensOnce also by REST, with the same answers.
func TestATransferOfThePlayedPlatformHappensOnce(t *testing.T) {
	p := newPlayed(t)
	request := &originalsv1.CreateTransferRequest{
		TransferId: "t1", PlayerId: "alice", Direction: originalsv1.Transfer_DEPOSIT, Money: &originalsv1.Money{Currency: "USD", Amount: 50},
	}
	for n := range 2 {
		got, err := p.CreateTransfer(p.ctx, request)
		if err != nil || got.GetState() != originalsv1.Transfer_APPLIED || got.GetReplayed() != (n == 1) || got.GetBalanceAfter().GetAmount() != 50 {
			t.Errorf("%v, %v", got, err)
		}
	}
	request.Money.Amount = 51
	_, err := p.CreateTransfer(p.ctx, request)
	p.wantCode("other content", err, codes.AlreadyExists)
	if _, err := p.CancelTransfer(p.ctx, &originalsv1.CancelTransferRequest{TransferId: "t2"}); err != nil {
		t.Error(err)
	}
	request.TransferId = "t2"
	if _, err = p.CreateTransfer(p.ctx, request); reason.Of(err) != reason.TransferCancelled {
		t.Errorf("the late original: %v", err)
	}

	body := `{"transferId":"t3","playerId":"alice","direction":"WITHDRAWAL","money":{"currency":"USD","amount":"51"}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.stage.httpAddr+"/v1/wallet/transfers", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer right")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"INSUFFICIENT_FUNDS"`) {
		t.Errorf("a withdrawal of too much by REST: %d %s, %v", res.StatusCode, text, err)
	}
}

// TestFaultsMeetCallsByGRPC: a wallet that speaks gRPC meets the same faults.
func TestFaultsMeetCallsByGRPC(t *testing.T) {
	p := newPlayed(t)
	e := p.stage.platform.settle("alice", "USD", 10, 5, originalsv1.Settlement_WON)
	list := func() error {
		_, err := p.GetSettlement(p.ctx, &originalsv1.GetSettlementRequest{SettlementId: e.GetSettlementId()})
		return err
	}
	for _, row := range []struct {
		fault fault
		want  codes.Code
	}{
		{fault{}, codes.OK},
		{fault{answer: dropped}, codes.Unavailable},
		{fault{answer: dropped, notApplied: true}, codes.Unavailable},
		{fault{answer: half}, codes.Internal},
		{fault{answer: garbage}, codes.Internal},
		{fault{answer: refused, status: http.StatusTooManyRequests, reason: reason.RateLimited}, codes.ResourceExhausted},
		{fault{answer: refused, status: http.StatusBadGateway}, codes.Unavailable},
	} {
		p.stage.add(&row.fault)
		p.wantCode("a call", list(), row.want)
		p.wantCode("the next call", list(), codes.OK)
	}
	p.ctx = metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer wrong")
	p.wantCode("another token", list(), codes.Unauthenticated)
	p.ctx = t.Context()
	p.wantCode("no token", list(), codes.Unauthenticated)
	if n := p.stage.refusedTokens(); n != 1 {
		t.Errorf("%d refused tokens, want 1", n)
	}
}

func TestTheStreamOfThePlayedPlatformGoesOn(t *testing.T) {
	p := newPlayed(t)
	p.stage.platform.settle("alice", "USD", 10, 5, originalsv1.Settlement_WON)
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	stream, err := p.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	second := p.stage.platform.settle("bob", "USD", 10, 5, originalsv1.Settlement_WON)
	resumed, err := p.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{Cursor: first.GetCursor()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []grpc.ServerStreamingClient[originalsv1.StreamSettlementsResponse]{stream, resumed} {
		if got, err := s.Recv(); err != nil || got.GetSettlement().GetSettlementId() != second.GetSettlementId() {
			t.Errorf("%v, %v; want %s", got, err, second.GetSettlementId())
		}
	}
}

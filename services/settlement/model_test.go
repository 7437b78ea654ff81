package settlement_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/settlement"
)

// Random interleavings of all calls of wallets, through the service, agree with
// the small model that stores are compared with.
func TestEveryWalletCallAgreesWithAModel(t *testing.T) {
	redis, err := redisledger.Dial(testenv.Redis(t, testenv.InMemory).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { redis.Close() })
	o := redisledger.Options{Attempts: 3, Backoff: 200 * time.Millisecond}
	store := redisledger.New(redis, o)
	called := new(calls)
	s := grpc.NewServer(grpc.UnaryInterceptor(called.unary), grpc.StreamInterceptor(called.stream))
	settlement.Bind(s, settlement.New(settlement.Options{Store: store, House: config.Default(), Log: zap.NewNop()}))
	w := &walletAPI{Store: store, api: originalsv1.NewSettlementServiceClient(overTCP(t, s)), refused: make(map[string]money.Units)}
	ledgertest.RunWalletModel(t, ledgertest.Wallets{
		Store: w, Wait: time.Sleep, Attempts: o.Attempts, Backoff: o.Backoff, Stream: w.stream,
	})
	methods := originalsv1.SettlementService_ServiceDesc.Methods
	if n := len(methods) + len(originalsv1.SettlementService_ServiceDesc.Streams); n < 14 {
		t.Errorf("%d calls", n)
	}
	for _, m := range methods {
		if called.count(m.MethodName) == 0 {
			t.Errorf("%s was never called", m.MethodName)
		}
	}
	if called.count("StreamSettlements") == 0 {
		t.Error("nothing was streamed")
	}
}

// calls gives every caller the operator that he names, as the wallet of a token,
// and counts.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) enter(ctx context.Context, method string) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[method]++
	return auth.NewContext(ctx, auth.Identity{Operator: metadata.ValueFromIncomingContext(ctx, "operator")[0], Role: auth.Wallet})
}

func (c *calls) count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n["/originals.v1.SettlementService/"+method]
}

func (c *calls) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	return next(c.enter(ctx, info.FullMethod), req)
}

func (c *calls) stream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return next(srv, entered{s, c.enter(s.Context(), info.FullMethod)})
}

type entered struct {
	grpc.ServerStream
	ctx context.Context
}

func (e entered) Context() context.Context { return e.ctx }

// walletAPI is the service as a store: what wallets do goes through it, and what
// players do beside it.
type walletAPI struct {
	*redisledger.Store
	api originalsv1.SettlementServiceClient

	refused map[string]money.Units // what there was, which answers do not tell
	lists   int
}

func of(ctx context.Context, operator string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "operator", operator)
}

// refusal is an error as a store has it.
func refusal(err error) error {
	e, ok := reason.From(err)
	if !ok {
		return err
	}
	switch e.Reason {
	case reason.TransferNotFound, reason.SettlementNotFound, reason.PlayerNotFound:
		return ledger.ErrNotFound
	case reason.TransferIDReused:
		return &ledger.TransferReusedError{Field: e.Metadata["field"]}
	case reason.ClaimIDReused:
		return ledger.ErrClaimReused
	}
	return e
}

func (w *walletAPI) Balances(ctx context.Context, p ledger.Player) (map[money.Currency]money.Units, error) {
	res, err := w.api.ListPlayerBalances(of(ctx, p.Operator), &originalsv1.ListPlayerBalancesRequest{PlayerId: p.ID})
	if err != nil {
		return nil, refusal(err)
	}
	all := make(map[money.Currency]money.Units)
	for _, m := range res.GetBalances() {
		all[money.Currency(m.GetCurrency())] = money.Units(m.GetAmount())
	}
	return all, nil
}

func (w *walletAPI) Transfer(ctx context.Context, t ledger.Transfer) (ledger.Transfer, error) {
	m, err := w.api.CreateTransfer(of(ctx, t.Operator), &originalsv1.CreateTransferRequest{
		TransferId: t.ID, PlayerId: t.Player, Direction: originalsv1.Transfer_Direction(t.Direction),
		Money: &originalsv1.Money{Currency: string(t.Currency), Amount: int64(t.Amount)},
	})
	return w.transfer(ctx, t.Operator, m, err)
}

func (w *walletAPI) GetTransfer(ctx context.Context, operator, id string) (ledger.Transfer, error) {
	m, err := w.api.GetTransfer(of(ctx, operator), &originalsv1.GetTransferRequest{TransferId: id})
	return w.transfer(ctx, operator, m, err)
}

func (w *walletAPI) CancelTransfer(ctx context.Context, operator, id string) (ledger.Transfer, error) {
	m, err := w.api.CancelTransfer(of(ctx, operator), &originalsv1.CancelTransferRequest{TransferId: id})
	return w.transfer(ctx, operator, m, err)
}

func (w *walletAPI) transfer(ctx context.Context, operator string, m *originalsv1.Transfer, err error) (ledger.Transfer, error) {
	if err != nil {
		return ledger.Transfer{}, refusal(err)
	}
	t := ledger.Transfer{
		Operator: operator, ID: m.GetTransferId(), Player: m.GetPlayerId(), Direction: ledger.Direction(m.GetDirection()),
		Currency: money.Currency(m.GetMoney().GetCurrency()), Amount: money.Units(m.GetMoney().GetAmount()),
		Refusal: ledger.Refusal(m.GetRefusal()), Balance: money.Units(m.GetBalanceAfter().GetAmount()),
		CreateTime: m.GetCreateTime().AsTime(), Replayed: m.GetReplayed(),
		State: map[originalsv1.Transfer_State]ledger.TransferState{
			originalsv1.Transfer_APPLIED: ledger.Applied, originalsv1.Transfer_REFUSED: ledger.Refused, originalsv1.Transfer_CANCELLED: ledger.Cancelled,
		}[m.GetState()],
	}
	if t.State != ledger.Refused {
		return t, nil
	}
	key := operator + "/" + t.ID
	if !t.Replayed {
		balances, err := w.Balances(ctx, ledger.Player{Operator: operator, ID: t.Player})
		if err != nil {
			return t, err
		}
		w.refused[key] = balances[t.Currency]
	}
	t.Balance = w.refused[key]
	return t, nil
}

// rounds reads settlements that an operator was shown.
func rounds(operator string, list []*originalsv1.Settlement) (all []ledger.SettledRound, err error) {
	for _, m := range list {
		r := ledger.SettledRound{
			Sequence: uint64(m.GetSequence()), Player: ledger.Player{Operator: operator, ID: m.GetPlayerId()}, BetID: m.GetBetId(), Game: bet.Game(m.GetGame()),
			State: ledger.Settled, Currency: money.Currency(m.GetStake().GetCurrency()), Stake: money.Units(m.GetStake().GetAmount()),
			Payout: money.Units(m.GetPayout().GetAmount()), SettleTime: m.GetSettleTime().AsTime(), Token: uint64(m.GetFencingToken()),
			Attempt: m.GetAttempt(), WalletTransaction: m.GetWalletTransactionId(), RejectReason: m.GetRejectReason(), VoidReason: m.GetVoidReason(),
		}
		if r.Round, err = ledger.ParseRoundID(m.GetSettlementId()); err != nil {
			return nil, err
		}
		if m.GetLeaseExpireTime() != nil {
			r.LeaseExpire = m.GetLeaseExpireTime().AsTime()
		}
		want := map[bool]originalsv1.Settlement_Result{true: originalsv1.Settlement_WON, false: originalsv1.Settlement_LOST}[r.Payout > 0]
		if m.GetResult() == originalsv1.Settlement_VOID {
			r.State, want = ledger.Void, originalsv1.Settlement_VOID
		}
		if m.GetResult() != want || int(m.GetPartition()) != r.Round.Pair.Partition() || m.GetRoundId() != m.GetSettlementId() {
			return nil, fmt.Errorf("settlement %v", m)
		}
		all = append(all, r)
	}
	return all, nil
}

func (w *walletAPI) Settlements(ctx context.Context, operator string, partition int, after uint64, count int) (all []ledger.SettledRound, last uint64, err error) {
	for {
		size := int32(min(200, count-len(all)))
		res, err := w.api.ListSettlements(of(ctx, operator), &originalsv1.ListSettlementsRequest{
			Partition: uint32(partition), AfterSequence: int64(after) + int64(len(all)), PageSize: &size,
		})
		if err != nil {
			return nil, 0, refusal(err)
		}
		page, err := rounds(operator, res.GetSettlements())
		if err != nil {
			return nil, 0, err
		}
		all = append(all, page...)
		if len(page) == 0 || len(all) == count {
			return all, uint64(res.GetLastSequence()), nil
		}
	}
}

func (w *walletAPI) Settlement(ctx context.Context, operator string, id ledger.RoundID) (ledger.SettledRound, error) {
	m, err := w.api.GetSettlement(of(ctx, operator), &originalsv1.GetSettlementRequest{SettlementId: id.String()})
	if err != nil {
		return ledger.SettledRound{}, refusal(err)
	}
	all, err := rounds(operator, []*originalsv1.Settlement{m})
	if err != nil {
		return ledger.SettledRound{}, err
	}
	return all[0], nil
}

func (w *walletAPI) Claim(ctx context.Context, c ledger.Claim) ([]ledger.SettledRound, error) {
	res, err := w.api.ClaimSettlements(of(ctx, c.Operator), &originalsv1.ClaimSettlementsRequest{
		ClaimId: c.ID, Consumer: c.Consumer, Max: int32(c.Max), LeaseSeconds: int32(c.Lease / time.Second),
	})
	if err != nil {
		return nil, refusal(err)
	}
	return rounds(c.Operator, res.GetSettlements())
}

var ackStatuses = map[originalsv1.AcknowledgementAnswer_Change]ledger.AckStatus{
	originalsv1.AcknowledgementAnswer_ACKNOWLEDGED: ledger.Acknowledged, originalsv1.AcknowledgementAnswer_ALREADY_ACKNOWLEDGED: ledger.AlreadyAcknowledged,
	originalsv1.AcknowledgementAnswer_STALE_LEASE: ledger.StaleLease, originalsv1.AcknowledgementAnswer_CONFLICT: ledger.Conflict,
	originalsv1.AcknowledgementAnswer_NOT_FOUND: ledger.AckNotFound,
}

// Acknowledge sends what names a settlement twice in two calls: the service takes
// each once in a call.
func (w *walletAPI) Acknowledge(ctx context.Context, operator string, acks []ledger.Ack) (results []ledger.AckResult, err error) {
	for len(acks) > 0 {
		q, seen := new(originalsv1.AcknowledgeSettlementsRequest), make(map[ledger.RoundID]bool)
		for _, a := range acks {
			if seen[a.Round] {
				break
			}
			seen[a.Round] = true
			q.Items = append(q.Items, acknowledgement(a))
		}
		acks = acks[len(q.GetItems()):]
		res, err := w.api.AcknowledgeSettlements(of(ctx, operator), q)
		if err != nil {
			return nil, refusal(err)
		}
		for _, r := range res.GetResults() {
			results = append(results, ledger.AckResult{Status: ackStatuses[r.GetStatus()], WalletTransaction: r.GetWalletTransactionId()})
		}
	}
	return results, nil
}

func acknowledgement(a ledger.Ack) *originalsv1.Acknowledgement {
	m := &originalsv1.Acknowledgement{
		SettlementId: a.Round.String(), WalletTransactionId: a.WalletTransaction, Result: originalsv1.Acknowledgement_APPLIED, RejectReason: a.Reason,
	}
	if a.Rejected {
		m.Result = originalsv1.Acknowledgement_REJECTED
	}
	if a.Token != 0 {
		token := int64(a.Token)
		m.FencingToken = &token
	}
	return m
}

func (w *walletAPI) Release(ctx context.Context, operator, claimID string) (int, error) {
	res, err := w.api.ReleaseSettlements(of(ctx, operator), &originalsv1.ReleaseSettlementsRequest{ClaimId: claimID})
	return int(res.GetReleased()), refusal(err)
}

func (w *walletAPI) Extend(ctx context.Context, operator, claimID string, lease time.Duration) (int, time.Time, error) {
	res, err := w.api.ExtendClaim(of(ctx, operator), &originalsv1.ExtendClaimRequest{ClaimId: claimID, LeaseSeconds: int32(lease / time.Second)})
	return int(res.GetExtended()), res.GetLeaseExpireTime().AsTime(), refusal(err)
}

// Rejected reads all pages, small ones. Each asks 64 partitions: most calls go to
// the store.
func (w *walletAPI) Rejected(ctx context.Context, operator string, partition int, after uint64, count int) (found []ledger.SettledRound, err error) {
	if w.lists++; w.lists%8 > 0 {
		return w.Store.Rejected(ctx, operator, partition, after, count)
	}
	size := int32(2)
	q := &originalsv1.ListRejectedRequest{PageSize: &size}
	for {
		res, err := w.api.ListRejected(of(ctx, operator), q)
		if err != nil {
			return nil, refusal(err)
		}
		page, err := rounds(operator, res.GetSettlements())
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if r.Round.Pair.Partition() == partition && r.Sequence > after && len(found) < count {
				found = append(found, r)
			}
		}
		if q.PageToken = res.GetNextPageToken(); q.GetPageToken() == "" {
			return found, nil
		}
	}
}

func (w *walletAPI) Requeue(ctx context.Context, operator string, id ledger.RoundID) error {
	_, err := w.api.RequeueSettlement(of(ctx, operator), &originalsv1.RequeueSettlementRequest{SettlementId: id.String()})
	return refusal(err)
}

func (w *walletAPI) Digest(ctx context.Context, s ledger.DigestSpan) (ledger.Digest, error) {
	q := &originalsv1.GetDigestRequest{Partition: uint32(s.Partition), FirstSequence: int64(s.First), Count: s.Count}
	if s.Day {
		q.Day = s.Begin.Format("2006-01-02")
	} else {
		q.Hour = s.Begin.Format("2006-01-02T15")
	}
	m, err := w.api.GetDigest(of(ctx, s.Operator), q)
	if err != nil {
		return ledger.Digest{}, refusal(err)
	}
	d := ledger.Digest{First: uint64(m.GetFirstSequence()), Count: m.GetCount(), Open: m.GetOpen()}
	for _, sum := range m.GetSums() {
		d.Sums = append(d.Sums, ledger.DigestSum{
			Currency: money.Currency(sum.GetCurrency()), Count: sum.GetCount(), Stake: halves(sum.GetStake()), Payout: halves(sum.GetPayout()),
		})
	}
	root, err := hex.DecodeString(m.GetMerkleRoot())
	copy(d.Root[:], root)
	return d, err
}

// halves reads a sum below 2^64.
func halves(text string) [2]uint64 {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || !n.IsUint64() {
		return [2]uint64{1<<64 - 1, 1<<64 - 1}
	}
	return [2]uint64{0, n.Uint64()}
}

// stream reads so many settlements after a cursor.
func (w *walletAPI) stream(operator, cursor string, count int) ([]ledger.SettledRound, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, err := w.api.StreamSettlements(of(ctx, operator), &originalsv1.StreamSettlementsRequest{Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	var list []*originalsv1.Settlement
	for {
		m, err := s.Recv()
		if err != nil {
			return nil, "", err
		}
		cursor = m.GetCursor()
		if m.GetSettlement() != nil {
			list = append(list, m.GetSettlement())
		}
		if len(list) == count {
			all, err := rounds(operator, list)
			return all, cursor, err
		}
	}
}

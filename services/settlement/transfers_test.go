package settlement_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func TestTransfersAnswerAsTheContractSays(t *testing.T) {
	h := newHouse(t, newBooks(), nil)
	ctx := h.wallet("north")
	must := func(q *originalsv1.CreateTransferRequest) *originalsv1.Transfer {
		t.Helper()
		m, err := h.CreateTransfer(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := must(deposit("d1", "alice", 500))
	if first.GetState() != originalsv1.Transfer_APPLIED || first.GetBalanceAfter().GetAmount() != 500 || first.GetReplayed() || first.GetRefusal() != "" ||
		first.GetDirection() != originalsv1.Transfer_DEPOSIT || first.GetPlayerId() != "alice" || !proto.Equal(first.GetMoney(), fun(500)) {
		t.Errorf("applied: %v", first)
	}
	again := must(deposit("d1", "alice", 500))
	if !again.GetReplayed() {
		t.Errorf("a repeat: %v", again)
	}
	again.Replayed = false
	if !proto.Equal(first, again) {
		t.Errorf("a repeat answers %v, the first was %v", again, first)
	}
	refused := must(withdrawal("w1", "alice", 501))
	if refused.GetState() != originalsv1.Transfer_REFUSED || refused.GetRefusal() != "INSUFFICIENT_FUNDS" || refused.BalanceAfter != nil {
		t.Errorf("refused: %v", refused)
	}
	full := must(deposit("d2", "alice", 1<<53-1))
	if full.GetState() != originalsv1.Transfer_REFUSED || full.GetRefusal() != "BALANCE_LIMIT" {
		t.Errorf("refused: %v", full)
	}
	for field, q := range map[string]*originalsv1.CreateTransferRequest{
		"playerId": deposit("d1", "bob", 500), "direction": withdrawal("d1", "alice", 500), "amount": deposit("d1", "alice", 501),
		"currency": {TransferId: "d1", PlayerId: "alice", Direction: originalsv1.Transfer_DEPOSIT, Money: &originalsv1.Money{Currency: "BTC", Amount: 500}},
	} {
		_, err := h.CreateTransfer(ctx, q)
		wantReason(t, field, err, reason.TransferIDReused, "field", field)
	}
	unseen, err := h.CancelTransfer(ctx, &originalsv1.CancelTransferRequest{TransferId: "never"})
	if err != nil || unseen.GetState() != originalsv1.Transfer_CANCELLED || unseen.Money != nil || unseen.GetPlayerId() != "" || unseen.GetDirection() != 0 {
		t.Errorf("cancelled: %v, %v", unseen, err)
	}
	_, err = h.CreateTransfer(ctx, deposit("never", "alice", 1))
	wantReason(t, "the late original", err, reason.TransferCancelled)
	_, err = h.GetTransfer(ctx, &originalsv1.GetTransferRequest{TransferId: "unknown"})
	wantReason(t, "unknown", err, reason.TransferNotFound)
	balances, err := h.ListPlayerBalances(ctx, &originalsv1.ListPlayerBalancesRequest{PlayerId: "alice"})
	if err != nil || len(balances.GetBalances()) != 1 || !proto.Equal(balances.GetBalances()[0], fun(500)) {
		t.Errorf("balances: %v, %v", balances, err)
	}
}

func TestBadTransfersReachNoStore(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	type request = originalsv1.CreateTransferRequest
	with := func(change func(*request)) *request {
		q := deposit("ok", "alice", 100)
		change(q)
		return q
	}
	cases := map[string][]*request{
		"direction": {with(func(q *request) { q.Direction = 0 }), with(func(q *request) { q.Direction = 3 }), with(func(q *request) { q.Direction = -1 })},
		"money":     {with(func(q *request) { q.Money = nil })},
	}
	for _, id := range []string{"", " ", "a b", "ä", "a\n", "a\x00", "{p1}", strings.Repeat("a", 41)} {
		cases["transferId"] = append(cases["transferId"], with(func(q *request) { q.TransferId = id }))
	}
	for _, id := range []string{"", " ", "a b", "a\n", "\x7f", "ä", strings.Repeat("a", 129)} {
		cases["playerId"] = append(cases["playerId"], with(func(q *request) { q.PlayerId = id }))
	}
	for _, amount := range []int64{0, -1, -1 << 63, 1 << 53, 1<<63 - 1} {
		cases["amount"] = append(cases["amount"], with(func(q *request) { q.Money.Amount = amount }))
	}
	for _, currency := range []string{"", "F", "fun", "DOGE", "FUN ", "FUN\n", strings.Repeat("F", 4000)} {
		cases["currency"] = append(cases["currency"], with(func(q *request) { q.Money.Currency = currency }))
	}
	for field, requests := range cases {
		for _, q := range requests {
			_, err := h.CreateTransfer(ctx, q)
			wantReason(t, q.String(), err, reason.InvalidField, "field", field)
		}
	}
	_, err := h.GetTransfer(ctx, &originalsv1.GetTransferRequest{TransferId: "a b"})
	wantReason(t, "get", err, reason.InvalidField, "field", "transferId")
	_, err = h.CancelTransfer(ctx, &originalsv1.CancelTransferRequest{TransferId: ""})
	wantReason(t, "cancel", err, reason.InvalidField, "field", "transferId")
	_, err = h.ListPlayerBalances(ctx, &originalsv1.ListPlayerBalancesRequest{PlayerId: ""})
	wantReason(t, "balances", err, reason.InvalidField, "field", "playerId")
	if b.writes != 0 || len(b.balances) != 0 {
		t.Errorf("%d writes reached the store", b.writes)
	}
}

// "Failed" call that had an effect: a caller who leaves does not cut a step in
// half, and one who has left already begins none.
func TestFailedCallThatHadAnEffect(t *testing.T) {
	b := &slow{books: newBooks(), begun: make(chan context.Context, 1), goOn: make(chan struct{})}
	h := newHouse(t, b, nil)
	ctx, leave := context.WithCancel(auth.NewContext(context.Background(), auth.Identity{Subject: "w", Operator: "north", Role: auth.Wallet}))
	var done sync.WaitGroup
	done.Go(func() {
		m, err := h.service.CreateTransfer(ctx, deposit("d1", "alice", 500))
		if err != nil || m.GetState() != originalsv1.Transfer_APPLIED {
			t.Errorf("%v, %v", m, err)
		}
	})
	step := <-b.begun
	leave()
	if err := step.Err(); err != nil {
		t.Errorf("the step ends with its caller: %v", err)
	}
	if end, ok := step.Deadline(); !ok || time.Until(end) > 5*time.Second {
		t.Errorf("the step has no time of its own: %v", end)
	}
	close(b.goOn)
	done.Wait()
	if _, err := h.service.CreateTransfer(ctx, deposit("d2", "alice", 500)); status.Code(status.FromContextError(err).Err()) != codes.Canceled {
		t.Errorf("a step of a caller who had left: %v", err)
	}
	if b.balances[player("north", "alice")]["FUN"] != 500 {
		t.Errorf("balances %v", b.balances)
	}
}

type slow struct {
	*books
	begun chan context.Context
	goOn  chan struct{}
}

func (s *slow) Transfer(ctx context.Context, t ledger.Transfer) (ledger.Transfer, error) {
	s.begun <- ctx
	<-s.goOn
	return s.books.Transfer(ctx, t)
}

// state is everything that the books hold.
func (b *books) state() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all strings.Builder
	fmt.Fprintln(&all, b.balances, len(b.transfers))
	for _, key := range slices.Sorted(maps.Keys(b.transfers)) {
		fmt.Fprintf(&all, "%+v\n", b.transfers[key])
	}
	for p, run := range b.of("north") {
		for _, e := range run {
			fmt.Fprintf(&all, "%d %+v\n", p, *e)
		}
	}
	return all.String()
}

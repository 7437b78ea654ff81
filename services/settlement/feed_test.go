package settlement_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func applied(id, transaction string) *originalsv1.Acknowledgement {
	return &originalsv1.Acknowledgement{SettlementId: id, WalletTransactionId: transaction, Result: originalsv1.Acknowledgement_APPLIED}
}

func rejected(id, why string) *originalsv1.Acknowledgement {
	return &originalsv1.Acknowledgement{SettlementId: id, RejectReason: why, Result: originalsv1.Acknowledgement_REJECTED}
}

func acks(items ...*originalsv1.Acknowledgement) *originalsv1.AcknowledgeSettlementsRequest {
	return &originalsv1.AcknowledgeSettlementsRequest{Items: items}
}

const noRound = "17-aaaaaaaaaaaaaaaa-0"

// A settlement is shown as the round ended, won, lost or void, and carries what
// was claimed and acknowledged of it.
func TestSettlementsAreShownAsTheRoundsEnded(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	won, lost := b.settle(player("north", "alice"), 198), b.settle(player("north", "alice"), 0)
	partition := uint32(won.Round.Pair.Partition())
	b.find("north", lost.Round).State = ledger.Void
	void, err := h.GetSettlement(ctx, &originalsv1.GetSettlementRequest{SettlementId: lost.Round.String()})
	if err != nil || void.GetResult() != originalsv1.Settlement_VOID {
		t.Errorf("%v, %v", void, err)
	}
	b.find("north", lost.Round).State = ledger.Settled
	res, err := h.ListSettlements(ctx, &originalsv1.ListSettlementsRequest{Partition: partition})
	if err != nil || len(res.GetSettlements()) != 2 || res.GetLastSequence() != 2 {
		t.Fatal(res, err)
	}
	first, second := res.GetSettlements()[0], res.GetSettlements()[1]
	if first.GetResult() != originalsv1.Settlement_WON || second.GetResult() != originalsv1.Settlement_LOST || second.GetPayout().GetAmount() != 0 ||
		first.GetSettlementId() != first.GetRoundId() || first.GetSequence() != 1 || second.GetSequence() != 2 || first.GetPlayerId() != "alice" ||
		first.GetGame() != originalsv1.Game_DICE || first.GetStake().GetAmount() != 100 || first.GetLeaseExpireTime() != nil {
		t.Errorf("%v\n%v", first, second)
	}
	claimed, err := h.ClaimSettlements(ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: "c", Consumer: "x", Max: 500, LeaseSeconds: 3600})
	if err != nil || len(claimed.GetSettlements()) != 2 || claimed.GetSettlements()[0].GetFencingToken() < 1 ||
		claimed.GetSettlements()[0].GetAttempt() != 1 || claimed.GetSettlements()[0].GetLeaseExpireTime() == nil {
		t.Fatal(claimed, err)
	}
	extended, err := h.ExtendClaim(ctx, &originalsv1.ExtendClaimRequest{ClaimId: "c", LeaseSeconds: 1})
	if err != nil || extended.GetExtended() != 1 || extended.GetLeaseExpireTime() == nil {
		t.Errorf("%v, %v", extended, err)
	}
	released, err := h.ReleaseSettlements(ctx, &originalsv1.ReleaseSettlementsRequest{ClaimId: "c"})
	if err != nil || released.GetReleased() != 1 {
		t.Errorf("%v, %v", released, err)
	}
	if n := h.seen.count("claimed"); n != 2 {
		t.Errorf("%d claimed settlements were told of", n)
	}
}

// Two wallet transactions for one settlement: refused, logged as an error with
// its settlement and operator and no amount, and counted.
func TestTwoWalletTransactionsForOneSettlementRaiseAnAlarm(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	id := b.settle(player("north", "alice"), 198).Round.String()
	answer := func(transaction string) []*originalsv1.AcknowledgementAnswer {
		t.Helper()
		res, err := h.AcknowledgeSettlements(ctx, acks(applied(noRound, "t"), applied(id, transaction), applied("no-round-at-all", "t")))
		if err != nil || len(res.GetResults()) != 3 || res.GetResults()[1].GetSettlementId() != id {
			t.Fatal(res, err)
		}
		for _, i := range []int{0, 2} {
			if res.GetResults()[i].GetStatus() != originalsv1.AcknowledgementAnswer_NOT_FOUND {
				t.Errorf("no round: %v", res.GetResults()[i])
			}
		}
		return res.GetResults()[1:2]
	}
	if s := answer("one")[0].GetStatus(); s != originalsv1.AcknowledgementAnswer_ACKNOWLEDGED {
		t.Error(s)
	}
	if s := answer("one")[0].GetStatus(); s != originalsv1.AcknowledgementAnswer_ALREADY_ACKNOWLEDGED {
		t.Error(s)
	}
	if strings.Contains(h.log.String(), "two wallet transactions") {
		t.Error("an alarm without a conflict")
	}
	if a := answer("two")[0]; a.GetStatus() != originalsv1.AcknowledgementAnswer_CONFLICT || a.GetWalletTransactionId() != "one" {
		t.Error(a)
	}
	eventually(t, "the log", func() bool { return strings.Contains(h.log.String(), "two wallet transactions") })
	for line := range strings.Lines(h.log.String()) {
		if strings.Contains(line, "two wallet transactions") &&
			(!strings.Contains(line, `"error"`) || !strings.Contains(line, id) || !strings.Contains(line, `"north"`) || strings.Contains(line, "198")) {
			t.Errorf("the alarm is %s", line)
		}
	}
	if n := h.seen.count("CONFLICT"); n != 1 {
		t.Errorf("%d conflicts were counted", n)
	}
}

// Dead letters are listed in pages, over all partitions, each once.
func TestDeadLettersAreListedInPagesAndQueuedAgain(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	const letters = 25
	for i := range letters {
		id := b.settle(player("north", fmt.Sprint("p", i)), 0).Round.String()
		if _, err := h.AcknowledgeSettlements(ctx, acks(rejected(id, "no such account"))); err != nil {
			t.Fatal(err)
		}
	}
	list := func() map[string]bool {
		t.Helper()
		seen, token, size := make(map[string]bool), "", int32(4)
		for {
			res, err := h.ListRejected(ctx, &originalsv1.ListRejectedRequest{PageSize: &size, PageToken: token})
			if err != nil || len(res.GetSettlements()) > int(size) {
				t.Fatal(res, err)
			}
			for _, s := range res.GetSettlements() {
				if seen[s.GetSettlementId()] || s.GetRejectReason() != "no such account" {
					t.Errorf("%v", s)
				}
				seen[s.GetSettlementId()] = true
			}
			if token = res.GetNextPageToken(); token == "" {
				return seen
			}
		}
	}
	all := list()
	if len(all) != letters {
		t.Fatalf("%d of %d dead letters", len(all), letters)
	}
	for id := range all {
		for range 2 { // whose answer was lost repeats it
			if _, err := h.RequeueSettlement(ctx, &originalsv1.RequeueSettlementRequest{SettlementId: id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if left := list(); len(left) != 0 {
		t.Errorf("%d dead letters are left", len(left))
	}
	for id := range all {
		if _, err := h.AcknowledgeSettlements(ctx, acks(applied(id, "t"))); err != nil {
			t.Fatal(err)
		}
		_, err := h.RequeueSettlement(ctx, &originalsv1.RequeueSettlementRequest{SettlementId: id})
		wantReason(t, "one that was booked", err, reason.SettlementNotFound)
	}
}

func TestDigestsAreShown(t *testing.T) {
	h := newHouse(t, newBooks(), nil)
	d, err := h.GetDigest(h.wallet("north"), &originalsv1.GetDigestRequest{Partition: 3, Day: "2026-01-31"})
	if err != nil {
		t.Fatal(err)
	}
	if root, err := hex.DecodeString(d.GetMerkleRoot()); err != nil || len(root) != 32 || d.GetDay() != "2026-01-31" || d.GetPartition() != 3 || !d.GetOpen() || d.GetFirstSequence() != 7 {
		t.Errorf("%v", d)
	}
	if s := d.GetSums()[0]; s.GetStake() != "18446744073709551621" || s.GetPayout() != "9" || s.GetCount() != 3 { // 2^64 + 5
		t.Errorf("%v", s)
	}
	_, err = h.GetDigest(h.wallet("north"), &originalsv1.GetDigestRequest{Hour: "2019-01-31T07"})
	wantReason(t, "older than what is kept", err, reason.SettlementNotFound)
}

func TestBadInputOfTheFeed(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	size := func(n int32) *int32 { return &n }
	token := func(n int64) *int64 { return &n }
	with := func(change func(*originalsv1.Acknowledgement)) func() error {
		return func() error {
			a := applied(noRound, "t")
			change(a)
			_, err := h.AcknowledgeSettlements(ctx, acks(a))
			return err
		}
	}
	list := func(q *originalsv1.ListSettlementsRequest) func() error {
		return func() error { _, err := h.ListSettlements(ctx, q); return err }
	}
	claim := func(id, consumer string, most, seconds int32) func() error {
		return func() error {
			_, err := h.ClaimSettlements(ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: id, Consumer: consumer, Max: most, LeaseSeconds: seconds})
			return err
		}
	}
	digest := func(q *originalsv1.GetDigestRequest) func() error {
		return func() error { _, err := h.GetDigest(ctx, q); return err }
	}
	many := func(n int) func() error {
		return func() error {
			q := acks()
			for i := range n {
				q.Items = append(q.Items, applied(fmt.Sprint("17-aaaaaaaaaaaaaaaa-", i), "t"))
			}
			_, err := h.AcknowledgeSettlements(ctx, q)
			return err
		}
	}
	type bad = []func() error
	cases := map[string]bad{
		"partition":     {list(&originalsv1.ListSettlementsRequest{Partition: 64}), list(&originalsv1.ListSettlementsRequest{Partition: 1<<32 - 1}), digest(&originalsv1.GetDigestRequest{Partition: 64, Day: "2026-01-31"})},
		"afterSequence": {list(&originalsv1.ListSettlementsRequest{AfterSequence: -1}), list(&originalsv1.ListSettlementsRequest{AfterSequence: 1 << 53})},
		"pageSize": {list(&originalsv1.ListSettlementsRequest{PageSize: size(0)}), list(&originalsv1.ListSettlementsRequest{PageSize: size(201)}), func() error {
			_, err := h.ListRejected(ctx, &originalsv1.ListRejectedRequest{PageSize: size(-1)})
			return err
		}},
		"pageToken": {func() error {
			_, err := h.ListRejected(ctx, &originalsv1.ListRejectedRequest{PageToken: "AAAA"})
			return err
		}},
		"claimId": {claim("", "x", 1, 1), claim("a b", "x", 1, 1), claim(strings.Repeat("a", 41), "x", 1, 1),
			func() error {
				_, err := h.ReleaseSettlements(ctx, &originalsv1.ReleaseSettlementsRequest{ClaimId: "{p1}"})
				return err
			},
			func() error {
				_, err := h.ExtendClaim(ctx, &originalsv1.ExtendClaimRequest{LeaseSeconds: 1})
				return err
			}},
		"consumer": {claim("c", "", 1, 1), claim("c", "a b", 1, 1), claim("c", strings.Repeat("a", 65), 1, 1)},
		"max":      {claim("c", "x", 0, 1), claim("c", "x", -1, 1), claim("c", "x", 501, 1)},
		"leaseSeconds": {claim("c", "x", 1, 0), claim("c", "x", 1, -1), claim("c", "x", 1, 3601),
			func() error { _, err := h.ExtendClaim(ctx, &originalsv1.ExtendClaimRequest{ClaimId: "c"}); return err }},
		"items": {many(0), many(501)},
		"settlementId": {with(func(a *originalsv1.Acknowledgement) { a.SettlementId = "" }), with(func(a *originalsv1.Acknowledgement) { a.SettlementId = "UPPER" }),
			func() error {
				_, err := h.AcknowledgeSettlements(ctx, acks(applied(noRound, "a"), applied(noRound, "b")))
				return err
			},
			func() error { _, err := h.GetSettlement(ctx, &originalsv1.GetSettlementRequest{}); return err },
			func() error {
				_, err := h.RequeueSettlement(ctx, &originalsv1.RequeueSettlementRequest{SettlementId: "a.b"})
				return err
			}},
		"fencingToken":        {with(func(a *originalsv1.Acknowledgement) { a.FencingToken = token(0) }), with(func(a *originalsv1.Acknowledgement) { a.FencingToken = token(-1) }), with(func(a *originalsv1.Acknowledgement) { a.FencingToken = token(1 << 53) })},
		"result":              {with(func(a *originalsv1.Acknowledgement) { a.Result = 0 }), with(func(a *originalsv1.Acknowledgement) { a.Result = 3 })},
		"walletTransactionId": {with(func(a *originalsv1.Acknowledgement) { a.WalletTransactionId = "" }), with(func(a *originalsv1.Acknowledgement) { a.WalletTransactionId = "a b" }), with(func(a *originalsv1.Acknowledgement) { a.WalletTransactionId = strings.Repeat("a", 65) }), with(func(a *originalsv1.Acknowledgement) { a.WalletTransactionId = "ä" })},
		"rejectReason": {with(func(a *originalsv1.Acknowledgement) { a.RejectReason = "for APPLIED" }),
			func() error {
				_, err := h.AcknowledgeSettlements(ctx, acks(rejected(noRound, strings.Repeat("a", 201))))
				return err
			},
			func() error { _, err := h.AcknowledgeSettlements(ctx, acks(rejected(noRound, "a\nb"))); return err }},
		"hour": {digest(&originalsv1.GetDigestRequest{}), digest(&originalsv1.GetDigestRequest{Hour: "2026-01-31"}), digest(&originalsv1.GetDigestRequest{Hour: "2026-01-31T24"}), digest(&originalsv1.GetDigestRequest{Hour: "2026-01-31T7"}), digest(&originalsv1.GetDigestRequest{Hour: "2026-01-31T07Z"})},
		"day":  {digest(&originalsv1.GetDigestRequest{Day: "2026-02-30"}), digest(&originalsv1.GetDigestRequest{Day: "2026-1-31"}), digest(&originalsv1.GetDigestRequest{Day: "2026-01-31", Hour: "2026-01-31T07"})},
		"firstSequence": {digest(&originalsv1.GetDigestRequest{Day: "2026-01-31", FirstSequence: 1}), digest(&originalsv1.GetDigestRequest{Day: "2026-01-31", Count: 1}),
			digest(&originalsv1.GetDigestRequest{Day: "2026-01-31", FirstSequence: -1, Count: 1})},
		"count": {digest(&originalsv1.GetDigestRequest{Day: "2026-01-31", FirstSequence: 1, Count: -1})},
	}
	n := 0
	for field, all := range cases {
		for i, send := range all {
			n++
			wantReason(t, fmt.Sprint(field, " ", i), send(), reason.InvalidField, "field", field)
		}
	}
	if n < 50 || b.writes != 0 {
		t.Errorf("%d cases, %d writes", n, b.writes)
	}
	if err := digest(&originalsv1.GetDigestRequest{Hour: "7"})(); !strings.Contains(err.Error(), "2026-01-31T07") {
		t.Errorf("%v shows no hour as it is to be", err)
	}
	if err := many(500)(); err != nil {
		t.Errorf("500 acknowledgements: %v", err)
	}
}

// One operator never sees or moves what is another's, not even by guessing ids.
func TestOperatorsNeverSeeEachOther(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	north, south := h.wallet("north"), h.wallet("south")
	if _, err := h.CreateTransfer(north, deposit("d1", "alice", 500)); err != nil {
		t.Fatal(err)
	}
	r := b.settle(player("north", "alice"), 198)
	dead := b.settle(player("north", "bob"), 0)
	if _, err := h.AcknowledgeSettlements(north, acks(rejected(dead.Round.String(), "no"))); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ClaimSettlements(north, &originalsv1.ClaimSettlementsRequest{ClaimId: "c1", Consumer: "x", Max: 5, LeaseSeconds: 60}); err != nil {
		t.Fatal(err)
	}
	before := b.state()
	id := r.Round.String()
	_, err := h.GetTransfer(south, &originalsv1.GetTransferRequest{TransferId: "d1"})
	wantReason(t, "transfer", err, reason.TransferNotFound)
	_, err = h.ListPlayerBalances(south, &originalsv1.ListPlayerBalancesRequest{PlayerId: "alice"})
	wantReason(t, "balances", err, reason.PlayerNotFound)
	_, err = h.GetSettlement(south, &originalsv1.GetSettlementRequest{SettlementId: id})
	wantReason(t, "settlement", err, reason.SettlementNotFound)
	_, err = h.RequeueSettlement(south, &originalsv1.RequeueSettlementRequest{SettlementId: dead.Round.String()})
	wantReason(t, "requeue", err, reason.SettlementNotFound)
	list, err := h.ListSettlements(south, &originalsv1.ListSettlementsRequest{Partition: uint32(r.Round.Pair.Partition())})
	if err != nil || len(list.GetSettlements()) != 0 || list.GetLastSequence() != 0 {
		t.Errorf("list: %v, %v", list, err)
	}
	rejected, err := h.ListRejected(south, &originalsv1.ListRejectedRequest{})
	if err != nil || len(rejected.GetSettlements()) != 0 {
		t.Errorf("dead letters: %v, %v", rejected, err)
	}
	claimed, err := h.ClaimSettlements(south, &originalsv1.ClaimSettlementsRequest{ClaimId: "c1", Consumer: "x", Max: 5, LeaseSeconds: 60})
	if err != nil || len(claimed.GetSettlements()) != 0 {
		t.Errorf("the same claim id: %v, %v", claimed, err)
	}
	acked, err := h.AcknowledgeSettlements(south, acks(applied(id, "t")))
	if err != nil || acked.GetResults()[0].GetStatus() != originalsv1.AcknowledgementAnswer_NOT_FOUND {
		t.Errorf("acknowledgement: %v, %v", acked, err)
	}
	released, err := h.ReleaseSettlements(south, &originalsv1.ReleaseSettlementsRequest{ClaimId: "c1"})
	if err != nil || released.GetReleased() != 0 {
		t.Errorf("release: %v, %v", released, err)
	}
	s, first := h.open(south, "")
	if first.GetCursor() != "1." {
		t.Errorf("the stream begins at %v", first)
	}
	mine := b.settle(player("south", "alice"), 0)
	if m := next(t, s); m.GetSettlement().GetSettlementId() != mine.Round.String() {
		t.Errorf("the stream shows %v", m)
	}
	if after := b.state(); after != before {
		t.Errorf("another operator changed something:\n%s\n%s", before, after)
	}
	cancelled, err := h.CancelTransfer(south, &originalsv1.CancelTransferRequest{TransferId: "d1"})
	if err != nil || cancelled.GetState() != originalsv1.Transfer_CANCELLED {
		t.Errorf("an id of one's own: %v, %v", cancelled, err)
	}
	if still, err := h.GetTransfer(north, &originalsv1.GetTransferRequest{TransferId: "d1"}); err != nil || still.GetState() != originalsv1.Transfer_APPLIED {
		t.Errorf("the other's: %v, %v", still, err)
	}
}

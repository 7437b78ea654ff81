package settlement

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Bounds of requests.
const (
	maxClaim        = 500  // settlements in one claim, and acknowledgements in one call
	maxLeaseSeconds = 3600 // of a claim
	maxTransaction  = 64   // characters of a wallet transaction's id
	maxReason       = 200  // characters of why a settlement was rejected
)

func readPartition(n uint32) (int, error) {
	if n >= ledger.Partitions {
		return 0, reason.Field("partition", "must be 0 to "+strconv.Itoa(ledger.Partitions-1))
	}
	return int(n), nil
}

func readSequence(field string, n int64) (uint64, error) {
	if n < 0 || n > int64(money.MaxUnits) {
		return 0, reason.Field(field, "must be 0 to 9007199254740991")
	}
	return uint64(n), nil
}

// readTarget reads the operator of the token and a settlement's id, the one of
// its round. An id that no round has is not found.
func readTarget(ctx context.Context, text string) (name string, id ledger.RoundID, err error) {
	if name, err = operator(ctx); err != nil {
		return "", id, err
	}
	if err := wire.ID("settlementId", text); err != nil {
		return "", id, err
	}
	if id, err = ledger.ParseRoundID(text); err != nil {
		return "", id, errSettlementNotFound
	}
	return name, id, nil
}

var consumerPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}\z`)

func readClaim(name string, req *originalsv1.ClaimSettlementsRequest) (ledger.Claim, error) {
	c := ledger.Claim{Operator: name, ID: req.GetClaimId(), Consumer: req.GetConsumer(), Max: int(req.GetMax())}
	if err := wire.CallerID("claimId", c.ID); err != nil {
		return c, err
	}
	if !consumerPattern.MatchString(c.Consumer) {
		return c, reason.Field("consumer", "must be 1 to 64 characters of A-Z a-z 0-9 _ -")
	}
	if c.Max < 1 || c.Max > maxClaim {
		return c, reason.Field("max", "must be 1 to "+strconv.Itoa(maxClaim))
	}
	var err error
	c.Lease, err = readLease(req.GetLeaseSeconds())
	return c, err
}

func readLease(seconds int32) (time.Duration, error) {
	if seconds < 1 || seconds > maxLeaseSeconds {
		return 0, reason.Field("leaseSeconds", "must be 1 to "+strconv.Itoa(maxLeaseSeconds))
	}
	return time.Duration(seconds) * time.Second, nil
}

// items are acknowledgements as they were asked, and those of them that can be
// a settlement's.
type items struct {
	asked []*originalsv1.Acknowledgement
	place []int // in acks; -1 where the id is of no round
	acks  []ledger.Ack
}

func readAcks(asked []*originalsv1.Acknowledgement) (items, error) {
	all := items{asked: asked}
	if len(asked) < 1 || len(asked) > maxClaim {
		return all, reason.Field("items", "must be 1 to "+strconv.Itoa(maxClaim))
	}
	seen := make(map[string]bool, len(asked))
	for _, m := range asked {
		ack, err := readAck(m)
		if err != nil {
			return all, err
		}
		if seen[m.GetSettlementId()] {
			return all, reason.Field("settlementId", "stands there twice")
		}
		seen[m.GetSettlementId()] = true
		id, err := ledger.ParseRoundID(m.GetSettlementId())
		if err != nil {
			all.place = append(all.place, -1)
			continue
		}
		ack.Round = id
		all.place = append(all.place, len(all.acks))
		all.acks = append(all.acks, ack)
	}
	return all, nil
}

// readAck reads all of an acknowledgement but the round.
func readAck(m *originalsv1.Acknowledgement) (ledger.Ack, error) {
	a := ledger.Ack{WalletTransaction: m.GetWalletTransactionId(), Reason: m.GetRejectReason()}
	if err := wire.ID("settlementId", m.GetSettlementId()); err != nil {
		return a, err
	}
	if m.FencingToken != nil {
		if m.GetFencingToken() < 1 || m.GetFencingToken() > int64(money.MaxUnits) {
			return a, reason.Field("fencingToken", "must be that of a claim, or be left out")
		}
		a.Token = uint64(m.GetFencingToken())
	}
	switch m.GetResult() {
	case originalsv1.Acknowledgement_APPLIED:
	case originalsv1.Acknowledgement_REJECTED:
		a.Rejected = true
	default:
		return a, reason.Field("result", "must be one of APPLIED, REJECTED")
	}
	mayBeEmpty := a.Rejected && a.WalletTransaction == ""
	if !mayBeEmpty && !isText(a.WalletTransaction, 1, maxTransaction, '!') {
		return a, reason.Field("walletTransactionId", "must be 1 to "+strconv.Itoa(maxTransaction)+" visible ASCII characters")
	}
	if !isText(a.Reason, 0, maxReason, ' ') {
		return a, reason.Field("rejectReason", "must be up to "+strconv.Itoa(maxReason)+" visible ASCII characters and spaces")
	}
	if !a.Rejected && a.Reason != "" {
		return a, reason.Field("rejectReason", "is for REJECTED alone")
	}
	return a, nil
}

// isText reports whether s has least to most bytes, from lowest to '~'.
func isText(s string, least, most int, lowest byte) bool {
	if len(s) < least || len(s) > most {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < rune(lowest) || r > '~' }) < 0
}

var statuses = map[ledger.AckStatus]originalsv1.AcknowledgementAnswer_Change{
	ledger.Acknowledged: originalsv1.AcknowledgementAnswer_ACKNOWLEDGED, ledger.AlreadyAcknowledged: originalsv1.AcknowledgementAnswer_ALREADY_ACKNOWLEDGED,
	ledger.StaleLease: originalsv1.AcknowledgementAnswer_STALE_LEASE, ledger.Conflict: originalsv1.AcknowledgementAnswer_CONFLICT,
	ledger.AckNotFound: originalsv1.AcknowledgementAnswer_NOT_FOUND,
}

// answer puts the answers of the store into the order of the request.
func (all items) answer(answers []ledger.AckResult) *originalsv1.AcknowledgeSettlementsResponse {
	res := &originalsv1.AcknowledgeSettlementsResponse{}
	for i, m := range all.asked {
		a := ledger.AckResult{Status: ledger.AckNotFound}
		if all.place[i] >= 0 {
			a = answers[all.place[i]]
		}
		res.Results = append(res.Results, &originalsv1.AcknowledgementAnswer{
			SettlementId: m.GetSettlementId(), Status: statuses[a.Status], WalletTransactionId: a.WalletTransaction,
		})
	}
	return res
}

// rejectedToken holds the place of a dead letter, after which a list goes on.
func rejectedToken(filter string, partition int, sequence uint64) string {
	return wire.PageToken(filter, strconv.Itoa(partition)+"."+strconv.FormatUint(sequence, 10))
}

func readRejectedToken(filter, token string) (partition int, after uint64, err error) {
	position, err := wire.ReadPageToken(filter, token)
	if err != nil || position == "" {
		return 0, 0, err
	}
	first, second, _ := strings.Cut(position, ".")
	partition, err = strconv.Atoi(first)
	if err != nil || partition < 0 || partition >= ledger.Partitions {
		return 0, 0, wire.ErrPageToken
	}
	if after, err = strconv.ParseUint(second, 10, 53); err != nil {
		return 0, 0, wire.ErrPageToken
	}
	return partition, after, nil
}

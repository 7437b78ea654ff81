package settlement

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Forms of the begin of a digest, UTC.
const (
	hourForm = "2006-01-02T15"
	dayForm  = "2006-01-02"
)

// example shows a form to whoever sent another.
var example = time.Date(2026, 1, 31, 7, 0, 0, 0, time.UTC)

// GetDigest sums up the settlements of an hour or a day.
func (s *Service) GetDigest(ctx context.Context, req *originalsv1.GetDigestRequest) (*originalsv1.Digest, error) {
	name, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	span, err := readSpan(name, req)
	if err != nil {
		return nil, err
	}
	d, err := s.o.Store.Digest(ctx, span)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, reason.New(reason.SettlementNotFound, "a digest of an hour is kept for 7 days, one of a day for 400")
	}
	if err != nil {
		return nil, err
	}
	m := &originalsv1.Digest{
		Partition: req.GetPartition(), Hour: req.GetHour(), Day: req.GetDay(),
		FirstSequence: int64(d.First), Count: d.Count, MerkleRoot: hex.EncodeToString(d.Root[:]), Open: d.Open,
	}
	for _, sum := range d.Sums {
		m.Sums = append(m.Sums, &originalsv1.Digest_Sum{
			Currency: string(sum.Currency), Count: sum.Count, Stake: decimal(sum.Stake), Payout: decimal(sum.Payout),
		})
	}
	return m, nil
}

func readSpan(name string, req *originalsv1.GetDigestRequest) (ledger.DigestSpan, error) {
	span := ledger.DigestSpan{Operator: name, Day: req.GetDay() != "", Count: req.GetCount()}
	var err error
	if span.Partition, err = readPartition(req.GetPartition()); err != nil {
		return span, err
	}
	switch {
	case req.GetHour() != "" && req.GetDay() != "":
		return span, reason.Field("day", "and hour exclude each other")
	case span.Day:
		span.Begin, err = readBegin("day", dayForm, req.GetDay())
	default:
		span.Begin, err = readBegin("hour", hourForm, req.GetHour())
	}
	if err != nil {
		return span, err
	}
	if span.First, err = readSequence("firstSequence", req.GetFirstSequence()); err != nil {
		return span, err
	}
	if span.Count < 0 || span.Count > int64(money.MaxUnits) {
		return span, reason.Field("count", "must be 0 to 9007199254740991")
	}
	if (span.First == 0) != (span.Count == 0) {
		return span, reason.Field("firstSequence", "and count go together")
	}
	return span, nil
}

// readBegin reads a time in its one spelling.
func readBegin(field, form, text string) (time.Time, error) {
	t, err := time.ParseInLocation(form, text, time.UTC)
	if err != nil || t.Format(form) != text {
		return t, reason.Field(field, "must be UTC, such as "+example.Format(form))
	}
	return t, nil
}

// decimal returns the text of a number of 128 bits, high half first.
func decimal(n [2]uint64) string {
	high := new(big.Int).SetUint64(n[0])
	return high.Lsh(high, 64).Add(high, new(big.Int).SetUint64(n[1])).String()
}

package redisledger

import (
	"context"
	_ "embed" // the scripts
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/digest_mark.lua
	digestMarkText string
	//go:embed scripts/digest_kept.lua
	digestKeptText string

	digestMarkScript = redisscript.New("digest_mark", prelude, roundPart, feedPart, digestMarkText)
	digestKeptScript = redisscript.New("digest_kept", prelude, digestKeptText)
)

const (
	digestPage = 500 // settlements read at once
	keepHours  = 7 * 24 * time.Hour
	keepDays   = 400 * 24 * time.Hour
)

// Digest implements ledger.Feed. Settlements count to the hour of the greatest
// settle time up to them in their partition, so that an hour or day is a run of
// sequences. One that is over is read once, a page at a time, and kept.
func (s *Store) Digest(ctx context.Context, span ledger.DigestSpan) (ledger.Digest, error) {
	d, err := s.locate(ctx, span)
	if err != nil {
		return ledger.Digest{}, err
	}
	key := fmt.Sprintf("%s:gd:%s:%s%d", tag(span.Partition), span.Operator, flag(span.Day), d.from)
	keep := !d.open && span.Count == 0 && d.first < d.after
	if keep {
		kept, err := s.keptDigest(ctx, key)
		if err != nil || kept.Count > 0 {
			return kept, err
		}
	}
	first, after := d.first, d.after
	if span.Count > 0 {
		first, after = max(first, span.First), min(after, span.First+uint64(span.Count))
	}
	digest, err := s.sum(ctx, span, first, after)
	if err != nil {
		return ledger.Digest{}, err
	}
	digest.Open = d.open
	if keep {
		_, err = s.run(ctx, digestKeptScript, []string{key}, packDigest(digest), strconv.FormatInt(d.goes.UnixMilli(), 10))
	}
	return digest, err
}

// located is the run of sequences of an hour or day.
type located struct {
	from         int64  // hours since 1970
	first, after uint64 // the same where there is none
	open         bool
	goes         time.Time // when it is no longer answered
}

// locate finds a span's run. Errors: ledger.ErrNotFound.
func (s *Store) locate(ctx context.Context, span ledger.DigestSpan) (located, error) {
	if span.Partition < 0 || span.Partition >= ledger.Partitions || span.Count < 0 {
		return located{}, ledger.ErrNotFound
	}
	length, keep := time.Hour, keepHours
	if span.Day {
		length, keep = 24*time.Hour, keepDays
	}
	begin := span.Begin.UTC().Truncate(length)
	d := located{from: begin.Unix() / 3600, goes: begin.Add(length + keep)}
	if d.from < 0 || !begin.Equal(span.Begin) {
		return located{}, ledger.ErrNotFound
	}
	for {
		r, err := s.run(ctx, digestMarkScript, []string{outboxKey(span.Operator, span.Partition)},
			span.Operator, digestPage, d.from, begin.Add(length).Unix()/3600)
		if err != nil {
			return located{}, err
		}
		if r.word() == "LATER" {
			continue
		}
		first, err1 := strconv.ParseUint(r.text(1), 10, 64)
		after, err2 := strconv.ParseUint(r.text(2), 10, 64)
		now, err3 := parseTime(r.text(4))
		if err := errors.Join(err1, err2, err3); err != nil || r.word() != "OK" {
			return located{}, errors.Join(r.unexpected(digestMarkScript), err)
		}
		if now.After(d.goes) {
			return located{}, ledger.ErrNotFound
		}
		d.first, d.after, d.open = first, after, r.text(3) == "1"
		return d, nil
	}
}

// sum reads the settlements of a run.
func (s *Store) sum(ctx context.Context, span ledger.DigestSpan, first, after uint64) (ledger.Digest, error) {
	var tree ledger.Merkle
	sums := make(ledger.Sums)
	d := ledger.Digest{Root: tree.Root()}
	if first >= after {
		return d, nil
	}
	d.First, d.Count = first, int64(after-first)
	for at := first; at < after; {
		rounds, _, err := s.settlements(ctx, span.Operator, span.Partition, at-1, int(min(digestPage, after-at)), false)
		if err != nil {
			return ledger.Digest{}, err
		}
		if len(rounds) == 0 {
			return ledger.Digest{}, fmt.Errorf("%w: %d is missing", errSettlement, at)
		}
		for _, r := range rounds {
			tree.Add(r.Leaf())
			sums.Add(r)
		}
		at += uint64(len(rounds))
	}
	d.Sums, d.Root = sums.List(), tree.Root()
	return d, nil
}

// keptDigest returns a digest that was kept; one without settlements where none was.
func (s *Store) keptDigest(ctx context.Context, key string) (ledger.Digest, error) {
	r, err := s.run(ctx, digestKeptScript, []string{key})
	if err != nil || r.text(1) == "" {
		return ledger.Digest{}, err
	}
	return parseDigest([]byte(r.text(1)))
}

// packDigest writes root, first sequence, count, and for each currency its code,
// count, and stake and payout of 16 bytes.
func packDigest(d ledger.Digest) []byte {
	p := append([]byte(nil), d.Root[:]...)
	p = binary.AppendUvarint(p, d.First)
	p = binary.AppendUvarint(p, uint64(d.Count))
	for _, sum := range d.Sums {
		p = appendCurrency(p, sum.Currency)
		p = binary.AppendUvarint(p, uint64(sum.Count))
		for _, half := range []uint64{sum.Stake[0], sum.Stake[1], sum.Payout[0], sum.Payout[1]} {
			p = binary.BigEndian.AppendUint64(p, half)
		}
	}
	return p
}

var errDigest = errors.New("redisledger: not a digest")

func parseDigest(p []byte) (d ledger.Digest, err error) {
	if len(p) < 34 {
		return d, errDigest
	}
	p = p[copy(d.Root[:], p):]
	next := func() uint64 {
		n, size := binary.Uvarint(p)
		if size <= 0 {
			err = errDigest
			return 0
		}
		p = p[size:]
		return n
	}
	d.First, d.Count = next(), int64(next())
	for err == nil && len(p) > 0 {
		var sum ledger.DigestSum
		if sum.Currency, p, err = cutCurrency(p); err != nil {
			return d, errors.Join(errDigest, err)
		}
		sum.Count = int64(next())
		if len(p) < 32 {
			return d, errDigest
		}
		half := func(i int) uint64 { return binary.BigEndian.Uint64(p[8*i:]) }
		sum.Stake, sum.Payout = [2]uint64{half(0), half(1)}, [2]uint64{half(2), half(3)}
		d.Sums, p = append(d.Sums, sum), p[32:]
	}
	return d, err
}

package redisledger

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/ledger"
)

// claimHome returns the partition that a claim's id picks, and the claim's key in it.
func claimHome(operator, id string) (partition int, key string) {
	sum := sha256.Sum256([]byte(operator + "\x00" + id))
	partition = (int(sum[0])<<8 | int(sum[1])) % ledger.Partitions
	return partition, tag(partition) + ":jh:" + operator + ":" + id
}

// Claim implements ledger.Feed. The claim is recorded at home, a partition that its id
// picks, and leases there first, in the same step; if that is not enough it goes from
// partition to partition, each of which decides once what it gives to this claim. So a
// repeat has the same items, and one that comes while the first runs, or after it was
// cut off, finds what that leased; of two that run at once the one that is done first
// decides, and what only the other leased is given back. After the lease's end a repeat
// has nothing; the id is remembered for a day more.
//
// A player is leased with his oldest settlements. A lease that ends without an
// acknowledgement of the oldest makes the player wait, the first time not at all
// and then twice as long each time, and after Options.Attempts such claims his
// oldest becomes a dead letter with the reason "attempts"; those after it go on.
// One that was given back counts for the wait alone.
func (s *Store) Claim(ctx context.Context, c ledger.Claim) ([]ledger.SettledRound, error) {
	if !validBetID(c.ID) || c.Max < 1 || c.Max > 500 || c.Lease < time.Second/100 || c.Lease > time.Hour {
		return nil, fmt.Errorf("redisledger: claim of at most %d for %s, or its id, is not valid", c.Max, c.Lease)
	}
	at, home := claimHome(c.Operator, c.ID)
	fingerprint := fmt.Sprintf("%s %d %d", c.Consumer, c.Max, c.Lease.Milliseconds())
	r, err := s.run(ctx, claimHomeScript, []string{outboxKey(c.Operator, at), home}, c.Operator, c.ID, c.Max,
		s.attempts, s.backoff.Milliseconds(), sortStep, c.Lease.Milliseconds(), fingerprint, at)
	if err != nil {
		return nil, err
	}
	run := claimRun{Store: s, claim: c, home: at, key: home}
	switch r.word() {
	case "OK":
		return s.claimed(ctx, c.Operator, at, r)
	case "MORE":
		run.ending, run.latest = r.text(4), r.text(5)
		return run.goOn(ctx, r)
	case "AGAIN":
		run.ending, run.latest = r.text(1), r.text(2)
		return run.repeat(ctx)
	case "DONE":
		return run.kept(ctx, r.text(1))
	case "ENDED":
		return nil, nil
	case "REUSED":
		return nil, ledger.ErrClaimReused
	}
	return nil, r.unexpected(claimHomeScript)
}

// Release implements ledger.Feed. A player is given back at once the first time, and
// after further claims in vain waits as after a lease that ended.
func (s *Store) Release(ctx context.Context, operator, claimID string) (int, error) {
	n, _, err := s.changeClaim(ctx, operator, claimID, 0)
	if err != nil {
		return 0, err
	}
	if validBetID(claimID) {
		_, home := claimHome(operator, claimID)
		_, err = s.run(ctx, claimWhereScript, []string{home}, 0) // last, so that a repeat finds its way
	}
	return n, err
}

// Extend implements ledger.Feed.
func (s *Store) Extend(ctx context.Context, operator, claimID string, lease time.Duration) (int, time.Time, error) {
	if lease < time.Second/100 || lease > time.Hour {
		return 0, time.Time{}, fmt.Errorf("redisledger: extend a claim by %s", lease)
	}
	return s.changeClaim(ctx, operator, claimID, lease)
}

// changeClaim gives what a claim still holds another end, or gives it back.
func (s *Store) changeClaim(ctx context.Context, operator, claimID string, lease time.Duration) (int, time.Time, error) {
	if !validBetID(claimID) {
		return 0, time.Time{}, nil
	}
	look := ""
	if lease > 0 {
		look = strconv.FormatInt(lease.Milliseconds(), 10)
	}
	_, home := claimHome(operator, claimID)
	r, err := s.run(ctx, claimWhereScript, []string{home}, look)
	if err != nil || r.word() == "NOTFOUND" {
		return 0, time.Time{}, err
	}
	known, err := parsePartitions(r.text(1))
	if err != nil {
		return 0, time.Time{}, err
	}
	everywhere, ending := r.text(2) == "1", r.text(3)
	until, err := parseTime(ending)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("redisledger: claim: end: %w", err)
	}
	if lease == 0 {
		ending = ""
	}
	var changed atomic.Int64
	err = everyPartition(func(p int) error {
		if !everywhere && !slices.Contains(known, p) {
			return nil
		}
		r, err := s.run(ctx, claimChangeScript, []string{outboxKey(operator, p)}, operator, claimID, ending, s.backoff.Milliseconds())
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(r.text(1))
		changed.Add(int64(n))
		return err
	})
	return int(changed.Load()), until, err
}

// Acknowledge implements ledger.Feed: one script for each partition. A token is
// good while it is the newest that its player was leased with, also when that
// lease has ended and nobody came since: it is the order of tokens that decides
// here, never a clock. Without a token whatever is not acknowledged may be, a
// dead letter too, since it reports a booked fact.
func (s *Store) Acknowledge(ctx context.Context, operator string, acks []ledger.Ack) ([]ledger.AckResult, error) {
	results := make([]ledger.AckResult, len(acks))
	var of [ledger.Partitions]ackBatch
	for i, a := range acks {
		if err := checkAck(a); err != nil {
			return nil, err
		}
		results[i].Status = ledger.AckNotFound
		if _, err := ledger.ParsePairID(string(a.Round.Pair)); err == nil {
			of[a.Round.Pair.Partition()].add(i, a)
		}
	}
	var g errgroup.Group
	for p := range of {
		if len(of[p].groups) > 0 {
			g.Go(func() error { return s.acknowledge(ctx, operator, p, &of[p], acks, results) })
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}

// acknowledge fills in the results of one partition.
func (s *Store) acknowledge(ctx context.Context, operator string, partition int, batch *ackBatch, acks []ledger.Ack, results []ledger.AckResult) error {
	args, order := batch.args(operator, acks)
	r, err := s.sorted(ctx, operator, partition, func() (reply, error) {
		return s.run(ctx, acknowledgeScript, []string{outboxKey(operator, partition)}, args...)
	})
	if err != nil {
		return err
	}
	statuses, conflicts := r.text(1), r.list(2)
	if r.word() != "OK" || len(statuses) != len(order) || len(conflicts) != strings.Count(statuses, "4") {
		return r.unexpected(acknowledgeScript)
	}
	for k, i := range order {
		status := ledger.AckStatus(statuses[k] - '0')
		if status < ledger.Acknowledged || status > ledger.AckNotFound {
			return r.unexpected(acknowledgeScript)
		}
		results[i].Status = status
		if status != ledger.Conflict {
			continue
		}
		if results[i].WalletTransaction, err = parseAck([]byte(conflicts.text(0))); err != nil {
			return err
		}
		conflicts = conflicts[1:]
	}
	return nil
}

// Rejected implements ledger.Feed.
func (s *Store) Rejected(ctx context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, error) {
	if partition < 0 || partition >= ledger.Partitions || count <= 0 {
		return nil, nil
	}
	r, err := s.run(ctx, rejectedScript, []string{tag(partition) + ":d:" + operator}, operator, strconv.FormatUint(after, 10), count)
	if err != nil {
		return nil, err
	}
	items, err := parsePlaced(r.text(1))
	if err != nil {
		return nil, err
	}
	rounds, err := s.fetch(ctx, operator, partition, items, false)
	if err != nil {
		return nil, err
	}
	reasons := r.list(2)
	if len(reasons) != len(rounds) {
		return nil, r.unexpected(rejectedScript)
	}
	for i := range rounds {
		rounds[i].RejectReason = reasons.text(i)
	}
	return rounds, nil
}

// Requeue implements ledger.Feed. The settlement is claimed anew, before all later
// ones of its player but those that are leased at this moment; where these come
// again, they come after it.
func (s *Store) Requeue(ctx context.Context, operator string, id ledger.RoundID) error {
	if _, err := ledger.ParsePairID(string(id.Pair)); err != nil {
		return ledger.ErrNotFound
	}
	partition := id.Pair.Partition()
	r, err := s.sorted(ctx, operator, partition, func() (reply, error) {
		return s.run(ctx, requeueScript, []string{tag(partition) + ":d:" + operator}, operator, short(id.Pair), nonceText(id.Nonce))
	})
	if err != nil {
		return err
	}
	switch r.word() {
	case "OK":
		return nil
	case "NOTFOUND":
		return ledger.ErrNotFound
	}
	return r.unexpected(requeueScript)
}

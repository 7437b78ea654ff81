package redisledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/ledger"
)

// claimHome returns the key of a claim in the partition that its id picks.
func claimHome(operator, id string) []string {
	sum := sha256.Sum256([]byte(operator + "\x00" + id))
	return []string{tag((int(sum[0])<<8|int(sum[1]))%ledger.Partitions) + ":jh:" + operator + ":" + id}
}

// lookAfter is how many partitions a claim visits before it looks which of the
// others have anything.
const lookAfter = 3

// Claim implements ledger.Feed. The claim is recorded at home first, which says
// where it begins; then it goes from partition to partition, each of which
// decides once what it gives to this claim. So a repeat has the same items, and
// one that comes while the first runs, or after it was cut off, goes the same
// way; of two that run at once the one that is done first decides, and the other
// gives way. After the lease's end a repeat has nothing; the id is remembered for a day
// more.
//
// A player is leased with his oldest settlements. A lease that ends without an
// acknowledgement of the oldest makes the player wait, the first time not at all
// and then twice as long each time, and after Options.Attempts such claims his
// oldest becomes a dead letter with the reason "attempts"; those after it go on.
func (s *Store) Claim(ctx context.Context, c ledger.Claim) ([]ledger.SettledRound, error) {
	if !validBetID(c.ID) || c.Max < 1 || c.Max > 500 || c.Lease < time.Second/100 || c.Lease > time.Hour {
		return nil, fmt.Errorf("redisledger: claim of at most %d for %s, or its id, is not valid", c.Max, c.Lease)
	}
	home := claimHome(c.Operator, c.ID)
	fingerprint := fmt.Sprintf("%s %d %d", c.Consumer, c.Max, c.Lease.Milliseconds())
	start := int(s.turn.Add(1)) % ledger.Partitions
	r, err := s.run(ctx, claimHomeScript, home, fingerprint, c.Lease.Milliseconds(), start)
	if err != nil {
		return nil, err
	}
	switch r.word() {
	case "REUSED":
		return nil, ledger.ErrClaimReused
	case "DONE":
		partitions, err := parsePartitions(r.text(2))
		if err != nil {
			return nil, err
		}
		rounds, _, err := s.collect(ctx, c, partitions, "0", "0")
		return rounds, err
	case "OPEN":
		return s.claimAround(ctx, c, home, r)
	}
	return nil, r.unexpected(claimHomeScript)
}

// claimAround goes through all partitions, from the one that home says.
func (s *Store) claimAround(ctx context.Context, c ledger.Claim, home []string, r reply) ([]ledger.SettledRound, error) {
	ending, latest := r.text(1), r.text(3)
	start, err := strconv.Atoi(r.text(2))
	if err != nil {
		return nil, fmt.Errorf("redisledger: claim: %w", err)
	}
	order := make([]int, ledger.Partitions)
	for i := range order {
		order[i] = (start + i) % ledger.Partitions
	}
	if r.text(4) == "1" {
		if order, err = s.leasedFirst(ctx, c, order); err != nil {
			return nil, err
		}
	}
	rounds, touched, err := s.collect(ctx, c, order[:lookAfter], ending, latest)
	if err != nil {
		return nil, err
	}
	if len(rounds) < c.Max {
		rest, err := s.promising(ctx, c, order[lookAfter:])
		if err != nil {
			return nil, err
		}
		cut := c
		cut.Max -= len(rounds)
		more, where, err := s.collect(ctx, cut, rest, ending, latest)
		if err != nil {
			return nil, err
		}
		rounds, touched = append(rounds, more...), append(touched, where...)
	}
	own := strings.Join(touched, ",")
	if r, err = s.run(ctx, claimDoneScript, home, own); err != nil {
		return nil, err
	}
	if kept := r.text(1); kept != own {
		return s.giveWay(ctx, c, touched, kept)
	}
	return rounds, nil
}

// leasedFirst puts those partitions first in which an earlier call of the same
// claim, which was cut off, has leased something: that is part of the answer, so
// it must not come on top of one that is full.
func (s *Store) leasedFirst(ctx context.Context, c ledger.Claim, order []int) ([]int, error) {
	made := make([]*redis.IntCmd, len(order))
	err := s.look(ctx, "claim_made", func(pipe redis.Pipeliner) {
		for i, p := range order {
			made[i] = pipe.Exists(ctx, tag(p)+":j:"+c.Operator+":"+c.ID)
		}
	})
	if err != nil {
		return nil, err
	}
	var leased, others []int
	for i, p := range order {
		if made[i].Val() > 0 {
			leased = append(leased, p)
		} else {
			others = append(others, p)
		}
	}
	return append(leased, others...), nil
}

// giveWay returns what another call of the same claim, which was done first, has
// answered with, and gives back what this one leased elsewhere.
func (s *Store) giveWay(ctx context.Context, c ledger.Claim, touched []string, kept string) ([]ledger.SettledRound, error) {
	own, err := parsePartitions(strings.Join(touched, ","))
	if err != nil {
		return nil, err
	}
	answered, err := parsePartitions(kept)
	if err != nil {
		return nil, err
	}
	for _, p := range own {
		if slices.Contains(answered, p) {
			continue
		}
		if _, err := s.run(ctx, claimChangeScript, []string{outboxKey(c.Operator, p)}, c.Operator, c.ID, "", s.backoff.Milliseconds()); err != nil {
			return nil, err
		}
	}
	rounds, _, err := s.collect(ctx, c, answered, "0", "0")
	return rounds, err
}

// promising returns those of the partitions where a claim would find something,
// or has something from an earlier call. What is settled or due meanwhile, it may
// overlook: the next claim will not.
func (s *Store) promising(ctx context.Context, c ledger.Claim, partitions []int) ([]int, error) {
	type signs struct {
		made           *redis.IntCmd
		sorted, newest *redis.StringCmd
		due            *redis.ZSliceCmd
	}
	found := make([]signs, len(partitions))
	var clock *redis.TimeCmd
	err := s.look(ctx, "claim_look", func(pipe redis.Pipeliner) {
		clock = pipe.Time(ctx)
		for i, p := range partitions {
			key := func(kind string) string { return tag(p) + ":" + kind + ":" + c.Operator }
			found[i] = signs{
				pipe.Exists(ctx, key("j")+":"+c.ID), pipe.HGet(ctx, key("q"), "c"), pipe.Get(ctx, key("o")),
				pipe.ZRangeWithScores(ctx, key("y"), 0, 0),
			}
		}
	})
	if err != nil {
		return nil, err
	}
	now := clock.Val().UnixMilli()
	var promising []int
	for i, p := range partitions {
		due := found[i].due.Val()
		if found[i].made.Val() > 0 || found[i].sorted.Val() != found[i].newest.Val() || len(due) > 0 && int64(due[0].Score) <= now {
			promising = append(promising, p)
		}
	}
	return promising, nil
}

// collect claims in the partitions, in turn, until there are enough. It also
// returns where there was something.
func (s *Store) collect(ctx context.Context, c ledger.Claim, partitions []int, ending, latest string) (rounds []ledger.SettledRound, touched []string, err error) {
	for _, p := range partitions {
		room := c.Max - len(rounds)
		if room <= 0 {
			break
		}
		r, err := s.run(ctx, claimScript, []string{outboxKey(c.Operator, p)}, c.Operator, c.ID, room, ending, latest,
			s.attempts, s.backoff.Milliseconds(), sortStep)
		if err != nil {
			return nil, nil, err
		}
		if r.word() != "OK" && r.word() != "KEPT" {
			return nil, nil, r.unexpected(claimScript)
		}
		got, err := s.claimed(ctx, c.Operator, p, r)
		if err != nil {
			return nil, nil, err
		}
		if len(got) > 0 {
			rounds, touched = append(rounds, got...), append(touched, strconv.Itoa(p))
		}
	}
	return rounds, touched, nil
}

// claimed reads what a partition gave to a claim, in the order of sequences.
func (s *Store) claimed(ctx context.Context, operator string, partition int, r reply) ([]ledger.SettledRound, error) {
	items, err := parsePlaced(r.text(1))
	if err != nil || len(items) == 0 {
		return nil, err
	}
	token, err := strconv.ParseUint(r.text(2), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("redisledger: claim: token: %w", err)
	}
	ending, err := parseTime(r.text(3))
	if err != nil {
		return nil, fmt.Errorf("redisledger: claim: end: %w", err)
	}
	rounds, err := s.fetch(ctx, operator, partition, items, r.word() == "KEPT")
	for i := range rounds {
		rounds[i].Token, rounds[i].LeaseExpire = token, ending
	}
	return rounds, err
}

// parsePlaced reads settlements as claim.lua returns them, and sorts them.
func parsePlaced(text string) ([]placed, error) {
	const size = 20
	if len(text)%size != 0 {
		return nil, errSettlement
	}
	items := make([]placed, len(text)/size)
	for i := range items {
		p := []byte(text[i*size : (i+1)*size])
		items[i] = placed{sequence: number(p[:5]), attempt: p[5], slot: [14]byte(p[6:])}
	}
	slices.SortFunc(items, func(a, b placed) int { return cmp.Compare(a.sequence, b.sequence) })
	return items, nil
}

func parsePartitions(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var partitions []int
	for _, t := range strings.Split(text, ",") {
		p, err := strconv.Atoi(t)
		if err != nil || p < 0 || p >= ledger.Partitions {
			return nil, errors.New("redisledger: not the partitions of a claim")
		}
		partitions = append(partitions, p)
	}
	return partitions, nil
}

// Release implements ledger.Feed. A release counts as a claim in vain, so that a
// player is given back at once only the first time.
func (s *Store) Release(ctx context.Context, operator, claimID string) (int, error) {
	n, _, err := s.changeClaim(ctx, operator, claimID, 0)
	if err != nil {
		return 0, err
	}
	if validBetID(claimID) {
		_, err = s.run(ctx, claimWhereScript, claimHome(operator, claimID), 0) // last, so that a repeat finds its way
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
	r, err := s.run(ctx, claimWhereScript, claimHome(operator, claimID), look)
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
	r, err := s.run(ctx, requeueScript, []string{tag(id.Pair.Partition()) + ":d:" + operator}, operator, short(id.Pair), nonceText(id.Nonce))
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

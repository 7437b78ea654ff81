package redisledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
)

// lookAfter is how many partitions beside its home a claim visits before it looks
// which of the others have anything.
const lookAfter = 1

// claimRun is one call of a claim that goes from partition to partition.
type claimRun struct {
	*Store
	claim          ledger.Claim
	home           int
	key            string // of the claim at home
	ending, latest string // as Redis said

	rounds []ledger.SettledRound
	leased []int    // partitions where this claim has something
	from   []string // those of them that the rounds are from
}

// goOn fills up what home gave.
func (c *claimRun) goOn(ctx context.Context, home reply) ([]ledger.SettledRound, error) {
	if err := c.add(ctx, c.home, home); err != nil {
		return nil, err
	}
	order := c.inTurn(func(p int) bool { return p != c.home })
	if err := c.visit(ctx, order[:lookAfter]); err != nil {
		return nil, err
	}
	return c.finish(ctx, order[lookAfter:])
}

// repeat makes a claim that was cut off anew. What it has leased before is part of
// the answer, and comes first: it must not come on top of a full one.
func (c *claimRun) repeat(ctx context.Context) ([]ledger.SettledRound, error) {
	var made [ledger.Partitions]*redis.IntCmd
	err := c.look(ctx, "claim_made", func(pipe redis.Pipeliner) {
		for p := range made {
			made[p] = pipe.Exists(ctx, tag(p)+":j:"+c.claim.Operator+":"+c.claim.ID)
		}
	})
	if err != nil {
		return nil, err
	}
	leased := func(p int) bool { return made[p].Val() > 0 }
	if err := c.visit(ctx, c.inTurn(leased)); err != nil {
		return nil, err
	}
	return c.finish(ctx, c.inTurn(func(p int) bool { return !leased(p) }))
}

// inTurn returns the partitions that are wanted. The next call begins elsewhere.
func (c *claimRun) inTurn(wanted func(p int) bool) (order []int) {
	start := int(c.turn.Add(1) % ledger.Partitions)
	for i := range ledger.Partitions {
		if p := (start + i) % ledger.Partitions; wanted(p) {
			order = append(order, p)
		}
	}
	return order
}

// finish fills up from the rest of the partitions, and ends the claim at home. Where
// another call of it was done first, its answer is that of both.
func (c *claimRun) finish(ctx context.Context, rest []int) ([]ledger.SettledRound, error) {
	if len(c.rounds) < c.claim.Max {
		rest, err := c.promising(ctx, rest)
		if err != nil {
			return nil, err
		}
		if err := c.visit(ctx, rest); err != nil {
			return nil, err
		}
	}
	own := strings.Join(c.from, ",")
	r, err := c.run(ctx, claimDoneScript, []string{c.key}, own)
	if err != nil {
		return nil, err
	}
	kept := r.text(1)
	if err := c.giveBack(ctx, kept); err != nil {
		return nil, err
	}
	if kept == own {
		return c.rounds, nil
	}
	return c.kept(ctx, kept)
}

// untold is the end of what is given back and no wallet was told of.
const untold = "0"

// giveBack gives back what the claim has in partitions that are not in its answer.
func (c *claimRun) giveBack(ctx context.Context, answer string) error {
	answered, err := parsePartitions(answer)
	if err != nil {
		return err
	}
	for _, p := range c.leased {
		if slices.Contains(answered, p) {
			continue
		}
		if _, err := c.run(ctx, claimChangeScript, []string{outboxKey(c.claim.Operator, p)}, c.claim.Operator, c.claim.ID, untold, c.backoff.Milliseconds()); err != nil {
			return err
		}
	}
	return nil
}

// kept returns what a claim that was done holds.
func (c *claimRun) kept(ctx context.Context, partitions string) ([]ledger.SettledRound, error) {
	order, err := parsePartitions(partitions)
	if err != nil {
		return nil, err
	}
	again := claimRun{Store: c.Store, claim: c.claim, ending: "0", latest: "0"}
	err = again.visit(ctx, order)
	return again.rounds, err
}

// promising returns those of the partitions where a claim would find something.
// What is settled or due meanwhile, it may overlook: the next claim will not.
func (c *claimRun) promising(ctx context.Context, partitions []int) ([]int, error) {
	type signs struct {
		sorted, newest *redis.StringCmd
		due            *redis.ZSliceCmd
	}
	found := make([]signs, len(partitions))
	var clock *redis.TimeCmd
	err := c.look(ctx, "claim_look", func(pipe redis.Pipeliner) {
		clock = pipe.Time(ctx)
		for i, p := range partitions {
			key := func(kind string) string { return tag(p) + ":" + kind + ":" + c.claim.Operator }
			found[i] = signs{pipe.HGet(ctx, key("q"), "c"), pipe.Get(ctx, key("o")), pipe.ZRangeWithScores(ctx, key("y"), 0, 0)}
		}
	})
	if err != nil {
		return nil, err
	}
	now := clock.Val().UnixMilli()
	var promising []int
	for i, p := range partitions {
		due := found[i].due.Val()
		if found[i].sorted.Val() != found[i].newest.Val() || len(due) > 0 && int64(due[0].Score) <= now {
			promising = append(promising, p)
		}
	}
	return promising, nil
}

// visit claims in the partitions, in turn, until there are enough.
func (c *claimRun) visit(ctx context.Context, partitions []int) error {
	for _, p := range partitions {
		room := c.claim.Max - len(c.rounds)
		if room <= 0 {
			return nil
		}
		r, err := c.run(ctx, claimScript, []string{outboxKey(c.claim.Operator, p)}, c.claim.Operator, c.claim.ID, room,
			c.attempts, c.backoff.Milliseconds(), sortStep, c.ending, c.latest)
		if err != nil {
			return err
		}
		if r.word() != "OK" && r.word() != "KEPT" {
			return r.unexpected(claimScript)
		}
		if err := c.add(ctx, p, r); err != nil {
			return err
		}
	}
	return nil
}

// add takes what a partition gave. What is more than there is room for was leased by
// another call at the same time: one of both has to do without.
func (c *claimRun) add(ctx context.Context, partition int, r reply) error {
	got, err := c.claimed(ctx, c.claim.Operator, partition, r)
	if err != nil || len(got) == 0 {
		return err
	}
	c.leased = append(c.leased, partition)
	if len(got) <= c.claim.Max-len(c.rounds) {
		c.rounds, c.from = append(c.rounds, got...), append(c.from, strconv.Itoa(partition))
	}
	return nil
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

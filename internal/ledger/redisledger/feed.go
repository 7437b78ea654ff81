package redisledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

var errSettlement = errors.New("redisledger: not a settlement")

// Settlements implements ledger.Feed: two scripts, that only read.
func (s *Store) Settlements(ctx context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, uint64, error) {
	return s.settlements(ctx, operator, partition, after, count, true)
}

// settlements returns what Settlements does, without the wallet transactions where
// nobody wants them.
func (s *Store) settlements(ctx context.Context, operator string, partition int, after uint64, count int, acks bool) ([]ledger.SettledRound, uint64, error) {
	if partition < 0 || partition >= ledger.Partitions || count <= 0 || after > uint64(money.MaxUnits) {
		return nil, 0, nil
	}
	r, err := s.run(ctx, settlementsScript, []string{outboxKey(operator, partition)}, strconv.FormatUint(after, 10), count)
	if err != nil {
		return nil, 0, err
	}
	last, err := strconv.ParseUint(r.text(1), 10, 64)
	if err != nil || r.word() != "OK" {
		return nil, 0, r.unexpected(settlementsScript)
	}
	slots := []byte(r.text(2))
	items := make([]placed, len(slots)/slotSize)
	for i := range items {
		items[i] = placed{sequence: after + uint64(i) + 1, slot: [14]byte(slots[i*slotSize:])}
	}
	rounds, err := s.fetch(ctx, operator, partition, items, acks)
	return rounds, last, err
}

// Settlement implements ledger.Feed.
func (s *Store) Settlement(ctx context.Context, operator string, id ledger.RoundID) (ledger.SettledRound, error) {
	if _, err := ledger.ParsePairID(string(id.Pair)); err != nil {
		return ledger.SettledRound{}, ledger.ErrNotFound
	}
	partition := id.Pair.Partition()
	r, err := s.sorted(ctx, operator, partition, func() (reply, error) {
		return s.run(ctx, settlementScript, []string{outboxKey(operator, partition)}, operator, short(id.Pair), nonceText(id.Nonce))
	})
	if err != nil {
		return ledger.SettledRound{}, err
	}
	switch r.word() {
	case "NOTFOUND":
		return ledger.SettledRound{}, ledger.ErrNotFound
	case "OK":
		return parseSettlement(id, r)
	}
	return ledger.SettledRound{}, r.unexpected(settlementScript)
}

// Heads returns the newest sequence of each partition of an operator; 0 where it
// has no settlement.
func (s *Store) Heads(ctx context.Context, operator string) (heads [ledger.Partitions]uint64, err error) {
	var gets [ledger.Partitions]*redis.StringCmd
	err = s.look(ctx, "heads", func(pipe redis.Pipeliner) {
		for p := range gets {
			gets[p] = pipe.Get(ctx, outboxKey(operator, p))
		}
	})
	if err != nil {
		return heads, err
	}
	for p, get := range gets {
		if heads[p], err = get.Uint64(); err != nil && !errors.Is(err, redis.Nil) {
			return heads, fmt.Errorf("redisledger: heads: %w", err)
		}
	}
	return heads, nil
}

// look sends plain commands that only read, for many partitions, in one pipeline:
// a script for each would cost several times as much. It fails when one of them
// does; a value that is not there is no failure.
func (s *Store) look(ctx context.Context, name string, commands func(redis.Pipeliner)) error {
	start := time.Now()
	pipe := s.client.Pipeline()
	commands(pipe)
	cmds, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err = cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			break
		}
		err = nil
	}
	s.onCall(name, time.Since(start), err)
	if err != nil {
		return s.runner.Failed(ctx, name, err)
	}
	return nil
}

// everyPartition runs f for all of them at once, so that their calls share
// pipelines.
func everyPartition(f func(p int) error) error {
	var g errgroup.Group
	for p := range ledger.Partitions {
		g.Go(func() error { return f(p) })
	}
	return g.Wait()
}

// sortStep is how many settlements one script gives to their players.
const sortStep = 500

// sorted makes a call that needs the settlements sorted. Where it says LATER,
// having changed nothing, they are sorted first.
func (s *Store) sorted(ctx context.Context, operator string, partition int, do func() (reply, error)) (reply, error) {
	for {
		r, err := do()
		if err != nil || r.word() != "LATER" {
			return r, err
		}
		for at, last := "", "-"; at != last; {
			r, err := s.run(ctx, sortScript, []string{outboxKey(operator, partition)}, operator, sortStep)
			if err != nil {
				return nil, err
			}
			at, last = r.text(1), r.text(2)
		}
	}
}

// parseSettlement reads a settlement with its entry of a:, and why it is a dead
// letter.
func parseSettlement(id ledger.RoundID, r reply) (s ledger.SettledRound, err error) {
	entry := []byte(r.text(3))
	if len(entry) < 6 {
		return s, errSettlement
	}
	s.Round, s.Sequence = id, number(entry[:5])
	if s.Player, err = ledger.ParsePlayer(r.text(1)); err != nil {
		return s, err
	}
	if err := parseSettled(&s, []byte(r.text(2))); err != nil {
		return s, fmt.Errorf("%w: %s: %w", errSettlement, id, err)
	}
	s.RejectReason = r.text(4)
	attempt, ok := r[5].(int64)
	if !ok || attempt < 0 || attempt > 255 {
		return s, errSettlement
	}
	s.Attempt = uint32(attempt)
	if r.text(6) != "" {
		if s.LeaseExpire, err = parseTime(r.text(6)); err != nil {
			return s, fmt.Errorf("%w: %s: lease: %w", errSettlement, id, err)
		}
	}
	s.WalletTransaction, err = parseAck(entry)
	return s, err
}

// placed is a settlement by its place in the outbox.
type placed struct {
	sequence uint64
	slot     [14]byte // 10 bytes of the pair, 4 of the nonce
	attempt  uint8
}

// fetch reads the rounds of settlements, the blocks of each pair together, and
// their wallet transactions if they are asked for.
func (s *Store) fetch(ctx context.Context, operator string, partition int, items []placed, acks bool) ([]ledger.SettledRound, error) {
	if len(items) == 0 {
		return nil, nil
	}
	f := newFetch(partition, items, acks)
	r, err := s.run(ctx, fetchScript, f.keys, f.args...)
	if err != nil {
		return nil, err
	}
	if r.word() != "OK" || len(r) != 1+len(f.keys) {
		return nil, r.unexpected(fetchScript)
	}
	rounds := make([]ledger.SettledRound, len(items))
	for _, b := range f.blocks {
		owner, err := ledger.ParsePlayer(r.list(1 + b.owner).text(0))
		if err != nil || owner.Operator != operator {
			return nil, fmt.Errorf("%w: %s is of %q", errSettlement, b.pair, owner)
		}
		for k, i := range b.items {
			item := &rounds[i]
			item.Round = ledger.RoundID{Pair: b.pair, Nonce: binary.BigEndian.Uint32(items[i].slot[10:])}
			item.Sequence, item.Attempt, item.Player = items[i].sequence, uint32(items[i].attempt), owner
			if err := parseSettled(item, []byte(r.list(1+b.at).text(k))); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", errSettlement, item.Round, err)
			}
			if !acks {
				continue
			}
			if item.WalletTransaction, err = parseAck([]byte(r.list(2 + b.at).text(k))); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", errSettlement, item.Round, err)
			}
		}
	}
	return rounds, nil
}

// fetching is what one fetch asks for.
type fetching struct {
	keys   []string
	args   []any
	blocks []*fetchBlock
}

// fetchBlock is the settlements of one block of a pair: which of the items they
// are, and which of the keys have the pair and the rounds.
type fetchBlock struct {
	pair      ledger.PairID
	block     uint32
	items     []int
	fields    []any
	owner, at int
}

func newFetch(partition int, items []placed, acks bool) fetching {
	var f fetching
	type place struct {
		pair  [10]byte
		block uint32
	}
	blocks, owners := make(map[place]*fetchBlock), make(map[[10]byte]*fetchBlock)
	for i := range items {
		raw, nonce := [10]byte(items[i].slot[:10]), binary.BigEndian.Uint32(items[i].slot[10:])
		b := blocks[place{raw, nonce / bucketSize}]
		if b == nil {
			b = &fetchBlock{block: nonce / bucketSize}
			blocks[place{raw, b.block}] = b
			f.blocks = append(f.blocks, b)
			if first := owners[raw]; first != nil {
				b.pair, b.owner = first.pair, first.owner
			} else {
				b.pair, b.owner = ledger.PairIDFromBytes(partition, raw), len(f.keys)
				owners[raw] = b
				f.add(pairKey(b.pair), "u")
			}
		}
		b.items, b.fields = append(b.items, i), append(b.fields, fieldNames[nonce%bucketSize])
	}
	for _, b := range f.blocks {
		b.at = len(f.keys)
		f.add(bucketKey("r", b.pair, b.block), b.fields...)
		if acks {
			f.add(bucketKey("a", b.pair, b.block), b.fields...)
		}
	}
	return f
}

func (f *fetching) add(key string, fields ...any) {
	f.keys = append(f.keys, key)
	f.args = append(append(f.args, len(fields)), fields...)
}

// fieldNames are the fields of a block, made once.
var fieldNames = func() (names [bucketSize]any) {
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}()

// parseSettled reads what a wallet is told of a round's record, of any game.
func parseSettled(r *ledger.SettledRound, p []byte) error {
	if len(p) < contentAt+8 {
		return errShort
	}
	r.State, r.Game = ledger.RoundState(p[0]>>6), bet.Game(p[0]>>2&15)
	if r.State != ledger.Settled && r.State != ledger.Void {
		return errState
	}
	idLength := int(p[0] & 3)
	r.SettleTime = time.UnixMilli(epoch + int64(number(p[6:11]))).UTC()
	r.Payout = money.Units(number(p[11:18]))
	p = p[contentAt:]
	if r.Game == bet.Mines {
		p = p[1:]
	}
	r.Stake = money.Units(number(p[:7]))
	var err error
	if r.Currency, p, err = cutCurrency(p[7:]); err != nil {
		return err
	}
	var parameters []byte
	if r.Game != bet.Roulette {
		if parameters, p, err = cutParameters(r.Game, p, nil); err != nil {
			return err
		}
	}
	if r.State == ledger.Void {
		r.VoidReason = voidReason(r.Game, parameters)
	}
	r.BetID, err = parseBetID(p, idLength)
	return err
}

// voidReason returns why a round is void. Other than a bet at a crash table it can
// be so for one reason alone.
func voidReason(g bet.Game, parameters []byte) string {
	if g != bet.Crash {
		return bet.VoidStoreReplaced
	}
	b, err := bet.ParseBinary(g, parameters)
	if err != nil {
		return ""
	}
	return b.Crash.Void
}

var _ ledger.Feed = (*Store)(nil)

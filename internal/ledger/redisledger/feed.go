package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

var errSettlement = errors.New("redisledger: not a settlement")

// Settlements implements ledger.Feed: one script, that only reads. What became
// of a settlement with a wallet is not in the list; Settlement tells.
func (s *Store) Settlements(ctx context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, uint64, error) {
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
	rounds, err := parseItems(partition, r.text(2), r.list(3))
	return rounds, last, err
}

// Settlement implements ledger.Feed.
func (s *Store) Settlement(ctx context.Context, operator string, id ledger.RoundID) (ledger.SettledRound, error) {
	slot, err := packSlot(id)
	if err != nil {
		return ledger.SettledRound{}, ledger.ErrNotFound
	}
	partition := id.Pair.Partition()
	r, err := s.sorted(ctx, operator, partition, func() (reply, error) {
		return s.run(ctx, settlementScript, []string{outboxKey(operator, partition)}, operator, short(id.Pair), nonceText(id.Nonce), slot)
	})
	if err != nil {
		return ledger.SettledRound{}, err
	}
	switch r.word() {
	case "NOTFOUND":
		return ledger.SettledRound{}, ledger.ErrNotFound
	case "OK":
		rounds, err := parseItems(partition, r.text(1), r.list(2))
		if err != nil || len(rounds) != 1 {
			return ledger.SettledRound{}, errors.Join(errSettlement, err)
		}
		return rounds[0], nil
	}
	return ledger.SettledRound{}, r.unexpected(settlementScript)
}

// Heads returns the newest sequence of each partition of an operator; 0 where it
// has no settlement.
func (s *Store) Heads(ctx context.Context, operator string) (heads [ledger.Partitions]uint64, err error) {
	err = everyPartition(func(p int) error {
		r, err := s.run(ctx, headScript, []string{outboxKey(operator, p)})
		if err != nil {
			return err
		}
		heads[p], err = strconv.ParseUint(r.text(1), 10, 64)
		return err
	})
	return heads, err
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

// parseItems reads the settlements of an answer; scripts/feed.lua says how they
// are packed.
func parseItems(partition int, text string, players reply) ([]ledger.SettledRound, error) {
	var rounds []ledger.SettledRound
	pairs := make(map[string]ledger.PairID)
	owners := make([]ledger.Player, len(players))
	for i := range players {
		var err error
		if owners[i], err = ledger.ParsePlayer(players.text(i)); err != nil {
			return nil, err
		}
	}
	for p := []byte(text); len(p) > 0; {
		if len(p) < 21 || len(p) < 22+int(p[20]) {
			return nil, errSettlement
		}
		r := ledger.SettledRound{Sequence: number(p[:5]), Attempt: uint32(p[19])}
		id, ok := pairs[string(p[5:15])]
		if !ok {
			id = ledger.PairIDFromBytes(partition, [10]byte(p[5:15]))
			pairs[string(p[5:15])] = id
		}
		r.Round = ledger.RoundID{Pair: id, Nonce: uint32(number(p[15:19]))}
		ack, rest := p[21:21+p[20]], p[21+p[20]:]
		size := int(rest[0])
		if len(rest) < 1+size+2 {
			return nil, errSettlement
		}
		owner := int(rest[1+size])<<8 | int(rest[2+size])
		if owner >= len(owners) {
			return nil, errSettlement
		}
		r.Player = owners[owner]
		if err := parseSettled(&r, rest[1:1+size]); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errSettlement, r.Round, err)
		}
		var err error
		if r.WalletTransaction, err = parseAck(ack); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errSettlement, r.Round, err)
		}
		rounds = append(rounds, r)
		p = rest[1+size+2:]
	}
	return rounds, nil
}

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
	if r.Game != bet.Roulette {
		if _, p, err = cutParameters(r.Game, p, nil); err != nil {
			return err
		}
	}
	r.BetID, err = parseBetID(p, idLength)
	return err
}

var _ ledger.Feed = (*Store)(nil)

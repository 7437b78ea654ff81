package redisledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/redisscript"
)

// Draw implements ledger.Store.
func (s *Store) Draw(ctx context.Context, d ledger.Draw) (ledger.Drawn, error) {
	if err := checkDraw(d); err != nil {
		return ledger.Drawn{}, err
	}
	if !ownPartition(d.Player, d.Pair) {
		return ledger.Drawn{}, ledger.ErrNoPair
	}
	args, err := drawArgs(d)
	if err != nil {
		return ledger.Drawn{}, err
	}
	keys := []string{playerKey(d.Player), outboxKey(d.Player.Operator, d.Player.Partition())}
	r, err := s.run(ctx, drawScript, keys, args...)
	if err != nil {
		return ledger.Drawn{}, err
	}
	switch r.word() {
	case "OK":
		l, err := parseLoaded(d.Player.Partition(), r)
		return ledger.Drawn(l), err
	case "SETTLED":
		return settledAsDecided(d, r)
	}
	return ledger.Drawn{}, drawRefusal(d, r)
}

// drawArgs returns the arguments of draw.lua in their order.
func drawArgs(d ledger.Draw) ([]any, error) {
	record, content := packRecord(d)
	var chips []byte
	if d.Bet.Game == bet.Roulette {
		chips = d.Bet.AppendBinary(nil)
	}
	refuse := ""
	if d.Refusal != nil {
		refuse = "1"
	}
	var decided, payout string
	var slot []byte
	if d.Decided != nil {
		var err error
		if slot, err = packSlot(ledger.RoundID{Pair: d.Pair, Nonce: d.Decided.Nonce}); err != nil {
			return nil, err
		}
		decided, payout = nonceText(d.Decided.Nonce), strconv.FormatInt(int64(d.Decided.Payout), 10)
	}
	return []any{
		short(d.Pair), betIDDigest(d.BetID), record, len(content), int64(d.Stake), int64(d.WorstCase),
		string(d.Currency), chips, refuse, decided, payout, slot,
	}, nil
}

// settledAsDecided is the answer to a bet that was settled in the step that took
// it: its caller knows all of it but the time and the balance.
func settledAsDecided(d ledger.Draw, r reply) (ledger.Drawn, error) {
	ms, balance := r.number(1), r.number(2)
	if d.Decided == nil || ms <= 0 || balance < 0 {
		return ledger.Drawn{}, r.unexpected(drawScript)
	}
	at := time.UnixMilli(ms).UTC()
	return ledger.Drawn{
		Round: ledger.Round{
			ID: ledger.RoundID{Pair: d.Pair, Nonce: d.Decided.Nonce}, BetID: d.BetID, State: ledger.Settled, Bet: d.Bet,
			Currency: d.Currency, Stake: d.Stake, Payout: d.Decided.Payout, CreateTime: at, SettleTime: at,
		},
		Balance: money.Units(balance),
	}, nil
}

func checkDraw(d ledger.Draw) error {
	if err := d.Bet.Validate(); err != nil {
		return fmt.Errorf("redisledger: draw: %w", err)
	}
	if _, err := money.ParseCurrency(string(d.Currency)); err != nil {
		return fmt.Errorf("redisledger: draw: %w", err)
	}
	if !validBetID(d.BetID) {
		return fmt.Errorf("redisledger: draw: %w", errBetID)
	}
	if d.Stake <= 0 || d.Stake > money.MaxUnits {
		return fmt.Errorf("redisledger: draw: stake of %d", d.Stake)
	}
	if d.WorstCase < 0 || d.WorstCase > money.MaxUnits || d.Refusal == nil && d.WorstCase < d.Stake {
		return fmt.Errorf("redisledger: draw: worst case of %d", d.WorstCase)
	}
	if d.Decided == nil {
		return nil
	}
	if d.Bet.Game == bet.Mines || d.Decided.Payout < 0 || d.Decided.Payout > d.WorstCase {
		return fmt.Errorf("redisledger: draw: %s decided with a payout of %d, at worst %d", d.Bet.Game, d.Decided.Payout, d.WorstCase)
	}
	return nil
}

// drawRefusal turns a refusal of draw.lua into the error of the contract. The
// nonce that the bet would have had goes with it.
func drawRefusal(d ledger.Draw, r reply) error {
	switch r.word() {
	case "NOPAIR":
		return ledger.ErrNoPair
	case "CHANGED":
		return changed(r.text(1))
	case "OPEN":
		return openDuringDraw(d, r)
	case "REUSED":
		return reason.New(reason.BetIDReused, "this bet id was used for another bet", "nonce", r.text(1))
	case "REFUSED":
		var known *reason.Error
		if errors.As(d.Refusal, &known) {
			return known.With("nonce", r.text(1))
		}
		return d.Refusal
	case "FUNDS":
		return reason.New(reason.InsufficientFunds, "the balance is less than the stake",
			"nonce", r.text(1), "balance", r.text(2))
	case "LIMIT":
		return reason.New(reason.BalanceLimit, "a win could take the balance beyond what is booked",
			"nonce", r.text(1))
	}
	return r.unexpected(drawScript)
}

func openDuringDraw(d ledger.Draw, r reply) error {
	next, err := parseNonce(r.text(3))
	if err != nil {
		return fmt.Errorf("%w: nonce: %w", errPair, err)
	}
	err = roundOpen(d.Player.Partition(), r.text(1), r.text(2))
	var open *ledger.RoundOpenError
	if errors.As(err, &open) {
		open.Nonce = next
	}
	return err
}

// Advance implements ledger.Store.
func (s *Store) Advance(ctx context.Context, p ledger.Player, id ledger.RoundID, picks []uint8) (ledger.Loaded, error) {
	if !ownPartition(p, id.Pair) {
		return ledger.Loaded{}, ledger.ErrNotFound
	}
	if len(picks) == 0 {
		return ledger.Loaded{}, errors.New("redisledger: advance without a pick")
	}
	r, err := s.run(ctx, advanceScript, []string{playerKey(p)},
		short(id.Pair), p.String(), nonceText(id.Nonce), picks)
	if err != nil {
		return ledger.Loaded{}, err
	}
	return loadedOr(advanceScript, p.Partition(), r)
}

// Settle implements ledger.Store.
func (s *Store) Settle(ctx context.Context, q ledger.Settlement) (ledger.Loaded, error) {
	if !ownPartition(q.Player, q.Round.Pair) {
		return ledger.Loaded{}, ledger.ErrNotFound
	}
	slot, err := checkSettlement(q)
	if err != nil {
		return ledger.Loaded{}, err
	}
	partition := q.Player.Partition()
	r, err := s.run(ctx, settleScript,
		[]string{playerKey(q.Player), outboxKey(q.Player.Operator, partition)},
		short(q.Round.Pair), q.Player.String(), nonceText(q.Round.Nonce), string(q.Currency),
		appendCurrency(nil, q.Currency), uint8(q.State), int64(q.Payout), append7(nil, q.Payout),
		int64(q.WorstCase), q.Before, q.Picks, slot)
	if err != nil {
		return ledger.Loaded{}, err
	}
	return loadedOr(settleScript, partition, r)
}

// checkSettlement returns the slot of the outbox.
func checkSettlement(q ledger.Settlement) ([]byte, error) {
	if q.State != ledger.Settled && q.State != ledger.Void {
		return nil, fmt.Errorf("redisledger: settle to state %d", q.State)
	}
	if q.Payout < 0 || q.Payout > money.MaxUnits || q.WorstCase < 0 || q.WorstCase > money.MaxUnits {
		return nil, fmt.Errorf("redisledger: settle a payout of %d, at worst %d", q.Payout, q.WorstCase)
	}
	if _, err := money.ParseCurrency(string(q.Currency)); err != nil {
		return nil, fmt.Errorf("redisledger: settle: %w", err)
	}
	more := len(q.Picks) - len(q.Before)
	if more < 0 || more > 1 || string(q.Picks[:len(q.Before)]) != string(q.Before) {
		return nil, errors.New("redisledger: settle: picks are not those before and at most one more")
	}
	return packSlot(q.Round)
}

// Load implements ledger.Store.
func (s *Store) Load(ctx context.Context, id ledger.RoundID) (ledger.Loaded, error) {
	if _, err := ledger.ParsePairID(string(id.Pair)); err != nil {
		return ledger.Loaded{}, ledger.ErrNotFound
	}
	r, err := s.run(ctx, loadScript, []string{pairKey(id.Pair)}, short(id.Pair), nonceText(id.Nonce))
	if err != nil {
		return ledger.Loaded{}, err
	}
	return loadedOr(loadScript, id.Pair.Partition(), r)
}

// loadedOr reads a round, or the refusal in its place.
func loadedOr(sc *redisscript.Script, partition int, r reply) (ledger.Loaded, error) {
	switch r.word() {
	case "OK":
		return parseLoaded(partition, r)
	case "NOTFOUND":
		return ledger.Loaded{}, ledger.ErrNotFound
	case "BOOK":
		return ledger.Loaded{}, ledger.ErrBook
	case "PICKS":
		return ledger.Loaded{}, ledger.ErrPicksChanged
	case "INTERRUPTED":
		return ledger.Loaded{}, ledger.ErrInterrupted
	}
	return ledger.Loaded{}, r.unexpected(sc)
}

// Rounds implements ledger.Store. It reads one bucket of rounds at a time.
func (s *Store) Rounds(ctx context.Context, pair ledger.PairID, first uint32, count int) ([]ledger.Round, error) {
	if _, err := ledger.ParsePairID(string(pair)); err != nil || count <= 0 {
		return nil, nil
	}
	var rounds []ledger.Round
	for next, end := uint64(first), uint64(first)+uint64(count); next < end; {
		bucket := uint32(next / bucketSize)
		r, err := s.run(ctx, roundsScript, []string{bucketKey("r", pair, bucket), bucketKey("c", pair, bucket)})
		if err != nil {
			return nil, err
		}
		stored, chips := r.fields(1), r.fields(2)
		if len(stored) == 0 {
			return rounds, nil // nonces have no gaps
		}
		stop := min(end, (uint64(bucket)+1)*bucketSize)
		for ; next < stop; next++ {
			field := strconv.FormatUint(next%bucketSize, 10)
			record, ok := stored[field]
			if !ok {
				continue
			}
			round, err := parseRecord(ledger.RoundID{Pair: pair, Nonce: uint32(next)}, record, stored["p"+field], chips[field])
			if err != nil {
				return nil, err
			}
			rounds = append(rounds, round)
		}
	}
	return rounds, nil
}

// OpenRounds implements ledger.Store.
func (s *Store) OpenRounds(ctx context.Context, partition, skip, count int) ([]ledger.OpenRound, error) {
	if partition < 0 || partition >= ledger.Partitions || skip < 0 || count <= 0 {
		return nil, nil
	}
	r, err := s.run(ctx, openRoundsScript, []string{openRoundsKey(partition)},
		strconv.Itoa(skip), strconv.Itoa(skip+count-1))
	if err != nil {
		return nil, err
	}
	list := r.list(1)
	rounds := make([]ledger.OpenRound, 0, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		id, err := ledger.ParseRoundID(fmt.Sprintf("%02d-%s", partition, list.text(i)))
		if err != nil {
			return nil, err
		}
		created, err := parseTime(list.text(i + 1))
		if err != nil {
			return nil, fmt.Errorf("redisledger: open round %s: %w", id, err)
		}
		rounds = append(rounds, ledger.OpenRound{ID: id, CreateTime: created})
	}
	return rounds, nil
}

// slotSize is the length of a slot of the outbox: 10 bytes of the pair, 4 of
// the nonce, 2 that are zero.
const slotSize = 16

func packSlot(id ledger.RoundID) ([]byte, error) {
	pair, err := id.Pair.Bytes()
	if err != nil {
		return nil, err
	}
	slot := make([]byte, slotSize)
	copy(slot, pair[:])
	binary.BigEndian.PutUint32(slot[10:], id.Nonce)
	return slot, nil
}

// Outbox implements ledger.Store.
func (s *Store) Outbox(ctx context.Context, operator string, partition int, after uint64, count int) ([]ledger.OutboxEntry, error) {
	if partition < 0 || partition >= ledger.Partitions || count <= 0 || after > uint64(money.MaxUnits) {
		return nil, nil
	}
	r, err := s.run(ctx, outboxScript, []string{outboxKey(operator, partition)},
		strconv.FormatUint(after, 10), strconv.Itoa(count))
	if err != nil {
		return nil, err
	}
	slots := []byte(r.text(1))
	if len(slots)%slotSize != 0 {
		return nil, fmt.Errorf("redisledger: outbox: %w", errReply)
	}
	entries := make([]ledger.OutboxEntry, 0, len(slots)/slotSize)
	for i := 0; i < len(slots); i += slotSize {
		id := ledger.RoundID{
			Pair:  ledger.PairIDFromBytes(partition, [10]byte(slots[i:i+10])),
			Nonce: binary.BigEndian.Uint32(slots[i+10:]),
		}
		entries = append(entries, ledger.OutboxEntry{Sequence: after + uint64(i/slotSize) + 1, Round: id})
	}
	return entries, nil
}

func nonceText(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

var _ ledger.Store = (*Store)(nil)

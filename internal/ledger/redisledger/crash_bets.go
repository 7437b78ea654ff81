package redisledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// crashKey returns a key of a table in one partition.
func crashKey(partition int, kind, table string) string {
	return tag(partition) + ":" + kind + ":" + table
}

// The same reason, said to one who bets and to one who takes a bet back.
var (
	errBettingClosed = reason.New(reason.BettingClosed, "the table takes no bets now")
	errRoundLocked   = reason.New(reason.BettingClosed, "the round is locked, so that the bet stays")
)

// placeTries is how often a bet whose round was closed under it tries the next, with
// growing pauses: for half a second in all, in which a round that is closed is locked.
const placeTries = 32

// PlaceCrashBet implements ledger.CrashStore. It holds the worst case against
// the round's limit first, and takes the bet then. What is held for a bet that
// is not taken is released; where that fails it is held until the round ends.
func (s *Store) PlaceCrashBet(ctx context.Context, p ledger.CrashPlacement) (ledger.CrashTaken, error) {
	if err := checkPlacement(p); err != nil {
		return ledger.CrashTaken{}, err
	}
	for try := 0; ; try++ {
		number, err := s.reserve(ctx, p)
		if err != nil {
			return s.repeated(ctx, p, err)
		}
		taken, now, err := s.place(ctx, p, number)
		if err == nil && now || isUnknown(err) {
			return taken, err
		}
		s.release(ctx, p, number)
		if !errors.Is(err, errMoved) {
			return taken, err
		}
		if try == placeTries {
			return ledger.CrashTaken{}, errBettingClosed
		}
		if err := pause(ctx, time.Duration(try)*time.Millisecond); err != nil {
			return ledger.CrashTaken{}, err
		}
	}
}

// isUnknown reports whether a call may have had its effect.
func isUnknown(err error) bool { return err != nil && reason.Of(err) == reason.StoreUnavailable }

// pause waits between two tries, while the owner moves from phase to phase.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func checkPlacement(p ledger.CrashPlacement) error {
	if err := p.Target.Validate(); err != nil {
		return fmt.Errorf("redisledger: crash bet: %w", err)
	}
	if _, err := money.ParseCurrency(string(p.Currency)); err != nil {
		return fmt.Errorf("redisledger: crash bet: %w", err)
	}
	if !validBetID(p.BetID) {
		return fmt.Errorf("redisledger: crash bet: %w", errBetID)
	}
	if p.Stake <= 0 || p.Stake > money.MaxUnits || p.WorstCase < 0 || p.WorstCase > money.MaxUnits || p.RoundLimit > money.MaxUnits {
		return fmt.Errorf("redisledger: crash bet: stake of %d, at worst %d", p.Stake, p.WorstCase)
	}
	return nil
}

// repeated answers a bet that nothing could be held for: when it is a repeat, as
// the bet was answered.
func (s *Store) repeated(ctx context.Context, p ledger.CrashPlacement, refusal error) (ledger.CrashTaken, error) {
	if isUnknown(refusal) {
		return ledger.CrashTaken{}, refusal
	}
	p.Refusal = refusal
	taken, _, err := s.place(ctx, p, 0)
	return taken, err
}

// reserve returns the round that a bet will enter.
func (s *Store) reserve(ctx context.Context, p ledger.CrashPlacement) (uint32, error) {
	if p.Refusal != nil {
		return 0, p.Refusal
	}
	r, err := s.run(ctx, crashReserveScript, []string{homeKey(p.Table, "s")},
		string(p.Currency), int64(p.WorstCase), int64(p.RoundLimit), int64(p.Stake))
	if err != nil {
		return 0, err
	}
	switch r.word() {
	case "OK":
		return parseNonce(r.text(1))
	case "CLOSED":
		return 0, errBettingClosed
	case "LIMIT":
		return 0, reason.New(reason.LimitExceeded, "the bets of this round could pay more than its limit",
			"limit", "maxRoundPayout", "value", strconv.FormatInt(int64(p.RoundLimit), 10))
	}
	return 0, r.unexpected(crashReserveScript)
}

// release gives back what a bet held that was not taken. It does not matter
// when it fails.
func (s *Store) release(ctx context.Context, p ledger.CrashPlacement, number uint32) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	_, _ = s.run(ctx, crashReleaseScript, []string{homeKey(p.Table, "x")},
		nonceText(number), string(p.Currency), int64(p.WorstCase), int64(p.Stake))
}

var errMoved = errors.New("redisledger: the round was locked")

// place takes a bet for a round, and reports whether it did so now.
func (s *Store) place(ctx context.Context, p ledger.CrashPlacement, number uint32) (ledger.CrashTaken, bool, error) {
	book := ledger.CrashBook(p.Player, p.Table)
	field, spread := crashIDDigest(p.BetID)
	record, _ := packRecord(ledger.Draw{
		BetID: p.BetID, Stake: p.Stake, Currency: p.Currency,
		Bet: bet.Bet{Game: bet.Crash, Crash: bet.CrashBet{Bet: p.Target}},
	})
	r, err := s.run(ctx, crashPlaceScript, []string{playerKey(p.Player)},
		p.Table, p.Player.String(), short(book), field, spread, record, int64(p.Stake), int64(p.WorstCase), string(p.Currency),
		nonceText(number), nonceText(p.LastNumber), crashFlag(p.Refusal != nil))
	if err != nil {
		return ledger.CrashTaken{}, false, err
	}
	switch r.word() {
	case "OK":
		taken, err := parseTaken(p.Table, p.Player, book, r)
		return taken, r.text(4) == "1", err
	case "MOVED":
		return ledger.CrashTaken{}, false, errMoved
	case "REFUSED":
		return ledger.CrashTaken{}, false, p.Refusal
	case "CLOSED":
		return ledger.CrashTaken{}, false, errBettingClosed
	case "REUSED":
		return ledger.CrashTaken{}, false, reason.New(reason.BetIDReused, "this bet id was used for another bet")
	case "PLACED":
		return ledger.CrashTaken{}, false, reason.New(reason.BetAlreadyPlaced, "a bet of this player is in the round already",
			"number", nonceText(number))
	case "FUNDS":
		return ledger.CrashTaken{}, false, reason.New(reason.InsufficientFunds, "the balance is less than the stake", "balance", r.text(1))
	case "LIMIT":
		return ledger.CrashTaken{}, false, reason.New(reason.BalanceLimit, "a win could take the balance beyond what is booked")
	}
	return ledger.CrashTaken{}, false, r.unexpected(crashPlaceScript)
}

// parseTaken reads {'OK', count, record, balance}.
func parseTaken(table string, p ledger.Player, book ledger.PairID, r reply) (ledger.CrashTaken, error) {
	count, err := parseNonce(r.text(1))
	if err != nil {
		return ledger.CrashTaken{}, fmt.Errorf("%w: count: %w", errCrash, err)
	}
	return taken(table, p, ledger.RoundID{Pair: book, Nonce: count}, r.text(2), r.text(3))
}

func taken(table string, p ledger.Player, id ledger.RoundID, record, balance string) (ledger.CrashTaken, error) {
	round, err := parseRecord(id, record, "", "")
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	units, err := parseUnits(balance)
	return ledger.CrashTaken{Table: table, Player: p, Round: round, Balance: units}, err
}

// CancelCrashBet implements ledger.CrashStore.
func (s *Store) CancelCrashBet(ctx context.Context, table string, p ledger.Player, betID string) (ledger.CrashTaken, error) {
	found, err := s.FindCrashBet(ctx, table, p, betID)
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	b := crashBet(p, found.Round)
	b.Bet.CashOutE2, b.Bet.Void = 0, bet.VoidCancelled
	worst, err := b.WorstCase()
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	slot, err := packSlot(b.ID)
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	r, err := s.run(ctx, crashCancelScript, []string{playerKey(p)},
		table, p.String(), short(b.ID.Pair), nonceText(b.ID.Nonce), b.Bet.AppendTargets(nil), int64(b.Stake), append7(nil, b.Stake),
		int64(worst), string(b.Currency), outboxKey(p.Operator, p.Partition()), slot)
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	switch r.word() {
	case "OK":
		if r.text(4) == "1" {
			s.release(ctx, ledger.CrashPlacement{Table: table, Currency: b.Currency, WorstCase: worst, Stake: b.Stake}, b.Bet.Number)
		}
		return parseTaken(table, p, b.ID.Pair, r)
	case "CLOSED":
		return ledger.CrashTaken{}, errRoundLocked
	case "NOTFOUND":
		return ledger.CrashTaken{}, ledger.ErrNotFound
	}
	return ledger.CrashTaken{}, r.unexpected(crashCancelScript)
}

func crashBet(p ledger.Player, r ledger.Round) ledger.CrashBet {
	return ledger.CrashBet{ID: r.ID, Player: p, BetID: r.BetID, Bet: r.Bet.Crash, Currency: r.Currency, Stake: r.Stake}
}

// FindCrashBet implements ledger.CrashStore.
func (s *Store) FindCrashBet(ctx context.Context, table string, p ledger.Player, betID string) (ledger.CrashTaken, error) {
	field, spread := crashIDDigest(betID)
	return s.find(ctx, ledger.CrashBook(p, table), "", field, spread)
}

// LoadCrashBet implements ledger.CrashStore.
func (s *Store) LoadCrashBet(ctx context.Context, id ledger.RoundID) (ledger.CrashTaken, error) {
	if _, err := ledger.ParsePairID(string(id.Pair)); err != nil {
		return ledger.CrashTaken{}, ledger.ErrNotFound
	}
	return s.find(ctx, id.Pair, nonceText(id.Nonce), "", 0)
}

func (s *Store) find(ctx context.Context, book ledger.PairID, count string, digest any, spread uint32) (ledger.CrashTaken, error) {
	r, err := s.run(ctx, crashFindScript, []string{pairKey(book)}, short(book), count, digest, spread)
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	if r.word() == "NOTFOUND" {
		return ledger.CrashTaken{}, ledger.ErrNotFound
	}
	if r.word() != "OK" {
		return ledger.CrashTaken{}, r.unexpected(crashFindScript)
	}
	player, err := ledger.ParsePlayer(r.text(3))
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	balances, err := parseBalances(r.fields(5))
	if err != nil {
		return ledger.CrashTaken{}, err
	}
	nonce, err := parseNonce(r.text(1))
	if err != nil {
		return ledger.CrashTaken{}, fmt.Errorf("%w: count: %w", errCrash, err)
	}
	round, err := parseRecord(ledger.RoundID{Pair: book, Nonce: nonce}, r.text(2), "", "")
	return ledger.CrashTaken{Table: r.text(4), Player: player, Round: round, Balance: balances[round.Currency]}, err
}

// CrashBookLength implements ledger.CrashStore.
func (s *Store) CrashBookLength(ctx context.Context, table string, p ledger.Player) (uint32, error) {
	start := time.Now()
	text, err := s.client.HGet(ctx, pairKey(ledger.CrashBook(p, table)), "n").Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	s.onCall("crash_book", time.Since(start), err)
	if err != nil {
		return 0, s.runner.Failed(ctx, "crash_book", err)
	}
	return parseNonce(text)
}

// OpenCrashBook implements ledger.CrashStore.
func (s *Store) OpenCrashBook(ctx context.Context, table string, p ledger.Player) ([]uint32, error) {
	start := time.Now()
	fields, err := s.client.HGetAll(ctx, pairKey(ledger.CrashBook(p, table))).Result()
	s.onCall("crash_open_book", time.Since(start), err)
	if err != nil {
		return nil, s.runner.Failed(ctx, "crash_open_book", err)
	}
	var open []uint32
	for name, text := range fields {
		if name[0] != 'b' { // b and the number of the round
			continue
		}
		count, err := parseNonce(text)
		if err != nil {
			return nil, fmt.Errorf("%w: open bet: %w", errCrash, err)
		}
		open = append(open, count)
	}
	slices.Sort(open)
	return open, nil
}

// crashIDDigest is the field of a bet's id in the index of its book, and the
// number that picks the index's hash.
func crashIDDigest(betID string) (field []byte, spread uint32) {
	sum := sha256.Sum256([]byte(betID))
	return sum[:8], binary.BigEndian.Uint32(sum[:4])
}

func crashFlag(b bool) string {
	if b {
		return "1"
	}
	return ""
}

package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// OpenCrashPartition implements ledger.CrashStore.
func (s *Store) OpenCrashPartition(ctx context.Context, o ledger.CrashOwner, partition int, number uint32) error {
	_, err := s.partition(ctx, o, partition, number, "1")
	return err
}

// CloseCrashPartition implements ledger.CrashStore.
func (s *Store) CloseCrashPartition(ctx context.Context, o ledger.CrashOwner, partition int, number uint32) (ledger.CrashBets, error) {
	r, err := s.partition(ctx, o, partition, number, "0")
	if err != nil {
		return ledger.CrashBets{}, err
	}
	var all ledger.CrashBets
	if all.Settled, err = strconv.Atoi(r.text(1)); err != nil {
		return ledger.CrashBets{}, fmt.Errorf("%w: settled bets: %w", errCrash, err)
	}
	if all.Bets, err = parseCrashBets(partition, r.list(2)); err != nil {
		return ledger.CrashBets{}, err
	}
	live := r.list(3)
	for i := range live {
		n, err := parseNonce(live.text(i))
		if err != nil {
			return ledger.CrashBets{}, fmt.Errorf("%w: live rounds: %w", errCrash, err)
		}
		if n < number {
			all.Numbers = append(all.Numbers, n)
		}
	}
	if all.Newest, err = parseNonce(r.text(4)); err != nil {
		return ledger.CrashBets{}, fmt.Errorf("%w: newest round: %w", errCrash, err)
	}
	return all, nil
}

func (s *Store) partition(ctx context.Context, o ledger.CrashOwner, partition int, number uint32, open string) (reply, error) {
	r, err := s.run(ctx, crashPartitionScript, []string{crashKey(partition, "ct", o.Table)},
		o.Table, o.Epoch, o.Owner, nonceText(number), open)
	if err == nil && r.word() != "OK" {
		err = ownerRefusal(crashPartitionScript, r)
	}
	return r, err
}

// OpenCrashBets implements ledger.CrashStore.
func (s *Store) OpenCrashBets(ctx context.Context, table string, partition int, number uint32) ([]ledger.CrashBet, error) {
	r, err := s.run(ctx, crashBetsScript, []string{crashKey(partition, "cb", table) + ":" + nonceText(number)})
	if err != nil {
		return nil, err
	}
	return parseCrashBets(partition, r.list(1))
}

// parseCrashBets reads <book>-<count> and player 0 record, for each bet.
func parseCrashBets(partition int, list reply) ([]ledger.CrashBet, error) {
	bets := make([]ledger.CrashBet, 0, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		id, err := ledger.ParseRoundID(fmt.Sprintf("%02d-%s", partition, list.text(i)))
		if err != nil {
			return nil, err
		}
		name, record, ok := strings.Cut(list.text(i+1), "\x00")
		if !ok {
			return nil, fmt.Errorf("%w: bet %s", errCrash, id)
		}
		player, err := ledger.ParsePlayer(name)
		if err != nil {
			return nil, err
		}
		round, err := parseRecord(id, record, "", "")
		if err != nil {
			return nil, err
		}
		bets = append(bets, crashBet(player, round))
	}
	return bets, nil
}

// SettleCrashBets implements ledger.CrashStore.
func (s *Store) SettleCrashBets(ctx context.Context, o ledger.CrashOwner, partition int, bets []ledger.CrashSettlement) ([]ledger.CrashTaken, error) {
	args := make([]any, 0, 3+11*len(bets))
	args = append(args, o.Table, o.Epoch, o.Owner)
	for _, q := range bets {
		var err error
		if args, err = appendCrashSettlement(args, q); err != nil {
			return nil, err
		}
	}
	r, err := s.run(ctx, crashSettleScript, []string{crashKey(partition, "ct", o.Table)}, args...)
	if err != nil {
		return nil, err
	}
	if r.word() != "OK" || len(r) != 1+2*len(bets) {
		return nil, ownerRefusal(crashSettleScript, r)
	}
	out := make([]ledger.CrashTaken, len(bets))
	for i, q := range bets {
		record, balance := r.text(1+2*i), r.text(2+2*i)
		switch {
		case strings.HasPrefix(balance, "!"):
			err = errors.Join(err, fmt.Errorf("%w: bet %s is broken: %s", errCrash, q.Bet.ID, balance[1:]))
		case record != "":
			var parseErr error
			out[i], parseErr = taken(o.Table, q.Bet.Player, q.Bet.ID, record, balance)
			err = errors.Join(err, parseErr)
		}
	}
	return out, err
}

func appendCrashSettlement(args []any, q ledger.CrashSettlement) ([]any, error) {
	b := q.Bet
	b.Bet.CashOutE2, b.Bet.Void = q.CashOutE2, q.Void
	if err := b.Bet.Validate(); err != nil {
		return nil, fmt.Errorf("redisledger: settle crash bet %s: %w", b.ID, err)
	}
	worst, err := b.WorstCase()
	if err != nil {
		return nil, err
	}
	state, payout := ledger.Settled, b.Stake
	if q.Void != "" {
		state = ledger.Void
	} else if payout, err = money.Payout(b.Stake, b.Bet.Paid()); err != nil {
		return nil, err
	}
	slot, err := packSlot(b.ID)
	if err != nil {
		return nil, err
	}
	return append(args, b.Player.String(), short(b.ID.Pair), nonceText(b.ID.Nonce), int(state), b.Bet.AppendTargets(nil),
		int64(payout), append7(nil, payout), int64(worst), string(b.Currency),
		outboxKey(b.Player.Operator, b.ID.Pair.Partition()), slot), nil
}

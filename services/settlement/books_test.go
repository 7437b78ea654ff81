package settlement_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// books are a store in memory, simple enough to be read as what a store must do.
type books struct {
	mu        sync.Mutex
	balances  map[ledger.Player]map[money.Currency]money.Units
	transfers map[string]ledger.Transfer
	outbox    map[string]*[ledger.Partitions][]*entry // by operator
	claims    map[string][]ledger.SettledRound
	token     uint64
	nonce     uint32
	reads     int // of Settlements
	writes    int
	now       func() time.Time
}

type entry struct {
	ledger.SettledRound
	claim    string // that has it leased, or had
	rejected bool
	acked    bool
}

func newBooks() *books {
	return &books{
		balances: make(map[ledger.Player]map[money.Currency]money.Units), transfers: make(map[string]ledger.Transfer),
		outbox: make(map[string]*[ledger.Partitions][]*entry), claims: make(map[string][]ledger.SettledRound), now: time.Now,
	}
}

// settle ends a round of a player.
func (b *books) settle(p ledger.Player, payout money.Units) ledger.SettledRound {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := sha256.Sum256([]byte(p.String()))
	b.nonce++
	run := &b.of(p.Operator)[p.Partition()]
	r := ledger.SettledRound{
		Round:    ledger.RoundID{Pair: ledger.PairIDFromBytes(p.Partition(), [10]byte(sum[:10])), Nonce: b.nonce},
		Sequence: uint64(len(*run) + 1), Player: p, BetID: fmt.Sprint("bet-", b.nonce), Game: bet.Dice, State: ledger.Settled,
		Currency: "FUN", Stake: 100, Payout: payout, SettleTime: time.UnixMilli(1_790_000_000_000 + int64(b.nonce)).UTC(),
	}
	*run = append(*run, &entry{SettledRound: r})
	return r
}

// lose takes the newest settlement of a partition away, as a fail-over may.
func (b *books) lose(operator string, partition int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	run := &b.of(operator)[partition]
	*run = (*run)[:len(*run)-1]
}

func (b *books) of(operator string) *[ledger.Partitions][]*entry {
	if b.outbox[operator] == nil {
		b.outbox[operator] = new([ledger.Partitions][]*entry)
	}
	return b.outbox[operator]
}

func (b *books) Balances(_ context.Context, p ledger.Player) (map[money.Currency]money.Units, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.balances[p] == nil {
		return nil, ledger.ErrNotFound
	}
	return maps.Clone(b.balances[p]), nil
}

func (b *books) Heads(_ context.Context, operator string) (all [ledger.Partitions]uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, run := range b.of(operator) {
		all[p] = uint64(len(run))
	}
	return all, nil
}

func (b *books) Transfer(ctx context.Context, t ledger.Transfer) (ledger.Transfer, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Transfer{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	key := t.Operator + "/" + t.ID
	if old, ok := b.transfers[key]; ok {
		return replay(old, t)
	}
	p := ledger.Player{Operator: t.Operator, ID: t.Player}
	if b.balances[p] == nil {
		b.balances[p] = make(map[money.Currency]money.Units)
	}
	t.Balance, t.State, t.CreateTime = b.balances[p][t.Currency], ledger.Refused, b.now()
	switch {
	case t.Direction == ledger.Withdrawal && t.Amount > t.Balance:
		t.Refusal = ledger.RefusedFunds
	case t.Direction == ledger.Deposit && t.Amount > money.MaxUnits-t.Balance:
		t.Refusal = ledger.RefusedLimit
	case t.Direction == ledger.Withdrawal:
		t.Balance, t.State = t.Balance-t.Amount, ledger.Applied
	default:
		t.Balance, t.State = t.Balance+t.Amount, ledger.Applied
	}
	b.balances[p][t.Currency] = t.Balance
	b.transfers[key] = t
	return t, nil
}

func replay(old, t ledger.Transfer) (ledger.Transfer, error) {
	switch {
	case old.State == ledger.Cancelled:
		return t, reason.New(reason.TransferCancelled, "cancelled")
	case old.Player != t.Player:
		return t, &ledger.TransferReusedError{Field: "playerId"}
	case old.Direction != t.Direction:
		return t, &ledger.TransferReusedError{Field: "direction"}
	case old.Currency != t.Currency:
		return t, &ledger.TransferReusedError{Field: "currency"}
	case old.Amount != t.Amount:
		return t, &ledger.TransferReusedError{Field: "amount"}
	}
	old.Replayed = true
	return old, nil
}

func (b *books) GetTransfer(_ context.Context, operator, id string) (ledger.Transfer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.transfers[operator+"/"+id]
	if !ok {
		return t, ledger.ErrNotFound
	}
	t.Replayed = true
	return t, nil
}

func (b *books) CancelTransfer(_ context.Context, operator, id string) (ledger.Transfer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	key := operator + "/" + id
	t, ok := b.transfers[key]
	if !ok {
		b.transfers[key] = ledger.Transfer{Operator: operator, ID: id, State: ledger.Cancelled, CreateTime: b.now()}
		return b.transfers[key], nil
	}
	t.Replayed = true
	return t, nil
}

func (b *books) Settlements(_ context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	run := b.of(operator)[partition]
	var found []ledger.SettledRound
	for _, e := range run[min(after, uint64(len(run))):] {
		if len(found) < count {
			found = append(found, e.SettledRound)
		}
	}
	return found, uint64(len(run)), nil
}

func (b *books) find(operator string, id ledger.RoundID) *entry {
	for _, e := range b.of(operator)[id.Pair.Partition()] {
		if e.Round == id {
			return e
		}
	}
	return nil
}

func (b *books) Settlement(_ context.Context, operator string, id ledger.RoundID) (ledger.SettledRound, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.find(operator, id); e != nil {
		return e.SettledRound, nil
	}
	return ledger.SettledRound{}, ledger.ErrNotFound
}

func (b *books) Claim(_ context.Context, c ledger.Claim) ([]ledger.SettledRound, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	if c.ID == "reused" {
		return nil, ledger.ErrClaimReused
	}
	key := c.Operator + "/" + c.ID
	if held := b.claims[key]; len(held) > 0 && held[0].LeaseExpire.After(b.now()) {
		return held, nil
	}
	b.token++
	leased, passed := make(map[ledger.Player]bool), make(map[ledger.Player]bool)
	for _, run := range b.of(c.Operator) {
		for _, e := range run {
			switch {
			case e.acked, e.rejected, passed[e.Player], len(b.claims[key]) == c.Max:
			case !leased[e.Player] && e.LeaseExpire.After(b.now()):
				passed[e.Player] = true
			default:
				leased[e.Player] = true
				e.Token, e.LeaseExpire, e.claim = b.token, b.now().Add(c.Lease), key
				e.Attempt++
				b.claims[key] = append(b.claims[key], e.SettledRound)
			}
		}
	}
	return b.claims[key], nil
}

func (b *books) Acknowledge(_ context.Context, operator string, acks []ledger.Ack) ([]ledger.AckResult, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	results := make([]ledger.AckResult, len(acks))
	for i, a := range acks {
		results[i] = b.acknowledge(b.find(operator, a.Round), a)
	}
	return results, nil
}

func (b *books) acknowledge(e *entry, a ledger.Ack) ledger.AckResult {
	switch {
	case e == nil:
		return ledger.AckResult{Status: ledger.AckNotFound}
	case e.acked && e.WalletTransaction == a.WalletTransaction:
		return ledger.AckResult{Status: ledger.AlreadyAcknowledged}
	case e.acked:
		return ledger.AckResult{Status: ledger.Conflict, WalletTransaction: e.WalletTransaction}
	case a.Token != 0 && (a.Token != e.Token || !e.LeaseExpire.After(b.now())):
		return ledger.AckResult{Status: ledger.StaleLease}
	case a.Rejected:
		e.rejected, e.RejectReason = true, a.Reason
	default:
		e.acked, e.WalletTransaction = true, a.WalletTransaction
	}
	e.LeaseExpire = time.Time{}
	return ledger.AckResult{Status: ledger.Acknowledged}
}

func (b *books) Release(_ context.Context, operator, claimID string) (int, error) {
	n, _, err := b.Extend(context.Background(), operator, claimID, -1)
	return n, err
}

func (b *books) Extend(_ context.Context, operator, claimID string, lease time.Duration) (int, time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	players, until := make(map[ledger.Player]bool), b.now().Add(lease)
	for _, run := range b.of(operator) {
		for _, e := range run {
			if e.claim == operator+"/"+claimID && !e.acked && e.LeaseExpire.After(b.now()) {
				players[e.Player], e.LeaseExpire = true, until
			}
		}
	}
	return len(players), until, nil
}

func (b *books) Rejected(_ context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []ledger.SettledRound
	for _, e := range b.of(operator)[partition] {
		if e.rejected && e.Sequence > after && len(found) < count {
			found = append(found, e.SettledRound)
		}
	}
	return found, nil
}

func (b *books) Requeue(_ context.Context, operator string, id ledger.RoundID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	e := b.find(operator, id)
	if e == nil || e.acked {
		return ledger.ErrNotFound
	}
	e.rejected = false
	return nil
}

func (b *books) Digest(_ context.Context, s ledger.DigestSpan) (ledger.Digest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Begin.Year() < 2020 {
		return ledger.Digest{}, ledger.ErrNotFound
	}
	return ledger.Digest{
		First: 7, Count: int64(len(b.of(s.Operator)[s.Partition])), Open: true, Root: sha256.Sum256([]byte("root")),
		Sums: []ledger.DigestSum{{Currency: "FUN", Count: 3, Stake: [2]uint64{1, 5}, Payout: [2]uint64{0, 9}}},
	}, nil
}

// unbooked lists the settlements that are neither acknowledged nor rejected.
func (b *books) unbooked(operator string) (left []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, run := range b.of(operator) {
		for _, e := range run {
			if !e.acked && !e.rejected {
				left = append(left, e.Round.String())
			}
		}
	}
	slices.Sort(left)
	return left
}

func (b *books) Backlog(_ context.Context, operator string) (left ledger.Backlog, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, run := range b.of(operator) {
		for _, e := range run {
			switch {
			case e.rejected:
				left.DeadLetters++
			case !e.acked:
				left.OldestAge = max(left.OldestAge, 90*time.Second)
				if e.claim == "" {
					left.Unclaimed++
				}
			}
		}
	}
	return left, nil
}

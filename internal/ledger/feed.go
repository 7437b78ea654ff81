package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/money"
)

// SettledRound is the end of a round as a wallet learns of it.
type SettledRound struct {
	Round      RoundID
	Sequence   uint64 // from 1, without gaps, per operator and partition
	Player     Player
	BetID      string
	Game       bet.Game
	State      RoundState // Settled or Void
	Currency   money.Currency
	Stake      money.Units
	Payout     money.Units
	SettleTime time.Time
	VoidReason string // why it is Void; empty otherwise

	// Of a claim.
	Token       uint64    // fencing token; only grows for a player
	LeaseExpire time.Time // zero when it was given back
	Attempt     uint32    // from 1; stays at 255, and begins anew when a dead letter is put back

	// Of an acknowledgement.
	WalletTransaction string // empty until acknowledged
	RejectReason      string // of a dead letter
}

// Claim leases players of one operator to a consumer.
type Claim struct {
	Operator string
	ID       string // the caller's; a repeat has the same items while the lease lasts
	Consumer string
	Max      int           // most settlements, 1..500
	Lease    time.Duration // 1 s .. 1 h
}

// AckStatus is what became of one acknowledgement.
type AckStatus uint8

// The statuses of the public contract.
const (
	Acknowledged AckStatus = iota + 1
	AlreadyAcknowledged
	StaleLease
	Conflict
	AckNotFound
)

// Ack says what a wallet did with a settlement.
type Ack struct {
	Round             RoundID
	Token             uint64 // 0: none given, from a reader with a cursor of his own
	WalletTransaction string // 1..64 visible ASCII characters; may be empty when Rejected
	Rejected          bool
	Reason            string // of Rejected, for people; "rejected" where it is empty
}

// AckResult answers an Ack.
type AckResult struct {
	Status            AckStatus
	WalletTransaction string // with Conflict: the one that stands
}

// DigestSpan says what a digest is over: the settlements of an hour or of a
// day of one partition, and of them a run of sequences where Count is not 0.
type DigestSpan struct {
	Operator  string
	Partition int
	Begin     time.Time // UTC, of the hour or day
	Day       bool
	First     uint64
	Count     int64
}

// DigestSum is the sum of one currency. Sums may exceed an amount's bound.
type DigestSum struct {
	Currency      money.Currency
	Count         int64
	Stake, Payout [2]uint64 // high and low half of 128 bits
}

// Digest sums up settlements.
type Digest struct {
	First uint64 // sequence of the first one; 0 when there is none
	Count int64
	Sums  []DigestSum // by currency, ascending
	Root  [32]byte    // Merkle tree hash of RFC 6962
	Open  bool        // more can still come
}

// Backlog is what the wallet of an operator has left to do.
type Backlog struct {
	DeadLetters int64
	Unclaimed   int64 // that nobody has claimed, acknowledged or looked for yet
	// OldestAge is how long ago the oldest settlement ended that is neither
	// acknowledged nor a dead letter, by the clock of the store; 0 when there is none.
	OldestAge time.Duration
}

// ErrClaimReused says that a claim's id was used with another consumer or size.
var ErrClaimReused = errors.New("ledger: claim id reused")

// Feed is what wallets read and acknowledge. Nothing of one operator is ever
// answered to another.
type Feed interface {
	// Settlements returns at most count settlements of a partition after a
	// sequence, in order, with their wallet transactions, and the newest sequence.
	Settlements(ctx context.Context, operator string, partition int, after uint64, count int) ([]SettledRound, uint64, error)

	// Settlement returns one. ErrNotFound: no such round of this operator, or it is open.
	Settlement(ctx context.Context, operator string, id RoundID) (SettledRound, error)

	// Claim leases players, each with the run of its oldest unacknowledged settlements,
	// those of a player in their order. A repeat with the same content has the same
	// items while the lease lasts, and none after it. A player whose oldest is claimed
	// in vain again and again waits longer each time, until that one is a dead letter
	// with the reason "attempts"; the later ones go on, as after a rejected one.
	// Errors: ErrClaimReused.
	Claim(ctx context.Context, c Claim) ([]SettledRound, error)

	// Acknowledge answers each item by itself. A token is good until its player is
	// leased again or given back, whatever the clock says. Without one, whatever is not
	// acknowledged may be, a dead letter too: it reports what was booked.
	Acknowledge(ctx context.Context, operator string, acks []Ack) ([]AckResult, error)

	// Release gives back what a claim still holds, and returns how many players. The
	// claim counts for how long they wait, and never towards a dead letter.
	Release(ctx context.Context, operator, claimID string) (int, error)

	// Extend sets a new end of what a claim still holds, and returns how many players.
	Extend(ctx context.Context, operator, claimID string, lease time.Duration) (int, time.Time, error)

	// Rejected returns at most count dead letters of a partition after a sequence.
	Rejected(ctx context.Context, operator string, partition int, after uint64, count int) ([]SettledRound, error)

	// Requeue makes a dead letter claimable again, before all later settlements of its
	// player but those that are leased at that moment. One that waits to be acknowledged
	// stays as it is: it may be a repeat. ErrNotFound: it was acknowledged, or is none.
	Requeue(ctx context.Context, operator string, id RoundID) error

	// Digest sums up settlements. ErrNotFound: older than what is kept.
	Digest(ctx context.Context, span DigestSpan) (Digest, error)
}

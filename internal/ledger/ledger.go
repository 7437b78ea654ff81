// Package ledger holds the seed pairs, balances and rounds of players: types,
// rules and the Store that keeps them. It must never import a service, and
// never a driver of a store.
package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// PairState is where a seed pair stands. It only ever grows.
type PairState uint8

// The states of a pair.
const (
	Committed PairState = iota + 1 // announced, not yet chosen by the player
	Active                         // bets are placed with it
	Retired                        // no new bets; a round of it is open
	Revealed                       // its server seed is public
	Unused                         // announced, never active, server seed public
)

// Cause is why a pair ended.
type Cause string

// The causes of the public contract.
const (
	CauseRotated       Cause = "ROTATED"
	CauseSupport       Cause = "SUPPORT"
	CauseStoreReplaced Cause = "STORE_REPLACED"
	CauseExhausted     Cause = "EXHAUSTED"
)

// Announced is a seed pair that was committed to and not yet activated.
type Announced struct {
	ID     PairID
	Sealed []byte // sealed server seed, at most 64 bytes
}

// SeedPair is a pair that is, or was, active, or ended unused.
type SeedPair struct {
	ID         PairID
	Player     Player
	State      PairState
	Sealed     []byte
	ClientSeed rng.ClientSeed // empty when Unused
	Nonce      uint32         // of the next bet
	Open       []uint32       // nonces of open rounds
	Previous   PairID         // the player's pair before this one; empty for the first
	Next       PairID         // the pair announced when this one was activated
	Cause      Cause          // empty until it ended
	Detail     string         // who revealed and why, for Support
	CreateTime time.Time
	RevealTime time.Time // zero until revealed
}

// RoundState is where a round stands.
type RoundState uint8

// The states of a round.
const (
	Open RoundState = iota + 1
	Settled
	Void
)

// Round is one bet as the store keeps it. The outcome is not kept: it follows
// from the pair and the nonce.
type Round struct {
	ID         RoundID
	BetID      string
	State      RoundState
	Bet        bet.Bet
	Currency   money.Currency
	Stake      money.Units
	Payout     money.Units // 0 while Open
	MaxPicks   uint8       // mines only
	Picks      []uint8     // mines only, in their order
	CreateTime time.Time
	SettleTime time.Time // zero while Open
}

// Account is a player as he stands.
type Account struct {
	Active    *SeedPair // nil when the next bet needs a rotation first
	Announced Announced
	Balances  map[money.Currency]money.Units
}

// Grant is an amount that a player receives once, when he is created.
type Grant struct {
	Currency money.Currency
	Amount   money.Units
}

// Rotation is a player's request to activate the announced pair.
type Rotation struct {
	Player     Player
	Announced  PairID // the pair whose commitment the player was shown
	ClientSeed rng.ClientSeed
	Offer      Announced // announced next
}

// Rotated is the answer to a rotation, the same for every repeat of it.
type Rotated struct {
	Previous  *SeedPair // the pair before; nil when there was none
	Active    SeedPair
	Announced Announced
}

// Draw is a bet to be taken.
type Draw struct {
	Player    Player
	Pair      PairID
	BetID     string
	Bet       bet.Bet
	Currency  money.Currency
	Stake     money.Units
	WorstCase money.Units // greatest payout, held against the balance cap
	MaxPicks  uint8       // mines only
	// Decided settles an instant round in the same step, if it gets the nonce
	// that this was decided for; with any other nonce the round is left open.
	Decided *Decided
	// Refusal refuses the bet once its pair is found to be good and its id to
	// be new, so that a repeat of an older bet is answered first. Nil to take it.
	Refusal error
}

// Decided is what an instant round comes to with one nonce of its pair.
type Decided struct {
	Nonce  uint32
	Payout money.Units // 0 to the worst case
}

// Drawn is a bet that was taken, now or by an earlier call with the same id.
type Drawn struct {
	Round Round
	// Pair is zero when this call has settled the round as it was decided: who
	// decided it knows the pair.
	Pair    SeedPair
	Balance money.Units // of the stake's currency
}

// Settlement ends a round.
type Settlement struct {
	Player    Player
	Round     RoundID
	Currency  money.Currency
	State     RoundState // Settled or Void
	Payout    money.Units
	WorstCase money.Units // as it was drawn
	Before    []uint8     // mines: the picks that the decision was made on
	Picks     []uint8     // mines: the picks to store, Before or one more
}

// Loaded is a round with what is needed to derive its outcome.
type Loaded struct {
	Round   Round
	Pair    SeedPair
	Balance money.Units // of the stake's currency
}

// OpenRound is a round that a sweeper may have to finish.
type OpenRound struct {
	ID         RoundID
	CreateTime time.Time
}

// OutboxEntry is one settlement in the order of its operator and partition.
type OutboxEntry struct {
	Sequence uint64 // from 1, without gaps
	Round    RoundID
}

// Errors that a caller acts on. Refusals that go to the client as they are
// come as *reason.Error.
var (
	ErrNotFound     = errors.New("ledger: not found")
	ErrPicksChanged = errors.New("ledger: the picks of the round have changed")
	ErrInterrupted  = errors.New("ledger: the store was replaced during the round")
	ErrNoPair       = errors.New("ledger: the player has no such pair")
)

// ChangedError says that a pair takes no more bets.
type ChangedError struct{ Cause Cause }

// Error names the cause.
func (e *ChangedError) Error() string { return "ledger: seed pair ended: " + string(e.Cause) }

// StaleError says that the announced pair was activated by another rotation.
type StaleError struct{ Pair PairID }

// Error names the pair.
func (e *StaleError) Error() string {
	return "ledger: commitment already activated as " + string(e.Pair)
}

// RoundOpenError says that a mines round is undecided.
type RoundOpenError struct {
	Round RoundID
	Nonce uint32 // of Draw only: the one that the refused bet would have had
}

// Error names the round.
func (e *RoundOpenError) Error() string { return "ledger: round open: " + e.Round.String() }

// Store keeps players. Each method is one atomic step, may be repeated with
// the same arguments whatever became of an earlier call, and reports a store
// that cannot be reached, or may not have answered, as reason.StoreUnavailable.
type Store interface {
	// Open returns the player, whom it creates, with the grant, if he is new.
	// Where the store was replaced since the player's commitment was made, it
	// retires the active and the announced pair and announces offer; otherwise
	// offer is only used for a new player.
	Open(ctx context.Context, p Player, offer Announced, grant []Grant) (Account, error)

	// Rotate activates the announced pair. The pair before is retired, and
	// revealed if no round of it is open. Errors: ChangedError (store replaced, or the
	// announced pair ended unused), StaleError (the client seed is burnt), RoundOpenError,
	// ErrNoPair (no such commitment was shown to this player), and the reason CLIENT_SEED_USED.
	Rotate(ctx context.Context, r Rotation) (Rotated, error)

	// Draw takes a bet: it locks the stake, takes the nonce and writes the
	// round. Errors: ChangedError, ErrNoPair (not a pair of this player), RoundOpenError (mines),
	// d.Refusal, and the reasons BET_ID_REUSED, INSUFFICIENT_FUNDS (with metadata balance), BALANCE_LIMIT.
	// Refusals carry the metadata nonce. At the nonce cap the pair is retired and the error is ChangedError{Exhausted}.
	Draw(ctx context.Context, d Draw) (Drawn, error)

	// Advance stores a safe pick: picks is the stored list and one more. A list that is
	// already stored is answered with the round. Errors: ErrPicksChanged, ErrInterrupted, ErrNotFound.
	Advance(ctx context.Context, p Player, id RoundID, picks []uint8) (Loaded, error)

	// Settle ends a round, credits the payout, appends to the outbox, and
	// reveals a retired pair whose last open round this was. A round that has
	// ended is answered as it is. Errors: ErrPicksChanged, ErrInterrupted (a settlement by a new pick), ErrNotFound.
	Settle(ctx context.Context, s Settlement) (Loaded, error)

	// Retire ends an active pair by support. Errors: RoundOpenError, ErrNoPair.
	Retire(ctx context.Context, p Player, pair PairID, detail string) (SeedPair, error)

	// Load returns a round with its pair. The owner is not checked here.
	Load(ctx context.Context, id RoundID) (Loaded, error)

	// Rounds returns the rounds of a pair with first <= nonce < first+count, ascending.
	Rounds(ctx context.Context, pair PairID, first uint32, count int) ([]Round, error)

	// SeedPair returns one pair that is or was active, or ended unused.
	SeedPair(ctx context.Context, id PairID) (SeedPair, error)

	// SeedPairs returns at most count pairs of the player, newest first, from
	// the pair from on, or from the newest when from is empty. ErrNotFound: no
	// such player, or from is not a pair of his.
	SeedPairs(ctx context.Context, p Player, from PairID, count int) ([]SeedPair, error)

	// Balances returns the player's balances. ErrNotFound: no such player.
	Balances(ctx context.Context, p Player) (map[money.Currency]money.Units, error)

	// OpenRounds returns at most count open rounds of the partition, oldest
	// first, after the skip oldest.
	OpenRounds(ctx context.Context, partition, skip, count int) ([]OpenRound, error)

	// Outbox returns at most count settlements after a sequence.
	Outbox(ctx context.Context, operator string, partition int, after uint64, count int) ([]OutboxEntry, error)

	// Now returns the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

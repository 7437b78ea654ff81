package ledger

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/money"
)

// CrashBook returns the book that a player's bets at a crash table are written
// in. It looks like the id of a seed pair and holds rounds like one, so that
// settlements, the feed and GetRound need not tell them apart; its 80 bits are
// the first of SHA-256("crash-book" 0 operator 0 player 0 table).
func CrashBook(p Player, table string) PairID {
	sum := sha256.Sum256([]byte("crash-book\x00" + p.Operator + "\x00" + p.ID + "\x00" + table))
	return PairIDFromBytes(p.Partition(), [10]byte(sum[:10]))
}

// CrashBookGap is how many counts of a book are left out after a loss of the store.
const CrashBookGap = 127

// CrashPhase is where the newest round of a table stands. It only ever grows,
// until the next round is opened.
type CrashPhase uint8

// The phases of a round.
const (
	CrashNone    CrashPhase = iota // no round was ever opened
	CrashBetting                   // bets are taken
	CrashClosing                   // locked: its bets are fixed
	CrashRunning
	CrashCrashed // it has its crash point; bets are being settled
	CrashFinal   // every bet is settled, or given back
)

// CrashRound is one round of a table. Times are microseconds since 1970 by the
// store's clock, 0 before they come.
type CrashRound struct {
	Number   uint32 // from 1; 0 for none
	Phase    CrashPhase
	Beacon   uint64 // round of the beacon, named when it was opened; 0 for none
	BeaconUs int64  // when that round is published; 0 for none, and in the history
	OpenUs   int64
	LockUs   int64 // planned when it was opened; then when it was locked
	StartUs  int64
	CrashUs  int64
	PointE2  uint32 // hundredths; 0 before it crashed, and of a void round
	BetCount uint32 // 0 before it is final
	Void     string // why it has no outcome; empty otherwise
	// Signature is that of the named round of the beacon, once it was published
	// and verified.
	Signature []byte
}

// Reasons of a void round.
const (
	CrashVoidStore  = bet.VoidStoreReplaced
	CrashVoidOwner  = bet.VoidNoOwner
	CrashVoidBeacon = bet.VoidBeacon
)

// CrashState is a table as the store has it at one moment.
type CrashState struct {
	Round CrashRound // the newest
	// Life names the life of the store; RoundLife the one in which the round
	// was opened. Where they differ, writes may have been lost since.
	Life, RoundLife string
	Mask            string // secret of the house, by which watchers see players of this round
	LastEvent       uint64
	NowUs           int64
}

// Replaced reports whether writes may have been lost since the round was opened.
func (s CrashState) Replaced() bool { return s.Round.Number > 0 && s.Life != s.RoundLife }

// CrashLease says who owns a table. Beats grows while the owner is alive.
type CrashLease struct {
	Epoch, Beats uint64
	Owner        string // empty when it was given up
	Address      string // where other processes reach the owner; empty for nowhere
	Number       uint32 // the owner's running round at the last beat; 0 for none
	ElapsedUs    int64  // how far it was
}

// CrashOwner is a hold on a table. What it writes is refused once another has
// taken the table, or the store was replaced.
type CrashOwner struct {
	Table, Owner string
	Epoch        uint64
	Life         string // of the store, as the owner found it
}

// CrashOpening opens a round. It is the round's one opening record.
type CrashOpening struct {
	Number    uint32 // above every number that was ever opened
	Skipped   uint32 // rounds just below Number that will never be played
	Beacon    CrashBeacon
	BettingUs int64 // until the planned lock
	Mask      string
}

// CrashBeacon is the calendar of a beacon: round R of it is published at
// GenesisUs + (R-1) * PeriodUs. Both are whole seconds, in microseconds since
// 1970. The opening names the smallest R that is published a second after the
// planned lock or later. The zero value is no beacon.
type CrashBeacon struct {
	GenesisUs, PeriodUs int64
}

// CrashBet is a bet of a round as its owner needs it.
type CrashBet struct {
	ID       RoundID // in the player's book
	Player   Player
	BetID    string
	Bet      bet.CrashBet
	Currency money.Currency
	Stake    money.Units
}

// WorstCase returns what the bet pays at its target.
func (b CrashBet) WorstCase() (money.Units, error) {
	return bet.Bet{Game: bet.Crash, Crash: b.Bet}.WorstCase(b.Stake, 0)
}

// CrashPlacement is a bet to be taken.
type CrashPlacement struct {
	Table      string
	Player     Player
	BetID      string
	Target     crash.Bet
	Currency   money.Currency
	Stake      money.Units
	WorstCase  money.Units
	RoundLimit money.Units // most that all bets of a round may pay in this currency
	LastNumber uint32      // the last round that the table's chain has
	// Refusal refuses the bet once its id is found to be new. Nil to take it.
	Refusal error
}

// CrashTaken is a bet with the balance of its currency at the time of the answer.
type CrashTaken struct {
	Table   string
	Player  Player
	Round   Round
	Balance money.Units
}

// CrashSettlement ends a bet. CashOutE2 0 is a loss, or with Void a refund.
type CrashSettlement struct {
	Bet       CrashBet
	CashOutE2 uint32
	Void      string // why the stake is given back; empty otherwise
}

// CrashBets is what a closed partition holds.
type CrashBets struct {
	Bets    []CrashBet // of the round that was closed
	Numbers []uint32   // of other rounds at or below it that have unsettled bets
	Settled int        // bets of the round that are settled already
	// Newest is the round that was opened last in the partition. It is above that
	// which was closed where the home of the table alone has lost writes.
	Newest uint32
}

// CrashVoid is a run of rounds that were never played.
type CrashVoid struct {
	First, Last uint32
	TimeUs      int64 // when that was decided
	Reason      string
}

// CrashTotals sums up the bets of the round that takes bets.
type CrashTotals struct {
	Number uint32
	Count  int
	Stakes map[money.Currency]money.Units
	Worst  map[money.Currency]money.Units
}

// Errors of a table's owner and of its players.
var (
	// ErrCrashFenced: another process has taken the table.
	ErrCrashFenced = errors.New("ledger: another owner has taken the table")
	// ErrCrashReplaced: the store is not the one that the owner found.
	ErrCrashReplaced = errors.New("ledger: the store was replaced under the table's owner")
	// ErrCrashHeld: the lease is not as it was seen, so that it was not taken.
	ErrCrashHeld = errors.New("ledger: the table's lease has moved on")
	// ErrCrashLate: the round was not locked before its beacon was published.
	ErrCrashLate = errors.New("ledger: the beacon was published before the round was locked")
	// ErrCrashStep: the round is not where a step begins.
	ErrCrashStep = errors.New("ledger: the table's round is elsewhere")
	// ErrBook: the id is that of a crash book, and not of a seed pair.
	ErrBook = errors.New("ledger: a book of crash bets, not a seed pair")
)

// CrashStore keeps crash tables. Each method may be repeated, and reports a
// store that may not have answered as reason.StoreUnavailable.
//
// The methods with a CrashOwner are refused with ErrCrashFenced once another
// owner has taken the table, those at the table's home also with
// ErrCrashReplaced.
type CrashStore interface {
	// CrashLease returns the lease; zero when there was never one.
	CrashLease(ctx context.Context, table string) (CrashLease, error)
	// TakeCrashTable takes the lease, if it is as it was seen. Errors: ErrCrashHeld.
	TakeCrashTable(ctx context.Context, table string, seen CrashLease, owner, address string) (CrashOwner, error)
	// BeatCrashTable shows that the owner is alive, and how far its round is.
	BeatCrashTable(ctx context.Context, o CrashOwner, number uint32, elapsedUs int64) error
	// LeaveCrashTable gives the lease up.
	LeaveCrashTable(ctx context.Context, o CrashOwner) error

	// CrashState returns the table.
	CrashState(ctx context.Context, table string) (CrashState, error)
	// OpenCrashRound opens a round; the one before must be final. Errors: ErrCrashStep.
	OpenCrashRound(ctx context.Context, o CrashOwner, r CrashOpening) (CrashState, error)
	// LockCrashRound ends betting for the table. Each partition is to be closed before, so that no bet that has found
	// the round comes after the lock. Errors: ErrCrashLate, when the beacon that the round named may be known already.
	LockCrashRound(ctx context.Context, o CrashOwner, number uint32) (CrashState, error)
	// KeepCrashBeacon keeps the signature of the beacon's round that the newest round named. The first stays.
	KeepCrashBeacon(ctx context.Context, o CrashOwner, number uint32, signature []byte) (CrashState, error)
	// StartCrashRound starts a locked round now.
	StartCrashRound(ctx context.Context, o CrashOwner, number uint32) (CrashState, error)
	// EndCrashRound gives a running round, or one that was locked and is not to run any more, its crash point. That
	// it was locked may be lost, and known from partitions where a later round was opened.
	EndCrashRound(ctx context.Context, o CrashOwner, number, pointE2 uint32) (CrashState, error)
	// SkipCrashRounds lists every round above the newest, which must be final, up to the last as void.
	SkipCrashRounds(ctx context.Context, o CrashOwner, last uint32, void string) (CrashState, error)
	// FinishCrashRound makes a round final. A reason makes it void: only one that has not crashed.
	FinishCrashRound(ctx context.Context, o CrashOwner, number, bets uint32, void string) (CrashState, error)

	// OpenCrashPartition lets a partition take bets for a round. Bets that were queued enter it.
	OpenCrashPartition(ctx context.Context, o CrashOwner, partition int, number uint32) error
	// CloseCrashPartition ends that for good, and returns the bets. From then on bets find the next round once this
	// one is locked.
	CloseCrashPartition(ctx context.Context, o CrashOwner, partition int, number uint32) (CrashBets, error)
	// OpenCrashBets returns the unsettled bets of a round in one partition.
	OpenCrashBets(ctx context.Context, table string, partition int, number uint32) ([]CrashBet, error)
	// SettleCrashBets ends bets of one partition. Each is ended once: one that had ended is returned as
	// it is. The answer has an entry for each, whose round has no id when there is no such bet.
	SettleCrashBets(ctx context.Context, o CrashOwner, partition int, bets []CrashSettlement) ([]CrashTaken, error)

	// PlaceCrashBet takes a bet for the round that takes bets, else for the next. Errors: p.Refusal, and the
	// reasons BETTING_CLOSED, BET_ID_REUSED, BET_ALREADY_PLACED, INSUFFICIENT_FUNDS, BALANCE_LIMIT, LIMIT_EXCEEDED.
	PlaceCrashBet(ctx context.Context, p CrashPlacement) (CrashTaken, error)
	// CancelCrashBet gives a stake back. Errors: ErrNotFound, and the reason BETTING_CLOSED.
	CancelCrashBet(ctx context.Context, table string, p Player, betID string) (CrashTaken, error)
	// FindCrashBet returns the player's newest bet with this id. ErrNotFound.
	FindCrashBet(ctx context.Context, table string, p Player, betID string) (CrashTaken, error)
	// LoadCrashBet returns a bet by its id. The owner is not checked here. ErrNotFound.
	LoadCrashBet(ctx context.Context, id RoundID) (CrashTaken, error)
	// CrashBookLength returns the count that the next bet of the player's book at a
	// table has at least. The newest bet has the count before it. After a loss of the
	// store CrashBookGap counts are left out, so that no bet gets the id of one of so
	// many that were lost.
	CrashBookLength(ctx context.Context, table string, p Player) (uint32, error)
	// OpenCrashBook returns the counts of the bets in the player's book at a table that have not ended, ascending.
	OpenCrashBook(ctx context.Context, table string, p Player) ([]uint32, error)
	// Rounds returns the bets of a book, as it does the rounds of a pair.
	Rounds(ctx context.Context, book PairID, first uint32, count int) ([]Round, error)

	// CrashTotals sums up the bets of the round that takes bets, or will next.
	CrashTotals(ctx context.Context, table string) (CrashTotals, error)
	// CrashRounds returns the final rounds first..last of the table that were played, ascending.
	CrashRounds(ctx context.Context, table string, first, last uint32) ([]CrashRound, error)
	// CrashVoids returns the runs of skipped rounds that touch first..last, ascending.
	CrashVoids(ctx context.Context, table string, first, last uint32) ([]CrashVoid, error)

	// PublishCrash appends events and returns the number of the last. Beside them, each step but that which makes
	// a played round final appends itself: the two can not be parted.
	PublishCrash(ctx context.Context, o CrashOwner, events [][]byte) (uint64, error)
	// CrashEvents returns events after a number, and waits a second when there is none.
	CrashEvents(ctx context.Context, table string, after uint64) ([]CrashEvent, error)
}

// CrashEvent is one numbered event of a table: what its owner published, or a
// step of its round. Numbers grow by one. After the store was replaced they go
// on elsewhere, above or below, and events of the life before are gone.
type CrashEvent struct {
	Number  uint64
	Encoded []byte      // as it was published; nil for a step
	Step    *CrashState // the table after the step, without its Life and Mask; nil for what was published
	Crash   bool        // the step is shown twice, first as the crash of the round, then as its new phase
}

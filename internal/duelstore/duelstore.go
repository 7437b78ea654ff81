// Package duelstore keeps duels in Redis: a single node, Sentinel or Cluster.
// It must never import a service, a game's rules, or anything that opens a
// server seed.
//
// Each step is one script, scripts/*.lua, in the slot of one partition;
// scripts/prelude.lua says what the keys hold and what time alone does to a
// duel. Time is that of Redis. Every step is idempotent and none is repeated by
// the driver: a caller repeats it, and the script finds what the first call
// left. Every step answers with the whole record as it then stands, refusals
// too, and what it answers with is written before.
//
// A duel that has ended is kept as long as its creation says, and then it and
// its request id are gone. One that has not ended is never gone by time.
package duelstore

import (
	"encoding/base32"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// Partitions is the number of partitions that duels are spread over, by the
// operator and its request id.
const Partitions = ledger.Partitions

// ID names a duel: two digits of the partition, a hyphen and the first 80 bits
// of the commitment in lower-case base32.
type ID string

var (
	idPattern  = regexp.MustCompile(`^([0-5][0-9]|6[0-3])-[a-z2-7]{16}\z`)
	idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// NewID returns the id of the duel that an operator's request makes with this
// commitment.
func NewID(operator, requestID string, commitment [32]byte) ID {
	partition := ledger.Player{Operator: operator, ID: requestID}.Partition()
	return ID(fmt.Sprintf("%02d-%s", partition, idEncoding.EncodeToString(commitment[:10])))
}

// ParseID accepts what NewID made.
func ParseID(s string) (ID, error) {
	if !idPattern.MatchString(s) {
		return "", errors.New("duelstore: not a duel id")
	}
	return ID(s), nil
}

func (id ID) partition() int { return int(id[0]-'0')*10 + int(id[1]-'0') }

// short is what tells a duel from the others of its partition.
func (id ID) short() string { return string(id[3:]) }

// Seat is one side of a duel.
type Seat int

// The seats.
const (
	White Seat = iota
	Black
)

// String returns the word that a seat hashes: white or black.
func (s Seat) String() string { return [...]string{"white", "black"}[s] }

// ParseSeat reads what String wrote; false for anything else.
func ParseSeat(text string) (Seat, bool) {
	switch text {
	case "white":
		return White, true
	case "black":
		return Black, true
	}
	return 0, false
}

// Mode is how the seats bring their client seeds.
type Mode string

// The modes.
const (
	Committed Mode = "c" // a hash first, no fallback
	Plain     Mode = "p" // in clear, with a fallback
)

// State is where a duel stands.
type State int

// The states, in the order in which a duel can pass them.
const (
	Committing State = iota + 1
	Seeding
	Ready
	Playing
	Ended
	Forfeited
	Void
)

// Over reports whether the state is a last one.
func (s State) Over() bool { return s >= Ended }

// Cause is why a duel ended.
type Cause string

// The causes.
const (
	ByGameServer  Cause = "S"
	ByGrace       Cause = "G" // a seat was silent
	ByExpiry      Cause = "X" // nobody did anything
	StoreReplaced Cause = "T" // steps may have been lost
)

// SealedSize is the length of a sealed server seed in bytes.
const SealedSize = 61

// Side is what is stored of a seat.
type Side struct {
	Player   string
	Present  bool
	Hash     string // of the client seed, 64 hex digits; empty until it was sent
	Seed     string // the seat's own client seed; empty until it was accepted
	Forfeits bool

	SealedFallback []byte // plain mode
	FallbackHash   []byte // 32 bytes; plain mode
}

// Duel is the record of a duel.
type Duel struct {
	ID         ID
	Operator   string
	Mode       Mode
	Sealed     []byte // server seed
	Commitment [32]byte
	Sides      [2]Side // White, Black

	Grace, Expiry  time.Duration
	CreateTime     time.Time
	Deadline       time.Time // of the grace period that runs; zero when none does
	LastActionTime time.Time
	EndTime        time.Time // zero until it ended

	State   State
	Fixed   bool // both effective client seeds are fixed
	Rolls   uint32
	Cause   Cause // empty until it ended
	Version uint32
}

// ExpireTime is when the duel counts as abandoned if nothing happens.
func (d *Duel) ExpireTime() time.Time { return d.LastActionTime.Add(d.Expiry) }

// Refusal is why a step was not taken. It comes with the record, unless it is
// NotFound.
type Refusal string

// The refusals, which the scripts answer with.
const (
	NotFound     Refusal = "NONE"     // no such duel of this caller
	Reused       Refusal = "REUSED"   // the request id belongs to other content
	OtherSeat    Refusal = "SEAT"     // the seat is the other player's
	NoHashes     Refusal = "MODE"     // plain mode takes no hash
	HashSet      Refusal = "HASHSET"  // another hash is there
	HashLate     Refusal = "HASHLATE" // the time for hashes is over
	HashRequired Refusal = "HASHES"   // not both hashes are there
	Mismatch     Refusal = "MISMATCH" // the seed is not the one that was hashed
	Form         Refusal = "FORM"     // committed mode wants 64 lower-case hex digits
	SeedSet      Refusal = "SEEDSET"  // another seed is there
	SeedLate     Refusal = "SEEDLATE" // the time for seeds is over
	NoSeeds      Refusal = "SEEDS"    // not both seeds are there
	Order        Refusal = "ORDER"    // another ply comes next
	Over         Refusal = "OVER"     // the duel has ended
)

var refusals = map[Refusal]bool{
	NotFound: true, Reused: true, OtherSeat: true, NoHashes: true, HashSet: true, HashLate: true, HashRequired: true,
	Mismatch: true, Form: true, SeedSet: true, SeedLate: true, NoSeeds: true, Order: true, Over: true,
}

// Error returns the word of the refusal.
func (r Refusal) Error() string { return "duelstore: refused: " + string(r) }

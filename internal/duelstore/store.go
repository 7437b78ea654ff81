package duelstore

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/prelude.lua
	prelude string
	//go:embed scripts/create.lua
	createText string
	//go:embed scripts/look.lua
	lookText string
	//go:embed scripts/commit.lua
	commitText string
	//go:embed scripts/seed.lua
	seedText string
	//go:embed scripts/roll.lua
	rollText string
	//go:embed scripts/finish.lua
	finishText string
	//go:embed scripts/due.lua
	dueText string

	createScript = redisscript.New("duel_create", prelude, createText)
	lookScript   = redisscript.New("duel_look", prelude, lookText)
	commitScript = redisscript.New("duel_commit", prelude, commitText)
	seedScript   = redisscript.New("duel_seed", prelude, seedText)
	rollScript   = redisscript.New("duel_roll", prelude, rollText)
	finishScript = redisscript.New("duel_finish", prelude, finishText)
	dueScript    = redisscript.New("duel_due", prelude, dueText)
)

// Store keeps duels in Redis. It is safe for concurrent use.
//
// Every method that returns a Duel returns it with a Refusal, too, but for
// NotFound. Other errors are STORE_UNAVAILABLE, after which the step may have
// been taken, and errors of broken data.
type Store struct {
	client redis.UniversalClient
	runner *redisscript.Runner
}

// New returns a Store on a client, which redisledger.Dial should have made: it
// must never repeat a command. onCall, which may be nil, is told of every call.
func New(client redis.UniversalClient, onCall func(script string, took time.Duration, err error)) *Store {
	return &Store{client, redisscript.NewRunner(client, onCall)}
}

// Creation is a new duel. Its fields are valid.
type Creation struct {
	ID            ID
	Operator      string
	RequestID     string
	White, Black  string
	Mode          Mode
	Grace, Expiry time.Duration // whole milliseconds
	Retention     time.Duration // how long it is kept after its end; whole milliseconds
	Sealed        []byte        // server seed
	Commitment    [32]byte

	// Plain mode alone; White, Black.
	SealedFallbacks [2][]byte
	FallbackHashes  [2][32]byte
}

// Create makes a duel, or returns the one that the request made before.
// Refusals: Reused.
func (s *Store) Create(ctx context.Context, c Creation) (Duel, error) {
	args := []any{
		c.ID.short(), c.Operator, c.RequestID, c.White, c.Black, string(c.Mode),
		millis(c.Grace), millis(c.Expiry), millis(c.Retention), c.Sealed, c.Commitment[:],
	}
	if c.Mode == Plain {
		args = append(args, c.SealedFallbacks[White], c.SealedFallbacks[Black], c.FallbackHashes[White][:], c.FallbackHashes[Black][:])
	}
	return s.step(ctx, createScript, c.ID, args...)
}

// Caller is who asks.
type Caller struct {
	Operator string // empty for anybody, who then is no player either
	Player   string // empty for the operator's game server
}

// Look returns a duel. A player who looks is present from then on. Refusals:
// NotFound.
func (s *Store) Look(ctx context.Context, id ID, c Caller) (Duel, error) {
	return s.step(ctx, lookScript, id, id.short(), c.Operator, c.Player)
}

// Commit takes the hash of a seat's client seed, 64 lower-case hex digits.
// Refusals: NotFound, OtherSeat, NoHashes, HashSet, HashLate, Over.
func (s *Store) Commit(ctx context.Context, id ID, c Caller, seat Seat, hash string) (Duel, error) {
	return s.step(ctx, commitScript, id, id.short(), c.Operator, c.Player, letter(seat), hash)
}

// Opening is a client seed with what a seat must have committed to.
type Opening struct {
	Seed  string
	Hash  string // by which a seat commits to it
	IsHex bool   // it is 64 lower-case hex digits
}

// Seed takes a seat's client seed. Refusals: NotFound, OtherSeat, SeedSet,
// SeedLate, Over, HashRequired, Form, Mismatch.
func (s *Store) Seed(ctx context.Context, id ID, c Caller, seat Seat, o Opening) (Duel, error) {
	hex := "0"
	if o.IsHex {
		hex = "1"
	}
	return s.step(ctx, seedScript, id, id.short(), c.Operator, c.Player, letter(seat), o.Seed, o.Hash, hex)
}

// Roll takes the next ply, or finds one that was taken: without an error the
// duel has more Rolls than ply. Refusals: NotFound, Over, NoSeeds, Order.
func (s *Store) Roll(ctx context.Context, id ID, operator string, ply uint32) (Duel, error) {
	return s.step(ctx, rollScript, id, id.short(), operator, strconv.FormatUint(uint64(ply), 10))
}

// End ends a duel that has not ended. Refusals: NotFound.
func (s *Store) End(ctx context.Context, id ID, operator string) (Duel, error) {
	return s.step(ctx, finishScript, id, id.short(), operator)
}

// Due are duels of a partition that wait for a Look.
type Due struct {
	Life string // of the store
	Open int    // unended duels of the partition
	IDs  []ID
	All  bool // IDs are of all that are unended: the store is not the one of before
}

// Due returns duels of a partition for which something is due, from an offset
// on; all unended ones when the store is not the one whose life is given.
func (s *Store) Due(ctx context.Context, partition int, life string, offset, count int) (Due, error) {
	r, err := s.run(ctx, dueScript, tag(partition)+":do", life, offset, count)
	if err != nil {
		return Due{}, err
	}
	d := Due{Life: r.text(1), All: r.text(1) != life}
	if d.Open, err = strconv.Atoi(r.text(2)); err != nil {
		return Due{}, fmt.Errorf("duelstore: %s: %w", dueScript.Name(), err)
	}
	ids := r.list(3)
	for i := range ids {
		id, err := ParseID(fmt.Sprintf("%02d-%s", partition, ids.text(i)))
		if err != nil {
			return Due{}, err
		}
		d.IDs = append(d.IDs, id)
	}
	return d, nil
}

func (s *Store) run(ctx context.Context, sc *redisscript.Script, key string, args ...any) (reply, error) {
	return s.runner.Run(ctx, sc, []string{key}, args...)
}

func (s *Store) step(ctx context.Context, sc *redisscript.Script, id ID, args ...any) (Duel, error) {
	r, err := s.run(ctx, sc, tag(id.partition())+":d:"+id.short(), args...)
	if err != nil {
		return Duel{}, err
	}
	refusal := Refusal(r.text(0))
	if refusal == NotFound {
		return Duel{}, NotFound
	}
	if refusal != "OK" && !refusals[refusal] {
		return Duel{}, fmt.Errorf("duelstore: %s: unexpected answer %q", sc.Name(), r.text(0))
	}
	d, err := parseDuel(id.partition(), r.text(1), r.fields(2))
	if err != nil {
		return Duel{}, fmt.Errorf("duelstore: %s: duel %s: %w", sc.Name(), id, err)
	}
	if refusal != "OK" {
		return d, refusal
	}
	return d, nil
}

// tag is the hash tag of a partition's keys.
func tag(partition int) string { return "{p" + strconv.Itoa(partition) + "}" }

func letter(s Seat) string { return s.String()[:1] }

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

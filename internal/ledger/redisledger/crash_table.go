package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/redisscript"
)

// homeKey returns a key at the home of a table, whose hash tag is not that of
// any partition.
func homeKey(table, kind string) string { return "{c:" + table + "}:" + kind }

var errCrash = errors.New("redisledger: not the record of a crash table")

// CrashLease implements ledger.CrashStore.
func (s *Store) CrashLease(ctx context.Context, table string) (ledger.CrashLease, error) {
	l, _, err := s.lease(ctx, table, "look")
	return l, err
}

// TakeCrashTable implements ledger.CrashStore.
func (s *Store) TakeCrashTable(ctx context.Context, table string, seen ledger.CrashLease, owner, address string) (ledger.CrashOwner, error) {
	l, life, err := s.lease(ctx, table, "take", seen.Epoch, seen.Beats, owner, address)
	return ledger.CrashOwner{Table: table, Owner: owner, Epoch: l.Epoch, Life: life}, err
}

// BeatCrashTable implements ledger.CrashStore.
func (s *Store) BeatCrashTable(ctx context.Context, o ledger.CrashOwner, number uint32, elapsedUs int64) error {
	_, _, err := s.lease(ctx, o.Table, "beat", o.Epoch, o.Owner, elapsedUs, nonceText(number))
	return err
}

// LeaveCrashTable implements ledger.CrashStore.
func (s *Store) LeaveCrashTable(ctx context.Context, o ledger.CrashOwner) error {
	_, _, err := s.lease(ctx, o.Table, "leave", o.Epoch, o.Owner)
	return err
}

func (s *Store) lease(ctx context.Context, table string, args ...any) (ledger.CrashLease, string, error) {
	r, err := s.run(ctx, crashLeaseScript, []string{homeKey(table, "l")}, args...)
	if err != nil {
		return ledger.CrashLease{}, "", err
	}
	if r.word() != "OK" {
		return ledger.CrashLease{}, "", ownerRefusal(crashLeaseScript, r)
	}
	f := r.fields(1)
	p := numbers{f: f}
	l := ledger.CrashLease{
		Epoch: uint64(p.of("e")), Beats: uint64(p.of("c")), Number: uint32(p.of("r")), ElapsedUs: p.of("g"), Owner: f["o"], Address: f["a"],
	}
	return l, r.text(2), p.err
}

// ownerRefusal turns a refusal into the error that an owner acts on.
func ownerRefusal(sc *redisscript.Script, r reply) error {
	switch r.word() {
	case "FENCED":
		return ledger.ErrCrashFenced
	case "REPLACED":
		return ledger.ErrCrashReplaced
	case "HELD":
		return ledger.ErrCrashHeld
	case "LATE":
		return ledger.ErrCrashLate
	case "STEP":
		return ledger.ErrCrashStep
	}
	return r.unexpected(sc)
}

// numbers reads decimal numbers out of fields, 0 where there is none, and keeps
// the first error.
type numbers struct {
	f   map[string]string
	err error
}

func (n *numbers) of(name string) int64 {
	if n.f[name] == "" {
		return 0
	}
	v, err := strconv.ParseInt(n.f[name], 10, 64)
	if err != nil && n.err == nil {
		n.err = fmt.Errorf("%w: %s is %q", errCrash, name, n.f[name])
	}
	return v
}

// CrashState implements ledger.CrashStore.
func (s *Store) CrashState(ctx context.Context, table string) (ledger.CrashState, error) {
	r, err := s.run(ctx, crashStateScript, []string{homeKey(table, "s")})
	if err != nil {
		return ledger.CrashState{}, err
	}
	return parseCrashState(crashStateScript, r)
}

func parseCrashState(sc *redisscript.Script, r reply) (ledger.CrashState, error) {
	if r.word() != "OK" {
		return ledger.CrashState{}, ownerRefusal(sc, r)
	}
	f := r.fields(1)
	f["event"], f["at"] = r.text(3), r.text(4)
	state, err := readCrashState(f)
	state.Life = r.text(2)
	return state, err
}

// readCrashState reads the fields of a table's state.
func readCrashState(f map[string]string) (ledger.CrashState, error) {
	p := numbers{f: f}
	state := ledger.CrashState{
		Round: ledger.CrashRound{
			Number: uint32(p.of("n")), Phase: ledger.CrashPhase(p.of("p")), Beacon: uint64(p.of("b")), BeaconUs: p.of("q"),
			OpenUs: p.of("o"), LockUs: p.of("k"), StartUs: p.of("t"), CrashUs: p.of("c"),
			PointE2: uint32(p.of("z")), BetCount: uint32(p.of("m")), Void: f["v"], Signature: bytesOf(f["w"]),
		},
		RoundLife: f["f"], Mask: f["a"], LastEvent: uint64(p.of("event")), NowUs: p.of("at"),
	}
	return state, p.err
}

// step moves the newest round of a table from one of some phases to another.
func (s *Store) step(ctx context.Context, o ledger.CrashOwner, number uint32, from string, to ledger.CrashPhase, fields ...any) (ledger.CrashState, error) {
	args := append([]any{o.Epoch, o.Owner, o.Life, nonceText(number), from, int(to)}, fields...)
	r, err := s.run(ctx, crashStepScript, []string{homeKey(o.Table, "s")}, args...)
	if err != nil {
		return ledger.CrashState{}, err
	}
	return parseCrashState(crashStepScript, r)
}

// OpenCrashRound implements ledger.CrashStore.
func (s *Store) OpenCrashRound(ctx context.Context, o ledger.CrashOwner, c ledger.CrashOpening) (ledger.CrashState, error) {
	if c.Number <= c.Skipped || strings.ContainsRune(c.Mask, ' ') {
		return ledger.CrashState{}, fmt.Errorf("redisledger: open crash round %d after %d skipped", c.Number, c.Skipped)
	}
	return s.step(ctx, o, c.Number, "5", ledger.CrashBetting, c.Skipped, c.Beacon.GenesisUs, c.Beacon.PeriodUs, c.Mask, c.BettingUs)
}

// LockCrashRound implements ledger.CrashStore.
func (s *Store) LockCrashRound(ctx context.Context, o ledger.CrashOwner, number uint32) (ledger.CrashState, error) {
	return s.step(ctx, o, number, "1", ledger.CrashClosing, "k", "NOW")
}

// KeepCrashBeacon implements ledger.CrashStore.
func (s *Store) KeepCrashBeacon(ctx context.Context, o ledger.CrashOwner, number uint32, signature []byte) (ledger.CrashState, error) {
	r, err := s.run(ctx, crashBeaconScript, []string{homeKey(o.Table, "s")}, o.Epoch, o.Owner, o.Life, nonceText(number), signature)
	if err != nil {
		return ledger.CrashState{}, err
	}
	return parseCrashState(crashBeaconScript, r)
}

// StartCrashRound implements ledger.CrashStore.
func (s *Store) StartCrashRound(ctx context.Context, o ledger.CrashOwner, number uint32) (ledger.CrashState, error) {
	return s.step(ctx, o, number, "2", ledger.CrashRunning, "t", "NOW")
}

// EndCrashRound implements ledger.CrashStore.
func (s *Store) EndCrashRound(ctx context.Context, o ledger.CrashOwner, number, pointE2 uint32) (ledger.CrashState, error) {
	return s.step(ctx, o, number, "123", ledger.CrashCrashed, "c", "NOW", "z", pointE2)
}

// FinishCrashRound implements ledger.CrashStore.
func (s *Store) FinishCrashRound(ctx context.Context, o ledger.CrashOwner, number, bets uint32, void string) (ledger.CrashState, error) {
	if void == "" {
		return s.step(ctx, o, number, "4", ledger.CrashFinal, "m", bets)
	}
	if strings.ContainsRune(void, ' ') {
		return ledger.CrashState{}, fmt.Errorf("redisledger: void with the reason %q", void)
	}
	return s.step(ctx, o, number, "12", ledger.CrashFinal, "m", bets, "v", void)
}

// SkipCrashRounds implements ledger.CrashStore.
func (s *Store) SkipCrashRounds(ctx context.Context, o ledger.CrashOwner, last uint32, void string) (ledger.CrashState, error) {
	if void == "" || strings.ContainsRune(void, ' ') {
		return ledger.CrashState{}, fmt.Errorf("redisledger: skip with the reason %q", void)
	}
	return s.step(ctx, o, last, "5", ledger.CrashFinal, void)
}

// CrashTotals implements ledger.CrashStore.
func (s *Store) CrashTotals(ctx context.Context, table string) (ledger.CrashTotals, error) {
	r, err := s.run(ctx, crashTotalsScript, []string{homeKey(table, "s"), homeKey(table, "x")})
	if err != nil {
		return ledger.CrashTotals{}, err
	}
	p := numbers{f: r.fields(2)}
	number, err := strconv.ParseUint(r.text(1), 10, 32)
	if err != nil {
		return ledger.CrashTotals{}, fmt.Errorf("%w: number: %w", errCrash, err)
	}
	t := ledger.CrashTotals{
		Number: uint32(number), Stakes: make(map[money.Currency]money.Units), Worst: make(map[money.Currency]money.Units),
	}
	prefix := r.text(1) + ":"
	for name := range p.f {
		what, ok := strings.CutPrefix(name, prefix)
		switch {
		case !ok || what == "":
		case what == "n":
			t.Count = int(p.of(name))
		case what[0] == 's':
			t.Stakes[money.Currency(what[1:])] = money.Units(p.of(name))
		case what[0] == 'w':
			t.Worst[money.Currency(what[1:])] = money.Units(p.of(name))
		}
	}
	return t, p.err
}

// CrashRounds implements ledger.CrashStore. It reads one bucket at a time.
func (s *Store) CrashRounds(ctx context.Context, table string, first, last uint32) ([]ledger.CrashRound, error) {
	var rounds []ledger.CrashRound
	for next := uint64(first); next <= uint64(last); {
		r, err := s.history(ctx, table, uint32(next/bucketSize), first)
		if err != nil {
			return nil, err
		}
		stored, signatures := r.fields(1), r.fields(3)
		for stop := min(uint64(last), (next/bucketSize+1)*bucketSize-1); next <= stop; next++ {
			place := strconv.FormatUint(next%bucketSize, 10)
			text, ok := stored[place]
			if !ok {
				continue
			}
			round, err := parseCrashRound(uint32(next), text)
			if err != nil {
				return nil, err
			}
			round.Signature = bytesOf(signatures[place])
			rounds = append(rounds, round)
		}
	}
	return rounds, nil
}

func (s *Store) history(ctx context.Context, table string, bucket, first uint32) (reply, error) {
	n := strconv.FormatUint(uint64(bucket), 10)
	keys := []string{homeKey(table, "h:"+n), homeKey(table, "v"), homeKey(table, "w:"+n)}
	return s.run(ctx, crashHistoryScript, keys, nonceText(first))
}

// bytesOf returns what a field holds; nil when there is none.
func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// parseCrashRound reads "opened locked started crashed beacon point bets
// reason", whose times but the first are differences.
func parseCrashRound(number uint32, text string) (ledger.CrashRound, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 8 {
		return ledger.CrashRound{}, fmt.Errorf("%w: round %d: %q", errCrash, number, text)
	}
	f := make(map[string]string, len(parts))
	for i, part := range parts {
		f[strconv.Itoa(i)] = part
	}
	p := numbers{f: f}
	r := ledger.CrashRound{Number: number, Phase: ledger.CrashFinal, OpenUs: p.of("0"), Beacon: uint64(p.of("4")),
		PointE2: uint32(p.of("5")), BetCount: uint32(p.of("6")), Void: parts[7]}
	r.LockUs = r.OpenUs + p.of("1")
	begun := r.LockUs
	if parts[2] != "" {
		r.StartUs = begun + p.of("2")
		begun = r.StartUs
	}
	if parts[3] != "" {
		r.CrashUs = begun + p.of("3")
	}
	return r, p.err
}

// CrashVoids implements ledger.CrashStore.
func (s *Store) CrashVoids(ctx context.Context, table string, first, last uint32) ([]ledger.CrashVoid, error) {
	r, err := s.history(ctx, table, first/bucketSize, first)
	if err != nil {
		return nil, err
	}
	var voids []ledger.CrashVoid
	list := r.list(2)
	for i := range list {
		parts := strings.Split(list.text(i), " ")
		if len(parts) != 4 {
			return nil, fmt.Errorf("%w: skipped rounds %q", errCrash, list.text(i))
		}
		p := numbers{f: map[string]string{"first": parts[0], "last": parts[1], "time": parts[2]}}
		v := ledger.CrashVoid{First: uint32(p.of("first")), Last: uint32(p.of("last")), TimeUs: p.of("time"), Reason: parts[3]}
		if p.err != nil {
			return nil, p.err
		}
		if v.First <= last {
			voids = append(voids, v)
		}
	}
	return voids, nil
}

// PublishCrash implements ledger.CrashStore.
func (s *Store) PublishCrash(ctx context.Context, o ledger.CrashOwner, events [][]byte) (uint64, error) {
	args := make([]any, 0, 2+len(events))
	args = append(args, o.Epoch, o.Owner)
	for _, e := range events {
		args = append(args, e)
	}
	r, err := s.run(ctx, crashPublishScript, []string{homeKey(o.Table, "e")}, args...)
	if err != nil {
		return 0, err
	}
	if r.word() != "OK" {
		return 0, ownerRefusal(crashPublishScript, r)
	}
	return strconv.ParseUint(r.text(1), 10, 64)
}

// eventWait is how long a reader of events waits for the next one.
const eventWait = time.Second

// CrashEvents implements ledger.CrashStore.
func (s *Store) CrashEvents(ctx context.Context, table string, after uint64) ([]ledger.CrashEvent, error) {
	start := time.Now()
	streams, err := s.client.XRead(ctx, &redis.XReadArgs{
		Streams: []string{homeKey(table, "e"), strconv.FormatUint(after, 10) + "-0"}, Count: 256, Block: eventWait,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	s.onCall("crash_events", time.Since(start), err)
	if err != nil {
		return nil, s.runner.Failed(ctx, "crash_events", err)
	}
	var events []ledger.CrashEvent
	for _, stream := range streams {
		for _, m := range stream.Messages {
			e, err := parseCrashEvent(m)
			if err != nil {
				return nil, fmt.Errorf("event %q: %w", m.ID, err)
			}
			events = append(events, e)
		}
	}
	return events, nil
}

func parseCrashEvent(m redis.XMessage) (ledger.CrashEvent, error) {
	f := make(map[string]string, len(m.Values))
	for name, v := range m.Values {
		f[name], _ = v.(string)
	}
	id, _, _ := strings.Cut(m.ID, "-")
	f["event"] = id
	state, err := readCrashState(f)
	if err != nil {
		return ledger.CrashEvent{}, err
	}
	e := ledger.CrashEvent{Number: state.LastEvent}
	switch encoded, published := f["d"]; {
	case published:
		e.Encoded = []byte(encoded)
	case f["what"] == "phase", f["what"] == "crash":
		e.Step, e.Crash = &state, f["what"] == "crash"
	default:
		return e, errCrash
	}
	return e, nil
}

var _ ledger.CrashStore = (*Store)(nil)

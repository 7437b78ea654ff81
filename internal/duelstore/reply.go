package duelstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// reply is the answer of a script. What is not there reads as empty, and fails
// where something has to be.
type reply []any

func (r reply) text(i int) string {
	if i >= len(r) {
		return ""
	}
	s, _ := r[i].(string)
	return s
}

func (r reply) list(i int) reply {
	if i >= len(r) {
		return nil
	}
	l, _ := r[i].([]any)
	return l
}

// fields reads a list of names and values.
func (r reply) fields(i int) map[string]string {
	list := r.list(i)
	m := make(map[string]string, len(list)/2)
	for j := 0; j+1 < len(list); j += 2 {
		m[list.text(j)] = list.text(j + 1)
	}
	return m
}

var errDuel = errors.New("not the record of a duel")

var endings = map[string]State{"E": Ended, "F": Forfeited, "V": Void}

// parseDuel reads the fields of a duel.
func parseDuel(partition int, short string, f map[string]string) (d Duel, err error) {
	if d.ID, err = ParseID(fmt.Sprintf("%02d-%s", partition, short)); err != nil {
		return d, err
	}
	d.Operator, d.Mode, d.Sealed, d.Fixed, d.Cause = f["o"], Mode(f["m"]), []byte(f["k"]), f["z"] != "", Cause(f["y"])
	if copy(d.Commitment[:], f["c"]) != len(d.Commitment) || len(d.Sealed) != SealedSize {
		return d, errDuel
	}
	for _, s := range []Seat{White, Black} {
		if d.Sides[s], err = parseSide(d.Mode, letter(s), f); err != nil {
			return d, err
		}
	}
	for _, n := range []struct {
		name string
		to   *uint32
	}{{"n", &d.Rolls}, {"v", &d.Version}} {
		v, err := strconv.ParseUint(f[n.name], 10, 32)
		if err != nil {
			return d, err
		}
		*n.to = uint32(v)
	}
	if d.State, err = parseState(f, d); err != nil {
		return d, err
	}
	return d, parseTimes(&d, f)
}

func parseSide(m Mode, seat string, f map[string]string) (Side, error) {
	s := Side{
		Player: f[seat], Present: f["p"+seat] != "", Hash: f["h"+seat], Seed: f["s"+seat],
		Forfeits: strings.Contains(f["i"], seat),
	}
	if m != Plain {
		return s, nil
	}
	s.SealedFallback, s.FallbackHash = []byte(f["f"+seat]), []byte(f["j"+seat])
	if len(s.SealedFallback) != SealedSize || len(s.FallbackHash) != 32 {
		return s, errDuel
	}
	return s, nil
}

// parseState takes the state from what the record has, so that it cannot
// contradict it.
func parseState(f map[string]string, d Duel) (State, error) {
	if f["e"] != "" {
		state, ok := endings[f["e"]]
		if !ok {
			return 0, errDuel
		}
		return state, nil
	}
	switch {
	case d.Rolls > 0:
		return Playing, nil
	case d.Fixed:
		return Ready, nil
	case d.Mode == Committed && (d.Sides[White].Hash == "" || d.Sides[Black].Hash == ""):
		return Committing, nil
	}
	return Seeding, nil
}

func parseTimes(d *Duel, f map[string]string) error {
	for _, t := range []struct {
		name string
		to   *time.Time
	}{{"t", &d.CreateTime}, {"l", &d.LastActionTime}, {"d", &d.Deadline}, {"u", &d.EndTime}} {
		if f[t.name] == "" {
			continue
		}
		ms, err := strconv.ParseInt(f[t.name], 10, 64)
		if err != nil {
			return err
		}
		*t.to = time.UnixMilli(ms).UTC()
	}
	for _, t := range []struct {
		name string
		to   *time.Duration
	}{{"g", &d.Grace}, {"x", &d.Expiry}} {
		ms, err := strconv.ParseInt(f[t.name], 10, 64)
		if err != nil {
			return err
		}
		*t.to = time.Duration(ms) * time.Millisecond
	}
	return nil
}

package duelstore_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/duelstore"
)

// seat is what the model knows of a seat.
type seat struct {
	met        bool
	hash, seed string
}

// model is the rules of a duel, written from their page and not from the
// scripts: what happened and when, and what follows from it.
type model struct {
	mode   duelstore.Mode
	grace  time.Duration
	expiry time.Duration

	seats    [2]seat
	bothMet  time.Time // when the second seat came
	bothSent time.Time // when the second hash came
	acted    time.Time
	rolls    uint32
	settled  bool // plain mode: the time was over with one seed
	lost     bool // the store was replaced

	state duelstore.State // a last one, once it is
	cause duelstore.Cause
}

// stands lets time do its part and returns the state.
func (m *model) stands(now time.Time) duelstore.State {
	if m.state == 0 {
		m.timeWorks(now)
	}
	w, b := &m.seats[0], &m.seats[1]
	switch {
	case m.state != 0:
		return m.state
	case m.rolls > 0:
		return duelstore.Playing
	case m.fixed():
		return duelstore.Ready
	case m.mode == duelstore.Committed && (w.hash == "" || b.hash == ""):
		return duelstore.Committing
	}
	return duelstore.Seeding
}

func (m *model) fixed() bool {
	return m.settled || m.seats[0].seed != "" && m.seats[1].seed != ""
}

func (m *model) timeWorks(now time.Time) {
	w, b := &m.seats[0], &m.seats[1]
	late := func(since time.Time) bool { return !since.IsZero() && !now.Before(since.Add(m.grace)) }
	switch {
	case m.lost:
		m.state, m.cause = duelstore.Void, duelstore.StoreReplaced
	case m.fixed():
	case m.mode == duelstore.Plain && late(m.bothMet):
		if w.seed == "" && b.seed == "" {
			m.state, m.cause = duelstore.Void, duelstore.ByGrace
		}
		m.settled = m.state == 0
	case m.mode == duelstore.Committed && !m.bothSent.IsZero():
		if late(m.bothSent) {
			m.state, m.cause = duelstore.Forfeited, duelstore.ByGrace
		}
	case m.mode == duelstore.Committed && late(m.bothMet):
		m.state, m.cause = duelstore.Void, duelstore.ByGrace
	}
	if m.state == 0 && !now.Before(m.acted.Add(m.expiry)) {
		m.cause, m.state = duelstore.ByExpiry, duelstore.Void
		if m.fixed() {
			m.state = duelstore.Ended
		}
	}
}

// meet notes that a seat called.
func (m *model) meet(i int, now time.Time) {
	if m.stands(now); m.state != 0 || m.seats[i].met {
		return
	}
	m.seats[i].met, m.acted = true, now
	if m.seats[1-i].met {
		m.bothMet = now
	}
}

func (m *model) commit(i int, hash string, now time.Time) duelstore.Refusal {
	m.meet(i, now)
	s := &m.seats[i]
	switch {
	case m.mode == duelstore.Plain:
		return duelstore.NoHashes
	case s.hash == hash:
		return ""
	case s.hash != "":
		return duelstore.HashSet
	case m.state != 0 && m.cause == duelstore.ByGrace:
		return duelstore.HashLate
	case m.state != 0:
		return duelstore.Over
	}
	s.hash, m.acted = hash, now
	if m.seats[1-i].hash != "" {
		m.bothSent = now
	}
	return ""
}

func (m *model) seed(i int, seed string, hex bool, now time.Time) duelstore.Refusal {
	m.meet(i, now)
	s := &m.seats[i]
	switch {
	case s.seed == seed:
		return ""
	case s.seed != "":
		return duelstore.SeedSet
	case m.settled, m.state != 0 && m.cause == duelstore.ByGrace:
		return duelstore.SeedLate
	case m.state != 0:
		return duelstore.Over
	case m.mode == duelstore.Plain:
	case m.bothSent.IsZero():
		return duelstore.HashRequired
	case !hex:
		return duelstore.Form
	case s.hash != "hash "+seed:
		return duelstore.Mismatch
	}
	s.seed, m.acted = seed, now
	return ""
}

func (m *model) roll(ply uint32, now time.Time) duelstore.Refusal {
	switch m.stands(now); {
	case ply < m.rolls:
		return ""
	case m.state != 0:
		return duelstore.Over
	case !m.fixed():
		return duelstore.NoSeeds
	case ply > m.rolls:
		return duelstore.Order
	}
	m.rolls++
	m.acted = now
	return ""
}

func (m *model) end(now time.Time) {
	if m.stands(now); m.state != 0 {
		return
	}
	m.cause, m.state = duelstore.ByGameServer, duelstore.Void
	if m.fixed() {
		m.state = duelstore.Ended
	}
}

// compare tells how a record differs from the model, or "".
func (m *model) compare(d duelstore.Duel, now time.Time) string {
	state := m.stands(now)
	if d.State != state || d.Cause != m.cause || d.Rolls != m.rolls || d.Fixed != m.fixed() {
		return fmt.Sprintf("state %d %q, %d rolls, fixed %v; want %d %q, %d, %v", d.State, d.Cause, d.Rolls, d.Fixed, state, m.cause, m.rolls, m.fixed())
	}
	for i, s := range m.seats {
		forfeits := state == duelstore.Forfeited && s.seed == ""
		if got := d.Sides[i]; got.Present != s.met || got.Hash != s.hash || got.Seed != s.seed || got.Forfeits != forfeits {
			return fmt.Sprintf("seat %d is %+v, want %+v, forfeits %v", i, got, s, forfeits)
		}
	}
	if state.Over() == d.EndTime.IsZero() || !d.LastActionTime.Equal(m.acted) {
		return fmt.Sprintf("ended at %v, last action %v, want %v", d.EndTime, d.LastActionTime, m.acted)
	}
	return ""
}

// TestDuelsFollowTheRules takes random steps at random times, repeats among
// them, and compares every answer with the model.
func TestDuelsFollowTheRules(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := newShop(t)
		mode := rapid.SampledFrom([]duelstore.Mode{duelstore.Committed, duelstore.Plain}).Draw(t, "mode")
		c := creation(mode, "r")
		m := &model{mode: mode, grace: c.Grace, expiry: c.Expiry, acted: s.now}
		d, err := s.Create(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		id, version := d.ID, d.Version
		callers := []duelstore.Caller{alice, bob, game, {}}
		check := func(what string, d duelstore.Duel, err error, refusal duelstore.Refusal) {
			if refusal == "" && err != nil || refusal != "" && err != error(refusal) {
				t.Fatalf("%s: %v, want %q", what, err, refusal)
			}
			if problem := m.compare(d, s.now); problem != "" {
				t.Fatalf("%s: %s", what, problem)
			}
			if d.Version < version {
				t.Fatalf("%s: version %d after %d", what, d.Version, version)
			}
			version = d.Version
		}
		likelySeed := func(i int) string { return []string{"w", "b"}[i] }
		if rapid.Bool().Draw(t, "met") {
			for i := range 2 {
				d, err := s.Look(ctx, id, callers[i])
				m.meet(i, s.now)
				check("met", d, err, "")
			}
			s.pass(4 * time.Second)
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "begun") { // as far on its way to the first roll
			if seat := i % 2; i < 2 && mode == duelstore.Committed {
				d, err := s.Commit(ctx, id, callers[seat], duelstore.Seat(seat), "hash "+likelySeed(seat))
				check("begun", d, err, m.commit(seat, "hash "+likelySeed(seat), s.now))
			} else {
				d, err := s.Seed(ctx, id, callers[seat], duelstore.Seat(seat), opening(likelySeed(seat)))
				check("begun", d, err, m.seed(seat, likelySeed(seat), true, s.now))
			}
			if rapid.IntRange(0, 4).Draw(t, "later") == 0 {
				s.pass(4 * time.Second)
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "seat")
			own, right := callers[i], rapid.IntRange(0, 3).Draw(t, "right") > 0
			text := likelySeed(i)
			if !right {
				text = "x"
			}
			switch op := rapid.SampledFrom([]string{"commit", "commit", "seed", "seed", "roll", "roll", "look", "wait", "wait", "end", "replace", "create"}).Draw(t, "op"); op {
			case "commit":
				d, err := s.Commit(ctx, id, own, duelstore.Seat(i), "hash "+text)
				check(op, d, err, m.commit(i, "hash "+text, s.now))
			case "seed":
				o := opening(text)
				o.IsHex = rapid.IntRange(0, 9).Draw(t, "hex") > 0
				d, err := s.Seed(ctx, id, own, duelstore.Seat(i), o)
				check(op, d, err, m.seed(i, text, o.IsHex, s.now))
			case "roll":
				ply := uint32(rapid.IntRange(0, 2).Draw(t, "ply"))
				if right {
					ply = m.rolls
				}
				d, err := s.Roll(ctx, id, operator, ply)
				check(op, d, err, m.roll(ply, s.now))
			case "look":
				who := rapid.IntRange(0, 3).Draw(t, "who")
				d, err := s.Look(ctx, id, callers[who])
				if m.stands(s.now); who < 2 {
					m.meet(who, s.now)
				}
				check(op, d, err, "")
			case "wait":
				s.pass(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 4999 * time.Millisecond, 5 * time.Second, time.Minute, time.Hour - time.Millisecond, time.Hour}).Draw(t, "time"))
			case "end":
				if right && !m.fixed() {
					continue // else too many end early
				}
				d, err := s.End(ctx, id, operator)
				m.end(s.now)
				check(op, d, err, "")
			case "replace":
				if right {
					continue
				}
				s.replace()
				m.lost = true
			case "create":
				d, err := s.Create(ctx, c)
				check(op, d, err, "")
			}
		}
		reached[fmt.Sprint(mode, m.stands(s.now), m.cause)]++
	})
	if len(reached) < 12 || reached[fmt.Sprint(duelstore.Committed, duelstore.Forfeited, duelstore.ByGrace)] == 0 {
		t.Errorf("only these ends were reached: %v", reached)
	}
}

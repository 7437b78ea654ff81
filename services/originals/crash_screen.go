package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gamecrash "github.com/openoriginals/originals/internal/game/crash"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Size of a curve: with its labels it fits a terminal of 80 columns.
const (
	curveWidth  = 68
	curveHeight = 12
	curveLabel  = 9
)

// tableScreen shows the events of a table to a person.
type tableScreen struct {
	out  io.Writer
	live bool // a terminal, on which the curve grows in place

	number uint32
	phase  originalsv1.CrashTable_Phase
	curve  curve
	drawn  int // lines of the curve that stand on the terminal
	wins   int // cash-outs of the round
}

// show shows one event.
func (s *tableScreen) show(e tableEvent) error {
	decode := func(m proto.Message) error {
		return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(e.Data, m)
	}
	switch e.Name {
	case "snapshot", "phase":
		var t originalsv1.CrashTable
		if err := decode(&t); err != nil {
			return err
		}
		return s.table(&t)
	case "tick":
		var t originalsv1.CrashEvent_Tick
		if err := decode(&t); err != nil {
			return err
		}
		return s.tick(&t)
	case "cashOuts":
		var m originalsv1.CrashEvent_CashOuts
		if err := decode(&m); err != nil {
			return err
		}
		s.wins += len(m.GetCashOuts()) + int(m.GetMore())
	case "bets":
		var m originalsv1.CrashEvent_Bets
		if err := decode(&m); err != nil {
			return err
		}
		return s.bets(&m)
	case "crash":
		var m originalsv1.CrashEvent_Crash
		if err := decode(&m); err != nil {
			return err
		}
		return s.crash(&m)
	case "dropped":
		return s.say("The gateway ends the stream (%s); asking again.", e.Data)
	}
	return nil
}

// say prints a line below everything.
func (s *tableScreen) say(format string, args ...any) error {
	s.drawn = 0
	_, err := fmt.Fprintf(s.out, format+"\n", args...)
	return err
}

func (s *tableScreen) table(t *originalsv1.CrashTable) error {
	if t.GetNumber() != s.number {
		s.number, s.wins, s.curve = t.GetNumber(), 0, curve{}
	}
	if t.GetPhase() == s.phase {
		return nil
	}
	s.phase = t.GetPhase()
	switch s.phase {
	case originalsv1.CrashTable_BETTING:
		left := t.GetLockTime().AsTime().Sub(t.GetServerTime().AsTime())
		return s.say("Round %d of %s: bets are taken for %.1f s.", s.number, t.GetTable(), max(0, left).Seconds())
	case originalsv1.CrashTable_CLOSING:
		return s.say("Round %d: no more bets.", s.number)
	case originalsv1.CrashTable_RUNNING:
		return s.say("Round %d runs.", s.number)
	case originalsv1.CrashTable_STOPPED:
		if next := t.GetNext().GetTable(); next != "" {
			return s.say("Table %s has ended; its players go on at %s.", t.GetTable(), next)
		}
		return s.say("Table %s is not played now.", t.GetTable())
	}
	if t.CrashE2 == nil {
		return s.say("Round %d is void: every stake is given back.", s.number)
	}
	return nil
}

func (s *tableScreen) bets(m *originalsv1.CrashEvent_Bets) error {
	if m.GetCount() == 0 {
		return nil
	}
	stakes := make([]string, len(m.GetStakes()))
	for i, money := range m.GetStakes() {
		stakes[i] = unitsOf(money)
	}
	return s.say("Round %d: bets: %d, stakes: %s.", m.GetNumber(), m.GetCount(), strings.Join(stakes, ", "))
}

func (s *tableScreen) tick(t *originalsv1.CrashEvent_Tick) error {
	s.curve.add(t.GetElapsedUs(), t.GetMultiplierE2())
	if !s.live {
		return nil
	}
	return s.draw()
}

func (s *tableScreen) crash(m *originalsv1.CrashEvent_Crash) error {
	if s.curve.empty() { // its round ended at once, or was not seen
		s.curve.add(0, 100)
	}
	s.curve.end(m.GetCrashE2())
	if err := s.draw(); err != nil {
		return err
	}
	return s.say("Round %d crashed at %s. %d cashed out in time.\n  hash %s", m.GetNumber(), times(m.GetCrashE2()), s.wins, m.GetHash())
}

// draw draws the curve, over the one that stands there.
func (s *tableScreen) draw() error {
	text := s.curve.text()
	if s.live && s.drawn > 0 {
		text = fmt.Sprintf("\x1b[%dA\x1b[J", s.drawn) + text
	}
	s.drawn = curveHeight + 1
	_, err := io.WriteString(s.out, text)
	return err
}

func times(e2 uint32) string { return fmt.Sprintf("%d.%02dx", e2/100, e2%100) }

// curve is how the multiplier of a round has grown.
type curve struct {
	points []curvePoint
}

type curvePoint struct {
	us int64
	e2 uint32
}

func (c *curve) empty() bool { return len(c.points) == 0 }

// add adds a point. What no round can show is taken as the nearest that one can.
func (c *curve) add(us int64, e2 uint32) {
	us = min(max(us, 0), time.Hour.Microseconds())
	c.points = append(c.points, curvePoint{us, min(max(e2, gamecrash.MinPointE2), gamecrash.MaxPointE2)})
}

// end ends the curve at the crash point, right after its last point.
func (c *curve) end(e2 uint32) {
	last := &c.points[len(c.points)-1]
	last.e2 = min(max(last.e2, e2), gamecrash.MaxPointE2)
}

// text draws the curve. Its width is ten seconds at least, its height 2.00.
func (c *curve) text() string {
	last := c.points[len(c.points)-1]
	width := max(last.us, (10 * time.Second).Microseconds())
	top := max(last.e2, 200)
	rows := make([][]byte, curveHeight)
	for i := range rows {
		rows[i] = []byte(strings.Repeat(" ", curveWidth))
	}
	for i, p := range c.points {
		mark := byte('.')
		if i == len(c.points)-1 {
			mark = '*'
		}
		column := min(curveWidth-1, int(p.us*curveWidth/width))
		row := int(p.e2-100) * (curveHeight - 1) / int(top-100)
		rows[curveHeight-1-min(row, curveHeight-1)][column] = mark
	}
	var b strings.Builder
	for i, row := range rows {
		label := ""
		if i%3 == 2 || i == 0 {
			label = times(100 + (top-100)*uint32(curveHeight-1-i)/(curveHeight-1))
		}
		fmt.Fprintf(&b, "%*s |%s\n", curveLabel, label, strings.TrimRight(string(row), " "))
	}
	now := fmt.Sprintf("%s after %.1f s", times(last.e2), float64(last.us)/1e6)
	fmt.Fprintf(&b, "%*s +%s %s\n", curveLabel, "", strings.Repeat("-", curveWidth-len(now)-1), now)
	return b.String()
}

package seedpair_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest/observer"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// steps are what an onlooker of the store and of the log sees of one call.
func (h *house) steps(call func()) string {
	h.calls.take()
	h.logs.TakeAll()
	call()
	return fmt.Sprint(h.calls.take()) + " " + strings.Join(fields(h.logs.TakeAll()), ";")
}

// fields are the names in each log line, and its message and level.
func fields(entries []observer.LoggedEntry) (lines []string) {
	for _, e := range entries {
		names := []string{e.Level.String(), e.Message}
		for _, f := range e.Context {
			names = append(names, f.Key)
		}
		lines = append(lines, strings.Join(names, " "))
	}
	return lines
}

// Nothing about a hidden outcome leaves early: a winning and a losing bet take
// the same steps, in the store and in the log.
func TestWinningAndLosingBetTakeTheSameSteps(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	p.playDice(100)
	games := map[string]func() *originalsv1.Round{
		"dice":     func() *originalsv1.Round { return p.playDice(100) },
		"limbo":    func() *originalsv1.Round { return got(p.limbo.PlaceBet(p.ctx, p.limboBet(100))).must(t) },
		"roulette": func() *originalsv1.Round { return got(p.roulette.PlaceBet(p.ctx, p.rouletteBet(100))).must(t) },
	}
	for game, play := range games {
		seen := map[bool][]string{}
		for range 60 {
			var won bool
			steps := h.steps(func() { won = play().GetPayout().GetAmount() > 0 })
			if !slices.Contains(seen[won], steps) {
				seen[won] = append(seen[won], steps)
			}
		}
		if len(seen[true]) != 1 || len(seen[false]) != 1 || seen[true][0] != seen[false][0] {
			t.Errorf("%s: steps of wins %q, of losses %q", game, seen[true], seen[false])
		}
		if !strings.HasPrefix(seen[true][0], "[draw] info call method code duration request_id round_id") {
			t.Errorf("%s: steps %q", game, seen[true][0])
		}
	}
}

// The same in two steps, when the vault could not know the nonce.
func TestWinningAndLosingBetTakeTheSameTwoSteps(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	p.playDice(100)
	elsewhere := p.at(h.process())
	seen := map[bool]string{}
	for range 60 {
		elsewhere.playDice(1000)
		var won bool
		steps := h.steps(func() { won = p.playDice(100).GetPayout().GetAmount() > 0 })
		if before, ok := seen[won]; ok && before != steps {
			t.Errorf("steps %q, then %q", before, steps)
		}
		seen[won] = steps
	}
	if seen[true] != seen[false] || !strings.HasPrefix(seen[true], "[draw settle] info call method code duration request_id round_id") {
		t.Errorf("steps of wins %q, of losses %q", seen[true], seen[false])
	}
}

// The draw, which is all that happens before the stake is locked, is the same
// for a pick that is safe and one that is not; and so is its end.
func TestSafeAndLastPickReadTheSame(t *testing.T) {
	h := newHouse(t)
	p, id, safe, mined, _ := minesGame(t, h)
	onSafe := h.steps(func() { got(p.pick(id, safe[0])).must(t) })
	onMine := h.steps(func() { got(p.pick(id, mined[0])).must(t) })
	// Two loads and one write; which write it is, is the outcome itself.
	if want := strings.Replace(onSafe, "advance", "settle", 1); onMine != want {
		t.Errorf("a safe pick: %q; a mine: %q", onSafe, onMine)
	}
}

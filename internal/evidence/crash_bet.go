package evidence

import (
	"fmt"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/money"
)

// checkBet checks one bet against its round.
func (j *crashJudge) checkBet(b *crashBet) {
	bad := func(format string, arguments ...any) {
		j.fail(crashBets, "bet in round %d: "+format, append([]any{b.number}, arguments...)...)
	}
	if b.currency != b.paidIn {
		bad("staked in %s, paid in %s", b.currency, b.paidIn)
	}
	r := j.find(b.number)
	switch {
	case r == nil || b.table != r.table:
		j.strayed++
	case b.state == stateOpen:
		j.unpaid++
	case b.state == stateVoid:
		b.checkVoid(bad)
	case r.state == stateVoid:
		bad("it is SETTLED, and its round is VOID")
	default:
		b.checkSettled(r.point, bad)
	}
}

// checkVoid: the stake of a bet that was cancelled, or whose round is void, is given back.
func (b *crashBet) checkVoid(bad func(string, ...any)) {
	if b.payout != b.stake || b.multiplier != 0 || b.cashed != 0 {
		bad("a void bet gets its stake of %d back, and this one got %d at %d", b.stake, b.payout, b.multiplier)
	}
}

// checkSettled: it won when it was cashed out, at no more than its target and the crash point; an automatic cash-out at
// or below the crash point is never missed.
func (b *crashBet) checkSettled(point uint32, bad func(string, ...any)) {
	won := b.cashed != 0
	switch {
	case b.point != 0 && b.point != point:
		bad("it shows the crash point %d, and the round %d", b.point, point)
	case !won && b.auto <= point:
		bad("it lost, and its automatic cash-out at %d was reached: the crash point is %d", b.auto, point)
	case won && (b.cashed < crash.MinTargetE2 || b.cashed > b.auto || b.cashed > point):
		bad("it was cashed out at %d, which is not from 101 to its target %d and the crash point %d", b.cashed, b.auto, point)
	}
	right := money.Multiplier(b.cashed) * 100
	if b.multiplier != right {
		bad("the multiplier is %d, and it should be %d (in 1/10000)", b.multiplier, right)
	}
	payout, err := money.Payout(b.stake, right)
	if err != nil {
		bad("no payout of %d at %d is possible: %v", b.stake, right, err)
	} else if b.payout != payout {
		bad("the payout is %d, and it should be %d", b.payout, payout)
	}
}

// report puts together what was found.
func (j *crashJudge) report() Report {
	r := Report{Verdict: j.verdict(), Notes: append([]string{}, j.noteList...), Summary: j.summary()}
	for c, check := range crashMeanings {
		passed := j.counts[c] == 0
		if !passed && r.FirstFailed == "" {
			r.Verdict, r.FirstFailed = Failed, check.name
		}
		r.Checks = append(r.Checks, Check{check.name, check.meaning, passed, j.counts[c], append([]Failure{}, j.failures[c]...)})
	}
	for _, left := range []struct {
		count int
		words string
	}{
		{j.open, "left out, for they have no hash before they have ended: rounds that are OPEN (%d)"},
		{j.saltless, "not checked, for they never got a salt: crash points of void rounds (%d)"},
		{j.strayed, "not checked, for their rounds are not in the file or have not ended: bets (%d)"},
		{j.unpaid, "not settled yet: bets (%d)"},
	} {
		if left.count > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf(left.words, left.count))
		}
	}
	switch j.verdict() {
	case TerminalOpen:
		r.Notes = append(r.Notes, "give the terminal that you were shown before you played with --terminal; without it the answers only agree with themselves")
	case SaltOpen:
		r.Notes = append(r.Notes, "give the salt that you were shown before you played with --salt, or that you have looked up; without it another one might have been put in its place")
	}
	return r
}

// verdict is what the player has confirmed, if nothing fails. Beacons need no salt of a player: each is named in advance.
func (j *crashJudge) verdict() Verdict {
	switch {
	case j.o.Terminal == nil:
		return TerminalOpen
	case j.o.Salt == nil && (j.unknown || j.isFixed()):
		return SaltOpen
	}
	return Verified
}

// isFixed reports whether a salt is that of the whole chain.
func (j *crashJudge) isFixed() bool {
	for i := range j.rounds {
		if j.rounds[i].beacon == nil {
			return true
		}
	}
	return false
}

func (j *crashJudge) summary() Summary {
	var t totals
	for i := range j.bets {
		b := &j.bets[i]
		t.add(&round{void: true, stake: b.stake, stakeCurrency: []byte(b.currency), payout: b.payout, payoutCurrency: []byte(b.paidIn)})
	}
	s := t.summary(uint64(len(j.rounds)))
	s.Games = map[string]uint64{"crash": uint64(len(j.rounds)) - j.voids, "void": j.voids}
	if len(j.rounds) == 0 {
		s.Crash = "no round"
		return s
	}
	s.Crash = fmt.Sprintf("rounds %d to %d of %s, of which void: %d; bets: %d; staked %s; paid %s",
		j.rounds[0].number, j.rounds[len(j.rounds)-1].number, j.rounds[0].table, j.voids, len(j.bets), joinSums(s.Staked), joinSums(s.Paid))
	return s
}

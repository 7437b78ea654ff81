package evidence

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/rng"
)

const (
	crashFormat = iota
	crashTerminal
	crashNumbers
	crashChain
	crashSalts
	crashPoints
	crashBets
	crashChecks
)

// crashMeanings names and explains the checks of a crash table, in the order in which they are reported.
var crashMeanings = [crashChecks]struct{ name, meaning string }{
	crashFormat:   {"format", "the answers are complete and well-formed"},
	crashTerminal: {"terminal", "all of it is about one table and one chain, whose terminal is the one that was announced"},
	crashNumbers:  {"numbers", "every number from the first to the last is there, and every round ended as the rules allow"},
	crashChain:    {"chain", "every hash leads to that of the round before, and the first one to the terminal"},
	crashSalts:    {"salt", "the salt is one for all rounds, or that of the beacon that each round had named"},
	crashPoints:   {"crash", "every crash point follows from the hash and the salt"},
	crashBets:     {"bet", "every bet was won, lost and paid by the rules"},
}

// walkSlice is how many hashes are walked between two looks at the context: some hundredths of a second.
const walkSlice = 1 << 18

// growthDigest is the digest of growth-v1, which takes a moment.
var growthDigest = sync.OnceValue(func() string {
	sum := crash.NewGrowth().SHA256()
	return hex.EncodeToString(sum[:])
})

// crashJudge checks the answers about one table.
type crashJudge struct {
	crashDocument
	o        CrashOptions
	open     int  // rounds that have not ended
	saltless int  // void rounds that never got a salt
	strayed  int  // bets in rounds that are not there
	unpaid   int  // bets that are not settled
	unknown  bool // a beacon is not drand's
	voids    uint64
	noteList []string
	failures [crashChecks][]Failure
	counts   [crashChecks]uint64
}

func (j *crashJudge) fail(check int, format string, arguments ...any) {
	j.failAs(check, "", format, arguments...)
}

// failAs fails a check and names the mistake that would explain it.
func (j *crashJudge) failAs(check int, m mistake.Mistake, format string, arguments ...any) {
	j.counts[check]++
	if len(j.failures[check]) < MaxFailures {
		j.failures[check] = append(j.failures[check], Failure{Nonce: noNonce, Words: fmt.Sprintf(format, arguments...), Mistake: m})
	}
}

// note keeps words once.
func (j *crashJudge) note(words string) {
	if !slices.Contains(j.noteList, words) {
		j.noteList = append(j.noteList, words)
	}
}

func (j *crashJudge) judge(ctx context.Context) error {
	j.sortRounds()
	j.sortBets()
	if len(j.rounds) == 0 {
		j.fail(crashNumbers, "there is no round that has ended")
		return nil
	}
	j.checkTerminal()
	j.checkNumbers()
	if err := j.checkChain(ctx); err != nil {
		return err
	}
	for i := range j.rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		if salt, ok := j.saltOf(&j.rounds[i]); ok {
			j.checkPoint(&j.rounds[i], salt)
		}
	}
	for i := range j.tables {
		if err := j.checkTable(ctx, &j.tables[i]); err != nil {
			return err
		}
	}
	for i := range j.bets {
		j.checkBet(&j.bets[i])
	}
	return nil
}

// sortRounds leaves the rounds that have ended, in the order of their numbers, each once.
func (j *crashJudge) sortRounds() {
	all := len(j.rounds)
	ended := slices.DeleteFunc(j.rounds, func(r crashRound) bool { return r.state == stateOpen })
	j.open = all - len(ended)
	slices.SortStableFunc(ended, func(a, b crashRound) int { return cmp.Compare(a.number, b.number) })
	j.rounds = slices.CompactFunc(ended, func(a, b crashRound) bool {
		if a.number != b.number {
			return false
		}
		if !a.equal(&b) {
			j.fail(crashNumbers, "round %d stands twice, and the two differ", a.number)
		}
		return true
	})
}

// sortBets leaves each bet once, as the answer shows it that knows most: one that waits may enter a later round than it
// was told.
func (j *crashJudge) sortBets() {
	slices.SortStableFunc(j.bets, func(a, b crashBet) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(isOpen(a), isOpen(b)), cmp.Compare(a.number, b.number))
	})
	j.bets = slices.CompactFunc(j.bets, func(again, first crashBet) bool {
		if again.id != first.id {
			return false
		}
		first.point, again.point = 0, 0
		if again.state != stateOpen && again != first {
			j.fail(crashBets, "bet in round %d: it stands twice, and the two differ", first.number)
		}
		return true
	})
	slices.SortFunc(j.bets, func(a, b crashBet) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.id, b.id)) })
}

func isOpen(b crashBet) int {
	if b.state == stateOpen {
		return 1
	}
	return 0
}

func (r *crashRound) equal(other *crashRound) bool {
	a, b := *r, *other
	a.salt, a.beacon, b.salt, b.beacon = nil, nil, nil, nil
	return a == b && same(r.salt, other.salt) && same(r.beacon, other.beacon)
}

// same reports whether two values are both missing, or equal.
func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func (j *crashJudge) checkTerminal() {
	first := &j.rounds[0]
	for i := range j.rounds[1:] {
		j.sameChain(fmt.Sprintf("round %d", j.rounds[i+1].number), &j.rounds[i+1])
	}
	if kept := j.o.Terminal; kept != nil && kept.String() != first.terminal {
		hint, m := "another chain, or another promise", mistake.Mistake("")
		if kept.String() == first.hash {
			hint, m = "what you gave is the hash of a round", mistake.CommitmentForSeed
		}
		j.failAs(crashTerminal, m, "you kept the terminal %s, and that of these rounds is %s: %s", kept, first.terminal, hint)
	}
}

func (j *crashJudge) sameChain(what string, r *crashRound) {
	first := &j.rounds[0]
	if r.table != first.table {
		j.fail(crashTerminal, "%s is of the table %s, and others are of %s: check each table by itself", what, r.table, first.table)
	} else if r.terminal != first.terminal {
		j.fail(crashTerminal, "%s has the terminal %s, and others have %s", what, r.terminal, first.terminal)
	}
}

func (j *crashJudge) checkNumbers() {
	for i := range j.rounds {
		r := &j.rounds[i]
		if isVoid := r.state == stateVoid; isVoid != (r.void != "") {
			j.fail(crashNumbers, "round %d: a round is VOID for a reason, and only then has one", r.number)
		} else if isVoid {
			j.voids++
		}
		if r.state == stateVoid && r.start != (instant{}) {
			j.fail(crashNumbers, "round %d: it was running, and such a round is never void", r.number)
		}
		if i == 0 || r.number == j.rounds[i-1].number+1 {
			continue
		}
		missing := fmt.Sprintf("round %d is", r.number-1)
		if before := j.rounds[i-1].number; before+2 < r.number {
			missing = fmt.Sprintf("rounds %d to %d are", before+1, r.number-1)
		}
		j.fail(crashNumbers, "%s missing: every number has to be listed, also of rounds that are VOID", missing)
	}
	if first := j.rounds[0].number; first > 1 {
		j.note(fmt.Sprintf("the rounds before %d are not in the file", first))
	}
}

// checkChain walks from the newest round to the terminal.
func (j *crashJudge) checkChain(ctx context.Context) error {
	before, number := [sha256.Size]byte(bytesOf(j.rounds[0].terminal)), uint32(0)
	for i := range j.rounds {
		r := &j.rounds[i]
		link := [sha256.Size]byte(bytesOf(r.hash))
		_, met, err := walk(ctx, link, before, r.number-number, j.o.Progress)
		if err != nil {
			return err
		}
		switch {
		case met == r.number-number:
		case i > 0:
			j.fail(crashChain, "round %d: its hash does not lead to that of round %d", r.number, number)
		default:
			m, hint := numberMistake(r.number, met, 0, link, before)
			j.failAs(crashChain, m, "round %d: %d hashes do not lead to the terminal%s", r.number, r.number, hint)
		}
		before, number = link, r.number
	}
	return nil
}

// numberMistake says what would explain that a hash does not lead to its target after so many steps, which it met after
// other ones, 0 for never. The target is the hash of round anchor, or the terminal.
func numberMistake(steps, met, anchor uint32, link, target [sha256.Size]byte) (m mistake.Mistake, words string) {
	switch {
	case link == target:
		return mistake.HashForServerSeed, "; it is that one itself"
	case met == 0:
		return mistake.OtherSeedPair, "; it is of another chain"
	case met+1 == steps || met == steps+1:
		m = mistake.NonceOffByOne
	}
	return m, fmt.Sprintf("; it does after %d: is it the hash of round %d?", met, anchor+met)
}

// walk hashes a link so many times. It returns what it reached, and after how many it met the target: 0 for never, and
// one more than it was asked for when the next hash would have met it.
func walk(ctx context.Context, link, target [sha256.Size]byte, steps uint32, progress func(links uint32)) (reached [sha256.Size]byte, met uint32, err error) {
	for done := uint32(0); done < steps; {
		if err := ctx.Err(); err != nil {
			return link, 0, err
		}
		slice := min(walkSlice, steps-done)
		for range slice {
			link = sha256.Sum256(link[:])
			if done++; link == target {
				met = done
			}
		}
		if progress != nil {
			progress(slice)
		}
	}
	if met == 0 && sha256.Sum256(link[:]) == target {
		met = steps + 1
	}
	return link, met, nil
}

func (j *crashJudge) checkPoint(r *crashRound, salt rng.Salt) {
	if r.point == 0 {
		j.fail(crashPoints, "round %d has no crash point", r.number)
		return
	}
	link, err := rng.ParseLink(r.hash)
	if err != nil {
		return // cannot be: it has been read with the pattern
	}
	right := crashPointOf(link, rng.Table(r.table), r.number, salt)
	if right == r.point {
		return
	}
	m, hint := pointMistake(link, rng.Table(r.table), r.number, salt, r.point)
	j.failAs(crashPoints, m, "round %d: the crash point is stated as %d, and hash and salt give %d%s", r.number, r.point, right, hint)
}

// crashPointOf returns the crash point of a round in hundredths, 0 when a part is not usable.
func crashPointOf(link rng.Link, table rng.Table, number uint32, salt rng.Salt) uint32 {
	digest, err := link.CrashDigest(table, number, salt)
	if err != nil {
		return 0
	}
	point, err := crash.Point(digest)
	if err != nil {
		return 0
	}
	return point
}

// pointMistake says what would explain a crash point that does not follow.
func pointMistake(link rng.Link, table rng.Table, number uint32, salt rng.Salt, stated uint32) (m mistake.Mistake, words string) {
	for _, near := range []uint32{number - 1, number + 1} { // 0, before the first, has no crash point
		if crashPointOf(link, table, near, salt) == stated {
			return mistake.NonceOffByOne, fmt.Sprintf(" (number %d would give it: is it off by one?)", near)
		}
	}
	if swapped, err := rng.ParseLink(string(salt)); err == nil && crashPointOf(swapped, table, number, rng.Salt(link.Reveal())) == stated {
		return mistake.SeedsSwapped, " (hash and salt are swapped)"
	}
	return "", ""
}

func (j *crashJudge) checkTable(ctx context.Context, t *crashTable) error {
	j.sameChain("the answer about the table", &t.crashRound)
	last := &j.rounds[len(j.rounds)-1]
	if t.number > t.length || last.number > t.length {
		j.fail(crashTerminal, "the chain has %d links, and there is a round %d", t.length, max(t.number, last.number))
	}
	if t.digest != growthDigest() {
		j.fail(crashTerminal, "the growth of the multiplier has the digest %s, and %s has %s", t.digest, crash.GrowthScheme, growthDigest())
	}
	if first := j.rounds[0].salt; t.salt != nil && t.salt.value != "" && first != nil && *t.salt != *first {
		j.fail(crashSalts, "the table has the salt %s, and its rounds have %s", t.salt.value, first.value)
	}
	if r := j.find(t.number); r != nil && t.point != 0 && t.point != r.point {
		j.fail(crashPoints, "round %d: the table shows the crash point %d, and the round %d", t.number, t.point, r.point)
	}
	if t.end == "" || last.number > t.length {
		return nil
	}
	link := [sha256.Size]byte(bytesOf(t.end))
	reached, _, err := walk(ctx, link, link, t.length-last.number, j.o.Progress)
	if err == nil && hex.EncodeToString(reached[:]) != last.hash {
		j.fail(crashChain, "the end of the chain does not lead to the hash of round %d", last.number)
	}
	return err
}

// find returns the round of this number, or nil.
func (j *crashJudge) find(number uint32) *crashRound {
	at, ok := slices.BinarySearchFunc(j.rounds, number, func(r crashRound, n uint32) int { return cmp.Compare(r.number, n) })
	if !ok {
		return nil
	}
	return &j.rounds[at]
}

package evidence

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/rng"
)

const (
	duelFormat = iota
	duelCommitment
	duelSeats
	duelOrder
	duelDice
	duelChecks
)

// duelMeanings names and explains the checks of a duel, in the order in which they are reported.
var duelMeanings = [duelChecks]struct{ name, meaning string }{
	duelFormat:     {"format", "the document is complete and well-formed, and the duel has ended"},
	duelCommitment: {"commitment", "the server seed hashes to the commitment"},
	duelSeats:      {"seats", "every client seed is the one its seat or the house was committed to, and every source and forfeit is called rightly"},
	duelOrder:      {"order", "plies are 0, 1, 2, ... after both client seeds, and the end is one the rules know"},
	duelDice:       {"dice", "every roll follows from the seeds"},
}

// duelJudge checks one duel.
type duelJudge struct {
	*duelDocument
	failures [duelChecks][]Failure
	counts   [duelChecks]uint64
}

func (j *duelJudge) fail(check int, format string, arguments ...any) {
	j.counts[check]++
	if len(j.failures[check]) < MaxFailures {
		j.failures[check] = append(j.failures[check], Failure{Nonce: noNonce, Words: fmt.Sprintf(format, arguments...)})
	}
}

// verifyDuel reads a duel and checks everything in it.
func verifyDuel(r io.Reader, o Options) (Report, error) {
	document, err := readDuel(r)
	if err != nil {
		return Report{}, err
	}
	if o.LastNonce != nil {
		return Report{}, &FormatError{Problem: "a last nonce is for seed pairs, and this is a duel"}
	}
	j := duelJudge{duelDocument: &document}
	j.checkCommitment(o.Commitment)
	for seat := range j.seats {
		j.checkSeat(seat)
	}
	j.checkForfeit()
	j.checkOrder(o.LastPly)
	if j.isFixed() {
		j.checkDice()
	}
	return j.report(o), nil
}

func (j *duelJudge) checkCommitment(kept *rng.Commitment) {
	computed, err := duel.Commitment(j.serverSeed)
	text := j.serverSeed.Reveal()
	if err != nil || computed.String() != j.commitment {
		hint := ""
		switch hashed := duel.FallbackHash(text); {
		case text == j.commitment, kept != nil && kept.String() == text:
			hint = "; the server seed given is a commitment: a hash was pasted in place of the server seed"
		case hex.EncodeToString(hashed[:]) == j.commitment:
			hint = "; the commitment is the hash of the 64 hex digits, and this scheme hashes the 32 raw bytes"
		}
		j.fail(duelCommitment, "the server seed hashes to %s, and the commitment is %s%s", computed, j.commitment, hint)
	}
	if kept != nil && kept.String() != j.commitment {
		j.fail(duelCommitment, "you kept the commitment %s, and this one is %s: another duel, or another promise", kept, j.commitment)
	}
}

func (j *duelJudge) checkSeat(seat int) {
	s := &j.seats[seat]
	bad := func(format string, arguments ...any) {
		j.fail(duelSeats, seatNames[seat]+": "+format, arguments...)
	}
	if (s.seed != "") != (s.source != "") {
		bad("a client seed and its source stand together or not at all")
		return
	}
	if s.seeded != (s.source == "OWN" || s.source == "COMMITTED") {
		bad("seeded says whether the seat brought a client seed of its own, and does not")
	}
	if !s.present && (s.seeded || s.hash != "") {
		bad("it sent something, and was never present")
	}
	if j.mode == "COMMITTED" {
		j.checkCommitted(seat, bad)
		return
	}
	checkPlain(s, bad)
}

func (j *duelJudge) checkCommitted(seat int, bad func(string, ...any)) {
	s, other := &j.seats[seat], &j.seats[1-seat]
	if s.fallbackHash != "" || s.fallbackSeed != "" {
		bad("there is no fallback in committed mode")
	}
	switch {
	case s.source == "":
		return
	case s.source != "COMMITTED":
		bad("its client seed is %s in committed mode", s.source)
		return
	case s.hash == "" || other.hash == "":
		bad("its client seed was opened before both seats had sent their hashes")
		return
	}
	if !duel.IsCommittedSeed(s.seed) {
		bad("its client seed is not 64 lower-case hex digits")
	}
	if hash := duel.SeatCommitment(j.id, seatNames[seat], s.seed); hash != s.hash {
		bad("its client seed hashes to %s, and it had sent %s", hash, s.hash)
	}
}

func checkPlain(s *duelSeat, bad func(string, ...any)) {
	if s.hash != "" {
		bad("no hashes are sent in plain mode")
	}
	if s.source == "COMMITTED" {
		bad("its client seed is COMMITTED in plain mode")
	}
	if s.fallbackHash == "" || s.fallbackSeed == "" {
		bad("its fallback seed or the hash of it is missing")
		return
	}
	if hash := duel.FallbackHash(s.fallbackSeed); hex.EncodeToString(hash[:]) != s.fallbackHash {
		bad("its fallback seed hashes to %x, and %s was promised", hash, s.fallbackHash)
	}
	if s.source == "FALLBACK" && s.seed != s.fallbackSeed {
		bad("its client seed is called FALLBACK and is not the fallback seed")
	}
	if s.source == "OWN" && s.seed == s.fallbackSeed { // which no seat could know before the end
		bad("its client seed is called OWN and is the fallback seed")
	}
}

func (j *duelJudge) checkForfeit() {
	forfeited := j.state == "FORFEITED"
	switch {
	case forfeited != (len(j.forfeits) > 0):
		j.fail(duelSeats, "a duel is FORFEITED when a seat forfeits, and only then")
		return
	case !forfeited:
		return
	case j.mode != "COMMITTED":
		j.fail(duelSeats, "nobody forfeits in plain mode")
		return
	}
	if len(j.forfeits) == 2 && j.forfeits[0] == j.forfeits[1] {
		j.fail(duelSeats, "a seat forfeits twice")
	}
	for seat, name := range seatNames {
		if j.seats[seat].hash == "" {
			j.fail(duelSeats, "%s: a duel is forfeited after both hashes, and this one is missing", name)
		}
		if slices.Contains(j.forfeits, name) == j.seats[seat].seeded {
			j.fail(duelSeats, "%s: a seat forfeits when it has not opened its client seed, and only then", name)
		}
	}
}

func (j *duelJudge) checkOrder(lastPly *uint32) {
	bad := func(format string, arguments ...any) { j.fail(duelOrder, format, arguments...) }
	for i, roll := range j.rolls {
		if roll.ply != uint32(i) {
			bad("ply %d stands where ply %d belongs", roll.ply, i)
		}
	}
	if j.lastPly != nil && int(*j.lastPly) != len(j.rolls)-1 {
		bad("lastPly is %d, and there are %d rolls: some were left out", *j.lastPly, len(j.rolls))
	}
	if lastPly != nil && uint64(*lastPly) >= uint64(len(j.rolls)) {
		bad("you have seen ply %d, and the rolls end before it", *lastPly)
	}
	fixed, white, black := j.isFixed(), &j.seats[0], &j.seats[1]
	if len(j.rolls) > 0 && !fixed {
		bad("it was rolled before both client seeds were there")
	}
	if white.source == "FALLBACK" && black.source == "FALLBACK" {
		bad("both seats fell back, and such a duel is void")
	}
	if j.ended.before(j.created) {
		bad("it ended before it was made")
	}
	silent := !white.seeded && !black.seeded
	if j.mode == "COMMITTED" {
		silent = white.hash == "" || black.hash == ""
	}
	switch {
	case j.state == "ENDED" && (!fixed || j.reason != "GAME_SERVER" && j.reason != "EXPIRED"):
		bad("it cannot be ENDED by %s %s both client seeds", j.reason, map[bool]string{true: "with", false: "without"}[fixed])
	case j.state == "FORFEITED" && j.reason != "GRACE_PERIOD":
		bad("it cannot be FORFEITED by %s", j.reason)
	case j.state == "VOID" && j.reason != "STORE_REPLACED" && fixed:
		bad("it cannot be VOID by %s with both client seeds", j.reason)
	}
	if j.state == "VOID" && j.reason == "GRACE_PERIOD" && !silent {
		bad("it is VOID by GRACE_PERIOD, and the seats that had to speak did")
	}
}

func (j *duelJudge) checkDice() {
	at := func(ply uint32) duel.Dice {
		dice, _ := duel.Roll(j.serverSeed, j.seats[0].seed, j.seats[1].seed, uint64(ply)) // a document without a server seed is not read
		return dice
	}
	for _, roll := range j.rolls {
		right := at(roll.ply)
		if right == roll.dice {
			continue
		}
		hint := ""
		for _, near := range []uint32{roll.ply - 1, roll.ply + 1} { // the ply before 0 is one that never comes up
			if hint == "" && near < maxPlies+1 && at(near) == roll.dice {
				hint = fmt.Sprintf(" (ply %d would give them: is the ply off by one?)", near)
			}
		}
		j.fail(duelDice, "ply %d: the dice are %s, and the seeds give %s%s", roll.ply, diceText(roll.dice), diceText(right), hint)
	}
}

func diceText(d duel.Dice) string { return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2]) }

func (j *duelJudge) report(o Options) Report {
	confirmed := o.Commitment != nil
	r := Report{Verdict: Consistent, Notes: []string{}, Summary: Summary{Games: map[string]uint64{}, Staked: []Sum{}, Paid: []Sum{}, Duel: j.summary()}}
	if confirmed {
		r.Verdict = Verified
	}
	for c, check := range duelMeanings {
		passed := j.counts[c] == 0
		if !passed && r.FirstFailed == "" {
			r.Verdict, r.FirstFailed = Failed, check.name
		}
		r.Checks = append(r.Checks, Check{check.name, check.meaning, passed, j.counts[c], append([]Failure{}, j.failures[c]...)})
	}
	for seat, name := range seatNames {
		if j.seats[seat].source == "FALLBACK" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s fell back to a seed of the house: it is not protected from the house together with %s", name, seatNames[1-seat]))
		}
	}
	if j.seats[0].source == "OWN" && j.seats[1].source == "OWN" {
		r.Notes = append(r.Notes, "both client seeds were sent in clear: the seat that sent its own last is not protected from the house together with the other seat")
	}
	if o.LastPly == nil && j.isFixed() {
		r.Notes = append(r.Notes, "give the number of the last ply that you saw with --last-ply; without it rolls that were cut off at the end are not missed")
	}
	if !confirmed {
		r.Notes = append(r.Notes, "give the commitment that you were shown before you played with --commitment; without it the file only agrees with itself")
	}
	return r
}

func (j *duelJudge) summary() string {
	source := func(seat int) string {
		if j.seats[seat].source == "" {
			return "without a seed"
		}
		return j.seats[seat].source
	}
	count := fmt.Sprintf("%d rolls", len(j.rolls))
	if len(j.rolls) == 1 {
		count = "1 roll"
	}
	return fmt.Sprintf("%s; white %s, black %s; %s (%s)", count, source(0), source(1), j.state, j.reason)
}

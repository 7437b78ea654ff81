package evidence

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/openoriginals/originals/internal/mistake"
)

// Verdict is what a report comes to.
type Verdict string

// The three verdicts. A document that cannot be read has none: it is a *FormatError.
const (
	Verified   Verdict = "VERIFIED"                             // all checks hold, the player's own commitment among them
	Consistent Verdict = "CONSISTENT, COMMITMENT NOT CONFIRMED" // all checks hold, and no commitment was given to compare with
	Failed     Verdict = "FAILED"                               // a check does not hold
)

// checkID is the place of a check in Checks.
type checkID int

const (
	checkFormat checkID = iota
	checkCommitment
	checkIdentity
	checkNonce
	checkOrder
	checkOutcome
	checkWin
	checkMultiplier
	checkPayout
	checkStake
	checkCount
)

// checks names and explains all checks, in the order in which they are reported.
var checks = [checkCount]struct{ name, meaning string }{
	checkFormat:     {"format", "the document is complete and well-formed"},
	checkCommitment: {"commitment", "the server seed hashes to the commitment"},
	checkIdentity:   {"identity", "every round names this seed pair, its commitment and its client seed; no bet id stands twice"},
	checkNonce:      {"nonce", "every nonce from 0 on is there once"},
	checkOrder:      {"order", "no time runs backwards"},
	checkOutcome:    {"outcome", "every outcome follows from the seeds"},
	checkWin:        {"win", "every win and every loss is called rightly"},
	checkMultiplier: {"multiplier", "every multiplier is the one of the rules"},
	checkPayout:     {"payout", "every payout is the one of the rules"},
	checkStake:      {"stake", "every roulette stake is the sum of its chips"},
}

// MaxFailures is how many failures of one check a report describes; the rest is only counted.
const MaxFailures = 20

// Report is what came out of the checks.
type Report struct {
	Verdict Verdict `json:"verdict"`
	// FirstFailed is the name of the first check that does not hold, "" when all do.
	FirstFailed string   `json:"check"`
	Checks      []Check  `json:"checks"`
	Notes       []string `json:"notes"` // what no check forbids and the player should know
	Weak        bool     `json:"weak"`  // the client seed has fewer than 16 bytes
	Summary     Summary  `json:"summary"`
}

// Check is one check and its failures.
type Check struct {
	Name     string    `json:"name"`
	Meaning  string    `json:"meaning"`
	Passed   bool      `json:"passed"`
	Count    uint64    `json:"count,string"` // how many failures there are
	Failures []Failure `json:"failures"`     // the first MaxFailures of them
}

// Failure is one reason why a check does not hold.
type Failure struct {
	Nonce   int64           `json:"nonce"`             // of the round, or -1 when it is about no single round
	Words   string          `json:"words"`             // the reason, for people
	Mistake mistake.Mistake `json:"mistake,omitempty"` // of a single round: what the player seems to have done; may be empty
}

// String returns the words, after the nonce if there is one.
func (f Failure) String() string {
	if f.Nonce < 0 {
		return f.Words
	}
	return fmt.Sprintf("nonce %d: %s", f.Nonce, f.Words)
}

// Summary counts what the document holds, as stated there.
type Summary struct {
	Rounds uint64            `json:"rounds,string"`
	Games  map[string]uint64 `json:"games"` // rounds by game, in lower case; those that are void under "void"
	Staked []Sum             `json:"staked"`
	Paid   []Sum             `json:"paid"`
	Duel   string            `json:"duel,omitempty"`  // of a duel, which has nothing of the others: a line for people
	Crash  string            `json:"crash,omitempty"` // of a crash table, whose sums are those of the player's bets: a line for people
}

// Sum is an amount of one currency in its smallest booked unit. It may be above every int64.
type Sum struct {
	Currency string   `json:"currency"`
	Units    *big.Int `json:"units"`
}

// String returns the summary as one line.
func (s Summary) String() string {
	if s.Duel+s.Crash != "" {
		return s.Duel + s.Crash
	}
	var games []string
	for _, name := range []string{"dice", "limbo", "roulette", "mines", "void"} {
		if n := s.Games[name]; n > 0 {
			games = append(games, fmt.Sprintf("%d %s", n, name))
		}
	}
	count := fmt.Sprintf("%d rounds", s.Rounds)
	if s.Rounds == 1 {
		count = "1 round"
	}
	return fmt.Sprintf("%s: %s; staked %s; paid %s", count, join(games), joinSums(s.Staked), joinSums(s.Paid))
}

func joinSums(sums []Sum) string {
	var texts []string
	for _, sum := range sums {
		texts = append(texts, fmt.Sprintf("%d units of %s", sum.Units, sum.Currency))
	}
	return join(texts)
}

func join(texts []string) string {
	if len(texts) == 0 {
		return "nothing"
	}
	return strings.Join(texts, ", ")
}

// findings collects failures.
type findings struct {
	counts   [checkCount]uint64
	failures [checkCount][]Failure
}

// noNonce stands for a failure that is about no single round.
const noNonce = -1

func (f *findings) fail(c checkID, nonce int64, format string, arguments ...any) {
	f.counts[c]++
	if len(f.failures[c]) < MaxFailures {
		f.failures[c] = append(f.failures[c], Failure{Nonce: nonce, Words: fmt.Sprintf(format, arguments...)})
	}
}

// name names the mistake behind the last failure of a check.
func (f *findings) name(c checkID, m mistake.Mistake) {
	if last := len(f.failures[c]) - 1; last >= 0 {
		f.failures[c][last].Mistake = m
	}
}

// full reports whether a further failure of the check would only be counted.
func (f *findings) full(c checkID) bool { return len(f.failures[c]) >= MaxFailures }

// add takes over the findings of a later part of the document.
func (f *findings) add(later *findings) {
	for c := range f.counts {
		f.counts[c] += later.counts[c]
		room := min(MaxFailures-len(f.failures[c]), len(later.failures[c]))
		f.failures[c] = append(f.failures[c], later.failures[c][:room]...)
	}
}

// report turns the findings into a report; confirmed says that a commitment was given to compare with.
func (f *findings) report(confirmed bool) Report {
	r := Report{Verdict: Consistent, Notes: []string{}}
	if confirmed {
		r.Verdict = Verified
	}
	for c, check := range checks {
		passed := f.counts[c] == 0
		if !passed && r.FirstFailed == "" {
			r.Verdict, r.FirstFailed = Failed, check.name
		}
		failures := append([]Failure{}, f.failures[c]...)
		r.Checks = append(r.Checks, Check{check.name, check.meaning, passed, f.counts[c], failures})
	}
	return r
}

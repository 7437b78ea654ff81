package evidence

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/openoriginals/originals/internal/rng"
)

// The verdicts on rounds of a crash table that hold, and of which the player did not say what they were promised to be.
const (
	TerminalOpen Verdict = "CONSISTENT, TERMINAL NOT CONFIRMED" // no terminal was given to compare with
	SaltOpen     Verdict = "CONSISTENT, SALT NOT CONFIRMED"     // the terminal is the one that was kept, and no salt was given
)

// CrashOptions is what the player kept of a crash table, and how to work.
type CrashOptions struct {
	Terminal *rng.Terminal // that was shown before the first bet; nil when it was not kept
	Salt     *rng.Salt     // of the chain, shown before the first bet; nil when it was not kept
	// Beacons finds the network of this hash, by which signatures are checked; that of drand's quicknet for "". It is nil,
	// or returns nil, where they are not checked.
	Beacons  func(network string) Beacon
	Progress func(links uint32) // told how many more links were walked; may be nil
}

// QuicknetHash names drand's quicknet. Any other network could be one of the operator's.
const QuicknetHash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"

// Beacon checks rounds of the public beacon that salts crash rounds; *beacon.Network is one.
type Beacon interface {
	// Verify checks the signature of a round, and returns its randomness.
	Verify(round uint64, signature []byte) (rng.Salt, error)
	// TimeOf returns when a round is published.
	TimeOf(round uint64) time.Time
	// NamedFor returns the round that a crash round names whose betting closes at lock.
	NamedFor(lock time.Time) uint64
}

// VerifyCrash reads answers of the API about one crash table and checks everything in them: rounds, pages of rounds, the
// table itself and bets, in any order, one after the other or in lists. The error is a *FormatError when they are
// unusable, the reader's error, or the context's; then there is no report.
//
// The walk to the terminal takes as many hashes as the first round has a number, some ten million a second.
func VerifyCrash(ctx context.Context, r io.Reader, o CrashOptions) (Report, error) {
	document, err := readCrash(r)
	if err != nil {
		return Report{}, err
	}
	j := crashJudge{crashDocument: document, o: o}
	if err := j.judge(ctx); err != nil {
		return Report{}, err
	}
	return j.report(), nil
}

// IsCrash looks at the beginning of a document, and returns a reader of all of it and whether it holds answers about a
// crash table. It says no when it cannot tell: then Verify says what is wrong.
func IsCrash(r io.Reader) (document io.Reader, is bool, err error) {
	head, last, err := fill(r, nil, formatBytes)
	is = beginsWithCrash(head)
	if !is && !last && err == nil {
		head, _, err = fill(r, head, maxFormatBytes)
		is = beginsWithCrash(head)
	}
	return io.MultiReader(bytes.NewReader(head), r), is, err
}

// beginsWithCrash reports whether the first object of a text, or of the list with which it begins, is a crash table, a
// round of one or a page of rounds.
func beginsWithCrash(head []byte) bool {
	c := cursor{text: head}
	if c.next() == '[' {
		c.at++
	}
	text := head[c.at:]
	switch kindOf(text) {
	case crashRoundKind, crashTableKind:
		return true
	case crashPageKind: // other documents have a list of this name, too
		list := bytes.IndexByte(text, '[')
		return list >= 0 && kindOf(text[list+1:]) == crashRoundKind
	default:
		return false
	}
}

package evidence

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// ErrAnchor says that the hash in place of the terminal is not that of an earlier round.
var ErrAnchor = errors.New("evidence: the anchor is not an earlier round")

// CrashClaim is one round of a crash table, and a bet in it, as its player has it.
type CrashClaim struct {
	Table  rng.Table
	Number uint32 // from 1
	Link   rng.Link
	Salt   rng.Salt // of the chain; may be left out where the beacon's signature is given
	// Of the beacon that salts this round alone; nil and 0 without one.
	BeaconSignature []byte
	BeaconRound     uint64
	BeaconNetwork   string // its hash; that of drand's quicknet for ""
	// Terminal is what was announced before the round; nil when it was not kept. With an Anchor it is the hash of an
	// earlier round of this number, in place of the terminal, which is nearer.
	Terminal *rng.Terminal
	Anchor   uint32
	TargetE2 uint32      // where the bet cashed out, or would have by itself, in hundredths; 0 without a bet
	Stake    money.Units // 0 when it is not known
	// Stated is what the player was shown, by name: crashE2, and of the bet win, multiplierE4, payout. It may be empty.
	Stated map[string]string
}

// CrashResult is what hash and salt give to a claim.
type CrashResult struct {
	Reached rng.Terminal // where the hash leads to: what the terminal, or the anchor, has to be
	Digest  string       // 64 lower-case hex digits
	Salt    rng.Salt
	PointE2 uint32  // hundredths
	Values  []Value // crashE2; of the bet win, multiplierE4 and, where the stake is known, payout
	Report  Report  // its check "commitment" is about the terminal, and the beacon's signature
}

// VerifyCrashRound derives one round and compares all that the claim states. Of the options Beacons and Progress count.
// It takes as many hashes as the number is above the anchor. Errors: ErrAnchor, ErrStated, money.ErrOverflow, those of
// rng.Link.CrashDigest, and the context's.
func VerifyCrashRound(ctx context.Context, c CrashClaim, o CrashOptions) (CrashResult, error) {
	if c.Anchor >= c.Number {
		return CrashResult{}, ErrAnchor
	}
	var f findings
	var notes []string
	notes = c.checkBeacon(&f, o, notes)
	digest, err := c.Link.CrashDigest(c.Table, c.Number, c.Salt)
	if err != nil {
		return CrashResult{}, err
	}
	point, err := crash.Point(digest)
	if err != nil {
		return CrashResult{}, err
	}
	reached, err := c.checkChain(ctx, &f, o.Progress)
	if err != nil {
		return CrashResult{}, err
	}
	values, err := c.values(point)
	if err != nil {
		return CrashResult{}, err
	}
	if err := f.compare(noNonce, c.Stated, values, c.hint); err != nil {
		return CrashResult{}, err
	}
	report := f.report(c.Terminal != nil)
	report.Checks = pick(report.Checks)
	report.Checks[0].Meaning = "the hash leads to the terminal, and the salt is that of the beacon where there is one"
	report.Notes = append(report.Notes, notes...)
	if c.Terminal == nil {
		if report.Verdict == Consistent {
			report.Verdict = TerminalOpen
		}
		report.Notes = append(report.Notes, "give the terminal that you were shown before you played; without it anybody could have made up this hash")
	}
	report.Summary = Summary{Rounds: 1, Games: map[string]uint64{"crash": 1}, Staked: []Sum{}, Paid: []Sum{}}
	return CrashResult{reached, digest.Reveal(), c.Salt, point, values, report}, nil
}

// checkBeacon checks the signature of the round's own beacon, which gives the salt, and returns the notes with what the
// player should know of the salt.
func (c *CrashClaim) checkBeacon(f *findings, o CrashOptions, notes []string) []string {
	if c.BeaconSignature == nil {
		return append(notes, "see that the salt is the one that you were shown before you played: whoever could choose it could choose this outcome")
	}
	salt := rng.Salt(hex.EncodeToString(sha256Of(c.BeaconSignature)))
	if c.Salt != "" && c.Salt != salt {
		f.fail(checkCommitment, noNonce, "the salt is given as %s, and the SHA-256 of the beacon's signature is %s", c.Salt, salt)
	}
	c.Salt = salt
	if words := foreignBeacon(c.BeaconNetwork); words != "" {
		notes = append(notes, words)
	}
	var b Beacon
	if o.Beacons != nil {
		b = o.Beacons(c.BeaconNetwork)
	}
	if b == nil || c.BeaconRound == 0 {
		return append(notes, uncheckedBeacon)
	}
	if _, err := b.Verify(c.BeaconRound, c.BeaconSignature); err != nil {
		f.fail(checkCommitment, noNonce, "the beacon's signature is not that of its round %d", c.BeaconRound)
	}
	return append(notes, "see that this round of the beacon is the one that was named before you played")
}

// checkChain walks from the hash to the terminal, or to the anchor.
func (c *CrashClaim) checkChain(ctx context.Context, f *findings, progress func(uint32)) (reached rng.Terminal, err error) {
	link, err := c.Link.RevealBytes()
	if err != nil {
		return reached, err
	}
	var target rng.Terminal
	if c.Terminal != nil {
		target = *c.Terminal
	}
	steps := c.Number - c.Anchor
	reached, met, err := walk(ctx, link, target, steps, progress)
	if err != nil || c.Terminal == nil || met == steps {
		return reached, err
	}
	what := "the terminal"
	if c.Anchor > 0 {
		what = fmt.Sprintf("the hash of round %d", c.Anchor)
	}
	m, words := numberMistake(steps, met, c.Anchor, link, target)
	if backwards, _, err := walk(ctx, target, link, min(steps, walkSlice), nil); err == nil && backwards == rng.Terminal(link) {
		m, words = mistake.CommitmentForSeed, "; the two are in each other's place"
	}
	f.fail(checkCommitment, noNonce, "%d hashes lead to %s, and not to %s %s%s", steps, reached, what, target, words)
	f.name(checkCommitment, m)
	return reached, nil
}

// values returns what a crash point gives.
func (c *CrashClaim) values(point uint32) ([]Value, error) {
	values := []Value{{"crashE2", fmt.Sprint(point)}}
	if c.TargetE2 == 0 {
		return values, nil
	}
	b := crash.Bet{TargetE2: c.TargetE2}
	won, multiplier := b.Wins(point), money.Multiplier(0)
	if won {
		multiplier = b.Multiplier()
	}
	values = append(values, Value{"win", fmt.Sprint(won)}, Value{"multiplierE4", fmt.Sprint(int64(multiplier))})
	if c.Stake == 0 {
		return values, nil
	}
	payout, err := money.Payout(c.Stake, multiplier)
	if err != nil {
		return nil, err
	}
	return append(values, Value{"payout", fmt.Sprint(int64(payout))}), nil
}

func (c *CrashClaim) hint(_ int, stated, _ string) (mistake.Mistake, string) {
	point, err := strconv.ParseUint(stated, 10, 32)
	if err != nil {
		return "", ""
	}
	return pointMistake(c.Link, c.Table, c.Number, c.Salt, uint32(point))
}

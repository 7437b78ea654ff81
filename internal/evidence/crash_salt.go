package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/openoriginals/originals/internal/rng"
)

// saltOf checks the salt of a round and returns it; ok is false when it has none, or none that can be used.
func (j *crashJudge) saltOf(r *crashRound) (salt rng.Salt, ok bool) {
	switch {
	case r.salt != nil && r.beacon != nil:
		j.fail(crashSalts, "round %d has a salt and a beacon", r.number)
		return "", false
	case r.beacon != nil:
		return j.beaconSalt(r)
	case r.salt != nil && r.salt.value != "":
		return j.chainSalt(r)
	}
	if r.state != stateVoid {
		j.fail(crashSalts, "round %d has no salt", r.number)
	} else if r.point != 0 {
		j.fail(crashPoints, "round %d: it has no salt, and a crash point", r.number)
	}
	j.saltless++
	return "", false
}

func (j *crashJudge) chainSalt(r *crashRound) (salt rng.Salt, ok bool) {
	salt = rng.Salt(r.salt.value)
	if first := j.rounds[0].salt; r.number == j.rounds[0].number || first == nil {
		j.checkFixed(r)
	} else if *r.salt != *first {
		j.fail(crashSalts, "round %d has the salt %s, and others have %s", r.number, r.salt.value, first.value)
	}
	return salt, true
}

// checkFixed checks the salt of a whole chain.
func (j *crashJudge) checkFixed(r *crashRound) {
	s := r.salt
	if kept := j.o.Salt; kept != nil && string(*kept) != s.value {
		j.fail(crashSalts, "you kept the salt %s, and that of round %d is %s: another chain, or another promise", *kept, r.number, s.value)
	}
	switch s.kind {
	case saltSelfChosen:
		j.note("the salt is self-chosen: the operator could have chosen these outcomes")
	case saltBitcoin:
		j.note(fmt.Sprintf("the salt is called the hash of Bitcoin block %d, named in advance: look it up in an explorer", s.named))
	case saltDrand:
		j.note(fmt.Sprintf("the salt is called that of drand round %d: see that this round was named before it was published", s.named))
		j.checkSignature(r.number, crashBeacon{s.named, s.value, s.signature, s.network})
	}
	j.note("with one salt for all rounds, whoever holds the chain knows every crash point")
}

func (j *crashJudge) beaconSalt(r *crashRound) (salt rng.Salt, ok bool) {
	b := r.beacon
	if j.o.Salt != nil {
		j.fail(crashSalts, "you kept the salt %s, and round %d is salted by a beacon", *j.o.Salt, r.number)
	}
	if b.randomness == "" && r.state == stateVoid {
		if r.point != 0 {
			j.fail(crashPoints, "round %d: its beacon was not published, and it has a crash point", r.number)
		}
		j.saltless++
		return "", false
	}
	if b.randomness == "" {
		j.fail(crashSalts, "round %d: its beacon is missing", r.number)
		return "", false
	}
	j.checkSignature(r.number, *b)
	j.checkNamed(r)
	return rng.Salt(b.randomness), true
}

// checkSignature checks that the randomness is that of the beacon's round.
func (j *crashJudge) checkSignature(number uint32, b crashBeacon) {
	raw := bytesOf(b.signature)
	if hex.EncodeToString(sha256Of(raw)) != b.randomness {
		j.fail(crashSalts, "round %d: the randomness is not the SHA-256 of the beacon's signature", number)
		return
	}
	network := j.beaconOf(b.network)
	if network == nil {
		return
	}
	if _, err := network.Verify(uint64(b.round), raw); err != nil {
		j.fail(crashSalts, "round %d: the beacon's signature is not that of its round %d", number, b.round)
	}
}

// beaconOf returns the network by which signature and calendar of a beacon are checked, or nil.
func (j *crashJudge) beaconOf(network string) Beacon {
	if words := foreignBeacon(network); words != "" {
		j.unknown = true
		j.note(words)
	}
	if j.o.Beacons != nil {
		if b := j.o.Beacons(network); b != nil {
			return b
		}
	}
	j.note(uncheckedBeacon)
	return nil
}

const uncheckedBeacon = "whose signatures those of the beacon are was not checked"

// foreignBeacon says what is to be known of a beacon that is not drand's, or "".
func foreignBeacon(network string) string {
	if network == "" || network == QuicknetHash {
		return ""
	}
	return fmt.Sprintf("the beacon's network %s is not drand's quicknet: whoever runs it could know these outcomes", network)
}

func sha256Of(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return sum[:]
}

// checkNamed checks that a round's beacon was the first that nobody could know while bets were taken. Betting may have
// closed later than planned when the beacon was named, but before that beacon was published; else the round is void.
func (j *crashJudge) checkNamed(r *crashRound) {
	network := j.beaconOf(r.beacon.network)
	if network == nil || r.state == stateVoid {
		return
	}
	if r.lock == (instant{}) {
		j.fail(crashSalts, "round %d: it does not say when betting closed", r.number)
		return
	}
	lock, named := r.lock.time(), uint64(r.beacon.round)
	switch published := network.TimeOf(named); {
	case !published.After(lock):
		j.fail(crashSalts, "round %d: its beacon %d was published at %s, before betting closed", r.number, named, published.Format(time.RFC3339))
	case named > network.NamedFor(lock):
		j.fail(crashSalts, "round %d: its beacon is %d, and by the time at which betting closed it is %d at the latest", r.number, named, network.NamedFor(lock))
	}
}

// time returns the instant as a time.
func (t instant) time() time.Time {
	part := func(divisor, modulus uint64) int { return int(t.seconds / divisor % modulus) }
	return time.Date(part(1e10, 1e4), time.Month(part(1e8, 100)), part(1e6, 100), part(1e4, 100), part(100, 100), part(1, 100), int(t.nanos), time.UTC)
}

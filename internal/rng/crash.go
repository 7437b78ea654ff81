package rng

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// MaxTableBytes is the length of the longest name of a table.
const MaxTableBytes = 32

var (
	// ErrTable says that a text is not 1 to 32 of a-z, 0-9 and the hyphen.
	ErrTable = errors.New("rng: table is not 1 to 32 of a-z, 0-9 and -")
	// ErrSalt says that a text is not exactly 64 lower-case hex digits.
	ErrSalt = errors.New("rng: salt is not 64 lower-case hex digits")
	// ErrRoundNumber says that a round's number is 0: rounds count from 1.
	ErrRoundNumber = errors.New("rng: round number is 0")
	// ErrCrashDigestUnset says that a CrashDigest was used that nobody ever set.
	ErrCrashDigestUnset = errors.New("rng: crash digest was never set")
)

// Table is the name of a crash table, `[a-z0-9-]{1,32}`. It serves one chain for ever.
type Table string

// ParseTable accepts a name as it stands, else ErrTable.
func ParseTable(text string) (Table, error) {
	t := Table(text)
	if !t.valid() {
		return "", ErrTable
	}
	return t, nil
}

func (t Table) valid() bool {
	if len(t) < 1 || len(t) > MaxTableBytes {
		return false
	}
	for i := range len(t) {
		if c := t[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Salt is what a chain, or a single round with a beacon, is mixed with: 64 lower-case hex digits that nobody knew when
// the terminal was published. It is public.
type Salt string

// NewSalt draws a salt of the house's own. A chain that has it is marked: the operator could have chosen its outcomes.
func NewSalt() (Salt, error) {
	var raw [32]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return "", fmt.Errorf("rng: draw a salt: %w", err)
	}
	return Salt(hex.EncodeToString(raw[:])), nil
}

// ParseSalt accepts exactly 64 lower-case hex digits, else ErrSalt.
func ParseSalt(text string) (Salt, error) {
	s := Salt(text)
	if !s.valid() {
		return "", ErrSalt
	}
	return s, nil
}

func (s Salt) valid() bool {
	var d digits
	return d.parse(string(s))
}

// CrashDigest is what the crash point of one round is read from. It is as secret as the link, until the round crashed,
// and redacts in the same way. The zero CrashDigest is unusable.
type CrashDigest struct{ hidden }

// CrashDigest returns HMAC-SHA256(key = the link's 32 raw bytes, message = `table:number:salt`), the number in decimal
// (SPEC.md, crash-v1). It is ErrLinkUnset, ErrTable, ErrRoundNumber or ErrSalt when a part is not usable, so that no
// round is ever drawn from an incomplete chain.
func (l Link) CrashDigest(table Table, number uint32, salt Salt) (CrashDigest, error) {
	raw, err := l.RevealBytes()
	switch {
	case err != nil:
		return CrashDigest{}, err
	case !table.valid():
		return CrashDigest{}, ErrTable
	case number == 0:
		return CrashDigest{}, ErrRoundNumber
	case !salt.valid():
		return CrashDigest{}, ErrSalt
	}
	mac := hmac.New(sha256.New, raw[:])
	var space [MaxTableBytes + 1 + len("4294967295") + 1 + hexDigits]byte
	message := append(space[:0], table...)
	message = append(message, ':')
	message = strconv.AppendUint(message, uint64(number), 10)
	message = append(message, ':')
	mac.Write(append(message, salt...)) // a hash never fails
	var digest [sha256.Size]byte
	mac.Sum(digest[:0])
	d := new(digits)
	d.encode(&digest)
	return CrashDigest{hidden{&d}}, nil
}

// Reveal returns the 64 lower-case hex digits, for the proof of a round that crashed. Of a digest that was never set it
// is empty.
func (d CrashDigest) Reveal() string { return d.reveal() }

// Top52 returns the first 13 hex digits as an integer, 0..2^52-1, or ErrCrashDigestUnset.
func (d CrashDigest) Top52() (uint64, error) {
	if d.IsZero() {
		return 0, ErrCrashDigestUnset
	}
	raw := (*d.text).decode()
	return binary.BigEndian.Uint64(raw[:]) >> 12, nil
}

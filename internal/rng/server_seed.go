package rng

import (
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/sha3"
)

// ServerSeedSize is the length of a server seed in bytes.
const ServerSeedSize = 32

var (
	// ErrServerSeedFormat says that a text is not exactly 64 lower-case hex digits.
	ErrServerSeedFormat = errors.New("rng: server seed is not 64 lower-case hex digits")
	// ErrServerSeedLength says that a server seed is not exactly 32 bytes.
	ErrServerSeedLength = errors.New("rng: server seed is not 32 bytes")
	// ErrServerSeedUnset says that a ServerSeed was used that nobody ever set: a missing record is an error, never an
	// empty key.
	ErrServerSeedUnset = errors.New("rng: server seed was never set")
)

// ServerSeed is the secret of the house: 32 bytes, and the 64 lower-case hex digits that are hashed. It prints, logs
// and encodes as a fixed text; Reveal and RevealBytes are the only ways out. The zero ServerSeed is unusable: every
// derivation from it is ErrServerSeedUnset.
type ServerSeed struct{ hidden }

// NewServerSeed draws a server seed from crypto/rand. On an error there is no server seed, and no other source is tried.
func NewServerSeed() (ServerSeed, error) {
	var raw [ServerSeedSize]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return ServerSeed{}, fmt.Errorf("rng: draw server seed: %w", err)
	}
	return ServerSeedFromBytes(raw[:])
}

// ParseServerSeed accepts exactly 64 lower-case hex digits and nothing around them, else ErrServerSeedFormat. The error
// never repeats the text.
func ParseServerSeed(text string) (ServerSeed, error) {
	d := new(digits)
	if !d.parse(text) {
		return ServerSeed{}, ErrServerSeedFormat
	}
	return ServerSeed{hidden{&d}}, nil
}

// ServerSeedFromBytes accepts exactly 32 bytes, else ErrServerSeedLength. It keeps no reference to b.
func ServerSeedFromBytes(b []byte) (ServerSeed, error) {
	if len(b) != ServerSeedSize {
		return ServerSeed{}, ErrServerSeedLength
	}
	d := new(digits)
	d.encode((*[ServerSeedSize]byte)(b))
	return ServerSeed{hidden{&d}}, nil
}

// Reveal returns the text of the server seed, 64 lower-case hex digits, for the player whose seed pair has ended. It is
// the one function that gives the text away; of a server seed that was never set it is empty.
func (s ServerSeed) Reveal() string { return s.reveal() }

// RevealBytes returns the 32 raw bytes, for sealing them into the store and nothing else, or ErrServerSeedUnset.
func (s ServerSeed) RevealBytes() ([ServerSeedSize]byte, error) {
	if s.IsZero() {
		return [ServerSeedSize]byte{}, ErrServerSeedUnset
	}
	return (*s.text).decode(), nil
}

// Commitment returns SHA3-256 of the text of the server seed (SPEC.md, commitment), or ErrServerSeedUnset.
func (s ServerSeed) Commitment() (Commitment, error) {
	if s.IsZero() {
		return Commitment{}, ErrServerSeedUnset
	}
	return sha3.Sum256((*s.text)[:]), nil
}

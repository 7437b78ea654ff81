package rng

import (
	"encoding/hex"
	"errors"
)

// ErrCommitment says that a text is not exactly 64 lower-case hex digits.
var ErrCommitment = errors.New("rng: commitment is not 64 lower-case hex digits")

// Commitment is the SHA3-256 hash of a server seed's text. It is public from the start, and comparable with ==.
type Commitment [32]byte

// ParseCommitment accepts exactly 64 lower-case hex digits, else ErrCommitment.
func ParseCommitment(text string) (Commitment, error) {
	var d digits
	if !d.parse(text) {
		return Commitment{}, ErrCommitment
	}
	return d.decode(), nil
}

// String returns the 64 lower-case hex digits.
func (c Commitment) String() string { return hex.EncodeToString(c[:]) }

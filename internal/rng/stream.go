package rng

import (
	"crypto/sha3"
	"encoding/binary"
)

// BlockBytes is the rate of SHAKE256: how many bytes of a stream one permutation yields.
const BlockBytes = 136

// maxUniform is the number of values of a 32-bit word, the largest range that Uniform draws from.
const maxUniform = 1 << 32

// Stream is the endless stream of one round: SHAKE256 over the 64 hex digits of its signature, read in big-endian words.
// It is a plain value: drawing from it does not allocate, and a copy goes on by itself from where it was copied. Only
// NewStream makes a usable one. It belongs to one goroutine.
type Stream struct {
	shake sha3.SHAKE
	block [BlockBytes]byte
	used  int  // bytes of block that are drawn already
	given bool // the block was given to Begin, and shake has not yielded it yet
}

// NewStream starts the stream of a signature. It panics on the zero Signature, which only a program that dropped an
// error can hold: no outcome may come from a missing secret.
func NewStream(signature Signature) (s Stream) {
	s.Start(signature)
	return s
}

// unwritten is a SHAKE256 that has absorbed nothing.
var unwritten = *sha3.NewSHAKE256()

// Start makes s the stream of a signature, as NewStream does, in memory that the caller has: for many rounds in a row.
func (s *Stream) Start(signature Signature) {
	s.shake, s.given = unwritten, false
	_, _ = s.shake.Write((*signature.text)[:])
	s.squeeze()
}

// Begin makes s the stream of a revealed signature whose first block is known, which is so for a verifier that permutes
// several streams at once. The caller answers for the block: it is drawn from as it is, and what follows it is derived
// from the digits.
func (s *Stream) Begin(signature *[hexDigits]byte, block *[BlockBytes]byte) {
	s.shake, s.given = unwritten, true
	_, _ = s.shake.Write(signature[:])
	s.block, s.used = *block, 0
}

// squeeze fills the block with the next 136 bytes, at the cost of one permutation. SHAKE never returns an error.
// It stays a call, so that Word32, which rarely makes it, is none.
//
//go:noinline
func (s *Stream) squeeze() {
	if s.given {
		_, _ = s.shake.Read(s.block[:])
		s.given = false
	}
	_, _ = s.shake.Read(s.block[:])
	s.used = 0
}

// Word32 draws the next 4 bytes as a big-endian integer.
func (s *Stream) Word32() uint32 {
	if s.used == BlockBytes { // a block is 34 words: no word crosses its end
		s.squeeze()
	}
	s.used += 4
	return binary.BigEndian.Uint32(s.block[s.used-4:])
}

// Word64 draws the next 8 bytes as a big-endian integer.
func (s *Stream) Word64() uint64 {
	high := s.Word32()
	return uint64(high)<<32 | uint64(s.Word32())
}

// Uniform draws an integer from 0 to n-1, each equally likely, for 1 <= n <= 2^32. Words at or above
// limit = floor(2^32/n) * n are rejected and the next one is drawn (SPEC.md, uniform). An n outside that range is an
// error in the program, and panics: no number would be a fair answer.
func (s *Stream) Uniform(n uint64) uint32 {
	if n < 1 || n > maxUniform {
		panic("rng: Uniform needs 1 <= n <= 2^32")
	}
	if n == maxUniform {
		return s.Word32()
	}
	for {
		word := s.Word32()
		remainder := word % uint32(n)
		// word < limit exactly when the run of n words that holds it ends at 2^32 or before; this form needs one division.
		if uint64(word-remainder)+n <= maxUniform {
			return remainder
		}
	}
}

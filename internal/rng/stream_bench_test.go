package rng_test

import (
	"crypto/sha3"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

// BenchmarkDerive takes one round from the server seed to its first uniform integer: two permutations for a client seed
// of up to 59 bytes.
func BenchmarkDerive(b *testing.B) {
	seed := mustServerSeed(b, zeros)
	b.ReportAllocs()
	for nonce := uint32(0); b.Loop(); nonce++ {
		signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
		if err != nil {
			b.Fatal(err)
		}
		stream := rng.NewStream(signature)
		stream.Uniform(10000)
	}
}

// BenchmarkBarePermutations is the floor under BenchmarkDerive: two permutations of Keccak with nothing around them but
// the reading of their output.
func BenchmarkBarePermutations(b *testing.B) {
	var shake sha3.SHAKE
	var block [136]byte
	b.ReportAllocs()
	for b.Loop() {
		_, _ = shake.Read(block[:])
		_, _ = shake.Read(block[:])
	}
}

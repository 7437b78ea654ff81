package rng_test

import (
	"testing"

	"github.com/openoriginals/originals/internal/rng"
	"pgregory.net/rapid"
)

const words = uint64(1) << 32

// limitOf is the definition in SPEC.md, with a division that the code under test does not make.
func limitOf(n uint64) uint64 { return words / n * n }

// checkBoundary puts words on each side of the rejection limit of n and follows them with a word that is always accepted.
func checkBoundary(t testing.TB, n uint64) {
	t.Helper()
	limit := limitOf(n)
	stream := rng.StreamOfWords(uint32(limit-1), 0)
	if got := stream.Uniform(n); uint64(got) != n-1 || stream.Word32() != 0 {
		t.Errorf("n=%d: the word limit-1 gave %d, want %d and no rejection", n, got, n-1)
	}
	if limit == words { // nothing is ever rejected
		return
	}
	for _, word := range []uint32{uint32(limit), uint32(words - 1)} {
		stream := rng.StreamOfWords(word, word, uint32(n-1), 4242)
		if got := stream.Uniform(n); uint64(got) != n-1 {
			t.Errorf("n=%d: after the rejected word %d came %d, want %d", n, word, got, n-1)
		}
		if stream.Word32() != 4242 {
			t.Errorf("n=%d: rejecting %d twice did not use exactly three words", n, word)
		}
	}
}

func TestModuloBias(t *testing.T) {
	for n := uint64(1); n <= 1<<17; n++ {
		checkBoundary(t, n)
	}
	for _, n := range []uint64{1<<31 - 1, 1 << 31, 1<<31 + 1, words/3 + 1, words - 1, words} {
		checkBoundary(t, n)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, words).Draw(t, "n")
		limit := limitOf(n)
		stream := rng.StreamOfWords(uint32(limit-1), 0)
		if got := stream.Uniform(n); uint64(got) != n-1 {
			t.Fatalf("limit-1 gave %d, want %d", got, n-1)
		}
		word := rapid.Uint32().Draw(t, "word")
		stream = rng.StreamOfWords(word, uint32(n-1))
		want := n - 1
		if uint64(word) < limit {
			want = uint64(word) % n
		}
		if got := stream.Uniform(n); uint64(got) != want {
			t.Fatalf("word %d gave %d, want %d", word, got, want)
		}
	})
}

// round() instead of floor() when scaling gives the first and the last outcome
// half of their due. Of a whole run of accepted words, every outcome of 0..n-1
// takes equally many.
func TestRoundInsteadOfFloorWhenScaling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 300).Draw(t, "n")
		start := rapid.Uint64Range(0, words/n-8).Draw(t, "start") * n
		counts := make([]int, n)
		for word := start; word < start+7*n; word++ {
			stream := rng.StreamOfWords(uint32(word))
			counts[stream.Uniform(n)]++
		}
		for outcome, count := range counts {
			if count != 7 {
				t.Fatalf("n=%d: outcome %d came %d times in 7 runs of n words", n, outcome, count)
			}
		}
	})
}

func TestRejectionLoopRunsOut(t *testing.T) {
	var rejected [34]uint32 // a whole block of words that 10000 rejects
	for i := range rejected {
		rejected[i] = uint32(words - 1)
	}
	stream := rng.StreamOfWords(rejected[:]...)
	reference := rng.StreamOfWords()
	want := uint64(reference.Word32()) // the next block's first word, which 10000 accepts
	if want >= limitOf(10000) {
		t.Fatal("the reference word is itself rejected")
	}
	if got := stream.Uniform(10000); uint64(got) != want%10000 {
		t.Errorf("after a block of rejected words came %d, want %d", got, want%10000)
	}
}

func TestUniformRefusesImpossibleRanges(t *testing.T) {
	for _, n := range []uint64{0, words + 1, 1<<64 - 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Uniform(%d) gave a number", n)
				}
			}()
			stream := rng.StreamOfWords(1, 2, 3)
			stream.Uniform(n)
		}()
	}
}

func FuzzUniform(f *testing.F) {
	f.Add(uint64(10000), uint32(4294959999))
	f.Add(uint64(10000), uint32(4294960000))
	f.Add(uint64(37), uint32(words-1))
	f.Add(words, uint32(words-1))
	f.Add(uint64(1), uint32(0))
	f.Fuzz(func(t *testing.T, n uint64, word uint32) {
		n = n%words + 1
		stream := rng.StreamOfWords(word, 0)
		got := uint64(stream.Uniform(n))
		want := uint64(0)
		if uint64(word) < limitOf(n) {
			want = uint64(word) % n
		}
		if got != want {
			t.Errorf("n=%d word=%d: %d, want %d", n, word, got, want)
		}
	})
}

package rng_test

import (
	"crypto/sha3"
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/rng"
)

// A commitment hides what it commits to only if there is too much of it to try: a server seed has 256 bits, each of which the
// generator uses, whatever way it comes in, and what is committed to is never a result.
func TestCommitmentPreimageSmallEnoughToSearch(t *testing.T) {
	for digits := range 64 {
		if _, err := rng.ParseServerSeed(zeros[:digits]); err == nil {
			t.Errorf("a server seed of %d digits is taken", digits)
		}
	}
	var seen [2][256]bool // which bits were 0 and 1
	for range 200 {       // a fair bit is the same in all of them with a chance of 2^-199
		seed, err := rng.NewServerSeed()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(seed.Reveal())
		if err != nil || len(raw) != 32 {
			t.Fatalf("%d bytes, %v", len(raw), err)
		}
		for bit := range 256 {
			seen[raw[bit/8]>>(bit%8)&1][bit] = true
		}
	}
	for bit := range 256 {
		if !seen[0][bit] || !seen[1][bit] {
			t.Errorf("bit %d of a new server seed never changes", bit)
		}
	}
	seed := mustServerSeed(t, exampleSeed)
	commitment, err := seed.Commitment()
	if err != nil {
		t.Fatal(err)
	}
	results := []string{mustSign(t, seed, exampleClient, 0).Reveal()}
	for roll := range 10_000 { // every roll and every pocket
		results = append(results, strconv.Itoa(roll))
	}
	for _, result := range results {
		if sum := sha3.Sum256([]byte(result)); hex.EncodeToString(sum[:]) == commitment.String() {
			t.Errorf("the commitment is the hash of the result %s", result)
		}
	}
}

// The commitment fixes the server seed alone, and the parts are not added up anywhere: what one part gains, another cannot take
// back.
func TestCommitmentToASumNotToTheParts(t *testing.T) {
	number, ok := new(big.Int).SetString(exampleSeed, 16)
	if !ok {
		t.Fatal("no number")
	}
	signatures := map[string]string{}
	for shift := range int64(100) {
		text := new(big.Int).Add(number, big.NewInt(shift)).Text(16)
		seed := mustServerSeed(t, strings.Repeat("0", 64-len(text))+text)
		commitment, err := seed.Commitment()
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha3.Sum256([]byte(seed.Reveal())); commitment.String() != hex.EncodeToString(sum[:]) {
			t.Fatalf("the commitment of %s is not the hash of its text", seed.Reveal())
		}
		client := strconv.FormatInt(1000-shift, 10) // the sum of the two seeds stays
		for _, nonce := range []uint32{uint32(shift), uint32(100 - shift), 7} {
			message := seed.Reveal() + ":" + client + ":" + strconv.Itoa(int(nonce))
			signature := mustSign(t, seed, rng.ClientSeed(client), nonce).Reveal()
			if other, twice := signatures[signature]; twice && other != message {
				t.Errorf("%s and %s give the same round", other, message)
			}
			signatures[signature] = message
		}
	}
	if len(signatures) < 290 {
		t.Errorf("%d signatures", len(signatures))
	}
}

// Two client seeds that a program may take for one, in bytes, in UTF-16 or to the eye, are either refused or give different rounds.
func TestDifferentStringsSameBytes(t *testing.T) {
	for _, text := range []string{
		"\xff", "a\xed\xa0\x80", "a\xc3", "\xc0\xafa", "a\x00", "a\x00b", "\ufeffa", "a\u200b", "\u00e9", "e\u0301", "\ufffd", "\uff41", "a ", "a\t", "a\n", "\u0430",
	} {
		if _, err := rng.ParseClientSeed(text); err == nil {
			t.Errorf("the client seed %q is taken", text)
		}
	}
	seed := mustServerSeed(t, exampleSeed)
	rapid.Check(t, func(t *rapid.T) {
		visible := rapid.StringMatching(`[!-~]{1,64}`)
		one, other := visible.Draw(t, "one"), visible.Draw(t, "other")
		if rapid.Bool().Draw(t, "alike") {
			other = strings.ToUpper(one)
		}
		first, second := rapid.Uint32Range(0, 30).Draw(t, "first"), rapid.Uint32Range(0, 30).Draw(t, "second")
		a, errA := seed.Sign(rng.ClientSeed(one), first)
		b, errB := seed.Sign(rng.ClientSeed(other), second)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if same := one == other && first == second; (a.Reveal() == b.Reveal()) != same {
			t.Fatalf("%q:%d and %q:%d", one, first, other, second)
		}
	})
}

package rng_test

import (
	"encoding/hex"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
	"pgregory.net/rapid"
)

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// The patterns of SPEC.md; the parsers under test use no regular expression.
var (
	hexPattern    = regexp.MustCompile(`\A[0-9a-f]{64}\z`)
	clientPattern = regexp.MustCompile(`\A[\x21-\x7e]{1,64}\z`)
	noncePattern  = regexp.MustCompile(`\A(0|[1-9][0-9]{0,9})\z`)
)

var badHex = []string{
	"", "0", zeros[1:], zeros + "0", zeros + "\n", "\n" + zeros, zeros[1:] + "\n", " " + zeros[1:], zeros + " ",
	zeros[1:] + "g", zeros[1:] + "A", strings.ToUpper(strings.Repeat("ab", 32)), "0x" + zeros[2:], zeros[2:] + "é",
	zeros + "\x00", zeros[1:] + "\x00", strings.Repeat("０", 64), zeros + zeros,
}

func TestLenientHexAndTrimmedBinary(t *testing.T) {
	for _, text := range badHex {
		if _, err := rng.ParseServerSeed(text); !errors.Is(err, rng.ErrServerSeedFormat) {
			t.Errorf("ParseServerSeed(%q): %v", text, err)
		}
		if _, err := rng.ParseCommitment(text); !errors.Is(err, rng.ErrCommitment) {
			t.Errorf("ParseCommitment(%q): %v", text, err)
		}
		if _, err := rng.ParseSignature(text); !errors.Is(err, rng.ErrSignature) {
			t.Errorf("ParseSignature(%q): %v", text, err)
		}
	}
	commitment, err := rng.ParseCommitment(exampleCommitment)
	if err != nil || commitment.String() != exampleCommitment {
		t.Errorf("commitment came back as %s, %v", commitment, err)
	}
	signature, err := rng.ParseSignature(exampleSeed)
	if err != nil || signature.Reveal() != exampleSeed {
		t.Errorf("signature came back changed: %v", err)
	}
}

func TestServerSeedIsExactly32Bytes(t *testing.T) {
	for size := range 130 {
		_, err := rng.ServerSeedFromBytes(make([]byte, size))
		if (err == nil) != (size == 32) || err != nil && !errors.Is(err, rng.ErrServerSeedLength) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	raw, err := hex.DecodeString(exampleSeed)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := rng.ServerSeedFromBytes(raw)
	if err != nil || seed.Reveal() != exampleSeed {
		t.Fatalf("text came out changed: %v", err)
	}
	clear(raw)
	if seed.Reveal() != exampleSeed {
		t.Error("the server seed follows the caller's bytes")
	}
	back, err := seed.RevealBytes()
	if err != nil || hex.EncodeToString(back[:]) != exampleSeed {
		t.Errorf("bytes came out changed: %v", err)
	}
}

// A server seed that ends in zero bytes must not be read as a shorter one.
func TestTrailingZeroBytesMatter(t *testing.T) {
	a := mustServerSeed(t, "ab"+zeros[2:])
	b := mustServerSeed(t, zeros[2:]+"ab")
	if mustSign(t, a, "x", 0).Reveal() == mustSign(t, b, "x", 0).Reveal() {
		t.Error("two server seeds sign alike")
	}
}

func TestPredictableServerSeedGenerator(t *testing.T) {
	seen := map[string]bool{}
	var ones, bits int
	for range 1000 {
		seed, err := rng.NewServerSeed()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := seed.RevealBytes()
		if err != nil || seen[seed.Reveal()] {
			t.Fatalf("a server seed came twice, or %v", err)
		}
		seen[seed.Reveal()] = true
		for _, b := range raw {
			for i := range 8 {
				ones += int(b >> i & 1)
				bits++
			}
		}
	}
	if ones < bits*49/100 || ones > bits*51/100 { // 256000 bits: ten standard deviations
		t.Errorf("%d of %d bits are one", ones, bits)
	}
}

func TestClientSeedIsNeverTrimmedOrNormalised(t *testing.T) {
	for _, text := range []string{
		"", " ", " a", "a ", "a\n", "\ta", "a b", "a\x00", "é", "a\u0301", "a\x7f", "\x80", "\xff", "名前", "\u200b", strings.Repeat("a", 65),
	} {
		if _, err := rng.ParseClientSeed(text); !errors.Is(err, rng.ErrClientSeed) {
			t.Errorf("ParseClientSeed(%q): %v", text, err)
		}
		if _, err := mustServerSeed(t, exampleSeed).Sign(rng.ClientSeed(text), 0); !errors.Is(err, rng.ErrClientSeed) {
			t.Errorf("Sign(%q): %v", text, err)
		}
	}
	for _, text := range []string{"!", "~", "::", "A", "a", strings.Repeat("~", 64)} {
		if got, err := rng.ParseClientSeed(text); err != nil || string(got) != text {
			t.Errorf("ParseClientSeed(%q) = %q, %v", text, got, err)
		}
	}
	seed := mustServerSeed(t, exampleSeed)
	if mustSign(t, seed, "A", 0).Reveal() == mustSign(t, seed, "a", 0).Reveal() {
		t.Error("case was folded")
	}
}

func TestNonceWraps(t *testing.T) {
	for text, want := range map[string]uint32{"0": 0, "1": 1, "10": 10, "4294967293": 4294967293, "4294967294": rng.MaxNonce} {
		if got, err := rng.ParseNonce(text); err != nil || got != want {
			t.Errorf("ParseNonce(%q) = %d, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "00", "01", "-0", "-1", "+1", " 1", "1 ", "1\n", "1.0", "1e3", "0x1", "1_000", "4294967295", "4294967296", "9999999999",
		"10000000000", "18446744073709551616", "１",
	} {
		if _, err := rng.ParseNonce(text); !errors.Is(err, rng.ErrNonce) {
			t.Errorf("ParseNonce(%q): %v", text, err)
		}
	}
	if _, err := mustServerSeed(t, exampleSeed).Sign("a", rng.MaxNonce+1); !errors.Is(err, rng.ErrNonce) {
		t.Errorf("Sign with the nonce above the last: %v", err)
	}
}

func TestSeparatorInsideTheClientSeed(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	signatures := map[string]string{}
	for _, client := range []rng.ClientSeed{"a", "a:", "a:1", "a:1:1", ":", "::", "1", "1:1"} {
		for _, nonce := range []uint32{0, 1, 11, 111} {
			text := mustSign(t, seed, client, nonce).Reveal()
			if other, taken := signatures[text]; taken {
				t.Errorf("%q and %q with nonce %d have one signature", client, other, nonce)
			}
			signatures[text] = string(client)
		}
	}
	if len(signatures) != 32 {
		t.Errorf("%d signatures, want 32", len(signatures))
	}
}

func TestTwoGamesShareOneDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, err := rng.ServerSeedFromBytes(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "raw"))
		if err != nil {
			t.Fatal(err)
		}
		a, b := rapid.Uint32Range(0, rng.MaxNonce).Draw(t, "a"), rapid.Uint32Range(0, rng.MaxNonce).Draw(t, "b")
		first, errFirst := seed.Sign("client", a)
		second, errSecond := seed.Sign("client", b)
		if errFirst != nil || errSecond != nil || (first.Reveal() == second.Reveal()) != (a == b) {
			t.Fatalf("nonces %d and %d: signatures alike, or %v, %v", a, b, errFirst, errSecond)
		}
	})
}

func TestOutcomeComputedFromThePublishedCommitment(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	commitment, err := seed.Commitment()
	if err != nil {
		t.Fatal(err)
	}
	secret := mustSign(t, seed, exampleClient, 0).Reveal()
	// What an outsider can put in place of the server seed: the commitment, its hash, the hash of that.
	public := commitment
	for depth := range 3 {
		guess := mustServerSeed(t, public.String())
		if mustSign(t, guess, exampleClient, 0).Reveal() == secret || public.String() == secret {
			t.Errorf("the commitment hashed %d times gives the signature", depth)
		}
		if public, err = guess.Commitment(); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzParseServerSeed(f *testing.F) {
	for _, text := range badHex {
		f.Add(text)
	}
	f.Add(exampleSeed)
	f.Fuzz(func(t *testing.T, text string) {
		seed, err := rng.ParseServerSeed(text)
		if (err == nil) != hexPattern.MatchString(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if seed.Reveal() != text && err == nil {
			t.Fatalf("%q came back as %q", text, seed.Reveal())
		}
		if seed.IsZero() != (err != nil) {
			t.Fatalf("%q: error %v beside a server seed", text, err)
		}
	})
}

func FuzzParseClientSeed(f *testing.F) {
	for _, text := range []string{"", "a", " a", "a\n", "~", "\x7f", strings.Repeat("a", 64), strings.Repeat("a", 65)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		client, err := rng.ParseClientSeed(text)
		if (err == nil) != clientPattern.MatchString(text) || err == nil && string(client) != text {
			t.Fatalf("%q: %q, %v", text, client, err)
		}
	})
}

func FuzzParseNonce(f *testing.F) {
	for _, text := range []string{"", "0", "00", "1", "-1", "4294967294", "4294967295", "99999999999", "1\n"} {
		f.Add(text)
	}
	last := big.NewInt(1<<32 - 2)
	f.Fuzz(func(t *testing.T, text string) {
		nonce, err := rng.ParseNonce(text)
		value, _ := new(big.Int).SetString(text, 10)
		want := noncePattern.MatchString(text) && value.Cmp(last) <= 0
		if (err == nil) != want || want && value.Cmp(new(big.Int).SetUint64(uint64(nonce))) != 0 {
			t.Fatalf("%q: %d, %v", text, nonce, err)
		}
	})
}

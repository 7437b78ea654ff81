package rng_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

// The worked example of SPEC.md. Its numbers were computed with Python's hashlib, not with this package.
const (
	exampleSeed       = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	exampleCommitment = "4d7a41242ea9a8d5b742f1aa32e81d0f758f45453220b513999783737b0071e8"
	exampleClient     = rng.ClientSeed("lucky:seven")
)

// exampleRounds holds three rounds of the example: the first, the one that SPEC.md walks through, and the last that a
// seed pair can have. squeezed is the SHA-256 of the first 4000 bytes of the stream, 29 blocks and a part.
var exampleRounds = []struct {
	nonce     uint32
	signature string
	word64    uint64
	word32s   map[int]uint32 // by place; 33 ends the first block, 34 begins the second
	squeezed  string
}{
	{
		0, "71a655fa7065c242d73a7e54412d5d5ad071b7160e022d92b2972d8758e348ce", 3683600612451745657,
		map[int]uint32{0: 857655101, 1: 2409168761, 33: 2814147407, 34: 2292969403, 35: 3487940941, 67: 700647850, 68: 409888333, 999: 2571650417},
		"49b1dd02ccc0def9a5342f7e8d387538e9a9410717165fe483fcd40be74eca95",
	},
	{
		7, "6f3c054cd6b00951e8b542069c29f73c26cf261a47f4156acf95538d9e16377d", 14225378683235506432,
		map[int]uint32{0: 3312104075, 1: 162175232, 33: 3821840263, 34: 3969398208, 35: 2856513117, 67: 2188468096, 68: 1448416794, 999: 2722293748},
		"b77c3f651e86c3716d3f531f7b1ab59f7bfbddc197b6e7e88832e09b2ce05b66",
	},
	{
		4294967294, "45d4d67d706749730481b29e6539ba26e5514a45fa9e1bb29b0fb0573811623a", 15468746748019489474,
		map[int]uint32{0: 3601598261, 1: 3694017218, 33: 2912371946, 34: 3379555146, 35: 2481376953, 67: 3339891163, 68: 3570717150, 999: 266115465},
		"12b1595ed95b92592a02f2241a1339e38bf4860a9112ed27272563cef56696d9",
	},
}

func mustServerSeed(t testing.TB, text string) rng.ServerSeed {
	t.Helper()
	seed, err := rng.ParseServerSeed(text)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

func mustSign(t testing.TB, seed rng.ServerSeed, client rng.ClientSeed, nonce uint32) rng.Signature {
	t.Helper()
	signature, err := seed.Sign(client, nonce)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func TestWorkedExample(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	commitment, err := seed.Commitment()
	if err != nil || commitment.String() != exampleCommitment {
		t.Fatalf("commitment %s, %v; want %s", commitment, err, exampleCommitment)
	}
	for _, want := range exampleRounds {
		signature := mustSign(t, seed, exampleClient, want.nonce)
		if signature.Reveal() != want.signature {
			t.Errorf("nonce %d: signature %s, want %s", want.nonce, signature.Reveal(), want.signature)
		}
		stream := rng.NewStream(signature)
		if got := stream.Word64(); got != want.word64 {
			t.Errorf("nonce %d: word64 %d, want %d", want.nonce, got, want.word64)
		}
	}
}

func TestCursorMoreDrawsThanOneDigestHolds(t *testing.T) {
	for _, want := range exampleRounds {
		signature, err := rng.ParseSignature(want.signature)
		if err != nil {
			t.Fatal(err)
		}
		stream := rng.NewStream(signature)
		var squeezed []byte
		for place := range 1000 {
			word := stream.Word32()
			squeezed = binary.BigEndian.AppendUint32(squeezed, word)
			if expected, known := want.word32s[place]; known && word != expected {
				t.Errorf("nonce %d: word %d is %d, want %d", want.nonce, place, word, expected)
			}
		}
		sum := sha256.Sum256(squeezed)
		if got := hex.EncodeToString(sum[:]); got != want.squeezed {
			t.Errorf("nonce %d: 4000 bytes hash to %s, want %s", want.nonce, got, want.squeezed)
		}
	}
}

func TestWord64CrossesABlock(t *testing.T) {
	signature, err := rng.ParseSignature(exampleRounds[0].signature)
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	for range 33 {
		stream.Word32()
	}
	if got, want := stream.Word64(), uint64(2814147407)<<32|2292969403; got != want {
		t.Errorf("word64 over the end of the first block is %d, want %d", got, want)
	}
}

func TestSignatureOverOneAndTwoBlocks(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	for client, want := range map[string]string{
		"!":                     "160a9e21415b02052b3af699b6f5b02ea11935bc68d31935026405cff888a05b",
		strings.Repeat("a", 59): "044465dd57c4a937d782db30421a109e3830878aab7c0a0c2de2e6e2beedb21a",
		strings.Repeat("a", 60): "e9b26152666323213c39ff2f0b6490dbd5bfcc8cdd2a259843ac7616e960aad1",
		strings.Repeat("~", 64): "6d3b17c630f9c51de20cde9e5a3b8ccb6bc8ff57f3bbf80f56676c7981acfb0f",
	} {
		if got := mustSign(t, seed, rng.ClientSeed(client), rng.MaxNonce).Reveal(); got != want {
			t.Errorf("client seed of %d bytes: signature %s, want %s", len(client), got, want)
		}
	}
}

func TestCopyOfAStreamGoesOnByItself(t *testing.T) {
	signature, err := rng.ParseSignature(exampleRounds[1].signature)
	if err != nil {
		t.Fatal(err)
	}
	first := rng.NewStream(signature)
	first.Word32()
	second := first
	for place := range 100 {
		if a, b := first.Word32(), second.Word32(); a != b {
			t.Fatalf("word %d after the copy: %d and %d", place, a, b)
		}
	}
}

func TestDerivingDoesNotAllocate(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	nonce := uint32(0)
	allocations := testing.AllocsPerRun(1000, func() {
		nonce++
		signature, err := seed.Sign("0123456789abcdef0123456789abcdef", nonce)
		if err != nil {
			t.Error(err)
		}
		stream := rng.NewStream(signature)
		for range 40 { // into the second block
			stream.Uniform(37)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations a round", allocations)
	}
}

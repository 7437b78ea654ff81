package duel

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
	"pgregory.net/rapid"
)

// The published game of Dice Chess, four plies.
const (
	publishedServerSeed = "5b4c290e960e3c3a8c4cce633d38b04e136fae6c0e453f5a8dd3b9640157c7c6"
	publishedCommitment = "7e3ad1923d05b412c56ee52bcc6de5a79f1f21aa5aab4fe41d3fbcd11df2136f"
	publishedWhite      = "bot:team:anon:verifier-aa3534dd"
	publishedBlack      = "4c4bda73e3a467f691a6570ee047983b"
)

func published(t testing.TB) rng.ServerSeed {
	t.Helper()
	seed, err := rng.ParseServerSeed(publishedServerSeed)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

func TestPublishedGame(t *testing.T) {
	commitment, err := Commitment(published(t))
	if err != nil || commitment.String() != publishedCommitment {
		t.Errorf("commitment %s, %v", commitment, err)
	}
	for ply, want := range []Dice{{6, 3, 1}, {6, 6, 5}, {3, 3, 1}, {1, 4, 6}} {
		if got, err := Roll(published(t), publishedWhite, publishedBlack, uint64(ply)); err != nil || got != want {
			t.Errorf("ply %d: %v, %v; want %v", ply, got, err, want)
		}
	}
}

// TestTheCounterStandsInEveryBlock: the bytes of a message, written out by hand.
func TestTheCounterStandsInEveryBlock(t *testing.T) {
	for block, want := range []string{
		"00000002" + "6162" + "00000003" + "c3a963" + "0000000000000007" + "00000000",
		"00000002" + "6162" + "00000003" + "c3a963" + "0000000000000007" + "00000001",
	} {
		if got := hex.EncodeToString(Message("ab", "éc", 7, uint32(block))); got != want {
			t.Errorf("block %d: %s, want %s", block, got, want)
		}
	}
}

// TestSeparatorInsideAFreeTextField: moving a character from one seat to the other changes the message.
func TestSeparatorInsideAFreeTextField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		both := rapid.StringN(2, 40, 80).Draw(t, "both")
		i, j := rapid.IntRange(0, len(both)).Draw(t, "i"), rapid.IntRange(0, len(both)).Draw(t, "j")
		a, b := Message(both[:i], both[i:], 0, 0), Message(both[:j], both[j:], 0, 0)
		if slices.Equal(a, b) != (i == j) {
			t.Fatalf("%q divided at %d and %d", both, i, j)
		}
	})
}

// blocks gives these digests, and remembers which were asked for.
func blocks(asked *[]uint32, digests ...[sha256.Size]byte) func(uint32) [sha256.Size]byte {
	return func(k uint32) [sha256.Size]byte {
		*asked = append(*asked, k)
		return digests[k]
	}
}

func digestOf(fill byte, head ...byte) (d [sha256.Size]byte) {
	for i := range d {
		d[i] = fill
	}
	copy(d[:], head)
	return d
}

// TestRejectionLoopRunsOut: when a block is used up, the next one goes on.
func TestRejectionLoopRunsOut(t *testing.T) {
	last := digestOf(255)
	last[31] = 5
	for _, c := range []struct {
		name    string
		digests [][sha256.Size]byte
		want    Dice
		asked   int
	}{
		{"the first three bytes", [][sha256.Size]byte{digestOf(0, 0, 1, 251)}, Dice{1, 2, 6}, 1},
		{"252 is rejected", [][sha256.Size]byte{digestOf(9, 252, 255, 251, 6)}, Dice{6, 1, 4}, 1},
		{"a whole block is rejected", [][sha256.Size]byte{digestOf(252), digestOf(1, 2, 3)}, Dice{3, 4, 2}, 2},
		{"dice over the end of a block", [][sha256.Size]byte{last, digestOf(253), digestOf(2)}, Dice{6, 3, 3}, 3},
	} {
		var asked []uint32
		if got := Draw(blocks(&asked, c.digests...)); got != c.want || len(asked) != c.asked {
			t.Errorf("%s: %v from %d blocks, want %v from %d", c.name, got, len(asked), c.want, c.asked)
		}
		for i, k := range asked {
			if k != uint32(i) {
				t.Errorf("%s: blocks %v", c.name, asked)
			}
		}
	}
}

// TestModuloBias: of the 252 bytes that are not rejected, each face gets 42.
func TestModuloBias(t *testing.T) {
	var faces [7]int
	for b := range 252 {
		faces[Draw(func(uint32) [sha256.Size]byte { return digestOf(byte(b)) })[0]]++
	}
	if faces != [7]int{0, 42, 42, 42, 42, 42, 42} {
		t.Errorf("%v", faces)
	}
}

// TestMissingSeedRecordReadAsAnEmptySeed: no dice and no commitment without a server seed.
func TestMissingSeedRecordReadAsAnEmptySeed(t *testing.T) {
	if _, err := Roll(rng.ServerSeed{}, publishedWhite, publishedBlack, 0); err != rng.ErrServerSeedUnset {
		t.Errorf("roll: %v", err)
	}
	if _, err := Commitment(rng.ServerSeed{}); err != rng.ErrServerSeedUnset {
		t.Errorf("commitment: %v", err)
	}
}

// TestOutcomeComputedFromThePublishedCommitmentItself: the commitment as a key gives other dice.
func TestOutcomeComputedFromThePublishedCommitmentItself(t *testing.T) {
	commitment, err := rng.ParseServerSeed(publishedCommitment)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for ply := range uint64(40) {
		a, _ := Roll(published(t), publishedWhite, publishedBlack, ply)
		b, _ := Roll(commitment, publishedWhite, publishedBlack, ply)
		if a == b {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 40 plies are the same", same)
	}
}

func TestSeatCommitment(t *testing.T) {
	const want = "5d4186c8e6df3ec63cdd86c816a75964cc9bd50daf46283f16a79611301ae8d1" // from sha256sum
	if got := SeatCommitment("m-1", "white", strings.Repeat("0", 64)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSeedsOfASeat(t *testing.T) {
	for text, fits := range map[string]bool{
		strings.Repeat("a", 15): false, strings.Repeat("a", 16): true, strings.Repeat("a", 256): true, strings.Repeat("a", 257): false,
		strings.Repeat("a", 15) + " ": false, strings.Repeat("a", 15) + "\x7f": false, strings.Repeat("a", 15) + "\x00": false,
		strings.Repeat("é", 16): false, "": false,
	} {
		if err := ValidateSeed(text); (err == nil) != fits {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, fits := range map[string]bool{
		strings.Repeat("é", 15): false, strings.Repeat("é", 16): true, strings.Repeat("😀", 8): true, strings.Repeat("😀", 7): false,
		strings.Repeat("😀", 128): true, strings.Repeat("😀", 128) + "a": false, strings.Repeat("a", 257): false,
		strings.Repeat("a", 16) + "\xed\xa0\x80": false, strings.Repeat("a", 16) + "\xff": false,
	} {
		if IsForeignSeed(text) != fits {
			t.Errorf("%q fits: %v", text, !fits)
		}
	}
}

func BenchmarkRoll(b *testing.B) {
	seed := published(b)
	b.ReportAllocs()
	for ply := uint64(0); b.Loop(); ply++ {
		if _, err := Roll(seed, publishedWhite, publishedBlack, ply); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCommittedSeeds(t *testing.T) {
	for text, fits := range map[string]bool{
		strings.Repeat("0", 64): true, strings.Repeat("f", 64): true, strings.Repeat("a", 63): false, strings.Repeat("a", 65): false, "": false,
		strings.Repeat("A", 64): false, strings.Repeat("g", 64): false, strings.Repeat("a", 63) + "\n": false, strings.Repeat("a", 63) + "/": false, strings.Repeat("a", 63) + "`": false,
	} {
		if IsCommittedSeed(text) != fits {
			t.Errorf("%q fits: %v", text, !fits)
		}
	}
}

func TestFallbackHashIsOfTheText(t *testing.T) {
	const want = "60e05bd1b195af2f94112fa7197a5c88289058840ce7c6df9693756bc6250f55" // from sha256sum of 64 zeros
	if got := FallbackHash(strings.Repeat("0", 64)); hex.EncodeToString(got[:]) != want {
		t.Errorf("%x", got)
	}
}

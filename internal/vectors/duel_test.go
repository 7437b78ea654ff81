package vectors_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/vectors"
)

// duelDocument is duel-v1.json.
type duelDocument struct {
	Scheme string
	Rows   []struct {
		ID         string
		Flags      []string
		ServerSeed string
		Commitment string
		White      string
		Black      string
		Ply        uint64 `json:",string"`
		Dice       [3]uint8
	}
	Digests []struct {
		Blocks []string
		Looked int
		Dice   [3]uint8
	}
	Hashes []struct {
		DuelID, Seat, ClientSeed, ClientSeedHash, FallbackHash string
	}
}

func duelVectors(t *testing.T) duelDocument {
	t.Helper()
	text, err := vectors.Files.ReadFile("duel-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var d duelDocument
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Scheme != duel.Scheme || len(d.Rows) < 100 || len(d.Digests) < 15 || len(d.Hashes) < 20 {
		t.Fatalf("%s: %d rows, %d digests, %d hashes: some are missing", d.Scheme, len(d.Rows), len(d.Digests), len(d.Hashes))
	}
	return d
}

// TestDuelVerifierAndEngineAreTwoImplementations: every row was made by the JavaScript and the Python verifier.
func TestDuelVerifierAndEngineAreTwoImplementations(t *testing.T) {
	kinds := map[string]int{}
	var longest uint64
	for _, r := range duelVectors(t).Rows {
		for _, flag := range r.Flags {
			kinds[flag]++
		}
		longest = max(longest, r.Ply)
		seed, err := rng.ParseServerSeed(r.ServerSeed)
		if err != nil {
			t.Fatal(r.ID, err)
		}
		if c, err := duel.Commitment(seed); err != nil || c.String() != r.Commitment {
			t.Errorf("%s: commitment %s, %v", r.ID, c, err)
		}
		if dice, err := duel.Roll(seed, r.White, r.Black, r.Ply); err != nil || dice != r.Dice {
			t.Errorf("%s: dice %v, %v; want %v", r.ID, dice, err, r.Dice)
		}
		for _, text := range []string{r.White, r.Black} {
			if !duel.IsForeignSeed(text) {
				t.Errorf("%s: no game of Dice Chess has the client seed %q", r.ID, text)
			}
			if !slices.Contains(r.Flags, "unicode") && duel.ValidateSeed(text) != nil {
				t.Errorf("%s: our seats refuse %q", r.ID, text)
			}
		}
	}
	if kinds["published"] < 4 || kinds["extreme-ply"] < 15 || kinds["unicode"] < 8 || kinds["ascii"] < 8 || kinds["rejected-byte"] < 20 || longest != 1<<64-1 {
		t.Errorf("rare rows are missing: %v, longest ply %d", kinds, longest)
	}
}

// TestDuelRejectionLoopRunsOut: blocks that never come up, the second and third of a ply among them.
func TestDuelRejectionLoopRunsOut(t *testing.T) {
	beyond := 0
	for i, c := range duelVectors(t).Digests {
		looked := 0
		dice := duel.Draw(func(k uint32) (block [32]byte) {
			looked = int(k) + 1
			raw, err := hex.DecodeString(c.Blocks[k])
			if err != nil || len(raw) != len(block) {
				t.Fatalf("digest %d: block %d is none", i, k)
			}
			copy(block[:], raw)
			return block
		})
		if dice != c.Dice || looked != c.Looked {
			t.Errorf("digest %d: %v from %d blocks, want %v from %d", i, dice, looked, c.Dice, c.Looked)
		}
		if looked > 1 {
			beyond++
		}
	}
	if beyond < 4 {
		t.Errorf("%d cases need a second block", beyond)
	}
}

func TestDuelHashes(t *testing.T) {
	for _, h := range duelVectors(t).Hashes {
		fallback := duel.FallbackHash(h.ClientSeed)
		if got := duel.SeatCommitment(h.DuelID, h.Seat, h.ClientSeed); got != h.ClientSeedHash || hex.EncodeToString(fallback[:]) != h.FallbackHash || !duel.IsCommittedSeed(h.ClientSeed) {
			t.Errorf("%s %s: %s %x, want %s %s", h.DuelID, h.Seat, got, fallback, h.ClientSeedHash, h.FallbackHash)
		}
	}
}

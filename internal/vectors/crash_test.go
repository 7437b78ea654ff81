package vectors_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/vectors"
)

// crashRow is a round of crash-v1.json.
type crashRow struct {
	ID, Table, Hash, Salt, Terminal, Digest, H string
	Flags                                      []string
	Number, CrashE2                            uint32
}

// crashDocument is crash-v1.json.
type crashDocument struct {
	Scheme string
	Rows   []crashRow
	Words  []struct {
		H       string
		CrashE2 uint32
	}
	Bets []struct {
		Stake        money.Units `json:",string"`
		TargetE2     uint32
		MultiplierE4 money.Multiplier `json:",string"`
		Payout       money.Units      `json:",string"`
	}
	Growth []struct {
		MultiplierE2 uint32
		FirstUs      int64
	}
}

func crashVectors(t *testing.T) crashDocument {
	t.Helper()
	text, err := vectors.Files.ReadFile("crash-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var d crashDocument
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Scheme != crash.Scheme || len(d.Rows) != 142 || len(d.Words) != 44 || len(d.Bets) != 49 || len(d.Growth) != 30 {
		t.Fatalf("%s: %d rows, %d words, %d bets, %d thresholds", d.Scheme, len(d.Rows), len(d.Words), len(d.Bets), len(d.Growth))
	}
	return d
}

// TestCrashVerifierAndEngineAreTwoImplementations: every row was made by the JavaScript and the Python verifier.
func TestCrashVerifierAndEngineAreTwoImplementations(t *testing.T) {
	kinds, points := map[string]int{}, map[uint32]int{}
	walked, longest := 0, uint32(0)
	for _, r := range crashVectors(t).Rows {
		for _, flag := range r.Flags {
			kinds[flag]++
		}
		points[r.CrashE2]++
		longest = max(longest, r.Number)
		link, err := rng.ParseLink(r.Hash)
		if err != nil {
			t.Fatal(r.ID, err)
		}
		table, err := rng.ParseTable(r.Table)
		if err != nil {
			t.Fatal(r.ID, err)
		}
		salt, err := rng.ParseSalt(r.Salt)
		if err != nil {
			t.Fatal(r.ID, err)
		}
		digest, err := link.CrashDigest(table, r.Number, salt)
		if err != nil || digest.Reveal() != r.Digest || digest.Reveal()[:13] != r.H {
			t.Errorf("%s: digest %s, %v; want %s", r.ID, digest.Reveal(), err, r.Digest)
		}
		if point, err := crash.Point(digest); err != nil || point != r.CrashE2 {
			t.Errorf("%s: crash point %d, %v; want %d", r.ID, point, err, r.CrashE2)
		}
		if r.Terminal == "" {
			continue
		}
		walked++
		if terminal, err := link.Terminal(r.Number); err != nil || terminal.String() != r.Terminal {
			t.Errorf("%s: terminal %s, %v; want %s", r.ID, terminal, err, r.Terminal)
		}
	}
	for kind, least := range map[string]int{
		"instant-crash": 12, "maximum": 6, "lowest-win": 6, "two": 4, "extreme-number": 22, "extreme-link": 3, "longest-table": 4, "table": 7, "salt": 5, "chain": 30, "beacon": 3,
	} {
		if kinds[kind] != least {
			t.Errorf("%d rows are %s, want %d", kinds[kind], kind, least)
		}
	}
	if points[crash.MinPointE2] < 12 || points[crash.MaxPointE2] < 6 || longest != 1<<32-1 || walked < 110 {
		t.Errorf("%d crashes at once, %d at the maximum, longest number %d, %d terminals", points[crash.MinPointE2], points[crash.MaxPointE2], longest, walked)
	}
}

// TestPublishedChainOfVectors: the rows of one chain lead to one terminal, each to the one before.
func TestPublishedChainOfVectors(t *testing.T) {
	var before crashRow
	count := 0
	for _, r := range crashVectors(t).Rows {
		if !slices.Contains(r.Flags, "chain") {
			continue
		}
		link, err := rng.ParseLink(r.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if count++; count > 1 {
			if back, err := link.Back(1); err != nil || back.Reveal() != before.Hash || r.Terminal != before.Terminal || r.Number != before.Number+1 {
				t.Errorf("%s does not lead to %s: %v", r.ID, before.ID, err)
			}
		}
		before = r
	}
	if count != 30 {
		t.Errorf("%d rows", count)
	}
}

// TestCrashPointsAtTheirBorders: the last word that loses and the first that reaches a multiplier, and those of the clamp.
func TestCrashPointsAtTheirBorders(t *testing.T) {
	for _, w := range crashVectors(t).Words {
		h, err := strconv.ParseUint(w.H, 16, 64)
		if err != nil || len(w.H) != 13 {
			t.Fatal(w.H, err)
		}
		if got := crash.Map(h); got != w.CrashE2 {
			t.Errorf("%s: %d, want %d", w.H, got, w.CrashE2)
		}
	}
}

func TestCrashPayoutsAreFloored(t *testing.T) {
	cut := 0
	for _, b := range crashVectors(t).Bets {
		bet := crash.Bet{TargetE2: b.TargetE2}
		payout, err := money.Payout(b.Stake, bet.Multiplier())
		if err != nil || payout != b.Payout || bet.Multiplier() != b.MultiplierE4 {
			t.Errorf("%d at %d: %d at %d, %v; want %d at %d", b.Stake, b.TargetE2, payout, bet.Multiplier(), err, b.Payout, b.MultiplierE4)
		}
		if int64(b.Stake)*int64(b.TargetE2)%100 != 0 {
			cut++
		}
	}
	if cut < 15 {
		t.Errorf("%d payouts have something to cut off", cut)
	}
}

func TestGrowthOfTheVectors(t *testing.T) {
	g := crash.NewGrowth()
	for _, row := range crashVectors(t).Growth {
		if got := g.ReachUs(row.MultiplierE2); got != row.FirstUs {
			t.Errorf("%d hundredths after %d us, want %d", row.MultiplierE2, got, row.FirstUs)
		}
	}
}

// TestBeaconsOfTheVectors: the salt of such a row is the SHA-256 of the signature, as the row says itself.
func TestBeaconsOfTheVectors(t *testing.T) {
	var d struct {
		Rows []struct{ Salt, BeaconRound, BeaconSignature string }
	}
	text, err := vectors.Files.ReadFile("crash-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, r := range d.Rows {
		if r.BeaconSignature == "" {
			continue
		}
		count++
		raw, err := hex.DecodeString(r.BeaconSignature)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != r.Salt || r.BeaconRound == "" {
			t.Errorf("beacon %s: %x, want %s", r.BeaconRound, sum, r.Salt)
		}
	}
	if count != 3 {
		t.Errorf("%d rows", count)
	}
}

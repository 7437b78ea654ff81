package evidence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/openoriginals/originals/internal/evidence"
)

const duelVectors = "../vectors/duel"

func duelIndex(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(duelVectors, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []vector
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, v := range index {
		count[v.Verdict+v.Check]++
	}
	if count["CONSISTENT"] < 16 || count["VERIFIED"] < 2 || count["UNUSABLEformat"] < 25 || count["FAILEDcommitment"] < 4 || count["FAILEDseats"] < 20 || count["FAILEDorder"] < 10 || count["FAILEDdice"] < 5 {
		t.Fatalf("documents are missing: %v", count)
	}
	return index
}

func verifyDuel(t *testing.T, v vector) (evidence.Report, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(duelVectors, v.File))
	if err != nil {
		t.Fatal(err)
	}
	return evidence.Verify(context.Background(), iotest.OneByteReader(bytes.NewReader(text)), v.options(t))
}

// TestRankOfFairnessClaimsOfDuels: the documents and their verdicts were made by the JavaScript verifier, and each fault
// shows in its own check alone.
func TestRankOfFairnessClaimsOfDuels(t *testing.T) {
	for _, v := range duelIndex(t) {
		report, err := verifyDuel(t, v)
		if verdict, check := answer(report, err); verdict != v.Verdict || check != v.Check {
			t.Errorf("%s: %s (%s), want %s (%s): %v %+v", v.File, verdict, check, v.Verdict, v.Check, err, report)
		}
		for _, c := range report.Checks {
			if !c.Passed && c.Name != v.Check && v.Check != "commitment" {
				t.Errorf("%s: the check %s fails too: %v", v.File, c.Name, c.Failures)
			}
		}
	}
}

// TestFallbackAndLastPlainSeedAreNotedAsUnprotected: what no check forbids is said.
func TestFallbackAndLastPlainSeedAreNotedAsUnprotected(t *testing.T) {
	for file, want := range map[string]string{
		"good-fell-back-black.json": "black fell back to a seed of the house: it is not protected from the house together with white",
		"good-fell-back-white.json": "white fell back", "good-plain.json": "sent its own last is not protected", "good-committed.json": "",
	} {
		report, err := verifyDuel(t, vector{File: file})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(report.Notes, "\n")
		if !strings.Contains(notes, want) || strings.Contains(notes, "not protected") != (want != "") {
			t.Errorf("%s: %q", file, notes)
		}
	}
}

func TestSummaryOfADuel(t *testing.T) {
	report, err := verifyDuel(t, vector{File: "good-forfeited.json"})
	if got := report.Summary.String(); err != nil || got != "0 rolls; white COMMITTED, black without a seed; FORFEITED (GRACE_PERIOD)" {
		t.Errorf("%q, %v", got, err)
	}
}

// A duel that is too large to be one is refused, not read into memory.
func TestDuelWithoutAnEnd(t *testing.T) {
	text := `{"format":"originals-duel-v1","duelId":"` + strings.Repeat("a", 5<<20)
	_, err := evidence.Verify(context.Background(), strings.NewReader(text), evidence.Options{})
	if !evidence.IsUnusable(err) || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}

func FuzzDuelNeverPanics(f *testing.F) {
	for _, name := range []string{"good-committed.json", "good-fell-back-black.json", "good-keys-reversed.json", "format-truncated.json"} {
		text, err := os.ReadFile(filepath.Join(duelVectors, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = evidence.Verify(context.Background(), bytes.NewReader(text), evidence.Options{})
	})
}

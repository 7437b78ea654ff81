package verify

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestBothGeneratorsMakeTheCommittedDuelVectors(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join(vectorsDir, "duel-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(committed), "\n{"); rows < 150 {
		t.Fatalf("%d rows, want 150", rows)
	}
	forEach(t, func(t *testing.T, v verifier) {
		made, status := runProcess(t, append(v.command, "vectors", "duel-v1")...)
		if status != 0 || made != string(committed) {
			t.Fatalf("status %d; internal/vectors/duel-v1.json is not what %v makes: %d bytes, want %d", status, v.command, len(made), len(committed))
		}
	})
}

// TestDuelDocumentsAreWhatTheirGeneratorMakes: nobody mended a document by hand.
func TestDuelDocumentsAreWhatTheirGeneratorMakes(t *testing.T) {
	made := t.TempDir()
	if out, status := runProcess(t, "node", filepath.Join("js", "duelevidence.js"), made); status != 0 {
		t.Fatal(out)
	}
	committed, err := os.ReadDir(filepath.Join(vectorsDir, "duel"))
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadDir(made)
	if err != nil || len(fresh) != len(committed) || len(fresh) < 80 {
		t.Fatalf("%d documents made, %d committed, %v", len(fresh), len(committed), err)
	}
	for _, f := range fresh {
		want, err := os.ReadFile(filepath.Join(made, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(vectorsDir, "duel", f.Name()))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs, %v", f.Name(), err)
		}
	}
}

func TestRankOfFairnessClaimsOfDuels(t *testing.T) {
	var rows []indexRow
	readJSON(t, &rows, "duel", "index.json")
	if len(rows) < 90 {
		t.Fatalf("%d rows", len(rows))
	}
	var questions []question
	for _, r := range rows {
		args := []string{"evidence", filepath.Join(vectorsDir, "duel", r.File)}
		if r.Commitment != "" {
			args = append(args, "--commitment", r.Commitment)
		}
		if r.LastNonce != nil {
			args = append(args, "--last-nonce", strconv.FormatUint(uint64(*r.LastNonce), 10))
		}
		if r.LastPly != nil {
			args = append(args, "--last-ply", strconv.FormatUint(uint64(*r.LastPly), 10))
		}
		questions = append(questions, question{"ask": "run", "args": args})
	}
	printed := map[string][]answer{}
	forEach(t, func(t *testing.T, v verifier) {
		printed[v.name] = asked[answer](t, v, questions)
		for i, got := range printed[v.name] {
			verdict, status := rows[i].wants()
			if got.verdict() != verdict || got.Status != status {
				t.Errorf("%s: %s with status %d, want %s with status %d\n%s", rows[i].File, got.verdict(), got.Status, verdict, status, got.Output)
			}
			for _, found := range failedCheck.FindAllStringSubmatch(got.Output, -1) {
				if check := found[1]; check != rows[i].Check && check != "verdict" && rows[i].Check != "commitment" {
					t.Errorf("%s: the check %s fails too\n%s", rows[i].File, check, got.Output)
				}
			}
		}
	})
	for i, js := range printed["js"] {
		if python := printed["python"][i]; rows[i].Verdict != "UNUSABLE" && js.Output != python.Output {
			t.Errorf("%s: the two say different things\n%s\n%s", rows[i].File, js.Output, python.Output)
		}
	}
}

func TestJavaScriptDuelVerifierWorksOffline(t *testing.T) {
	// A browser has no require, no module and no process.
	script := `const read = (name) => require("fs").readFileSync(name, "utf8");
		console.log(require("vm").runInNewContext(read("js/verify.js") + ";" + read("js/duel.js") + "; originalsDuel.checkDuel(given).verdict", { given: read(process.argv[1]), TextEncoder }));`
	out, status := runProcess(t, "node", "-e", script, filepath.Join(vectorsDir, "duel", "good-committed.json"))
	if status != 0 || out != "CONSISTENT, COMMITMENT NOT CONFIRMED\n" {
		t.Errorf("status %d: %s", status, out)
	}
}

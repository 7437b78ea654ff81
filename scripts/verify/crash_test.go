package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/rng"
)

// crashVerifiers are the two programs for crash tables.
var crashVerifiers = []struct {
	name          string
	command       []string
	batch, vector []string
}{
	{"js", []string{"node", "js/crash.js"}, []string{"node", "testdata/crashbatch.js"}, []string{"node", "js/crashvectors.js"}},
	{"python", []string{"python3", "-B", "python/crash.py"}, []string{"python3", "-B", "testdata/crashbatch.py"}, []string{"python3", "-B", "python/crashvectors.py"}},
}

func forEachCrash(t *testing.T, test func(t *testing.T, name string, command, batch []string)) {
	t.Helper()
	for _, v := range crashVerifiers {
		t.Run(v.name, func(t *testing.T) {
			for _, argv := range [][]string{v.command, v.batch, v.vector} { // go test runs again when a file that it looked at has changed
				if _, err := os.Stat(argv[len(argv)-1]); err != nil {
					t.Fatal(err)
				}
			}
			test(t, v.name, v.command, v.batch)
		})
	}
}

// crashAnswers sends the arguments of many calls to one process.
func crashAnswers(t *testing.T, batch []string, calls [][]string) (answers []answer) {
	t.Helper()
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(batch[0], batch[1:]...)
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", batch, err)
	}
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(calls) {
		t.Fatalf("%v: %d answers to %d calls, %v", batch, len(answers), len(calls), err)
	}
	return answers
}

func TestBothGeneratorsMakeTheCommittedCrashVectors(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join(vectorsDir, "crash-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(committed), "\n{\"id\""); rows != 142 {
		t.Fatalf("%d rows, want 142", rows)
	}
	forEachCrash(t, func(t *testing.T, _ string, command, _ []string) {
		made, status := runProcess(t, append(command, "vectors")...)
		if status != 0 || made != string(committed) {
			t.Fatalf("status %d; internal/vectors/crash-v1.json is not what %v makes: %d bytes, want %d", status, command, len(made), len(committed))
		}
	})
}

// TestCrashDocumentsAreWhatTheirGeneratorMakes: nobody mended a document by hand.
func TestCrashDocumentsAreWhatTheirGeneratorMakes(t *testing.T) {
	made := t.TempDir()
	if out, status := runProcess(t, "node", filepath.Join("js", "crashevidence.js"), made); status != 0 {
		t.Fatal(out)
	}
	committed, err := os.ReadDir(filepath.Join(vectorsDir, "crashrounds"))
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadDir(made)
	if err != nil || len(fresh) != len(committed) || len(fresh) < 130 {
		t.Fatalf("%d documents made, %d committed, %v", len(fresh), len(committed), err)
	}
	for _, f := range fresh {
		want, err := os.ReadFile(filepath.Join(made, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(vectorsDir, "crashrounds", f.Name()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs, %v", f.Name(), err)
		}
	}
}

// crashRow is one entry of the index: what the player kept, and the verdict that every verifier must reach.
type crashRow struct{ File, Verdict, Check, Terminal, Salt string }

func (r crashRow) args() []string {
	args := []string{filepath.Join(vectorsDir, "crashrounds", r.File)}
	if r.Terminal != "" {
		args = append(args, "--terminal", r.Terminal)
	}
	if r.Salt != "" {
		args = append(args, "--salt", r.Salt)
	}
	return args
}

func (r crashRow) wants() (verdict string, status int) {
	switch r.Verdict {
	case "VERIFIED":
		return r.Verdict, 0
	case "FAILED":
		return "FAILED (" + r.Check + ")", 1
	case "UNUSABLE":
		return "UNUSABLE (format)", 2
	}
	return "CONSISTENT, " + r.Verdict, 0
}

func TestRankOfFairnessClaimsOfCrashTables(t *testing.T) {
	var rows []crashRow
	readJSON(t, &rows, "crashrounds", "index.json")
	if len(rows) < 160 {
		t.Fatalf("%d rows", len(rows))
	}
	var calls [][]string
	for _, r := range rows {
		calls = append(calls, r.args())
	}
	printed := map[string][]answer{}
	forEachCrash(t, func(t *testing.T, name string, _, batch []string) {
		printed[name] = crashAnswers(t, batch, calls)
		for i, got := range printed[name] {
			verdict, status := rows[i].wants()
			if got.verdict() != verdict || got.Status != status {
				t.Errorf("%s: %s with status %d, want %s with status %d\n%s", rows[i].File, got.verdict(), got.Status, verdict, status, got.Output)
			}
			for _, found := range failedCheck.FindAllStringSubmatch(got.Output, -1) {
				if check := found[1]; check != rows[i].Check && check != "verdict" {
					t.Errorf("%s: the check %s fails, too\n%s", rows[i].File, check, got.Output)
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

// TestGrowthInWholeNumbers: all 999,902 thresholds, by JavaScript in whole numbers.
func TestGrowthInWholeNumbers(t *testing.T) {
	sum := crash.NewGrowth().SHA256()
	if out, status := runProcess(t, "node", "js/crash.js", "growth"); status != 0 || out != fmt.Sprintf("growth-v1   %x\n", sum) {
		t.Errorf("status %d: %s, want %x", status, out, sum)
	}
	forEachCrash(t, func(t *testing.T, _ string, command, _ []string) {
		for _, m := range []uint32{100, 101, 271, 1_000_001} {
			want := fmt.Sprintf("growth-v1   %d hundredths after %d microseconds\n", m, crash.NewGrowth().ReachUs(m))
			if out, status := runProcess(t, append(command, "growth", fmt.Sprint(m))...); status != 0 || out != want {
				t.Errorf("status %d: %s, want %s", status, out, want)
			}
		}
	})
}

func TestSingleCrashRoundByFlags(t *testing.T) {
	const hash, salt, terminal = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100",
		"5b0ea80ec40723c1f948b0f7245bca57484d6ca5a48d1e25339b08c93d8f42dc"
	calls := []struct {
		args    []string
		status  int
		verdict string
	}{
		{[]string{"round", "--table", "main", "--number", "7", "--hash", hash, "--salt", salt, "--terminal", terminal}, 0, "VERIFIED"},
		{[]string{"round", "--table", "main", "--number", "7", "--hash", hash, "--salt", salt}, 0, "CONSISTENT, TERMINAL NOT CONFIRMED"},
		{[]string{"round", "--table", "main", "--number", "8", "--hash", hash, "--salt", salt, "--terminal", terminal}, 1, "FAILED (chain)"},
		{[]string{"round", "--table", "main", "--number", "7", "--hash", salt, "--salt", salt, "--terminal", terminal}, 1, "FAILED (chain)"},
		{[]string{"round", "--table", "main", "--number", "07", "--hash", hash, "--salt", salt}, 2, "UNUSABLE (format)"},
		{[]string{"round", "--table", "Main", "--number", "7", "--hash", hash, "--salt", salt}, 2, "UNUSABLE (format)"},
		{[]string{"round", "--table", "main", "--number", "4294967296", "--hash", hash, "--salt", salt}, 2, "UNUSABLE (format)"},
		{[]string{"round", "--table", "main", "--number", "7", "--hash", strings.ToUpper(hash), "--salt", salt}, 2, "UNUSABLE (format)"},
		{[]string{"round", "--table", "main", "--number", "7", "--hash", hash}, 2, "UNUSABLE (format)"},
		{[]string{"no-such-file.json"}, 2, "UNUSABLE (format)"},
		{[]string{"growth", "99"}, 2, "UNUSABLE (format)"},
		{[]string{"growth", "1000002"}, 2, "UNUSABLE (format)"},
		{[]string{filepath.Join(vectorsDir, "crashrounds", "good-page.json"), "--terminal", "x"}, 2, "UNUSABLE (format)"},
		{[]string{filepath.Join(vectorsDir, "crashrounds", "good-page.json"), "--commitment", terminal}, 2, "UNUSABLE (format)"},
	}
	var all [][]string
	for _, c := range calls {
		all = append(all, c.args)
	}
	forEachCrash(t, func(t *testing.T, _ string, _, batch []string) {
		for i, got := range crashAnswers(t, batch, all) {
			if got.Status != calls[i].status || got.verdict() != calls[i].verdict {
				t.Errorf("%v: %s with status %d, want %s\n%s", calls[i].args, got.verdict(), got.Status, calls[i].verdict, got.Output)
			}
			if calls[i].status == 0 && !strings.Contains(got.Output, "crashE2     136\n") {
				t.Errorf("%v: %s", calls[i].args, got.Output)
			}
		}
	})
}

func TestJavaScriptCrashVerifierWorksOffline(t *testing.T) {
	// A browser has no require, no module and no process.
	script := `const read = (name) => require("fs").readFileSync(name, "utf8");
		console.log(require("vm").runInNewContext(["verify", "duel", "crash"].map((name) => read("js/" + name + ".js")).join(";") + "; originalsCrash.checkCrash(given).verdict", { given: read(process.argv[1]), TextEncoder }));`
	out, status := runProcess(t, "node", "-e", script, filepath.Join(vectorsDir, "crashrounds", "good-whole.json"))
	if status != 0 || out != "CONSISTENT, TERMINAL NOT CONFIRMED\n" {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestCrashTablesPlayWhatTheVerifiersCheck: the verifiers, written from the page, agree with what the tables play.
func TestCrashTablesPlayWhatTheVerifiersCheck(t *testing.T) {
	const length, table = 500, "main"
	salt := rng.Salt(strings.Repeat("5a", 32))
	end, err := rng.ParseLink(strings.Repeat("0123456789abcdef", 4))
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := end.Terminal(length)
	if err != nil {
		t.Fatal(err)
	}
	var rounds []string
	for n := uint32(3); n <= 402; n++ {
		link, err := end.Back(length - n)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := link.CrashDigest(table, n, salt)
		if err != nil {
			t.Fatal(err)
		}
		point, err := crash.Point(digest)
		if err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, fmt.Sprintf(`{"table":"main","number":%d,"state":"SETTLED","scheme":"crash-v1","terminal":"%s","hash":"%s","crashE2":%d,`+
			`"salt":{"kind":"SELF_CHOSEN","value":"%s","named":"0","signature":""},"voidReason":"","betCount":0}`, n, terminal, link.Reveal(), point, salt))
	}
	file := filepath.Join(t.TempDir(), "rounds.json")
	if err := os.WriteFile(file, []byte(`{"nextPageToken":"","rounds":[`+strings.Join(rounds, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	forEachCrash(t, func(t *testing.T, _ string, command, _ []string) {
		out, status := runProcess(t, append(command, file, "--terminal", terminal.String(), "--salt", string(salt))...)
		if status != 0 || !strings.Contains(out, "rounds 3 to 402 of main, of which void: 0") || !strings.Contains(out, "could have chosen") || !strings.HasSuffix(out, "verdict     VERIFIED\n") {
			t.Errorf("status %d: %s", status, out)
		}
	})
}

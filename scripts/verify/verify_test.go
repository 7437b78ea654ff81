package verify

import (
	"bytes"
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

const vectorsDir = "../../internal/vectors"

// verifier is one of the two programs: how it is called, and its driver that answers many questions in one process.
type verifier struct {
	name    string
	command []string
	vectors []string
	batch   []string
}

var verifiers = []verifier{
	{"js", []string{"node", "js/verify.js"}, []string{"node", "js/vectors.js"}, []string{"node", "testdata/batch.js"}},
	{"python", []string{"python3", "-B", "python/verify.py"}, []string{"python3", "-B", "python/vectors.py"}, []string{"python3", "-B", "testdata/batch.py"}},
}

func forEach(t *testing.T, test func(t *testing.T, v verifier)) {
	t.Helper()
	for _, v := range verifiers {
		t.Run(v.name, func(t *testing.T) {
			if _, err := exec.LookPath(v.command[0]); err != nil {
				t.Fatalf("%s is needed to run the %s verifier: install it (Node 18 or newer, Python 3.8 or newer)", v.command[0], v.name)
			}
			for _, argv := range [][]string{v.command, v.vectors, v.batch} { // go test runs again when a file that it looked at has changed
				if _, err := os.Stat(argv[len(argv)-1]); err != nil {
					t.Fatal(err)
				}
			}
			test(t, v)
		})
	}
}

// runProcess gives what a program printed and its exit status.
func runProcess(t *testing.T, argv ...string) (string, int) {
	t.Helper()
	command := exec.Command(argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if err != nil && command.ProcessState == nil {
		t.Fatalf("%v: %v", argv, err)
	}
	if strings.Contains(stderr.String(), "Traceback") || strings.Contains(stderr.String(), "    at ") {
		t.Fatalf("%v broke down:\n%s", argv, stderr.String())
	}
	return stdout.String(), command.ProcessState.ExitCode()
}

type question map[string]any

// asked sends all questions to one process of the verifier and decodes the answers.
func asked[T any](t *testing.T, v verifier, questions []question) []T {
	t.Helper()
	input, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(v.batch[0], v.batch[1:]...)
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", v.batch, err)
	}
	var answers []T
	if err := json.Unmarshal(output, &answers); err != nil {
		t.Fatalf("%v: %v", v.batch, err)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

func readJSON(t *testing.T, into any, elements ...string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{vectorsDir}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// ---- the hash functions and the stream ---------------------------------------------------------------------------------

func TestSHA3AgreesAtEveryLength(t *testing.T) {
	var questions []question
	for length := range 300 {
		questions = append(questions, question{"ask": "sha3", "text": strings.Repeat("p", length)})
	}
	forEach(t, func(t *testing.T, v verifier) {
		for length, got := range asked[string](t, v, questions) {
			sum := sha3.Sum256(bytes.Repeat([]byte("p"), length))
			if want := hex.EncodeToString(sum[:]); got != want {
				t.Fatalf("SHA3-256 of %d bytes: %s, want %s", length, got, want)
			}
		}
	})
}

func TestCursorMoreDrawsThanOneDigestHolds(t *testing.T) {
	signature := strings.Repeat("0123456789abcdef", 4)
	const count = 500 // 2000 bytes: fifteen blocks of the sponge
	squeezed := sha3.SumSHAKE256([]byte(signature), 4*count)
	forEach(t, func(t *testing.T, v verifier) {
		for i, got := range asked[[]uint32](t, v, []question{{"ask": "words", "signature": signature, "count": count}})[0] {
			if want := binary.BigEndian.Uint32(squeezed[4*i:]); got != want {
				t.Fatalf("word %d: %d, want %d", i, got, want)
			}
		}
	})
}

func TestRejectionLoopRunsOut(t *testing.T) {
	var questions []question
	var wants [][2]uint64
	for _, n := range append(sequence(1, 64), 10000, 1<<16, 1<<31, 1<<31+1, 1<<32-1, 1<<32) {
		limit := (uint64(1) << 32) / n * n
		words := []uint64{}
		if limit < 1<<32 { // nine rejected words in a row: more than a digest of 256 bits holds
			words = append(words, limit, 1<<32-1, limit, limit, 1<<32-1, limit, 1<<32-1, limit, limit)
		}
		words = append(words, limit-1, 0)
		questions = append(questions, question{"ask": "uniform", "words": words, "n": n})
		wants = append(wants, [2]uint64{(limit - 1) % n, uint64(len(words) - 1)})
	}
	forEach(t, func(t *testing.T, v verifier) {
		for i, got := range asked[[2]uint64](t, v, questions) {
			if got != wants[i] {
				t.Errorf("uniform(%v): number and words read %v, want %v", questions[i]["n"], got, wants[i])
			}
		}
	})
}

func sequence(from, to uint64) []uint64 {
	var list []uint64
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

// ---- rows from elsewhere -------------------------------------------------------------------------------------------------

func TestMinesRowsOfAnotherHouse(t *testing.T) {
	var file struct {
		Vectors []struct {
			ServerSeed, ClientSeed, RoundSignature string
			Nonce                                  any
			Commitment                             string           `json:"commitment_sha3_256_of_hex_text"`
			Words                                  []uint32         `json:"draws_uint32_be"`
			Mines                                  map[string][]int `json:"mines"`
		}
	}
	readJSON(t, &file, "foreign", "cloudbet_mines.json")
	var rejection struct {
		Vectors []struct {
			ServerSeed, ClientSeed, RoundSignature string
			Nonce                                  any
			Words                                  []uint32                             `json:"first_26_words"`
			Mines                                  map[string]struct{ Positions []int } `json:"R1_standard_xof_stream"`
		}
	}
	readJSON(t, &rejection, "foreign", "cloudbet_mines_rejection.json")

	var questions []question
	var wants []any
	expect := func(want any, q question) { questions, wants = append(questions, q), append(wants, want) }
	boards := 0
	board := func(signature, count string, want []int) {
		mineCount, err := strconv.Atoi(count)
		if err != nil || len(want) != mineCount {
			t.Fatalf("a row of %s mines has %d", count, len(want))
		}
		expect(want, question{"ask": "mines", "signature": signature, "mineCount": mineCount})
		boards++
	}
	for _, row := range file.Vectors {
		expect(row.Commitment, question{"ask": "sha3", "text": row.ServerSeed})
		expect(row.RoundSignature, question{"ask": "signature", "serverSeed": row.ServerSeed, "clientSeed": row.ClientSeed, "nonce": row.Nonce})
		expect(row.Words, question{"ask": "words", "signature": row.RoundSignature, "count": len(row.Words)})
		for count, mines := range row.Mines {
			board(row.RoundSignature, count, mines)
		}
	}
	for _, row := range rejection.Vectors {
		expect(row.RoundSignature, question{"ask": "signature", "serverSeed": row.ServerSeed, "clientSeed": row.ClientSeed, "nonce": row.Nonce})
		expect(row.Words, question{"ask": "words", "signature": row.RoundSignature, "count": len(row.Words)})
		for count, mines := range row.Mines {
			board(row.RoundSignature, count, mines.Positions)
		}
	}
	if len(file.Vectors) != 10 || len(rejection.Vectors) != 6 || boards < 100 {
		t.Fatalf("%d and %d rows, %d boards: some are missing", len(file.Vectors), len(rejection.Vectors), boards)
	}
	compare(t, questions, wants)
}

func TestLimboThresholdsAreExact(t *testing.T) {
	var rows []struct {
		Target100 int
		Min       string `json:"min_v_exact_hex"`
		Wins      string `json:"wins_exact"`
		Disagree  struct {
			V     string `json:"v_hex"`
			Exact int
		}
	}
	readJSON(t, &rows, "foreign", "limbo_thresholds.json")
	if len(rows) != 29 {
		t.Fatalf("%d thresholds, want 29", len(rows))
	}
	var words []string
	var reached []int // the least outcome, or -1-target for "below the target"
	for _, row := range rows {
		least, ok := new(big.Int).SetString(row.Min, 16)
		if !ok {
			t.Fatalf("%s is not hex", row.Min)
		}
		wins, _ := new(big.Int).SetString(row.Wins, 10)
		if new(big.Int).Add(least, wins).Cmp(new(big.Int).Lsh(big.NewInt(1), 64)) != 0 {
			t.Fatalf("target %d: least word and winning words do not add up to 2^64", row.Target100)
		}
		words, reached = append(words, least.String()), append(reached, row.Target100)
		words, reached = append(words, least.Sub(least, big.NewInt(1)).String()), append(reached, -1-row.Target100)
		if row.Disagree.V != "" {
			v, _ := new(big.Int).SetString(row.Disagree.V, 16)
			words, reached = append(words, v.String()), append(reached, -2000000-row.Disagree.Exact)
		}
	}
	var questions []question
	for _, word := range words {
		questions = append(questions, question{"ask": "limbo", "v": word})
	}
	forEach(t, func(t *testing.T, v verifier) {
		for i, got := range asked[int](t, v, questions) {
			switch want := reached[i]; {
			case want <= -2000000 && got != -want-2000000:
				t.Errorf("word %s gives %d, want %d", words[i], got, -want-2000000)
			case want < 0 && want > -2000000 && got >= -want-1:
				t.Errorf("word %s reaches %d, and should not", words[i], -want-1)
			case want >= 0 && got < want:
				t.Errorf("word %s gives %d, and should reach %d", words[i], got, want)
			}
		}
	})
}

func TestMinesMultiplierIsTheExactFloor(t *testing.T) {
	var questions []question
	var wants []any
	for m := int64(1); m <= 24; m++ {
		for k := int64(1); k <= 25-m; k++ {
			above := new(big.Int).Mul(big.NewInt(9900), new(big.Int).Binomial(25, k))
			questions = append(questions, question{"ask": "multiplier", "mineCount": m, "picks": k})
			wants = append(wants, above.Quo(above, new(big.Int).Binomial(25-m, k)).String())
		}
	}
	if len(wants) != 300 {
		t.Fatalf("%d multipliers, want 300", len(wants))
	}
	compare(t, questions, wants)
}

// compare asks both verifiers and wants these answers.
func compare(t *testing.T, questions []question, wants []any) {
	t.Helper()
	forEach(t, func(t *testing.T, v verifier) {
		for i, answer := range asked[json.RawMessage](t, v, questions) {
			got := reflect.New(reflect.TypeOf(wants[i]))
			if err := json.Unmarshal(answer, got.Interface()); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Elem().Interface(), wants[i]) {
				t.Errorf("%v: %s, want %v", questions[i], answer, wants[i])
			}
		}
	})
}

// ---- the programs themselves -----------------------------------------------------------------------------------------------

func TestVerifiersUseTheirStandardLibraryOnly(t *testing.T) {
	allowed := map[string]string{
		"js/verify.js":     `require("fs") require("./vectors.js") require("./duel.js") require("./duelvectors.js")`,
		"js/duel.js":       `require("./verify.js")`,
		"python/verify.py": "import datetime import hashlib import json import re import sys from math import comb import vectors import duel import duelvectors",
		"python/duel.py":   "import hashlib import hmac import re from verify import Report, Unusable, hex64, list_of, number, parse_json, record, text, time, time_key, truth, word, ID",
	}
	for file, imports := range allowed {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(content), "\n") {
			line = strings.TrimSpace(strings.SplitN(line, "  #", 2)[0])
			if strings.HasSuffix(file, ".py") && (strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "from ")) && !strings.Contains(imports, line) {
				t.Errorf("%s: %s", file, line)
			}
			if _, after, found := strings.Cut(line, "require("); found && strings.HasSuffix(file, ".js") && !strings.Contains(imports, "require("+strings.SplitN(after, ")", 2)[0]+")") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
}

func TestJavaScriptVerifierWorksOffline(t *testing.T) {
	// A browser has no require, no module and no process; an empty context has not even a console.
	script := `const source = require("fs").readFileSync("js/verify.js", "utf8"), evidence = require("fs").readFileSync(process.argv[1], "utf8");
		console.log(require("vm").runInNewContext(source + "; originals.checkEvidence(evidence, {}).verdict", { evidence }));`
	output, status := runProcess(t, "node", "-e", script, vectorsDir+"/evidence/good-every-kind.json")
	if want := "CONSISTENT, COMMITMENT NOT CONFIRMED\n"; output != want || status != 0 {
		t.Fatalf("%q with status %d, want %q", output, status, want)
	}
}

func TestExitStatusOfTheProcess(t *testing.T) {
	statuses := map[string]int{
		"good-every-kind.json": 0, "outcome-roll.json": 1, "format-truncated.json": 2, "format-not-utf8-in-a-text.json": 2, "no-such-file.json": 2,
	}
	forEach(t, func(t *testing.T, v verifier) {
		for file, want := range statuses {
			if output, got := runProcess(t, append(v.command, "evidence", filepath.Join(vectorsDir, "evidence", file))...); got != want {
				t.Errorf("%s: exit status %d, want %d\n%s", file, got, want, output)
			}
		}
		for _, args := range [][]string{{}, {"evidence"}, {"rounds"}, {"vectors", "more"}} {
			if _, got := runProcess(t, append(v.command, args...)...); got != 2 {
				t.Errorf("%v: exit status %d, want 2", args, got)
			}
		}
	})
}

// The commands of README.md, run at the top of the repository as a player would.
func TestReadmeCommands(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range strings.Split(string(content), "\n\n") {
		if strings.HasPrefix(block, "    ") {
			blocks = append(blocks, strings.ReplaceAll(strings.TrimPrefix(block, "    "), "\n    ", "\n"))
		}
	}
	if len(blocks) != 6 {
		t.Fatalf("%d indented blocks, want 6", len(blocks))
	}
	output, status := runProcess(t, "sh", "-c", "cd ../.. && "+blocks[0])
	if status != 0 || output != blocks[1]+"\n" {
		t.Errorf("status %d\n%s\nwant\n%s", status, output, blocks[1])
	}
	for _, line := range strings.Split(blocks[2], "\n") { // the other games
		output, status := runProcess(t, "sh", "-c", "node js/verify.js round --server-seed "+strings.Repeat("0", 64)+" --client-seed 0123456789abcdef --nonce 0 "+line[:strings.LastIndex(line, "'")+1])
		if status != 0 || !strings.Contains(output, "outcome") {
			t.Errorf("%s: status %d\n%s", line, status, output)
		}
	}
	for _, block := range blocks[3:] {
		if output, status := runProcess(t, "sh", "-c", "cd ../.. && "+block); status != 0 {
			t.Errorf("%s: status %d\n%s", block, status, output)
		}
	}
}

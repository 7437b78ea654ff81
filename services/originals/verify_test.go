package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"
)

// runOffline runs a command in process, without an environment, and returns
// what a person would see.
func runOffline(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot()
	root.Reader, root.Writer, root.ErrWriter = strings.NewReader(stdin), &out, &errs
	status = run(context.Background(), root, append([]string{"originals"}, args...), nil)
	return status, out.String(), errs.String()
}

const evidenceVectors = "../../internal/vectors/evidence/"

// TestVerifyRanksItsClaims: every check is reported, and verdict, check and
// exit status are those of the other verifiers.
func TestVerifyRanksItsClaims(t *testing.T) {
	text, err := os.ReadFile(evidenceVectors + "index.json")
	if err != nil {
		t.Fatal(err)
	}
	var index []struct {
		File, Verdict, Check, Commitment string
		LastNonce                        *uint32
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	if len(index) < 35 {
		t.Fatalf("the index has %d files, fewer than were made", len(index))
	}
	for _, v := range index {
		args := []string{"verify", "--evidence", evidenceVectors + v.File}
		if v.Commitment != "" {
			args = append(args, "--commitment", v.Commitment)
		}
		if v.LastNonce != nil {
			args = append(args, "--last-nonce", fmt.Sprint(*v.LastNonce))
		}
		verdict, status := "CONSISTENT, COMMITMENT NOT CONFIRMED", 0
		switch v.Verdict {
		case "VERIFIED":
			verdict = "VERIFIED"
		case "FAILED":
			verdict, status = "FAILED ("+v.Check+")", 1
		case "UNUSABLE":
			verdict, status = "UNUSABLE (format)", 2
		}
		got, out, _ := runOffline(t, "", args...)
		if got != status || !strings.HasSuffix(out, "verdict       "+verdict+"\n") {
			t.Errorf("%s: status %d, want %d, with the verdict %s:\n%s", v.File, got, status, verdict, out)
		}
		if v.Check != "" && !strings.Contains(out, fmt.Sprintf("%-14sFAILED  ", v.Check)) {
			t.Errorf("%s: the check %s is not said to fail:\n%s", v.File, v.Check, out)
		}
	}
}

func TestVerifyEvidenceFromStandardInputAndAsJSON(t *testing.T) {
	text, err := os.ReadFile(evidenceVectors + "outcome-roll.json")
	if err != nil {
		t.Fatal(err)
	}
	status, out, _ := runOffline(t, string(text), "verify", "--evidence", "-", "--json")
	var report struct {
		Verdict, Check string
		Checks         []struct {
			Name     string
			Passed   bool
			Failures []struct {
				Nonce int
				Words string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err, out)
	}
	if status != 1 || report.Verdict != "FAILED" || report.Check != "outcome" || len(report.Checks) != 10 {
		t.Errorf("status %d: %+v", status, report)
	}
	for _, check := range report.Checks {
		if check.Name == "outcome" && (check.Passed || !strings.Contains(check.Failures[0].Words, "the seeds give roll 5500")) {
			t.Errorf("%+v", check)
		}
	}
	status, out, _ = runOffline(t, string(text[:100]), "verify", "--evidence", "-", "--json")
	var unusable map[string]string
	if err := json.Unmarshal([]byte(out), &unusable); err != nil || status != 2 || unusable["verdict"] != "UNUSABLE" || unusable["problem"] == "" {
		t.Errorf("status %d: %s %v", status, out, err)
	}
}

// TestVerifyCanBeInterrupted: also while it waits for standard input.
func TestVerifyCanBeInterrupted(t *testing.T) {
	var out, errs bytes.Buffer
	root := newRoot()
	silent, typist := io.Pipe()
	defer typist.Close()
	root.Reader, root.Writer, root.ErrWriter = silent, &out, &errs
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if status := run(ctx, root, []string{"originals", "verify", "--evidence", "-"}, nil); status != 2 || !strings.Contains(errs.String(), "context canceled") {
		t.Errorf("status %d\n%s%s", status, &out, &errs)
	}
}

// TestVerifyEvidenceAgainstWhatWasKept: a file becomes VERIFIED only by what
// the player kept.
func TestVerifyEvidenceAgainstWhatWasKept(t *testing.T) {
	file := evidenceVectors + "good-every-kind.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		SeedPair struct {
			Commitment, ServerSeed string
			Nonce                  int
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	pair := document.SeedPair
	for _, c := range []struct {
		args   string
		status int
		words  string
	}{
		{"--commitment " + pair.Commitment, 0, "verdict       VERIFIED"},
		{fmt.Sprintf("--commitment %s --last-nonce %d", pair.Commitment, pair.Nonce-1), 0, "verdict       VERIFIED"},
		{fmt.Sprintf("--commitment %s --last-nonce %d", pair.Commitment, pair.Nonce), 1, "verdict       FAILED (nonce)"},
		{"--commitment " + strings.Repeat("0", 64), 1, "another seed pair, or another promise"},
		{"--commitment " + pair.ServerSeed, 1, "is the server seed and not its commitment"},
		{"--commitment " + strings.ToUpper(pair.Commitment), 2, "did you mean " + pair.Commitment},
		{"--commitment 0x" + pair.Commitment, 2, "leave the 0x out"},
		{"--commitment abc", 2, "it has 3 characters"},
		{"--last-nonce 01", 2, "--last-nonce"},
		{"--last-nonce -1", 2, "last-nonce"},
		{"--game dice", 2, "--game is for a single round"},
	} {
		status, out, errs := runOffline(t, "", append([]string{"verify", "--evidence", file}, strings.Fields(c.args)...)...)
		if status != c.status || !strings.Contains(out+errs, c.words) {
			t.Errorf("%s: status %d, want %d and %q:\n%s%s", c.args, status, c.status, c.words, out, errs)
		}
	}
}

// vectorRow returns the first row of a game in the vectors, as flags.
func vectorRow(t *testing.T, game string) (flags []string, row map[string]any) {
	t.Helper()
	text, err := os.ReadFile("../../internal/vectors/originals-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []map[string]any }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, row := range file.Rows {
		if row["game"] == game && fmt.Sprint(row["nonce"]) != "0" {
			flags := []string{"verify", "--game", game}
			for flag, key := range map[string]string{"server-seed": "serverSeed", "client-seed": "clientSeed", "nonce": "nonce", "commitment": "commitment", "stake": "stake"} {
				flags = append(flags, "--"+flag, fmt.Sprint(row[key]))
			}
			return flags, row
		}
	}
	t.Fatal("no row of", game)
	return nil, nil
}

func list(value any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
}

func TestVerifyOneRoundOfEachGame(t *testing.T) {
	for _, game := range []string{"dice", "limbo", "roulette", "mines"} {
		flags, row := vectorRow(t, game)
		bet := row[game].(map[string]any)
		claims := map[string]string{"multiplierE4": fmt.Sprint(row["multiplierE4"]), "payout": fmt.Sprint(row["payout"])}
		switch game {
		case "dice":
			flags = append(flags, "--target", fmt.Sprint(bet["target"]), "--direction", strings.ToLower(fmt.Sprint(bet["direction"])))
			claims["roll"], claims["win"] = fmt.Sprint(bet["roll"]), fmt.Sprint(bet["win"])
		case "limbo":
			flags = append(flags, "--target-e2", fmt.Sprint(bet["targetE2"]))
			claims["outcomeE2"] = fmt.Sprint(bet["outcomeE2"])
		case "roulette":
			chips, err := json.Marshal(bet["chips"])
			if err != nil {
				t.Fatal(err)
			}
			flags = append(flags, "--chips", string(chips))
			claims["pocket"] = fmt.Sprint(bet["pocket"])
		case "mines":
			flags = append(flags, "--mines", fmt.Sprint(bet["mineCount"]), "--picks", list(bet["picks"]))
			claims["mines"], claims["hitMine"] = list(bet["mines"]), fmt.Sprint(bet["hitMine"])
		}
		for name, value := range claims {
			flags = append(flags, "--claimed", name+"="+value)
		}
		status, out, errs := runOffline(t, "", flags...)
		if status != 0 || !strings.HasSuffix(out, "verdict       VERIFIED\n") || !strings.Contains(out, fmt.Sprint(row["signature"])) {
			t.Errorf("%s: status %d\n%s%s", game, status, out, errs)
		}
		wrong := slices.Concat(flags, []string{"--json"})
		for i, flag := range wrong {
			if strings.HasPrefix(flag, "payout=") {
				wrong[i] = flag + "1"
			}
		}
		status, out, _ = runOffline(t, "", wrong...)
		if status != 1 || !json.Valid([]byte(out)) || !strings.Contains(out, `"check": "payout"`) {
			t.Errorf("%s with another payout: status %d\n%s", game, status, out)
		}
	}
}

// TestVerifyBadUsage: each is status 2, and its words name the flag.
func TestVerifyBadUsage(t *testing.T) {
	good, row := vectorRow(t, "dice")
	good = slices.Clip(append(good, "--target", "5050", "--direction", "over"))
	replace := func(flag, value string) []string {
		args := append([]string{}, good...)
		for i, arg := range args {
			if arg == flag {
				args[i+1] = value
			}
		}
		return args
	}
	serverSeed := fmt.Sprint(row["serverSeed"])
	for _, c := range []struct {
		name, words string
		args        []string
	}{
		{"nothing at all", "--server-seed is missing", []string{"verify"}},
		{"a crash round as a game of a seed pair", "--scheme crash-v1", []string{"verify", "--game", "crash", "--hash", strings.Repeat("0", 64)}},
		{"an unknown flag", "-seed", []string{"verify", "--seed", "1"}},
		{"a stray word", "evidence.json", []string{"verify", "evidence.json"}},
		{"a file that is not there", "no-such-file", []string{"verify", "--evidence", filepath.Join(t.TempDir(), "no-such-file")}},
		{"a folder", "--evidence", []string{"verify", "--evidence", t.TempDir()}},
		{"upper-case hex", "upper-case digits", replace("--server-seed", strings.ToUpper(serverSeed))},
		{"a newline after the server seed", "stray white space", replace("--server-seed", serverSeed+"\n")},
		{"0x before the server seed", "leave the 0x out", replace("--server-seed", "0x"+serverSeed)},
		{"a short server seed", "it has 63 characters", replace("--server-seed", serverSeed[1:])},
		{"a client seed with a space", "--client-seed", replace("--client-seed", "abc ")},
		{"an empty client seed", "--client-seed", replace("--client-seed", "")},
		{"a nonce with a zero in front", "--nonce", replace("--nonce", "01")},
		{"a nonce that wraps", "--nonce", replace("--nonce", "4294967295")},
		{"another game", "--target belongs to dice", replace("--game", "limbo")},
		{"an unknown game", "--game", replace("--game", "poker")},
		{"no direction", "--direction", replace("--direction", "")},
		{"a target outside", "target", replace("--target", "9999")},
		{"a fraction", "--target", replace("--target", "50.50")},
		{"no stake", "--stake", replace("--stake", "0")},
		{"a stake above 2^53-1", "--stake", replace("--stake", "9007199254740992")},
		{"a claim without a value", "--claimed", append(good, "--claimed", "roll")},
		{"a claim of another game", "--claimed", append(good, "--claimed", "pocket=1")},
		{"a claim twice", "--claimed", append(good, "--claimed", "roll=1", "--claimed", "roll=2")},
		{"last nonce of a round", "--last-nonce", append(good, "--last-nonce", "1")},
	} {
		status, out, errs := runOffline(t, "", c.args...)
		if status != 2 || !strings.Contains(errs, c.words) {
			t.Errorf("%s: status %d, want 2 and %q:\n%s%s", c.name, status, c.words, out, errs)
		}
	}
}

// TestHelpHasAnExampleForEveryFlag: nobody has to guess the form of a value.
func TestHelpHasAnExampleForEveryFlag(t *testing.T) {
	for _, command := range []string{"verify", "rtp"} {
		status, out, _ := runOffline(t, "", command, "--help")
		if status != 0 || !strings.Contains(out, "originals "+command+" --") {
			t.Errorf("%s --help: status %d, without an example:\n%s", command, status, out)
		}
	}
	for _, c := range []*cli.Command{verifyCommand(), rtpCommand()} {
		for _, f := range c.Flags {
			if usage := f.(cli.DocGenerationFlag).GetUsage(); usage == "" {
				t.Errorf("%s --%s has no help", c.Name, f.Names()[0])
			}
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const crashVectors = "../../internal/vectors/crashrounds/"

// TestVerifyRanksItsClaimsOfCrashTables: verdict, check and exit status are
// those of the other verifiers, whichever flag names the file.
func TestVerifyRanksItsClaimsOfCrashTables(t *testing.T) {
	text, err := os.ReadFile(crashVectors + "index.json")
	if err != nil {
		t.Fatal(err)
	}
	var index []struct{ File, Verdict, Check, Terminal, Salt string }
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	if len(index) < 160 {
		t.Fatalf("the index has %d files, fewer than were made", len(index))
	}
	for _, v := range index {
		args := []string{"verify", "--crash", crashVectors + v.File}
		if v.Terminal != "" {
			args = append(args, "--terminal", v.Terminal)
		}
		if v.Salt != "" {
			args = append(args, "--salt", v.Salt)
		}
		verdict, status := "CONSISTENT, "+v.Verdict, 0
		switch v.Verdict {
		case "VERIFIED":
			verdict = v.Verdict
		case "FAILED":
			verdict, status = "FAILED ("+v.Check+")", 1
		case "UNUSABLE":
			verdict, status = "UNUSABLE (format)", 2
		}
		got, out, errs := runOffline(t, "", args...)
		if got != status || !strings.HasSuffix(out, "verdict       "+verdict+"\n") {
			t.Errorf("%s: status %d, want %d, with the verdict %s:\n%s%s", v.File, got, status, verdict, out, errs)
		}
		if !strings.HasPrefix(v.File, "good-") {
			continue
		}
		args[1] = "--evidence"
		if again, same, errs := runOffline(t, "", args...); again != got || same != out {
			t.Errorf("%s: --evidence says something else, status %d:\n%s%s", v.File, again, same, errs)
		}
	}
}

func TestVerifyCrashFromStandardInputAndAsJSON(t *testing.T) {
	text, err := os.ReadFile(crashVectors + "crash-of-the-next-number.json")
	if err != nil {
		t.Fatal(err)
	}
	status, out, errs := runOffline(t, string(text), "verify", "--crash", "-", "--json")
	var report struct {
		Verdict, Check string
		Checks         []struct {
			Name     string
			Passed   bool
			Failures []struct{ Words, Mistake string }
		}
		Summary struct{ Crash string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 {
		t.Fatalf("status %d, %v:\n%s%s", status, err, out, errs)
	}
	if report.Verdict != "FAILED" || report.Check != "crash" || len(report.Checks) != 7 || report.Checks[5].Failures[0].Mistake != "NONCE_OFF_BY_ONE" || report.Summary.Crash == "" {
		t.Errorf("%+v", report)
	}
	status, out, _ = runOffline(t, "[]x", "verify", "--crash", "-", "--json")
	if status != 2 || !strings.Contains(out, `"verdict": "UNUSABLE"`) {
		t.Errorf("status %d: %s", status, out)
	}
}

// crashRoundFlags are those of the round that crash-v1 is explained with.
func crashRoundFlags(more ...string) []string {
	return append([]string{
		"verify", "--scheme", "crash-v1", "--table", "main", "--number", "7", "--hash", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		"--salt", "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100", "--terminal", "5b0ea80ec40723c1f948b0f7245bca57484d6ca5a48d1e25339b08c93d8f42dc",
	}, more...)
}

func TestVerifyOneCrashRound(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
		args   []string
	}{
		{0, "verdict       VERIFIED\n", crashRoundFlags()},
		{0, "payout        340\n", crashRoundFlags("--target-e2", "136", "--stake", "250", "--claimed", "payout=340", "--claimed", "win=true", "--claimed", "multiplierE4=13600")},
		{1, "FAILED  payout is stated as", crashRoundFlags("--target-e2", "137", "--stake", "250", "--claimed", "payout=342")},
		{1, "verdict       FAILED (outcome)\n", crashRoundFlags("--claimed", "crashE2=135")},
		{0, "verdict       CONSISTENT, TERMINAL NOT CONFIRMED\n", crashRoundFlags()[:11]},
	} {
		status, out, errs := runOffline(t, "", c.args...)
		if status != c.status || !strings.Contains(out, c.words) {
			t.Errorf("%v: status %d, want %d and %q:\n%s%s", c.args, status, c.status, c.words, out, errs)
		}
	}
	status, out, _ := runOffline(t, "", crashRoundFlags("--json")...)
	if status != 0 || !strings.Contains(out, `"digest": "459b05de46618378c52a57e66138abe930eab6d85592181a90cdb412fda65113"`) || !strings.Contains(out, `"crashE2": "136"`) {
		t.Errorf("status %d: %s", status, out)
	}
	signature := "b18fa6dc92304844fc4e868d708953e6b628b3f88d4381249d32264df1bfe5bc20aa0905e57fe54063010881767fd56d" // of drand
	beacon := append(crashRoundFlags()[:9], "--beacon-round", "27798178", "--beacon-signature", signature)
	if status, out, errs := runOffline(t, "", beacon...); status != 0 || !strings.Contains(out, "salt          581e6b8ff733fcddc748d231d0f2fee3b00f05a55ecb103d19d3202db6d23078\n") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	network := append(append([]string{}, beacon...), "--beacon-network", strings.Repeat("ab", 32))
	if status, out, _ := runOffline(t, "", network...); status != 0 || !strings.Contains(out, "is not drand's quicknet") || !strings.Contains(out, "was not checked") {
		t.Errorf("an unknown network: status %d: %s", status, out)
	}
	beacon[10] = "27798179"
	if status, out, _ := runOffline(t, "", beacon...); status != 1 || !strings.Contains(out, "not that of its round 27798179") {
		t.Errorf("a signature of another round: status %d: %s", status, out)
	}
}

func TestVerifyCrashBadUsage(t *testing.T) {
	page := crashVectors + "good-page.json"
	without := func(flag string) []string {
		args := crashRoundFlags()
		for i, arg := range args {
			if arg == flag {
				return append(args[:i:i], args[i+2:]...)
			}
		}
		return args
	}
	for _, c := range []struct {
		name, words string
		args        []string
	}{
		{"no file", "no-such-file", []string{"verify", "--crash", filepath.Join(t.TempDir(), "no-such-file")}},
		{"two files", "give one", []string{"verify", "--crash", page, "--evidence", page}},
		{"a terminal in upper case", "did you mean abab", []string{"verify", "--crash", page, "--terminal", strings.Repeat("AB", 32)}},
		{"a salt that is short", "it has 4 characters", []string{"verify", "--crash", page, "--salt", "abcd"}},
		{"the commitment of a seed pair", "--commitment does not go", []string{"verify", "--crash", page, "--commitment", strings.Repeat("ab", 32)}},
		{"a nonce of a seed pair", "--last-nonce does not go", []string{"verify", "--evidence", page, "--last-nonce", "1"}},
		{"another house", "--house does not go", []string{"verify", "--crash", page, "--house", "stake"}},
		{"a single round's flag", "--number does not go", []string{"verify", "--crash", page, "--number", "7"}},
		{"a terminal for a seed pair", "--terminal does not go", []string{"verify", "--evidence", evidenceVectors + "good-long.json", "--terminal", strings.Repeat("ab", 32)}},
		{"an unknown scheme", "neither", []string{"verify", "--scheme", "crash-v2", "--table", "main"}},
		{"a table for another scheme", "--table does not go", []string{"verify", "--scheme", "originals-v1", "--table", "main"}},
		{"no table", "--table is missing", without("--table")},
		{"no number", "--number is missing", without("--number")},
		{"no hash", "--hash is missing", without("--hash")},
		{"no salt", "--salt is missing", without("--salt")},
		{"a beacon's round alone", "--beacon-round does not go", crashRoundFlags("--beacon-round", "1")},
		{"a beacon's signature alone", "--beacon-round", append(without("--salt"), "--beacon-signature", strings.Repeat("ab", 48))},
		{"a signature that is short", "96 hex digits", append(without("--salt"), "--beacon-signature", "ab", "--beacon-round", "1")},
		{"a network alone", "--beacon-network does not go", crashRoundFlags("--beacon-network", strings.Repeat("ab", 32))},
		{"a network that is short", "it has 2 characters", append(without("--salt"), "--beacon-signature", strings.Repeat("ab", 48), "--beacon-round", "1", "--beacon-network", "ab")},
		{"number 0", "count from 1", append(without("--number"), "--number", "0")},
		{"a bad table", "--table", append(without("--table"), "--table", "Main")},
		{"a bad hash", "leave the 0x out", append(without("--hash"), "--hash", "0xab")},
		{"a stake without a target", "--target-e2", crashRoundFlags("--stake", "1")},
		{"a target of 1.00", "101 to 1000000", crashRoundFlags("--target-e2", "100")},
		{"a value of another game", "--claimed", crashRoundFlags("--claimed", "roll=1")},
		{"a server seed", "--server-seed does not go", crashRoundFlags("--server-seed", strings.Repeat("ab", 32))},
	} {
		status, out, errs := runOffline(t, "", c.args...)
		if status != 2 || !strings.Contains(errs, c.words) {
			t.Errorf("%s: status %d, want 2 and %q:\n%s%s", c.name, status, c.words, out, errs)
		}
	}
}

// playedTable plays whichever of many tables crashes first, and returns the
// table as it was before the bet, and the file of the answers after it.
func playedTable(t *testing.T, more string) (kept *originalsv1.CrashTable, file string) {
	t.Helper()
	config := "currencies:\n  - code: FUN\n    exponent: 2\n    limits:\n      default: {minStake: 1, maxStake: 100000, maxPayout: 10000000}\ncrash:\n  tables:\n"
	const tables = 16
	for i := range tables {
		config += fmt.Sprintf("    - {name: t%d, bettingMs: 1500, crashedMs: 100%s}\n", i, more)
	}
	dir := t.TempDir()
	settings, key := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "dev.key")
	if err := os.WriteFile(settings, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(wantRun(t, 0, "", "", nil, "token", "--dev-key", key, "--subject", "alice"))
	p := testenv.Serve(t, "--config", settings, "--dev-key", key, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	alice := testenv.NewPlayer(token, p.URL())
	t.Cleanup(alice.Close)
	if err := alice.Get(t.Context(), "/v1/seed-pair", new(originalsv1.GetSeedPairResponse)); err != nil {
		t.Fatal(err)
	}
	noted := map[string]*originalsv1.CrashTable{}
	for i := range tables {
		name := fmt.Sprintf("t%d", i)
		noted[name] = new(originalsv1.CrashTable)
		if err := alice.Get(t.Context(), "/v1/crash/tables/"+name, noted[name]); err != nil {
			t.Fatal(err)
		}
		target := uint32(102)
		bet := &originalsv1.CrashServicePlaceBetRequest{BetId: "b", Stake: &originalsv1.Money{Currency: "FUN", Amount: 250}, AutoCashOutE2: &target}
		err := alice.Post(t.Context(), "/v1/crash/tables/"+name+"/bets", bet, new(originalsv1.Round))
		for testenv.Refused(err) == reason.BettingClosed { // before its first round
			time.Sleep(10 * time.Millisecond)
			err = alice.Post(t.Context(), "/v1/crash/tables/"+name+"/bets", bet, new(originalsv1.Round))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		for name := range noted {
			list := new(originalsv1.ListCrashRoundsResponse)
			if err := alice.Get(t.Context(), "/v1/crash/tables/"+name+"/rounds", list); err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(list.GetRounds(), func(r *originalsv1.CrashRound) bool { return r.GetHash() != "" }) {
				return noted[name], download(t, alice, name)
			}
		}
	}
	t.Fatal("no table has played a round within a minute")
	return nil, ""
}

// download writes the answers about a table to one file, as curl would.
func download(t *testing.T, alice *testenv.Player, table string) string {
	t.Helper()
	var all []byte
	for _, path := range []string{"/v1/crash/tables/" + table + "/rounds", "/v1/crash/tables/" + table, "/v1/crash/tables/" + table + "/rounds/1", "/v1/rounds?game=CRASH&pageSize=200"} {
		answer, err := alice.Do(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, answer...), '\n')
	}
	file := filepath.Join(t.TempDir(), "rounds.json")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPlayedCrashRoundsVerifyInThreeLanguages: what the gateway answers is what
// the verifiers read, to the last key.
func TestPlayedCrashRoundsVerifyInThreeLanguages(t *testing.T) {
	for name, c := range map[string]struct {
		config, verdict string
		salted          bool
	}{
		"a salt of the chain": {"", "VERIFIED", true},
		"a beacon, and a chain that ends after its first round": {", beacon: test, chainLength: 1, nextChainAt: 1", "CONSISTENT, SALT NOT CONFIRMED", false}, // since everybody knows the test beacon
	} {
		t.Run(name, func(t *testing.T) {
			kept, file := playedTable(t, c.config)
			flags := []string{file, "--terminal", kept.GetTerminal()}
			if c.salted {
				flags = append(flags, "--salt", kept.GetSalt().GetValue())
			}
			status, out, errs := runOffline(t, "", append([]string{"verify", "--crash"}, flags...)...)
			if status != 0 || !strings.Contains(out, "rounds 1 to ") || !strings.HasSuffix(out, "verdict       "+c.verdict+"\n") || strings.Contains(out, "was not checked") {
				t.Errorf("status %d:\n%s%s", status, out, errs)
			}
			for _, command := range [][]string{{"node", "../../scripts/verify/js/crash.js"}, {"python3", "-B", "../../scripts/verify/python/crash.py"}} {
				argv := append(command, flags...)
				if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "verdict     "+c.verdict+"\n") {
					t.Errorf("%v: %v\n%s", argv, err, out)
				}
			}
		})
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
)

const foreignVectors = "../../internal/vectors/foreign/"

// A mines bet of stake, from the vectors.
const (
	stakeSeed       = "e8c495e2af38633f6ad42e0da12c8e3de7420d5284d054e36e83fdd2f13db44d"
	stakeCommitment = "ec8cb86c52ac4bfeb60ce5bc2d5d7b7d91036dc543c006febf7ad46ea0636b50"
)

func stakeBet(more ...string) []string {
	return append([]string{"verify", "--house", "stake", "--game", "mines", "--server-seed", stakeSeed, "--client-seed", "huoauPze", "--nonce", "1"}, more...)
}

func TestVerifyABetOfAnotherHouse(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		status int
		words  []string
	}{
		{"confirmed", stakeBet("--mines", "3", "--commitment", stakeCommitment, "--claimed", "mines=2,12,5"), 0, []string{"mines         2,12,5\n", "verdict       VERIFIED\n"}},
		{"parameters as JSON", stakeBet("--params", `{"mineCount":3,"firstTile":1}`, "--commitment", stakeCommitment, "--claimed", "mines=3,13,6"), 0, []string{"verdict       VERIFIED\n"}},
		{"parameters one by one", stakeBet("--param", "mineCount=3", "--claimed", "mines=12,2,5"), 0, []string{"in another order", "verdict       CONSISTENT, COMMITMENT NOT CONFIRMED\n"}},
		{"another outcome", stakeBet("--mines", "3", "--commitment", stakeCommitment, "--claimed", "mines=2,12,6"), 1, []string{"outcome       FAILED  ", "verdict       FAILED\n"}},
		{"another commitment", stakeBet("--mines", "3", "--commitment", strings.Repeat("0", 64)), 1, []string{"another seed pair", "verdict       FAILED\n"}},
		{"nothing claimed", stakeBet("--mines", "3"), 0, []string{"give the commitment", "NOT CONFIRMED\n"}},
		{"a round of a chain", []string{"verify", "--house", "bustabit", "--game", "crash", "--house-version", "v3",
			"--hash", "1f497e8ba3a58b87976a9207a4596c2e00c11494237127f22d0f57785fcadd23", "--claimed", "crash=5.56"}, 0, []string{"crashE2       556  (5.56)\n", "--terminal"}},
		{"the version among the parameters", []string{"verify", "--house", "bustabit", "--game", "crash", "--params", `{"version":"v3"}`,
			"--hash", "1f497e8ba3a58b87976a9207a4596c2e00c11494237127f22d0f57785fcadd23"}, 0, []string{"bustabit-crash-v3\n"}},
		{"a bet of ours", []string{"verify", "--house", "stake", "--game", "mines", "--server-seed", strings.Repeat("0", 64), "--client-seed", "player-provided-seed",
			"--nonce", "0", "--mines", "3", "--claimed", "mines=20,4,10"}, 1, []string{"cloudbet-mines would give it", "is it a bet of ours?"}},
		{"a bet of theirs as ours", []string{"verify", "--game", "mines", "--server-seed", stakeSeed, "--client-seed", "huoauPze", "--nonce", "1", "--mines", "3",
			"--claimed", "mines=2,12,5"}, 1, []string{"stake-mines would give mines 2,12,5"}},
	} {
		status, out, errs := runOffline(t, "", c.args...)
		for _, words := range c.words {
			if status != c.status || !strings.Contains(out, words) {
				t.Errorf("%s: status %d, want %d with %q:\n%s%s", c.name, status, c.status, words, out, errs)
			}
		}
	}
}

func TestVerifyABetOfAnotherHouseRefuses(t *testing.T) {
	chain := []string{"verify", "--house", "bustabit", "--game", "crash", "--hash", strings.Repeat("0", 64)}
	for _, c := range []struct {
		name, words string
		args        []string
	}{
		{"an unknown house", "--house must be one of stake,", []string{"verify", "--house", "bet365", "--game", "dice"}},
		{"an unknown game", "--game must be one of dice, limbo", []string{"verify", "--house", "stake", "--game", "poker"}},
		{"no game", "--game must be one of", []string{"verify", "--house", "stake"}},
		{"no version", "--house-version must be one of v1, v2", chain},
		{"no server seed", "--server-seed", []string{"verify", "--house", "stake", "--game", "dice", "--client-seed", "x", "--nonce", "0"}},
		{"two server seeds", "--hash and --server-seed", append(chain, "--server-seed", strings.Repeat("0", 64))},
		{"stray white space", "stray white space", []string{"verify", "--house", "stake", "--game", "dice", "--server-seed", stakeSeed + " ", "--client-seed", "x", "--nonce", "0"}},
		{"a nonce in words", "--nonce", []string{"verify", "--house", "stake", "--game", "dice", "--server-seed", stakeSeed, "--client-seed", "x", "--nonce", "1st"}},
		{"no mines", "--param mineCount is required", stakeBet()},
		{"mines twice", "given twice", stakeBet("--mines", "3", "--param", "mineCount=3")},
		{"an unknown parameter", "not a parameter", stakeBet("--mines", "3", "--param", "minecount=3")},
		{"a parameter without a value", "NAME=VALUE", stakeBet("--param", "mineCount")},
		{"parameters that are no JSON", "--params", stakeBet("--params", `{"mineCount":3`)},
		{"parameters and more", "--params", stakeBet("--params", `{"mineCount":3} 4`)},
		{"parameters that are a list", "--params", stakeBet("--params", `[3]`)},
		{"a parameter that is an object", "--params", stakeBet("--params", `{"mineCount":{}}`)},
		{"a claim of another game", "--claimed pocket", stakeBet("--mines", "3", "--claimed", "pocket=1")},
		{"a commitment in capitals", "upper-case", stakeBet("--mines", "3", "--commitment", strings.ToUpper(stakeCommitment))},
		{"an empty commitment", "--commitment", stakeBet("--mines", "3", "--commitment", "")},
		{"a flag of ours", "--direction does not go with", stakeBet("--direction", "over")},
		{"a flag of a walk", "--from does not go with", stakeBet("--from", "1")},
		{"a flag of theirs without a house", "--salt goes with --house", []string{"verify", "--game", "dice", "--salt", "x"}},
		{"a house with evidence", "--house does not go with --evidence", []string{"verify", "--evidence", "x", "--house", "stake"}},
		{"a terminal of no chain", "has no chain", []string{"verify", "--house", "stake", "--game", "dice", "--hash", strings.Repeat("0", 64), "--terminal", strings.Repeat("0", 64)}},
		{"a short terminal", "--terminal must be 64", append(chain, "--terminal", "00")},
		{"a game without a number", "--from", append(chain, "--terminal", strings.Repeat("0", 64), "--from", "x", "--to", "0")},
	} {
		status, out, errs := runOffline(t, "", c.args...)
		if status != 2 || !strings.Contains(errs, c.words) {
			t.Errorf("%s: status %d, want 2 and %q:\n%s%s", c.name, status, c.words, out, errs)
		}
	}
}

func TestVerifyABetOfAnotherHouseAsJSON(t *testing.T) {
	status, out, _ := runOffline(t, "", stakeBet("--mines", "3", "--claimed", "mines=1,2,3", "--json")...)
	var report struct {
		Scheme, Commitment, Verdict string
		Values                      map[string]string
		Failures                    []struct{ Check, Words string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 {
		t.Fatalf("status %d %v: %s", status, err, out)
	}
	if report.Scheme != "stake-mines" || report.Commitment != stakeCommitment || report.Verdict != "FAILED" || report.Values["mines"] != "2,12,5" || len(report.Failures) != 1 {
		t.Errorf("%+v", report)
	}
}

// TestTheListShowsEveryHouse: with the numbers that the vectors are counted against in internal/foreign.
func TestTheListShowsEveryHouse(t *testing.T) {
	status, out, _ := runOffline(t, "", "verify", "--list")
	for _, h := range foreign.Houses() {
		for _, words := range []string{h.Commitment, h.Source} {
			if !strings.Contains(out, words) {
				t.Errorf("%s: the list does not show %q", h.Name, words)
			}
		}
		for _, s := range h.Schemes {
			found := false
			for line := range strings.SplitSeq(out, "\n") {
				fields := strings.Fields(line)
				found = found || len(fields) > 4 && fields[1] == s.Name && fields[len(fields)-2] == fmt.Sprint(s.Reproduced) && fields[len(fields)-1] == fmt.Sprint(s.Real)
			}
			if !found {
				t.Errorf("the list does not show %s with %d and %d", s.Name, s.Reproduced, s.Real)
			}
		}
	}
	if status != 0 || !strings.Contains(out, "237") {
		t.Errorf("status %d:\n%s", status, out)
	}
	for _, s := range foreign.Schemes() {
		for _, p := range s.Parameters {
			if !strings.Contains(out, p.Usage) || !regexp.MustCompile(`[0-9]|as text|likewise`).MatchString(p.Usage) && !strings.Contains(p.Usage, "true when") {
				t.Errorf("%s: the list does not say which values %s takes: %q", s.Name, p.Name, p.Usage)
			}
		}
		if !strings.Contains(out, s.ServerSeedForm()) {
			t.Errorf("%s: no form of the server seed", s.Name)
		}
	}
	_, help, _ := runOffline(t, "", "verify", "--help")
	for _, values := range []string{"199 to 9998 over, 1 to 9800 under", "101 to 1000000", "1 to 24", "0 to 24", "whose values --list shows"} {
		if !strings.Contains(strings.Join(strings.Fields(help), " "), values) {
			t.Errorf("the help does not say %q", values)
		}
	}
	status, out, _ = runOffline(t, "", "verify", "--list", "--json")
	var list []struct{ House string }
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 || len(list) != len(foreign.Houses()) {
		t.Errorf("status %d %v: %d houses", status, err, len(list))
	}
}

// TestGapInTheCrashHashChain: a published game leads to the hash that was announced, over millions of games, and numbers
// that are further apart are a gap.
func TestGapInTheCrashHashChain(t *testing.T) {
	text, err := os.ReadFile(foreignVectors + "crash_bustabit_v2.json")
	if err != nil {
		t.Fatal(err)
	}
	var v2 struct {
		Terminating string `json:"terminating_hash"`
		Rounds      []struct {
			Game int
			Hash string
		}
	}
	if err := json.Unmarshal(text, &v2); err != nil || len(v2.Rounds) != 3 {
		t.Fatal(err)
	}
	walk := func(hash, terminal string, more ...string) []string {
		return append([]string{"verify", "--house", "bustabit", "--game", "crash", "--hash", hash, "--terminal", terminal}, more...)
	}
	for _, r := range v2.Rounds {
		args := walk(v2.Rounds[0].Hash, v2.Terminating, "--house-version", "v2", "--from", "1", "--to", "0")
		if r.Game > 1 {
			args = walk(r.Hash, v2.Terminating, "--to", "0")
		}
		status, out, errs := runOffline(t, "", args...)
		if status != 0 || !strings.Contains(out, fmt.Sprintf("game          %d\n", r.Game)) || !strings.HasSuffix(out, "VERIFIED\n") {
			t.Errorf("game %d: status %d\n%s%s", r.Game, status, out, errs)
		}
	}
	// The announced hash of v3 stands for game 10,000,000.
	status, out, _ := runOffline(t, "", walk("1f497e8ba3a58b87976a9207a4596c2e00c11494237127f22d0f57785fcadd23",
		"567a98370fb7545137ddb53687723cf0b8a1f5e93b1f76f4a1da29416930fa59", "--from", "12424168", "--to", "10000000", "--json")...)
	if status != 0 || !strings.Contains(out, `"games": "2424168"`) || !strings.Contains(out, `"bustabit-crash-v3"`) {
		t.Errorf("v3: status %d\n%s", status, out)
	}
	for name, args := range map[string][]string{
		"the terminal hash is 1 games back": walk(v2.Rounds[0].Hash, v2.Terminating, "--from", "8", "--to", "0"),
		"still no terminal hash":            walk(v2.Rounds[1].Hash, v2.Terminating, "--from", "8", "--to", "0"),
	} {
		status, out, _ := runOffline(t, "", args...)
		if status != 1 || !strings.Contains(out, name) || !strings.HasSuffix(out, "FAILED\n") {
			t.Errorf("%s: status %d\n%s", name, status, out)
		}
	}
}

func TestVerifyAHistory(t *testing.T) {
	text := historyText(25_000) // several chunks
	status, out, errs := runOffline(t, text, "verify", "--house", "stake", "--game", "dice", "--csv", "-")
	if status != 0 || out != "rows          25000: 25000 verified, 0 consistent without a commitment, 0 failed, 0 unusable\nverdict       VERIFIED\n" {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
	lines := strings.SplitAfter(text, "\n")
	swap := func(line int, old, new string) {
		if lines[line-1] = strings.Replace(lines[line-1], old, new, 1); !strings.Contains(lines[line-1], new) {
			t.Fatalf("line %d: no %q", line, old)
		}
	}
	swap(2, "player-0123456789", "other-player")
	lines[12344] = "a row of one cell\r\n"
	swap(20000, ",19998,", ",019998,")
	file := filepath.Join(t.TempDir(), "bets.csv")
	if err := os.WriteFile(file, []byte("\ufeff"+strings.Join(lines, "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, _ = runOffline(t, "", "verify", "--house", "stake", "--game", "dice", "--csv", file)
	for _, words := range []string{
		"line 2        FAILED  outcome: rollE2 is stated as", "line 12345    UNUSABLE  format: the row has 1 cells, and the header 5",
		"line 20000    UNUSABLE  format: nonce must be", "25000: 24997 verified, 0 consistent without a commitment, 1 failed, 2 unusable", "verdict       FAILED\n",
	} {
		if status != 1 || !strings.Contains(out, words) {
			t.Errorf("status %d, want 1 and %q:\n%s", status, words, out)
		}
	}
	if strings.Count(out, "line ") != 3 {
		t.Errorf("%s", out)
	}
	status, out, _ = runOffline(t, "", "verify", "--house", "stake", "--game", "dice", "--csv", file, "--json")
	var report struct {
		Rows, Verified, Failed, Unusable int
		Verdict                          string
		Bad                              []struct {
			Line         int
			Check, Words string
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 || report.Rows != 25000 || report.Failed != 1 || report.Unusable != 2 || len(report.Bad) != 3 || report.Bad[2].Line != 20000 {
		t.Errorf("status %d %v: %+v", status, err, report)
	}
}

// TestAHistoryOfSeveralHouses: each row may name its own, cells with commas stand in quotation marks, and what no cell
// gives comes from the flags.
func TestAHistoryOfSeveralHouses(t *testing.T) {
	text := "house,game,version,hash,clientSeed,nonce,mineCount,mines,crash,date\n" +
		"stake,mines,," + stakeSeed + `,huoauPze,1,3,"2,12,5",,"1 ""May"", 2019"` + "\n" +
		"bustabit,crash,v3,1f497e8ba3a58b87976a9207a4596c2e00c11494237127f22d0f57785fcadd23,,,,,5.56,\r\n" +
		",mines,," + stakeSeed + `,huoauPze,1,,"2,12",,` + "\n"
	status, out, errs := runOffline(t, text, "verify", "--csv", "-", "--house", "stake", "--param", "mineCount=2", "--ignore", "date")
	if status != 0 || !strings.Contains(out, "3: 0 verified, 3 consistent") {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
}

func TestAHistoryIsRefused(t *testing.T) {
	for _, c := range []struct{ name, text, words string }{
		{"misspelt field dropped", "serverSeed,clientSeed,nonce,rol\nx,x,0,1\n", `column "rol"`},
		{"a column of another game", "serverSeed,clientSeed,nonce,pocket\nx,x,0,1\n", `column "pocket"`},
		{"an empty line at the end", "nonce,rollE2\n\n", ""},
		{"semicolons, as spreadsheets of some countries write them", "nonce;rollE2\n1;1\n", "parted by commas"},
		{"no outcome", "serverSeed,clientSeed,nonce\nx,x,0\n", "no column holds an outcome"},
		{"two columns of one name", "nonce,nonce,rollE2\n1,1,1\n", "two columns"},
		{"quotation marks in the header", "\"nonce,rollE2\n1,1\n", "header"},
		{"an empty file", "", "no row"},
		{"a header alone", "nonce,rollE2", "no row"},
		{"no row", "nonce,rollE2\n", ""},
		{"a row that states nothing", "nonce,rollE2\n1,\n", ""},
		{"quotation marks", "nonce,rollE2\n\"1,1\n", ""},
		{"a line without an end", "nonce,rollE2\n" + strings.Repeat("1", 3*chunkBytes), "longer than"},
		{"a header without an end", strings.Repeat("1", 3*chunkBytes), "longer than"},
	} {
		status, out, errs := runOffline(t, c.text, "verify", "--house", "stake", "--game", "dice", "--csv", "-")
		if status != 2 || !strings.Contains(errs, c.words) {
			t.Errorf("%s: status %d, want 2 and %q:\n%s%s", c.name, status, c.words, out, errs)
		}
	}
	if status, _, errs := runOffline(t, "nonce,rollE2\n1,1\n", "verify", "--house", "stake", "--game", "dice", "--csv", "-", "--salt", "x"); status != 2 || !strings.Contains(errs, "salt") {
		t.Errorf("a parameter of another game: status %d: %s", status, errs)
	}
	if status, _, errs := runOffline(t, "", "verify", "--house", "stake", "--game", "dice", "--csv", "no such file"); status != 2 || !strings.Contains(errs, "no such file") {
		t.Errorf("status %d: %s", status, errs)
	}
}

func TestExplainingABadFileEnds(t *testing.T) {
	text := strings.ReplaceAll(historyText(2000), "player-0123456789", "somebody-else")
	status, out, _ := runOffline(t, text, "verify", "--house", "stake", "--game", "dice", "--csv", "-")
	if status != 1 || strings.Count(out, "FAILED  outcome") < 1990 {
		t.Errorf("status %d, %d rows", status, strings.Count(out, "FAILED  outcome"))
	}
}

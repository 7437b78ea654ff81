package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// answer is what a command line printed, with its exit status.
type answer struct {
	Status int
	Output string
}

func (a answer) verdict() string {
	lines := strings.Split(strings.TrimSuffix(a.Output, "\n"), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "verdict     ")
}

type indexRow struct {
	File, Verdict, Check, Commitment string
	LastNonce, LastPly               *uint32
}

func (r indexRow) args() []string {
	args := []string{"evidence", filepath.Join(vectorsDir, "evidence", r.File)}
	if r.Commitment != "" {
		args = append(args, "--commitment", r.Commitment)
	}
	if r.LastNonce != nil {
		args = append(args, "--last-nonce", strconv.FormatUint(uint64(*r.LastNonce), 10))
	}
	return args
}

func (r indexRow) wants() (string, int) {
	switch r.Verdict {
	case "VERIFIED":
		return "VERIFIED", 0
	case "CONSISTENT":
		return "CONSISTENT, COMMITMENT NOT CONFIRMED", 0
	case "FAILED":
		return "FAILED (" + r.Check + ")", 1
	}
	return "UNUSABLE (" + r.Check + ")", 2
}

func readIndex(t *testing.T) (index, options []indexRow) {
	t.Helper()
	readJSON(t, &index, "evidence", "index.json")
	readJSON(t, &options, "evidence", "options.json")
	return index, options
}

// summaryLine is what a person reads of counts and money: amounts are whole units, never to be taken for coins.
var summaryLine = regexp.MustCompile(`(?m)^summary     (1 round|(0|[2-9]|[1-9][0-9]+) rounds): .*; staked (nothing|[0-9]+ units of [A-Z].*); paid (nothing|[0-9]+ units of [A-Z].*)$`)

var failedCheck = regexp.MustCompile(`(?m)^([a-z]+) +FAILED  `)

func TestRankOfFairnessClaims(t *testing.T) {
	index, options := readIndex(t)
	count := map[string]int{}
	for _, r := range index {
		count[r.Verdict+r.Check]++
	}
	if count["CONSISTENT"] < 8 || count["UNUSABLEformat"] < 80 || len(options) < 20 {
		t.Fatalf("evidence is missing: %v, %d with options", count, len(options))
	}
	for _, check := range strings.Fields("commitment identity nonce order outcome win multiplier payout stake") {
		if count["FAILED"+check] < 2 {
			t.Errorf("%d documents with a fault of %s, want 2", count["FAILED"+check], check)
		}
	}

	rows := append(index, options...)
	var questions []question
	for _, r := range rows {
		questions = append(questions, question{"ask": "run", "args": r.args()})
	}
	printed := map[string][]answer{}
	forEach(t, func(t *testing.T, v verifier) {
		printed[v.name] = asked[answer](t, v, questions)
		for i, got := range printed[v.name] {
			r := rows[i]
			verdict, status := r.wants()
			if got.verdict() != verdict || got.Status != status {
				t.Errorf("%v: %s with status %d, want %s with status %d\n%s", r.args(), got.verdict(), got.Status, verdict, status, got.Output)
			}
			if strings.Contains(got.Output, "; staked ") && !summaryLine.MatchString(got.Output) {
				t.Errorf("%v: the summary is not in whole units:\n%s", r.args(), got.Output)
			}
			for _, found := range failedCheck.FindAllStringSubmatch(got.Output, -1) {
				// A wrong server seed spoils all that follows from it; every other fault must show in its own line alone.
				if check := found[1]; check != r.Check && check != "verdict" && r.Check != "commitment" {
					t.Errorf("%s: the check %s fails too\n%s", r.File, check, got.Output)
				}
			}
		}
	})
	for i, js := range printed["js"] {
		if python := printed["python"][i]; rows[i].Verdict != "UNUSABLE" && js.Output != python.Output {
			t.Errorf("%v: the two say different things\n%s\n%s", rows[i].args(), js.Output, python.Output)
		}
	}
}

// Each fault known from other systems has its documents; TestRankOfFairnessClaims runs them.
func TestEvidenceCoversTheKnownTraps(t *testing.T) {
	traps := map[string]string{
		"lenient hex and trimmed binary":                "format-server-seed-upper-case format-server-seed-with-space format-server-seed-with-newline format-server-seed-with-nul format-commitment-0x",
		"seed as text or as bytes":                      "commitment-of-the-raw-bytes",
		"trimming and normalising the client seed":      "format-client-seed-with-a-space format-client-seed-newline format-client-seed-not-ascii identity-round-client-seed",
		"separator inside a free-text field":            "good-marks",
		"different strings, same bytes":                 "format-half-a-character format-not-utf8-in-a-text",
		"misspelt field dropped, default used":          "format-key-in-another-case format-key-unknown format-key-constructor format-key-proto format-key-twice format-key-twice-escaped",
		"64-bit integers in JSON":                       "format-amount-number format-multiplier-number format-amount-2-to-the-53",
		"tiny or odd amounts become 0 or NaN":           "format-nan format-amount-exponent format-amount-plus format-amount-fraction format-stake-zero format-payout-negative format-amount-other-digits",
		"zero values vanish":                            "format-key-missing format-value-null format-optional-null",
		"enums are open":                                "format-game-unknown format-game-lower-case format-round-open format-pair-active",
		"house edge changed without a version":          "format-another-scheme identity-round-scheme",
		"win test and payout table off by one":          "win-dice-tie-called-won win-limbo-tie-called-lost multiplier-dice-one-up payout-one-unit-less",
		"mines multiplier in floats misses exact cents": "payout-rounded-up multiplier-mines-one-pick-less",
		"selective abort":                               "outcome-void-dice outcome-void-with-a-pick nonce-gap nonce-gap-with-count-lowered payout-void-not-refunded",
		"nonce wraps":                                   "format-nonce-too-large format-nonce-of-the-pair-too-large",
		"sure bets":                                     "format-dice-over-198 format-dice-under-9801 format-limbo-target-100",
	}
	index, _ := readIndex(t)
	known := map[string]bool{}
	for _, r := range index {
		known[r.File] = true
	}
	for trap, names := range traps {
		for _, name := range strings.Fields(names) {
			if !known[name+".json"] {
				t.Errorf("%s: the document %s is missing", trap, name)
			}
		}
	}
}

func TestEvidenceIsWhatItsGeneratorMakes(t *testing.T) {
	made := t.TempDir()
	if output, err := exec.Command("node", "js/evidence.js", made).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	committed := filepath.Join(vectorsDir, "evidence")
	want, got := readFolder(t, committed), readFolder(t, made)
	if len(want) < 100 || len(want) != len(got) {
		t.Fatalf("%d committed files, %d made", len(want), len(got))
	}
	for name := range want {
		if want[name] != got[name] {
			t.Errorf("%s is not what scripts/verify/js/evidence.js makes", name)
		}
	}
}

func readFolder(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(content)
	}
	return files
}

func TestUsualMistakesAreNamed(t *testing.T) {
	seed := strings.Repeat("0123456789abcdef", 4)
	commitment := "b3a1b3cf0ab5db8d0f0e7e6f63d8d5c9b0d28ad3e2b9c1a3e04f9b7f8f0a6c11" // not the one of seed
	round := func(more ...string) []string {
		return append([]string{"round", "--server-seed", seed, "--client-seed", "0123456789abcdef", "--nonce", "0"}, more...)
	}
	with := func(args []string, flag, value string) []string {
		args = append([]string{}, args...)
		for i := range args {
			if args[i] == flag {
				args[i+1] = value
			}
		}
		return args
	}
	dice := slices.Clip(round("--dice", `{"target":5000,"direction":"OVER"}`))
	evidence := func(file string) []string { return []string{"evidence", filepath.Join(vectorsDir, "evidence", file)} }
	cases := []struct {
		args   []string
		words  string
		status int
	}{
		{evidence("commitment-pasted-as-server-seed.json"), "a hash was pasted in place of the server seed", 1},
		{evidence("commitment-of-the-raw-bytes.json"), "the hash of the 32 raw bytes", 1},
		{evidence("format-server-seed-upper-case.json"), "upper-case digits", 2},
		{evidence("format-server-seed-with-space.json"), "stray white space", 2},
		{evidence("format-server-seed-short.json"), "63 characters", 2},
		{evidence("format-commitment-0x.json"), "leave the 0x out", 2},
		{evidence("outcome-roll-of-the-next-nonce.json"), "is the nonce off by one?", 1},
		{evidence("good-weak.json"), "WEAK client seed of 1 bytes", 0},
		{evidence("good-revealed-early.json"), "revealed before the last round had settled", 0},
		{with(dice, "--server-seed", strings.ToUpper(seed)), "upper-case digits", 2},
		{with(dice, "--server-seed", seed+"\n"), "stray white space", 2},
		{append(dice, "--commitment", seed), "a hash was pasted", 1},
		{append(dice, "--commitment", commitment), "the server seed hashes to", 1},
		{append(dice, "--commitment", " "+commitment), "--commitment: wants 64 lower-case hex digits", 2},
		{with(dice, "--client-seed", "a b"), "--client-seed", 2},
		{with(dice, "--client-seed", ""), "--client-seed", 2},
		{with(dice, "--nonce", "00"), "--nonce", 2},
		{with(dice, "--nonce", "4294967295"), "--nonce", 2},
		{with(dice, "--nonce", "-1"), "--nonce", 2},
		{with(dice, "--nonce", "1e3"), "--nonce", 2},
		{with(dice, "--dice", `{"target":5000,"direction":"OVER","extra":1}`), "unknown key", 2},
		{with(dice, "--dice", `{"target":5000,"target":1,"direction":"OVER"}`), "stands twice", 2},
		{with(dice, "--dice", `{"target":9999,"direction":"OVER"}`), "winning rolls", 2},
		{append(dice, "--stake", "0"), "--stake", 2},
		{append(dice, "--stake", "1.5"), "--stake", 2},
		{append(dice, "--stake", "9007199254740992"), "--stake", 2},
		{append(dice, "--nonce", "1"), "once", 2},
		{append(dice, "--limbo", `{"targetE2":200}`), "give one of", 2},
		{append(dice, "--house-edge", "0"), "unknown", 2},
		{append(dice, "--stake"), "wants one value", 2},
		{round(), "give one of", 2},
		{[]string{"round"}, "--server-seed: wants 64 lower-case hex digits, got nothing", 2},
		{round("--roulette", `{"chips":[{"kind":"RED","numbers":[],"amount":"5"}]}`, "--stake", "6"), "the chips add up to 5", 2},
		{round("--roulette", `{"chips":[]}`), "pocket=", 0},
		{round("--mines", `{"mineCount":3,"picks":[]}`), "mines=", 0},
		{round("--mines", `{"mineCount":24,"picks":[0,1]}`), "the round ends after 1", 2},
		{round("--mines", `{"mineCount":12,"picks":[0,1,2,3,4,5,6,7,8,9,10,11,12]}`), "the picks go on after a mine", 2},
		{dice, "CONSISTENT, COMMITMENT NOT CONFIRMED", 0},
	}
	var questions []question
	for _, c := range cases {
		questions = append(questions, question{"ask": "run", "args": c.args})
	}
	forEach(t, func(t *testing.T, v verifier) {
		for i, got := range asked[answer](t, v, questions) {
			if !strings.Contains(got.Output, cases[i].words) || got.Status != cases[i].status {
				t.Errorf("%q: status %d, want %d and %q\n%s", cases[i].args, got.Status, cases[i].status, cases[i].words, got.Output)
			}
			if got.Status != 0 && (strings.Contains(got.Output, "VERIFIED") || strings.Contains(got.Output, "CONSISTENT")) {
				t.Errorf("%q: a good verdict with status %d", cases[i].args, got.Status)
			}
		}
	})
}

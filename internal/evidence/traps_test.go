package evidence_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/evidence"
)

// words returns all that a verification has to say about a file of the vectors.
func words(t *testing.T, file string) string {
	t.Helper()
	report, err := verify(t, readVector(t, file), evidence.Options{})
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, check := range report.Checks {
		for _, f := range check.Failures {
			all = append(all, check.Name+": "+f.String())
		}
	}
	return strings.Join(append(all, report.Notes...), "\n")
}

func wantWords(t *testing.T, want map[string]string) {
	t.Helper()
	for file, part := range want {
		if got := words(t, file); !strings.Contains(got, part) {
			t.Errorf("%s: %q is not in:\n%s", file, part, got)
		}
	}
}

func TestSeedAsTextOrAsBytes(t *testing.T) {
	wantWords(t, map[string]string{
		"commitment-of-the-raw-bytes.json":      "the commitment is the hash of the 32 raw bytes, and this scheme hashes the 64 hex digits",
		"commitment-pasted-as-server-seed.json": "a hash was pasted in place of the server seed",
	})
}

func TestLenientHexAndTrimmedBinary(t *testing.T) {
	wantWords(t, map[string]string{
		"format-server-seed-upper-case.json":   "upper-case digits hash to something else",
		"format-server-seed-with-space.json":   "stray white space",
		"format-server-seed-with-newline.json": "stray white space",
		"format-server-seed-short.json":        "it has 63 characters",
		"format-server-seed-with-nul.json":     "it has 65 characters",
		"format-server-seed-empty.json":        "it is empty",
		"format-server-seed-not-hex.json":      "not all of it is hex digits",
		"format-commitment-0x.json":            "leave the 0x out",
	})
}

func TestTrimmingAndNormalisingTheClientSeedDifferently(t *testing.T) {
	for _, file := range []string{"format-client-seed-with-a-space.json", "format-client-seed-newline.json", "format-client-seed-not-ascii.json",
		"format-client-seed-empty.json", "format-client-seed-65-bytes.json"} {
		wantWords(t, map[string]string{file: "seedPair"})
	}
	wantWords(t, map[string]string{"identity-round-client-seed.json": "identity: nonce 1: clientSeed is"})
}

func TestHouseEdgeChangedWithoutAVersion(t *testing.T) {
	wantWords(t, map[string]string{
		"format-another-scheme.json": "seedPair.scheme: wants originals-v1",
		"format-another-format.json": "format: wants originals-evidence-v1",
		"identity-round-scheme.json": "identity: nonce 4: scheme is",
	})
}

func TestNonceContinuity(t *testing.T) {
	wantWords(t, map[string]string{
		"nonce-gap.json":                         "nonce 4 is missing",
		"nonce-twice.json":                       "nonce: nonce 4: it comes again or too late",
		"nonce-last-missing.json":                "the seed pair has had 9 bets, and the document holds 8",
		"outcome-roll-of-the-next-nonce.json":    "is the nonce off by one?",
		"identity-bet-twice.json":                "its bet id stands twice, first at nonce 1",
		"order-made-before-its-predecessor.json": "order: nonce 4",
	})
}

func TestMisspeltFieldDroppedDefaultUsed(t *testing.T) {
	wantWords(t, map[string]string{
		"format-key-twice.json":             `seedPair: the key "nonce" stands twice`,
		"format-key-twice-escaped.json":     `seedPair: the key "nonce" stands twice`,
		"format-key-in-another-case.json":   `seedPair: unknown key "Nonce"`,
		"format-key-unknown-in-a-game.json": `rounds[0].dice: unknown key "multiplier"`,
		"format-key-missing.json":           `rounds[0]: the key "settleTime" is missing`,
		"format-trailing-text.json":         "something stands after the end",
	})
}

func Test64BitIntegersInJSON(t *testing.T) {
	wantWords(t, map[string]string{
		"format-amount-number.json":       "rounds[0].stake.amount: wants a string",
		"format-amount-2-to-the-53.json":  "a decimal string from 1 to 9007199254740991",
		"format-amount-exponent.json":     "rounds[0].stake.amount",
		"format-amount-leading-zero.json": "rounds[0].stake.amount",
		"format-nonce-text.json":          "rounds[0].nonce: wants a whole number",
		"format-nonce-exponent.json":      "seedPair.nonce: wants a whole number",
	})
}

// What a person is shown of a wrong value is that value, and not the text after it.
func TestWrongValueIsShownAsItStandsThere(t *testing.T) {
	whole := string(diceDocument(t, 1))
	for _, c := range []struct{ old, changed, want string }{
		{`"state":"REVEALED"`, `"state":"ACTIVE"`, `wants REVEALED or UNUSED, got "ACTIVE"`},
		{`"format":"originals-evidence-v1"`, `"format":7.5,"x":1`, `wants a string, got 7.5`},
		{`"format":"originals-evidence-v1"`, `"format":{"x":1}`, `got an object`},
		{`"format":"originals-evidence-v1"`, `"format":[1]`, `got a list`},
		{`"format":"originals-evidence-v1"`, `"format":,"x":1`, `got ","`},
		{`"format":"originals-evidence-v1"`, `"format":"` + strings.Repeat("A", 64) + `"`, `got "` + strings.Repeat("A", 24) + `..."`},
	} {
		if !strings.Contains(whole, c.old) {
			t.Fatalf("%s is not in the document", c.old)
		}
		_, err := verify(t, []byte(strings.Replace(whole, c.old, c.changed, 1)), evidence.Options{})
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q at the end", c.changed, err, c.want)
		}
	}
}

func TestTerminalCannotBeTricked(t *testing.T) {
	text := strings.Replace(string(diceDocument(t, 3)), `"direction":"OVER"`, "\"direction\":\"\x1b[2J\u202eREVO\"", 1)
	_, err := verify(t, []byte(text), evidence.Options{})
	if err == nil || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("%q", err)
	}
}

var keyPattern = regexp.MustCompile(`"(\w+)": ?`)

// pinned are the values of a good document of which no digit can be changed without a check that fails.
var pinned = map[string]bool{
	"format": true, "seedPairId": true, "scheme": true, "commitment": true, "clientSeed": true, "nonce": true, "serverSeed": true, "roundId": true,
	"multiplierE4": true, "nextMultiplierE4": true, "roll": true, "outcomeE2": true, "pocket": true, "mines": true, "mineCount": true,
}

// TestNoDigitCanBeChangedUnseen changes each digit of the values that follow from the seeds, one at a time.
func TestNoDigitCanBeChangedUnseen(t *testing.T) {
	text := readVector(t, "good-every-kind.json")
	keys := keyPattern.FindAllSubmatchIndex(text, -1)
	changed := map[string]int{}
	for i, key := range keys {
		name, end := string(text[key[2]:key[3]]), len(text)
		if i+1 < len(keys) {
			end = keys[i+1][0]
		}
		for at := key[1]; at < end && pinned[name]; at++ {
			if text[at] < '0' || text[at] > '9' {
				continue
			}
			right := text[at]
			text[at] = '0' + (right-'0'+1)%10
			report, err := verify(t, text, evidence.Options{})
			if err == nil && report.Verdict != evidence.Failed {
				t.Errorf("%s at byte %d: %s", name, at, report.Verdict)
			}
			text[at] = right
			changed[name]++
		}
	}
	for name := range pinned {
		if changed[name] == 0 {
			t.Errorf("no digit of %s was changed: %v", name, fmt.Sprint(changed))
		}
	}
}

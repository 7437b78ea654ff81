package evidence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/evidence"
)

// inRound replaces what matches in one round of a document.
func inRound(t *testing.T, document []byte, place int, pattern, with string) []byte {
	t.Helper()
	head := bytes.Index(document, []byte(`"rounds":[`))
	rounds := bytes.SplitAfter(document[head:], []byte("}},"))
	changed := regexp.MustCompile(pattern).ReplaceAll(rounds[place], []byte(with))
	if bytes.Equal(changed, rounds[place]) {
		t.Fatalf("round %d has nothing like %s", place, pattern)
	}
	rounds[place] = changed
	return slices.Concat(document[:head], bytes.Join(rounds, nil))
}

func verifyText(document []byte) (evidence.Report, error) {
	return evidence.Verify(context.Background(), bytes.NewReader(document), evidence.Options{})
}

// The first round of a document is read in full and those after it by its template: both must refuse the same.
func TestTemplateRefusesWhatFullReadingRefuses(t *testing.T) {
	document := diceDocument(t, 4)
	fields := []string{`"nonce":`, `"stake":{"currency":"FUN","amount":`, `"payout":{"currency":"FUN","amount":`, `"multiplierE4":`, `"target":`, `"roll":`}
	values := []string{
		`01`, `00`, `-1`, `+1`, `1.0`, `1e2`, `1E2`, ``, `x`, `4294967295`, `10000000000`, `9007199254740992`, `12345678901234567`, `null`,
		`"01"`, `"00"`, `"-1"`, `"1.0"`, `"1e2"`, `""`, `" 1"`, `"1 "`, `"x"`, `"9007199254740992"`, `"12345678901234567"`, `"51482970001x"`,
	}
	refused := 0
	for _, field := range fields {
		for _, value := range values {
			pattern := regexp.QuoteMeta(field) + `"?[0-9]+"?`
			_, full := verifyText(inRound(t, document, 0, pattern, field+value))
			_, quick := verifyText(inRound(t, document, 2, pattern, field+value))
			if (full == nil) != (quick == nil) {
				t.Errorf("%s%s: %v when read in full, %v by the template", field, value, full, quick)
			}
			if full == nil {
				continue
			}
			refused++
			if want := strings.Replace(full.Error(), "rounds[0]", "rounds[2]", 1); quick == nil || quick.Error() != want {
				t.Errorf("%s%s: %v by the template, want %s", field, value, quick, want)
			}
		}
	}
	if refused < len(fields)*(len(values)-2) {
		t.Errorf("only %d of %d values are refused", refused, len(fields)*len(values))
	}
}

func TestTemplateAcceptsOtherFormsOfTheSameRound(t *testing.T) {
	document := diceDocument(t, 4)
	for _, change := range [][2]string{
		{`"nonce":2`, `"nonce": 2`}, {`"nonce":2`, `"nonce":2 `}, {`"amount":"102"`, `"amount":"\u003102"`}, {`"direction":"OVER"`, `"direction":"\u004fVER"`},
		{`"roundId":"17-`, `"roundId":"\u00317-`}, {`"betId":"0`, `"betId":"\u0030`}, {`"createTime":"2`, `"createTime":"\u0032`},
		{`"game":"DICE","scheme":"originals-v1"`, `"scheme":"originals-v1","game":"DICE"`},
	} {
		report, err := verifyText(inRound(t, document, 2, regexp.QuoteMeta(change[0]), strings.ReplaceAll(change[1], "$", "$$")))
		if err != nil || report.Verdict != evidence.Consistent || report.Summary.Rounds != 4 {
			t.Errorf("%s: %v, %v", change[1], report.FirstFailed, err)
		}
	}
}

// Rounds are read and judged some at a time: wherever one stands among them, it is named rightly and once.
func TestEveryPlaceAmongTheSlots(t *testing.T) {
	const rounds = 40
	document := diceDocument(t, rounds)
	for place := range rounds {
		report, err := verifyText(inRound(t, document, place, `"multiplierE4":"[0-9]+"`, `"multiplierE4":"7"`))
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range report.Checks {
			failed := check.Name == "multiplier"
			if check.Passed == failed || failed && (check.Count != 1 || check.Failures[0].Nonce != int64(place)) {
				t.Errorf("round %d: check %s: %v", place, check.Name, check.Failures)
			}
		}
		_, err = verifyText(inRound(t, document, place, `"win":`, `"Win":`))
		var format *evidence.FormatError
		if want := fmt.Sprintf("rounds[%d].dice", place); !errors.As(err, &format) || format.Where != want {
			t.Errorf("round %d: %v, want the place %s", place, err, want)
		}
	}
	for size := range rounds { // a document that ends in any slot
		report, err := verifyText(diceDocument(t, uint32(size)))
		if err != nil || report.Verdict != evidence.Consistent || report.Summary.Rounds != uint64(size) {
			t.Errorf("%d rounds: %v, %v", size, report.Summary, err)
		}
	}
}

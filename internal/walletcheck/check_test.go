package walletcheck_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/walletcheck"
)

func check(t *testing.T, habit string, patience time.Duration, names ...string) []walletcheck.Result {
	t.Helper()
	results, err := walletcheck.Run(t.Context(), walletcheck.Options{
		Command: command(t, habit), Dir: t.TempDir(), Names: names, Patience: patience, Parallel: 6, Clock: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestReferenceWalletPassesEveryCase runs all cases.
func TestReferenceWalletPassesEveryCase(t *testing.T) {
	results := check(t, "none", time.Minute)
	for _, r := range results {
		if !r.Passed {
			t.Errorf("%s: expected: %s; seen: %s\n%s", r.Name, r.Expected, r.Seen, r.Output)
		}
	}
	if len(results) < 100 {
		t.Errorf("%d cases, want 100 at least", len(results))
	}
}

// brokenWallets tells for each broken habit which of the named cases fail, and
// by which words; all others that are named for it pass.
var brokenWallets = []struct {
	habit  string
	fails  []string
	seen   string // in what is told of one failure
	passes []string
}{
	{"books-redelivered-again", []string{"duplicate-across-claims", "acknowledged-too-late", "lease-taken-by-another"}, "bookings 4",
		[]string{"win-and-loss", "duplicate-within-a-claim"}},
	{"acknowledges-before-booking", []string{"acknowledged-only-what-is-booked", "settlement-that-cannot-be-booked"}, "0 bookings",
		[]string{"zero-payout"}},
	{"new-transaction-id-on-retry", []string{"acknowledge-answer-lost", "acknowledge-503", "duplicate-across-claims"}, "was reported as",
		[]string{"win-and-loss", "deposit-answer-lost"}},
	{"drops-zero-payouts", []string{"zero-payout", "win-and-loss"}, "bookings 0", []string{"withdrawal"}},
	{"ignores-void", []string{"void"}, "bookings 1", []string{"win-and-loss"}},
	{"float-money", []string{"odd-cents"}, "gameAmount", []string{"win-and-loss"}},
	{"new-transfer-id-on-retry", []string{"deposit-answer-lost", "deposit-503", "withdrawal-call-lost", "transfer-in-progress"}, "ids",
		[]string{"win-and-loss", "acknowledge-answer-lost"}},
	{"no-answer-is-a-refusal", []string{"deposit-timeout", "deposit-answer-lost", "withdrawal-answer-cut-off"}, "must have walletAmount -700",
		[]string{"deposit-503", "deposit-refused"}},
	{"an-error-is-a-refusal", []string{"deposit-500", "deposit-502-of-a-proxy", "transfer-in-progress", "token-not-accepted-for-a-while"}, "must have walletAmount -700",
		[]string{"deposit-timeout"}},
	{"a-repeat-ends-what-was-refused", []string{"refused-deposit-answer-lost", "refused-withdrawal-answer-lost"}, "gameAmount",
		[]string{"deposit-refused", "transfer-arrives-twice"}},
	{"cancels-without-asking", []string{"cancelled-after-it-was-applied", "cancelled-before-it-arrived"}, "", []string{"deposit-answer-lost"}},
	{"takes-any-answer", []string{"answer-to-another-transfer"}, "gameAmount 0", []string{"deposit-answer-lost"}},
	{"ignores-conflict", []string{"conflict"}, "alarms []", []string{"acknowledgement-not-found"}},
	{"does-not-report-what-it-booked-before", []string{"acknowledge-call-lost", "acknowledged-too-late"}, "not acknowledged",
		[]string{"acknowledge-answer-lost"}},
	{"books-in-any-order", []string{"many-players-in-order", "one-player-with-much"}, "and must have", []string{"withdrawal"}},
	{"refuses-new-fields", []string{"unknown-json-fields"}, "walletAmount", []string{"win-and-loss"}},
	{"ends-at-the-first-refused-token", []string{"token-not-accepted-for-a-while"}, "", []string{"platform-away-at-start"}},
	{"loses-books-on-kill", []string{"killed-at-rest", "killed-between-booking-and-acknowledging", "killed-before-a-deposit", "duplicate-after-restart"}, "is not in the books",
		[]string{"win-and-loss"}},
}

// TestBrokenWalletsFailByName: each habit that a wallet can lack is found by the
// cases that are meant for it.
func TestBrokenWalletsFailByName(t *testing.T) {
	tested := map[string]bool{"loses-books-on-kill": true}
	for _, w := range brokenWallets {
		tested[w.habit] = true
		t.Run(w.habit, func(t *testing.T) {
			t.Parallel()
			var told strings.Builder
			for _, r := range check(t, w.habit, 4*time.Second, w.fails...) {
				told.WriteString(r.Seen + "\n")
				if r.Passed || r.Expected == "" || r.Seen == "" {
					t.Errorf("%s passes: %+v", r.Name, r)
				}
			}
			if !strings.Contains(told.String(), w.seen) {
				t.Errorf("the failures do not tell of %q:\n%s", w.seen, told.String())
			}
			for _, r := range check(t, w.habit, time.Minute, w.passes...) {
				if !r.Passed {
					t.Errorf("%s fails: expected %s; seen %s\n%s", r.Name, r.Expected, r.Seen, r.Output)
				}
			}
		})
	}
	for habit := range maps.Keys(broken) {
		if !tested[habit] {
			t.Errorf("the wallet that %s is checked by nothing", habit)
		}
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	form := regexp.MustCompile(`\A[a-z0-9]+(-[a-z0-9]+)*\z`)
	var names []string
	for _, c := range walletcheck.Cases() {
		if !form.MatchString(c.Name) || !strings.HasSuffix(c.About, ".") || slices.Contains(names, c.Name) {
			t.Errorf("case %q: %q", c.Name, c.About)
		}
		names = append(names, c.Name)
	}
	if _, err := walletcheck.Find([]string{"win-and-loss", "no-such-case"}); err == nil || !strings.Contains(err.Error(), "no-such-case") {
		t.Errorf("an unknown case: %v", err)
	}
}

package gateway

import (
	"strconv"

	proof "github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/foreign"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// mistaken is the refusal of a field that shows a usual mistake by itself.
func mistaken(field, problem string, m mistake.Mistake) error {
	refusal := reason.Field(field, problem)
	if m == "" {
		return refusal
	}
	return refusal.With("mistake", string(m))
}

// maxClaimed is more than any bet has to compare.
const maxClaimed = 16

// claimedOf reads what the player was shown, by name.
func claimedOf(r *originalsv1.VerifyRequest) (map[string]string, error) {
	if len(r.GetClaimed()) > maxClaimed {
		return nil, reason.Field("claimed", "must have "+strconv.Itoa(maxClaimed)+" values at most")
	}
	stated := make(map[string]string, len(r.GetClaimed()))
	for _, c := range r.GetClaimed() {
		if _, again := stated[c.GetName()]; again || c.GetName() == "" {
			return nil, reason.Field("claimed", "must have a name for each value, and each name once")
		}
		stated[c.GetName()] = c.GetValue()
	}
	return stated, nil
}

// compare puts the verdict on our own bet into the answer: the report, and
// which of its checks were asked for. committed says that a commitment was
// given.
func compare(answer *originalsv1.VerifyResponse, report proof.Report, stated map[string]string, committed bool) {
	asked := map[string]bool{commitmentCheck: committed}
	for name := range stated {
		asked[proof.CheckOf(name)] = true
	}
	for _, check := range report.Checks {
		for _, f := range check.Failures {
			answer.Checks = append(answer.Checks, failed(check.Name, f.Words, f.Mistake))
		}
		if check.Passed && asked[check.Name] {
			answer.Checks = append(answer.Checks, &originalsv1.VerifyCheck{Name: check.Name, Passed: true})
		}
	}
	answer.Notes = report.Notes
	answer.Verdict = verdictOf(answer.Checks, committed)
}

const (
	commitmentCheck = "commitment"
	outcomeCheck    = "outcome"
)

// compareForeign puts the verdict on a bet of another house into the answer.
func compareForeign(answer *originalsv1.VerifyResponse, claim *foreign.Claim, j *foreign.Judgement) {
	passed := map[string]bool{commitmentCheck: claim.Commitment != "", outcomeCheck: len(claim.Stated) > 0}
	for _, f := range j.Failures {
		passed[f.Check] = false
	}
	for _, name := range []string{commitmentCheck, outcomeCheck} {
		if passed[name] {
			answer.Checks = append(answer.Checks, &originalsv1.VerifyCheck{Name: name, Passed: true})
		}
	}
	for _, f := range j.Failures {
		answer.Checks = append(answer.Checks, failed(f.Check, f.Words, f.Mistake))
	}
	answer.Notes = j.Notes
	answer.Verdict = verdictOf(answer.Checks, claim.Commitment != "")
}

func failed(name, words string, m mistake.Mistake) *originalsv1.VerifyCheck {
	check := &originalsv1.VerifyCheck{Name: name, Words: words}
	if number, ok := originalsv1.VerifyCheck_Mistake_value[string(m)]; ok {
		check.Mistake = originalsv1.VerifyCheck_Mistake(number).Enum()
	}
	return check
}

func verdictOf(checks []*originalsv1.VerifyCheck, committed bool) originalsv1.VerifyResponse_Verdict {
	for _, c := range checks {
		if !c.GetPassed() {
			return originalsv1.VerifyResponse_FAILED
		}
	}
	if committed {
		return originalsv1.VerifyResponse_VERIFIED
	}
	return originalsv1.VerifyResponse_CONSISTENT
}

package evidence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/rng"
)

const vectors = "../vectors/evidence"

// vector is one line of the index: what every verifier must answer to a file.
type vector struct {
	File       string  `json:"file"`
	Verdict    string  `json:"verdict"` // CONSISTENT, VERIFIED, FAILED or UNUSABLE
	Check      string  `json:"check"`
	Commitment string  `json:"commitment"`
	LastNonce  *uint32 `json:"lastNonce"`
	LastPly    *uint32 `json:"lastPly"`
}

func (v vector) options(t *testing.T) evidence.Options {
	t.Helper()
	o := evidence.Options{LastNonce: v.LastNonce, LastPly: v.LastPly}
	if v.Commitment != "" {
		commitment, err := rng.ParseCommitment(v.Commitment)
		if err != nil {
			t.Fatal(err)
		}
		o.Commitment = &commitment
	}
	return o
}

func loadVectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []vector
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&index); err != nil {
		t.Fatal(err)
	}
	if len(index) < 35 {
		t.Fatalf("the index has %d files, fewer than were made", len(index))
	}
	return index
}

// answer returns the verdict and the check in the words of the index.
func answer(report evidence.Report, err error) (verdict, check string) {
	var format *evidence.FormatError
	if errors.As(err, &format) {
		return "UNUSABLE", "format"
	}
	if err != nil {
		return err.Error(), ""
	}
	verdict, _, _ = strings.Cut(string(report.Verdict), ",")
	return verdict, report.FirstFailed
}

// TestVerifierAndEngineAreTwoImplementations: the files and their verdicts were made by the JavaScript verifier.
func TestVerifierAndEngineAreTwoImplementations(t *testing.T) {
	for _, v := range loadVectors(t) {
		text, err := os.ReadFile(filepath.Join(vectors, v.File))
		if err != nil {
			t.Fatal(err)
		}
		report, err := evidence.Verify(context.Background(), bytes.NewReader(text), v.options(t))
		if verdict, check := answer(report, err); verdict != v.Verdict || check != v.Check {
			t.Errorf("%s: %s (%s), want %s (%s): %v %v", v.File, verdict, check, v.Verdict, v.Check, err, report)
		}
	}
}

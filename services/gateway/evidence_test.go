package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// evidenceFiles returns the evidence documents of the shared vectors that hold
// (verdict CONSISTENT) or not. They were written without this code.
func evidenceFiles(t *testing.T, good bool) map[string][]byte {
	t.Helper()
	const dir = "../../internal/vectors/evidence"
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []struct{ File, Verdict, Check string }
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range index {
		if (entry.Verdict == "CONSISTENT") != good {
			continue
		}
		if files[entry.File], err = os.ReadFile(filepath.Join(dir, entry.File)); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

type evidenceDocument struct {
	Format   string
	SeedPair json.RawMessage
	Rounds   []json.RawMessage
}

// storedEvidence keeps one pair with its rounds and hands it out in pages.
type storedEvidence struct {
	pair    *originalsv1.SeedPair
	rounds  []*originalsv1.Round
	perPage int
	failAt  int // page that fails, from 1; 0 for none
	failure error
	stuck   bool // every page names the same successor
	served  int
}

func storedFrom(t *testing.T, text []byte) *storedEvidence {
	t.Helper()
	var d evidenceDocument
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	s := &storedEvidence{pair: &originalsv1.SeedPair{}, perPage: 3}
	if err := protojson.Unmarshal(d.SeedPair, s.pair); err != nil {
		t.Fatal(err)
	}
	for _, raw := range d.Rounds {
		round := &originalsv1.Round{}
		if err := protojson.Unmarshal(raw, round); err != nil {
			t.Fatal(err)
		}
		s.rounds = append(s.rounds, round)
	}
	return s
}

func (s *storedEvidence) answer(_ context.Context, m proto.Message) (proto.Message, error) {
	request := m.(*originalsv1.GetEvidenceRequest)
	s.served++
	if s.served == s.failAt {
		return nil, s.failure
	}
	from := len(request.GetPageToken()) // the token of n rounds is n characters
	to := min(from+s.perPage, len(s.rounds))
	page := &originalsv1.GetEvidenceResponse{SeedPair: s.pair, Rounds: s.rounds[from:to]}
	if to < len(s.rounds) {
		page.NextPageToken = strings.Repeat("x", to)
	}
	if s.stuck {
		page.NextPageToken = "x"
	}
	return page, nil
}

// plain reads JSON, exact to the digit. Times may say .000 or nothing.
func plain(t *testing.T, text []byte) any {
	t.Helper()
	text = regexp.MustCompile(`(:[0-9]{2})\.(?:000){1,3}Z"`).ReplaceAll(text, []byte(`${1}Z"`))
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
	return v
}

// TestEvidenceIsTheDocumentThatVerifiersRead serves each good document of the
// vectors page by page, and expects it back.
func TestEvidenceIsTheDocumentThatVerifiersRead(t *testing.T) {
	files := evidenceFiles(t, true)
	if len(files) < 5 {
		t.Fatalf("only %d documents", len(files))
	}
	rounds := 0
	for name, text := range files {
		for _, perPage := range []int{1, 3, 200} {
			s := storedFrom(t, text)
			s.perPage = perPage
			rounds += len(s.rounds)
			r := send(t, "GET", serveFakes(t, &fakes{answer: s.answer}, nil)+"/v1/seed-pairs/p-1/evidence", "")
			if r.err != nil || r.status != 200 || r.header.Get("Content-Type") != "application/json" {
				t.Fatalf("%s: %d %v %v", name, r.status, r.err, r.header)
			}
			if got, want := plain(t, []byte(r.body)), plain(t, text); !reflect.DeepEqual(got, want) {
				t.Errorf("%s in pages of %d:\n got %.300v\nwant %.300v", name, perPage, got, want)
			}
			want := `attachment; filename=evidence-` + s.pair.GetSeedPairId() + `.json`
			if got := r.header.Get("Content-Disposition"); got != want {
				t.Errorf("%s: Content-Disposition %q", name, got)
			}
		}
	}
	if rounds < 100 {
		t.Errorf("only %d rounds compared", rounds)
	}
}

func TestHalfADocumentDoesNotLookWhole(t *testing.T) {
	text := evidenceFiles(t, true)["good-every-kind.json"]
	for _, failure := range []error{
		reason.New(reason.StoreUnavailable, "later"), status.Error(codes.Internal, "secret"), context.Canceled,
	} {
		s := storedFrom(t, text)
		s.failAt, s.failure = 3, failure
		r := send(t, "GET", serveFakes(t, &fakes{answer: s.answer}, nil)+"/v1/seed-pairs/p-1/evidence", "")
		if r.err == nil {
			t.Errorf("%v: the answer ended in order: %q", failure, r.body)
		}
		if json.Valid([]byte(r.body)) || strings.Contains(r.body, "secret") {
			t.Errorf("%v: %q", failure, r.body)
		}
	}
}

func TestEvidenceThatFailsAtOnceHasAReason(t *testing.T) {
	s := &storedEvidence{failAt: 1, failure: reason.New(reason.SeedPairUnrevealed, "not yet")}
	r := send(t, "GET", serveFakes(t, &fakes{answer: s.answer}, nil)+"/v1/seed-pairs/p-1/evidence", "")
	if _, why, _ := failureOf(t, r); r.status != 400 || why != "SEED_PAIR_NOT_REVEALED" || r.header.Get("Content-Disposition") != "" {
		t.Errorf("%d %s %v", r.status, r.body, r.header)
	}
}

func TestEvidenceDoesNotTurnInACircle(t *testing.T) {
	s := storedFrom(t, evidenceFiles(t, true)["good-every-kind.json"])
	s.stuck = true
	r := send(t, "GET", serveFakes(t, &fakes{answer: s.answer}, nil)+"/v1/seed-pairs/p-1/evidence", "")
	if r.err == nil || s.served > 2 {
		t.Errorf("%d pages, error %v", s.served, r.err)
	}
}

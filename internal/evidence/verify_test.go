package evidence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/rng"
)

func readVector(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func verify(t testing.TB, text []byte, o evidence.Options) (evidence.Report, error) {
	t.Helper()
	return evidence.Verify(context.Background(), bytes.NewReader(text), o)
}

// TestEverySplitGivesTheSameReport: where batches end must not show, also when a batch holds less than a round.
func TestEverySplitGivesTheSameReport(t *testing.T) {
	index := loadVectors(t)
	whole := map[string]string{}
	for _, v := range index {
		report, err := verify(t, readVector(t, v.File), v.options(t))
		whole[v.File] = fmt.Sprint(report, err)
	}
	for _, size := range []int{1, 700, 2000} {
		evidence.SetBatchBytes(t, size)
		for _, v := range index {
			o := v.options(t)
			o.Workers = 3
			report, err := evidence.Verify(context.Background(), iotest.HalfReader(bytes.NewReader(readVector(t, v.File))), o)
			if got := fmt.Sprint(report, err); got != whole[v.File] {
				t.Errorf("batches of %d bytes, %s:\n%s\nand as a whole:\n%s", size, v.File, got, whole[v.File])
			}
		}
	}
}

// TestUIBelievesPushedBalances: only what the player kept turns CONSISTENT into VERIFIED, and a file for another
// commitment fails however well it agrees with itself.
func TestUIBelievesPushedBalances(t *testing.T) {
	text := diceDocument(t, 50)
	seed, err := rng.ParseServerSeed(benchServerSeed)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := seed.Commitment()
	if err != nil {
		t.Fatal(err)
	}
	other, last, beyond := rng.Commitment{1}, uint32(49), uint32(50)
	for _, c := range []struct {
		name    string
		o       evidence.Options
		verdict evidence.Verdict
		check   string
	}{
		{"nothing kept", evidence.Options{}, evidence.Consistent, ""},
		{"only a nonce kept", evidence.Options{LastNonce: &last}, evidence.Consistent, ""},
		{"commitment kept", evidence.Options{Commitment: &kept, LastNonce: &last}, evidence.Verified, ""},
		{"another commitment", evidence.Options{Commitment: &other}, evidence.Failed, "commitment"},
		{"bets left out at the end", evidence.Options{Commitment: &kept, LastNonce: &beyond}, evidence.Failed, "nonce"},
	} {
		report, err := verify(t, text, c.o)
		if err != nil || report.Verdict != c.verdict || report.FirstFailed != c.check {
			t.Errorf("%s: %s (%s) %v, want %s (%s)", c.name, report.Verdict, report.FirstFailed, err, c.verdict, c.check)
		}
	}
}

// TestFaultFarIntoALongDocument: a fault is found, and named with its nonce, wherever batches divide the document, and
// where the fast way of reading has long settled in.
func TestFaultFarIntoALongDocument(t *testing.T) {
	const rounds = 3000
	text := string(diceDocument(t, rounds))
	at := strings.Index(text, `"nonce":2345,`)
	before, round, after := text[:at], text[at:at+400], text[at+400:]
	for _, c := range []struct{ name, old, new, verdict, check string }{
		{"untouched", "", "", "CONSISTENT", ""},
		{"nonce", `"nonce":2345`, `"nonce":2346`, "FAILED", "identity"},
		{"currency of the stake", `"stake":{"currency":"FUN"`, `"stake":{"currency":"USD"`, "FAILED", "payout"},
		{"direction", `"OVER"`, `"UNDER"`, "FAILED", "win"},
		{"unknown key", `"dice":{`, `"dice":{"note":1,`, "UNUSABLE", "format"},
		{"key twice", `"dice":{`, `"dice":{"win":true,`, "UNUSABLE", "format"},
		{"key in another case", `"roll"`, `"Roll"`, "UNUSABLE", "format"},
		{"number for text", `"amount":"`, `"amount":1,"amount":"`, "UNUSABLE", "format"},
		{"state", `"createTime"`, `"state":"SETTLED","createTime"`, "UNUSABLE", "format"},
		{"fraction of another length", `.345Z"`, `.345000Z"`, "CONSISTENT", ""},
		{"white space", `"dice":{`, "\"dice\" :\n { ", "CONSISTENT", ""},
		{"escaped", `"dice"`, `"d\u0069ce"`, "CONSISTENT", ""},
		{"a comma too many", `}},{`, `}},,{`, "UNUSABLE", "format"},
		{"a comma missing", `}},{`, `}}{`, "UNUSABLE", "format"},
	} {
		broken := strings.Replace(round, c.old, c.new, 1)
		if c.old != "" && broken == round {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		report, err := verify(t, []byte(before+broken+after), evidence.Options{})
		if verdict, check := answer(report, err); verdict != c.verdict || check != c.check {
			t.Errorf("%s: %s (%s), want %s (%s): %v", c.name, verdict, check, c.verdict, c.check, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "rounds[2345]") && !strings.HasPrefix(err.Error(), "rounds[2346]") {
			t.Errorf("%s: the error does not name the place: %v", c.name, err)
		}
	}
}

// TestDocumentEndsTwice: what stands behind the end is refused also where a batch begins with it.
func TestDocumentEndsTwice(t *testing.T) {
	text := strings.Replace(string(diceDocument(t, 9)), `}},{"roundId":"17-0f3c9a6be4d851a7c2-5"`, `}}]}{"roundId":"17-0f3c9a6be4d851a7c2-5"`, 1)
	for _, size := range []int{200, 700, 1500, 100_000} {
		evidence.SetBatchBytes(t, size)
		if report, err := verify(t, []byte(text), evidence.Options{}); !evidence.IsUnusable(err) || !strings.Contains(err.Error(), "after the end") {
			t.Errorf("batches of %d bytes: %s, %v", size, report.Verdict, err)
		}
	}
}

// TestRoundsThatBeginWithTheirGame: mines is a key of a round and of its game, so that the beginning of a round is not
// told by its first key alone.
func TestRoundsThatBeginWithTheirGame(t *testing.T) {
	text := string(bytes.TrimSpace(readVector(t, "good-last-tile.json")))
	at, end := strings.Index(text, `,"mines":{`), strings.LastIndex(text, "}]}")
	game := text[at+1 : end]
	inner := strings.Index(game, `"mines":[`)
	board := game[inner : inner+strings.Index(game[inner:], "]")+1]
	game = strings.Replace(strings.Replace(game, ","+board, "", 1), `"mines":{`, `"mines":{`+board+",", 1)
	text = strings.Replace(text[:at], `{"roundId"`, "{"+game+`,"roundId"`, 1) + text[end:]
	for _, size := range []int{100, 300, 100_000} {
		evidence.SetBatchBytes(t, size)
		if report, err := verify(t, []byte(text), evidence.Options{}); err != nil || report.Verdict != evidence.Consistent {
			t.Errorf("batches of %d bytes: %s, %v\n%s", size, report.Verdict, err, text)
		}
	}
}

// TestNonceWrapsInARoundID: 2^32 is not 0.
func TestNonceWrapsInARoundID(t *testing.T) {
	text := strings.Replace(string(diceDocument(t, 1)), `a7c2-0"`, `a7c2-4294967296"`, 1)
	if report, err := verify(t, []byte(text), evidence.Options{}); err != nil || report.FirstFailed != "identity" {
		t.Errorf("%s (%s) %v", report.Verdict, report.FirstFailed, err)
	}
}

// TestTruncatedDocument: no part of a document passes for the whole.
func TestTruncatedDocument(t *testing.T) {
	text := readVector(t, "good-every-kind.json")
	text = bytes.TrimSpace(text)
	for end := range len(text) {
		if report, err := verify(t, text[:end], evidence.Options{}); !evidence.IsUnusable(err) {
			t.Fatalf("the first %d of %d bytes: %v %v", end, len(text), report.Verdict, err)
		}
	}
	if _, err := verify(t, text, evidence.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestRoundsBeforeTheSeedPair: the order of the keys means nothing in JSON.
func TestRoundsBeforeTheSeedPair(t *testing.T) {
	text := string(bytes.TrimSpace(readVector(t, "good-every-kind.json")))
	head, rounds, ok := strings.Cut(strings.TrimSuffix(text, "}"), `"rounds":`)
	if !ok {
		t.Fatal("the document has another form")
	}
	head = strings.TrimRight(strings.TrimPrefix(head, "{"), ", \n")
	turned := `{"rounds":` + rounds + "," + head + "}"
	want, err := verify(t, []byte(text), evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := verify(t, []byte(turned), evidence.Options{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want the same report as in the usual order: %+v", err, got)
	}
	for _, broken := range []string{turned + "x", turned[:len(turned)-1], strings.Replace(turned, `"rounds":`, `"rounds":[],"rounds":`, 1)} {
		if _, err := verify(t, []byte(broken), evidence.Options{}); !evidence.IsUnusable(err) {
			t.Errorf("accepted with the error %v: %.60s", err, broken)
		}
	}
}

// TestReaderAndContextErrors: they are no verdict on the document.
func TestReaderAndContextErrors(t *testing.T) {
	text := diceDocument(t, 2000)
	broken := errors.New("disk")
	reader := func() *bytes.Reader { return bytes.NewReader(text[:len(text)/2]) }
	_, err := evidence.Verify(context.Background(), iotest.DataErrReader(iotest.TimeoutReader(reader())), evidence.Options{})
	if !errors.Is(err, iotest.ErrTimeout) || evidence.IsUnusable(err) {
		t.Errorf("a reader that fails: %v", err)
	}
	if _, err = evidence.Verify(context.Background(), iotest.ErrReader(broken), evidence.Options{}); !errors.Is(err, broken) {
		t.Errorf("a reader that fails at once: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = evidence.Verify(ctx, bytes.NewReader(text), evidence.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is cancelled: %v", err)
	}
}

// TestMemoryStaysBounded: a long document needs a fixed number of bytes a round beside the batches, and no more.
func TestMemoryStaysBounded(t *testing.T) {
	const rounds = 100_000
	text := diceDocument(t, rounds)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var told int
	report, err := verify(t, text, evidence.Options{Progress: func(bytes int) { told += bytes }})
	runtime.ReadMemStats(&after)
	if err != nil || report.Verdict != evidence.Consistent || report.Summary.Rounds != rounds {
		t.Fatal(report, err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 20<<20 {
		t.Errorf("%d bytes allocated for a document of %d", made, len(text))
	}
	if told < len(text)*9/10 || told > len(text) {
		t.Errorf("progress told of %d bytes of %d", told, len(text))
	}
}

// TestFailuresAreCountedAndNotKept: a hostile document cannot fill the memory with failures.
func TestFailuresAreCountedAndNotKept(t *testing.T) {
	text := bytes.ReplaceAll(diceDocument(t, 5000), []byte(`"clientSeed":"`+benchClientSeed+`","nonce":5000`), []byte(`"clientSeed":"another","nonce":5000`))
	report, err := verify(t, text, evidence.Options{})
	if err != nil || report.FirstFailed != "identity" {
		t.Fatal(report.FirstFailed, err)
	}
	for _, check := range report.Checks {
		if check.Name == "identity" && (check.Count != 5000 || len(check.Failures) != evidence.MaxFailures || check.Failures[0].Nonce != 0) {
			t.Errorf("%d failures counted, %d kept, from nonce %d", check.Count, len(check.Failures), check.Failures[0].Nonce)
		}
	}
}

// FuzzVerify: no input panics, and how it is divided does not matter.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"good-every-kind.json", "good-unused.json", "format-truncated.json", "good-keys-reversed.json"} {
		f.Add(readVector(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := verify(t, text, evidence.Options{})
		evidence.SetBatchBytes(t, 300)
		again, errAgain := evidence.Verify(context.Background(), iotest.OneByteReader(bytes.NewReader(text)), evidence.Options{Workers: 2})
		verdict, check := answer(report, err)
		verdictAgain, checkAgain := answer(again, errAgain)
		if verdict != verdictAgain || check != checkAgain {
			t.Errorf("%s (%s) %v as a whole, %s (%s) %v in parts", verdict, check, err, verdictAgain, checkAgain, errAgain)
		}
	})
}

// The document knows no exponents: its sums are units, and must not be read as coins.
func TestSummaryIsInUnits(t *testing.T) {
	report, err := verify(t, diceDocument(t, 1), evidence.Options{})
	got := report.Summary.String()
	if err != nil || !strings.HasPrefix(got, "1 round: 1 dice; staked 100 units of ") {
		t.Errorf("%q, %v", got, err)
	}
	report, err = verify(t, diceDocument(t, 2), evidence.Options{})
	got = report.Summary.String()
	if err != nil || !strings.HasPrefix(got, "2 rounds: 2 dice; staked 201 units of ") {
		t.Errorf("%q, %v", got, err)
	}
}

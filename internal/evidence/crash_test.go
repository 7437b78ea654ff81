package evidence_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/rng"
	_ "github.com/openoriginals/originals/proto/originals/v1" // the messages, by their names
)

var quicknet = beacon.Quicknet()

// drand knows one network.
func drand(network string) evidence.Beacon {
	if network == "" || network == quicknet.Hash() {
		return quicknet
	}
	return nil
}

// crashRow is one entry of the index: answers, what the player kept, and the verdict that every verifier must reach.
type crashRow struct {
	File, Verdict, Check string
	Terminal, Salt       string
}

func (r crashRow) options(t testing.TB) evidence.CrashOptions {
	t.Helper()
	o := evidence.CrashOptions{Beacons: drand}
	if r.Terminal != "" {
		terminal, err := rng.ParseTerminal(r.Terminal)
		if err != nil {
			t.Fatal(err)
		}
		o.Terminal = &terminal
	}
	if r.Salt != "" {
		salt, err := rng.ParseSalt(r.Salt)
		if err != nil {
			t.Fatal(err)
		}
		o.Salt = &salt
	}
	return o
}

func crashFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "vectors", "crashrounds", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func crashIndex(t testing.TB) (rows []crashRow) {
	t.Helper()
	if err := json.Unmarshal(crashFile(t, "index.json"), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 160 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

var crashVerdicts = map[string]evidence.Verdict{
	"VERIFIED": evidence.Verified, "TERMINAL NOT CONFIRMED": evidence.TerminalOpen, "SALT NOT CONFIRMED": evidence.SaltOpen, "FAILED": evidence.Failed,
}

func TestEveryDocumentOfACrashTable(t *testing.T) {
	seen := map[string]int{}
	for _, row := range crashIndex(t) {
		report, err := evidence.VerifyCrash(t.Context(), bytes.NewReader(crashFile(t, row.File)), row.options(t))
		if row.Verdict == "UNUSABLE" {
			if !evidence.IsUnusable(err) {
				t.Errorf("%s: %v, want a format error", row.File, err)
			}
			seen["format"]++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.File, err)
			continue
		}
		seen[row.Check]++
		if report.Verdict != crashVerdicts[row.Verdict] || report.FirstFailed != row.Check {
			t.Errorf("%s: %s (%s), want %s (%s)\n%+v", row.File, report.Verdict, report.FirstFailed, row.Verdict, row.Check, report)
		}
		for _, check := range report.Checks {
			if !check.Passed && check.Name != row.Check {
				t.Errorf("%s: %s fails, too: %v", row.File, check.Name, check.Failures)
			}
			if !check.Passed && (check.Count == 0 || len(check.Failures) == 0 || check.Failures[0].Words == "") {
				t.Errorf("%s: %s fails without words", row.File, check.Name)
			}
		}
	}
	for _, check := range []string{"", "format", "terminal", "numbers", "chain", "salt", "crash", "bet"} {
		if seen[check] < 5 {
			t.Errorf("%d documents for the check %q", seen[check], check)
		}
	}
}

func TestUsualMistakesWithCrashRoundsAreNamed(t *testing.T) {
	for file, want := range map[string]mistake.Mistake{
		"chain-first-hash-of-the-next.json": mistake.NonceOffByOne, "chain-first-hash-of-the-one-before.json": mistake.NonceOffByOne,
		"chain-hash-is-the-terminal.json": mistake.HashForServerSeed, "crash-of-the-next-number.json": mistake.NonceOffByOne,
		"crash-hash-and-salt-swapped.json": mistake.SeedsSwapped, "chain-hash-of-another-chain.json": "",
	} {
		report, err := evidence.VerifyCrash(t.Context(), bytes.NewReader(crashFile(t, file)), evidence.CrashOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range report.Checks {
			if !check.Passed && check.Failures[0].Mistake != want {
				t.Errorf("%s: mistake %q, want %q: %s", file, check.Failures[0].Mistake, want, check.Failures[0].Words)
			}
		}
	}
}

func TestForgedBeaconOfACrashRound(t *testing.T) {
	text := crashFile(t, "good-beacon.json")
	forged := bytes.ReplaceAll(text, []byte(`"round":"27798178"`), []byte(`"round":"27798179"`)) // its hash holds, its signature does not
	with := func(beacons func(string) evidence.Beacon, text []byte) evidence.Report {
		report, err := evidence.VerifyCrash(t.Context(), bytes.NewReader(text), evidence.CrashOptions{Beacons: beacons})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if r := with(drand, text); r.Verdict != evidence.TerminalOpen {
		t.Errorf("%+v", r)
	}
	if r := with(drand, forged); r.FirstFailed != "salt" || !strings.Contains(r.Checks[4].Failures[0].Words, "not that of its round 27798179") {
		t.Errorf("a forged signature: %+v", r)
	}
	if r := with(nil, forged); r.Verdict != evidence.TerminalOpen || !strings.Contains(strings.Join(r.Notes, "\n"), "was not checked") {
		t.Errorf("without the network: %+v", r)
	}
}

func TestSelfChosenSaltIsSaid(t *testing.T) {
	report, err := evidence.VerifyCrash(t.Context(), bytes.NewReader(crashFile(t, "good-page.json")), evidence.CrashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(report.Notes, "\n")
	for _, words := range []string{"the operator could have chosen these outcomes", "whoever holds the chain knows every crash point"} {
		if !strings.Contains(notes, words) {
			t.Errorf("%q is not said: %s", words, notes)
		}
	}
}

func TestAnswersAreRecognised(t *testing.T) {
	for _, row := range crashIndex(t) {
		if !strings.HasPrefix(row.File, "good-") || row.Terminal+row.Salt != "" {
			continue
		}
		text := crashFile(t, row.File)
		document, is, err := evidence.IsCrash(iotest.OneByteReader(bytes.NewReader(text)))
		if err != nil || !is && row.File != "good-void-of-nothing.json" {
			t.Errorf("%s is not recognised: %v", row.File, err)
			continue
		}
		if all, err := io.ReadAll(document); err != nil || !bytes.Equal(all, text) {
			t.Errorf("%s: %d bytes of %d, %v", row.File, len(all), len(text), err)
		}
	}
	for _, name := range []string{"evidence/good-every-kind.json", "evidence/good-keys-reversed.json", "duel/good-committed.json", "evidence/format-empty.json"} {
		text, err := os.ReadFile(filepath.Join("..", "vectors", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if _, is, err := evidence.IsCrash(bytes.NewReader(text)); is || err != nil {
			t.Errorf("%s is taken for answers about a crash table: %v", name, err)
		}
	}
}

func TestVerifyCrashStops(t *testing.T) {
	text := crashFile(t, "good-whole.json")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := evidence.VerifyCrash(done, bytes.NewReader(text), evidence.CrashOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	broken := errors.New("broken")
	if _, err := evidence.VerifyCrash(t.Context(), io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken)), evidence.CrashOptions{}); !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's error", err)
	}
	walked := uint32(0)
	if _, err := evidence.VerifyCrash(t.Context(), bytes.NewReader(text), evidence.CrashOptions{Progress: func(links uint32) { walked += links }}); err != nil || walked != 60 {
		t.Errorf("%d links walked, %v", walked, err)
	}
}

// calendar is a beacon whose signatures all hold: under the fuzzer's counters a real check takes a second.
type calendar struct{ *beacon.Network }

func (calendar) Verify(uint64, []byte) (rng.Salt, error) { return "", nil }

// FuzzVerifyCrash: nothing breaks down, and answers with a changed byte are never verified but where the byte says nothing.
func FuzzVerifyCrash(f *testing.F) {
	for _, name := range []string{"good-page.json", "good-beacon.json", "good-bets-of-a-list.json", "good-whole-with-table.json", "good-a-list.json", "format-truncated.json", "good-drand.json"} {
		f.Add(crashFile(f, name))
	}
	f.Add([]byte(`{"rounds":[`))
	f.Add([]byte(`[{"hash":"`))
	f.Add([]byte(`{"phase":{"salt":`))
	network := calendar{beacon.Quicknet()}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, _ = evidence.IsCrash(bytes.NewReader(text))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		links := uint32(0)
		report, err := evidence.VerifyCrash(ctx, bytes.NewReader(text), evidence.CrashOptions{Beacons: func(string) evidence.Beacon { return network }, Progress: func(n uint32) {
			if links += n; links > 1<<20 {
				cancel() // a number of four thousand million is only slow
			}
		}})
		if err == nil && (len(report.Checks) != 7 || report.Verdict == evidence.Verified) {
			t.Errorf("%+v", report)
		}
	})
}

// TestReaderKnowsEveryKeyOfTheAPI: a field that is added to an answer is refused by its readers until they know it, too.
func TestReaderKnowsEveryKeyOfTheAPI(t *testing.T) {
	checked := 0
	for message, known := range evidence.CrashKeys() {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName("originals.v1." + protoreflect.FullName(message))
		if err != nil {
			t.Fatal(err)
		}
		fields := found.(protoreflect.MessageDescriptor).Fields()
		for i := range fields.Len() {
			checked++
			if name := fields.Get(i).JSONName(); !slices.Contains(known, name) {
				t.Errorf("%s has %s, which the reader does not know", message, name)
			}
		}
		if fields.Len() != len(known) {
			t.Errorf("%s has %d fields, and the reader knows %d", message, fields.Len(), len(known))
		}
	}
	if checked < 80 {
		t.Errorf("%d fields", checked)
	}
}

// ---- a single round ---------------------------------------------------------------------------------------------------------

func crashClaim(t testing.TB) evidence.CrashClaim {
	t.Helper()
	link, err := rng.ParseLink("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := rng.ParseTerminal("5b0ea80ec40723c1f948b0f7245bca57484d6ca5a48d1e25339b08c93d8f42dc") // by Python
	if err != nil {
		t.Fatal(err)
	}
	return evidence.CrashClaim{
		Table: "main", Number: 7, Link: link, Salt: "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100", Terminal: &terminal, TargetE2: 136, Stake: 250,
		Stated: map[string]string{"crashE2": "136", "win": "true", "multiplierE4": "13600", "payout": "340"},
	}
}

func TestSingleCrashRound(t *testing.T) {
	anchor, err := rng.ParseTerminal("630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd") // SHA-256 of the link, by Python
	if err != nil {
		t.Fatal(err)
	}
	text := func(values ...string) map[string]string { return map[string]string{values[0]: values[1]} }
	for name, c := range map[string]struct {
		change  func(c *evidence.CrashClaim)
		verdict evidence.Verdict
		check   string
		mistake mistake.Mistake
	}{
		"as it is":       {func(*evidence.CrashClaim) {}, evidence.Verified, "", ""},
		"no terminal":    {func(c *evidence.CrashClaim) { c.Terminal = nil }, evidence.TerminalOpen, "", ""},
		"an anchor":      {func(c *evidence.CrashClaim) { c.Terminal, c.Anchor = &anchor, 6 }, evidence.Verified, "", ""},
		"a wrong anchor": {func(c *evidence.CrashClaim) { c.Terminal, c.Anchor = &anchor, 5 }, evidence.Failed, "commitment", mistake.NonceOffByOne},
		"a lost bet": {func(c *evidence.CrashClaim) {
			c.TargetE2, c.Stated = 137, map[string]string{"win": "false", "payout": "0"}
		}, evidence.Verified, "", ""},
		"no bet":            {func(c *evidence.CrashClaim) { c.TargetE2, c.Stake, c.Stated = 0, 0, text("crashE2", "136") }, evidence.Verified, "", ""},
		"another point":     {func(c *evidence.CrashClaim) { c.Stated = text("crashE2", "137") }, evidence.Failed, "outcome", ""},
		"a tie called lost": {func(c *evidence.CrashClaim) { c.Stated = text("win", "false") }, evidence.Failed, "win", ""},
		"another payout":    {func(c *evidence.CrashClaim) { c.Stated = text("payout", "341") }, evidence.Failed, "payout", ""},
		"number one less":   {func(c *evidence.CrashClaim) { c.Number = 6 }, evidence.Failed, "commitment", mistake.NonceOffByOne},
		"number one more":   {func(c *evidence.CrashClaim) { c.Number = 8 }, evidence.Failed, "commitment", mistake.NonceOffByOne},
		"another chain":     {func(c *evidence.CrashClaim) { c.Terminal = new(rng.Terminal) }, evidence.Failed, "commitment", mistake.OtherSeedPair},
		"terminal as hash":  {func(c *evidence.CrashClaim) { c.Link, _ = rng.ParseLink(c.Terminal.String()) }, evidence.Failed, "commitment", mistake.HashForServerSeed},
		"the two swapped": {func(c *evidence.CrashClaim) {
			link := c.Terminal.String()
			terminal, _ := rng.ParseTerminal(c.Link.Reveal())
			c.Link, _ = rng.ParseLink(link)
			c.Terminal = &terminal
		}, evidence.Failed, "commitment", mistake.CommitmentForSeed},
	} {
		claim := crashClaim(t)
		c.change(&claim)
		if c.check == "commitment" {
			claim.Stated = nil
		}
		r, err := evidence.VerifyCrashRound(t.Context(), claim, evidence.CrashOptions{})
		if err != nil || r.Report.Verdict != c.verdict || r.Report.FirstFailed != c.check {
			t.Errorf("%s: %s (%s), %v, want %s (%s)", name, r.Report.Verdict, r.Report.FirstFailed, err, c.verdict, c.check)
		}
		for _, check := range r.Report.Checks {
			if !check.Passed && check.Failures[0].Mistake != c.mistake {
				t.Errorf("%s: mistake %q, want %q: %s", name, check.Failures[0].Mistake, c.mistake, check.Failures[0].Words)
			}
		}
	}
}

func TestSingleCrashRoundOfABeacon(t *testing.T) {
	rows := beaconRows(t)
	for _, row := range rows {
		claim := evidence.CrashClaim{Table: rng.Table(row.Table), Number: row.Number, BeaconRound: row.BeaconRound, BeaconSignature: row.signature(t), Stated: map[string]string{"crashE2": row.point()}}
		claim.Link, _ = rng.ParseLink(row.Hash)
		r, err := evidence.VerifyCrashRound(t.Context(), claim, evidence.CrashOptions{Beacons: drand})
		if err != nil || r.Report.Verdict != evidence.TerminalOpen || string(r.Salt) != row.Salt || r.Digest != row.Digest || r.Reached.String() != row.Terminal {
			t.Errorf("%s: %+v, %v", row.ID, r, err)
		}
		claim.BeaconRound++
		if r, err := evidence.VerifyCrashRound(t.Context(), claim, evidence.CrashOptions{Beacons: drand}); err != nil || r.Report.FirstFailed != "commitment" {
			t.Errorf("%s: a signature of another round: %+v, %v", row.ID, r, err)
		}
		claim.BeaconRound--
		claim.Salt = rng.Salt(strings.Repeat("0", 64))
		if r, err := evidence.VerifyCrashRound(t.Context(), claim, evidence.CrashOptions{}); err != nil || r.Report.FirstFailed != "commitment" {
			t.Errorf("%s: another salt beside: %+v, %v", row.ID, r, err)
		}
	}
}

func TestSingleCrashRoundRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *evidence.CrashClaim)
		want   error
	}{
		"round 0":       {func(c *evidence.CrashClaim) { c.Number = 0 }, evidence.ErrAnchor},
		"late anchor":   {func(c *evidence.CrashClaim) { c.Anchor = 7 }, evidence.ErrAnchor},
		"no link":       {func(c *evidence.CrashClaim) { c.Link = rng.Link{} }, rng.ErrLinkUnset},
		"no salt":       {func(c *evidence.CrashClaim) { c.Salt = "" }, rng.ErrSalt},
		"no table":      {func(c *evidence.CrashClaim) { c.Table = "" }, rng.ErrTable},
		"unknown value": {func(c *evidence.CrashClaim) { c.Stated = map[string]string{"roll": "1"} }, evidence.ErrStated},
	} {
		claim := crashClaim(t)
		c.change(&claim)
		if _, err := evidence.VerifyCrashRound(t.Context(), claim, evidence.CrashOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// beaconRow is a row of crash-v1.json that a beacon salts.
type beaconRow struct {
	ID, Table, Hash, Salt, Terminal, Digest string
	Number, CrashE2                         uint32
	BeaconRound                             uint64 `json:",string"`
	BeaconSignature                         string
}

func (r beaconRow) point() string { return strconv.FormatUint(uint64(r.CrashE2), 10) }

func (r beaconRow) signature(t testing.TB) []byte {
	t.Helper()
	raw, err := hex.DecodeString(r.BeaconSignature)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func beaconRows(t testing.TB) (rows []beaconRow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "vectors", "crash-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []beaconRow }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	rows = slices.DeleteFunc(file.Rows, func(r beaconRow) bool { return r.BeaconSignature == "" })
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/testenv"
	"github.com/openoriginals/originals/internal/vectors"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/crash"
)

// chainSite is a store with a seal key, for the commands of chains.
type chainSite struct {
	*site
	env []string
}

func newChainSite(t *testing.T) *chainSite {
	t.Helper()
	s := newSite(t, testenv.Redis(t, testenv.InMemory).URL())
	return &chainSite{s, []string{"ORIGINALS_REDIS=" + s.store, "ORIGINALS_SEAL_KEY_FILE=" + s.sealKey}}
}

func (s *chainSite) want(status int, out, errs string, args ...string) string {
	s.t.Helper()
	return wantRun(s.t.(*testing.T), status, out, errs, s.env, append([]string{"crash", "chain"}, args...)...)
}

// chains opens the store as a process does.
func (s *chainSite) chains() *crash.Chains {
	s.t.Helper()
	keys, err := seal.ReadFile(s.sealKey)
	if err != nil {
		s.t.Fatal(err)
	}
	client, err := redisledger.Dial(s.store)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { client.Close() })
	return &crash.Chains{Store: redisledger.New(client, redisledger.Options{}), Keys: keys, Sources: beacons(nil)}
}

var printedTerminal = regexp.MustCompile(`(?m)^terminal +([0-9a-f]{64})$`)

func TestTheLifeOfAChain(t *testing.T) {
	s := newChainSite(t)
	printed := printedTerminal.FindStringSubmatch(s.want(0, "block 940000; not fixed yet", "", "create", "--table", "main", "--length", "10000", "--bitcoin-block", "940000"))
	if printed == nil {
		t.Fatal("create prints no terminal")
	}
	// A second chain of the same name is refused, and tells what there is.
	s.want(2, "", printed[1], "create", "--table", "main", "--length", "10000")
	s.want(2, "", "table other has no chain", "create", "--after", "other")

	block := strings.Repeat("0", 19) + strings.Repeat("5a", 22) + "1"
	salt := func(args ...string) []string { return append([]string{"salt", "--table", "main"}, args...) }
	s.want(2, "", "give one of", salt()...)
	s.want(2, "", "give one of", salt("--self-chosen", "--drand", "5")...)
	s.want(2, "", "announced as the hash of Bitcoin block 940000", salt("--self-chosen")...)
	s.want(2, "", "announced as the hash of Bitcoin block 940000", salt("--bitcoin-block", "940001", "--hash", block)...)
	for _, hash := range []string{"", block[1:], "A" + block[1:], strings.Repeat("5a", 32), strings.ToUpper(block), block + "\n"} {
		s.want(2, "", "--hash must be", salt("--bitcoin-block", "940000", "--hash", hash)...)
	}
	s.want(2, "", "has no chain", "salt", "--table", "other", "--self-chosen")
	for range 2 { // the same again changes nothing
		s.want(0, "block 940000: "+block, "", salt("--bitcoin-block", "940000", "--hash", block)...)
	}
	other := block[:63] + "2"
	s.want(2, "", "fixed for ever, and is another: "+block, salt("--bitcoin-block", "940000", "--hash", other)...)

	s.want(0, "VERIFIED", "", "verify", "--table", "main")
	chain, err := s.chains().Open(t.Context(), "main")
	if err != nil || chain.Salt().GetValue() != block || chain.Terminal().String() != printed[1] {
		t.Fatalf("opened as %v, %v", chain, err)
	}
	link, err := chain.Link(5000)
	if err != nil {
		t.Fatal(err)
	}
	revealed := []string{"verify", "--terminal", printed[1], "--number", "5000", "--hash", link.Reveal()}
	s.want(0, "VERIFIED", "", revealed...)
	revealed[4] = "5001"
	s.want(1, "FAILED", "do not lead to the terminal", revealed...)
	s.want(2, "", "give --table", revealed[:5]...)

	// Its successor is announced, and stays what it is.
	s.want(0, "self-chosen", "", "create", "--after", "main", "--length", "300")
	s.want(2, "", "announced successor", "create", "--after", "main", "--length", "300")
	s.want(2, "", "announced successor", "create", "--after", "main-2", "--length", "300")
	s.want(2, "", "serves it for ever", "create", "--table", "main-2", "--length", "300")
	s.want(0, "self-chosen", "", "salt", "--table", "main-2", "--self-chosen")
	s.want(2, "", "fixed for ever", "salt", "--table", "main-2", "--self-chosen")
	line, err := ledger.CrashLine(t.Context(), s.chains().Store, "main")
	if err != nil || len(line) != 2 || line[1].Table != "main-2" || line[1].Kept.After != "main" {
		t.Errorf("the line is %+v, %v", line, err)
	}
}

func TestChainsThatCannotBeMeant(t *testing.T) {
	s := newChainSite(t)
	for _, row := range []struct {
		errs string
		args []string
	}{
		{"give one of --table", nil},
		{"give one of --table", []string{"--table", "a", "--after", "b"}},
		{"--table: must be 1 to 32", []string{"--table", "Main"}},
		{"--length must be 1", []string{"--table", "main", "--length", "0"}},
		{"--length must be 1", []string{"--table", "main", "--length", "10000001"}},
		{"length", []string{"--table", "main", "--length", "-1"}},
		{"--bitcoin-block must be", []string{"--table", "main", "--bitcoin-block", "0"}},
		{"give one of --bitcoin-block", []string{"--table", "main", "--bitcoin-block", "940000", "--drand", "99999999999"}},
		{"is published already", []string{"--table", "main", "--drand", "100"}},
		{"is no beacon", []string{"--table", "main", "--beacon", "quick"}},
		{"is no beacon", []string{"--table", "main", "--drand", "99999999999", "--network", "mine"}},
		{"--network belongs to --drand", []string{"--table", "main", "--network", "test"}},
		{"unknown command or argument", []string{"--table", "main", "now"}},
	} {
		s.want(2, "", row.errs, append([]string{"create"}, row.args...)...)
	}
	wantRun(t, 2, "", "--redis is needed", nil, "crash", "chain", "create", "--table", "main")
	wantRun(t, 2, "", "--seal-key-file is needed", s.env[:1], "crash", "chain", "create", "--table", "main")
	if _, err := s.chains().Store.CrashChain(t.Context(), "main"); err == nil {
		t.Error("a refused command made a chain")
	}
	// Wrong seal key.
	s.want(0, "", "", "create", "--table", "main", "--length", "100")
	other := newSite(t, s.store)
	strange := []string{s.env[0], "ORIGINALS_SEAL_KEY_FILE=" + other.sealKey}
	wantRun(t, 2, "", "sealed with a key that is not in the key file", strange, "crash", "chain", "verify", "--table", "main")
	wantRun(t, 2, "", "is not that of this store", strange, "crash", "chain", "create", "--table", "sealed-by-a-stranger")
}

// TestASaltFromDrand fixes the salt by a real round of quicknet, as it is given
// and as a relay tells it.
func TestASaltFromDrand(t *testing.T) {
	text, err := vectors.Files.ReadFile("foreign/crash_duel.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rounds []struct {
			Round      uint64 `json:"drand_round"`
			Signature  string `json:"drand_signature"`
			Randomness string `json:"drand_randomness_sha256"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Rounds) < 2 {
		t.Fatalf("%d real rounds, %v", len(file.Rounds), err)
	}
	real, wrong := file.Rounds[0], file.Rounds[1]
	s := newChainSite(t)
	for _, table := range []rng.Table{"given", "fetched"} {
		plan := ledger.CrashSaltPlan{Kind: ledger.CrashSaltDrand, Named: real.Round, Network: beacon.Quicknet().Hash()}
		if _, _, err := s.chains().Create(t.Context(), table, crash.NewChain{Length: 10, Plan: plan}); err != nil {
			t.Fatal(err)
		}
	}
	named := fmt.Sprint(real.Round)
	s.want(2, "", "--signature", "salt", "--table", "given", "--drand", named, "--signature", wrong.Signature)
	s.want(2, "", "--signature", "salt", "--table", "given", "--drand", named, "--signature", "xy")
	s.want(2, "", "announced", "salt", "--table", "given", "--drand", fmt.Sprint(wrong.Round), "--signature", wrong.Signature)
	s.want(0, real.Randomness, "", "salt", "--table", "given", "--drand", named, "--signature", real.Signature)

	var answer atomic.Value
	answer.Store(fmt.Sprintf(`{"round":%d,"signature":%q}`, real.Round, wrong.Signature))
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != fmt.Sprintf("/%s/public/%d", beacon.Quicknet().Hash(), real.Round) {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, answer.Load())
	}))
	defer relay.Close()
	s.want(2, "", "signature", "salt", "--table", "fetched", "--drand", named, "--drand-url", relay.URL)
	answer.Store(fmt.Sprintf(`{"round":%d,"signature":%q}`, real.Round, real.Signature))
	s.want(0, real.Randomness, "", "salt", "--table", "fetched", "--drand", named, "--drand-url", relay.URL)

	// A round to come, of the test beacon.
	soon := beacon.Test(time.Now).Network().RoundAt(time.Now()) + 3
	s.want(0, "the test beacon", "", "create", "--table", "soon", "--length", "10", "--network", "test", "--drand", fmt.Sprint(soon))
	s.want(2, "", "not published yet", "salt", "--table", "soon", "--drand", fmt.Sprint(soon))
	time.Sleep(time.Until(beacon.Test(time.Now).Network().TimeOf(soon)))
	s.want(0, "of round "+fmt.Sprint(soon), "", "salt", "--table", "soon", "--drand", fmt.Sprint(soon))
}

// TestACreationIsKilled kills the command at many points: the table has a whole
// chain or none.
func TestACreationIsKilled(t *testing.T) {
	s := newChainSite(t)
	program := testenv.Program(t)
	random := testRandom(t)
	made := 0
	const tries = 12
	for i := range tries {
		table := fmt.Sprintf("table-%d", i)
		cmd := exec.Command(program, "crash", "chain", "create", "--table", table, "--length", "200000")
		cmd.Env = append(cmd.Environ(), s.env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		status, _, errs := testenv.Run(t, s.env, "crash", "chain", "create", "--table", table, "--length", "200000")
		if status != 0 {
			if !strings.Contains(errs, "serves it for ever") {
				t.Fatalf("made again: %s", errs)
			}
			made++
		}
		chain, err := s.chains().Open(context.Background(), rng.Table(table))
		if err != nil {
			t.Fatal(err)
		}
		if err := chain.Verify(nil); err != nil || chain.Length() != 200_000 {
			t.Fatalf("%d links, %v", chain.Length(), err)
		}
	}
	t.Logf("%d of %d were made before the kill", made, tries)
}

// TestTablesOfTheConfiguration starts processes with chains as the configuration
// wants them.
func TestTablesOfTheConfiguration(t *testing.T) {
	s := newChainSite(t)
	serve := func(tables string) []string {
		file := filepath.Join(t.TempDir(), "house.yaml")
		if err := os.WriteFile(file, []byte("crash: {tables: ["+tables+"]}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return append(s.storeFlags(), "--config", file, "--dev-key", s.devKey, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	}
	wantRun(t, 2, "", "table hand has no chain, and its salt is byHand", nil, serve("{name: hand, salt: byHand}")...)
	s.want(0, "", "", "create", "--table", "hand", "--length", "500", "--bitcoin-block", "940000")

	p := testenv.Serve(t, serve("{name: hand, salt: byHand}, {name: each, beacon: test, bettingMs: 100, crashedMs: 1}, {name: one, salt: test}")...)
	token := strings.TrimSpace(wantRun(t, 0, ".", "", nil, "token", "--dev-key", s.devKey, "--subject", "alice"))
	c := newClient(p.URL(), token)
	get := func(table string) *originalsv1.CrashTable {
		t.Helper()
		m := new(originalsv1.CrashTable)
		if err := c.get(t.Context(), "/v1/crash/tables/"+table, m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := get("hand"); m.GetPhase() != originalsv1.CrashTable_STOPPED || m.GetSalt().GetNamed() != 940_000 || m.GetSalt().GetValue() != "" || m.GetChainLength() != 500 {
		t.Errorf("hand is %v", m)
	}
	one := get("one")
	ahead := time.Until(beacon.Test(time.Now).Network().TimeOf(uint64(one.GetSalt().GetNamed())))
	if one.GetPhase() != originalsv1.CrashTable_STOPPED || one.GetSalt().GetKind() != originalsv1.CrashSalt_DRAND || ahead < 9*time.Minute || ahead > 11*time.Minute {
		t.Errorf("one is %v, its salt is published in %v", one, ahead)
	}
	if m := get("each"); m.GetSalt() != nil || m.GetBeacon().GetNetwork() != beacon.TestHash || m.GetChainLength() != chainLength {
		t.Errorf("each is %v", m)
	}
	all := new(originalsv1.ListTablesResponse)
	if err := c.get(t.Context(), "/v1/crash/tables", all); err != nil || len(all.GetTables()) != 3 || all.GetTables()[1].GetTable() != "each" {
		t.Errorf("tables %v, %v", all, err)
	}
	if !strings.Contains(s.want(0, "VERIFIED", "", "verify", "--table", "each"), "of each round") {
		t.Error("the chain is not shown with its beacon")
	}
	p.Kill9()

	// A table keeps the salt that its chain was announced with, and says so.
	p = testenv.Serve(t, serve("{name: each, salt: selfChosen}")...)
	if !strings.Contains(p.Stdout(), "the chain of crash table each was announced with another salt") {
		t.Errorf("started with\n%s", p.Stdout())
	}
	c = newClient(p.URL(), token)
	if m := get("each"); m.GetBeacon().GetNetwork() != beacon.TestHash {
		t.Errorf("each is %v", m)
	}
}

package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// wantRun runs the program and wants its exit status, and words in what it
// prints and in its errors.
func wantRun(t *testing.T, status int, out, errs string, env []string, args ...string) string {
	t.Helper()
	gotStatus, gotOut, gotErrs := testenv.Run(t, env, args...)
	if gotStatus != status || !strings.Contains(gotOut, out) || !strings.Contains(gotErrs, errs) {
		t.Errorf("originals %q with %q: status %d, want %d with %q and %q\n%s%s",
			args, env, gotStatus, status, out, errs, gotOut, gotErrs)
	}
	return gotOut
}

func TestMisspeltFlagOrVariableIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--htpt", "127.0.0.1:0"}, {"serv"}, {"--http", "127.0.0.1:0", "now"},
		{"serve", "--role", "dice", "--frobnicate"}, {"demo", "--bets", "3"}, {"demo", "twice"}, {"token", "--subjct", "alice"},
	} {
		if status, out, errs := testenv.Run(t, nil, args...); status != 2 || errs == "" {
			t.Errorf("originals %q: status %d, want 2 and an error\n%s%s", args, status, out, errs)
		}
	}
	wantRun(t, 2, "", "ORIGINALS_HTPT", []string{"ORIGINALS_HTPT=127.0.0.1:0"}, "config")
	wantRun(t, 2, "", "ORIGINALS_", []string{"ORIGINALS_=x"}, "config")
	wantRun(t, 0, "", "", []string{"ORIGINALS_HTTP=127.0.0.1:0", "ORIGINALSX=1"}, "config")
}

// TestUsageErrorIsOneLine: a page of help after it, or before, hides what is
// wrong.
func TestUsageErrorIsOneLine(t *testing.T) {
	for _, row := range []struct{ words, args string }{
		{"-bogus; see originals --help", "--bogus"},
		{`"x" for flag -demo-balance`, "--demo-balance x"},
		{`"role" not set; see originals serve --help`, "serve"},
		{`"token, player" not set; see originals wallet transfer --help`, "wallet transfer --id t-1"},
		{"-cards; see originals verify --help", "verify --cards 3"},
		{"-cards; see originals rtp --help", "rtp --cards 3"},
		{"must be such as http://127.0.0.1:8080; see originals demo --help", "demo --token x --url 127.0.0.1:8080"},
		{"must be such as http://127.0.0.1:8080; see originals wallet balances --help", "wallet balances --token x --player a --url ftp://127.0.0.1"},
		{`"now"; see originals crash chain verify --help`, "crash chain verify now"},
		{"give --table for the whole chain", "crash chain verify"},
	} {
		status, out, errs := testenv.Run(t, nil, strings.Fields(row.args)...)
		if status != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, row.words) {
			t.Errorf("originals %s: status %d, want 2 and one line with %q\n%s%s", row.args, status, row.words, out, errs)
		}
	}
}

// Who reports a fault or follows an update has to say which program it is.
func TestTheProgramSaysItsVersion(t *testing.T) {
	wantRun(t, 0, "originals version "+version(), "", nil, "--version")
}

// TestSettingsThatCannotBeMeant wants a process refused before it listens.
func TestSettingsThatCannotBeMeant(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "dev.key")
	seal := filepath.Join(dir, "seal.key")
	if err := os.WriteFile(seal, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short.key")
	if err := os.WriteFile(short, []byte("abab\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := "redis://" + testenv.FreeAddr(t)
	for _, row := range []struct {
		errs string
		args []string
	}{
		{"--redis needs --seal-key-file", []string{"--redis", nowhere, "--dev-key", key}},
		{"--redis needs --config with an operator, or --dev-key", []string{"--redis", nowhere, "--seal-key-file", seal}},
		{"--redis: redisscript: info: store unavailable", []string{"--redis", nowhere, "--seal-key-file", seal, "--dev-key", key}},
		{"short.key", []string{"--redis", nowhere, "--seal-key-file", short, "--dev-key", key}},
		{"missing.yaml", []string{"--config", filepath.Join(dir, "missing.yaml")}},
		{"--demo-balance", []string{"--demo-balance", "-5"}},
		{"--demo-balance must be 0 to 9007199254740991", []string{"--demo-balance", "9007199254740992"}},
		{"--mines-expiry", []string{"--mines-expiry", "1s"}},
		{"--drain must be 0 to 5m0s", []string{"--drain", "1h"}},
		{"--drain must be 0 to 5m0s", []string{"--drain", "-1s"}},
		{"--log-level", []string{"--log-level", "loud"}},
		{"unknown role", []string{"serve", "--role", "gateway,poker"}},
		{"stands twice", []string{"serve", "--role", "dice,dice"}},
		{"reached at one address", []string{"serve", "--role", "dice", "--dev-key", key, "--peers", "seedpair=127.0.0.1:1,seedpair=127.0.0.1:2"}},
		{"--peers", []string{"serve", "--role", "dice", "--dev-key", key, "--peers", "seedpair"}},
		{"the address of the role seedpair is missing", []string{"serve", "--role", "dice", "--internal", "127.0.0.1:0", "--dev-key", key}},
		{"by mutual TLS alone", []string{"serve", "--role", "dice", "--internal", "127.0.0.1:0", "--dev-key", key, "--peers", "seedpair=127.0.0.1:1"}},
		{"--internal is missing", []string{"serve", "--role", "dice", "--dev-key", key, "--peers", "seedpair=127.0.0.1:1"}},
		{"--internal is missing", []string{"serve", "--role", "seedpair,crash", "--dev-key", key}},
		{"by mutual TLS alone", []string{"serve", "--role", "seedpair", "--internal", "127.0.0.1:0", "--dev-key", key}},
		{"belong to the roles with a store", []string{"serve", "--role", "dice", "--dev-key", key, "--redis", nowhere}},
		{"--config with an operator or --dev-key is needed", []string{"serve", "--role", "dice"}},
	} {
		wantRun(t, 2, "", row.errs, nil, append(slices.Clone(row.args), "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")...)
	}
}

// TestEvictionDeletesSeeds wants a store refused that may evict keys.
func TestEvictionDeletesSeeds(t *testing.T) {
	redis := testenv.Redis(t, testenv.Args("--maxmemory-policy", "allkeys-lru"))
	site := newSite(t, redis.URL())
	args := append(site.storeFlags(), "--dev-key", site.devKey, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	wantRun(t, 2, "", "noeviction", nil, args...)
}

func TestDemoPlaysAndProves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "evidence.json")
	out := wantRun(t, 0, "VERIFIED", "", nil, "demo", "--rounds", "3", "--evidence", file)
	kept := regexp.MustCompile(`The house commits: +([0-9a-f]{64})`).FindStringSubmatch(out)
	if kept == nil || !regexp.MustCompile(`(?m)^ +all +12 .* 12 *$`).MatchString(out) {
		t.Fatalf("demo printed:\n%s", out)
	}
	wantRun(t, 0, "VERIFIED", "", nil, "verify", "--evidence", file, "--commitment", kept[1], "--last-nonce", "11")
	wantRun(t, 1, "", "", nil, "verify", "--evidence", file, "--commitment", strings.Repeat("0", 64))
	wantRun(t, 2, "", "--rounds", nil, "demo", "--rounds", "0")
	wantRun(t, 2, "", "--token", nil, "demo", "--url", "http://127.0.0.1:1")
}

// TestDemoAgainstARunningGateway plays with a token of the command for it.
func TestDemoAgainstARunningGateway(t *testing.T) {
	site := newSite(t, testenv.Redis(t).URL())
	p := site.oneProcess()
	token := strings.TrimSpace(wantRun(t, 0, ".", "", nil, "token", "--dev-key", site.devKey, "--subject", "demo-player"))
	wantRun(t, 0, "VERIFIED", "", nil, "demo", "--rounds", "2", "--url", p.URL(), "--token", token)
	support := strings.TrimSpace(wantRun(t, 0, ".", "", nil, "token", "--dev-key", site.devKey, "--subject", "bob", "--role", "support"))
	wantRun(t, 2, "", "ROLE_REQUIRED", nil, "demo", "--url", p.URL(), "--token", support)
}

func TestTokenCommand(t *testing.T) {
	key := filepath.Join(t.TempDir(), "dev.key")
	token := wantRun(t, 0, ".", "", nil, "token", "--dev-key", key, "--subject", "alice", "--operator", "north")
	if strings.Count(token, ".") != 2 || strings.Count(token, "\n") != 1 {
		t.Errorf("token %q", token)
	}
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	wantRun(t, 0, ".", "", []string{"ORIGINALS_DEV_KEY=" + key}, "token", "--subject", "alice")
	wantRun(t, 2, "", "north", nil, "token", "--dev-key", key, "--subject", "alice", "--operator", "south")
	wantRun(t, 2, "", "", nil, "token", "--dev-key", key, "--subject", "alice", "--role", "king")
	wantRun(t, 2, "", "--ttl", nil, "token", "--dev-key", key, "--subject", "alice", "--ttl", "-1s")
	wantRun(t, 2, "", "", nil, "token", "--dev-key", key, "--subject", "a b")
	wantRun(t, 2, "", "subject", nil, "token", "--dev-key", key)
}

// TestConfigCommandPrintsWhatServes starts a process with the example, but for
// the keys, which are nobody's.
func TestConfigCommandPrintsWhatServes(t *testing.T) {
	example := wantRun(t, 0, "currencies", "", nil, "config")
	dir := t.TempDir()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key.pem")
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	house := regexp.MustCompile(`/etc/\S+\.pem`).ReplaceAllString(example, key)
	house = regexp.MustCompile(`(?m)^ *- jwks:.*\n`).ReplaceAllString(house, "")
	secret := filepath.Join(dir, "casino.whsec")
	if err := os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	house = regexp.MustCompile(`/etc/[^\s\]]+\.whsec`).ReplaceAllString(house, secret)
	file := filepath.Join(dir, "house.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(house)
	p := testenv.Serve(t, "--config", file, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	var games originalsv1.ListGamesResponse
	if err := testenv.NewPlayer("", p.URL()).Get(t.Context(), "/v1/games", &games); err != nil || len(games.GetGames()) != 5 {
		t.Fatalf("games: %v, %v", &games, err)
	}
	if limits := games.GetGames()[0].GetLimits(); len(limits) != 4 || limits[3].GetCurrency() != "ETH" || limits[3].GetExponent() != 9 {
		t.Errorf("limits of the example: %v", limits)
	}
	write(house + "\nunknown: 1\n")
	wantRun(t, 2, "", "unknown", nil, "--config", file, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
}

func TestCertificatesCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	out := wantRun(t, 0, "dice+limbo.pem", "", nil, "certificates", "--dir", dir, "--role", "gateway", "--role", "dice,limbo", "--host", "games.internal")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 {
		t.Errorf("two certificates were asked for, and told of as %q", lines)
	}
	for _, name := range []string{"ca.pem", "gateway.pem", "gateway.key", "dice+limbo.pem", "dice+limbo.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || strings.HasSuffix(name, ".key") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	wantRun(t, 0, "seedpair.pem", "", nil, "certificates", "--dir", dir, "--role", "seedpair")
	if after, err := os.ReadFile(filepath.Join(dir, "ca.pem")); err != nil || string(after) != string(before) {
		t.Errorf("the authority was made anew: %v", err)
	}
	wantRun(t, 2, "", "unknown role", nil, "certificates", "--dir", dir, "--role", "dice,poker")
	wantRun(t, 2, "", "role", nil, "certificates", "--dir", dir)
}

func TestSealKeyThatOthersCanReadIsToldOf(t *testing.T) {
	for mode, told := range map[os.FileMode]bool{0o644: true, 0o640: false, 0o600: false} {
		file := filepath.Join(t.TempDir(), "seal.key")
		if err := os.WriteFile(file, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		p := testenv.Serve(t, "--seal-key-file", file, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
		p.AwaitReady(p.URL())
		p.Terminate()
		p.Wait() // all that it said has arrived
		const words = "can read the seal key"
		if strings.Contains(p.Stdout(), words) != told || strings.Contains(p.Stderr(), words) != told {
			t.Errorf("mode %o: said %s%s", mode, p.Stdout(), p.Stderr())
		}
	}
}

// Play money that no bet takes is given to nobody.
func TestDemoBalanceNeedsItsCurrency(t *testing.T) {
	file := filepath.Join(t.TempDir(), "house.yaml")
	text := "currencies:\n  - {code: USD, exponent: 2, limits: {default: {minStake: 10, maxStake: 100, maxPayout: 1000}}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRun(t, 2, "", "--demo-balance is in FUN, which is not among the currencies", nil,
		"--config", file, "--demo-balance", "5", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")

	key := filepath.Join(t.TempDir(), "dev.key")
	token := strings.TrimSpace(wantRun(t, 0, "", "", nil, "token", "--dev-key", key, "--subject", "poor"))
	p := testenv.Serve(t, "--config", file, "--dev-key", key, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	var balances originalsv1.ListBalancesResponse
	player := testenv.NewPlayer(token, p.URL())
	if err := player.Get(t.Context(), "/v1/seed-pair", new(originalsv1.GetSeedPairResponse)); err != nil {
		t.Fatal(err)
	}
	if err := player.Get(t.Context(), "/v1/balances", &balances); err != nil || len(balances.GetBalances()) != 0 {
		t.Errorf("balances %v, %v", &balances, err)
	}
}

// A process is told at its start that its certificate is another role's, not
// by every call that its peers refuse.
func TestCertificateOfAnotherRoleIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	wantRun(t, 0, "", "", nil, "certificates", "--dir", dir, "--role", "gateway", "--role", "dice,limbo")
	for roles, certificate := range map[string]string{"dice": "gateway", "dice,limbo,mines": "dice+limbo"} {
		at := filepath.Join(dir, certificate)
		wantRun(t, 2, "", "--tls-cert: the certificate names the roles "+strings.ReplaceAll(certificate, "+", ",")+", and not ", nil,
			"serve", "--role", roles, "--internal", "127.0.0.1:0", "--peers", "seedpair=127.0.0.1:1", "--dev-key", filepath.Join(dir, "dev.key"),
			"--tls-ca", filepath.Join(dir, "ca.pem"), "--tls-cert", at+".pem", "--tls-key", at+".key")
	}
}

// greeted starts everything in one process, and returns it with all that it
// prints at its start.
func greeted(t *testing.T, args ...string) (*testenv.Process, string) {
	t.Helper()
	p := testenv.Serve(t, append(args, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")...)
	p.AwaitReady(p.URL())
	greeting := p.Stdout()
	// What the process has written may still be on its way through the pipe.
	for end := time.Now().Add(30 * time.Second); !strings.Contains(greeting, "Or watch") && time.Now().Before(end); greeting = p.Stdout() {
		time.Sleep(5 * time.Millisecond)
	}
	return p, greeting
}

func TestTheGreetingSaysThatThereIsNoPlayMoney(t *testing.T) {
	if _, greeting := greeted(t, "--demo-balance", "0"); !strings.Contains(greeting, "--demo-balance gives it") {
		t.Errorf("the bet to paste will be refused, and the greeting does not say so:\n%s", greeting)
	}
}

// TestTheGreetingCanBePasted executes, as a shell does, what `originals` prints
// at its start.
func TestTheGreetingCanBePasted(t *testing.T) {
	p, greeting := greeted(t)
	if strings.Contains(greeting, "no money") {
		t.Errorf("players have play money, and the greeting denies it:\n%s", greeting)
	}
	for _, words := range []string{"embedded store is for trying out: it keeps nothing", "gRPC, the same services", "player bob"} {
		if !strings.Contains(greeting, words) {
			t.Errorf("the greeting does not say %q:\n%s", words, greeting)
		}
	}
	_, paste, _ := strings.Cut(greeting, "(paste all of it):\n")
	paste, _, found := strings.Cut(paste, "Or watch")
	if !found {
		t.Fatalf("nothing to paste in:\n%s", greeting)
	}
	out, err := exec.Command("bash", "-euc", paste).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", paste, err, out)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	var answers []map[string]any
	for decoder.More() {
		var answer map[string]any
		if err := decoder.Decode(&answer); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		answers = append(answers, answer)
	}
	if len(answers) != 3 || answers[0]["nextCommitment"] == nil || answers[1]["active"] == nil || answers[2]["state"] != "SETTLED" {
		t.Errorf("the pasted lines answered %s", out)
	}
	p.Terminate()
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

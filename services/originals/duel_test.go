package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// match is a duel that is played through the REST API of a site.
type match struct {
	t                    testing.TB
	ctx                  context.Context
	server, white, black *testenv.Player
	mode                 originalsv1.Duel_Mode
	request              string

	id, commitment string
	seeds          [2]string
	rolls          []*originalsv1.DuelRoll
}

func newMatch(s *site, mode originalsv1.Duel_Mode, request string) *match {
	s.t.Helper()
	key, _, err := auth.LoadOrCreateDevKey(s.devKey, "")
	if err != nil {
		s.t.Fatal(err)
	}
	player := func(name string, role auth.Role) *testenv.Player {
		token, err := key.Mint(auth.Identity{Subject: name, Role: role}, time.Hour, time.Now())
		if err != nil {
			s.t.Fatal(err)
		}
		p := testenv.NewPlayer(token, s.gateways...)
		s.t.Cleanup(p.Close)
		return p
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	m := &match{t: s.t, ctx: ctx, server: player("chess", auth.Wallet), white: player("alice", auth.Player), black: player("bob", auth.Player), mode: mode, request: request}
	for i := range m.seeds {
		raw := make([]byte, 32)
		rand.Read(raw)
		m.seeds[i] = hex.EncodeToString(raw)
	}
	return m
}

// insist repeats a call until its answer is definite.
func (m *match) insist(p *testenv.Player, path string, request, answer proto.Message) {
	m.t.Helper()
	if _, err := p.Insist(m.ctx, "/v1/duels"+path, request, answer); err != nil {
		m.t.Fatalf("%s %s: %v", m.mode, path, err)
	}
}

// step is one call of a match. Each may be repeated.
type step struct {
	name string
	call func()
}

func (m *match) create() {
	var d originalsv1.Duel
	m.insist(m.server, "", &originalsv1.CreateDuelRequest{RequestId: m.request, White: "alice", Black: "bob", Mode: &m.mode, GraceSeconds: proto.Uint32(300)}, &d)
	if m.id != "" && m.id != d.GetDuelId() {
		m.t.Errorf("the request made %s and %s", m.id, d.GetDuelId())
	}
	m.id, m.commitment = d.GetDuelId(), d.GetCommitment()
}

// steps are those of a match of three plies, up to its end.
func (m *match) steps() []step {
	seat := func(i int) (*testenv.Player, string) {
		return []*testenv.Player{m.white, m.black}[i], []string{"white", "black"}[i]
	}
	commit := func(i int) func() {
		return func() {
			p, name := seat(i)
			sum := sha256.Sum256([]byte(m.id + ":" + name + ":" + m.seeds[i]))
			m.insist(p, "/"+m.id+"/seats/"+name+":commit", &originalsv1.CommitSeatRequest{ClientSeedHash: hex.EncodeToString(sum[:])}, new(originalsv1.Duel))
		}
	}
	seed := func(i int) func() {
		return func() {
			p, name := seat(i)
			m.insist(p, "/"+m.id+"/seats/"+name+":seed", &originalsv1.SeedSeatRequest{ClientSeed: m.seeds[i]}, new(originalsv1.Duel))
		}
	}
	roll := func(ply uint32) func() {
		return func() {
			var r originalsv1.DuelRoll
			m.insist(m.server, "/"+m.id+":roll", &originalsv1.RollRequest{Ply: &ply}, &r)
			if int(ply) < len(m.rolls) && !proto.Equal(m.rolls[ply], &r) {
				m.t.Errorf("ply %d: %v, then %v", ply, m.rolls[ply], &r)
			}
			m.rolls = append(m.rolls[:ply], &r)
		}
	}
	steps := []step{{"create", m.create}}
	if m.mode == originalsv1.Duel_COMMITTED {
		steps = append(steps, step{"commit white", commit(0)}, step{"commit black", commit(1)})
	}
	return append(steps, step{"seed white", seed(0)}, step{"seed black", seed(1)},
		step{"roll 0", roll(0)}, step{"roll 1", roll(1)}, step{"roll 2", roll(2)},
		step{"end", func() { m.insist(m.server, "/"+m.id+":end", &originalsv1.EndDuelRequest{}, new(originalsv1.Duel)) }})
}

// verify checks the evidence with the Python verifier and the commitment that
// was shown first, and returns the duel.
func (m *match) verify() *originalsv1.Duel {
	m.t.Helper()
	text, err := m.black.Do(m.ctx, http.MethodGet, "/v1/duels/"+m.id, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	file := filepath.Join(m.t.TempDir(), m.id+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		m.t.Fatal(err)
	}
	out, err := exec.CommandContext(m.ctx, "python3", filepath.Join(top, "scripts", "verify", "python", "verify.py"), "evidence", file, "--commitment", m.commitment).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), " VERIFIED\n") {
		m.t.Errorf("%v\n%s\n%s", err, out, text)
	}
	var d originalsv1.Duel
	if err := m.white.Get(m.ctx, "/v1/duels/"+m.id, &d); err != nil {
		m.t.Fatal(err)
	}
	for i, r := range d.GetRolls() {
		if i < len(m.rolls) && !proto.Equal(r, m.rolls[i]) {
			m.t.Errorf("the evidence has %v, rolled was %v", r, m.rolls[i])
		}
	}
	return &d
}

// TestDuelSurvivesKill9InEveryPhase kills the process while each step is under
// way, and has the step repeated.
func TestDuelSurvivesKill9InEveryPhase(t *testing.T) {
	s := newSite(t, testenv.Redis(t, testenv.Always).URL())
	p := s.oneProcess()
	random := testRandom(t)
	for _, mode := range []originalsv1.Duel_Mode{originalsv1.Duel_COMMITTED, originalsv1.Duel_PLAIN} {
		phases := len(newMatch(s, mode, "count").steps())
		for phase := range phases {
			m := newMatch(s, mode, fmt.Sprintf("kill-%s-%d", mode, phase))
			for i, step := range m.steps() {
				if i != phase {
					step.call()
					continue
				}
				killed := make(chan struct{})
				go func() {
					defer close(killed)
					time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
					p.Kill9()
					s.restart(p)
				}()
				step.call()
				<-killed
				step.call() // and once more: the answer to the first may have come before the kill
			}
			d := m.verify()
			if d.GetState() != originalsv1.Duel_ENDED || len(d.GetRolls()) != 3 {
				t.Errorf("%s killed in phase %d: %v", mode, phase, d)
			}
		}
	}
}

// TestStoreReplacedVoidsAndRevealsEveryDuel kills Redis after each step.
func TestStoreReplacedVoidsAndRevealsEveryDuel(t *testing.T) {
	redis := testenv.Redis(t, testenv.Always)
	s := newSite(t, redis.URL())
	s.oneProcess()
	for phase := range 8 {
		m := newMatch(s, originalsv1.Duel_COMMITTED, fmt.Sprint("lost-", phase))
		for i, step := range m.steps() {
			if step.call(); i == phase {
				break
			}
		}
		rolled := len(m.rolls)
		redis.Kill9()
		redis.Start()
		var d *originalsv1.Duel
		for d == nil { // nobody needs to call: the sweeper ends it
			var now originalsv1.Duel
			if err := m.server.Get(m.ctx, "/v1/duels/"+m.id, &now); err == nil {
				d = &now
			} else if m.ctx.Err() != nil {
				t.Fatal(err)
			}
		}
		d = m.verify()
		if d.GetState() != originalsv1.Duel_VOID || d.GetEndReason() != "STORE_REPLACED" || len(d.GetRolls()) != rolled {
			t.Errorf("phase %d: %v", phase, d)
		}
		if err := m.server.Post(m.ctx, "/v1/duels/"+m.id+":roll", &originalsv1.RollRequest{Ply: proto.Uint32(uint32(rolled))}, new(originalsv1.DuelRoll)); testenv.Refused(err) != reason.DuelEnded {
			t.Errorf("phase %d: rolled on with a seed that is shown: %v", phase, err)
		}
	}
}

// TestDuelInProcessesOfTheirOwn: the role duel alone has the store, and a gateway in another process passes its streams on.
func TestDuelInProcessesOfTheirOwn(t *testing.T) {
	s := newSite(t, testenv.Redis(t).URL())
	tls := t.TempDir()
	vault, duels := testenv.FreeAddr(t), testenv.FreeAddr(t)
	rest := strings.Replace(storeRoles(), ",duel", "", 1)
	s.serveRole(tls, role{names: rest, addr: vault})
	s.serveRole(tls, role{names: "duel", addr: duels})
	gateway := role{names: "gateway,dice,limbo,roulette,mines", peers: and(at(vault, rest), at(duels, "duel"))}
	s.serveRole(tls, gateway)
	s.serveRole(tls, gateway)
	m := newMatch(s, originalsv1.Duel_COMMITTED, "split")
	steps := m.steps()
	steps[0].call()
	streams := []*bufio.Scanner{m.watch(s.gateways[0]), m.watch(s.gateways[1])}
	for _, step := range steps[1:] {
		step.call()
	}
	if d := m.verify(); d.GetState() != originalsv1.Duel_ENDED {
		t.Errorf("%v", d)
	}
	for _, lines := range streams {
		var events []string
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				events = append(events, name)
			}
		}
		if got := strings.Join(events, " "); !strings.HasPrefix(got, "duel ") || !strings.HasSuffix(got, "roll roll roll end") {
			t.Errorf("events %s", got)
		}
	}
}

func (m *match) watch(url string) *bufio.Scanner {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.ctx, http.MethodGet, url+"/v1/duels/"+m.id+":watch", nil)
	if err != nil {
		m.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		m.t.Fatalf("%v, %v", response, err)
	}
	m.t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

// TestWatchersDoNotHoldAnEndingProcess: it ends in good order while streams are open.
func TestWatchersDoNotHoldAnEndingProcess(t *testing.T) {
	s := newSite(t, testenv.Redis(t).URL())
	p := s.oneProcess()
	m := newMatch(s, originalsv1.Duel_PLAIN, "watched")
	m.create()
	lines := m.watch(s.gateways[0])
	lines.Scan()
	start := time.Now()
	p.Terminate()
	if status := p.Wait(); status != 0 || time.Since(start) > 5*time.Second {
		t.Errorf("status %d after %v", status, time.Since(start))
	}
	var last string
	for lines.Scan() {
		if text := lines.Text(); text != "" {
			last = text
		}
	}
	if last != `data: {"reason":"SHUTDOWN"}` {
		t.Errorf("the last line is %q", last)
	}
}

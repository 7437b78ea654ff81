package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/testenv"
)

// grantUnits is what each player of a site begins with.
const grantUnits = 5_000_000

// site is an installation: processes on one store.
type site struct {
	t         testing.TB
	store     string // URL
	sealKey   string // file
	devKey    string // file
	processes []*testenv.Process
	ready     map[*testenv.Process]string // where a process says that it is ready
	gateways  []string                    // URLs of the REST API
}

func newSite(t testing.TB, store string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{
		t: t, store: store, ready: make(map[*testenv.Process]string),
		sealKey: filepath.Join(dir, "seal.key"), devKey: filepath.Join(dir, "dev.key"),
	}
	key := make([]byte, 32)
	rand.Read(key)
	if err := os.WriteFile(s.sealKey, []byte(hex.EncodeToString(key)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := auth.LoadOrCreateDevKey(s.devKey, ""); err != nil {
		t.Fatal(err)
	}
	return s
}

// storeFlags are those of a process that holds the vault.
func (s *site) storeFlags() []string {
	return []string{"--redis", s.store, "--seal-key-file", s.sealKey, "--demo-balance", fmt.Sprint(grantUnits)}
}

// oneProcess starts every role in one process, at addresses that it keeps.
func (s *site) oneProcess() *testenv.Process {
	s.t.Helper()
	http := testenv.FreeAddr(s.t)
	return s.serve(http, append([]string{
		"--http", http, "--grpc", testenv.FreeAddr(s.t), "--dev-key", s.devKey, "--log-level", "warn",
	}, s.storeFlags()...)...)
}

// serve starts a process which says at an address whether it is ready.
func (s *site) serve(readyAt string, args ...string) *testenv.Process {
	s.t.Helper()
	p := testenv.Serve(s.t, args...)
	s.processes = append(s.processes, p)
	s.ready[p] = "http://" + readyAt
	if url := p.URL(); url != "" {
		s.gateways = append(s.gateways, url)
	}
	p.AwaitReady(s.ready[p])
	return p
}

// role is a process of a site with mutual TLS.
type role struct {
	names string            // by commas
	peers map[string]string // role -> address
	addr  string            // internal; empty for a gateway
}

// storeRoles are the roles that have the store, by commas.
func storeRoles() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(allRoles), func(r string) bool {
		return r == roleGateway || slices.Contains(auth.GameRoles, r)
	}), ",")
}

// at is where roles are reached, all at one address.
func at(addr, roles string) map[string]string {
	peers := make(map[string]string)
	for _, r := range strings.Split(roles, ",") {
		peers[r] = addr
	}
	return peers
}

// and is what two sets of peers hold together.
func and(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// serveRole starts a process of some roles. Its certificate is made by the
// command for it.
func (s *site) serveRole(tls string, r role) *testenv.Process {
	s.t.Helper()
	status, out, errs := testenv.Run(s.t, nil, "certificates", "--dir", tls, "--role", r.names)
	files := strings.Fields(out)
	if status != 0 || len(files) != 2 {
		s.t.Fatalf("certificates: status %d, %s%s", status, out, errs)
	}
	admin := testenv.FreeAddr(s.t)
	args := []string{
		"serve", "--role", r.names, "--admin", admin, "--dev-key", s.devKey, "--log-level", "warn",
		"--tls-ca", filepath.Join(tls, "ca.pem"), "--tls-cert", files[0], "--tls-key", files[1],
	}
	if r.addr != "" {
		args = append(args, "--internal", r.addr)
	}
	if strings.Contains(r.names, roleGateway) {
		args = append(args, "--http", testenv.FreeAddr(s.t), "--grpc", testenv.FreeAddr(s.t))
	}
	switch holds := (settings{roles: strings.Split(r.names, ",")}); {
	case holds.hasSeeds():
		args = append(args, s.storeFlags()...)
	case holds.hasStore():
		args = append(args, "--redis", s.store)
	}
	var peers []string
	for name, addr := range r.peers {
		peers = append(peers, name+"="+addr)
	}
	if len(peers) > 0 {
		args = append(args, "--peers", strings.Join(peers, ","))
	}
	return s.serve(admin, args...)
}

// fourProcesses starts the vault, the games in two processes, and a gateway.
func (s *site) fourProcesses() {
	s.t.Helper()
	tls := s.t.TempDir()
	vault, instant, rest := testenv.FreeAddr(s.t), testenv.FreeAddr(s.t), testenv.FreeAddr(s.t)
	s.serveRole(tls, role{names: storeRoles(), addr: vault})
	s.serveRole(tls, role{names: "dice,limbo", addr: instant, peers: map[string]string{"seedpair": vault}})
	s.serveRole(tls, role{names: "roulette,mines", addr: rest, peers: map[string]string{"seedpair": vault}})
	s.serveRole(tls, role{names: "gateway", peers: and(at(vault, storeRoles()), and(at(instant, "dice,limbo"), at(rest, "roulette,mines")))})
}

// twoOfEach starts two gateways and two vaults. Each vault serves two games,
// so that one player's rounds go through both.
func (s *site) twoOfEach() {
	s.t.Helper()
	tls := s.t.TempDir()
	vaults := []string{testenv.FreeAddr(s.t), testenv.FreeAddr(s.t)}
	games := []string{testenv.FreeAddr(s.t), testenv.FreeAddr(s.t)}
	for i, names := range []string{"dice,mines", "limbo,roulette"} {
		s.serveRole(tls, role{names: storeRoles(), addr: vaults[i]})
		s.serveRole(tls, role{names: names, addr: games[i], peers: map[string]string{"seedpair": vaults[i]}})
	}
	for i := range vaults {
		s.serveRole(tls, role{names: "gateway", peers: and(at(vaults[i], storeRoles()), and(at(games[0], "dice,mines"), at(games[1], "limbo,roulette")))})
	}
}

// restart starts a process that has ended and waits until it is ready.
func (s *site) restart(p *testenv.Process) {
	s.t.Helper()
	p.Start()
	p.AwaitReady(s.ready[p])
}

// token returns a player's token.
func (s *site) token(name string) string {
	s.t.Helper()
	return s.tokenOf(name, auth.Player)
}

func (s *site) tokenOf(name string, role auth.Role) string {
	s.t.Helper()
	key, _, err := auth.LoadOrCreateDevKey(s.devKey, "")
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := key.Mint(auth.Identity{Subject: name, Role: role}, time.Hour, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// session returns a player at all gateways.
func (s *site) session(name string) *session {
	s.t.Helper()
	return newSession(s.t, name, testenv.NewPlayer(s.token(name), s.gateways...))
}

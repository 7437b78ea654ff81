package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestSupportOnTheCommandLine: the role support has a process of its own, with
// the store and without a seal key.
func TestSupportOnTheCommandLine(t *testing.T) {
	s := newSite(t, testenv.Redis(t).URL())
	tls := t.TempDir()
	vault, office := testenv.FreeAddr(t), testenv.FreeAddr(t)
	rest := strings.Replace(storeRoles(), ",support", "", 1)
	s.serveRole(tls, role{names: rest, addr: vault})
	s.serveRole(tls, role{names: "support", addr: office, peers: at(vault, "seedpair")})
	s.serveRole(tls, role{names: "gateway,dice,limbo,roulette,mines", peers: and(at(vault, rest), at(office, "support"))})

	alice := s.session("alice")
	alice.rotate(t.Context())
	pair := alice.current()
	round := new(originalsv1.Round)
	if err := alice.player.Post(t.Context(), "/v1/dice/bets", &originalsv1.DiceServicePlaceBetRequest{
		BetId: "x", SeedPairId: pair, Stake: fun(100), Target: 5000, Direction: originalsv1.Dice_OVER,
	}, round); err != nil {
		t.Fatal(err)
	}
	staff := []string{"--url", s.gateways[0], "--token", s.tokenOf("carol", auth.Support)}
	run := func(out string, args ...string) string {
		t.Helper()
		return wantRun(t, 0, out, "", nil, append(append([]string{"support", args[0]}, staff...), args[1:]...)...)
	}
	if out := run(pair, "player", "--player", "alice"); !strings.Contains(out, round.GetRoundId()) || !strings.Contains(out, "ACTIVE") {
		t.Errorf("player alice:\n%s", out)
	}
	run("STAKE_LOCKED", "round", "--round", round.GetRoundId())
	run(fmt.Sprintf(`{"target":5000,"direction":"OVER","roll":%d,"win":%t}`, round.GetDice().GetRoll(), round.GetDice().GetWin()), "round", "--round", round.GetRoundId())
	run("server seed", "reveal", "--reason", "player asked", "--ticket", "T-7", "--seed-pair", pair)
	run("REVEAL_DONE", "audit-log")

	var log struct {
		Entries []struct{ Sequence, Action, Staff, PlayerID string }
	}
	if err := json.Unmarshal([]byte(run("REVEAL_BEGUN", "audit-log", "--json", "--player", "alice", "--limit", "3")), &log); err != nil || len(log.Entries) != 3 {
		t.Fatalf("%v, %v", log, err)
	}
	for i, want := range []string{"VIEW_AUDIT_LOG", "REVEAL_DONE", "REVEAL_BEGUN"} {
		if e := log.Entries[i]; e.Action != want || e.Staff != "carol" || e.PlayerID != "alice" {
			t.Errorf("entry %d is %+v, want %s", i, e, want)
		}
	}
	wantRun(t, 2, "", "ROLE_REQUIRED", nil, "support", "player", "--url", s.gateways[0], "--token", s.token("alice"), "--player", "alice")
	wantRun(t, 2, "", "PLAYER_NOT_FOUND", nil, append(append([]string{"support", "player"}, staff...), "--player", "nobody")...)
	wantRun(t, 2, "", "player", nil, append([]string{"support", "player"}, staff...)...)
}

// TestSupportHasNoSealKey: the role has the store and must not be given the key.
func TestSupportHasNoSealKey(t *testing.T) {
	s := newSite(t, testenv.Redis(t).URL())
	wantRun(t, 2, "", "--seal-key-file belongs to", nil, append([]string{"serve", "--role", "support", "--dev-key", s.devKey}, s.storeFlags()...)...)
	wantRun(t, 2, "", "--redis is needed", nil, "serve", "--role", "support", "--dev-key", s.devKey)
}

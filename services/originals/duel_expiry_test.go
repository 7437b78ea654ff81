package main

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestAbandonedDuelsEndAndAreRevealed: nobody calls any more, and after the time of its creation, here two seconds, the
// sweeper ends a duel: one that was played is ENDED with its rolls, one without seeds is VOID. Watchers are told, the server
// seed is shown, and the duel and its request are kept for the time of --duel-retention.
func TestAbandonedDuelsEndAndAreRevealed(t *testing.T) {
	redis := testenv.Redis(t)
	s := newSite(t, redis.URL())
	http := testenv.FreeAddr(t)
	s.serve(http, append([]string{
		"--http", http, "--grpc", testenv.FreeAddr(t), "--dev-key", s.devKey, "--log-level", "warn",
		"--duel-min-expiry", "1s", "--duel-retention", "48h",
	}, s.storeFlags()...)...)
	for _, c := range []struct {
		request string
		steps   int // after the creation
		state   originalsv1.Duel_State
	}{
		{"abandoned-at-once", 0, originalsv1.Duel_VOID},
		{"abandoned-by-one", 1, originalsv1.Duel_VOID},
		{"abandoned-in-play", 6, originalsv1.Duel_ENDED},
	} {
		m := newMatch(s, originalsv1.Duel_COMMITTED, c.request)
		var d originalsv1.Duel
		m.insist(m.server, "", &originalsv1.CreateDuelRequest{
			RequestId: c.request, White: "alice", Black: "bob", GraceSeconds: proto.Uint32(300), ExpirySeconds: proto.Uint32(2),
		}, &d)
		m.id, m.commitment = d.GetDuelId(), d.GetCommitment()
		for _, step := range m.steps()[1 : 1+c.steps] {
			step.call()
		}
		acted := time.Now()
		lines := m.watch(s.gateways[0])
		ended := false
		for lines.Scan() {
			ended = ended || lines.Text() == "event: end"
		}
		if took := time.Since(acted); !ended || took < time.Second || took > 10*time.Second {
			t.Errorf("%s: ended %v after %v", c.request, ended, took)
		}
		got := m.verify()
		if got.GetState() != c.state || got.GetEndReason() != "EXPIRED" || got.GetServerSeed() == "" || len(got.GetRolls()) != max(0, c.steps-4) {
			t.Errorf("%s: %v", c.request, got)
		}
	}
	kept := 0
	client, err := redisledger.Dial(redis.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, key := range client.Keys(t.Context(), "*").Val() {
		if !strings.Contains(key, ":d:") && !strings.Contains(key, ":dr:") {
			continue
		}
		kept++
		if left := client.PTTL(t.Context(), key).Val(); left < 47*time.Hour || left > 48*time.Hour {
			t.Errorf("%s is kept for %v", key, left)
		}
	}
	if kept != 6 {
		t.Errorf("%d keys of 3 duels", kept)
	}
}

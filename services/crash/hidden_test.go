package crash

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Round state broadcast carries the hidden result: neither does any answer, any
// refusal or any metric, of a bet that is cashed out, one that runs and one that
// waits, before the round has crashed.
func TestNoAnswerBeforeTheCrashTellsTheCrashPoint(t *testing.T) {
	h := onRedis(t)
	h.pace = 8
	for h.point(1) < 300 || h.point(1) > 600 {
		h.chain = newChain(t)
	}
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	alice, bob := h.player("alice"), h.player("bob")
	ctx := context.Background()
	said := make(map[string]string)
	say := func(what string, m proto.Message, err error) {
		t.Helper()
		text, encodeErr := protojson.Marshal(m)
		if encodeErr != nil {
			t.Fatal(encodeErr)
		}
		said[what] = fmt.Sprint(string(text), err)
	}
	for i, who := range []ledger.Player{alice, bob} {
		round, err := p.bet(who, "x", 250)
		say(fmt.Sprint("bet ", i), round, err)
	}
	h.awaitPhase(1, ledger.CrashRunning)
	cashed, err := p.cash(alice, "x")
	say("cash-out", cashed, err)
	if cashed.GetState() != originalsv1.Round_SETTLED {
		t.Fatalf("%v %v", cashed, err)
	}
	again, err := p.cash(alice, "x")
	say("cash-out again", again, err)
	queued, err := p.bet(bob, "y", 250)
	say("queued", queued, err)
	early, err := p.cash(bob, "y")
	say("too early", early, err)
	late, err := p.CancelBet(as(bob), &originalsv1.CancelBetRequest{Table: "main", BetId: "x"})
	say("cancel", late, err)
	for i, who := range []context.Context{ctx, as(alice), as(bob)} {
		table, err := p.GetTable(who, &originalsv1.GetTableRequest{Table: "main"})
		say(fmt.Sprint("table ", i), table, err)
		round, err := p.GetCrashRound(who, &originalsv1.GetCrashRoundRequest{Table: "main", Number: 1})
		say(fmt.Sprint("round ", i), round, err)
	}
	tables, err := p.ListTables(ctx, &originalsv1.ListTablesRequest{})
	say("tables", tables, err)
	rounds, err := p.ListCrashRounds(ctx, &originalsv1.ListCrashRoundsRequest{Table: "main"})
	say("rounds", rounds, err)
	registry := prometheus.NewRegistry()
	registry.MustRegister(p.o.Watch.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	said["metrics"] = fmt.Sprint(families)
	if s := h.state(); s.Round.Number != 1 || s.Round.Phase != ledger.CrashRunning {
		t.Fatalf("the round has ended before everything was asked: %+v", s.Round)
	}

	link, err := h.chain.Link(1)
	if err != nil {
		t.Fatal(err)
	}
	point := fmt.Sprintf("value:%d ", h.point(1))
	for what, text := range said {
		if strings.Contains(text, link.Reveal()) || strings.Contains(text, "crashE2") || strings.Contains(text, `"hash"`) {
			t.Errorf("%s: %s", what, text)
		}
		if what == "metrics" && strings.Contains(text, point) {
			t.Errorf("a metric has the crash point: %s", text)
		}
	}
	if len(said) != 16 {
		t.Errorf("%d answers were looked at: %v", len(said), said)
	}
	h.awaitFinal(1)
	if r, err := p.GetCrashRound(ctx, &originalsv1.GetCrashRoundRequest{Table: "main", Number: 1}); err != nil || r.GetHash() != link.Reveal() || r.GetCrashE2() != h.point(1) {
		t.Errorf("after the crash: %v %v", r, err)
	}
}

package crash

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestNoRoundBeforeTheSalt: a table does not open, and shows what it waits for.
func TestNoRoundBeforeTheSalt(t *testing.T) {
	l := newLine(t, onRedis(t), NextChain{})
	ctx := context.Background()
	if _, err := l.chains.OpenLine(ctx, "main", l.next, l.short); !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("a table without a chain: %v", err)
	}
	plan := ledger.CrashSaltPlan{Kind: ledger.CrashSaltBitcoin, Named: 940_000}
	if _, _, err := l.chains.Create(ctx, "main", NewChain{Length: 3, Plan: plan}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.chains.Create(ctx, "main-2", NewChain{Length: 50, Plan: plan, After: "main"}); err != nil {
		t.Fatal(err)
	}
	p, other := l.open(true), l.open(true)
	alice := l.player("alice")
	l.await("main-2 to be known", func() bool { return p.find("main-2") != nil })
	time.Sleep(300 * time.Millisecond)
	for _, table := range []string{"main", "main-2"} {
		m := getTable(t, p, table)
		if m.GetPhase() != originalsv1.CrashTable_STOPPED || m.GetNumber() != 0 || m.GetSalt().GetKind() != originalsv1.CrashSalt_BITCOIN_BLOCK ||
			m.GetSalt().GetNamed() != 940_000 || m.GetSalt().GetValue() != "" {
			t.Errorf("before its salt %s is %v", table, m)
		}
		if _, err := p.betAt(table, alice, "early"); reason.Of(err) != reason.BettingClosed {
			t.Errorf("a bet at %s before its salt: %v", table, err)
		}
	}
	salt := rng.Salt(strings.Repeat("0", 32) + strings.Repeat("a5", 16))
	if _, err := l.store.FixCrashSalt(ctx, "main", salt, nil); err != nil {
		t.Fatal(err)
	}
	l.await("the end of main", func() bool {
		return getTable(t, p, "main").GetPhase() == originalsv1.CrashTable_STOPPED && l.stateOf("main").Number == 3
	})
	r, err := other.GetCrashRound(ctx, &originalsv1.GetCrashRoundRequest{Table: "main", Number: 2})
	if err != nil || r.GetSalt().GetValue() != string(salt) {
		t.Errorf("a process that does not play shows %v %v", r, err)
	}
	time.Sleep(300 * time.Millisecond)
	if s := l.stateOf("main-2"); s.Number != 0 {
		t.Fatalf("main-2 was opened without its salt: %+v", s)
	}
	if _, err := l.store.FixCrashSalt(ctx, "main-2", salt, nil); err != nil {
		t.Fatal(err)
	}
	l.await("main-2", func() bool { return l.stateOf("main-2").Number > 1 })
}

// TestASaltThatABeaconGives is named with the chain, and fixed by the process
// itself when it is published.
func TestASaltThatABeaconGives(t *testing.T) {
	rule := SaltRule{Kind: ledger.CrashSaltDrand, Network: beacon.TestHash}
	l := newLine(t, onRedis(t), NextChain{Length: 1000, Low: 1, Salt: rule})
	made := time.Now()
	p := l.open(true)
	m := getTable(t, p, "main")
	network := beacon.Test(time.Now).Network()
	named := uint64(m.GetSalt().GetNamed())
	if m.GetSalt().GetKind() != originalsv1.CrashSalt_DRAND || network.TimeOf(named).Before(made.Add(time.Second)) || m.GetSalt().GetNetwork() != beacon.TestHash {
		t.Fatalf("announced with %v", m.GetSalt())
	}
	if m.GetSalt().GetValue() != "" || m.GetPhase() != originalsv1.CrashTable_STOPPED {
		t.Fatalf("before its salt the table is %v", m)
	}
	l.await("the first round", func() bool { return l.stateOf("main").Number > 0 })
	if time.Now().Before(network.TimeOf(named)) {
		t.Error("it opened before the salt could be known")
	}
	entry, err := beacon.Test(time.Now).Fetch(context.Background(), named)
	if err != nil {
		t.Fatal(err)
	}
	if got := getTable(t, p, "main").GetSalt(); got.GetValue() != string(entry.Randomness) || got.GetSignature() != hexOf(entry.Signature) {
		t.Errorf("fixed as %v, want %s", got, entry.Randomness)
	}
}

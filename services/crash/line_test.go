package crash

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// lineHouse is a house whose table main has short chains, one after the other.
type lineHouse struct {
	*house
	chains *Chains
	next   NextChain
}

func newLine(t *testing.T, h *house, next NextChain) *lineHouse {
	t.Helper()
	h.short = Timings{Betting: 120 * time.Millisecond, Crashed: 5 * time.Millisecond, Tick: 5 * time.Millisecond}
	h.pace = 2000
	r := newRelay()
	return &lineHouse{h, &Chains{Store: h.store, Keys: newKeys(t), Sources: map[string]beacon.Source{beacon.TestHash: r}, lead: time.Second}, next}
}

// open starts a process as the product does.
func (l *lineHouse) open(play bool) *process {
	l.t.Helper()
	tables, err := l.chains.OpenLine(context.Background(), "main", l.next, l.short)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.startTables(play, tables, l.chains)
}

func getTable(t testing.TB, p *process, name string) *originalsv1.CrashTable {
	t.Helper()
	m, err := p.GetTable(context.Background(), &originalsv1.GetTableRequest{Table: name})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (l *lineHouse) stateOf(table string) ledger.CrashRound {
	l.t.Helper()
	s, err := l.store.CrashState(context.Background(), table)
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Round
}

func (p *process) betAt(table string, player ledger.Player, id string) (*originalsv1.Round, error) {
	target := uint32(150)
	return p.PlaceBet(as(player), &originalsv1.CrashServicePlaceBetRequest{
		Table: table, BetId: id, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, AutoCashOutE2: &target,
	})
}

var ownSalt = SaltRule{Kind: ledger.CrashSaltSelfChosen}

func TestTheNextChainIsAnnouncedAndPlayed(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *house{
		"redis":    func(t *testing.T) *house { return onRedis(t) },
		"embedded": func(t *testing.T) *house { h, _ := onEmbedded(t); return h },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, start(t), NextChain{Length: 7, Low: 4, Salt: ownSalt})
			first := l.open(true)
			second := l.open(true) // whichever has not the table learns of the next chain, too
			alice := l.player("alice")
			for _, p := range []*process{first, second} {
				l.await("the announcement", func() bool { return getTable(t, p, "main").GetNext() != nil })
				m := getTable(t, p, "main")
				if n := m.GetNext(); n.GetTable() != "main-2" || n.GetChainLength() != 7 || len(n.GetTerminal()) != 64 || n.GetTerminal() != m.GetNextTerminal() ||
					n.GetSalt().GetKind() != originalsv1.CrashSalt_SELF_CHOSEN || n.GetAnnounceTime() == nil || m.GetNumber() < 3 || m.GetEnd() != "" && m.GetPhase() != originalsv1.CrashTable_STOPPED {
					t.Errorf("announced as %v", m)
				}
			}
			announced := getTable(t, first, "main").GetNext().GetTerminal()
			l.await("the end of main", func() bool {
				begun := l.stateOf("main-2").Number > 0
				ended := getTable(t, first, "main").GetPhase() == originalsv1.CrashTable_STOPPED
				if begun && !ended {
					t.Fatal("two chains of a line are played at once")
				}
				return ended
			})
			ended := getTable(t, second, "main")
			end, err := rng.ParseLink(ended.GetEnd())
			if err != nil {
				t.Fatalf("the end of the chain is %q", ended.GetEnd())
			}
			if terminal, err := end.Terminal(7); err != nil || terminal.String() != ended.GetTerminal() || ended.GetNumber() != 7 {
				t.Errorf("the end leads to %s, the table is %v", terminal, ended)
			}
			_, err = second.betAt("main", alice, "late")
			var refusal *reason.Error
			if reason.Of(err) != reason.BettingClosed || !errors.As(err, &refusal) || refusal.Metadata["next"] != "main-2" {
				t.Errorf("a bet at a table that has ended: %v", err)
			}

			l.await("main-2", func() bool { return l.stateOf("main-2").Number > 0 })
			m := getTable(t, first, "main-2")
			if m.GetTerminal() != announced || m.GetPrevious() != "main" || m.GetChainLength() != 7 {
				t.Errorf("main-2 is %v, announced was %s", m, announced)
			}
			l.await("a bet at main-2", func() bool { _, err := second.betAt("main-2", alice, "there"); return err == nil })
			l.await("main-3", func() bool { return l.stateOf("main-3").Phase == ledger.CrashFinal })
			rounds, err := finalRounds(context.Background(), l.store, "main", 1, 7)
			if err != nil || len(rounds) != 7 {
				t.Errorf("%d rounds of main, %v", len(rounds), err)
			}
			all, err := second.ListTables(context.Background(), &originalsv1.ListTablesRequest{})
			if err != nil || len(all.GetTables()) < 3 {
				t.Fatalf("tables %v, %v", all, err)
			}
			for i, m := range all.GetTables() {
				want := "main"
				if i > 0 {
					want = string(ledger.CrashSuccessor("main", i+1))
				}
				if m.GetTable() != want || i == 0 && (m.GetEnd() != ended.GetEnd() || m.GetNext().GetTable() != "main-2") {
					t.Errorf("table %d of all is %v", i, m)
				}
			}
			// Nobody is called for a table that has ended.
			for _, p := range []*process{first, second} {
				l.await("the end of its series", func() bool { return !slices.Contains(series(t, p, "originals_crash_owned"), "main") })
			}
			if all := append(series(t, first, "originals_crash_links_left"), series(t, second, "originals_crash_links_left")...); slices.Contains(all, "main") || len(all) == 0 {
				t.Errorf("links are left of %q", all)
			}
			first.stop()
			second.stop()
			// The next process finds all of them, and goes on.
			third := l.open(true)
			before := l.stateOf("main-3").Number
			l.await("a round of another process", func() bool { return l.stateOf("main-3").Number > before || l.stateOf("main-4").Number > 0 })
			if r, err := third.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: "main", Number: 7}); err != nil || r.GetHash() != ended.GetEnd() {
				t.Errorf("the last round of main: %v %v", r, err)
			}
			if m := getTable(t, third, "main"); m.GetNext().GetTerminal() != announced || m.GetEnd() != ended.GetEnd() {
				t.Errorf("after a new start main is %v", m)
			}
		})
	}
}

// series returns the tables that a metric has values of.
func series(t testing.TB, p *process, metric string) (tables []string) {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(p.o.Watch.Collectors()...)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == metric {
				tables = append(tables, m.GetLabel()[0].GetValue())
			}
		}
	}
	return tables
}

func TestTwoOwnersMakeTheNextChainAtOnce(t *testing.T) {
	l := newLine(t, onRedis(t), NextChain{Length: 5000, Low: 1, Salt: ownSalt})
	l.open(false)
	var mu sync.Mutex
	var all sync.WaitGroup
	terminals, makers := map[rng.Terminal]int{}, 0
	for range 8 {
		all.Go(func() {
			n, err := l.chains.newChain(l.next, "main", time.Now())
			if err != nil {
				t.Error(err)
				return
			}
			chain, made, err := l.chains.Create(context.Background(), "main-2", n)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			terminals[chain.Terminal()]++
			if made {
				makers++
			}
		})
	}
	all.Wait()
	if len(terminals) != 1 || makers != 1 {
		t.Errorf("%d chains, made by %d", len(terminals), makers)
	}
}

// faulty is a store of chains whose writes fail.
type faulty struct {
	ledger.CrashChains
	persist bool // the write is done all the same, and its answer lost
	left    int  // writes that fail
}

var errLost = reason.New(reason.StoreUnavailable, "injected fault")

func (f *faulty) fault(do func() (ledger.CrashChain, error)) (ledger.CrashChain, error) {
	if f.left == 0 {
		return do()
	}
	f.left--
	if f.persist {
		_, _ = do()
	}
	return ledger.CrashChain{}, errLost
}

func (f *faulty) CreateCrashChain(ctx context.Context, table string, c ledger.CrashChain, sealed []byte) (ledger.CrashChain, error) {
	return f.fault(func() (ledger.CrashChain, error) { return f.CrashChains.CreateCrashChain(ctx, table, c, sealed) })
}

func (f *faulty) FixCrashSalt(ctx context.Context, table string, salt rng.Salt, signature []byte) (ledger.CrashChain, error) {
	return f.fault(func() (ledger.CrashChain, error) { return f.CrashChains.FixCrashSalt(ctx, table, salt, signature) })
}

// TestFailedCallThatHadAnEffect: each write of a chain's life fails once, with
// and without effect. What was announced never changes.
func TestFailedCallThatHadAnEffect(t *testing.T) {
	for name, persist := range map[string]bool{"failed": false, "failed, but had its effect": true} {
		t.Run(name, func(t *testing.T) {
			h := onRedis(t)
			ctx := context.Background()
			store := &faulty{CrashChains: h.store, persist: persist, left: 1}
			chains := &Chains{Store: store, Keys: newKeys(t)}
			n := NewChain{Length: 100, Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltBitcoin, Named: 940_000}}
			if _, _, err := chains.Create(ctx, "main", n); reason.Of(err) != reason.StoreUnavailable {
				t.Fatalf("a write whose answer was lost: %v", err)
			}
			chain, made, err := chains.Create(ctx, "main", n)
			if err != nil || made == persist {
				t.Fatalf("repeated: made %v, %v", made, err)
			}
			if err := chain.Verify(nil); err != nil {
				t.Error(err)
			}
			salt := rng.Salt(strings.Repeat("0", 32) + strings.Repeat("a5", 16))
			store.left = 1
			if _, err := store.FixCrashSalt(ctx, "main", salt, nil); reason.Of(err) != reason.StoreUnavailable {
				t.Fatalf("a write whose answer was lost: %v", err)
			}
			kept, err := store.FixCrashSalt(ctx, "main", salt, nil)
			if err != nil || kept.Salt != salt {
				t.Errorf("repeated: %v", err)
			}
			other := rng.Salt(strings.Repeat("0", 64))
			if _, err := store.FixCrashSalt(ctx, "main", other, nil); !errors.Is(err, ledger.ErrCrashSalt) {
				t.Errorf("another salt: %v", err)
			}
			if kept, err = h.store.CrashChain(ctx, "main"); err != nil || kept.Salt != salt || kept.Terminal != chain.Terminal() {
				t.Errorf("kept %+v, %v", kept, err)
			}
		})
	}
}

// TestAReplacedStoreAtTheEndOfAChain: all that is left may have been opened in
// time that was lost. It is void, and the next chain goes on.
func TestAReplacedStoreAtTheEndOfAChain(t *testing.T) {
	h, e := onEmbedded(t)
	l := newLine(t, h, NextChain{Length: 4, Low: 4, Salt: ownSalt})
	l.short = Timings{Betting: 700 * time.Millisecond, Crashed: 5 * time.Millisecond, Tick: 5 * time.Millisecond}
	p := l.open(true)
	alice, bob := l.player("alice"), l.player("bob")
	l.await("round 3", func() bool { s := l.stateOf("main"); return s.Number == 3 && s.Phase == ledger.CrashBetting })
	if _, err := p.betAt("main", alice, "a"); err != nil {
		t.Fatal(err)
	}
	l.await("the lock of round 3", func() bool { s := l.stateOf("main"); return s.Number > 3 || s.Phase >= ledger.CrashClosing })
	queued, err := p.betAt("main", bob, "b") // waits for round 4
	if err != nil || queued.GetCrash().GetNumber() != 4 {
		t.Fatalf("a bet for the last round: %v %v", queued, err)
	}
	e.Replace()
	l.await("the end of main", func() bool { return l.stateOf("main").Number == 4 && l.stateOf("main").Phase == ledger.CrashFinal })
	if got := l.balance(bob); got != 100_000 {
		t.Errorf("balance %d after a bet on a round that was never played", got)
	}
	if bet, err := l.store.FindCrashBet(context.Background(), "main", alice, "a"); err != nil || bet.Round.State == ledger.Open {
		t.Errorf("the bet before: %+v, %v", bet, err)
	}
	rounds, err := finalRounds(context.Background(), l.store, "main", 1, 4)
	if err != nil || len(rounds) != 4 {
		t.Fatalf("%d rounds are listed, %v", len(rounds), err)
	}
	last := p.mustRound(t, "main", 4)
	if last.GetState() != originalsv1.CrashRound_VOID || last.GetVoidReason() != ledger.CrashVoidStore || last.GetHash() == "" || last.CrashE2 == nil {
		t.Errorf("the last round is %v", last)
	}
	if m := getTable(t, p, "main"); m.GetEnd() != last.GetHash() || m.GetPhase() != originalsv1.CrashTable_STOPPED {
		t.Errorf("main is %v", m)
	}
	l.await("main-2", func() bool { return l.stateOf("main-2").Number > 1 })
}

func (p *process) mustRound(t testing.TB, table string, number uint32) *originalsv1.CrashRound {
	t.Helper()
	r, err := p.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: table, Number: number})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNamesOfSuccessors(t *testing.T) {
	long := rng.Table(strings.Repeat("x", 32))
	for _, c := range []struct {
		base rng.Table
		n    int
		want rng.Table
	}{{"main", 2, "main-2"}, {"main", 13, "main-13"}, {"room-1", 2, "room-1-2"}, {long, 2, long[:30] + "-2"}, {long, 100, long[:28] + "-100"}, {"a", 2, "a-2"}} {
		got := ledger.CrashSuccessor(c.base, c.n)
		if _, err := rng.ParseTable(string(got)); err != nil || got != c.want {
			t.Errorf("%d after %s is %s, want %s", c.n, c.base, got, c.want)
		}
	}
}

// TestAForeignChainInTheLine: a table of another line keeps its chain.
func TestAForeignChainInTheLine(t *testing.T) {
	l := newLine(t, onRedis(t), NextChain{Length: 5, Low: 5, Salt: ownSalt})
	if _, _, err := l.chains.Create(context.Background(), "main-2", selfChosen(100)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.chains.OpenLine(context.Background(), "main", l.next, l.short); err == nil || !strings.Contains(err.Error(), "main-2") {
		t.Errorf("a line with a foreign chain: %v", err)
	}
}

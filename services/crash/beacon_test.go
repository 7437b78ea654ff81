package crash

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// relay is the test beacon, which can be silent or out of reach.
type relay struct {
	*beacon.Own
	fails atomic.Pointer[error]
	asked atomic.Int64
}

func newRelay() *relay { return &relay{Own: beacon.Test(time.Now)} }

func (r *relay) fail(err error) {
	if err == nil {
		r.fails.Store(nil)
		return
	}
	r.fails.Store(&err)
}

func (r *relay) Fetch(ctx context.Context, round uint64) (beacon.Entry, error) {
	r.asked.Add(1)
	if err := r.fails.Load(); err != nil {
		return beacon.Entry{}, *err
	}
	return r.Own.Fetch(ctx, round)
}

// withBeacon gives the house a chain whose rounds have a beacon each.
func (h *house) withBeacon() *relay {
	h.t.Helper()
	r := newRelay()
	chains := &Chains{Store: h.store, Keys: newKeys(h.t), Sources: map[string]beacon.Source{beacon.TestHash: r}}
	chain, err := chains.OpenOrCreate(context.Background(), "main", NewChain{
		Length: 10_000, Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltBeacon, Network: beacon.TestHash},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.chain = chain
	return r
}

func (p *process) round(t testing.TB, number uint32) *originalsv1.CrashRound {
	t.Helper()
	r, err := p.GetCrashRound(context.Background(), &originalsv1.GetCrashRoundRequest{Table: "main", Number: number})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (p *process) table1(t testing.TB) *originalsv1.CrashTable {
	t.Helper()
	m, err := p.GetTable(context.Background(), &originalsv1.GetTableRequest{Table: "main"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// crashByBeacon is the crash point of rng/SPEC.md, by the standard library alone.
func crashByBeacon(t testing.TB, hash string, number uint32, signature string) uint32 {
	t.Helper()
	link, err := hex.DecodeString(hash)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(signature)
	if err != nil || len(raw) != 48 {
		t.Fatalf("signature %q: %v", signature, err)
	}
	salt := sha256.Sum256(raw)
	mac := hmac.New(sha256.New, link)
	fmt.Fprintf(mac, "main:%d:%x", number, salt)
	const all = uint64(1) << 52
	top := binary.BigEndian.Uint64(mac.Sum(nil)) >> 12
	return uint32(min(max((100*all-top)/(all-top), 100), 1_000_000))
}

// checkBeacon checks a final round by what the API shows of it.
func checkBeacon(t testing.TB, r *originalsv1.CrashRound) {
	t.Helper()
	b := r.GetBeacon()
	network, ok := beacon.Known(b.GetNetwork())
	if !ok || r.GetSalt() != nil {
		t.Fatalf("round %d: the network of %v is not known, or there is a salt beside: %v", r.GetNumber(), b, r.GetSalt())
	}
	raw, _ := hex.DecodeString(b.GetSignature())
	randomness, err := network.Verify(uint64(b.GetRound()), raw)
	if err != nil || string(randomness) != b.GetRandomness() {
		t.Errorf("round %d: the beacon %v: %v", r.GetNumber(), b, err)
	}
	if want := crashByBeacon(t, r.GetHash(), r.GetNumber(), b.GetSignature()); r.GetCrashE2() != want {
		t.Errorf("round %d crashed at %d, want %d", r.GetNumber(), r.GetCrashE2(), want)
	}
}

func TestARoundWithABeacon(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *house{
		"redis":    func(t *testing.T) *house { return onRedis(t) },
		"embedded": func(t *testing.T) *house { h, _ := onEmbedded(t); return h },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			h.withBeacon()
			p := h.start(true)
			var table *originalsv1.CrashTable
			h.await("betting that ends long before the beacon", func() bool { // a machine under load may lock late
				table = p.table1(t)
				named := beacon.Test(time.Now).Network().TimeOf(uint64(table.GetBeacon().GetRound()))
				return table.GetPhase() == originalsv1.CrashTable_BETTING && named.Sub(table.GetLockTime().AsTime()) > 1300*time.Millisecond
			})
			number := table.GetNumber()
			b := table.GetBeacon()
			network := beacon.Test(time.Now).Network()
			if want := network.NamedFor(table.GetLockTime().AsTime()); table.GetSalt() != nil || uint64(b.GetRound()) != want || b.GetNetwork() != beacon.TestHash || b.GetSignature() != "" || b.GetRandomness() != "" {
				t.Fatalf("while bets are taken the table is %v, want round %d", table, want)
			}
			alice := h.player("alice")
			if _, err := p.bet(alice, "x", 101); err != nil {
				t.Fatal(err)
			}
			h.awaitPhase(number, ledger.CrashClosing)
			if time.Now().Before(network.TimeOf(uint64(b.GetRound())).Add(-50 * time.Millisecond)) {
				if r := p.round(t, number); r.GetBeacon().GetSignature() != "" || r.GetHash() != "" || r.CrashE2 != nil {
					t.Errorf("before its beacon the round is %v", r)
				}
			}
			h.awaitPhase(number, ledger.CrashRunning)
			if time.Now().Before(network.TimeOf(uint64(b.GetRound()))) {
				t.Error("it runs before its beacon was published")
			}
			h.awaitFinal(number)
			r := p.round(t, number)
			if r.GetBeacon().GetRound() != b.GetRound() || r.GetState() != originalsv1.CrashRound_SETTLED {
				t.Errorf("the round is %v, and %v was named", r, b)
			}
			checkBeacon(t, r)
			want := int64(0)
			if r.GetCrashE2() >= 101 {
				want = 101
			}
			if got := h.balance(alice); int64(got) != 100_000-100+want {
				t.Errorf("balance %d, crashed at %d", got, r.GetCrashE2())
			}
			// The next one, and the history once another round has begun.
			h.awaitFinal(number + 1)
			checkBeacon(t, p.round(t, number+1))
			checkBeacon(t, p.round(t, number))
		})
	}
}

// TestABeaconThatIsNotPublished: after the lock a round is void for this alone,
// and only when the beacon says so.
func TestABeaconThatIsNotPublished(t *testing.T) {
	h := onRedis(t)
	relay := h.withBeacon()
	h.patience = 500 * time.Millisecond
	relay.fail(errors.New("no way to the relay"))
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	alice := h.player("alice")
	if _, err := p.bet(alice, "x", 101); err != nil {
		t.Fatal(err)
	}
	h.awaitPhase(1, ledger.CrashClosing)
	time.Sleep(4 * time.Second) // far longer than the patience
	if s := h.state(); s.Round.Number != 1 || s.Round.Phase != ledger.CrashClosing {
		t.Fatalf("without a way to the beacon the round is %+v", s.Round)
	}
	relay.fail(beacon.ErrUnpublished)
	h.awaitFinal(1)
	r := p.round(t, 1)
	if r.GetState() != originalsv1.CrashRound_VOID || r.GetVoidReason() != ledger.CrashVoidBeacon || r.CrashE2 != nil || r.GetHash() == "" || r.GetBeacon().GetRound() == 0 || r.GetBeacon().GetSignature() != "" {
		t.Errorf("a round whose beacon was not published is %v", r)
	}
	if got := h.balance(alice); got != 100_000 {
		t.Errorf("balance %d after a void round", got)
	}
	relay.fail(nil)
	h.await("a round that is played", func() bool {
		s := h.state()
		return s.Round.Phase == ledger.CrashFinal && s.Round.Void == ""
	})
	checkBeacon(t, p.round(t, h.state().Round.Number))
}

// TestALockAfterTheBeacon: the owner dies while bets are taken, and the next
// comes when the beacon is known. Whoever knows the chain could bet on it.
func TestALockAfterTheBeacon(t *testing.T) {
	h := onRedis(t)
	relay := h.withBeacon()
	first := h.start(true)
	h.awaitPhase(1, ledger.CrashBetting)
	alice := h.player("alice")
	if _, err := first.bet(alice, "x", 101); err != nil {
		t.Fatal(err)
	}
	first.kill()
	network := relay.Network()
	if s := h.state(); s.Round.Phase != ledger.CrashBetting || s.Round.Number != 1 {
		t.Fatalf("killed too late: %+v", s.Round)
	} else {
		time.Sleep(time.Until(network.TimeOf(s.Round.Beacon).Add(100 * time.Millisecond)))
	}
	second := h.start(true)
	h.awaitFinal(1)
	r := second.round(t, 1)
	if r.GetState() != originalsv1.CrashRound_VOID || r.GetVoidReason() != ledger.CrashVoidOwner {
		t.Fatalf("a round that was locked after its beacon is %v", r)
	}
	checkBeacon(t, r) // with the crash point that it would have had
	if got := h.balance(alice); got != 100_000 {
		t.Errorf("balance %d after a void round", got)
	}
}

// TestTheOwnerDiesWhileABeaconIsAwaited: the next goes on with the same one.
func TestTheOwnerDiesWhileABeaconIsAwaited(t *testing.T) {
	for name, known := range map[string]bool{"before it is known": false, "after it was kept": true} {
		t.Run(name, func(t *testing.T) {
			h := onRedis(t)
			relay := h.withBeacon()
			relay.fail(errors.New("no way to the relay"))
			first := h.start(true)
			h.awaitPhase(1, ledger.CrashBetting)
			alice := h.player("alice")
			if _, err := first.bet(alice, "x", 101); err != nil {
				t.Fatal(err)
			}
			h.awaitPhase(1, ledger.CrashClosing)
			named := h.state().Round.Beacon
			if known {
				relay.fail(nil)
				h.await("the beacon", func() bool { return len(h.state().Round.Signature) > 0 })
			}
			first.kill()
			relay.fail(nil)
			second := h.start(true)
			h.awaitFinal(1)
			r := second.round(t, 1)
			if uint64(r.GetBeacon().GetRound()) != named || r.GetState() != originalsv1.CrashRound_SETTLED {
				t.Errorf("the round is %v, and %d was named", r, named)
			}
			checkBeacon(t, r)
		})
	}
}

// TestAClockIsSetWhileABeaconIsAwaited: the beacon alone says whether it is there.
func TestAClockIsSetWhileABeaconIsAwaited(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			h, e := onEmbedded(t)
			relay := h.withBeacon()
			relay.fail(beacon.ErrUnpublished)
			first := h.start(true)
			h.awaitPhase(1, ledger.CrashBetting)
			alice := h.player("alice")
			if _, err := first.bet(alice, "x", 101); err != nil {
				t.Fatal(err)
			}
			h.awaitPhase(1, ledger.CrashClosing)
			first.kill()
			setClock(e, step)
			second := h.start(true)
			h.await("another owner", func() bool { return second.tables["main"].owner.Load() != nil })
			time.Sleep(3 * time.Second)
			if s := h.state(); s.Round.Phase != ledger.CrashClosing {
				t.Fatalf("with another clock the round is %+v", s.Round)
			}
			relay.fail(nil)
			h.awaitFinal(1)
			checkBeacon(t, second.round(t, 1))
		})
	}
}

func setClock(e *embedded.Embedded, step time.Duration) { e.SetTime(time.Now().Add(step)) }

// TestAForgedBeacon: a signature in the store that is not the network's draws no
// round.
func TestAForgedBeacon(t *testing.T) {
	h := onRedis(t)
	h.withBeacon()
	p := h.start(false)
	entry, err := beacon.Test(time.Now).Fetch(context.Background(), 77)
	if err != nil {
		t.Fatal(err)
	}
	good := ledger.CrashRound{Number: 1, Beacon: 77, Signature: entry.Signature}
	if salt, err := p.tables["main"].saltOf(good); err != nil || salt != entry.Randomness {
		t.Fatalf("salt %s, %v", salt, err)
	}
	other := good
	other.Beacon = 78
	if _, err := p.tables["main"].saltOf(other); !errors.Is(err, beacon.ErrSignature) {
		t.Errorf("a signature of another round: %v", err)
	}
	if _, err := p.tables["main"].saltOf(ledger.CrashRound{Number: 1, Beacon: 77}); !errors.Is(err, errSalt) {
		t.Errorf("no signature: %v", err)
	}
}

package crash

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// ownerVariable makes the test's program an owner process: the store's address
// and the file of the seal key.
const ownerVariable = "CRASH_TEST_OWNER"

func TestMain(m *testing.M) {
	if args := os.Getenv(ownerVariable); args != "" {
		if err := ownTable(strings.Fields(args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// realVariable gives processes that are killed the timings of real tables.
const realVariable = "CRASH_TEST_REAL"

// killed are the settings of processes that are killed: short rounds, unless
// the timings are to be real.
func killed(o Options) Options {
	o.House, o.Growth, o.Log = config.Default(), growth, zap.NewNop()
	if os.Getenv(realVariable) != "" {
		o.Tables[0].Timings = DefaultTimings
		return o
	}
	o.pace, o.stale = 80, 400*time.Millisecond
	return o
}

// ownTable plays the table until the process is killed.
func ownTable(args []string) error {
	client, err := redisledger.Dial(args[0])
	if err != nil {
		return err
	}
	keys, err := seal.ReadFile(args[1])
	if err != nil {
		return err
	}
	store := redisledger.New(client, redisledger.Options{})
	chain, err := openChain(context.Background(), store, keys, 5000)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := New(killed(Options{
		Store: store, Address: l.Addr().String(),
		Tables: []Table{{Name: "main", Chain: chain, Timings: Timings{Betting: 150 * time.Millisecond, Crashed: 20 * time.Millisecond, Tick: 10 * time.Millisecond}}},
	}))
	g := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		p, err := ledger.ParsePlayer(metadata.ValueFromIncomingContext(ctx, "authorization")[0])
		if err != nil {
			return nil, err
		}
		return next(auth.NewContext(ctx, auth.Identity{Subject: p.ID, Operator: p.Operator, Role: auth.Player}), req)
	}))
	Bind(g, s)
	go func() { _ = g.Serve(l) }()
	fmt.Println(l.Addr())
	s.Run(context.Background())
	return nil
}

// owners starts owner processes, and kills them.
type owners struct {
	*house
	keyFile string
	cmds    map[string]*exec.Cmd // by address
}

func (o *owners) launch() {
	o.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"="+o.url+" "+o.keyFile)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		o.t.Fatal(err)
	}
	o.cmds[strings.TrimSpace(line)] = cmd
}

// owner returns the address of the process that has the table.
func (o *owners) owner() string {
	o.t.Helper()
	lease, err := o.store.CrashLease(context.Background(), "main")
	if err != nil {
		o.t.Fatal(err)
	}
	return lease.Address
}

// killOwner kills the owner as soon as the table is in a phase, and starts
// another process in its place.
func (o *owners) killOwner(phase ledger.CrashPhase) {
	o.t.Helper()
	o.await("a phase", func() bool { return o.state().Round.Phase == phase || phase == ledger.CrashClosing })
	address := o.owner()
	cmd := o.cmds[address]
	delete(o.cmds, address)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	o.launch()
	o.await("another owner", func() bool { return o.owner() != address })
}

// gambler bets on every round that he can, and remembers what he was told.
type gambler struct {
	player  ledger.Player
	random  *rand.Rand
	unknown map[string]bool  // bets whose cash-out may have been decided
	cashed  map[string]int64 // bet -> acknowledged payout
	bets    []string
}

func (g *gambler) play(p *process, t *testing.T, stop *atomic.Bool) {
	for n := 0; !stop.Load(); n++ {
		id := fmt.Sprint("bet-", n)
		target := uint32(101 + g.random.IntN(300))
		round, err := p.bet(g.player, id, target)
		for ; reason.Of(err) == reason.StoreUnavailable; round, err = p.bet(g.player, id, target) {
			time.Sleep(5 * time.Millisecond)
		}
		if reason.Of(err) == reason.BetAlreadyPlaced || reason.Of(err) == reason.BettingClosed {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
			return
		}
		g.bets = append(g.bets, id)
		if g.random.IntN(2) == 0 {
			time.Sleep(time.Duration(100+g.random.IntN(500)) * time.Millisecond)
			continue
		}
		g.cashOut(p, t, round.GetBetId(), stop)
	}
}

// cashOut insists until the answer is definite.
func (g *gambler) cashOut(p *process, t *testing.T, id string, stop *atomic.Bool) {
	for !stop.Load() {
		ctx := metadata.NewIncomingContext(as(g.player), metadata.Pairs("authorization", g.player.String()))
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		round, err := p.CashOut(ctx, &originalsv1.CrashServiceCashOutRequest{Table: "main", BetId: id})
		cancel()
		switch {
		case err == nil && round.GetState() == originalsv1.Round_SETTLED:
			g.cashed[id] = round.GetPayout().GetAmount()
			return
		case err == nil:
			t.Errorf("a cash-out was answered with %v", round)
			return
		case reason.Of(err) != reason.RoundNotStarted:
			g.unknown[id] = true
		}
		time.Sleep(time.Duration(5+g.random.IntN(20)) * time.Millisecond)
	}
}

// check compares every bet with what its gambler was told and with the rules.
func (g *gambler) check(h *house) {
	h.t.Helper()
	balance := money.Units(100_000)
	for _, id := range g.bets {
		got, err := h.store.FindCrashBet(context.Background(), "main", g.player, id)
		if err != nil {
			h.t.Fatal(err)
		}
		r := got.Round
		point := h.point(r.Bet.Crash.Number)
		balance += r.Payout - r.Stake
		acknowledged, told := g.cashed[id]
		switch {
		case r.State != ledger.Settled:
			h.t.Errorf("bet %s of round %d is in state %d", id, r.Bet.Crash.Number, r.State)
		case told && int64(r.Payout) != acknowledged:
			h.t.Errorf("acknowledged %d, paid %d", acknowledged, r.Payout)
		case r.Bet.Crash.CashOutE2 > point || r.Payout != money.Units(r.Bet.Crash.CashOutE2):
			h.t.Errorf("paid %d at %d, crashed at %d", r.Payout, r.Bet.Crash.CashOutE2, point)
		case !told && !g.unknown[id] && r.Bet.Crash.Wins(point) != (r.Payout > 0):
			h.t.Errorf("target %d, crashed at %d, paid %d", r.Bet.Crash.TargetE2, point, r.Payout)
		}
	}
	if got := h.balance(g.player); got != balance {
		h.t.Errorf("%s has %d, want %d", g.player, got, balance)
	}
}

// TestKillOwners kills the owner in every phase by turns.
func TestKillOwners(t *testing.T) {
	if os.Getenv("ORIGINALS_TEST_SOAK") == "" {
		killOwners(t, 60)
		return
	}
	killOwners(t, 200)
	t.Run("real timings", func(t *testing.T) {
		t.Setenv(realVariable, "1")
		killOwners(t, 12)
	})
}

func killOwners(t *testing.T, kills int) {
	tr := newTrial(t, 500)
	phases := []ledger.CrashPhase{ledger.CrashBetting, ledger.CrashClosing, ledger.CrashRunning, ledger.CrashCrashed, ledger.CrashFinal, ledger.CrashRunning}
	for i := range kills {
		tr.killOwner(phases[i%len(phases)])
	}
	tr.end()
	t.Logf("%d kills", kills)
}

// trial is a table whose owners are two processes, while a crowd bets through a
// third.
type trial struct {
	*owners
	front   *process
	watcher *viewer
	all     []*gambler
	stop    atomic.Bool
	wg      sync.WaitGroup
}

func newTrial(t *testing.T, gamblers int) *trial {
	t.Helper()
	h := newHouse(t, testenv.Redis(t, testenv.Always).URL())
	tr := &trial{owners: &owners{house: h, keyFile: t.TempDir() + "/seal.key", cmds: make(map[string]*exec.Cmd)}}
	if err := os.WriteFile(tr.keyFile, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := seal.ReadFile(tr.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if h.chain, err = openChain(t.Context(), h.store, keys, 5000); err != nil {
		t.Fatal(err)
	}
	tr.front = &process{Service: New(killed(Options{
		Store: h.store, Tables: []Table{{Name: "main", Chain: h.chain, Timings: quick}},
		Dial: func(address string) (grpc.ClientConnInterface, error) {
			return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		},
	}))}
	tr.watcher = tr.front.view(t, 1<<20, &originalsv1.WatchRequest{History: true})
	tr.launch()
	tr.launch()
	h.awaitPhase(1, ledger.CrashBetting)
	for i := range gamblers {
		g := &gambler{player: h.player(fmt.Sprint("gambler-", i)), random: rand.New(rand.NewPCG(1, uint64(i))),
			unknown: make(map[string]bool), cashed: make(map[string]int64)}
		tr.all = append(tr.all, g)
		tr.wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			g.play(tr.front, t, &tr.stop)
		})
	}
	return tr
}

// end ends the betting and checks every bet, every round and every event. It
// returns the last round.
func (tr *trial) end() (last uint32) {
	tr.t.Helper()
	tr.stop.Store(true)
	tr.wg.Wait()
	last = tr.state().Round.Number + 1
	tr.awaitFinal(last)
	bets, cashed := 0, 0
	for _, g := range tr.all {
		g.check(tr.house)
		bets += len(g.bets)
		cashed += len(g.cashed)
	}
	tr.checkHistory(last)
	tr.watcher.checkPhases(last)
	if voids, err := tr.store.CrashVoids(context.Background(), "main", 1, last); err != nil || len(voids) > 0 {
		tr.t.Errorf("rounds were skipped: %v %v", voids, err)
	}
	tr.t.Logf("%d rounds, %d bets, %d acknowledged cash-outs", last, bets, cashed)
	if bets < len(tr.all) || cashed == 0 {
		tr.t.Errorf("%d bets and %d cash-outs say little", bets, cashed)
	}
	return last
}

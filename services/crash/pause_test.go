package crash

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// signal sends a signal to the process at an address.
func (o *owners) signal(address string, s syscall.Signal) {
	o.t.Helper()
	if err := o.cmds[address].Process.Signal(s); err != nil {
		o.t.Fatal(err)
	}
}

// stopProcess stops a process, and waits until none of its threads runs.
func (o *owners) stopProcess(address string) {
	o.t.Helper()
	o.signal(address, syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(o.cmds[address].Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		o.t.Fatalf("the process was not stopped: %v %v", status, err)
	}
}

// pause is what is done to the owner of a table: it is stopped in a phase of a
// round, and wakes up.
type pause struct {
	in ledger.CrashPhase
	// until is the phase of the round after in which it wakes up; CrashNone for
	// before another can have taken the table.
	until ledger.CrashPhase
	more  time.Duration // after that
}

// sleeper is a player of the round whose owner is stopped. He cashes out at the
// stopped process itself: the call waits in its socket, and is read when it
// wakes up.
type sleeper struct {
	player ledger.Player
	answer *originalsv1.Round // nil when there was none
}

// bet takes part in the next round, by way of the process that is never stopped.
func (s *sleeper) bet(tr *trial) (number uint32) {
	tr.t.Helper()
	for {
		round, err := tr.front.bet(s.player, "bet", 0)
		if err == nil {
			return uint32(round.GetCrash().GetNumber())
		}
		if reason.Of(err) != reason.StoreUnavailable && reason.Of(err) != reason.BettingClosed {
			tr.t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// cashOut calls one process, and no other.
func (s *sleeper) cashOut(to grpc.ClientConnInterface) {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", s.player.String(), hopKey, "1")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	round, err := originalsv1.NewCrashServiceClient(to).CashOut(ctx, &originalsv1.CrashServiceCashOutRequest{Table: "main", BetId: "bet"})
	if err == nil {
		s.answer = round
	}
}

// connect connects to a process, so that a call waits for nothing but an answer.
func (o *owners) connect(address string) *grpc.ClientConn {
	o.t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { conn.Close() })
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", ledger.Player{Operator: "house", ID: "nobody"}.String())
	if _, err := originalsv1.NewCrashServiceClient(conn).ListTables(ctx, &originalsv1.ListTablesRequest{}); err != nil {
		o.t.Fatal(err)
	}
	return conn
}

// pauseOwner stops the owner with SIGSTOP and wakes it with SIGCONT.
func (tr *trial) pauseOwner(p pause, name string) *sleeper {
	tr.t.Helper()
	s := &sleeper{player: tr.player(name)}
	conns := make(map[string]*grpc.ClientConn)
	for address := range tr.cmds {
		conns[address] = tr.connect(address)
	}
	number := s.bet(tr)
	tr.awaitPhase(number, p.in)
	address := tr.owner()
	tr.stopProcess(address)
	called := make(chan struct{})
	go func() { defer close(called); s.cashOut(conns[address]) }()
	if p.until != ledger.CrashNone {
		tr.await("another owner", func() bool { return tr.owner() != address })
		tr.awaitPhase(number+1, p.until)
	}
	time.Sleep(p.more)
	tr.signal(address, syscall.SIGCONT)
	<-called
	return s
}

// TestAnOwnerIsStoppedAndWakes stops owners for real: over the lock, over the
// crash, and until another has played on. Whatever they do when they wake up,
// there is one round at a time, nobody bets after its lock or is paid above its
// crash point, and the money adds up.
func TestAnOwnerIsStoppedAndWakes(t *testing.T) {
	tr := newTrial(t, 100)
	pauses := []pause{
		{in: ledger.CrashBetting, more: 250 * time.Millisecond}, // over the lock, and goes on itself
		{in: ledger.CrashRunning, more: 250 * time.Millisecond}, // over most crashes
		{in: ledger.CrashBetting, until: ledger.CrashBetting},
		{in: ledger.CrashRunning, until: ledger.CrashBetting},
		{in: ledger.CrashClosing, until: ledger.CrashClosing},
		{in: ledger.CrashRunning, until: ledger.CrashRunning, more: 20 * time.Millisecond},
		{in: ledger.CrashBetting, until: ledger.CrashRunning, more: 20 * time.Millisecond},
		{in: ledger.CrashCrashed, until: ledger.CrashCrashed},
		{in: ledger.CrashRunning, until: ledger.CrashClosing},
	}
	var sleepers []*sleeper
	for i := range 2 * len(pauses) {
		sleepers = append(sleepers, tr.pauseOwner(pauses[i%len(pauses)], fmt.Sprint("sleeper-", i)))
	}
	last := tr.end()
	answers := 0
	for _, s := range sleepers {
		tr.checkSleeper(s)
		if s.answer != nil {
			answers++
		}
	}
	tr.checkBets(last, sleepers)
	t.Logf("%d pauses, %d answers of owners who woke up", len(sleepers), answers)
}

// checkSleeper compares what a sleeper was told with what he got.
func (tr *trial) checkSleeper(s *sleeper) {
	tr.t.Helper()
	got := tr.found(s.player, "bet")
	point := tr.point(got.Bet.Crash.Number)
	if got.State != ledger.Settled || got.Bet.Crash.CashOutE2 > point || got.Payout != money.Units(got.Bet.Crash.CashOutE2) {
		tr.t.Errorf("%s: crashed at %d: %+v", s.player, point, got)
	}
	if s.answer != nil && (s.answer.GetState() != originalsv1.Round_SETTLED || s.answer.GetPayout().GetAmount() != int64(got.Payout)) {
		tr.t.Errorf("%s was told %v, and has %+v", s.player, s.answer, got)
	}
	if balance := tr.balance(s.player); balance != 100_000-100+got.Payout {
		tr.t.Errorf("%s has %d after %+v", s.player, balance, got)
	}
}

func (tr *trial) found(p ledger.Player, id string) ledger.Round {
	tr.t.Helper()
	taken, err := tr.store.FindCrashBet(context.Background(), "main", p, id)
	if err != nil {
		tr.t.Fatal(err)
	}
	return taken.Round
}

// checkBets sees to it that every round has the bets that were taken for it, all
// of them before the lock.
func (tr *trial) checkBets(last uint32, sleepers []*sleeper) {
	tr.t.Helper()
	rounds, err := tr.store.CrashRounds(context.Background(), "main", 1, last)
	if err != nil {
		tr.t.Fatal(err)
	}
	bets := make(map[uint32]uint32)
	check := func(b ledger.Round) {
		number := b.Bet.Crash.Number
		bets[number]++
		if r := rounds[number-1]; b.CreateTime.UnixMicro() > r.LockUs {
			tr.t.Errorf("a bet of %v in round %d, which was locked %v", b.CreateTime, number, time.UnixMicro(r.LockUs))
		}
	}
	for _, g := range tr.all {
		for _, id := range g.bets {
			check(tr.found(g.player, id))
		}
	}
	for _, s := range sleepers {
		check(tr.found(s.player, "bet"))
	}
	for _, r := range rounds {
		if r.BetCount != bets[r.Number] {
			tr.t.Errorf("round %d has %d bets, of %d that were taken", r.Number, r.BetCount, bets[r.Number])
		}
	}
}

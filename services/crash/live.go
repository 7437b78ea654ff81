package crash

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
)

// live is a running round in the memory of its owner. Cash-outs are decided
// here, one after the other: the time of each is read under the lock, so that
// they are decided in the order in which they arrive.
type live struct {
	growth  *crash.Growth
	number  uint32
	pointE2 uint32       // secret
	now     func() int64 // microseconds since the start; never goes back
	settle  func(*liveBet)
	crashed atomic.Bool // the store has it, so that the crash point is public

	mu    sync.Mutex
	over  bool
	bets  map[ledger.Player]*liveBet
	autos []*liveBet // by target, those before next are decided
	next  int
	paid  []*liveBet // won since the last look
}

// liveBet is a bet of a running round. taken and err stand once done is closed.
type liveBet struct {
	ledger.CrashBet
	decided   bool
	cashOutE2 uint32

	done  chan struct{}
	taken ledger.CrashTaken
	err   error
}

func newLive(growth *crash.Growth, number, pointE2 uint32, now func() int64, settle func(*liveBet), bets []ledger.CrashBet) *live {
	l := &live{growth: growth, number: number, pointE2: pointE2, now: now, settle: settle, bets: make(map[ledger.Player]*liveBet, len(bets))}
	for _, b := range bets {
		bet := &liveBet{CrashBet: b, done: make(chan struct{})}
		l.bets[b.Player] = bet
		l.autos = append(l.autos, bet)
	}
	slices.SortFunc(l.autos, func(a, b *liveBet) int {
		return cmp.Or(cmp.Compare(a.Bet.TargetE2, b.Bet.TargetE2), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return l
}

// since returns a clock that counts microseconds from a time on, beginning at
// some.
func since(start time.Time, elapsedUs, pace int64) func() int64 {
	return func() int64 { return elapsedUs + pace*max(0, time.Since(start).Microseconds()) }
}

// endUs is when the round ends.
func (l *live) endUs() int64 { return l.growth.EndUs(l.pointE2) }

// cashOut decides a cash-out that arrives now. It returns nil when the player
// has no such bet in the round. The bet's result is known when it is done: a
// bet that comes too late is settled as lost at the end of the round.
func (l *live) cashOut(p ledger.Player, betID string) *liveBet {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bets[p]
	if b == nil || b.BetID != betID {
		return nil
	}
	if b.decided || l.over {
		return b
	}
	if paid, won := l.growth.CashOut(b.Bet.Bet, l.now(), l.pointE2); won {
		l.win(b, paid.TargetE2)
	}
	return b
}

// win decides a bet. The lock is held.
func (l *live) win(b *liveBet, cashOutE2 uint32) {
	b.decided, b.cashOutE2 = true, cashOutE2
	l.paid = append(l.paid, b)
	l.settle(b)
}

// advance cashes out the bets whose targets are reached by now, and reports how
// far the round is and whether it has ended.
func (l *live) advance() (elapsedUs int64, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	elapsedUs = l.now()
	for ; l.next < len(l.autos); l.next++ {
		b := l.autos[l.next]
		if !b.Bet.Wins(l.pointE2) || l.growth.ReachUs(b.Bet.TargetE2) > elapsedUs {
			break
		}
		if !b.decided {
			l.win(b, b.Bet.TargetE2)
		}
	}
	return elapsedUs, elapsedUs >= l.endUs()
}

// finish ends the round: nothing is decided any more. It returns the bets that
// are lost, or with their targets reached won, and not settled yet.
func (l *live) finish() []*liveBet {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	var rest []*liveBet
	for _, b := range l.autos {
		if b.decided {
			continue
		}
		b.decided = true
		if b.Bet.Wins(l.pointE2) {
			b.cashOutE2 = b.Bet.TargetE2
			l.paid = append(l.paid, b)
		}
		rest = append(rest, b)
	}
	return rest
}

// takePaid returns the bets that were won since the last call.
func (l *live) takePaid() []*liveBet {
	l.mu.Lock()
	defer l.mu.Unlock()
	paid := l.paid
	l.paid = nil
	return paid
}

// stop keeps the round from deciding any more.
func (l *live) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

// abandon tells everybody who waits that his result is not known. The settler
// must have ended.
func (l *live) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, b := range l.bets {
		b.decided = true
		select {
		case <-b.done:
		default:
			b.err = errNoOwner
			close(b.done)
		}
	}
}

// publicPoint returns the crash point once the round has crashed; 0 before.
func (l *live) publicPoint() uint32 {
	if l.crashed.Load() {
		return l.pointE2
	}
	return 0
}

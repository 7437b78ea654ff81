package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// croupier owns the table by hand: a test says when a round is locked and closed.
type croupier struct {
	*house
	owner ledger.CrashOwner
}

func newCroupier(h *house) *croupier {
	h.t.Helper()
	owner, err := h.store.TakeCrashTable(context.Background(), "main", ledger.CrashLease{}, "croupier", "")
	if err != nil {
		h.t.Fatal(err)
	}
	return &croupier{h, owner}
}

func (c *croupier) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *croupier) open(number uint32) {
	c.t.Helper()
	c.must(second(c.store.OpenCrashRound(context.Background(), c.owner, ledger.CrashOpening{Number: number, BettingUs: 1_000_000, Mask: "m"})))
	for p := range ledger.Partitions {
		c.must(c.store.OpenCrashPartition(context.Background(), c.owner, p, number))
	}
}

// lock closes and locks a round as an owner does, and returns its bets by their ids.
func (c *croupier) lock(number uint32) map[string]ledger.CrashBet {
	c.t.Helper()
	bets := make(map[string]ledger.CrashBet)
	for p := range ledger.Partitions {
		some, err := c.store.CloseCrashPartition(context.Background(), c.owner, p, number)
		c.must(err)
		for _, b := range some.Bets {
			bets[b.BetID] = b
		}
	}
	c.must(second(c.store.LockCrashRound(context.Background(), c.owner, number)))
	return bets
}

// lose ends a round that everybody loses.
func (c *croupier) lose(number uint32, bets map[string]ledger.CrashBet) {
	c.t.Helper()
	ctx := context.Background()
	c.must(second(c.store.StartCrashRound(ctx, c.owner, number)))
	c.must(second(c.store.EndCrashRound(ctx, c.owner, number, 100)))
	for _, b := range bets {
		c.must(second(c.store.SettleCrashBets(ctx, c.owner, b.Player.Partition(), []ledger.CrashSettlement{{Bet: b}})))
	}
	c.must(second(c.store.FinishCrashRound(ctx, c.owner, number, uint32(len(bets)), "")))
}

// lateBet is a bet that is placed, and perhaps cancelled, about when its round is
// locked.
type lateBet struct {
	player    ledger.Player
	id        string
	number    uint32 // as it was told
	cancelled bool   // as it was told
	refused   bool   // to cancel it
}

func (b *lateBet) play(t *testing.T, nodes []*process, random *rand.Rand) {
	time.Sleep(time.Duration(random.IntN(6000)) * time.Microsecond)
	round, err := nodes[0].bet(b.player, b.id, 200)
	if err != nil {
		t.Errorf("%s: %v", b.id, err)
		return
	}
	b.number = round.GetCrash().GetNumber()
	if random.IntN(2) > 0 {
		return
	}
	time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
	_, err = nodes[1].CancelBet(as(b.player), &originalsv1.CancelBetRequest{Table: "main", BetId: b.id})
	b.cancelled, b.refused = err == nil, reason.Of(err) == reason.BettingClosed
	if !b.cancelled && !b.refused {
		t.Errorf("%s is cancelled: %v", b.id, err)
	}
}

// Bets accepted after the round has begun: each of those that come around the close
// is in this round or in the next, as it was told, is cancelled or plays, and every
// node says the same of it.
func TestBetsRaceWithTheClose(t *testing.T) {
	h := onRedis(t)
	c := newCroupier(h)
	nodes := []*process{h.start(false), h.start(false)}
	queued := make(map[string]bool) // bets of the next round
	outcomes := make(map[string]int)
	for number := uint32(1); number <= 8; number++ {
		c.open(number)
		bets := make([]*lateBet, 80)
		var all sync.WaitGroup
		for i := range bets {
			b := &lateBet{player: h.player(fmt.Sprintf("late-%d-%d", number, i)), id: fmt.Sprintf("bet-%d-%d", number, i)}
			bets[i] = b
			all.Go(func() {
				b.play(t, []*process{nodes[i%2], nodes[1-i%2]}, rand.New(rand.NewPCG(uint64(number), uint64(i))))
			})
		}
		time.Sleep(3 * time.Millisecond)
		in := c.lock(number)
		all.Wait()
		for id := range queued {
			if _, ok := in[id]; !ok {
				t.Errorf("%s was for round %d, and is not in it", id, number)
			}
		}
		clear(queued)
		for _, b := range bets {
			_, isIn := in[b.id]
			switch {
			case b.number != number && b.number != number+1:
				t.Fatalf("%s was told round %d in round %d", b.id, b.number, number)
			case isIn != (b.number == number && !b.cancelled):
				t.Errorf("round %d: %+v, and is in it: %v", number, b, isIn)
			case b.refused && b.number != number:
				t.Errorf("round %d: %+v could not be cancelled", number, b)
			}
			if b.number > number && !b.cancelled {
				queued[b.id] = true
			}
			outcomes[fmt.Sprintf("in the next %v, cancelled %v, too late to %v", b.number > number, b.cancelled, b.refused)]++
			sameOnEveryNode(t, nodes, b)
		}
		c.lose(number, in)
		for _, b := range bets {
			want := int64(100_000)
			if !b.cancelled {
				want -= 100
			}
			if got := int64(h.balance(b.player)); got != want {
				t.Errorf("balance %d after %+v, want %d", got, b, want)
			}
		}
	}
	t.Log(outcomes)
	if len(outcomes) < 3 {
		t.Errorf("the close was hardly met: %v", outcomes)
	}
}

// sameOnEveryNode repeats a bet at every node: it is the same everywhere.
func sameOnEveryNode(t *testing.T, nodes []*process, b *lateBet) {
	t.Helper()
	for _, p := range nodes {
		again, err := p.bet(b.player, b.id, 200)
		if err != nil || again.GetCrash().GetNumber() != b.number || (again.GetState() == originalsv1.Round_VOID) != b.cancelled {
			t.Errorf("%+v is %v at another node, %v", b, again, err)
		}
	}
}

// nextDoor is the way to another process that is in this one.
type nextDoor struct {
	grpc.ClientConnInterface
	*process
}

func (n nextDoor) Invoke(ctx context.Context, _ string, request, answer any, _ ...grpc.CallOption) error {
	out, _ := metadata.FromOutgoingContext(ctx)
	round, err := n.CashOut(metadata.NewIncomingContext(ctx, out), request.(*originalsv1.CrashServiceCashOutRequest))
	if err == nil {
		proto.Merge(answer.(*originalsv1.Round), round)
	}
	return err
}

// Guard checked before await, state written after: whoever cashes out many times
// at once, at the owner and at another node, around the crash, is told one result.
func TestDoubleCashOutsAtTwoNodesHaveOneResult(t *testing.T) {
	h := onRedis(t)
	h.pace = 50
	for h.point(1) < 150 || h.point(1) > 250 {
		h.chain = newChain(t)
	}
	start := func(dial func(string) (grpc.ClientConnInterface, error)) *process {
		return &process{Service: New(Options{
			Store: redisledger.New(h.dial(nil), redisledger.Options{}), House: config.Default(), Growth: growth, Log: zap.NewNop(), Address: "owner",
			Tables: []Table{{Name: "main", Chain: h.chain, Timings: h.short}}, Dial: dial, pace: h.pace,
		})}
	}
	owner := start(nil)
	other := start(func(string) (grpc.ClientConnInterface, error) { return nextDoor{process: owner}, nil })
	ctx, end := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { owner.Run(ctx) })
	defer run.Wait()
	defer end()
	h.awaitPhase(1, ledger.CrashBetting)
	players := make([]ledger.Player, 60)
	for i := range players {
		players[i] = h.player(fmt.Sprint("double-", i))
		if _, err := owner.bet(players[i], "x", 100_000); err != nil {
			t.Fatal(err)
		}
	}
	h.awaitPhase(1, ledger.CrashRunning)
	const callers = 6
	answers := make([][callers]int64, len(players))
	var all sync.WaitGroup
	length := time.Duration(growth.EndUs(h.point(1))/h.pace) * time.Microsecond
	for i, p := range players {
		for j := range callers {
			all.Go(func() {
				time.Sleep(length * time.Duration(i) / time.Duration(len(players)-5)) // the last ones after the crash
				round, err := []*process{owner, other}[j%2].cash(p, "x")
				if err != nil || round.GetState() != originalsv1.Round_SETTLED {
					t.Errorf("a cash-out is answered with %v %v", round, err)
				}
				answers[i][j] = round.GetPayout().GetAmount()
			})
		}
	}
	all.Wait()
	won, lost := 0, 0
	for i, p := range players {
		l, err := h.store.FindCrashBet(context.Background(), "main", p, "x")
		if err != nil {
			t.Fatal(err)
		}
		paid := int64(l.Round.Payout)
		for _, told := range answers[i] {
			if told != paid || paid > int64(h.point(1)) || paid > 0 && paid <= 100 {
				t.Errorf("paid %d at a crash point of %d, told %v", paid, h.point(1), answers[i])
			}
		}
		if got := int64(h.balance(p)); got != 100_000-100+paid {
			t.Errorf("balance %d after a payout of %d", got, paid)
		}
		if paid > 0 {
			won++
		} else {
			lost++
		}
	}
	if won < 10 || lost < 3 {
		t.Errorf("%d won and %d lost: the crash was hardly met", won, lost)
	}
}

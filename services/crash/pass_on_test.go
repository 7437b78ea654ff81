package crash

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// stopped is the way to a process that takes calls and answers none.
type stopped struct{ grpc.ClientConnInterface }

func (stopped) Invoke(ctx context.Context, _ string, _, _ any, _ ...grpc.CallOption) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

// owning is the way to a process that decides cash-outs.
type owning struct{ grpc.ClientConnInterface }

func (owning) Invoke(_ context.Context, _ string, _, answer any, _ ...grpc.CallOption) error {
	proto.Merge(answer.(*originalsv1.Round), &originalsv1.Round{BetId: "x", State: originalsv1.Round_SETTLED})
	return nil
}

// Server timeout answered as failure while the bet stands: a cash-out that is
// passed on to an owner who says nothing goes to the next, and where there is none
// it says that its effect is not known.
func TestACashOutDoesNotWaitForAStoppedOwner(t *testing.T) {
	h, _ := onEmbedded(t)
	ctx := context.Background()
	take := func(name, address string) ledger.CrashOwner {
		seen, err := h.store.CrashLease(ctx, "main")
		if err != nil {
			t.Fatal(err)
		}
		owner, err := h.store.TakeCrashTable(ctx, "main", seen, name, address)
		if err != nil {
			t.Fatal(err)
		}
		return owner
	}
	owner := take("stopped", "127.0.0.1:1")
	if _, err := h.store.OpenCrashRound(ctx, owner, ledger.CrashOpening{Number: 1, BettingUs: 1_000_000, Mask: "m"}); err != nil {
		t.Fatal(err)
	}
	alice := h.player("alice")
	if err := h.store.OpenCrashPartition(ctx, owner, alice.Partition(), 1); err != nil {
		t.Fatal(err)
	}
	called := make(chan string, 10)
	front := New(Options{
		Store: h.store, House: config.Default(), Growth: growth, Log: zap.NewNop(), stale: 300 * time.Millisecond,
		Tables: []Table{{Name: "main", Chain: h.chain, Timings: quick}},
		Dial: func(address string) (grpc.ClientConnInterface, error) {
			called <- address
			if address == "127.0.0.1:2" {
				return owning{}, nil
			}
			return stopped{}, nil
		},
	})
	if _, err := (&process{Service: front}).bet(alice, "x", 500); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context, ledger.CrashOwner, uint32) (ledger.CrashState, error){h.store.LockCrashRound, h.store.StartCrashRound} {
		if _, err := step(ctx, owner, 1); err != nil {
			t.Fatal(err)
		}
	}
	cashOut := func() (*originalsv1.Round, error) {
		waiting, cancel := context.WithTimeout(as(alice), 10*time.Second)
		defer cancel()
		return front.CashOut(waiting, &originalsv1.CrashServiceCashOutRequest{Table: "main", BetId: "x"})
	}
	if _, err := cashOut(); reason.Of(err) != reason.StoreUnavailable {
		t.Errorf("a cash-out at an owner who says nothing: %v", err)
	}
	<-called
	decided := make(chan *originalsv1.Round)
	go func() {
		round, err := cashOut()
		if err != nil {
			t.Errorf("a cash-out while the owner changes: %v", err)
		}
		decided <- round
	}()
	time.Sleep(100 * time.Millisecond) // it is on its way to the one who is stopped
	take("two", "127.0.0.1:2")
	if round := <-decided; round.GetState() != originalsv1.Round_SETTLED || <-called != "127.0.0.1:2" {
		t.Errorf("a cash-out while the owner changes: %v", round)
	}
}

package crash

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

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

// Server timeout answered as failure while the bet stands: a cash-out that is
// passed on to an owner who says nothing is answered once another can have the
// table, and says that its effect is not known.
func TestACashOutDoesNotWaitForAStoppedOwner(t *testing.T) {
	h, _ := onEmbedded(t)
	ctx := context.Background()
	owner, err := h.store.TakeCrashTable(ctx, "main", ledger.CrashLease{}, "stopped", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.OpenCrashRound(ctx, owner, ledger.CrashOpening{Number: 1, BettingUs: 1_000_000, Mask: "m"}); err != nil {
		t.Fatal(err)
	}
	alice := h.player("alice")
	if err := h.store.OpenCrashPartition(ctx, owner, alice.Partition(), 1); err != nil {
		t.Fatal(err)
	}
	front := New(Options{
		Store: h.store, House: config.Default(), Growth: growth, Log: zap.NewNop(), stale: 100 * time.Millisecond,
		Tables: []Table{{Name: "main", Chain: h.chain, Timings: quick}},
		Dial:   func(string) (grpc.ClientConnInterface, error) { return stopped{}, nil },
	})
	if _, err := (&process{Service: front}).bet(alice, "x", 500); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context, ledger.CrashOwner, uint32) (ledger.CrashState, error){h.store.LockCrashRound, h.store.StartCrashRound} {
		if _, err := step(ctx, owner, 1); err != nil {
			t.Fatal(err)
		}
	}
	waiting, cancel := context.WithTimeout(as(alice), 10*time.Second)
	defer cancel()
	_, err = front.CashOut(waiting, &originalsv1.CrashServiceCashOutRequest{Table: "main", BetId: "x"})
	if reason.Of(err) != reason.StoreUnavailable || waiting.Err() != nil {
		t.Errorf("a cash-out at an owner who says nothing: %v", err)
	}
}

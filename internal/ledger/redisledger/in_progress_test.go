package redisledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
)

// A wallet repeats a call that got lost and is told IN_PROGRESS: the first call
// may still book. So the answer is none of those after which surely nothing
// happened; a wallet that took it for one would give the money back.
func TestInProgressAnsweredAsFailureWhileTheTransferStands(t *testing.T) {
	ctx := context.Background()
	w := wallets(t, testenv.Redis(t, testenv.InMemory).URL(), time.Sleep)
	in := ledger.Transfer{Operator: "op", ID: "t-1", Player: "alice", Direction: ledger.Deposit, Currency: "FUN", Amount: 5}
	warm := in
	warm.ID = "t-0" // the scripts are known from now on: each is one call
	if _, err := w.Store.Transfer(ctx, warm); err != nil {
		t.Fatal(err)
	}

	asleep, wake, first := make(chan struct{}), make(chan struct{}), make(chan error)
	paused := w.Faulty(func(call int) ledgertest.Fault {
		if call == 1 { // it is begun and not decided
			close(asleep)
			<-wake
		}
		return ledgertest.None
	})
	go func() {
		_, err := paused.Transfer(ctx, in)
		first <- err
	}()
	<-asleep
	_, err := w.Store.Transfer(ctx, in)
	if reason.Of(err) != reason.InProgress {
		t.Fatalf("%v, want IN_PROGRESS", err)
	}
	if reason.Of(err).Known() {
		t.Error("IN_PROGRESS says that surely nothing happened")
	}
	close(wake)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	got, err := w.Store.Transfer(ctx, in)
	if err != nil || got.State != ledger.Applied || got.Balance != 10 || !got.Replayed {
		t.Fatalf("%+v, %v", got, err)
	}
}

package settlement_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/settlement"
)

// Every error of the wallet API is documented as known or unknown. Here each
// call fails at its boundary with the store: before the store has seen it, after
// it has done it, and by a refusal. What is called known had no effect; after
// what is called unknown, a repeat with the same id ends as one call would have.
func TestKnownErrorsHadNoEffectAndUnknownOnesAreResolvedByRepeating(t *testing.T) {
	type world struct {
		*house
		b    *books
		ctx  context.Context
		dead ledger.SettledRound
	}
	calls := map[string]func(w world, r ledger.SettledRound) error{
		"Transfer": func(w world, _ ledger.SettledRound) error {
			_, err := w.CreateTransfer(w.ctx, deposit("d1", "alice", 500))
			return err
		},
		"CancelTransfer": func(w world, _ ledger.SettledRound) error {
			_, err := w.CancelTransfer(w.ctx, &originalsv1.CancelTransferRequest{TransferId: "c1"})
			return err
		},
		"GetTransfer": func(w world, _ ledger.SettledRound) error {
			_, err := w.GetTransfer(w.ctx, &originalsv1.GetTransferRequest{TransferId: "seen"})
			return err
		},
		"Balances": func(w world, _ ledger.SettledRound) error {
			_, err := w.ListPlayerBalances(w.ctx, &originalsv1.ListPlayerBalancesRequest{PlayerId: "carol"})
			return err
		},
		"Claim": func(w world, _ ledger.SettledRound) error {
			_, err := w.ClaimSettlements(w.ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: "c1", Consumer: "x", Max: 5, LeaseSeconds: 60})
			return err
		},
		"Release": func(w world, _ ledger.SettledRound) error {
			_, err := w.ReleaseSettlements(w.ctx, &originalsv1.ReleaseSettlementsRequest{ClaimId: "held"})
			return err
		},
		"Extend": func(w world, _ ledger.SettledRound) error {
			_, err := w.ExtendClaim(w.ctx, &originalsv1.ExtendClaimRequest{ClaimId: "held", LeaseSeconds: 120})
			return err
		},
		"Requeue": func(w world, _ ledger.SettledRound) error {
			_, err := w.RequeueSettlement(w.ctx, &originalsv1.RequeueSettlementRequest{SettlementId: w.dead.Round.String()})
			return err
		},
		"Settlement": func(w world, r ledger.SettledRound) error {
			_, err := w.GetSettlement(w.ctx, &originalsv1.GetSettlementRequest{SettlementId: r.Round.String()})
			return err
		},
		"Settlements": func(w world, r ledger.SettledRound) error {
			_, err := w.ListSettlements(w.ctx, &originalsv1.ListSettlementsRequest{Partition: uint32(r.Round.Pair.Partition())})
			return err
		},
		"Rejected": func(w world, _ ledger.SettledRound) error {
			_, err := w.ListRejected(w.ctx, &originalsv1.ListRejectedRequest{})
			return err
		},
		"Digest": func(w world, _ ledger.SettledRound) error {
			_, err := w.GetDigest(w.ctx, &originalsv1.GetDigestRequest{Day: "2026-01-31"})
			return err
		},
		"Heads": func(w world, _ ledger.SettledRound) error { // of a stream
			s, err := w.StreamSettlements(w.ctx, &originalsv1.StreamSettlementsRequest{})
			if err == nil {
				_, err = s.Recv()
			}
			return err
		},
		"Acknowledge": func(w world, r ledger.SettledRound) error {
			_, err := w.AcknowledgeSettlements(w.ctx, &originalsv1.AcknowledgeSettlementsRequest{Items: []*originalsv1.Acknowledgement{
				{SettlementId: r.Round.String(), WalletTransactionId: "tx", Result: originalsv1.Acknowledgement_APPLIED},
			}})
			return err
		},
	}
	// run makes a call until it succeeds, and returns what is left of the store.
	run := func(method, verdict string) (left string, failures int) {
		b := newBooks()
		b.now = func() time.Time { return time.UnixMilli(1_790_000_000_000) }
		remaining := 3
		f := &faults{Store: b, decide: func(m string) string {
			if m != method || remaining == 0 || verdict == "" {
				return ""
			}
			remaining--
			return verdict
		}}
		h := newHouse(t, f, func(o *settlement.Options) { o.PollInterval = time.Hour }) // so that a stream asks once
		w := world{h, b, h.wallet("north"), b.settle(player("north", "bob"), 0)}
		if _, err := b.Transfer(w.ctx, ledger.Transfer{Operator: "north", ID: "seen", Player: "carol", Direction: ledger.Deposit, Currency: "FUN", Amount: 5}); err != nil {
			t.Fatal(err)
		}
		b.acknowledge(b.find("north", w.dead.Round), ledger.Ack{Rejected: true})
		b.settle(player("north", "carol"), 0)
		if _, err := b.Claim(w.ctx, ledger.Claim{Operator: "north", ID: "held", Max: 5, Lease: time.Minute}); err != nil {
			t.Fatal(err)
		}
		r := b.settle(player("north", "alice"), 0)
		for {
			before := b.state()
			err := calls[method](w, r)
			if err == nil {
				return b.state(), failures
			}
			failures++
			why := reason.Of(err)
			if why.Known() {
				t.Errorf("%s, %s: %v is called known", method, verdict, err)
			}
			if verdict == "failed" && b.state() != before {
				t.Errorf("%s: a call that the store never saw had an effect", method)
			}
		}
	}
	for store, i := reflect.TypeFor[settlement.Store](), 0; i < store.NumMethod(); i++ {
		if name := store.Method(i).Name; calls[name] == nil && name != "Backlog" { // which no call asks for
			t.Errorf("%s of the store never fails", name)
		}
	}
	for method := range calls {
		want, _ := run(method, "")
		for _, verdict := range []string{"failed", "persisted", "broken"} {
			got, failures := run(method, verdict)
			if got != want || failures != 3 {
				t.Errorf("%s, %s three times: %d failures, and\n%s\ninstead of\n%s", method, verdict, failures, got, want)
			}
		}
	}
}

// Refusals are known: each leaves the store as it was, and is the same again.
func TestRefusalsOfTheWalletAreKnown(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	if _, err := h.CreateTransfer(ctx, deposit("d1", "alice", 500)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.CancelTransfer(ctx, &originalsv1.CancelTransferRequest{TransferId: "gone"}); err != nil {
		t.Fatal(err)
	}
	b.settle(player("north", "alice"), 0)
	refusals := map[reason.Reason]func() error{
		reason.InvalidField:      func() error { _, err := h.CreateTransfer(ctx, deposit("d2", "alice", 0)); return err },
		reason.TransferIDReused:  func() error { _, err := h.CreateTransfer(ctx, deposit("d1", "alice", 501)); return err },
		reason.TransferCancelled: func() error { _, err := h.CreateTransfer(ctx, deposit("gone", "alice", 1)); return err },
		reason.TransferNotFound: func() error {
			_, err := h.GetTransfer(ctx, &originalsv1.GetTransferRequest{TransferId: "none"})
			return err
		},
		reason.PlayerNotFound: func() error {
			_, err := h.ListPlayerBalances(ctx, &originalsv1.ListPlayerBalancesRequest{PlayerId: "nobody"})
			return err
		},
		reason.ClaimIDReused: func() error {
			_, err := h.ClaimSettlements(ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: "reused", Consumer: "x", Max: 5, LeaseSeconds: 60})
			return err
		},
		reason.SettlementNotFound: func() error {
			_, err := h.RequeueSettlement(ctx, &originalsv1.RequeueSettlementRequest{SettlementId: "17-aaaaaaaaaaaaaaaa-0"})
			return err
		},
		reason.RoleRequired: func() error {
			_, err := h.CreateTransfer(h.as("north", auth.Player), deposit("d3", "alice", 1))
			return err
		},
		reason.TokenInvalid: func() error {
			_, err := h.CreateTransfer(context.Background(), deposit("d3", "alice", 1))
			return err
		},
	}
	before := b.state()
	for want, refuse := range refusals {
		for range 2 {
			wantReason(t, string(want), refuse(), want)
			if !want.Known() {
				t.Errorf("%s is not known", want)
			}
		}
	}
	if after := b.state(); after != before {
		t.Errorf("refusals had an effect:\n%s\n%s", before, after)
	}
}

package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// WalletStore is a store with what wallets use of it.
type WalletStore interface {
	ledger.Store
	ledger.Transfers
	ledger.Feed

	// Backlog returns what an operator's wallet has left to do.
	Backlog(ctx context.Context, operator string) (ledger.Backlog, error)
}

// Wallets is a store under test as a wallet sees it.
type Wallets struct {
	Store WalletStore

	// Wait lets time pass in the store.
	Wait func(time.Duration)
	// TransferLease, Attempts and Backoff are as the store was told.
	TransferLease time.Duration
	Attempts      int
	Backoff       time.Duration

	// SetTime stops the store's clock at a time; nil where it cannot.
	SetTime func(time.Time)
	// Runs is how many random interleavings are compared with the model at least;
	// a few when it is 0.
	Runs int
	// Bisect is how many settlements a wrong one is looked for in.
	Bisect int

	// Stream reads so many settlements of all partitions after a cursor, and returns
	// the next one; nil where the store has no stream.
	Stream func(operator, cursor string, count int) ([]ledger.SettledRound, string, error)

	// Forget drops what is kept for a time alone, as if that were over.
	Forget func()

	// ClaimHome returns the partition that keeps the record of a claim and leases
	// first; nil where that is not told.
	ClaimHome func(operator, id string) int

	// Faulty returns the same store as one whose steps fail as decide says: the
	// calls of the store beneath are counted 0, 1, 2, ...
	Faulty func(decide func(call int) Fault) WalletStore
}

type walletCheck struct {
	name string
	run  func(t *testing.T, w Wallets)
}

func runWallets(t *testing.T, w Wallets, checks []walletCheck) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.run(t, w) })
	}
}

// RunTransfers runs the suite of ledger.Transfers. Every check has operators of
// its own, so one store serves all of them.
func RunTransfers(t *testing.T, w Wallets) { runWallets(t, w, transferChecks) }

var transferChecks = []walletCheck{
	{"same id, same content: the same answer, marked as a replay", replayedTransfers},
	{"same idempotency key, different body", reusedTransfers},
	{"an id that was refused stays refused", refusedStays},
	{"late original arrives after its rollback", lateOriginal},
	{"a cancel of what was applied is answered as it is", cancelApplied},
	{"an unknown player is made by a deposit, and by nothing else", unknownPlayers},
	{"a withdrawal never touches a stake at risk", stakeAtRisk},
	{"balance, open rounds and deposits stay within 2^53-1", depositLimit},
	{"a player made by a deposit gets his pair and the grant once", grantAfterDeposit},
	{"transfers of another operator are not there, not even by guessing ids", foreignTransfers},
	{"bad transfers are refused before anything is stored", badTransfers},
	{"64 duplicates at once have one effect", duplicatesAtOnce},
	{"money adds up under transfers and bets at once", moneyAddsUp},
	{"a failed transfer that had an effect: each step, failed and failed but persisted", transferFaults},
	{"an interrupted transfer is ended by a repeat, a get and a cancel", interruptedEnds},
	{"a process that is late changes nothing", wakesUpLate},
}

func deposit(p ledger.Player, id string, amount money.Units) ledger.Transfer {
	return ledger.Transfer{Operator: p.Operator, ID: id, Player: p.ID, Direction: ledger.Deposit, Currency: fun, Amount: amount}
}

func withdrawal(p ledger.Player, id string, amount money.Units) ledger.Transfer {
	t := deposit(p, id, amount)
	t.Direction = ledger.Withdrawal
	return t
}

func somebody() ledger.Player { return ledger.Player{Operator: "op-" + unique(), ID: "p:" + unique()} }

func transfer(t fataler, s ledger.Transfers, q ledger.Transfer) ledger.Transfer {
	t.Helper()
	got, err := s.Transfer(ctx, q)
	if err != nil {
		t.Fatalf("transfer %s: %v", q.ID, err)
	}
	return got
}

// wantTransfer checks where a transfer of q stands.
func wantTransfer(t fataler, got, q ledger.Transfer, state ledger.TransferState, balance money.Units, replayed bool) {
	t.Helper()
	if got.CreateTime.IsZero() {
		t.Fatalf("transfer %s has no time", q.ID)
	}
	q.State, q.Balance, q.Replayed, q.CreateTime, q.Refusal = state, balance, replayed, got.CreateTime, got.Refusal
	if (state == ledger.Refused) != (got.Refusal != "") {
		t.Fatalf("refusal %q in state %d", got.Refusal, state)
	}
	wantSame(t, "transfer "+q.ID, got, q)
}

func wantReused(t fataler, err error, field string) {
	t.Helper()
	var e *ledger.TransferReusedError
	if !errors.As(err, &e) || e.Field != field {
		t.Fatalf("error %v, want TransferReusedError of %s", err, field)
	}
}

func balanceOf(t fataler, s ledger.Store, p ledger.Player, c money.Currency) money.Units {
	t.Helper()
	b, err := s.Balances(ctx, p)
	if err != nil {
		t.Fatalf("balances: %v", err)
	}
	return b[c]
}

func replayedTransfers(t *testing.T, w Wallets) {
	p := somebody()
	in, out := deposit(p, "d", 500), withdrawal(p, "w-_9", 200)
	first := transfer(t, w.Store, in)
	wantTransfer(t, first, in, ledger.Applied, 500, false)
	wantTransfer(t, transfer(t, w.Store, out), out, ledger.Applied, 300, false)
	for range 2 {
		again := transfer(t, w.Store, in)
		wantTransfer(t, again, in, ledger.Applied, 500, true)
		if !again.CreateTime.Equal(first.CreateTime) {
			t.Fatalf("made at %v, and at %v", first.CreateTime, again.CreateTime)
		}
		wantTransfer(t, transfer(t, w.Store, out), out, ledger.Applied, 300, true)
		got, err := w.Store.GetTransfer(ctx, p.Operator, in.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantTransfer(t, got, in, ledger.Applied, 500, true)
	}
	if b := balanceOf(t, w.Store, p, fun); b != 300 {
		t.Fatalf("balance %d", b)
	}
	_, err := w.Store.GetTransfer(ctx, p.Operator, "never")
	wantErr(t, err, ledger.ErrNotFound)
}

func reusedTransfers(t *testing.T, w Wallets) {
	p := somebody()
	in := deposit(p, "d", 500)
	transfer(t, w.Store, in)
	for field, change := range map[string]func(*ledger.Transfer){
		"playerId": func(q *ledger.Transfer) {
			q.Player, q.Direction, q.Currency, q.Amount = "other", ledger.Withdrawal, "BTC", 1
		},
		"direction": func(q *ledger.Transfer) { q.Direction, q.Currency, q.Amount = ledger.Withdrawal, "BTC", 1 },
		"currency":  func(q *ledger.Transfer) { q.Currency, q.Amount = "BTC", 1 },
		"amount":    func(q *ledger.Transfer) { q.Amount = 501 },
	} {
		q := in
		change(&q)
		_, err := w.Store.Transfer(ctx, q)
		wantReused(t, err, field)
		if b, err := w.Store.Balances(ctx, ledger.Player{Operator: p.Operator, ID: "other"}); !errors.Is(err, ledger.ErrNotFound) {
			t.Fatalf("%v, %v", b, err)
		}
	}
	wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(500))
	wantSame(t, "balance", balanceOf(t, w.Store, p, "BTC"), money.Units(0))
}

func refusedStays(t *testing.T, w Wallets) {
	p := somebody()
	transfer(t, w.Store, deposit(p, "a", 10))
	out := withdrawal(p, "w", 11)
	got := transfer(t, w.Store, out)
	wantTransfer(t, got, out, ledger.Refused, 10, false)
	if got.Refusal != ledger.RefusedFunds {
		t.Fatalf("refusal %q", got.Refusal)
	}
	transfer(t, w.Store, deposit(p, "b", 100))
	got = transfer(t, w.Store, out)
	wantTransfer(t, got, out, ledger.Refused, 10, true)
	got, err := w.Store.CancelTransfer(ctx, p.Operator, "w")
	if err != nil || got.State != ledger.Refused || got.Refusal != ledger.RefusedFunds {
		t.Fatalf("%+v, %v", got, err)
	}
	wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(110))
}

func lateOriginal(t *testing.T, w Wallets) {
	p := somebody()
	for i, replayed := range []bool{false, true} {
		got, err := w.Store.CancelTransfer(ctx, p.Operator, "late")
		if err != nil || got.State != ledger.Cancelled || got.Player != "" || got.Replayed != replayed || got.CreateTime.IsZero() {
			t.Fatalf("cancel %d: %+v, %v", i, got, err)
		}
	}
	for range 2 {
		_, err := w.Store.Transfer(ctx, deposit(p, "late", 10))
		wantReason(t, err, reason.TransferCancelled)
	}
	_, err := w.Store.Balances(ctx, p)
	wantErr(t, err, ledger.ErrNotFound)
	got, err := w.Store.GetTransfer(ctx, p.Operator, "late")
	if err != nil || got.State != ledger.Cancelled || !got.Replayed {
		t.Fatalf("%+v, %v", got, err)
	}
}

func cancelApplied(t *testing.T, w Wallets) {
	p := somebody()
	in := deposit(p, "d", 500)
	transfer(t, w.Store, in)
	got, err := w.Store.CancelTransfer(ctx, p.Operator, "d")
	if err != nil {
		t.Fatal(err)
	}
	wantTransfer(t, got, in, ledger.Applied, 500, true)
	wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(500))
}

func unknownPlayers(t *testing.T, w Wallets) {
	p := somebody()
	out := withdrawal(p, "w", 1)
	got := transfer(t, w.Store, out)
	wantTransfer(t, got, out, ledger.Refused, 0, false)
	if got.Refusal != ledger.RefusedFunds {
		t.Fatalf("refusal %q", got.Refusal)
	}
	_, err := w.Store.Balances(ctx, p)
	wantErr(t, err, ledger.ErrNotFound)

	transfer(t, w.Store, deposit(p, "d", 7))
	b, err := w.Store.Balances(ctx, p)
	if err != nil || len(b) != 1 || b[fun] != 7 {
		t.Fatalf("%v, %v", b, err)
	}
	// He has no pair, which every other call must say rather than fail on.
	s := &subject{Player: p, t: t, store: w.Store}
	s.next = s.offer()
	s.pair = s.next.ID
	_, err = w.Store.Draw(ctx, s.dice(1))
	wantErr(t, err, ledger.ErrNoPair)
	_, err = w.Store.Rotate(ctx, s.rotation())
	wantErr(t, err, ledger.ErrNoPair)
	_, err = w.Store.Retire(ctx, p, s.pair, "")
	wantErr(t, err, ledger.ErrNoPair)
	if pairs, err := w.Store.SeedPairs(ctx, p, "", 10); len(pairs) > 0 || err != nil && !errors.Is(err, ledger.ErrNotFound) {
		t.Fatalf("%v, %v", pairs, err)
	}
}

func stakeAtRisk(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store) // 1000
	drawn := p.draw(p.mines(600))
	got := transfer(t, w.Store, withdrawal(p.Player, "w1", 401))
	if got.State != ledger.Refused || got.Balance != 400 {
		t.Fatalf("%+v", got)
	}
	got = transfer(t, w.Store, withdrawal(p.Player, "w2", 400))
	if got.State != ledger.Applied || got.Balance != 0 {
		t.Fatalf("%+v", got)
	}
	if l := p.settle(p.settlement(drawn, 700)); l.Balance != 700 {
		t.Fatalf("balance %d", l.Balance)
	}
}

func depositLimit(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store) // 1000
	drawn := p.draw(p.dice(100))
	room := money.MaxUnits - 900 - 200 // what the open round may pay is held
	got := transfer(t, w.Store, deposit(p.Player, "d1", room+1))
	if got.State != ledger.Refused || got.Refusal != ledger.RefusedLimit || got.Balance != 900 {
		t.Fatalf("%+v", got)
	}
	got = transfer(t, w.Store, deposit(p.Player, "d2", room))
	if got.State != ledger.Applied || got.Balance != money.MaxUnits-200 {
		t.Fatalf("%+v", got)
	}
	if l := p.settle(p.settlement(drawn, 200)); l.Balance != money.MaxUnits {
		t.Fatalf("balance %d", l.Balance)
	}
	got = transfer(t, w.Store, withdrawal(p.Player, "w", money.MaxUnits))
	if got.State != ledger.Applied || got.Balance != 0 || got.Amount != money.MaxUnits {
		t.Fatalf("%+v", got)
	}
}

func grantAfterDeposit(t *testing.T, w Wallets) {
	p := &subject{Player: somebody(), t: t, store: w.Store}
	transfer(t, w.Store, deposit(p.Player, "d", 7))
	p.open(ledger.Grant{Currency: fun, Amount: 100}, ledger.Grant{Currency: "BTC", Amount: 5})
	p.open(ledger.Grant{Currency: fun, Amount: 100})
	p.wantBalance(107)
	p.rotate()
	p.draw(p.dice(107))

	full := &subject{Player: somebody(), t: t, store: w.Store}
	transfer(t, w.Store, deposit(full.Player, "d", money.MaxUnits))
	full.open(ledger.Grant{Currency: fun, Amount: 1})
	full.wantBalance(money.MaxUnits)
}

func foreignTransfers(t *testing.T, w Wallets) {
	p, q := somebody(), somebody()
	q.ID = p.ID
	transfer(t, w.Store, deposit(p, "d", 7))
	_, err := w.Store.GetTransfer(ctx, q.Operator, "d")
	wantErr(t, err, ledger.ErrNotFound)
	got, err := w.Store.CancelTransfer(ctx, q.Operator, "d")
	if err != nil || got.State != ledger.Cancelled || got.Player != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if got := transfer(t, w.Store, deposit(q, "e", 1)); got.Balance != 1 {
		t.Fatalf("%+v", got)
	}
	wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(7))
}

func badTransfers(t *testing.T, w Wallets) {
	p := somebody()
	for _, change := range []func(*ledger.Transfer){
		func(q *ledger.Transfer) { q.Amount = 0 }, func(q *ledger.Transfer) { q.Amount = -1 }, func(q *ledger.Transfer) { q.Amount = money.MaxUnits + 1 },
		func(q *ledger.Transfer) { q.Direction = 0 }, func(q *ledger.Transfer) { q.Direction = 3 }, func(q *ledger.Transfer) { q.Currency = "nan" },
		func(q *ledger.Transfer) { q.ID = "" }, func(q *ledger.Transfer) { q.ID = "a b" }, func(q *ledger.Transfer) { q.ID = betID(41) },
		func(q *ledger.Transfer) { q.Player = "" },
	} {
		q := deposit(p, "d", 1)
		change(&q)
		if got, err := w.Store.Transfer(ctx, q); err == nil || reason.Of(err) == reason.StoreUnavailable {
			t.Fatalf("%+v was accepted: %+v, %v", q, got, err)
		}
	}
	_, err := w.Store.Balances(ctx, p)
	wantErr(t, err, ledger.ErrNotFound)
	_, err = w.Store.GetTransfer(ctx, p.Operator, "d")
	wantErr(t, err, ledger.ErrNotFound)
}

func duplicatesAtOnce(t *testing.T, w Wallets) {
	for round := range 5 {
		p := somebody()
		q := deposit(p, fmt.Sprint("d", round), 100)
		var g sync.WaitGroup
		var mu sync.Mutex
		firsts, replays, busy := 0, 0, 0
		for range 64 {
			g.Go(func() {
				got, err := w.Store.Transfer(ctx, q)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case reason.Of(err) == reason.InProgress:
					busy++
				case err != nil || got.State != ledger.Applied || got.Balance != 100:
					t.Errorf("%+v, %v", got, err)
				case got.Replayed:
					replays++
				default:
					firsts++
				}
			})
		}
		g.Wait()
		if firsts != 1 || firsts+replays+busy != 64 {
			t.Fatalf("%d first answers, %d replays, %d in progress", firsts, replays, busy)
		}
		wantSame(t, "balance", balanceOf(t, w.Store, p, fun), money.Units(100))
	}
}

func moneyAddsUp(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store) // 1000
	var g sync.WaitGroup
	var mu sync.Mutex
	sum := money.Units(1000)
	book := func(n money.Units) {
		mu.Lock()
		defer mu.Unlock()
		sum += n
	}
	for i := range 8 {
		g.Go(func() {
			for j := range 20 {
				q := withdrawal(p.Player, fmt.Sprint("t-", i, "-", j), money.Units(j*i*7+1))
				if i%2 == 0 {
					q.Direction = ledger.Deposit
				}
				got, err := w.Store.Transfer(ctx, q)
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				if got.State != ledger.Applied {
					continue
				}
				if i%2 == 0 {
					book(q.Amount)
				} else {
					book(-q.Amount)
				}
			}
		})
	}
	g.Go(func() {
		for j := range 40 {
			drawn, err := w.Store.Draw(ctx, p.dice(3))
			if reason.Of(err) == reason.InsufficientFunds {
				continue
			}
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			payout := money.Units(j % 7)
			if _, err := w.Store.Settle(ctx, p.settlement(drawn, payout)); err != nil {
				t.Errorf("%v", err)
				return
			}
			book(payout - 3)
		}
	})
	g.Wait()
	p.wantBalance(sum)
}

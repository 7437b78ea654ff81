package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/testenv"
	"github.com/openoriginals/originals/internal/walletcheck"
)

// TestWalletcheckCommand runs the command against the reference wallet, and
// against programs that are no wallets.
func TestWalletcheckCommand(t *testing.T) {
	wallet := testenv.Program(t) + " reference-wallet"
	wantRun(t, 0, "cases: 2, passed: 2, failed: 0", "", nil, "walletcheck", "--command", wallet, "--case", "win-and-loss", "--case", "killed-at-rest")
	wantRun(t, 0, "passed: 1", "", nil, "walletcheck", "--command", "cd / && BOOKS=1 "+wallet, "--case", "killed-at-rest") // any words of a shell

	out := wantRun(t, 0, "", "", nil, "walletcheck", "--command", wallet, "--case", "void", "--json")
	var results []walletcheck.Result
	if err := json.Unmarshal([]byte(out), &results); err != nil || len(results) != 1 || results[0].Name != "void" || !results[0].Passed {
		t.Errorf("%v in %s", err, out)
	}

	out = wantRun(t, 0, "killed-between-booking-and-acknowledging", "", nil, "walletcheck", "--list")
	if lines := strings.Count(out, "\n"); lines < 100 {
		t.Errorf("%d cases are listed", lines)
	}

	out = wantRun(t, 1, "void  FAILED", "", nil, "walletcheck", "--command", "echo no wallet", "--case", "void", "--patience", "1s")
	for _, words := range []string{"expected: the wallet answers GET /healthz", "no wallet", "cases: 1, passed: 0, failed: 1"} {
		if !strings.Contains(out, words) {
			t.Errorf("a failure does not tell of %q:\n%s", words, out)
		}
	}
	wantRun(t, 2, "", `"no-such-case"; --list shows all`, nil, "walletcheck", "--command", wallet, "--case", "no-such-case")
	wantRun(t, 0, "passed: 1", "", nil, "walletcheck", "--case", "withdrawal") // the reference wallet
	wantRun(t, 2, "", "--patience", nil, "walletcheck", "--command", wallet, "--patience", "0s")
}

func TestReferenceWalletCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	wantRun(t, 2, "", "token", nil, "reference-wallet", "--dir", dir)
	wantRun(t, 2, "", "dir", nil, "reference-wallet", "--token", "x")
	wantRun(t, 2, "", "--poll", nil, "reference-wallet", "--dir", dir, "--token", "x", "--poll", "0s", "--listen", "127.0.0.1:0")
	p := testenv.Serve(t, "reference-wallet", "--dir", dir, "--token", "x", "--url", "http://127.0.0.1:1", "--listen", testenv.FreeAddr(t))
	p.AwaitReady(p.URL())
	p.Terminate()
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestAWalletWithACursorRebuildsItsBooks: a wallet that has lost its books, or
// is new, reads the settlements of all time, and acknowledges nothing twice.
func TestAWalletWithACursorRebuildsItsBooks(t *testing.T) {
	c := newCasino(t)
	conn := c.connect()
	ctx := t.Context()
	for i, name := range []string{"old-a", "old-b", "old-c"} {
		b := newBettor(t, conn, name, c.mint(name, "player"))
		c.bettors = append(c.bettors, b)
		c.face.order(ctx, "/deposit", name, name, booksFunds)
		c.await("the deposit", func() bool {
			var books walletBooks
			return c.face.get("/books?playerId="+name, &books) == nil && len(books.Accounts) == 1 && books.Accounts[0].Game == booksFunds
		})
		for range 100 * (i + 1) {
			b.bet(ctx)
			c.done.Add(1)
		}
	}
	c.await("the wallet to book all", func() bool { return c.bookings(c.face) == 600 })

	listen := testenv.FreeAddr(t)
	c.serve(listen, "reference-wallet", "--cursor", "--listen", listen, "--dir", filepath.Join(t.TempDir(), "new"),
		"--url", c.platform.URL(), "--token", c.mint("wallet", "wallet"))
	rebuilt := walletFace{t, "http://" + listen}
	c.await("the new wallet to book all", func() bool { return c.bookings(rebuilt) == 600 })
	var books walletBooks
	if err := rebuilt.get("/books", &books); err != nil || len(books.Alarms) > 0 || len(books.Accounts) != 3 {
		t.Fatalf("%v, %+v", err, books)
	}
	for i, b := range c.bettors {
		if a := books.Accounts[i]; a.Player != b.name || a.Game != b.payout-b.stake || a.Bookings != len(b.rounds) {
			t.Errorf("%s: %+v, want %d of %d rounds", b.name, a, b.payout-b.stake, len(b.rounds))
		}
	}
}

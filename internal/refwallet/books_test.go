package refwallet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func openBooks(t testing.TB, dir string) *Books {
	t.Helper()
	b, err := OpenBooks(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func settled(n int, player string, stake, payout int64) Settlement {
	result := "LOST"
	if payout > 0 {
		result = "WON"
	}
	return Settlement{
		ID: fmt.Sprintf("07-%d", n), Partition: 7, Sequence: integer(n), Player: player, Bet: fmt.Sprintf("b%d", n), Game: "DICE",
		Stake: amount{"USD", integer(stake)}, Payout: amount{"USD", integer(payout)}, Result: result,
		SettleTime: "2026-02-03T04:05:06.789012Z", FencingToken: 5,
	}
}

func accountOf(t testing.TB, b *Books, player string) shownAccount {
	t.Helper()
	shown, err := b.show(t.Context(), player)
	if err != nil || len(shown.Accounts) > 1 {
		t.Fatalf("%v, %+v", err, shown.Accounts)
	}
	if len(shown.Accounts) == 0 {
		return shownAccount{Player: player, Currency: "USD"}
	}
	return shown.Accounts[0]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestASettlementIsBookedOnceWhateverComes: within a claim, in a later one, and
// by another process that has the books open.
func TestASettlementIsBookedOnceWhateverComes(t *testing.T) {
	dir := t.TempDir()
	b, other := openBooks(t, dir), openBooks(t, dir)
	one, two := settled(1, "alice", 100, 250), settled(2, "alice", 30, 0)
	must(t, b.Book(t.Context(), "a", []Settlement{one, one, two}))
	must(t, b.Book(t.Context(), "a", []Settlement{two, one}))
	must(t, other.Book(t.Context(), "b", []Settlement{one}))
	must(t, other.BookPage(t.Context(), 7, []Settlement{one, two}))
	if a := accountOf(t, b, "alice"); a.Game != 120 || a.Bookings != 2 {
		t.Errorf("%+v", a)
	}
	if at, err := b.Cursor(t.Context(), 7); at != 2 || err != nil {
		t.Errorf("cursor %d, %v", at, err)
	}
}

func TestBookingIsAllOrNothing(t *testing.T) {
	b := openBooks(t, t.TempDir())
	before, err := b.ClaimID(t.Context(), "a")
	must(t, err)
	_, err = b.db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON bookings WHEN NEW.sequence = 3 BEGIN SELECT RAISE(ABORT, 'no'); END`)
	must(t, err)
	err = b.Book(t.Context(), "a", []Settlement{settled(1, "alice", 10, 20), settled(2, "alice", 10, 20), settled(3, "alice", 10, 20)})
	if err == nil {
		t.Fatal("booked")
	}
	if a := accountOf(t, b, "alice"); a.Bookings != 0 || a.Game != 0 {
		t.Errorf("%+v", a)
	}
	if again, err := b.ClaimID(t.Context(), "a"); again != before || err != nil {
		t.Errorf("claim %s, %v; want that of before, %s", again, err, before)
	}
}

// TestTheClaimIsRememberedOverARestart, since its answer may be on the way.
func TestTheClaimIsRememberedOverARestart(t *testing.T) {
	dir := t.TempDir()
	b := openBooks(t, dir)
	id, err := b.ClaimID(t.Context(), "a")
	must(t, err)
	b.Close()
	b = openBooks(t, dir)
	if again, err := b.ClaimID(t.Context(), "a"); again != id || err != nil {
		t.Errorf("claim %s, %v; want %s", again, err, id)
	}
	if theirs, err := b.ClaimID(t.Context(), "b"); theirs == id || err != nil {
		t.Errorf("two consumers claim with %s, %v", theirs, err)
	}
	must(t, b.EndClaim(t.Context(), "a"))
	if next, err := b.ClaimID(t.Context(), "a"); next == id || !idForm.MatchString(next) || err != nil {
		t.Errorf("the next claim is %q, %v", next, err)
	}
}

func TestReportsStayUntilTheyAreAnswered(t *testing.T) {
	b := openBooks(t, t.TempDir())
	bad := settled(2, "alice", 10, -4)
	must(t, b.Book(t.Context(), "a", []Settlement{settled(1, "alice", 10, 20), bad, settled(3, "bob", 10, 20)}))
	reports := func() []Report {
		all, err := b.Reports(t.Context())
		must(t, err)
		return all
	}
	sent := reports()
	if len(sent) != 3 || sent[0].Settlement != bad.ID || sent[0].Reason == "" || sent[1].Reason != "" {
		t.Fatalf("%+v", sent)
	}
	must(t, b.Reported(t.Context(), sent, []string{"ACKNOWLEDGED", "STALE_LEASE", "CONFLICT"}))
	if left := reports(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	again := settled(1, "alice", 10, 20)
	again.FencingToken = 6
	must(t, b.Book(t.Context(), "a", []Settlement{again}))
	left := reports()
	if len(left) != 1 || left[0].Token != 6 {
		t.Fatalf("what is delivered again is reported with its new token: %+v", left)
	}
	must(t, b.Reported(t.Context(), sent[1:2], []string{"ACKNOWLEDGED"})) // the late answer to token 5
	if len(reports()) != 1 {
		t.Error("an answer to the old token ended the report of the new one")
	}
	shown, err := b.show(t.Context(), "bob")
	if err != nil || len(shown.Alarms) != 1 || shown.Alarms[0] != (shownAlarm{"07-3", "CONFLICT"}) {
		t.Errorf("alarms %+v, %v", shown.Alarms, err)
	}
}

func TestOtherContentIsAnAlarmAndNoBooking(t *testing.T) {
	b := openBooks(t, t.TempDir())
	must(t, b.Book(t.Context(), "a", []Settlement{settled(1, "alice", 10, 20)}))
	for _, other := range []Settlement{settled(1, "bob", 10, 20), settled(1, "alice", 11, 20), settled(1, "alice", 10, 0)} {
		must(t, b.Book(t.Context(), "a", []Settlement{other}))
	}
	shown, err := b.show(t.Context(), "")
	if err != nil || len(shown.Accounts) != 1 || shown.Accounts[0].Game != 10 || len(shown.Alarms) != 1 {
		t.Errorf("%+v, %v", shown, err)
	}
}

func TestWhatCannotBeBooked(t *testing.T) {
	void := settled(1, "a", 10, 10)
	void.Result = "VOID"
	if err := void.check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Settlement){
		"no player":          func(s *Settlement) { s.Player = "" },
		"no stake":           func(s *Settlement) { s.Stake.Amount = 0 },
		"negative payout":    func(s *Settlement) { s.Payout.Amount = -1 },
		"payout above 2^53":  func(s *Settlement) { s.Payout.Amount = 1 << 53 },
		"stake above 2^53":   func(s *Settlement) { s.Stake.Amount = 1 << 53 },
		"two currencies":     func(s *Settlement) { s.Payout.Currency = "BTC" },
		"no currency":        func(s *Settlement) { s.Payout.Currency, s.Stake.Currency = "", "" },
		"unknown result":     func(s *Settlement) { s.Result = "SHARED" },
		"void at a gain":     func(s *Settlement) { s.Result, s.Payout.Amount = "VOID", 11 },
		"nothing at all":     func(s *Settlement) { *s = Settlement{} },
		"result left out":    func(s *Settlement) { s.Result = "" },
		"result in its case": func(s *Settlement) { s.Result = "won" },
	} {
		s := settled(1, "alice", 10, 20)
		change(&s)
		if s.check() == nil {
			t.Errorf("%s: can be booked", name)
		}
	}
}

func TestAnOrderIsOneTransfer(t *testing.T) {
	b := openBooks(t, t.TempDir())
	deposit := Transfer{ID: "t1", Player: "alice", Direction: Deposit, Currency: "USD", Amount: 70}
	for range 2 {
		got, err := b.Begin(t.Context(), deposit)
		if err != nil || got.State != Pending {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	other := deposit
	other.Amount = 71
	if _, err := b.Begin(t.Context(), other); !errors.Is(err, ErrOtherTransfer) {
		t.Errorf("other content: %v", err)
	}
	if a := accountOf(t, b, "alice"); a.Wallet != -70 || a.Transit != 70 {
		t.Errorf("%+v", a)
	}
	must(t, b.End(t.Context(), "t1", Applied))
	must(t, b.End(t.Context(), "t1", Cancelled)) // a late answer: it has ended
	if a := accountOf(t, b, "alice"); a.Wallet != -70 || a.Transit != 0 || a.Game != 70 {
		t.Errorf("%+v", a)
	}
	if got, err := b.GiveUp(t.Context(), "t1"); err != nil || got.State != Applied {
		t.Errorf("given up too late: %+v, %v", got, err)
	}
	if _, err := b.GiveUp(t.Context(), "t2"); !errors.Is(err, ErrNoTransfer) {
		t.Errorf("no transfer: %v", err)
	}
}

// TestMoneyIsNeitherMadeNorLost makes random steps, and holds every account
// against a sum of its own.
func TestMoneyIsNeitherMadeNorLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := openBooks(t, t.TempDir())
		defer b.Close()
		type want struct{ wallet, transit, game int64 }
		states, all, booked := map[string]string{}, map[string]Transfer{}, map[int]Settlement{}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			id := fmt.Sprintf("t%d", rapid.IntRange(0, 3).Draw(rt, "transfer"))
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				n := rapid.IntRange(1, 6).Draw(rt, "settlement")
				if _, known := booked[n]; !known {
					booked[n] = settled(n, "alice", rapid.Int64Range(1, maxAmount).Draw(rt, "stake"), rapid.Int64Range(0, maxAmount).Draw(rt, "payout"))
				}
				must(t, b.Book(t.Context(), "a", []Settlement{booked[n]}))
			case 1:
				if _, known := all[id]; !known {
					all[id] = Transfer{ID: id, Player: "alice", Currency: "USD", Amount: rapid.Int64Range(1, maxAmount).Draw(rt, "amount"),
						Direction: rapid.SampledFrom([]string{Deposit, Withdrawal}).Draw(rt, "direction")}
					states[id] = Pending
				}
				_, err := b.Begin(t.Context(), all[id])
				must(t, err)
			case 2:
				if states[id] == Pending {
					states[id] = Cancelling
				}
				if _, err := b.GiveUp(t.Context(), id); (err != nil) != (states[id] == "") {
					rt.Fatal(err)
				}
			case 3:
				state := rapid.SampledFrom([]string{Applied, Refused, Cancelled, Stuck}).Draw(rt, "state")
				if states[id] == Pending || states[id] == Cancelling {
					states[id] = state
				}
				if err := b.End(t.Context(), id, state); (err != nil) != (states[id] == "") {
					rt.Fatal(err)
				}
			}
		}
		var w want
		for _, s := range booked {
			w.game += int64(s.Payout.Amount) - int64(s.Stake.Amount)
		}
		for id, transfer := range all {
			deposit, amount := transfer.Direction == Deposit, transfer.Amount
			switch states[id] {
			case Applied:
				if !deposit {
					amount = -amount
				}
				w.wallet, w.game = w.wallet-amount, w.game+amount
			case Pending, Cancelling, Stuck:
				if deposit {
					w.wallet, w.transit = w.wallet-amount, w.transit+amount
				}
			}
		}
		a := accountOf(t, b, "alice")
		if got := (want{int64(a.Wallet), int64(a.Transit), int64(a.Game)}); got != w || a.Bookings != len(booked) {
			rt.Fatalf("%+v with %d bookings, want %+v with %d", got, a.Bookings, w, len(booked))
		}
	})
}

// TestSumsBeyondAnAmountStayIntegers: SQLite would go on in floats, silently.
func TestSumsBeyondAnAmountStayIntegers(t *testing.T) {
	b := openBooks(t, t.TempDir())
	for n := 1; n <= 40; n++ {
		must(t, b.Book(t.Context(), "a", []Settlement{settled(n, "alice", 1, maxAmount)}))
	}
	if a := accountOf(t, b, "alice"); a.Game != 40*(maxAmount-1) {
		t.Errorf("%+v", a)
	}
	_, err := b.db.Exec(`UPDATE accounts SET game = 9223372036854775807`)
	must(t, err)
	if err := b.Book(t.Context(), "a", []Settlement{settled(41, "alice", 1, 3)}); err == nil {
		t.Errorf("booked beyond 64 bits: %+v", accountOf(t, b, "alice"))
	}
}

func TestTheBooksAreWrittenForAPowerCut(t *testing.T) {
	b := openBooks(t, t.TempDir())
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		var got string
		if err := b.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
		}
	}
}

// TestMerkleRoots are those of RFC 6962's own test data: the leaves 00, 10,
// 2021, and so on. The roots are known from the logs that use it.
func TestMerkleRoots(t *testing.T) {
	leaves := []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	roots := []string{
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
	var hashes [][sha256.Size]byte
	for n, text := range leaves {
		leaf, err := hex.DecodeString(text)
		must(t, err)
		hashes = append(hashes, sha256.Sum256(append([]byte{0}, leaf...)))
		if root := merkle(hashes); hex.EncodeToString(root[:]) != roots[n] {
			t.Errorf("%d leaves: %x, want %s", n+1, root, roots[n])
		}
	}
}

// FuzzInteger: what is read is an integer in one of two forms, and is written
// as a text.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{`"12"`, `12`, `-3`, `"9007199254740993"`, `1e3`, `"1.0"`, `""`, `null`, `"0x10"`, `9223372036854775808`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n integer
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return
		}
		again, err := json.Marshal(n)
		var same integer
		if err != nil || json.Unmarshal(again, &same) != nil || same != n || again[0] != '"' {
			t.Errorf("%q is %d, and is written as %s", text, n, again)
		}
	})
}

func TestIntegersAreNeverRounded(t *testing.T) {
	for text, want := range map[string]integer{`"9007199254740993"`: 9007199254740993, `9007199254740993`: 9007199254740993, `"-1"`: -1} {
		var n integer
		if err := json.Unmarshal([]byte(text), &n); err != nil || n != want {
			t.Errorf("%s is %d, %v", text, n, err)
		}
	}
	for _, text := range []string{`1.5`, `"1e3"`, `1e3`, `"nan"`, `""`, `true`, `[]`, `"9223372036854775808"`, `"0x1"`, `" 1"`} {
		var n integer
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s is %d", text, n)
		}
	}
}

func TestTheListOfOpenTransfersIsThatOfOpenOnes(t *testing.T) {
	b := openBooks(t, t.TempDir())
	for i, state := range []string{Pending, Applied, Cancelling, Refused, Stuck} {
		id := fmt.Sprint(i)
		_, err := b.Begin(t.Context(), Transfer{ID: id, Player: "p", Direction: Withdrawal, Currency: "USD", Amount: 1})
		must(t, err)
		switch state {
		case Cancelling:
			_, err = b.GiveUp(t.Context(), id)
			must(t, err)
		case Pending:
		default:
			must(t, b.End(t.Context(), id, state))
		}
	}
	open, err := b.OpenTransfers(t.Context())
	must(t, err)
	var ids []string
	for _, transfer := range open {
		ids = append(ids, transfer.ID)
	}
	if !slices.Equal(ids, []string{"0", "2"}) {
		t.Errorf("open: %v", ids)
	}
}

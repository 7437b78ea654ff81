package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// RunFeed runs the suite of ledger.Feed. Every check has operators of its own,
// so one store serves all of them.
func RunFeed(t *testing.T, w Wallets) { runWallets(t, w, feedChecks) }

var feedChecks = []walletCheck{
	{"a settlement says what the round was, of every game", settledRounds},
	{"the feed of a partition has no gaps and resumes exactly", feedResumes},
	{"a round that is void is refunded in full", voidRounds},
	{"zero credit not sent: a lost round is settled with a payout of 0", zeroCredit},
	{"settlements of another operator are not there, not even by guessing ids", foreignSettlements},
	{"a claim leases players, each with the run of his oldest", claimLeasesPlayers},
	{"a claim whose answer was lost is had again", claimRepeated},
	{"a run is cut at the size of the claim and keeps its order", claimCut},
	{"an expired lease goes to the next claimer, and a late acknowledgement changes nothing", expiredLease},
	{"two wallet transactions for one settlement", conflicts},
	{"acknowledgements out of order, and without a claim", freeAcks},
	{"a rejected settlement is a dead letter, and the later ones go on", rejectedGoOn},
	{"attempts are capped, with growing delay, and hold back nobody else", attemptsCapped},
	{"release gives back, extend prolongs", releaseAndExtend},
	{"two claimers at once never hold one player", claimersAtOnce},
	{"a failed claim or acknowledgement that had an effect: each step", feedFaults},
}

// play settles rounds of dice with payouts 0, 2, 0, 2, ...
func (p *subject) play(rounds int) []ledger.RoundID {
	p.t.Helper()
	var ids []ledger.RoundID
	for i := range rounds {
		drawn := p.draw(p.dice(1))
		p.settle(p.settlement(drawn, money.Units(i%2*2)))
		ids = append(ids, drawn.Round.ID)
	}
	return ids
}

// playerOf returns a player of an operator.
func playerOf(t fataler, w Wallets, operator string) *subject {
	t.Helper()
	p := newcomer(t, w.Store, ledger.Player{Operator: operator, ID: "p:" + unique()}, 1000)
	p.rotate()
	return p
}

func claim(t fataler, w Wallets, c ledger.Claim) []ledger.SettledRound {
	t.Helper()
	got, err := w.Store.Claim(ctx, c)
	if err != nil {
		t.Fatalf("claim %s: %v", c.ID, err)
	}
	return got
}

func newClaim(operator string, most int, lease time.Duration) ledger.Claim {
	return ledger.Claim{Operator: operator, ID: "claim-" + unique(), Consumer: "c", Max: most, Lease: lease}
}

func acknowledge(t fataler, w Wallets, operator string, acks ...ledger.Ack) []ledger.AckStatus {
	t.Helper()
	got, err := w.Store.Acknowledge(ctx, operator, acks)
	if err != nil || len(got) != len(acks) {
		t.Fatalf("acknowledge: %v, %v", got, err)
	}
	var statuses []ledger.AckStatus
	for _, r := range got {
		statuses = append(statuses, r.Status)
	}
	return statuses
}

// booked acknowledges what was claimed.
func booked(rounds []ledger.SettledRound) (acks []ledger.Ack) {
	for _, r := range rounds {
		acks = append(acks, ledger.Ack{Round: r.Round, Token: r.Token, WalletTransaction: "tx-" + r.Round.String()[20:]})
	}
	return acks
}

func wantStatuses(t fataler, got []ledger.AckStatus, want ...ledger.AckStatus) {
	t.Helper()
	wantSame(t, "statuses", got, want)
}

func all(n int, s ledger.AckStatus) []ledger.AckStatus {
	return slices.Repeat([]ledger.AckStatus{s}, n)
}

func roundsOf(items []ledger.SettledRound) (ids []ledger.RoundID) {
	for _, r := range items {
		ids = append(ids, r.Round)
	}
	return ids
}

const long = time.Minute

func settledRounds(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	seen := map[bet.Game]bool{}
	for i, d := range p.everyGame() {
		drawn := p.draw(d)
		s := p.settlement(drawn, money.Units(i))
		settled := p.settle(s).Round
		got, err := w.Store.Settlement(ctx, p.Operator, drawn.Round.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "settlement", got, ledger.SettledRound{
			Round: drawn.Round.ID, Sequence: uint64(i + 1), Player: p.Player, BetID: d.BetID, Game: d.Bet.Game, State: ledger.Settled,
			Currency: d.Currency, Stake: d.Stake, Payout: money.Units(i), SettleTime: settled.SettleTime,
		})
		seen[got.Game] = true
	}
	if len(seen) < 4 {
		t.Fatalf("games %v", seen)
	}
	open := p.draw(p.dice(1))
	_, err := w.Store.Settlement(ctx, p.Operator, open.Round.ID)
	wantErr(t, err, ledger.ErrNotFound)
	open.Round.ID.Nonce += 500
	_, err = w.Store.Settlement(ctx, p.Operator, open.Round.ID)
	wantErr(t, err, ledger.ErrNotFound)
}

func feedResumes(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	q := &subject{Player: neighbour(p.Player), t: t, store: w.Store}
	q.open(ledger.Grant{Currency: fun, Amount: 1000})
	q.rotate()
	var want []ledger.RoundID
	for range 40 { // blocks of the outbox hold 255
		want = append(append(want, p.play(7)...), q.play(3)...)
	}
	for _, size := range []int{1, 7, 200, 1000} {
		var got []ledger.SettledRound
		for {
			page, last, err := w.Store.Settlements(ctx, p.Operator, p.Partition(), uint64(len(got)), size)
			if err != nil || last != 400 || len(page) > size {
				t.Fatalf("%d of %d, %v", len(page), last, err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if !slices.Equal(roundsOf(got), want) {
			t.Fatalf("pages of %d: %d settlements, or in another order", size, len(got))
		}
		for i, r := range got {
			owner := p.Player
			if r.Round.Pair == q.pair {
				owner = q.Player
			}
			if r.Sequence != uint64(i+1) || r.Player != owner || r.Token != 0 {
				t.Fatalf("settlement %d: %+v", i, r)
			}
		}
	}
	for range 2 {
		if page, last, err := w.Store.Settlements(ctx, p.Operator, p.Partition(), 5000, 10); len(page) > 0 || last != 400 || err != nil {
			t.Fatalf("%d of %d, %v", len(page), last, err)
		}
	}
}

func voidRounds(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	drawn := p.draw(p.mines(70))
	s := p.settlement(drawn, 70)
	s.State = ledger.Void
	p.settle(s)
	p.settle(s)
	p.wantBalance(1000)
	got := claim(t, w, newClaim(p.Operator, 10, long))
	if len(got) != 1 || got[0].State != ledger.Void || got[0].Payout != 70 || got[0].Stake != 70 {
		t.Fatalf("%+v", got)
	}
}

func zeroCredit(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	p.play(1)
	got := claim(t, w, newClaim(p.Operator, 10, long))
	if len(got) != 1 || got[0].State != ledger.Settled || got[0].Payout != 0 || got[0].Stake != 1 {
		t.Fatalf("%+v", got)
	}
}

func foreignSettlements(t *testing.T, w Wallets) {
	p, other := newSubject(t, w.Store), "op-"+unique()
	ids := p.play(3)
	check := func() {
		t.Helper()
		_, err := w.Store.Settlement(ctx, other, ids[0])
		wantErr(t, err, ledger.ErrNotFound)
		for _, name := range []string{other, p.Operator[:len(p.Operator)-1], p.Operator + "0", ""} {
			wantStatuses(t, acknowledge(t, w, name, ledger.Ack{Round: ids[0], WalletTransaction: "x"}), ledger.AckNotFound)
			wantErr(t, w.Store.Requeue(ctx, name, ids[1]), ledger.ErrNotFound)
		}
		for part := range ledger.Partitions {
			if page, last, err := w.Store.Settlements(ctx, other, part, 0, 10); len(page) > 0 || last > 0 || err != nil {
				t.Fatalf("%v, %d, %v", page, last, err)
			}
			if dead, err := w.Store.Rejected(ctx, other, part, 0, 10); len(dead) > 0 || err != nil {
				t.Fatalf("%v, %v", dead, err)
			}
		}
		if got := claim(t, w, newClaim(other, 10, long)); len(got) > 0 {
			t.Fatalf("%+v", got)
		}
	}
	check()
	c := newClaim(p.Operator, 2, long)
	got := claim(t, w, c)
	wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: ids[1], Token: got[1].Token, Rejected: true}), ledger.Acknowledged)
	check()
	for _, change := range []func() (int, error){
		func() (int, error) { return w.Store.Release(ctx, other, c.ID) },
		func() (int, error) { n, _, err := w.Store.Extend(ctx, other, c.ID, long); return n, err },
	} {
		if n, err := change(); n != 0 || err != nil {
			t.Fatalf("%d players, %v", n, err)
		}
	}
	c.Operator, c.Max = other, 7
	if got := claim(t, w, c); len(got) > 0 { // their own id, not that of p's operator
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got[:1])...), ledger.Acknowledged)
}

func claimLeasesPlayers(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	q := playerOf(t, w, p.Operator)
	mine, his := p.play(3), q.play(2)
	first := claim(t, w, newClaim(p.Operator, 100, long))
	if len(first) != 5 {
		t.Fatalf("%d settlements", len(first))
	}
	byPlayer := map[ledger.Player][]ledger.RoundID{}
	for _, r := range first {
		byPlayer[r.Player] = append(byPlayer[r.Player], r.Round)
		if left := time.Until(r.LeaseExpire); r.Token == 0 || r.Attempt != 1 || left < long-10*time.Second || left > long+time.Second {
			t.Fatalf("%+v", r)
		}
	}
	wantSame(t, "runs", byPlayer, map[ledger.Player][]ledger.RoundID{p.Player: mine, q.Player: his})
	more := p.play(2) // he is leased: nobody else gets them
	third := playerOf(t, w, p.Operator)
	own := third.play(1)
	if got := claim(t, w, newClaim(p.Operator, 100, long)); !slices.Equal(roundsOf(got), own) {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(first)...), all(5, ledger.Acknowledged)...)
	got := claim(t, w, newClaim(p.Operator, 100, long))
	if !slices.Equal(roundsOf(got), more) || got[0].Token <= first[0].Token {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(2, ledger.Acknowledged)...)
	if got := claim(t, w, newClaim(p.Operator, 100, long)); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
}

func claimRepeated(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	for range 4 {
		playerOf(t, w, p.Operator).play(3)
	}
	const lease = 600 * time.Millisecond
	c := newClaim(p.Operator, 9, lease)
	first := claim(t, w, c)
	if len(first) != 9 {
		t.Fatalf("%d settlements", len(first))
	}
	playerOf(t, w, p.Operator).play(3)
	wantSame(t, "repeat", claim(t, w, c), first)
	for _, change := range []func(*ledger.Claim){
		func(c *ledger.Claim) { c.Consumer = "other" }, func(c *ledger.Claim) { c.Max++ }, func(c *ledger.Claim) { c.Lease++; c.Lease += time.Second },
	} {
		other := c
		change(&other)
		_, err := w.Store.Claim(ctx, other)
		wantErr(t, err, ledger.ErrClaimReused)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(first[:1])...), ledger.Acknowledged)
	again := claim(t, w, c)
	if !slices.Equal(roundsOf(again), roundsOf(first)) || again[0].WalletTransaction == "" {
		t.Fatalf("%+v", again)
	}
	w.Wait(lease)
	for range 2 {
		if got := claim(t, w, c); len(got) > 0 {
			t.Fatalf("after its end the claim has %+v", got)
		}
	}
}

func claimCut(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(10)
	first := claim(t, w, newClaim(p.Operator, 4, long))
	if !slices.Equal(roundsOf(first), ids[:4]) {
		t.Fatalf("%+v", first)
	}
	if got := claim(t, w, newClaim(p.Operator, 4, long)); len(got) > 0 {
		t.Fatalf("a leased player was given to another: %+v", got)
	}
	// What is left of the run comes first next time.
	wantStatuses(t, acknowledge(t, w, p.Operator, booked([]ledger.SettledRound{first[0], first[2]})...), all(2, ledger.Acknowledged)...)
	c := newClaim(p.Operator, 3, long)
	if got := claim(t, w, c); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked([]ledger.SettledRound{first[1], first[3]})...), all(2, ledger.Acknowledged)...)
	if got := claim(t, w, newClaim(p.Operator, 3, long)); !slices.Equal(roundsOf(got), ids[4:7]) {
		t.Fatalf("%+v", got)
	}
}

func expiredLease(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(2)
	const lease = 300 * time.Millisecond
	old := claim(t, w, newClaim(p.Operator, 10, lease))
	w.Wait(lease)
	next := claim(t, w, newClaim(p.Operator, 10, long))
	if !slices.Equal(roundsOf(next), ids) || next[0].Token <= old[0].Token || next[0].Attempt != 2 {
		t.Fatalf("%+v after %+v", next, old)
	}
	late := booked(old)
	wantStatuses(t, acknowledge(t, w, p.Operator, late...), all(2, ledger.StaleLease)...)
	late[0].Rejected = true
	wantStatuses(t, acknowledge(t, w, p.Operator, late[0]), ledger.StaleLease)
	if got, err := w.Store.Settlement(ctx, p.Operator, ids[0]); err != nil || got.WalletTransaction != "" {
		t.Fatalf("a late acknowledgement left %+v, %v", got, err)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(next)...), all(2, ledger.Acknowledged)...)
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(old)...), all(2, ledger.AlreadyAcknowledged)...)
	late = booked(old)
	late[0].WalletTransaction = "another"
	wantStatuses(t, acknowledge(t, w, p.Operator, late[0]), ledger.Conflict)
}

func conflicts(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	transactions := []string{"0b7f5c1e-12ab-4d3f-9e00-aabbccddeeff", "0B7F5C1E-12AB-4D3F-9E00-AABBCCDDEEFF", "a", "ab", "abc", "abcd", betID(40), betID(39),
		"tx:1", "{\"n\": 1}"[:5], strings.Repeat("~", 64), strings.Repeat("A", 41)}
	ids := p.play(len(transactions))
	for i, text := range transactions {
		text = strings.ReplaceAll(text, " ", "")
		a := ledger.Ack{Round: ids[i], WalletTransaction: text}
		wantStatuses(t, acknowledge(t, w, p.Operator, a, a), ledger.Acknowledged, ledger.AlreadyAcknowledged)
		for _, wrong := range []string{text + "x", "0b7f5c1e-12ab-4d3f-9e00-aabbccddeef0"} {
			if len(wrong) > 64 {
				continue
			}
			b := a
			b.WalletTransaction = wrong
			got, err := w.Store.Acknowledge(ctx, p.Operator, []ledger.Ack{b})
			if err != nil || got[0].Status != ledger.Conflict || got[0].WalletTransaction != text {
				t.Fatalf("%q after %q: %+v, %v", wrong, text, got, err)
			}
		}
		b := a
		b.Rejected = true
		wantStatuses(t, acknowledge(t, w, p.Operator, b), ledger.Conflict)
		got, err := w.Store.Settlement(ctx, p.Operator, ids[i])
		if err != nil || got.WalletTransaction != text {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	for _, bad := range []ledger.Ack{
		{Round: ids[0]}, {Round: ids[0], WalletTransaction: strings.Repeat("a", 65)}, {Round: ids[0], WalletTransaction: "a b"},
		{Round: ids[0], WalletTransaction: "é"}, {Round: ids[0], Rejected: true, Reason: "\n"}, {Round: ids[0], Rejected: true, Reason: strings.Repeat("a", 201)},
	} {
		if got, err := w.Store.Acknowledge(ctx, p.Operator, []ledger.Ack{bad}); err == nil {
			t.Fatalf("%+v was taken: %v", bad, got)
		}
	}
}

func freeAcks(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(8)
	ack := func(i int) ledger.Ack { return ledger.Ack{Round: ids[i], WalletTransaction: fmt.Sprint("tx", i)} }
	wantStatuses(t, acknowledge(t, w, p.Operator, ack(3), ack(0)), all(2, ledger.Acknowledged)...) // not sorted yet
	first := claim(t, w, newClaim(p.Operator, 4, long))
	if !slices.Equal(roundsOf(first), []ledger.RoundID{ids[1], ids[2], ids[4], ids[5]}) {
		t.Fatalf("%+v", first)
	}
	// Whoever reads with a cursor may report what another has leased, and what nobody has.
	wantStatuses(t, acknowledge(t, w, p.Operator, ack(7), ack(4)), all(2, ledger.Acknowledged)...)
	a := booked(first)
	wantStatuses(t, acknowledge(t, w, p.Operator, a[3], a[0], a[1]), all(3, ledger.Acknowledged)...)
	wantStatuses(t, acknowledge(t, w, p.Operator, a[2]), ledger.Conflict)
	if got := claim(t, w, newClaim(p.Operator, 4, long)); !slices.Equal(roundsOf(got), ids[6:7]) {
		t.Fatalf("%+v", got)
	}
	open := p.draw(p.dice(1)).Round.ID
	unknown := open
	unknown.Nonce += 9
	wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: open, WalletTransaction: "x"}, ledger.Ack{Round: unknown, WalletTransaction: "x"}),
		all(2, ledger.AckNotFound)...)
}

func dead(t fataler, w Wallets, p ledger.Player, after uint64) []ledger.SettledRound {
	t.Helper()
	got, err := w.Store.Rejected(ctx, p.Operator, p.Partition(), after, 100)
	if err != nil {
		t.Fatalf("rejected: %v", err)
	}
	return got
}

func rejectedGoOn(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(5)
	got := claim(t, w, newClaim(p.Operator, 4, long))
	acks := booked(got)
	acks[0].Rejected, acks[0].Reason, acks[0].WalletTransaction = true, "player closed: ask", ""
	acks[2].Rejected = true
	wantStatuses(t, acknowledge(t, w, p.Operator, acks...), all(4, ledger.Acknowledged)...)
	wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: ids[0], Rejected: true}), ledger.AlreadyAcknowledged)
	letters := dead(t, w, p.Player, 0)
	if !slices.Equal(roundsOf(letters), []ledger.RoundID{ids[0], ids[2]}) || letters[0].RejectReason != "player closed: ask" || letters[0].Sequence != 1 {
		t.Fatalf("%+v", letters)
	}
	if after := dead(t, w, p.Player, 1); !slices.Equal(roundsOf(after), ids[2:3]) {
		t.Fatalf("%+v", after)
	}
	wantErr(t, w.Store.Requeue(ctx, p.Operator, ids[1]), ledger.ErrNotFound)
	if err := w.Store.Requeue(ctx, p.Operator, ids[2]); err != nil {
		t.Fatal(err)
	}
	wantErr(t, w.Store.Requeue(ctx, p.Operator, ids[2]), ledger.ErrNotFound)
	// The one that was put back comes before what nobody claimed yet.
	next := claim(t, w, newClaim(p.Operator, 4, long))
	if !slices.Equal(roundsOf(next), []ledger.RoundID{ids[2], ids[4]}) || next[0].Attempt != 1 {
		t.Fatalf("%+v", next)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(next)...), all(2, ledger.Acknowledged)...)
	// A dead letter that was booked after all is acknowledged without a token.
	wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: ids[0], Token: got[0].Token, WalletTransaction: "x"}), ledger.StaleLease)
	wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: ids[0], WalletTransaction: "x"}), ledger.Acknowledged)
	if letters := dead(t, w, p.Player, 0); len(letters) > 0 {
		t.Fatalf("%+v", letters)
	}
	if got := claim(t, w, newClaim(p.Operator, 4, long)); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
}

func attemptsCapped(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(3)
	const lease = 100 * time.Millisecond
	wait := time.Duration(0)
	for i := range w.Attempts {
		got := claim(t, w, newClaim(p.Operator, 2, lease))
		if !slices.Equal(roundsOf(got), ids[:2]) || got[0].Attempt != uint32(i+1) {
			t.Fatalf("attempt %d: %+v", i+1, got)
		}
		w.Wait(lease)
		if wait = w.Backoff << i >> 1; i == 0 {
			wait = 0
		}
		if wait > 0 {
			if got := claim(t, w, newClaim(p.Operator, 2, lease)); len(got) > 0 {
				t.Fatalf("no delay after attempt %d: %+v", i+1, got)
			}
		}
		other := playerOf(t, w, p.Operator) // is held back by nobody
		if own := other.play(1); i == 1 {
			if got := claim(t, w, newClaim(p.Operator, 1, long)); !slices.Equal(roundsOf(got), own) {
				t.Fatalf("%+v", got)
			}
		} else {
			wantStatuses(t, acknowledge(t, w, p.Operator, ledger.Ack{Round: own[0], WalletTransaction: "x"}), ledger.Acknowledged)
		}
		w.Wait(wait)
	}
	got := claim(t, w, newClaim(p.Operator, 2, long))
	if !slices.Equal(roundsOf(got), ids[1:]) {
		t.Fatalf("after the last attempt: %+v", got)
	}
	letters := dead(t, w, p.Player, 0)
	if !slices.Equal(roundsOf(letters), ids[:1]) || letters[0].RejectReason != "attempts" {
		t.Fatalf("%+v", letters)
	}
}

func releaseAndExtend(t *testing.T, w Wallets) {
	p := newSubject(t, w.Store)
	ids := p.play(2)
	c := newClaim(p.Operator, 10, long)
	old := claim(t, w, c)
	if n, err := w.Store.Release(ctx, p.Operator, c.ID); n != 1 || err != nil {
		t.Fatalf("released %d, %v", n, err)
	}
	if n, err := w.Store.Release(ctx, p.Operator, c.ID); n != 0 || err != nil {
		t.Fatalf("released %d more, %v", n, err)
	}
	if got := claim(t, w, c); len(got) > 0 {
		t.Fatalf("a claim that was given back has %+v", got)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(old)...), all(2, ledger.StaleLease)...)

	const lease = 400 * time.Millisecond
	c = newClaim(p.Operator, 10, lease)
	got := claim(t, w, c)
	if !slices.Equal(roundsOf(got), ids) || got[0].Attempt != 2 {
		t.Fatalf("%+v", got)
	}
	n, until, err := w.Store.Extend(ctx, p.Operator, c.ID, long)
	if n != 1 || err != nil || !until.After(got[0].LeaseExpire) {
		t.Fatalf("extended %d to %v, %v", n, until, err)
	}
	w.Wait(lease)
	again := claim(t, w, c)
	if !slices.Equal(roundsOf(again), ids) || !again[0].LeaseExpire.Equal(until) || again[0].Token != got[0].Token {
		t.Fatalf("%+v until %v", again, until)
	}
	if other := claim(t, w, newClaim(p.Operator, 10, long)); len(other) > 0 {
		t.Fatalf("%+v", other)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(2, ledger.Acknowledged)...)
	if n, _, err := w.Store.Extend(ctx, p.Operator, "unknown", long); n != 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
}

// claimersAtOnce has several consumers race for the settlements of many players.
// Each settlement is acknowledged once, and the runs of a player in their order.
func claimersAtOnce(t *testing.T, w Wallets) {
	operator := "op-" + unique()
	want := map[ledger.RoundID]bool{}
	for range 12 {
		for _, id := range playerOf(t, w, operator).play(20) {
			want[id] = true
		}
	}
	var mu sync.Mutex
	var done sync.WaitGroup
	last, taken := map[ledger.Player]uint64{}, map[ledger.RoundID]int{}
	for range 4 {
		done.Go(func() {
			for empty := 0; empty < 3; {
				got, err := w.Store.Claim(ctx, newClaim(operator, 7, long))
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				if len(got) == 0 {
					empty++
				}
				mu.Lock()
				for _, r := range got {
					taken[r.Round]++
					if last[r.Player] >= r.Sequence {
						t.Errorf("%s came after %d", r.Round, last[r.Player])
					}
					last[r.Player] = r.Sequence
				}
				mu.Unlock()
				results, err := w.Store.Acknowledge(ctx, operator, booked(got))
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				for _, r := range results {
					if r.Status != ledger.Acknowledged {
						t.Errorf("%+v", r)
					}
				}
			}
		})
	}
	done.Wait()
	for id := range want {
		if taken[id] != 1 {
			t.Fatalf("%s was claimed %d times", id, taken[id])
		}
	}
	if len(taken) != len(want) {
		t.Fatalf("%d of %d", len(taken), len(want))
	}
}

// feedFaults claims and acknowledges again and again; in each run another step
// fails before the store saw it, or after it was done, and the call is repeated
// with the same ids.
func feedFaults(t *testing.T, w Wallets) {
	day := func(decide func(call int) Fault) (summary []string) {
		p := newSubject(t, w.Store)
		p.play(3)
		faulty := w.Faulty(decide)
		c := newClaim(p.Operator, 10, long)
		got := must(t, func() ([]ledger.SettledRound, error) { return retriable(faulty.Claim(ctx, c)) })
		acks := booked(got)
		acks[2].Rejected = true
		results := must(t, func() ([]ledger.AckResult, error) { return retriable(faulty.Acknowledge(ctx, p.Operator, acks)) })
		for _, r := range results {
			if r.Status != ledger.Acknowledged && r.Status != ledger.AlreadyAcknowledged {
				t.Fatalf("%+v", r)
			}
		}
		letter := got[2].Round
		_, err := retried(t, func() (int, error) { return retriable(0, faulty.Requeue(ctx, p.Operator, letter)) })
		if err != nil && !errors.Is(err, ledger.ErrNotFound) { // a repeat of one that had its effect
			t.Fatal(err)
		}
		again := newClaim(p.Operator, 10, long)
		got = must(t, func() ([]ledger.SettledRound, error) { return retriable(faulty.Claim(ctx, again)) })
		must(t, func() (int, error) {
			n, _, err := faulty.Extend(ctx, p.Operator, again.ID, 2*long)
			return retriable(n, err)
		})
		must(t, func() (int, error) { return retriable(faulty.Release(ctx, p.Operator, again.ID)) })
		last := claim(t, w, newClaim(p.Operator, 10, long))
		for _, r := range append(got, last...) {
			summary = append(summary, fmt.Sprint(r.Sequence, r.Attempt, r.WalletTransaction))
		}
		rounds, _, err := w.Store.Settlements(ctx, p.Operator, p.Partition(), 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rounds {
			one, err := w.Store.Settlement(ctx, p.Operator, r.Round)
			if err != nil {
				t.Fatal(err)
			}
			summary = append(summary, one.WalletTransaction)
		}
		return append(summary, fmt.Sprint(len(dead(t, w, p.Player, 0))))
	}
	// Which partitions are looked at, and in which order, differs from run to run:
	// steps are told by how many there were.
	steps := 0
	want := day(func(call int) Fault { steps = call + 1; return None })
	for _, fault := range []Fault{Failed, Persisted} {
		for i := 0; i < steps+5; i++ {
			if i > 6 && i < steps-60 && i%7 != 0 { // the many looks are all alike
				continue
			}
			wantSame(t, fmt.Sprintf("fault %d at step %d", fault, i), day(func(call int) Fault {
				if call == i {
					return fault
				}
				return None
			}), want)
		}
	}
}

package ledgertest

import (
	"fmt"
	"slices"
	"strings"
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
	{"a dead letter that is put back comes before the later ones of its player", requeuedInOrder},
	{"a wallet that lags behind shows in its backlog", backlog},
	{"attempts are capped, with growing delay, and hold back nobody else", attemptsCapped},
	{"release gives back, extend prolongs", releaseAndExtend},
	{"what is given back again and again waits longer, and is never a dead letter", releasedStays},
	{"two claimers at once never hold one player", claimersAtOnce},
	{"what nobody booked is not forgotten with what was acknowledged beside it", pendingStays},
	{"a claim that is made twice at once has the same items both times", claimTwiceAtOnce},
	{"a claim that was cut off and is repeated has no more than its most", claimCutOff},
	{"a claim that is full at home, partly there, or not at all", claimAtHome},
	{"a claim that is cut off at any step, wherever its settlements are", claimAtHomeFaults},
	{"a claim at home comes on a dead letter", claimAtHomeBuries},
	{"a claim of 500 settlements takes 500", claimOfTheMost},
	{"a claim that many make at once has the same items, at most so many, and keeps nothing else", claimStorm},
	{"wallets that share claims and forget what they hold book all, once", claimChaos},
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
	for range 3 { // its answer was lost
		if err := w.Store.Requeue(ctx, p.Operator, ids[2]); err != nil {
			t.Fatal(err)
		}
	}
	later := p.play(1)[0] // nobody has looked for it: it waits to be claimed, too
	if err := w.Store.Requeue(ctx, p.Operator, later); err != nil {
		t.Fatal(err)
	}
	// The one that was put back comes before what nobody claimed yet.
	next := claim(t, w, newClaim(p.Operator, 4, long))
	if !slices.Equal(roundsOf(next), []ledger.RoundID{ids[2], ids[4], later}) || next[0].Attempt != 1 {
		t.Fatalf("%+v", next)
	}
	if err := w.Store.Requeue(ctx, p.Operator, ids[2]); err != nil { // a repeat that comes late calls nothing back
		t.Fatal(err)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(next)...), all(3, ledger.Acknowledged)...)
	wantErr(t, w.Store.Requeue(ctx, p.Operator, ids[2]), ledger.ErrNotFound)
	wantErr(t, w.Store.Requeue(ctx, p.Operator, p.draw(p.dice(1)).Round.ID), ledger.ErrNotFound) // an open round
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

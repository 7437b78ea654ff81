package ledgertest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// claimsAt returns a claim that is recorded in a partition, or surely in another.
func claimsAt(w Wallets, operator string, partition int, there bool, most int, lease time.Duration) ledger.Claim {
	for {
		c := newClaim(operator, most, lease)
		if w.ClaimHome == nil || (w.ClaimHome(operator, c.ID) == partition) == there {
			return c
		}
	}
}

// homes are where the settlements of a claim may lie: so many where it is
// recorded, the others elsewhere.
var homes = []struct {
	name         string
	there, other int
}{{"full at home", 4, 0}, {"just full, and more elsewhere", 4, 3}, {"partly at home", 2, 2}, {"nothing at home", 0, 4}, {"too much everywhere", 7, 6}}

// spread has two players of one partition and one of another play, and returns a
// claim of 4 at the partition of the two.
func spread(t fataler, w Wallets, there, other int) (c ledger.Claim, mine, his *subject, rounds map[ledger.Player][]ledger.RoundID) {
	mine = playerOf(t, w, "op-"+unique())
	next := newcomer(t, w.Store, neighbour(mine.Player), 1000)
	next.rotate()
	for his = playerOf(t, w, mine.Operator); his.Partition() == mine.Partition(); {
		his = playerOf(t, w, mine.Operator)
	}
	rounds = map[ledger.Player][]ledger.RoundID{
		mine.Player: mine.play(there - there/2), next.Player: next.play(there / 2), his.Player: his.play(other),
	}
	return claimsAt(w, mine.Operator, mine.Partition(), true, 4, long), mine, his, rounds
}

// wantRuns checks that a claim has the first settlements of each of its players, in
// their order, with one token for a player, and that these are so many.
func wantRuns(t fataler, got []ledger.SettledRound, rounds map[ledger.Player][]ledger.RoundID, most int) {
	t.Helper()
	if len(got) != most {
		t.Fatalf("%d settlements, want %d", len(got), most)
	}
	runs, tokens := map[ledger.Player][]ledger.RoundID{}, map[ledger.Player]uint64{}
	for _, r := range got {
		runs[r.Player] = append(runs[r.Player], r.Round)
		if before, ok := tokens[r.Player]; r.Token == 0 || ok && before != r.Token {
			t.Fatalf("%+v after token %d", r, before)
		}
		tokens[r.Player] = r.Token
	}
	for p, run := range runs {
		if len(run) > len(rounds[p]) || !slices.Equal(run, rounds[p][:len(run)]) {
			t.Fatalf("%v of %s, want the first of %v", run, p, rounds[p])
		}
	}
}

func claimAtHome(t *testing.T, w Wallets) {
	for _, h := range homes {
		c, mine, _, rounds := spread(t, w, h.there, h.other)
		total, operator := h.there+h.other, mine.Operator
		got := claim(t, w, c)
		wantRuns(t, got, rounds, min(4, total))
		if at := mine.Partition(); w.ClaimHome != nil && h.there > 0 && got[0].Player.Partition() != at {
			t.Fatalf("%s: %s is not of partition %d", h.name, got[0].Player, at)
		}
		players := map[ledger.Player]bool{}
		for _, r := range got {
			players[r.Player] = true
		}
		wantSame(t, h.name+": the repeat", claim(t, w, c), got)
		n, until, err := w.Store.Extend(ctx, operator, c.ID, 2*long)
		if n != len(players) || err != nil || !until.After(got[0].LeaseExpire) {
			t.Fatalf("%s: extended %d to %v, %v", h.name, n, until, err)
		}
		if again := claim(t, w, c); len(again) != len(got) || !again[0].LeaseExpire.Equal(until) || again[0].Token != got[0].Token {
			t.Fatalf("%s: %+v", h.name, again)
		}
		other := c
		other.Max++
		_, err = w.Store.Claim(ctx, other)
		wantErr(t, err, ledger.ErrClaimReused)
		if n, err := w.Store.Release(ctx, operator, c.ID); n != len(players) || err != nil {
			t.Fatalf("%s: released %d, %v", h.name, n, err)
		}
		if again := claim(t, w, c); len(again) > 0 {
			t.Fatalf("%s: given back, and there is %+v", h.name, again)
		}
		next := claim(t, w, claimsAt(w, operator, mine.Partition(), false, 500, long))
		wantRuns(t, next, rounds, total)
		for _, r := range next {
			before := slices.IndexFunc(got, func(g ledger.SettledRound) bool { return g.Player == r.Player })
			if before >= 0 && r.Token <= got[before].Token {
				t.Fatalf("%s: token %d after %d", h.name, r.Token, got[before].Token)
			}
		}
		wantStatuses(t, acknowledge(t, w, operator, booked(got)...), all(len(got), ledger.StaleLease)...)
		wantStatuses(t, acknowledge(t, w, operator, booked(next)...), all(total, ledger.Acknowledged)...)
	}
}

// claimAtHomeFaults has each step of a claim fail before or after it was done, in
// every place where settlements can lie. Its repeat has what one without a fault has,
// and nothing is leased that it has not.
func claimAtHomeFaults(t *testing.T, w Wallets) {
	for _, h := range homes {
		for _, fault := range []Fault{Failed, Persisted} {
			for cut, steps := 0, 1; cut < steps; cut++ {
				c, mine, _, rounds := spread(t, w, h.there, h.other)
				at := fmt.Sprintf("%s: fault %d at step %d", h.name, fault, cut)
				faulty := w.Faulty(func(call int) Fault {
					if steps = max(steps, call+1); call == cut {
						return fault
					}
					return None
				})
				got := must(t, func() ([]ledger.SettledRound, error) { return retriable(faulty.Claim(ctx, c)) })
				wantRuns(t, got, rounds, min(4, h.there+h.other))
				wantSame(t, at, claim(t, w, c), got)
				others := claim(t, w, newClaim(mine.Operator, 500, long))
				free := map[ledger.Player]bool{}
				for _, r := range got {
					free[r.Player] = true // the rest of him comes when these are acknowledged
				}
				for _, r := range others {
					if free[r.Player] {
						t.Fatalf("%s: %s is leased twice", at, r.Player)
					}
				}
				wantStatuses(t, acknowledge(t, w, mine.Operator, booked(got)...), all(len(got), ledger.Acknowledged)...)
				if len(others) > 0 {
					wantStatuses(t, acknowledge(t, w, mine.Operator, booked(others)...), all(len(others), ledger.Acknowledged)...)
				}
				rest := claim(t, w, newClaim(mine.Operator, 500, long))
				if sum := len(got) + len(others) + len(rest); sum != h.there+h.other {
					t.Fatalf("%s: %d of %d settlements", at, sum, h.there+h.other)
				}
			}
		}
	}
}

// claimAtHomeBuries claims in vain where the record of the claim is, until the oldest
// is a dead letter: the claim that finds it so is filled up with those after it.
func claimAtHomeBuries(t *testing.T, w Wallets) {
	const lease = 100 * time.Millisecond
	p := newSubject(t, w.Store)
	ids := p.play(4)
	for i := range w.Attempts {
		got := claim(t, w, claimsAt(w, p.Operator, p.Partition(), true, 2, lease))
		if !slices.Equal(roundsOf(got), ids[:2]) || got[1].Attempt != uint32(i+1) {
			t.Fatalf("attempt %d: %+v", i+1, got)
		}
		w.Wait(lease + w.Backoff<<i>>1)
	}
	c := claimsAt(w, p.Operator, p.Partition(), true, 2, long)
	got := claim(t, w, c)
	if !slices.Equal(roundsOf(got), ids[1:3]) || got[0].Attempt != uint32(w.Attempts+1) || got[1].Attempt != 1 {
		t.Fatalf("%+v", got)
	}
	wantSame(t, "the repeat", claim(t, w, c), got)
	if letters := dead(t, w, p.Player, 0); !slices.Equal(roundsOf(letters), ids[:1]) {
		t.Fatalf("%+v", letters)
	}
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(2, ledger.Acknowledged)...)
	// The last one is the oldest of its player, and a dead letter is all that is left.
	for i := range w.Attempts {
		claim(t, w, claimsAt(w, p.Operator, p.Partition(), true, 2, lease))
		w.Wait(lease + w.Backoff<<i>>1)
	}
	if got := claim(t, w, claimsAt(w, p.Operator, p.Partition(), true, 2, long)); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
	if letters := dead(t, w, p.Player, 0); !slices.Equal(roundsOf(letters), []ledger.RoundID{ids[0], ids[3]}) {
		t.Fatalf("%+v", letters)
	}
}

// claimOfTheMost has more than 500 settlements of several players in one partition.
// What the first claim leaves is claimed from elsewhere.
func claimOfTheMost(t *testing.T, w Wallets) {
	const most = 500
	p := newSubject(t, w.Store)
	want := map[ledger.Player][]ledger.RoundID{p.Player: p.play(250)}
	for range 2 {
		q := newcomer(t, w.Store, neighbour(p.Player), 1000)
		q.rotate()
		want[q.Player] = q.play(140)
	}
	c := claimsAt(w, p.Operator, p.Partition(), true, most, long)
	got := claim(t, w, c)
	wantRuns(t, got, want, most)
	wantSame(t, "the repeat", claim(t, w, c), got)
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(got)...), all(most, ledger.Acknowledged)...)
	rest := claim(t, w, claimsAt(w, p.Operator, p.Partition(), false, most, long))
	wantStatuses(t, acknowledge(t, w, p.Operator, booked(rest)...), all(30, ledger.Acknowledged)...)
}

// claimStorm has a wallet repeat its claim again and again without waiting for an
// answer, while players play. All answers are one, of at most so many settlements;
// and whatever else its calls took is given back when the last of them ends.
func claimStorm(t *testing.T, w Wallets) {
	const most, callers = 10, 8
	for range 8 {
		operator := "op-" + unique()
		var players []*subject
		for range 6 {
			players = append(players, playerOf(t, w, operator))
		}
		players[0].play(2)
		c := claimsAt(w, operator, players[0].Partition(), true, most, long)
		answers := make([][]ledger.SettledRound, callers)
		var done sync.WaitGroup
		for _, p := range players[1:] {
			done.Go(func() { p.play(4) })
		}
		for i := range answers {
			done.Go(func() {
				got, err := w.Store.Claim(ctx, c)
				if err != nil {
					t.Errorf("%v", err)
				}
				answers[i] = got
			})
		}
		done.Wait()
		for _, got := range answers {
			wantSame(t, "answer", got, answers[0])
		}
		if len(answers[0]) < 2 || len(answers[0]) > most {
			t.Fatalf("%d settlements", len(answers[0]))
		}
		wantStatuses(t, acknowledge(t, w, operator, booked(answers[0])...), all(len(answers[0]), ledger.Acknowledged)...)
		rest := claim(t, w, newClaim(operator, 500, long))
		if len(answers[0])+len(rest) != 2+4*(len(players)-1) {
			t.Fatalf("%d and %d settlements of %d", len(answers[0]), len(rest), 2+4*(len(players)-1))
		}
	}
}

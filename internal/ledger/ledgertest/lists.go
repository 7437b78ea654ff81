package ledgertest

import (
	"slices"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
)

var listChecks = []check{
	{"rounds of a pair, ascending, over every boundary", listRounds},
	{"pairs of a player, newest first", listPairs},
	{"open rounds, oldest first", listOpen},
	{"the outbox has no gaps", listOutbox},
	{"the clock goes on", clock},
}

func listRounds(t *testing.T, b Backend) {
	const count = 300 // three buckets
	p := newSubject(t, b.Store)
	for i := range count {
		d := p.dice(1)
		if i%7 == 0 {
			d.Bet = redAndStraights(1)
		}
		p.settle(p.settlement(p.draw(d), 1))
	}
	for _, q := range []struct {
		first       uint32
		count, want int
	}{{0, 1, 1}, {0, count, count}, {127, 2, 2}, {100, 100, 100}, {250, 100, 50}, {299, 1, 1}, {300, 10, 0}, {5000, 10, 0}, {0, 0, 0}} {
		rounds, err := b.Store.Rounds(ctx, p.pair, q.first, q.count)
		if err != nil || len(rounds) != q.want {
			t.Fatalf("rounds from %d: %d, %v, want %d", q.first, len(rounds), err, q.want)
		}
		for i, r := range rounds {
			if r.ID != (ledger.RoundID{Pair: p.pair, Nonce: q.first + uint32(i)}) || r.State != ledger.Settled {
				t.Fatalf("rounds from %d: place %d holds %+v", q.first, i, r)
			}
			if (r.ID.Nonce%7 == 0) != (len(r.Bet.Roulette.Chips) == 1) {
				t.Fatalf("round %s has bet %+v", r.ID, r.Bet)
			}
		}
	}
	rounds, err := b.Store.Rounds(ctx, p.next.ID, 0, 10)
	if err != nil || len(rounds) != 0 {
		t.Fatalf("rounds of a pair without: %v, %v", rounds, err)
	}
}

func listPairs(t *testing.T, b Backend) {
	p := newcomer(t, b.Store, ledger.Player{Operator: "op", ID: "list" + unique()}, 10)
	if pairs, err := b.Store.SeedPairs(ctx, p.Player, "", 10); err != nil || len(pairs) != 0 {
		t.Fatalf("pairs of a newcomer: %v, %v", pairs, err)
	}
	var ids []ledger.PairID
	for range 7 {
		p.rotate()
		ids = append(ids, p.pair)
	}
	slices.Reverse(ids)
	var got []ledger.PairID
	for from := ledger.PairID(""); ; {
		pairs, err := b.Store.SeedPairs(ctx, p.Player, from, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range pairs {
			wantSame(t, "pair", pair, p.seedPair(pair.ID))
			got = append(got, pair.ID)
		}
		if len(pairs) < 3 {
			break
		}
		if from = pairs[2].Previous; from == "" {
			break
		}
	}
	wantSame(t, "pairs", got, ids)

	stranger := newcomer(t, b.Store, neighbour(p.Player), 0)
	_, err := b.Store.SeedPairs(ctx, stranger.Player, p.pair, 10)
	wantErr(t, err, ledger.ErrNotFound)
	_, err = b.Store.SeedPairs(ctx, neighbour(p.Player), "", 10)
	wantErr(t, err, ledger.ErrNotFound)
}

func listOpen(t *testing.T, b Backend) {
	p := newSubject(t, b.Store)
	var want []ledger.RoundID
	var drawn []ledger.Drawn
	for range 5 {
		d := p.draw(p.dice(1))
		drawn, want = append(drawn, d), append(want, d.Round.ID)
	}
	mine := func() (got []ledger.RoundID) { // others may have open rounds in this partition
		for skip := 0; ; skip += 3 {
			page, err := b.Store.OpenRounds(ctx, p.Partition(), skip, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				return got
			}
			for _, o := range page {
				if o.ID.Pair != p.pair {
					continue
				}
				got = append(got, o.ID)
				if made := drawn[o.ID.Nonce].Round.CreateTime; !o.CreateTime.Equal(made) {
					t.Fatalf("open since %v, made %v", o.CreateTime, made)
				}
			}
		}
	}
	got := mine()
	slices.SortFunc(got, func(a, b ledger.RoundID) int { return int(a.Nonce) - int(b.Nonce) }) // same millisecond
	wantSame(t, "open rounds", got, want)
	for _, d := range drawn {
		p.settle(p.settlement(d, 0))
	}
	if got := mine(); len(got) != 0 {
		t.Fatalf("open after settlement: %v", got)
	}
}

func listOutbox(t *testing.T, b Backend) {
	const count = 600 // three blocks of the store's
	p := newSubject(t, b.Store)
	var want []ledger.RoundID
	for range count {
		d := p.draw(p.dice(1))
		p.settle(p.settlement(d, 1))
		want = append(want, d.Round.ID)
	}
	for _, q := range []struct {
		after       uint64
		count, want int
	}{{0, 10, 10}, {0, count, count}, {250, 10, 10}, {254, 1, 1}, {255, 1, 1}, {500, 1000, 100}, {600, 5, 0}, {1 << 60, 5, 0}, {0, 0, 0}} {
		entries, err := b.Store.Outbox(ctx, p.Operator, p.Partition(), q.after, q.count)
		if err != nil || len(entries) != q.want {
			t.Fatalf("outbox after %d: %d entries, %v, want %d", q.after, len(entries), err, q.want)
		}
		for i, e := range entries {
			if e.Sequence != q.after+uint64(i)+1 || e.Round != want[e.Sequence-1] {
				t.Fatalf("outbox after %d, place %d: %+v", q.after, i, e)
			}
		}
	}
	if e, err := b.Store.Outbox(ctx, "nobody-"+unique(), p.Partition(), 0, 10); err != nil || len(e) != 0 {
		t.Fatalf("another operator's: %v, %v", e, err)
	}
}

func clock(t *testing.T, b Backend) {
	before, err := b.Store.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := newSubject(t, b.Store)
	made := p.draw(p.dice(1)).Round.CreateTime
	after, err := b.Store.Now(ctx)
	if err != nil || after.Before(before) {
		t.Fatalf("%v, then %v, %v", before, after, err)
	}
	if made.UnixMilli() < before.UnixMilli() || made.UnixMilli() > after.UnixMilli() {
		t.Fatalf("made at %v, between %v and %v", made, before, after)
	}
}

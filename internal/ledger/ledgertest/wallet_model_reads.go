package ledgertest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/ledger"
)

// listed is a settlement as lists show it.
func (m *walletModel) listed(s *modelSettlement) ledger.SettledRound {
	r := s.SettledRound
	r.RejectReason, r.Attempt = "", 0
	return r
}

// of returns what lists show of a partition, in its order.
func (m *walletModel) of(partition int) (feed []ledger.SettledRound) {
	for _, s := range m.made {
		if s.player.Partition() == partition {
			feed = append(feed, m.listed(s))
		}
	}
	return feed
}

// list reads a page of some partition.
func (m *walletModel) list(rt *rapid.T) {
	partition := m.player(rt).Partition()
	feed := m.of(partition)
	after, count := rapid.IntRange(0, len(feed)+1).Draw(rt, "after"), rapid.IntRange(1, 9).Draw(rt, "count")
	got, last, err := m.w.Store.Settlements(ctx, m.operator, partition, uint64(after), count)
	if err != nil || last != uint64(len(feed)) {
		rt.Fatalf("last %d, %v; want %d", last, err, len(feed))
	}
	want := feed[min(after, len(feed)):min(after+count, len(feed))]
	if len(got) != len(want) {
		rt.Fatalf("%d settlements after %d, want %d", len(got), after, len(want))
	}
	for i := range want {
		wantSame(rt, "page", got[i], want[i])
	}
	m.did("listed")
}

// digest sums up the hour or the day of some settlement, or a run within.
func (m *walletModel) digest(rt *rapid.T) {
	if len(m.made) == 0 {
		return
	}
	s := rapid.SampledFrom(m.made).Draw(rt, "settlement")
	span := spanOf(s.Player, s.SettleTime, rapid.Bool().Draw(rt, "day"))
	var within []ledger.SettledRound
	for _, r := range m.of(s.player.Partition()) {
		if spanOf(r.Player, r.SettleTime, span.Day).Begin.Equal(span.Begin) {
			within = append(within, r)
		}
	}
	if rapid.Bool().Draw(rt, "a run of them") {
		first, count := rapid.IntRange(0, len(within)-1).Draw(rt, "first"), rapid.IntRange(1, 9).Draw(rt, "count")
		span.First, span.Count = within[first].Sequence, int64(count)
		within = within[first:min(first+count, len(within))]
	}
	got, want := digest(rt, m.w, span), digestOf(within)
	want.Open = got.Open
	if length := map[bool]time.Duration{false: time.Hour, true: 24 * time.Hour}[span.Day]; m.w.SetTime != nil {
		want.Open = span.Begin.Add(length).After(m.now)
	}
	wantSame(rt, "digest", got, want)
	m.did("summed up")
}

// stream goes on where an earlier one ended, and reads all that is new.
func (m *walletModel) stream(rt *rapid.T) {
	if m.w.Stream == nil {
		return
	}
	got, cursor, err := m.w.Stream(m.operator, m.cursor, len(m.made)-m.streamed)
	if err != nil {
		rt.Fatalf("stream after %q: %v", m.cursor, err)
	}
	m.cursor = cursor
	seen := make(map[int]int)
	for _, r := range got {
		seen[r.Round.Pair.Partition()]++
	}
	for partition, fresh := range seen {
		feed := m.of(partition)
		for _, r := range got {
			if r.Round.Pair.Partition() != partition {
				continue
			}
			want := feed[len(feed)-fresh]
			want.WalletTransaction = "" // a stream tells every reader the same
			wantSame(rt, "streamed", r, want)
			fresh--
		}
	}
	m.streamed = len(m.made)
	m.did("streamed")
}

// wantBacklog compares what is told of a wallet that lags behind.
func (m *walletModel) wantBacklog(rt *rapid.T) {
	got, err := m.w.Store.Backlog(ctx, m.operator)
	if err != nil {
		rt.Fatalf("backlog: %v", err)
	}
	var dead int64
	var oldest *modelSettlement
	for _, s := range m.made {
		switch s.state {
		case 'd':
			dead++
		case 'p':
			if oldest == nil || s.SettleTime.Before(oldest.SettleTime) {
				oldest = s
			}
		}
	}
	var age time.Duration
	if oldest != nil {
		age = m.now.Sub(oldest.SettleTime)
	}
	if m.w.SetTime == nil && oldest != nil && got.OldestAge < time.Minute {
		age = got.OldestAge // the store has a clock of its own
	}
	if got.DeadLetters != dead || got.OldestAge != age {
		rt.Fatalf("backlog %+v, want %d dead letters and the age %v", got, dead, age)
	}
}

package ledgertest

import (
	"cmp"
	"slices"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/ledger"
)

func (m *walletModel) acknowledge(rt *rapid.T) {
	if len(m.made) == 0 {
		return
	}
	var acks []ledger.Ack
	var want []ledger.AckStatus
	rejects := rapid.Bool().Draw(rt, "rejects")
	for range rapid.SampledFrom([]int{1, 1, 2, 6}).Draw(rt, "items") {
		s := rapid.SampledFrom(m.made).Draw(rt, "settlement")
		a := ledger.Ack{Round: s.Round, WalletTransaction: rapid.SampledFrom([]string{"tx", "ty"}).Draw(rt, "transaction")}
		if rapid.Bool().Draw(rt, "with its token") {
			a.Token = s.token
		}
		if rejects && rapid.Bool().Draw(rt, "rejected") {
			a.Rejected, a.Reason = true, "why"
		}
		acks = append(acks, a)
		status := m.decide(s, a)
		m.did(statusNames[status])
		want = append(want, status)
	}
	// Items of other partitions, or of other blocks, may be decided in another
	// order, which makes no difference: they are of other settlements, and a lease
	// that has nothing left ends with the call.
	for _, p := range m.players {
		if p.over {
			p.token, p.over = 0, false
		}
	}
	wantStatuses(rt, acknowledge(rt, m.w, m.operator, acks...), want...)
}

var statusNames = map[ledger.AckStatus]string{
	ledger.Acknowledged: "ACKNOWLEDGED", ledger.AlreadyAcknowledged: "ALREADY_ACKNOWLEDGED", ledger.StaleLease: "STALE_LEASE", ledger.Conflict: "CONFLICT",
}

func (m *walletModel) decide(s *modelSettlement, a ledger.Ack) ledger.AckStatus {
	p := s.player
	switch {
	case s.state == 'a' && !a.Rejected && s.WalletTransaction == a.WalletTransaction:
		return ledger.AlreadyAcknowledged
	case s.state == 'a':
		return ledger.Conflict
	case s.state == 'd' && a.Rejected:
		return ledger.AlreadyAcknowledged
	case a.Token != 0 && (s.state == 'd' || a.Token != p.token):
		return ledger.StaleLease
	}
	if s.state == 'p' {
		p.remove(s, m.now)
	} else {
		m.did("unburied")
	}
	s.state, s.WalletTransaction, s.RejectReason = 'a', a.WalletTransaction, ""
	if a.Rejected {
		m.did("rejected")
		s.state, s.WalletTransaction, s.RejectReason = 'd', "", cmp.Or(a.Reason, "rejected")
	}
	return ledger.Acknowledged
}

func (m *walletModel) requeue(rt *rapid.T) {
	if len(m.made) == 0 {
		return
	}
	s := rapid.SampledFrom(m.made).Draw(rt, "settlement")
	for _, other := range m.made {
		if other.state == 'd' && rapid.Bool().Draw(rt, "a dead letter") {
			s = other
			break
		}
	}
	err := m.w.Store.Requeue(ctx, m.operator, s.Round)
	if s.state == 'a' {
		wantErr(rt, err, ledger.ErrNotFound)
		return
	}
	if err != nil {
		rt.Fatalf("requeue: %v", err)
	}
	if s.state == 'p' {
		m.did("requeued again")
		return
	}
	s.state, s.RejectReason = 'p', ""
	s.player.putBack(s, m.now)
	m.did("requeued")
	if slices.Contains(s.player.held, s) {
		m.did("requeued among later ones")
	}
	if s.player.mixed {
		m.did("requeued behind leased ones")
	}
}

// stranger tries what he can guess.
func (m *walletModel) stranger(rt *rapid.T) {
	_, err := m.w.Store.GetTransfer(ctx, "stranger", transferID(rt))
	wantErr(rt, err, ledger.ErrNotFound)
	if c := m.anyClaim(rt); c != nil {
		if n, err := m.w.Store.Release(ctx, "stranger", c.ID); n > 0 || err != nil {
			rt.Fatalf("released %d, %v", n, err)
		}
	}
	if len(m.made) == 0 {
		return
	}
	s := rapid.SampledFrom(m.made).Draw(rt, "settlement")
	_, err = m.w.Store.Settlement(ctx, "stranger", s.Round)
	wantErr(rt, err, ledger.ErrNotFound)
	wantErr(rt, m.w.Store.Requeue(ctx, "stranger", s.Round), ledger.ErrNotFound)
	wantStatuses(rt, acknowledge(rt, m.w, "stranger", ledger.Ack{Round: s.Round, WalletTransaction: "x"}), ledger.AckNotFound)
}

func (m *walletModel) compare(rt *rapid.T) {
	for _, p := range m.players {
		p.subject.t = rt
		if got := balanceOf(rt, m.w.Store, p.Player, fun); got != p.balance {
			rt.Fatalf("balance %d of %s, want %d", got, p.Player, p.balance)
		}
	}
	partitions := map[int]bool{}
	for _, p := range m.players {
		if partitions[p.Partition()] {
			continue
		}
		partitions[p.Partition()] = true
		var feed, letters []ledger.SettledRound
		for _, s := range m.made {
			if s.player.Partition() != p.Partition() {
				continue
			}
			listed := m.listed(s)
			feed = append(feed, listed)
			if s.state == 'd' {
				listed.RejectReason = s.RejectReason
				letters = append(letters, listed)
			}
		}
		got, last, err := m.w.Store.Settlements(ctx, m.operator, p.Partition(), 0, 500)
		if err != nil || last != uint64(len(feed)) {
			rt.Fatalf("last %d, %v; want %d", last, err, len(feed))
		}
		wantSame(rt, "feed", got, feed)
		wantSame(rt, "dead letters", dead(rt, m.w, p.Player, 0), letters)
	}
	m.wantBacklog(rt)
	for _, s := range m.made[max(0, len(m.made)-5):] {
		got, err := m.w.Store.Settlement(ctx, m.operator, s.Round)
		attempt := s.Attempt
		if s.state != 'p' {
			attempt = 0
		}
		if err != nil || got.WalletTransaction != s.WalletTransaction || got.RejectReason != s.RejectReason || got.Attempt != attempt {
			rt.Fatalf("%+v, %v; want %q, rejected for %q, attempt %d", got, err, s.WalletTransaction, s.RejectReason, attempt)
		}
	}
}

// players of a claim whose lease is still its own, and lasts.
func (m *walletModel) holding(c *modelClaim) (players []*modelPlayer) {
	for _, p := range m.players {
		of := slices.IndexFunc(c.items, func(r ledger.SettledRound) bool { return r.Player == p.Player })
		if of >= 0 && p.token == c.items[of].Token && p.end.After(m.now) {
			players = append(players, p)
		}
	}
	return players
}

func (m *walletModel) release(rt *rapid.T) {
	c := m.anyClaim(rt)
	if c == nil {
		return
	}
	players := m.holding(c)
	if m.w.SetTime == nil && slices.ContainsFunc(players, func(p *modelPlayer) bool { return p.vain > 1 }) {
		return // he would have to wait
	}
	n, err := m.w.Store.Release(ctx, m.operator, c.ID)
	if c.released || !c.end.After(m.now) {
		players = nil
	}
	if n != len(players) || err != nil {
		rt.Fatalf("released %d, %v; want %d", n, err, len(players))
	}
	for _, p := range players {
		m.did("released")
		if p.vain > p.back {
			p.back++
		}
		p.token, p.leased, p.due = 0, 0, m.now.Add(m.delay(p.vain))
	}
	c.released = true
	if len(players) > 0 && rapid.Bool().Draw(rt, "claimed at once") {
		m.claim(rt)
	}
}

func (m *walletModel) extend(rt *rapid.T) {
	c := m.anyClaim(rt)
	if c == nil || len(c.items) == 0 {
		return
	}
	lease := m.lease(rt)
	players := m.holding(c)
	over := c.released || !c.end.After(m.now)
	if over {
		players = nil
	}
	n, _, err := m.w.Store.Extend(ctx, m.operator, c.ID, lease)
	if n != len(players) || err != nil {
		rt.Fatalf("extended %d, %v; want %d", n, err, len(players))
	}
	if over {
		return
	}
	c.end = m.now.Add(lease)
	for _, p := range players {
		m.did("extended")
		p.end, p.due = c.end, c.end.Add(m.delay(p.vain))
	}
}

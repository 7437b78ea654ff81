package ledgertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// RunWalletModel compares random interleavings of all that wallets, players and
// the clock do with a small model. Where w.SetTime is nil the clock stands, as
// far as leases are concerned.
func RunWalletModel(t *testing.T, w Wallets) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newWalletModel(rt, w)
		var look, claims = []func(*rapid.T){m.get, m.cancel, m.stranger, m.claimAgain}, []func(*rapid.T){m.claim, m.claimLater}
		rt.Repeat(map[string]func(*rapid.T){
			"": m.compare, "transfer": m.transfer, "look": func(rt *rapid.T) { rapid.SampledFrom(look).Draw(rt, "look")(rt) }, "play": m.play,
			"claim": func(rt *rapid.T) { rapid.SampledFrom(claims).Draw(rt, "claim")(rt) }, "claim later": m.claimLater,
			"acknowledge": m.acknowledge, "release": m.release, "extend": m.extend, "requeue": m.requeue, "clock": m.clock,
		})
	})
}

type walletModel struct {
	w         Wallets
	operator  string
	now       time.Time
	players   []*modelPlayer
	transfers map[string]ledger.Transfer
	claims    []*modelClaim
	made      []*modelSettlement // all of them
}

type modelPlayer struct {
	*subject
	balance money.Units
	held    []*modelSettlement // claimed, not acknowledged
	leased  int                // how many of them are
	fresh   []*modelSettlement // never claimed, or put back
	vain    int                // claims since the oldest became it
	token   uint64
	newest  uint64 // token
	end     time.Time
	due     time.Time
}

type modelSettlement struct {
	ledger.SettledRound
	player *modelPlayer
	state  byte // 'p'ending, 'a'cknowledged, 'd'ead
	token  uint64
}

type modelClaim struct {
	ledger.Claim
	items    []ledger.SettledRound
	end      time.Time
	released bool
}

func newWalletModel(rt *rapid.T, w Wallets) *walletModel {
	m := &walletModel{w: w, operator: "op-" + unique(), transfers: map[string]ledger.Transfer{}, now: storeTime(rt, w)}
	m.set(m.now.Truncate(time.Millisecond))
	for i := range 3 {
		id := ledger.Player{Operator: m.operator, ID: fmt.Sprint("p:", i)}
		if i == 2 {
			id = neighbour(m.players[0].Player)
		}
		p := &modelPlayer{subject: newcomer(rt, w.Store, id, 1000), balance: 1000}
		p.rotate()
		m.players = append(m.players, p)
	}
	return m
}

func (m *walletModel) set(now time.Time) {
	if m.w.SetTime != nil {
		m.now = now
		m.w.SetTime(now)
	}
}

func (m *walletModel) clock(rt *rapid.T) {
	m.set(m.now.Add(time.Duration(rapid.SampledFrom([]int{1, 100, 999, 1000, 5000}).Draw(rt, "ms")) * time.Millisecond))
}

// claimLater claims when leases have ended.
func (m *walletModel) claimLater(rt *rapid.T) {
	m.set(m.now.Add(time.Duration(rapid.SampledFrom([]int{3000, 10000}).Draw(rt, "ms")) * time.Millisecond))
	m.claim(rt)
}

func (m *walletModel) player(rt *rapid.T) *modelPlayer {
	return rapid.SampledFrom(m.players).Draw(rt, "player")
}

func transferID(rt *rapid.T) string {
	return fmt.Sprint("t", rapid.IntRange(0, 12).Draw(rt, "transfer"))
}

func (m *walletModel) transfer(rt *rapid.T) {
	p := m.player(rt)
	q := ledger.Transfer{
		Operator: m.operator, ID: transferID(rt), Player: p.Player.ID, Direction: ledger.Direction(rapid.IntRange(1, 2).Draw(rt, "direction")),
		Currency: fun, Amount: rapid.SampledFrom([]money.Units{1, 50, 700, money.MaxUnits}).Draw(rt, "amount"),
	}
	got, err := m.w.Store.Transfer(ctx, q)
	kept, ok := m.transfers[q.ID]
	switch {
	case ok && kept.State == ledger.Cancelled:
		wantReason(rt, err, reason.TransferCancelled)
	case ok && kept.Player != q.Player:
		wantReused(rt, err, "playerId")
	case ok && kept.Direction != q.Direction:
		wantReused(rt, err, "direction")
	case ok && kept.Amount != q.Amount:
		wantReused(rt, err, "amount")
	case err != nil:
		rt.Fatalf("transfer: %v", err)
	case ok:
		wantTransfer(rt, got, q, kept.State, kept.Balance, true)
	default:
		state := ledger.Applied
		switch {
		case q.Direction == ledger.Withdrawal && q.Amount > p.balance, q.Direction == ledger.Deposit && q.Amount > money.MaxUnits-p.balance:
			state = ledger.Refused
		case q.Direction == ledger.Withdrawal:
			p.balance -= q.Amount
		default:
			p.balance += q.Amount
		}
		wantTransfer(rt, got, q, state, p.balance, false)
		m.transfers[q.ID] = got
	}
}

func (m *walletModel) get(rt *rapid.T) {
	id := transferID(rt)
	got, err := m.w.Store.GetTransfer(ctx, m.operator, id)
	m.wantKept(rt, id, got, err)
}

func (m *walletModel) cancel(rt *rapid.T) {
	id := transferID(rt)
	got, err := m.w.Store.CancelTransfer(ctx, m.operator, id)
	if _, ok := m.transfers[id]; !ok {
		if err != nil || got.State != ledger.Cancelled || got.Replayed {
			rt.Fatalf("cancelled %+v, %v", got, err)
		}
		m.transfers[id] = got
		return
	}
	m.wantKept(rt, id, got, err)
}

func (m *walletModel) wantKept(rt *rapid.T, id string, got ledger.Transfer, err error) {
	kept, ok := m.transfers[id]
	if !ok {
		wantErr(rt, err, ledger.ErrNotFound)
		return
	}
	kept.Replayed = true
	if err != nil {
		rt.Fatalf("transfer %s: %v", id, err)
	}
	wantSame(rt, "transfer", got, kept)
}

func (m *walletModel) play(rt *rapid.T) {
	p := m.player(rt)
	for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
		if p.balance < 1 || p.balance > money.MaxUnits-10 {
			return
		}
		drawn := p.draw(p.dice(1))
		s := p.settlement(drawn, money.Units(rapid.IntRange(0, 2).Draw(rt, "payout")))
		if rapid.IntRange(0, 5).Draw(rt, "void") == 0 {
			s.State, s.Payout = ledger.Void, 1
		}
		settled := p.settle(s).Round
		p.balance += s.Payout - 1
		var sequence uint64 = 1
		for _, other := range m.made {
			if other.player.Partition() == p.Partition() {
				sequence++
			}
		}
		one := &modelSettlement{player: p, state: 'p', SettledRound: ledger.SettledRound{
			Round: settled.ID, Sequence: sequence, Player: p.Player, BetID: settled.BetID, Game: settled.Bet.Game, State: s.State,
			Currency: fun, Stake: 1, Payout: s.Payout, SettleTime: settled.SettleTime,
		}}
		m.made = append(m.made, one)
		p.add(one, m.now)
	}
}

// add makes a settlement one that can be claimed.
func (p *modelPlayer) add(s *modelSettlement, now time.Time) {
	if len(p.held)+len(p.fresh) == 0 {
		p.due = now
	}
	p.fresh = append(p.fresh, s)
	slices.SortFunc(p.fresh, func(a, b *modelSettlement) int { return int(a.Sequence) - int(b.Sequence) })
}

func (m *walletModel) delay(vain int) time.Duration {
	if vain < 2 {
		return 0
	}
	return min(time.Hour, m.w.Backoff<<(vain-2))
}

func (m *walletModel) lease(rt *rapid.T) time.Duration {
	if m.w.SetTime == nil {
		return time.Hour
	}
	return time.Duration(rapid.SampledFrom([]int{1000, 3000, 10000}).Draw(rt, "lease")) * time.Millisecond
}

func (m *walletModel) claim(rt *rapid.T) {
	c := &modelClaim{Claim: newClaim(m.operator, rapid.SampledFrom([]int{500, 500, 3, 1}).Draw(rt, "max"), m.lease(rt))}
	due := map[*modelPlayer]bool{}
	for _, p := range m.players {
		if len(p.held)+len(p.fresh) == 0 || p.due.After(m.now) {
			continue
		}
		due[p] = true
		if len(p.held) > 0 && p.vain >= m.w.Attempts {
			c.Max = 500 // so that it is known who becomes a dead letter
		}
	}
	c.items = claim(rt, m.w, c.Claim)
	c.end = m.now.Add(c.Lease)
	m.claims = append(m.claims, c)

	byPlayer := map[ledger.Player][]ledger.SettledRound{}
	for _, r := range c.items {
		byPlayer[r.Player] = append(byPlayer[r.Player], r)
		if m.w.SetTime != nil && !r.LeaseExpire.Equal(c.end) {
			rt.Fatalf("leased until %v, want %v", r.LeaseExpire, c.end)
		}
	}
	if len(c.items) > c.Max {
		rt.Fatalf("%d settlements, want at most %d", len(c.items), c.Max)
	}
	for _, p := range m.players {
		run := byPlayer[p.Player]
		if !due[p] {
			if len(run) > 0 {
				rt.Fatalf("%s is not due, and was claimed: %+v", p.Player, run)
			}
			continue
		}
		if len(p.held) > 0 && p.vain >= m.w.Attempts {
			p.held[0].state = 'd'
			p.held[0].RejectReason = "attempts"
			p.held, p.vain = p.held[1:], 0
		}
		whole := len(c.items) < c.Max
		m.leased(rt, p, run, whole, c)
	}
}

// leased checks a player's run, and makes it his lease.
func (m *walletModel) leased(rt *rapid.T, p *modelPlayer, run []ledger.SettledRound, whole bool, c *modelClaim) {
	pending := append(slices.Clone(p.held), p.fresh...)
	if whole && len(run) != len(pending) {
		rt.Fatalf("%d settlements of %s, want %d", len(run), p.Player, len(pending))
	}
	if len(pending) == 0 {
		p.token, p.leased = 0, 0
	}
	if len(run) == 0 {
		return
	}
	// Within an answer settlements stand in the order of their sequences.
	chosen := slices.Clone(pending[:len(run)])
	for i, s := range chosen {
		if i >= len(p.held) {
			s.Attempt = 0
		}
		s.Attempt++
		s.token = run[0].Token
	}
	slices.SortFunc(chosen, func(a, b *modelSettlement) int { return int(a.Sequence) - int(b.Sequence) })
	for i, s := range chosen {
		want := s.SettledRound
		want.Token, want.LeaseExpire, want.WalletTransaction, want.RejectReason = run[0].Token, run[i].LeaseExpire, "", ""
		wantSame(rt, "claimed", run[i], want)
	}
	if run[0].Token <= p.newest {
		rt.Fatalf("token %d after %d", run[0].Token, p.newest)
	}
	taken := max(0, len(run)-len(p.held))
	p.held = append(p.held, p.fresh[:taken]...)
	p.fresh = slices.Clone(p.fresh[taken:])
	p.leased, p.token, p.newest, p.end = len(run), run[0].Token, run[0].Token, c.end
	p.vain++
	p.due = c.end.Add(m.delay(p.vain))
}

func (m *walletModel) anyClaim(rt *rapid.T) *modelClaim {
	if len(m.claims) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.claims).Draw(rt, "claim")
}

func (m *walletModel) claimAgain(rt *rapid.T) {
	c := m.anyClaim(rt)
	if c == nil || len(c.items) == 0 { // the id of an empty one is free again
		return
	}
	got := claim(rt, m.w, c.Claim)
	if c.released || !c.end.After(m.now) {
		if len(got) > 0 {
			rt.Fatalf("a claim that has ended has %+v", got)
		}
		return
	}
	if !slices.Equal(roundsOf(got), roundsOf(c.items)) {
		rt.Fatalf("again %+v, first %+v", got, c.items)
	}
	for i, r := range got {
		if r.Token != c.items[i].Token || r.Attempt != c.items[i].Attempt || m.w.SetTime != nil && !r.LeaseExpire.Equal(c.end) {
			rt.Fatalf("again %+v, first %+v", r, c.items[i])
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
		p.end, p.due = c.end, c.end.Add(m.delay(p.vain))
	}
}

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
		want = append(want, m.decide(s, a))
	}
	// Items of other partitions, or of other blocks, may be decided in another
	// order, which makes no difference: they are of other settlements.
	wantStatuses(rt, acknowledge(rt, m.w, m.operator, acks...), want...)
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
	}
	s.state, s.WalletTransaction, s.RejectReason = 'a', a.WalletTransaction, ""
	if a.Rejected {
		s.state, s.WalletTransaction, s.RejectReason = 'd', "", a.Reason
	}
	return ledger.Acknowledged
}

func (p *modelPlayer) remove(s *modelSettlement, now time.Time) {
	if i := slices.Index(p.held, s); i >= 0 {
		p.held = slices.Delete(p.held, i, i+1)
		if i == 0 {
			p.vain = 0
		}
		if i < p.leased {
			if p.leased--; p.leased == 0 {
				p.token, p.due = 0, now
			}
		}
	} else {
		i := slices.Index(p.fresh, s)
		p.fresh = slices.Delete(p.fresh, i, i+1)
	}
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
	if s.state != 'd' {
		wantErr(rt, err, ledger.ErrNotFound)
		return
	}
	if err != nil {
		rt.Fatalf("requeue: %v", err)
	}
	s.state, s.RejectReason = 'p', ""
	s.player.add(s, m.now)
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
			bare := s.SettledRound
			bare.WalletTransaction, bare.RejectReason, bare.Attempt = "", "", 0
			feed = append(feed, bare)
			if s.state == 'd' {
				bare.RejectReason = s.RejectReason
				letters = append(letters, bare)
			}
		}
		got, last, err := m.w.Store.Settlements(ctx, m.operator, p.Partition(), 0, 500)
		if err != nil || last != uint64(len(feed)) {
			rt.Fatalf("last %d, %v; want %d", last, err, len(feed))
		}
		wantSame(rt, "feed", got, feed)
		wantSame(rt, "dead letters", dead(rt, m.w, p.Player, 0), letters)
	}
	for _, s := range m.made[max(0, len(m.made)-5):] {
		got, err := m.w.Store.Settlement(ctx, m.operator, s.Round)
		if err != nil || got.WalletTransaction != s.WalletTransaction {
			rt.Fatalf("%+v, %v; want %q", got, err, s.WalletTransaction)
		}
	}
}

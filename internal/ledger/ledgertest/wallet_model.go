package ledgertest

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// RunWalletModel compares random interleavings of all that wallets, players and
// the clock do with a small model: w.Runs of them, and more as long as they
// lack something that they are to contain. Where w.SetTime is nil the clock
// stands, as far as leases are concerned.
func RunWalletModel(t *testing.T, w Wallets) {
	done := make(map[string]int)
	setRapid(t, "rapid.checks", cmp.Or(w.Runs, fewRuns))
	setRapid(t, "rapid.steps", modelSteps)
	for turn := 0; turn == 0 || turn < modelTurns && lacking(done, w) != ""; turn++ {
		rapid.Check(t, func(rt *rapid.T) { runWalletModel(rt, w, done) })
	}
	if event := lacking(done, w); event != "" {
		t.Errorf("no run had an event %q: %v", event, done)
	}
}

// Few long runs go further than many short ones of as many steps: dead letters,
// and what is put back among leases, are many steps away from the beginning.
const (
	fewRuns    = 12
	modelSteps = 90 // on average
	modelTurns = 10 // so many times as many runs at most
)

// setRapid sets a flag of rapid for this test, unless the command line says it.
func setRapid(t *testing.T, name string, value int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	of := flag.Lookup(name).Value
	before := of.String()
	set := func(text string) {
		if err := of.Set(text); err != nil {
			t.Error(err)
		}
	}
	set(strconv.Itoa(value))
	t.Cleanup(func() { set(before) })
}

func runWalletModel(rt *rapid.T, w Wallets, done map[string]int) {
	m := newWalletModel(rt, w)
	m.done = done
	oneOf := func(steps ...func(*rapid.T)) func(*rapid.T) {
		return func(rt *rapid.T) { rapid.SampledFrom(steps).Draw(rt, "step")(rt) }
	}
	rt.Repeat(map[string]func(*rapid.T){
		"": m.compare, "transfer": m.transfer, "end a transfer": oneOf(m.get, m.cancel), "play": m.play,
		"look": oneOf(m.stranger, m.list, m.digest, m.stream), "claim": m.claim, "claim later": m.claimLater, "claim again": m.claimAgain,
		"acknowledge": m.acknowledge, "release": m.release, "extend": m.extend, "requeue": m.requeue, "clock": m.clock,
	})
}

type walletModel struct {
	w         Wallets
	operator  string
	now       time.Time
	players   []*modelPlayer
	transfers map[string]ledger.Transfer
	asked     []ledger.Transfer
	claims    []*modelClaim
	made      []*modelSettlement // all of them
	streamed  int                // how many a reader has
	cursor    string             // his
	done      map[string]int     // what happened, over all runs
}

// walletEvents is what random interleavings are to contain.
var walletEvents = []string{
	"APPLIED", "REFUSED", "TRANSFER_CANCELLED", "replayed", "reused", "got", "cancelled", "cancelled too late", "claimed", "claimed again",
	"ACKNOWLEDGED", "ALREADY_ACKNOWLEDGED", "STALE_LEASE", "CONFLICT", "rejected", "unburied", "released", "extended", "requeued", "requeued again", "requeued among later ones",
	"requeued behind leased ones", "listed", "summed up", "VOID",
}

// lacking returns one of them that no run had, or "".
func lacking(done map[string]int, w Wallets) string {
	wanted := walletEvents
	if w.SetTime != nil {
		wanted = append(slices.Clone(wanted), "out of attempts")
	}
	if w.Stream != nil {
		wanted = append(slices.Clone(wanted), "streamed")
	}
	for _, event := range wanted {
		if done[event] == 0 {
			return event
		}
	}
	return ""
}

func (m *walletModel) did(event string) { m.done[event]++ }

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
	return fmt.Sprint("t", rapid.IntRange(0, 8).Draw(rt, "transfer"))
}

func (m *walletModel) transfer(rt *rapid.T) {
	p := m.player(rt)
	q := ledger.Transfer{
		Operator: m.operator, ID: transferID(rt), Player: p.Player.ID, Direction: ledger.Direction(rapid.IntRange(1, 2).Draw(rt, "direction")),
		Currency: fun, Amount: rapid.SampledFrom([]money.Units{1, 50, 700, max(1, p.balance), money.MaxUnits}).Draw(rt, "amount"),
	}
	if len(m.asked) > 0 && rapid.IntRange(0, 3).Draw(rt, "again") == 0 {
		q = rapid.SampledFrom(m.asked).Draw(rt, "which")
	}
	m.asked = append(m.asked, q)
	got, err := m.w.Store.Transfer(ctx, q)
	kept, ok := m.transfers[q.ID]
	if ok && kept.State != ledger.Cancelled && err != nil {
		m.did("reused")
	}
	switch {
	case ok && kept.State == ledger.Cancelled:
		m.did("TRANSFER_CANCELLED")
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
		m.did("replayed")
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
		m.did(map[ledger.TransferState]string{ledger.Applied: "APPLIED", ledger.Refused: "REFUSED"}[state])
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
		m.did("cancelled")
		m.transfers[id] = got
		return
	}
	m.did("cancelled too late")
	m.wantKept(rt, id, got, err)
}

func (m *walletModel) wantKept(rt *rapid.T, id string, got ledger.Transfer, err error) {
	kept, ok := m.transfers[id]
	if !ok {
		wantErr(rt, err, ledger.ErrNotFound)
		return
	}
	m.did("got")
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
			m.did("VOID")
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
		if s.State == ledger.Void {
			one.VoidReason = "STORE_REPLACED"
		}
		m.made = append(m.made, one)
		p.add(one, m.now)
	}
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
	c := &modelClaim{Claim: claimsAt(m.w, m.operator, m.player(rt).Partition(), rapid.Bool().Draw(rt, "at home"),
		rapid.SampledFrom([]int{500, 500, 3, 1}).Draw(rt, "max"), m.lease(rt))}
	due := map[*modelPlayer]bool{}
	for _, p := range m.players {
		if len(p.held)+len(p.fresh) == 0 || p.due.After(m.now) {
			continue
		}
		due[p] = true
		p.sort()
		if p.spent(m.w.Attempts) {
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
		if p.spent(m.w.Attempts) {
			m.did("out of attempts")
			p.held[0].state = 'd'
			p.held[0].RejectReason = "attempts"
			p.held, p.vain, p.back = p.held[1:], 0, 0
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
	m.did("claimed")
	// Within an answer settlements stand in the order of their sequences, and the
	// oldest are leased first.
	chosen := slices.Clone(pending[:len(run)])
	if !slices.IsSortedFunc(pending, bySequence) {
		rt.Fatalf("the model has lost the order of %s", p.Player)
	}
	for i, s := range chosen {
		if i >= len(p.held) {
			s.Attempt = 0
		}
		s.Attempt++
		s.token = run[0].Token
	}
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
	if rapid.Bool().Draw(rt, "the newest") {
		return m.claims[len(m.claims)-1]
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
	m.did("claimed again")
	if !slices.Equal(roundsOf(got), roundsOf(c.items)) {
		rt.Fatalf("again %+v, first %+v", got, c.items)
	}
	for i, r := range got {
		if r.Token != c.items[i].Token || r.Attempt != c.items[i].Attempt || m.w.SetTime != nil && !r.LeaseExpire.Equal(c.end) {
			rt.Fatalf("again %+v, first %+v", r, c.items[i])
		}
	}
}

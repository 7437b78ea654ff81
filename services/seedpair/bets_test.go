package seedpair_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/seedpair"
)

// repeatable is a bet of one game that can be sent again, and altered.
type repeatable struct {
	name string
	send func() answer[*originalsv1.Round]
	// other are the ways to change one field of the content.
	other map[string]func() answer[*originalsv1.Round]
}

// altered sends a copy of a request after a change.
func altered[T proto.Message, R any](req T, send func(T) (R, error), change func(T)) func() answer[R] {
	return func() answer[R] {
		other := proto.CloneOf(req)
		change(other)
		return got(send(other))
	}
}

func (p *player) everyGame() []repeatable {
	p.t.Helper()
	d, l, r, m := p.diceBet(100), p.limboBet(100), p.rouletteBet(100), p.minesStart(100)
	r.Chips = append(r.Chips, &originalsv1.Chip{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{7}, Amount: 5})
	dice := func(q *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return p.dice.PlaceBet(p.ctx, q)
	}
	limbo := func(q *originalsv1.LimboServicePlaceBetRequest) (*originalsv1.Round, error) {
		return p.limbo.PlaceBet(p.ctx, q)
	}
	roulette := func(q *originalsv1.RouletteServicePlaceBetRequest) (*originalsv1.Round, error) {
		return p.roulette.PlaceBet(p.ctx, q)
	}
	mines := func(q *originalsv1.StartRoundRequest) (*originalsv1.Round, error) {
		return p.mines.StartRound(p.ctx, q)
	}
	type calls = map[string]func() answer[*originalsv1.Round]
	return []repeatable{
		{"dice", func() answer[*originalsv1.Round] { return got(dice(d)) }, calls{
			"amount":    altered(d, dice, func(q *originalsv1.DiceServicePlaceBetRequest) { q.Stake.Amount++ }),
			"currency":  altered(d, dice, func(q *originalsv1.DiceServicePlaceBetRequest) { q.Stake.Currency = "USD" }),
			"target":    altered(d, dice, func(q *originalsv1.DiceServicePlaceBetRequest) { q.Target++ }),
			"direction": altered(d, dice, func(q *originalsv1.DiceServicePlaceBetRequest) { q.Direction = originalsv1.Dice_OVER }),
			"another game": func() answer[*originalsv1.Round] {
				q := p.limboBet(100)
				q.BetId = d.BetId
				return got(limbo(q))
			},
			"mines": func() answer[*originalsv1.Round] {
				q := p.minesStart(100)
				q.BetId = d.BetId
				return got(mines(q))
			},
		}},
		{"limbo", func() answer[*originalsv1.Round] { return got(limbo(l)) }, calls{
			"amount":   altered(l, limbo, func(q *originalsv1.LimboServicePlaceBetRequest) { q.Stake.Amount++ }),
			"currency": altered(l, limbo, func(q *originalsv1.LimboServicePlaceBetRequest) { q.Stake.Currency = "USD" }),
			"targetE2": altered(l, limbo, func(q *originalsv1.LimboServicePlaceBetRequest) { q.TargetE2++ }),
		}},
		{"roulette", func() answer[*originalsv1.Round] { return got(roulette(r)) }, calls{
			"currency": altered(r, roulette, func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Currency = "USD" }),
			"amount":   altered(r, roulette, func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips[0].Amount++ }),
			"kind":     altered(r, roulette, func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips[0].Kind = originalsv1.Chip_BLACK }),
			"numbers":  altered(r, roulette, func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips[1].Numbers[0] = 8 }),
			"same stake, spread differently": altered(r, roulette, func(q *originalsv1.RouletteServicePlaceBetRequest) {
				q.Chips[0].Amount, q.Chips[1].Amount = q.Chips[1].Amount, q.Chips[0].Amount
			}),
			"one chip less": altered(r, roulette, func(q *originalsv1.RouletteServicePlaceBetRequest) { q.Chips = q.Chips[:1] }),
		}},
		{"mines", func() answer[*originalsv1.Round] { return got(mines(m)) }, calls{
			"amount":    altered(m, mines, func(q *originalsv1.StartRoundRequest) { q.Stake.Amount++ }),
			"currency":  altered(m, mines, func(q *originalsv1.StartRoundRequest) { q.Stake.Currency = "USD" }),
			"mineCount": altered(m, mines, func(q *originalsv1.StartRoundRequest) { q.MineCount++ }),
		}},
	}
}

func TestSameBetIDSameContentIsTheSameRound(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		other := p.at(h.process())
		games := p.everyGame()
		first := make([]*originalsv1.Round, len(games))
		for i, g := range games {
			first[i] = g.send().must(t)
			same(t, g.name+": answers", first[i], g.send().must(t))
		}
		balance, nonce := p.balance(), p.nonce()
		for i, g := range games {
			again := g.send().must(t)
			again.Balance = first[i].Balance // of now
			same(t, g.name+": later answers", first[i], again)
		}
		if p.balance() != balance || p.nonce() != nonce || nonce != 4 {
			t.Errorf("repeats took %d and moved the nonce from %d to %d", balance-p.balance(), nonce, p.nonce())
		}
		d := p.diceBet(100)
		one, two := got(p.dice.PlaceBet(p.ctx, d)).must(t), got(other.dice.PlaceBet(p.ctx, d)).must(t)
		same(t, "answers of two processes", one, two)
	})
}

func TestRepeatAfterTheRotation(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		games := p.everyGame()[:3]
		var first []*originalsv1.Round
		for _, g := range games {
			first = append(first, g.send().must(t))
		}
		p.rotate()
		balance := p.balance()
		for i, g := range games {
			again := g.send().must(t)
			if again.GetBalance().GetAmount() != balance {
				t.Errorf("%s: balance %d, want that of now, %d", g.name, again.GetBalance().GetAmount(), balance)
			}
			again.Balance = first[i].Balance
			same(t, g.name+": answers before and after the rotation", first[i], again)
			for name, send := range g.other {
				if name != "mines" && name != "another game" {
					send().refused(t, reason.BetIDReused)
				}
			}
		}
		if p.nonce() != 0 || p.balance() != balance {
			t.Errorf("nonce %d, balance %d; want 0 and %d", p.nonce(), p.balance(), balance)
		}
	})
}

func TestSameIdempotencyKeyDifferentBody(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		games := p.everyGame()
		for _, g := range games {
			g.send().must(t)
		}
		balance, cases := p.balance(), 0
		for _, g := range games {
			for name, send := range g.other {
				cases++
				t.Run(g.name+" "+name, func(t *testing.T) { send().refused(t, reason.BetIDReused, "nonce", "4") })
			}
		}
		if cases < 18 {
			t.Fatalf("%d cases", cases)
		}
		if p.balance() != balance || p.nonce() != 4 {
			t.Errorf("refusals took %d, next nonce %d", balance-p.balance(), p.nonce())
		}
	})
}

// A bet id is unique per seed pair: another pair and another player may use it.
func TestBetIDOfAnotherPairIsAnotherBet(t *testing.T) {
	h := newHouse(t)
	p, q := h.player(), h.player()
	first := p.diceBet(100)
	got(p.dice.PlaceBet(p.ctx, first)).must(t)
	p.rotate()
	first.SeedPairId = p.pair
	if r := got(p.dice.PlaceBet(p.ctx, first)).must(t); r.GetNonce() != 0 || r.GetSeedPairId() != p.pair {
		t.Errorf("round %v", r)
	}
	first.SeedPairId = q.pair
	if r := got(q.dice.PlaceBet(q.ctx, first)).must(t); r.GetSeedPairId() != q.pair {
		t.Errorf("round %v", r)
	}
}

func TestTheSameBetSentManyTimesAtOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		processes := []*player{p, p.at(h.process())}
		bet := p.diceBet(100)
		rounds := make([]*originalsv1.Round, 32)
		var group sync.WaitGroup
		for i := range rounds {
			group.Go(func() { rounds[i], _ = processes[i%2].dice.PlaceBet(p.ctx, bet) })
		}
		group.Wait()
		for _, r := range rounds {
			if r == nil {
				t.Fatal("a repeat was refused")
			}
			same(t, "answers", rounds[0], r)
		}
		want := 1_000_000 - 100 + rounds[0].GetPayout().GetAmount()
		if p.balance() != want || p.nonce() != 1 {
			t.Errorf("balance %d and nonce %d, want %d and 1", p.balance(), p.nonce(), want)
		}
	})
}

func TestConcurrentBetsTakeEachNonceOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		const bets = 64
		var mu sync.Mutex
		nonces, sum := map[uint32]bool{}, int64(0)
		var group sync.WaitGroup
		for range bets {
			group.Go(func() {
				r, err := p.dice.PlaceBet(p.ctx, p.diceBet(100))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				nonces[r.GetNonce()] = true
				sum += r.GetPayout().GetAmount() - 100
			})
		}
		group.Wait()
		for n := range uint32(bets) {
			if !nonces[n] {
				t.Errorf("nonce %d is missing", n)
			}
		}
		if p.balance() != 1_000_000+sum {
			t.Errorf("balance %d, want %d", p.balance(), 1_000_000+sum)
		}
	})
}

// tight has limits of its own for each game.
func tight(o *seedpair.Options) {
	o.House.Currencies = []config.Currency{{Code: "FUN", Limits: config.Limits{
		Default: config.Range{MinStake: 100, MaxStake: 1000, MaxPayout: 2000},
		Limbo:   &config.Range{MinStake: 10, MaxStake: 500, MaxPayout: 999},
	}}}
}

func TestLimitsRefuseABetAndNeverCutIt(t *testing.T) {
	h := newHouse(t, tight)
	p := h.player()
	dice := func(stake int64, target uint32) answer[*originalsv1.Round] {
		b := p.diceBet(stake)
		b.Target = target
		return got(p.dice.PlaceBet(p.ctx, b))
	}
	limbo := func(stake int64, target uint32) answer[*originalsv1.Round] {
		b := p.limboBet(stake)
		b.TargetE2 = target
		return got(p.limbo.PlaceBet(p.ctx, b))
	}
	roulette := func(stake int64, kind originalsv1.Chip_Kind, numbers ...uint32) answer[*originalsv1.Round] {
		b := p.rouletteBet(stake)
		b.Chips[0].Kind, b.Chips[0].Numbers = kind, numbers
		return got(p.roulette.PlaceBet(p.ctx, b))
	}
	for name, c := range map[string]struct {
		a            answer[*originalsv1.Round]
		limit, value string
	}{
		"dice below minStake":     {dice(99, 5000), "minStake", "100"},
		"dice above maxStake":     {dice(1001, 5000), "maxStake", "1000"},
		"dice above maxPayout":    {dice(1000, 4945), "maxPayout", "2000"}, // floor(99000000/4945) = 20020: 2002
		"dice far above":          {dice(1000, 1), "maxPayout", "2000"},
		"limbo below its own":     {limbo(9, 200), "minStake", "10"},
		"limbo above its own":     {limbo(501, 200), "maxStake", "500"},
		"limbo payout above":      {limbo(500, 200), "maxPayout", "999"},
		"roulette below minStake": {roulette(99, originalsv1.Chip_RED), "minStake", "100"},
		"roulette above maxStake": {roulette(1001, originalsv1.Chip_RED), "maxStake", "1000"},
		"roulette payout above":   {roulette(100, originalsv1.Chip_STRAIGHT, 7), "maxPayout", "2000"},
	} {
		t.Run(name, func(t *testing.T) {
			c.a.refused(t, reason.LimitExceeded, "limit", c.limit, "value", c.value, "nonce", "0")
		})
	}
	if p.balance() != 1_000_000 {
		t.Errorf("refused bets took %d", 1_000_000-p.balance())
	}
	dice(100, 5000).must(t)
	dice(1000, 4950).must(t) // floor(1000 * 20000 / 10000) = 2000, the limit
	limbo(10, 200).must(t)
	limbo(499, 200).must(t) // 998
	roulette(1000, originalsv1.Chip_RED).must(t)
}

func TestMinesAreBoundedByPicksAndNotCut(t *testing.T) {
	h := newHouse(t, tight)
	p := h.player()
	m := p.minesStart(1000)
	m.MineCount = 24 // the first pick pays 24.75 times
	got(p.mines.StartRound(p.ctx, m)).refused(t, reason.LimitExceeded, "limit", "maxPayout", "value", "2000", "nonce", "0")
	// floor(9900*C(25,k)/C(22,k)): 11250, 12857, 14785, 17120, 19973, 23498: the sixth would pay 2349.
	if r := p.startMines(1000); r.GetMines().GetMaxPicks() != 5 {
		t.Errorf("maxPicks %d, want 5", r.GetMines().GetMaxPicks())
	}
}

func TestStakeTooSmallAndNoWinPossible(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	d := p.diceBet(1)
	d.Target = 9800 // pays 1.0102
	got(p.dice.PlaceBet(p.ctx, d)).refused(t, reason.StakeTooSmall, "nonce", "0")
	l := p.limboBet(99)
	l.TargetE2 = 101 // floor(99.99) = 99
	got(p.limbo.PlaceBet(p.ctx, l)).refused(t, reason.StakeTooSmall, "nonce", "0")
	l.Stake.Amount = 100 // 101
	got(p.limbo.PlaceBet(p.ctx, l)).must(t)
	m := p.minesStart(1)
	m.MineCount = 1 // the first pick pays 1.0312
	got(p.mines.StartRound(p.ctx, m)).refused(t, reason.StakeTooSmall, "nonce", "1")
	r := p.rouletteBet(100)
	r.Chips = append(r.Chips, &originalsv1.Chip{Kind: originalsv1.Chip_BLACK, Amount: 100})
	got(p.roulette.PlaceBet(p.ctx, r)).refused(t, reason.NoWinPossible, "nonce", "1")
	r.Chips = nil
	for n := range uint32(32) {
		r.Chips = append(r.Chips, &originalsv1.Chip{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{n}, Amount: 9})
	}
	got(p.roulette.PlaceBet(p.ctx, r)).must(t) // 288 for 324
	r.BetId = unique("bet")
	for _, c := range r.Chips {
		c.Amount = 8 // 256 for 288: wins
	}
	r.Chips = append(r.Chips[:31], &originalsv1.Chip{Kind: originalsv1.Chip_LOW, Amount: 1000})
	if _, err := p.roulette.PlaceBet(p.ctx, r); err != nil {
		t.Error(err)
	}
}

func TestInsufficientFundsNamesTheBalance(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	got(p.dice.PlaceBet(p.ctx, p.diceBet(1_000_001))).refused(t, reason.InsufficientFunds, "balance", "1000000", "nonce", "0")
	usd := p.diceBet(100)
	usd.Stake.Currency = "USD"
	got(p.dice.PlaceBet(p.ctx, usd)).refused(t, reason.InsufficientFunds, "balance", "0", "nonce", "0")
	usd.Stake.Currency = "DOGE"
	got(p.dice.PlaceBet(p.ctx, usd)).refused(t, reason.InvalidField, "field", "currency")
	if r := p.playDice(1_000_000); r.GetNonce() != 0 {
		t.Errorf("the whole balance as a stake has nonce %d", r.GetNonce())
	}
}

// The balance that is staked first is not there for the second bet.
func TestConcurrentBetsNeverOverdraw(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var group sync.WaitGroup
		var mu sync.Mutex
		taken, refused := 0, 0
		for range 16 {
			group.Go(func() {
				b := p.minesStart(300_000)
				_, err := p.vault("dice").Draw(p.ctx, diceDraw(&originalsv1.DiceServicePlaceBetRequest{
					BetId: b.BetId, SeedPairId: b.SeedPairId, Stake: b.Stake, Target: 5000, Direction: originalsv1.Dice_OVER,
				}))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					taken++
				case reason.Of(err) == reason.InsufficientFunds:
					refused++
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if taken != 3 || refused != 13 || p.balance() != 100_000 {
			t.Errorf("%d taken, %d refused, balance %d", taken, refused, p.balance())
		}
	})
}

// "Failed" call that had an effect: a caller may go away at any moment. What
// he left is found, or is settled by the next sweep; his money adds up.
func TestFailedCallThatHadAnEffect(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var bets []*originalsv1.DiceServicePlaceBetRequest
		for i := range 60 {
			bets = append(bets, p.diceBet(100))
			ctx, cancel := context.WithCancel(p.ctx)
			time.AfterFunc(time.Duration(i*20)*time.Microsecond, cancel)
			_, _ = p.dice.PlaceBet(ctx, bets[i])
			cancel()
		}
		if err := h.pairs.SweepOnce(p.ctx); err != nil {
			t.Fatal(err)
		}
		if open := p.stored(p.pair).Open; len(open) != 0 {
			t.Errorf("the nonces %v are open", open)
		}
		want, seen := int64(1_000_000), map[uint32]bool{}
		for _, b := range bets {
			r := got(p.dice.PlaceBet(p.ctx, b)).must(t)
			want += r.GetPayout().GetAmount() - 100
			seen[r.GetNonce()] = true
		}
		if p.balance() != want || p.nonce() != 60 || len(seen) != 60 {
			t.Errorf("balance %d after %d nonces, want %d after 60", p.balance(), len(seen), want)
		}
	})
}

func TestAmountsNearTheCapAreRefusedAndNotWrapped(t *testing.T) {
	h := newHouse(t, noLimits, func(o *seedpair.Options) { o.Grant[0].Amount = 1<<53 - 1 })
	p := h.player()
	b := p.diceBet(1 << 52)
	b.Target = 2500
	got(p.dice.PlaceBet(p.ctx, b)).refused(t, reason.LimitExceeded, "limit", "maxPayout", "value", fmt.Sprint(int64(1<<53-1)))
	b.Stake.Amount = 1 << 40
	got(p.dice.PlaceBet(p.ctx, b)).refused(t, reason.BalanceLimit, "nonce", "0")
	if p.balance() != 1<<53-1 {
		t.Errorf("balance %d", p.balance())
	}
}

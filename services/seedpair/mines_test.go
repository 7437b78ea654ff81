package seedpair_test

import (
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// minesRow is a round of three mines whose board the reference verifiers drew.
func minesRow(t *testing.T) row {
	t.Helper()
	r := aRow(t, func(r row) bool { return r.Mines != nil && r.Mines.MineCount == 3 && r.Nonce < 1<<31 })
	r.Stake = 1000
	return r
}

// tiles are the safe ones, ascending, and the mines, of a row's board.
func tiles(r row) (safe, mined []uint32) {
	for tile := range uint32(25) {
		if !slices.Contains(r.Mines.Mines, tile) {
			safe = append(safe, tile)
		}
	}
	return safe, r.Mines.Mines
}

// multiplier is rng/SPEC.md, written again: floor(9900 * C(25,k) / C(25-m,k)).
func multiplier(mines, picks int64) int64 {
	up := new(big.Int).Mul(big.NewInt(9900), new(big.Int).Binomial(25, picks))
	return up.Div(up, new(big.Int).Binomial(25-mines, picks)).Int64()
}

// multiply is what a row's stake pays after so many picks.
func multiply(r row, picks int64) int64 {
	return r.Stake * multiplier(int64(r.Mines.MineCount), picks) / 10000
}

// minesGame is a started round whose board is known.
func minesGame(t *testing.T, h *house) (p *player, id string, safe, mined []uint32, r row) {
	t.Helper()
	r = minesRow(t)
	p = h.playerOf(r)
	safe, mined = tiles(r)
	start := p.minesStart(r.Stake)
	round := got(p.mines.StartRound(p.ctx, start)).must(t)
	m := round.GetMines()
	if round.GetState() != originalsv1.Round_OPEN || len(m.GetMines()) != 0 || len(m.GetPicks()) != 0 || m.GetHitMine() ||
		round.GetMultiplierE4() != 0 || round.GetPayout().GetAmount() != 0 || m.GetNextMultiplierE4() != multiplier(3, 1) ||
		m.GetMaxPicks() != 22 || round.GetBalance().GetAmount() != 1_000_000-r.Stake {
		t.Fatalf("started as %v", round)
	}
	return p, round.GetRoundId(), safe, mined, r
}

func TestMinesPicksAndCashOut(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, id, safe, _, r := minesGame(t, h)
		for k := int64(1); k <= 5; k++ {
			round := got(p.pick(id, safe[k-1])).must(t)
			m := round.GetMines()
			if round.GetState() != originalsv1.Round_OPEN || !slices.Equal(m.GetPicks(), safe[:k]) || len(m.GetMines()) != 0 ||
				round.GetMultiplierE4() != multiplier(3, k) || round.GetPayout().GetAmount() != multiply(r, k) || m.GetNextMultiplierE4() != multiplier(3, k+1) {
				t.Fatalf("after %d picks: %v", k, round)
			}
			if p.balance() != 1_000_000-r.Stake {
				t.Fatalf("an open round moved the balance to %d", p.balance())
			}
		}
		won := got(p.cashOut(id)).must(t)
		want := 1_000_000 - r.Stake + multiply(r, 5)
		if won.GetState() != originalsv1.Round_SETTLED || won.GetPayout().GetAmount() != multiply(r, 5) || !slices.Equal(won.GetMines().GetMines(), r.Mines.Mines) ||
			won.GetMines().GetHitMine() || won.GetBalance().GetAmount() != want || p.balance() != want {
			t.Fatalf("cashed out as %v", won)
		}
	})
}

func TestRepeatedPickAnswersWithTheRound(t *testing.T) {
	h := newHouse(t)
	p, id, safe, mined, _ := minesGame(t, h)
	first := got(p.pick(id, safe[0])).must(t)
	same(t, "the same tile again", first, got(p.pick(id, safe[0])).must(t))
	got(p.pick(id, safe[1])).must(t)
	if again := got(p.pick(id, safe[0])).must(t); len(again.GetMines().GetPicks()) != 2 {
		t.Errorf("an older tile again: %v", again)
	}
	lost := got(p.pick(id, mined[0])).must(t)
	if lost.GetState() != originalsv1.Round_SETTLED || !lost.GetMines().GetHitMine() || lost.GetPayout().GetAmount() != 0 || lost.GetMultiplierE4() != 0 ||
		!slices.Equal(lost.GetMines().GetPicks(), []uint32{safe[0], safe[1], mined[0]}) {
		t.Errorf("lost as %v", lost)
	}
	same(t, "the mine again", lost, got(p.pick(id, mined[0])).must(t))
	same(t, "an older tile after the end", lost, got(p.pick(id, safe[0])).must(t))
	same(t, "cash-out after the loss", lost, got(p.cashOut(id)).must(t))
}

func TestSettledByItselfThenInvalidSession(t *testing.T) {
	h := newHouse(t)
	p, id, safe, mined, _ := minesGame(t, h)
	got(p.pick(id, safe[0])).must(t)
	won := got(p.cashOut(id)).must(t)
	same(t, "cash-out again", won, got(p.cashOut(id)).must(t))
	same(t, "tile of the round", won, got(p.pick(id, safe[0])).must(t))
	for _, tile := range []uint32{safe[1], mined[0]} {
		got(p.pick(id, tile)).refused(t, reason.RoundSettled, "roundId", id)
	}
	if p.balance() != won.GetBalance().GetAmount() {
		t.Errorf("balance %d", p.balance())
	}
	p.startMines(100) // another may begin
}

func TestLastSafeTileCashesOutByItself(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, id, safe, mined, r := minesGame(t, h)
		var round *originalsv1.Round
		for i, tile := range safe {
			round = got(p.pick(id, tile)).must(t)
			if last := i == len(safe)-1; (round.GetState() == originalsv1.Round_SETTLED) != last {
				t.Fatalf("after %d picks: %v", i+1, round)
			}
		}
		if len(safe) != 22 || round.GetPayout().GetAmount() != multiply(r, 22) || round.GetMultiplierE4() != multiplier(3, 22) || p.balance() != 1_000_000-r.Stake+multiply(r, 22) {
			t.Errorf("the whole board pays %v", round)
		}
		got(p.pick(id, mined[0])).refused(t, reason.RoundSettled)
	})
}

func TestMaxPicksCashesOutByItself(t *testing.T) {
	h := newHouse(t, tight) // maxPayout 2000: five picks
	r := minesRow(t)
	p := h.playerOf(r)
	safe, _ := tiles(r)
	id := p.startMines(r.Stake).GetRoundId()
	var round *originalsv1.Round
	for _, tile := range safe[:5] {
		round = got(p.pick(id, tile)).must(t)
	}
	if round.GetState() != originalsv1.Round_SETTLED || round.GetPayout().GetAmount() != 1997 || round.GetMines().GetHitMine() {
		t.Errorf("at maxPicks: %v", round)
	}
	got(p.pick(id, safe[5])).refused(t, reason.RoundSettled)
}

// A mine at the pick that would have been the last is still a mine.
func TestMineAtMaxPicksLoses(t *testing.T) {
	h := newHouse(t, tight)
	r := minesRow(t)
	p := h.playerOf(r)
	safe, mined := tiles(r)
	id := p.startMines(r.Stake).GetRoundId()
	for _, tile := range safe[:4] {
		got(p.pick(id, tile)).must(t)
	}
	if lost := got(p.pick(id, mined[2])).must(t); !lost.GetMines().GetHitMine() || lost.GetPayout().GetAmount() != 0 {
		t.Errorf("lost as %v", lost)
	}
}

func TestCashOutNeedsAPick(t *testing.T) {
	h := newHouse(t)
	p, id, safe, _, _ := minesGame(t, h)
	got(p.cashOut(id)).refused(t, reason.PickRequired, "roundId", id)
	got(p.pick(id, safe[0])).must(t)
	got(p.cashOut(id)).must(t)
}

func TestOneOpenMinesRoundAPlayer(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	first := p.minesStart(100)
	open := got(p.mines.StartRound(p.ctx, first)).must(t)
	got(p.mines.StartRound(p.ctx, p.minesStart(100))).refused(t, reason.RoundOpen, "roundId", open.GetRoundId())
	same(t, "the same start again", open, got(p.mines.StartRound(p.ctx, first)).must(t))
	p.playDice(100) // other games go on
	if p.nonce() != 2 {
		t.Errorf("nonce %d, want 2", p.nonce())
	}
}

func TestMinesCallsOnRoundsOfOtherGames(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	id := p.playDice(100).GetRoundId()
	got(p.pick(id, 1)).refused(t, reason.RoundNotFound)
	got(p.cashOut(id)).refused(t, reason.RoundNotFound)
	got(p.pick(p.pair+"-77", 1)).refused(t, reason.RoundNotFound)
	got(p.cashOut("nothing")).refused(t, reason.RoundNotFound)
}

// Guard checked before await, state written after: N cash-outs in one tick.
func TestManyCashOutsAtOncePayOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, id, safe, _, r := minesGame(t, h)
		got(p.pick(id, safe[0])).must(t)
		processes := []*player{p, p.at(h.process())}
		answers := make([]answer[*originalsv1.Round], 24)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() { answers[i] = got(processes[i%2].cashOut(id)) })
		}
		group.Wait()
		for _, a := range answers {
			same(t, "cash-outs", answers[0].must(t), a.must(t))
		}
		if want := 1_000_000 - r.Stake + multiply(r, 1); p.balance() != want {
			t.Errorf("balance %d, want %d", p.balance(), want)
		}
	})
}

// Picks, a mine and cash-outs at once: one of them ends the round, and all
// answers fit the round as it ended.
func TestConcurrentPicksAndCashOuts(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		for range 5 {
			got(h.client.FlushAll(t.Context()).Result()).must(t)
			h := h.process()
			p, id, safe, mined, r := minesGame(t, h)
			got(p.pick(id, safe[0])).must(t)
			var group sync.WaitGroup
			call := func(do func() (*originalsv1.Round, error)) {
				group.Go(func() {
					if _, err := do(); err != nil && reason.Of(err) != reason.RoundSettled && reason.Of(err) != reason.InProgress {
						t.Error(err)
					}
				})
			}
			for _, tile := range append(slices.Clone(safe[1:10]), mined[0]) {
				call(func() (*originalsv1.Round, error) { return p.pick(id, tile) })
			}
			call(func() (*originalsv1.Round, error) { return p.cashOut(id) })
			group.Wait()
			end := p.round(id)
			picks := end.GetMines().GetPicks()
			want := multiply(r, int64(len(picks)))
			if hit := slices.Contains(picks, mined[0]); hit {
				want = 0
				if picks[len(picks)-1] != mined[0] {
					t.Errorf("picks %v go on after the mine %d", picks, mined[0])
				}
			}
			if end.GetState() != originalsv1.Round_SETTLED || end.GetPayout().GetAmount() != want || p.balance() != 1_000_000-r.Stake+want {
				t.Errorf("ended as %v with balance %d, want payout %d", end, p.balance(), want)
			}
		}
	})
}

func TestInterruptedMinesRound(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, id, safe, mined, r := minesGame(t, h)
		got(p.pick(id, safe[0])).must(t)
		h.replace()
		eventually(t, func() answer[*originalsv1.Round] { return got(p.pick(id, safe[1])) }).refused(t, reason.RoundInterrupted, "roundId", id)
		got(p.pick(id, mined[0])).refused(t, reason.RoundInterrupted, "roundId", id)
		if again := got(p.pick(id, safe[0])).must(t); len(again.GetMines().GetPicks()) != 1 || again.GetState() != originalsv1.Round_OPEN {
			t.Errorf("a repeated pick: %v", again)
		}
		p.look()
		if pair := p.pairByID(p.pair); pair.GetState() != originalsv1.SeedPair_RETIRED || pair.GetServerSeed() != "" {
			t.Errorf("a pair with an open round is %v", pair)
		}
		won := got(p.cashOut(id)).must(t)
		if won.GetPayout().GetAmount() != multiply(r, 1) || won.GetState() != originalsv1.Round_SETTLED {
			t.Errorf("cashed out as %v", won)
		}
		if pair := p.pairByID(p.pair); pair.GetState() != originalsv1.SeedPair_REVEALED || commitmentOf(pair.GetServerSeed()) != pair.GetCommitment() {
			t.Errorf("after its last round the pair is %v", pair)
		}
	})
}

func TestInterruptedMinesRoundWithoutAPickIsRefunded(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *player, string){
		"cash-out": func(t *testing.T, p *player, id string) { got(p.cashOut(id)).must(t) },
		"sweeper": func(t *testing.T, p *player, _ string) {
			if err := p.h.pairs.SweepOnce(p.ctx); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			p, id, _, _, r := minesGame(t, h)
			h.replace()
			end(t, p, id)
			round := p.round(id)
			if round.GetState() != originalsv1.Round_VOID || round.GetPayout().GetAmount() != r.Stake || round.GetMultiplierE4() != 0 || p.balance() != 1_000_000 {
				t.Errorf("ended as %v with balance %d", round, p.balance())
			}
			list := got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{State: originalsv1.Round_VOID})).must(t)
			if len(list.GetRounds()) != 1 {
				t.Errorf("the void round is not listed: %v", list)
			}
		})
	}
}

// A pair can end, its nonces used up, while its mines round is open. A store
// that is replaced then interrupts the round all the same: it must neither stay
// open for good nor keep the player from every other mines round.
func TestInterruptedMinesRoundOfAnExhaustedPairIsRefunded(t *testing.T) {
	h := newHouse(t)
	p, id, _, _, r := minesGame(t, h)
	p.setNonce(rng.MaxNonce + 1)
	got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.SeedPairExhausted)
	h.replace()
	old := p.pair
	p.look()
	p.rotate()
	got(p.cashOut(id)).must(t)
	if round := p.round(id); round.GetState() != originalsv1.Round_VOID || round.GetPayout().GetAmount() != r.Stake || p.balance() != 1_000_000 {
		t.Errorf("ended as %v with balance %d", round, p.balance())
	}
	if pair := p.pairByID(old); pair.GetState() != originalsv1.SeedPair_REVEALED {
		t.Errorf("its pair is %v", pair)
	}
	p.startMines(100)
}

package seedpair_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/seedpair"
)

func patient(o *seedpair.Options) { o.SweepAge, o.MinesExpiry = time.Hour, 2*time.Hour }

func TestRotationSettlesRoundsThatACrashLeftOpen(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var bets []*originalsv1.DiceServicePlaceBetRequest
		for range 5 {
			bets = append(bets, p.diceBet(100))
			p.leaveOpen(bets[len(bets)-1])
		}
		after := p.at(h.process()) // the process that drew them is gone
		req := after.rotation()
		rotated := got(after.pairs.RotateSeedPair(p.ctx, req)).must(t)
		revealed := rotated.GetRevealed()
		if revealed.GetSeedPairId() != p.pair || revealed.GetState() != originalsv1.SeedPair_REVEALED || commitmentOf(revealed.GetServerSeed()) != revealed.GetCommitment() || revealed.GetNonce() != 5 {
			t.Fatalf("revealed %v", revealed)
		}
		same(t, "the rotation again", rotated, got(after.pairs.RotateSeedPair(p.ctx, req)).must(t))
		evidence := got(after.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: p.pair})).must(t)
		want := int64(1_000_000)
		for i, r := range evidence.GetRounds() {
			if r.GetState() != originalsv1.Round_SETTLED || r.GetNonce() != uint32(i) {
				t.Errorf("round %d: %v", i, r)
			}
			want += r.GetPayout().GetAmount() - 100
		}
		if len(evidence.GetRounds()) != 5 || after.balance() != want {
			t.Errorf("%d rounds, balance %d, want 5 and %d", len(evidence.GetRounds()), after.balance(), want)
		}
		// The late retry of a bet finds its round.
		for i, b := range bets {
			r := got(after.dice.PlaceBet(p.ctx, b)).must(t)
			r.Balance = nil
			same(t, "retried bet", evidence.GetRounds()[i], r)
		}
	})
}

func TestManualRotationDuringAnOpenMinesRound(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, id, safe, _, r := minesGame(t, h)
		p.look()
		req := p.rotation()
		got(p.pairs.RotateSeedPair(p.ctx, req)).refused(t, reason.RoundOpen, "roundId", id)
		got(p.pick(id, safe[0])).must(t)
		got(p.pairs.RotateSeedPair(p.ctx, req)).refused(t, reason.RoundOpen, "roundId", id)
		if shown := p.look(); shown.GetActive().GetSeedPairId() != p.pair || shown.GetActive().GetServerSeed() != "" {
			t.Errorf("after refused rotations: %v", shown)
		}
		if won := got(p.cashOut(id)).must(t); won.GetPayout().GetAmount() != multiply(r, 1) {
			t.Errorf("the round ended as %v", won)
		}
		// The refused call burnt nothing: it may be repeated as it was.
		if got(p.pairs.RotateSeedPair(p.ctx, req)).must(t).GetRevealed().GetSeedPairId() != p.pair {
			t.Error("the pair was not revealed")
		}
	})
}

// Every way that ends a pair shares one guard: none reveals while a round of
// it is open.
func TestRevealGuardOnEveryPath(t *testing.T) {
	type end = func(t *testing.T, p *player, id string)
	for name, path := range map[string]struct {
		end     end
		retired bool // the pair ends all the same, and is revealed later
	}{
		"rotation": {func(t *testing.T, p *player, id string) {
			got(p.pairs.RotateSeedPair(p.ctx, p.rotation())).refused(t, reason.RoundOpen, "roundId", id)
		}, false},
		"support": {func(t *testing.T, p *player, id string) {
			if _, err := p.retire(p.pair); err == nil {
				t.Error("support ended a pair with an open round")
			}
		}, false},
		"exhaustion": {func(t *testing.T, p *player, _ string) {
			p.setNonce(1<<32 - 1)
			got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.SeedPairExhausted)
		}, true},
		"replaced store": {func(t *testing.T, p *player, _ string) { p.h.replace(); p.look() }, true},
		"sweeper": {func(t *testing.T, p *player, _ string) {
			if err := p.h.pairs.SweepOnce(p.ctx); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, patient)
			p := h.player()
			m := p.startMines(1000)
			tile := uint32(0)
			round := got(p.pick(m.GetRoundId(), tile)).must(t)
			for ; round.GetState() != originalsv1.Round_OPEN; round = got(p.pick(m.GetRoundId(), tile)).must(t) {
				m = p.startMines(1000) // it was a mine: another round
				tile = (tile + 1) % 25
			}
			p.look()
			path.end(t, p, m.GetRoundId())
			pair := p.pairByID(p.pair)
			if pair.GetServerSeed() != "" || pair.GetRevealTime() != nil {
				t.Fatalf("revealed with an open round: %v", pair)
			}
			if retired := pair.GetState() == originalsv1.SeedPair_RETIRED; retired != path.retired {
				t.Errorf("state %v", pair.GetState())
			}
			got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: p.pair})).refused(t, reason.SeedPairUnrevealed)
			got(p.cashOut(m.GetRoundId())).must(t)
			pair = p.pairByID(p.pair)
			if revealed := pair.GetServerSeed() != ""; revealed != path.retired {
				t.Errorf("after its last round the pair is %v", pair)
			}
		})
	}
}

// Rotate and start race: a bet is either of the pair that is revealed, with
// its nonce counted, or refused.
func TestRotateAndStartRace(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		for range 10 {
			var group sync.WaitGroup
			var mu sync.Mutex
			taken := map[string]int{}
			for range 8 {
				group.Go(func() {
					r, err := p.dice.PlaceBet(p.ctx, p.diceBet(10))
					if err != nil && reason.Of(err) != reason.SeedPairChanged {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					taken[r.GetSeedPairId()]++
				})
			}
			var rotated *originalsv1.RotateSeedPairResponse
			group.Go(func() { rotated, _ = p.pairs.RotateSeedPair(p.ctx, p.rotation()) })
			group.Wait()
			old := p.pairByID(p.pair)
			if int(old.GetNonce()) != taken[p.pair] || taken[rotated.GetActive().GetSeedPairId()] != 0 {
				t.Errorf("%d nonces used, bets taken %v", old.GetNonce(), taken)
			}
			// A bet that was drawn and not yet settled when the pair was retired
			// settles by its own call or by the rotation, and then it is revealed.
			if old.GetState() != originalsv1.SeedPair_REVEALED {
				t.Errorf("the old pair is %v", old)
			}
			p.pair = rotated.GetActive().GetSeedPairId()
			p.look()
		}
	})
}

func TestManyRotationsAtOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var group sync.WaitGroup
		var mu sync.Mutex
		won := map[string]bool{}
		for range 12 {
			req := p.rotation()
			group.Go(func() {
				res, err := p.pairs.RotateSeedPair(p.ctx, req)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won[res.GetActive().GetClientSeed()] = true
				} else if reason.Of(err) != reason.CommitmentStale {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if len(won) != 1 || !won[p.look().GetActive().GetClientSeed()] {
			t.Errorf("%d rotations won", len(won))
		}
	})
}

func TestSweeperFinishesWhatACrashLeft(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		open := -1
		sweeper := h.process(func(o *seedpair.Options) { o.OnOpenRounds = func(n int) { open = n } })
		p := h.player()
		rounds, want := []string{}, int64(1_000_000)
		for range 3 {
			rounds = append(rounds, p.leaveOpen(p.diceBet(100)).GetRound().GetRoundId())
		}
		if err := sweeper.pairs.SweepOnce(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, id := range rounds {
			r := p.round(id)
			if r.GetState() != originalsv1.Round_SETTLED || r.GetDice().Roll == nil {
				t.Errorf("after the sweep: %v", r)
			}
			want += r.GetPayout().GetAmount() - 100
		}
		if p.balance() != want || open != 0 {
			t.Errorf("balance %d, %d open; want %d, 0", p.balance(), open, want)
		}
		if err := sweeper.pairs.SweepOnce(context.Background()); err != nil || p.balance() != want {
			t.Errorf("a second sweep: %v, balance %d", err, p.balance())
		}
	})
}

// Recovery sweep settles live rounds: it must not.
func TestSweeperLeavesLiveRoundsAlone(t *testing.T) {
	open := -1
	h := newHouse(t, patient, func(o *seedpair.Options) { o.OnOpenRounds = func(n int) { open = n } })
	p, id, safe, _, r := minesGame(t, h)
	got(p.pick(id, safe[0])).must(t)
	drawn := p.leaveOpen(p.diceBet(100)).GetRound().GetRoundId()
	if err := h.pairs.SweepOnce(p.ctx); err != nil {
		t.Fatal(err)
	}
	if p.round(id).GetState() != originalsv1.Round_OPEN || p.round(drawn).GetState() != originalsv1.Round_OPEN || open != 2 {
		t.Fatalf("a young round was swept; %d are open", open)
	}
	// Old enough to be left behind, but a mines round waits for its player.
	hasty := h.process(patient, func(o *seedpair.Options) { o.SweepAge = 0 })
	if err := hasty.pairs.SweepOnce(p.ctx); err != nil {
		t.Fatal(err)
	}
	if p.round(id).GetState() != originalsv1.Round_OPEN || p.round(drawn).GetState() != originalsv1.Round_SETTLED {
		t.Error("want the dice round settled, and the mines round open")
	}
	got(p.pick(id, safe[1])).must(t)
	if won := got(p.cashOut(id)).must(t); won.GetPayout().GetAmount() != multiply(r, 2) {
		t.Errorf("the round went on to %v", won)
	}
}

// Abandoned games hold money and server seeds: the stated expiry pays what a
// cash-out would have, and reveals nothing early.
func TestAbandonedGamesExpire(t *testing.T) {
	h := newHouse(t) // expired at once
	p, id, safe, _, r := minesGame(t, h)
	sweep := func() {
		t.Helper()
		if err := h.pairs.SweepOnce(p.ctx); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	if p.round(id).GetState() != originalsv1.Round_OPEN {
		t.Fatal("a round without a pick has nothing to pay: it stays open")
	}
	for _, tile := range safe[:3] {
		got(p.pick(id, tile)).must(t)
	}
	sweep()
	ended := p.round(id)
	if ended.GetState() != originalsv1.Round_SETTLED || ended.GetPayout().GetAmount() != multiply(r, 3) || ended.GetMines().GetHitMine() || p.balance() != 1_000_000-r.Stake+multiply(r, 3) {
		t.Errorf("expired as %v with balance %d", ended, p.balance())
	}
	if pair := p.pairByID(p.pair); pair.GetServerSeed() != "" || pair.GetState() != originalsv1.SeedPair_ACTIVE {
		t.Errorf("the expiry revealed %v", pair)
	}
	got(p.pick(id, safe[3])).refused(t, reason.RoundSettled)
	same(t, "cash-out after the expiry", ended.GetPayout(), got(p.cashOut(id)).must(t).GetPayout())
}

func TestSweepersAtOnceSettleOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var rounds []string
		for range 20 {
			rounds = append(rounds, p.leaveOpen(p.diceBet(100)).GetRound().GetRoundId())
		}
		var group sync.WaitGroup
		for range 4 {
			other := h.process()
			group.Go(func() {
				if err := other.pairs.SweepOnce(p.ctx); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		want := int64(1_000_000)
		for _, id := range rounds {
			want += p.round(id).GetPayout().GetAmount() - 100
		}
		outbox := got(h.store.Outbox(p.ctx, p.id.Operator, p.id.Partition(), 0, 1000)).must(t)
		if p.balance() != want || len(outbox) != len(rounds) {
			t.Errorf("balance %d with %d settlements, want %d with %d", p.balance(), len(outbox), want, len(rounds))
		}
	})
}

// One round that cannot be finished does not stop the others.
func TestSweeperGoesPastARoundThatItCannotFinish(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	q := h.samePartition(p)
	bad, good := p.leaveOpen(p.diceBet(100)).GetRound().GetRoundId(), q.leaveOpen(q.diceBet(100)).GetRound().GetRoundId()
	p.damage(p.pair)
	other := h.process()
	if err := other.pairs.SweepOnce(p.ctx); err != nil {
		t.Fatal(err)
	}
	if q.round(good).GetState() != originalsv1.Round_SETTLED {
		t.Error("the good round is still open")
	}
	if open := p.stored(p.pair).Open; len(open) != 1 {
		t.Error("a round whose server seed is damaged was settled")
	}
	if other.logs.FilterMessage("round left open").Len() != 1 {
		t.Errorf("the round %s is not in the log: %v", bad, other.logs.All())
	}
}

func TestSweepEndsWithItsContextAndOutlivesTheStore(t *testing.T) {
	h := newHouse(t, func(o *seedpair.Options) { o.Store = broken{o.Store} })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { h.pairs.Sweep(ctx, time.Millisecond); close(done) }()
	for deadline := time.Now().Add(10 * time.Second); h.logs.FilterMessage("sweep cut short").Len() < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the sweeper gave up")
		}
	}
	cancel()
	<-done
}

// broken is a store that does not answer.
type broken struct{ ledger.Store }

func (broken) Now(context.Context) (time.Time, error) {
	return time.Time{}, reason.New(reason.StoreUnavailable, "no answer")
}

// More open rounds than one look at a partition takes.
func TestSweeperSeesEveryOpenRound(t *testing.T) {
	open := 0
	h := newHouse(t, func(o *seedpair.Options) { o.OnOpenRounds = func(n int) { open = n } })
	p := h.player()
	const left = 230
	for range left {
		p.leaveOpen(p.diceBet(10))
	}
	waiting := h.samePartition(p)
	waiting.startMines(100) // without a pick: it stays
	if err := h.pairs.SweepOnce(p.ctx); err != nil {
		t.Fatal(err)
	}
	if n := p.stored(p.pair).Open; len(n) != 0 || open != 1 {
		t.Errorf("open nonces %v, %d open rounds counted, want none and 1", n, open)
	}
	if n := len(got(h.store.Outbox(p.ctx, p.id.Operator, p.id.Partition(), 0, 1000)).must(t)); n != left {
		t.Errorf("%d settlements, want %d", n, left)
	}
}

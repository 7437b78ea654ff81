package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// loss makes the store forget what is written while writes runs: what a copy
// that is restored forgets, or a replica that is promoted and lags.
type loss func(p ledger.Player, writes func())

// TestFailoverMovesTheNonceCounterBackwards has the store lose writes under
// the running system.
func TestFailoverMovesTheNonceCounterBackwards(t *testing.T) {
	t.Parallel() // it waits for sweepers most of the time
	t.Run("older copy restored", func(t *testing.T) {
		t.Parallel()
		redis := testenv.Redis(t, testenv.Always)
		site := newSite(t, redis.URL())
		site.oneProcess()
		interrupted := storeLoses(t, site, func(_ ledger.Player, writes func()) {
			older := redis.Copy()
			writes()
			redis.Restore(older)
		})
		if interrupted == 0 && !t.Failed() {
			t.Error("no pick came before the sweeper, so none was refused")
		}
	})
	t.Run("fail-over in a cluster", func(t *testing.T) {
		t.Parallel()
		cluster := testenv.Cluster(t)
		site := newSite(t, cluster.URL())
		site.oneProcess()
		storeLoses(t, site, func(p ledger.Player, writes func()) {
			master := cluster.Master(fmt.Sprintf("{p%d}", p.Partition()))
			cluster.Sync(master)
			cluster.Freeze(cluster.Replica(master))
			writes()
			cluster.FailOver(master)
			cluster.Recover(master)
		})
	})
}

// storeLoses returns how many picks were refused because of the loss.
func storeLoses(t *testing.T, site *site, lose loss) int {
	interrupted := 0
	for name, test := range map[string]func(*fenced){
		"bets":                                (*fenced).losesBets,
		"a rotation":                          (*fenced).losesRotation,
		"two rotations":                       (*fenced).losesTwoRotations,
		"picks":                               (*fenced).losesPicks,
		"every pick":                          (*fenced).losesEveryPick,
		"the end of a mines round":            (*fenced).losesEnd,
		"picks, and nobody comes back for it": (*fenced).losesPicksUnattended,
		"nothing, with an open mines round":   (*fenced).losesNothing,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fenced{T: t, seen: make(map[string]string), random: testRandom(t)}
			player := ledger.Player{Operator: "demo", ID: fmt.Sprintf("fenced-%x", f.random.Uint64())}
			f.session = newSession(t, player.ID, testenv.NewPlayer(site.token(player.ID), site.gateways...))
			f.lose = func(writes func()) { lose(player, writes) }
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			f.ctx = ctx
			f.rotate(ctx)
			test(f)
			interrupted += f.interrupted
		})
	}
	return interrupted
}

// fenced is a player whose store is about to lose writes.
type fenced struct {
	*testing.T
	*session
	ctx    context.Context
	random *rand.Rand
	lose   func(writes func())
	seen   map[string]string // commitment and nonce -> bet id

	interrupted int // picks that were refused for the loss
}

// announced returns the commitment that is shown now.
func (f *fenced) announced() string {
	f.Helper()
	var shown originalsv1.GetSeedPairResponse
	if err := f.get(f.ctx, "/v1/seed-pair", &shown); err != nil {
		f.Fatal(err)
	}
	f.shown(shown.GetNextCommitment())
	return shown.GetNextCommitment()
}

// bet places a bet, and fails if its commitment and nonce were used for
// another one: that would show an outcome before the bet.
func (f *fenced) bet(game string) *originalsv1.Round {
	f.Helper()
	b := f.newWager(f.random, game)
	round := new(originalsv1.Round)
	if _, err := f.insist(f.ctx, b.path, b.request, round); err != nil {
		f.Fatalf("bet on %s: %v", b.pair, err)
	}
	key := fmt.Sprintf("%s %d", round.GetCommitment(), round.GetNonce())
	if before, ok := f.seen[key]; ok && before != b.id {
		f.Fatalf("bets %s and %s have one commitment and nonce: %s", before, b.id, key)
	}
	f.seen[key] = b.id
	return round
}

// wantReplaced wants a bet on a pair refused because the store was replaced,
// and returns the next commitment that it names.
func (f *fenced) wantReplaced(pair string) string {
	f.Helper()
	b := f.newWager(f.random, "dice")
	request := b.request.(*originalsv1.DiceServicePlaceBetRequest)
	request.SeedPairId = pair
	_, err := f.insist(f.ctx, b.path, request, new(originalsv1.Round))
	told := toldOf(err)
	if testenv.Refused(err) != reason.SeedPairChanged || told["cause"] != "STORE_REPLACED" || told["seedPairId"] != "" {
		f.Fatalf("bet on %s: %v, want SEED_PAIR_CHANGED by STORE_REPLACED without an active pair", pair, err)
	}
	next := told["nextCommitment"]
	if len(next) != 64 || f.commitments[next] {
		f.Fatalf("next commitment %q after the store was replaced: none, or one that was shown before", next)
	}
	return next
}

// wantEnded wants both pairs of before opened, with the reason.
func (f *fenced) wantEnded(pair string, announced string) {
	f.Helper()
	states := make(map[string]*originalsv1.SeedPair)
	for _, p := range f.listPairs(f.ctx) {
		states[p.GetCommitment()] = p
		if p.GetSeedPairId() == pair {
			f.wantPair(p, originalsv1.SeedPair_REVEALED)
		}
	}
	f.wantPair(states[announced], originalsv1.SeedPair_UNUSED)
}

func (f *fenced) wantPair(p *originalsv1.SeedPair, state originalsv1.SeedPair_State) {
	f.Helper()
	if p.GetState() != state || p.GetServerSeed() == "" || p.GetRevealReason() == "" {
		f.Errorf("pair %v, want %v with its server seed and the reason", p, state)
	}
}

// goOn rotates in anew and bets: with nonce 0 of a new pair.
func (f *fenced) goOn() {
	f.Helper()
	f.rotate(f.ctx)
	if round := f.bet("dice"); round.GetNonce() != 0 {
		f.Errorf("the first bet of a new pair has nonce %d", round.GetNonce())
	}
	f.checkBalance(f.ctx, audit{rounds: f.listRounds(f.ctx, "")}, grantUnits)
}

func (f *fenced) losesBets() {
	pair, announced := f.current(), f.announced()
	f.bet("dice")
	f.lose(func() {
		for range 3 {
			f.bet("limbo")
		}
	})
	f.wantReplaced(pair)
	f.wantLastingly(pair, announced)
	f.wantEnded(pair, announced)
	f.goOn()
}

// wantLastingly wants that asking again changes nothing, and that the pair
// which was announced before cannot be activated.
func (f *fenced) wantLastingly(pair, announced string) {
	f.Helper()
	first, second := f.wantReplaced(pair), f.wantReplaced(pair)
	if first != second {
		f.Errorf("the next commitment went from %s to %s", first, second)
	}
	f.wantNoRotation(announced)
}

func (f *fenced) wantNoRotation(commitment string) {
	f.Helper()
	request := &originalsv1.RotateSeedPairRequest{ClientSeed: newClientSeed(), NextCommitment: commitment}
	_, err := f.insist(f.ctx, "/v1/seed-pair:rotate", request, new(originalsv1.RotateSeedPairResponse))
	if testenv.Refused(err) != reason.SeedPairChanged || toldOf(err)["nextCommitment"] == "" {
		f.Errorf("rotation to %s: %v, want SEED_PAIR_CHANGED with the next commitment", commitment, err)
	}
}

// losesRotation: the server seed of the first pair was revealed, and the store
// believes that it takes bets.
func (f *fenced) losesRotation() {
	first, announced := f.current(), f.announced()
	f.bet("dice")
	f.lose(func() {
		f.rotate(f.ctx)
		f.bet("dice")
		f.bet("roulette")
	})
	second := f.current()
	if f.random.IntN(2) == 0 {
		f.wantReplaced(first)
	}
	f.wantReplaced(second)
	f.wantReplaced(first)
	f.wantNoRotation(announced)
	f.wantEnded(first, announced)
	f.goOn()
}

// losesTwoRotations: of the pair that the player plays, the store knows
// nothing.
func (f *fenced) losesTwoRotations() {
	first, announced := f.current(), f.announced()
	var lost string
	f.lose(func() {
		f.rotate(f.ctx)
		f.rotate(f.ctx)
		f.bet("dice")
		lost = f.announced()
	})
	f.wantReplaced(f.current())
	f.wantNoRotation(lost)
	f.wantReplaced(first)
	f.wantEnded(first, announced)
	f.goOn()
}

// openMines starts mines rounds until one has this many safe picks.
func (f *fenced) openMines(picks int) *originalsv1.Round {
	f.Helper()
	for {
		round := f.bet("mines")
		if round.GetMines().GetMaxPicks() < 12 {
			f.finishMines(f.ctx, round.GetRoundId())
			continue
		}
		for tile := range uint32(picks) {
			if round = f.open(round.GetRoundId(), tile); round.GetState() != originalsv1.Round_OPEN {
				break
			}
		}
		if round.GetState() == originalsv1.Round_OPEN {
			return round
		}
	}
}

func (f *fenced) open(id string, tile uint32) *originalsv1.Round {
	f.Helper()
	round := new(originalsv1.Round)
	if _, err := f.insist(f.ctx, "/v1/mines/rounds/"+id+":pick", &originalsv1.PickRequest{Tile: &tile}, round); err != nil {
		f.Fatalf("pick %d of %s: %v", tile, id, err)
	}
	return round
}

// wantInterrupted wants every tile that is not open refused, be it safe or a
// mine.
func (f *fenced) wantInterrupted(round *originalsv1.Round) {
	f.Helper()
	for tile := range uint32(25) {
		got := new(originalsv1.Round)
		_, err := f.insist(f.ctx, "/v1/mines/rounds/"+round.GetRoundId()+":pick", &originalsv1.PickRequest{Tile: &tile}, got)
		if slices.Contains(round.GetMines().GetPicks(), tile) {
			if err != nil {
				f.Errorf("tile %d, which is open: %v, %v", tile, got, err)
			}
			continue
		}
		switch testenv.Refused(err) {
		case reason.RoundInterrupted:
			f.interrupted++
		case reason.RoundSettled: // by the sweeper
		default:
			f.Errorf("tile %d: %v, %v, want ROUND_INTERRUPTED", tile, got, err)
		}
	}
}

// wantClosed wants the round ended at its stored picks, for what a cash-out
// was worth then, and its pair revealed only now.
func (f *fenced) wantClosed(stored, closed *originalsv1.Round) {
	f.Helper()
	state, payout := originalsv1.Round_SETTLED, stored.GetPayout().GetAmount()
	if len(stored.GetMines().GetPicks()) == 0 {
		state, payout = originalsv1.Round_VOID, stored.GetStake().GetAmount()
	}
	if closed.GetState() != state || closed.GetPayout().GetAmount() != payout ||
		!slices.Equal(closed.GetMines().GetPicks(), stored.GetMines().GetPicks()) {
		f.Errorf("the round ended as %v, want %v with %d at the picks of %v", closed, state, payout, stored)
	}
	document := f.evidence(f.ctx, stored.GetSeedPairId())
	verifyHere(f.T, document, stored.GetCommitment(), stored.GetNonce()+1)
}

func (f *fenced) end(round *originalsv1.Round) *originalsv1.Round {
	f.Helper()
	closed := new(originalsv1.Round)
	if _, err := f.insist(f.ctx, "/v1/mines/rounds/"+round.GetRoundId()+":cashOut", &originalsv1.MinesServiceCashOutRequest{}, closed); err != nil {
		f.Fatalf("cash-out: %v", err)
	}
	return closed
}

// minesLost plays a round up to some picks, which are stored, and lets the
// store lose what follows. Nobody may play on a board that he has seen.
func (f *fenced) minesLost(picks int, follows func(*originalsv1.Round)) *originalsv1.Round {
	f.Helper()
	announced := f.announced()
	stored := f.openMines(picks)
	f.lose(func() { follows(stored) })
	f.wantInterrupted(stored)
	f.wantReplaced(stored.GetSeedPairId())
	f.wantNoRotation(announced)
	f.wantHidden(stored)
	return stored
}

// wantHidden wants no server seed while the round is open. The sweeper may end
// it at any time.
func (f *fenced) wantHidden(stored *originalsv1.Round) {
	f.Helper()
	var pair originalsv1.SeedPair
	if err := f.get(f.ctx, "/v1/seed-pairs/"+stored.GetSeedPairId(), &pair); err != nil {
		f.Fatal(err)
	}
	var round originalsv1.Round
	if err := f.get(f.ctx, "/v1/rounds/"+stored.GetRoundId(), &round); err != nil {
		f.Fatal(err)
	}
	if pair.GetServerSeed() != "" && round.GetState() == originalsv1.Round_OPEN {
		f.Errorf("pair %v is revealed, and %v is open", &pair, &round)
	}
}

func (f *fenced) someMorePicks(stored *originalsv1.Round) {
	for tile := uint32(20); tile < 23; tile++ {
		if f.open(stored.GetRoundId(), tile).GetState() != originalsv1.Round_OPEN {
			return
		}
	}
}

func (f *fenced) losesPicks() {
	stored := f.minesLost(2, f.someMorePicks)
	f.wantClosed(stored, f.end(stored))
	f.goOn()
}

func (f *fenced) losesEveryPick() {
	stored := f.minesLost(0, f.someMorePicks)
	f.wantClosed(stored, f.end(stored))
	f.goOn()
}

func (f *fenced) losesEnd() {
	stored := f.minesLost(1, func(stored *originalsv1.Round) { f.end(stored) })
	f.wantClosed(stored, f.end(stored))
	f.goOn()
}

func (f *fenced) losesPicksUnattended() {
	stored := f.minesLost(1, f.someMorePicks)
	f.wantClosed(stored, f.awaitEnd(stored))
	f.goOn()
}

// losesNothing: whether anything was lost cannot be known.
func (f *fenced) losesNothing() {
	stored := f.minesLost(3, func(*originalsv1.Round) {})
	f.wantClosed(stored, f.awaitEnd(stored))
	f.goOn()
}

// awaitEnd waits for the sweeper.
func (f *fenced) awaitEnd(stored *originalsv1.Round) *originalsv1.Round {
	f.Helper()
	for {
		round := new(originalsv1.Round)
		if err := f.get(f.ctx, "/v1/rounds/"+stored.GetRoundId(), round); err != nil {
			f.Fatalf("the round stays open: %v", err)
		}
		if round.GetState() != originalsv1.Round_OPEN {
			return round
		}
		time.Sleep(100 * time.Millisecond)
	}
}

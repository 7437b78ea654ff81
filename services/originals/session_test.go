package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// wager is a bet that is to be placed, and can be placed again.
type wager struct {
	path, id, pair string
	stake          int64
	request        proto.Message
}

func (b wager) key() string { return b.pair + " " + b.id }

// session is a player at play. Several goroutines may play it.
type session struct {
	*journal
	player *testenv.Player

	mu     sync.Mutex
	pair   string  // takes bets, as far as is known
	recent []wager // placed not long ago
	placed int
}

func newSession(t testing.TB, name string, player *testenv.Player) *session {
	t.Cleanup(player.Close)
	return &session{journal: newJournal(t, name), player: player}
}

func (s *session) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pair
}

func (s *session) setPair(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pair = id
}

// insist is what a careful front end does: it repeats until it knows.
func (s *session) insist(ctx context.Context, path string, request, answer proto.Message) (int, error) {
	unknown, err := s.player.Insist(ctx, path, request, answer)
	if ctx.Err() != nil {
		s.fault("no definite answer of %s in time: %v", path, err)
	}
	return unknown, err
}

func (s *session) get(ctx context.Context, path string, answer proto.Message) error {
	for {
		err := s.player.Get(ctx, path, answer)
		if err == nil || testenv.Definite(err) || ctx.Err() != nil {
			return err
		}
		s.journal.count("unknown")
	}
}

// rotate is shown a commitment, draws a client seed, and activates the pair.
func (s *session) rotate(ctx context.Context) {
	var shown originalsv1.GetSeedPairResponse
	if err := s.get(ctx, "/v1/seed-pair", &shown); err != nil {
		s.fault("GET /v1/seed-pair: %v", err)
		return
	}
	s.shown(shown.GetNextCommitment())
	request := &originalsv1.RotateSeedPairRequest{ClientSeed: newClientSeed(), NextCommitment: shown.GetNextCommitment()}
	var rotated originalsv1.RotateSeedPairResponse
	_, err := s.insist(ctx, "/v1/seed-pair:rotate", request, &rotated)
	switch testenv.Refused(err) {
	case reason.CommitmentStale, reason.SeedPairChanged:
		s.count("rotation lost")
		return // another rotation was first, or the store was replaced
	case reason.RoundOpen:
		s.count("rotation refused")
		s.finishMines(ctx, toldOf(err)["roundId"])
		return
	}
	if err != nil {
		s.fault("rotation: %v", err)
		return
	}
	s.count("rotations")
	if got := rotated.GetActive(); got.GetClientSeed() != request.GetClientSeed() || got.GetCommitment() != request.GetNextCommitment() {
		s.fault("rotation with %v activated %v", request, got)
	}
	s.activated(rotated.GetActive())
	s.shown(rotated.GetNextCommitment())
	s.setPair(rotated.GetActive().GetSeedPairId())
	s.checkReveal(ctx, rotated.GetRevealed())
}

// checkReveal looks for an open round of a pair that was just revealed.
func (s *session) checkReveal(ctx context.Context, pair *originalsv1.SeedPair) {
	if pair.GetServerSeed() == "" {
		return
	}
	s.count("reveals")
	var open originalsv1.ListRoundsResponse
	if err := s.get(ctx, "/v1/rounds?state=OPEN&seedPairId="+pair.GetSeedPairId(), &open); err != nil {
		s.fault("open rounds of a revealed pair: %v", err)
	}
	if len(open.GetRounds()) > 0 {
		s.fault("pair %s was revealed with an open round: %v", pair.GetSeedPairId(), open.GetRounds())
	}
}

func toldOf(err error) map[string]string {
	if r, ok := err.(*testenv.Refusal); ok {
		return r.Metadata
	}
	return nil
}

// newWager makes a bet of a game, or of any when it is empty.
func (s *session) newWager(r *rand.Rand, game string) wager {
	s.mu.Lock()
	s.placed++
	b := wager{id: fmt.Sprintf("%s-%d", s.name, s.placed), pair: s.pair, stake: 100 + r.Int64N(400)}
	s.mu.Unlock()
	if game == "" {
		game = []string{"dice", "dice", "dice", "limbo", "limbo", "roulette", "roulette", "mines"}[r.IntN(8)]
	}
	stake := fun(b.stake)
	switch game {
	case "dice":
		b.path = "/v1/dice/bets"
		b.request = &originalsv1.DiceServicePlaceBetRequest{BetId: b.id, SeedPairId: b.pair, Stake: stake, Target: 2000 + r.Uint32N(6000), Direction: originalsv1.Dice_OVER}
	case "limbo":
		b.path = "/v1/limbo/bets"
		b.request = &originalsv1.LimboServicePlaceBetRequest{BetId: b.id, SeedPairId: b.pair, Stake: stake, TargetE2: 110 + r.Uint32N(1000)}
	case "roulette":
		b.path = "/v1/roulette/bets"
		b.request = &originalsv1.RouletteServicePlaceBetRequest{BetId: b.id, SeedPairId: b.pair, Currency: "FUN", Chips: []*originalsv1.Chip{
			{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{r.Uint32N(37)}, Amount: 4},
			{Kind: originalsv1.Chip_RED, Amount: b.stake - 4},
		}}
	case "mines":
		b.path = "/v1/mines/rounds"
		b.request = &originalsv1.StartRoundRequest{BetId: b.id, SeedPairId: b.pair, Stake: stake, MineCount: 1 + r.Uint32N(12)}
	}
	return b
}

// place places a bet, be it a repeat, and returns its round; nil when it was
// refused.
func (s *session) place(ctx context.Context, b wager) *originalsv1.Round {
	round := new(originalsv1.Round)
	before := s.taken(b)
	unknown, err := s.insist(ctx, b.path, b.request, round)
	if unknown > 0 {
		s.notSure(b)
	}
	if err == nil {
		s.count("bets")
		s.took(b, round)
		return round
	}
	if before != "" {
		s.fault("bet %s was taken as %s and then refused: %v", b.key(), before, err)
	}
	switch testenv.Refused(err) {
	case reason.SeedPairChanged:
		s.count("pair changed")
		s.adopt(ctx, toldOf(err))
	case reason.SeedPairRequired:
		s.rotate(ctx)
	case reason.RoundOpen:
		s.count("round open")
		s.finishMines(ctx, toldOf(err)["roundId"])
	default:
		s.fault("bet %s: %v", b.key(), err)
	}
	return nil
}

// placeOnce places a bet as a careless front end does, which does not come
// back when there is no answer.
func (s *session) placeOnce(ctx context.Context, b wager) {
	round := new(originalsv1.Round)
	err := s.player.Post(ctx, b.path, b.request, round)
	switch {
	case err == nil:
		s.count("bets")
		s.took(b, round)
	case !testenv.Definite(err):
		s.notSure(b)
		s.count("abandoned")
	}
}

// adopt goes on with the pair that is active, or activates the next.
func (s *session) adopt(ctx context.Context, told map[string]string) {
	s.shown(told["nextCommitment"])
	if active := told["seedPairId"]; active != "" {
		s.setPair(active)
		return
	}
	s.rotate(ctx)
}

// remember keeps a bet for a repeat.
func (s *session) remember(b wager) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent = append(s.recent, b); len(s.recent) > 64 {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
}

func (s *session) someRecent(r *rand.Rand) (wager, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) == 0 {
		return wager{}, false
	}
	return s.recent[r.IntN(len(s.recent))], true
}

// step does one thing that a player does.
func (s *session) step(ctx context.Context, r *rand.Rand) {
	switch n := r.IntN(100); {
	case s.current() == "" || n < 4:
		s.rotate(ctx)
	case n < 14:
		if b, ok := s.someRecent(r); ok {
			s.place(ctx, b)
		}
	case n < 22:
		s.placeTogether(ctx, s.newWager(r, ""))
	case n < 28:
		s.placeOnce(ctx, s.newWager(r, ""))
	default:
		b := s.newWager(r, "")
		s.remember(b)
		s.playOn(ctx, r, s.place(ctx, b))
	}
}

// placeTogether places one bet from several goroutines at once.
func (s *session) placeTogether(ctx context.Context, b wager) {
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { s.place(ctx, b) })
	}
	all.Wait()
	s.remember(b)
}

// playOn opens some tiles of a mines round and cashes out.
func (s *session) playOn(ctx context.Context, r *rand.Rand, round *originalsv1.Round) {
	for picks := r.IntN(4); picks > 0 && round.GetState() == originalsv1.Round_OPEN; picks-- {
		if round = s.pick(ctx, round.GetRoundId(), r.Uint32N(25)); round == nil {
			return
		}
	}
	if round.GetState() == originalsv1.Round_OPEN && r.IntN(4) > 0 {
		s.cashOut(ctx, round.GetRoundId())
	}
}

// pick opens a tile; nil when it was refused.
func (s *session) pick(ctx context.Context, id string, tile uint32) *originalsv1.Round {
	round := new(originalsv1.Round)
	_, err := s.insist(ctx, "/v1/mines/rounds/"+url.PathEscape(id)+":pick", &originalsv1.PickRequest{Tile: &tile}, round)
	switch testenv.Refused(err) {
	case reason.RoundInterrupted:
		s.count("interrupted")
		s.cashOut(ctx, id)
		return nil
	case reason.RoundSettled:
		s.count("late picks")
		return nil
	}
	if err != nil {
		s.fault("pick of %s: %v", id, err)
		return nil
	}
	s.count("picks")
	s.saw(round)
	return round
}

// cashOut ends a round; nil when it has no pick yet.
func (s *session) cashOut(ctx context.Context, id string) *originalsv1.Round {
	round := new(originalsv1.Round)
	_, err := s.insist(ctx, "/v1/mines/rounds/"+url.PathEscape(id)+":cashOut", &originalsv1.MinesServiceCashOutRequest{}, round)
	if testenv.Refused(err) == reason.PickRequired {
		return nil
	}
	if err != nil {
		s.fault("cash-out of %s: %v", id, err)
		return nil
	}
	if round.GetState() == originalsv1.Round_OPEN {
		s.fault("cash-out left %s open", id)
	}
	s.count("cash-outs")
	s.saw(round)
	return round
}

// finishMines ends a round, with one pick if it has none.
func (s *session) finishMines(ctx context.Context, id string) {
	if s.cashOut(ctx, id) != nil {
		return
	}
	if round := s.pick(ctx, id, 12); round.GetState() == originalsv1.Round_OPEN {
		s.cashOut(ctx, id)
	}
}

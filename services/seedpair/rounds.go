package seedpair

import (
	"context"
	"errors"
	"slices"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func readRoundID(text string) (ledger.RoundID, error) {
	if err := wire.ID("roundId", text); err != nil {
		return ledger.RoundID{}, err
	}
	id, err := ledger.ParseRoundID(text)
	if err != nil {
		return ledger.RoundID{}, errRoundNotFound
	}
	return id, nil
}

// own returns a round of the player whom the token names; another player's is
// not found.
func (s *Service) own(ctx context.Context, text string) (ledger.Loaded, error) {
	p, err := player(ctx)
	if err != nil {
		return ledger.Loaded{}, err
	}
	id, err := readRoundID(text)
	if err != nil {
		return ledger.Loaded{}, err
	}
	if id.Pair.Partition() != p.Partition() {
		return ledger.Loaded{}, errRoundNotFound
	}
	l, err := s.o.Store.Load(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) || errors.Is(err, ledger.ErrBook) || (err == nil && l.Pair.Player != p) {
		return ledger.Loaded{}, errRoundNotFound
	}
	return l, err
}

// GetRound shows one round of the player.
func (s *Service) GetRound(ctx context.Context, req *originalsv1.GetRoundRequest) (*originalsv1.Round, error) {
	l, err := s.own(ctx, req.GetRoundId())
	if reason.Of(err) == reason.RoundNotFound {
		return s.ownCrashBet(ctx, req.GetRoundId())
	}
	if err != nil {
		return nil, err
	}
	return s.record(l)
}

// ListBalances shows the player's balances, sorted by currency.
func (s *Service) ListBalances(ctx context.Context, _ *originalsv1.ListBalancesRequest) (*originalsv1.ListBalancesResponse, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, err
	}
	balances, err := s.o.Store.Balances(ctx, p)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
	return &originalsv1.ListBalancesResponse{Balances: wire.Balances(balances)}, nil
}

// One page reads at most this much, so that a rare filter makes short pages
// and never a slow one.
const (
	maxPairsRead  = 64
	maxRoundsRead = 2048
	roundsAtOnce  = 128
	pairsAtOnce   = 16
)

// lister walks a player's rounds from the newest down.
type lister struct {
	s      *Service
	player ledger.Player
	game   originalsv1.Game
	state  originalsv1.Round_State
	pair   ledger.PairID // empty for all pairs
	size   int

	rounds              []*originalsv1.Round
	pairsRead, readSize int
	next                string // position to go on from; empty at the end
}

// ListRounds lists the player's rounds, newest first.
func (s *Service) ListRounds(ctx context.Context, req *originalsv1.ListRoundsRequest) (*originalsv1.ListRoundsResponse, error) {
	l, filter, err := s.newLister(ctx, req)
	if err != nil {
		return nil, err
	}
	position, err := wire.ReadPageToken(filter, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	if err := l.list(ctx, position); err != nil {
		return nil, err
	}
	res := &originalsv1.ListRoundsResponse{Rounds: l.rounds}
	if l.next != "" {
		res.NextPageToken = wire.PageToken(filter, l.next)
	}
	return res, nil
}

func (s *Service) newLister(ctx context.Context, req *originalsv1.ListRoundsRequest) (*lister, string, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, "", err
	}
	l := &lister{s: s, player: p, game: req.GetGame(), state: req.GetState()}
	if l.size, err = wire.PageSize(req.PageSize); err != nil {
		return nil, "", err
	}
	if _, ok := originalsv1.Game_name[int32(l.game)]; !ok {
		return nil, "", reason.Field("game", "is not a game")
	}
	if _, ok := originalsv1.Round_State_name[int32(l.state)]; !ok {
		return nil, "", reason.Field("state", "is not a state")
	}
	if req.GetSeedPairId() != "" {
		pair, err := s.ownPair(ctx, req.GetSeedPairId())
		if err != nil {
			return nil, "", err
		}
		l.pair = pair.ID
	}
	return l, wire.ListFilter("rounds", p.String(), l.game.String(), l.state.String(), string(l.pair)), nil
}

// list goes on from a position, through the bets at crash tables as well unless
// the filters leave them out.
func (l *lister) list(ctx context.Context, position string) error {
	if l.s.o.Crash != nil && l.pair == "" && (l.game == originalsv1.Game_GAME_UNSPECIFIED || l.game == originalsv1.Game_CRASH) {
		return l.s.listAll(ctx, l, position)
	}
	return l.walk(ctx, position)
}

// walk goes on from a position: the id of the next round to look at.
func (l *lister) walk(ctx context.Context, position string) error {
	from, below, err := l.start(position)
	if err != nil {
		return err
	}
	for {
		pairs, err := l.s.o.Store.SeedPairs(ctx, l.player, from, pairsAtOnce)
		if errors.Is(err, ledger.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, pair := range pairs {
			done, err := l.readPair(ctx, pair, below)
			if err != nil || done {
				return err
			}
			from, below = pair.Previous, nil
		}
		if len(pairs) == 0 || from == "" {
			return nil
		}
	}
}

// start returns the pair to begin with and, within it, the nonce to begin
// with; nil for the newest.
func (l *lister) start(position string) (ledger.PairID, *uint32, error) {
	if position == "" {
		return l.pair, nil, nil
	}
	id, err := ledger.ParseRoundID(position)
	if err != nil || id.Pair.Partition() != l.player.Partition() || (l.pair != "" && l.pair != id.Pair) {
		return "", nil, wire.ErrPageToken
	}
	return id.Pair, &id.Nonce, nil
}

// readPair takes the matching rounds of one pair, newest first, and reports
// whether the page is done.
func (l *lister) readPair(ctx context.Context, pair ledger.SeedPair, from *uint32) (bool, error) {
	if pair.Player != l.player {
		return true, nil
	}
	if l.pairsRead++; l.pairsRead > maxPairsRead {
		l.next = ledger.RoundID{Pair: pair.ID, Nonce: startOf(pair, from)}.String()
		return true, nil
	}
	skip := l.state == originalsv1.Round_OPEN && len(pair.Open) == 0
	for end := endOf(pair, from); end > 0 && !skip; {
		first := (end - 1) / roundsAtOnce * roundsAtOnce
		rounds, err := l.s.o.Store.Rounds(ctx, pair.ID, first, int(end-first))
		if err != nil {
			return true, err
		}
		for _, r := range slices.Backward(rounds) {
			if len(l.rounds) == l.size || l.readSize == maxRoundsRead {
				l.next = r.ID.String()
				return true, nil
			}
			l.readSize++
			if err := l.take(pair, r); err != nil {
				return true, err
			}
		}
		end = first
	}
	return l.pair != "", nil
}

// endOf returns the nonce above the first one to look at.
func endOf(pair ledger.SeedPair, from *uint32) uint32 {
	if from == nil {
		return pair.Nonce
	}
	return min(*from+1, pair.Nonce)
}

func startOf(pair ledger.SeedPair, from *uint32) uint32 {
	if end := endOf(pair, from); end > 0 {
		return end - 1
	}
	return 0
}

func (l *lister) take(pair ledger.SeedPair, r ledger.Round) error {
	if l.game != originalsv1.Game_GAME_UNSPECIFIED && l.game != originalsv1.Game(r.Bet.Game) {
		return nil
	}
	if l.state != originalsv1.Round_STATE_UNSPECIFIED && l.state != originalsv1.Round_State(r.State) {
		return nil
	}
	m, err := l.s.record(ledger.Loaded{Round: r, Pair: pair})
	if err != nil {
		return err
	}
	l.rounds = append(l.rounds, m)
	return nil
}

package crash

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// findRound returns a round of a table, and whether it is final. Errors:
// ledger.ErrNotFound.
func findRound(ctx context.Context, store ledger.CrashStore, table string, number uint32) (ledger.CrashRound, bool, error) {
	state, err := store.CrashState(ctx, table)
	if err != nil {
		return ledger.CrashRound{}, false, err
	}
	if number == state.Round.Number && number > 0 {
		return state.Round, state.Round.Phase == ledger.CrashFinal, nil
	}
	if number == 0 || number > state.Round.Number {
		return ledger.CrashRound{}, false, ledger.ErrNotFound
	}
	rounds, err := finalRounds(ctx, store, table, number, number)
	if err == nil && len(rounds) == 0 {
		err = ledger.ErrNotFound
	}
	if err != nil {
		return ledger.CrashRound{}, false, err
	}
	return rounds[0], true, nil
}

// finalRounds returns the rounds first..last, those that were never played
// among them, ascending.
func finalRounds(ctx context.Context, store ledger.CrashStore, table string, first, last uint32) ([]ledger.CrashRound, error) {
	rounds, err := store.CrashRounds(ctx, table, first, last)
	if err != nil || len(rounds) == int(last-first)+1 {
		return rounds, err
	}
	voids, err := store.CrashVoids(ctx, table, first, last)
	if err != nil {
		return nil, err
	}
	for _, v := range voids {
		for n := max(v.First, first); n <= min(v.Last, last); n++ {
			rounds = append(rounds, ledger.CrashRound{Number: n, Phase: ledger.CrashFinal, OpenUs: v.TimeUs, LockUs: v.TimeUs, Void: v.Reason})
		}
	}
	slices.SortFunc(rounds, func(a, b ledger.CrashRound) int { return cmp.Compare(a.Number, b.Number) })
	return rounds, nil
}

// ListTables shows every table, those that have ended among them.
func (s *Service) ListTables(ctx context.Context, _ *originalsv1.ListTablesRequest) (*originalsv1.ListTablesResponse, error) {
	res := &originalsv1.ListTablesResponse{}
	for _, first := range s.o.Tables {
		if first.Place.Number > 1 {
			continue // follows the first of its line
		}
		for t := s.find(string(first.Name)); t != nil; t = t.next.Load() {
			state, err := s.o.Store.CrashState(ctx, t.name())
			if err != nil {
				return nil, err
			}
			res.Tables = append(res.Tables, t.message(ctx, state))
		}
	}
	return res, nil
}

// GetTable shows a table, and the caller's bets at it.
func (s *Service) GetTable(ctx context.Context, req *originalsv1.GetTableRequest) (*originalsv1.CrashTable, error) {
	t, err := s.table(req.GetTable())
	if err != nil {
		return nil, err
	}
	state, err := s.o.Store.CrashState(ctx, t.name())
	if err != nil {
		return nil, err
	}
	m := t.message(ctx, state)
	p, ok := maybePlayer(ctx)
	if !ok {
		return m, nil
	}
	bets, err := s.ownBets(ctx, t, p)
	if err != nil {
		return nil, err
	}
	for _, b := range slices.Backward(bets) {
		if b.State != ledger.Open && (b.Bet.Crash.Number < state.Round.Number || b.State == ledger.Void) {
			continue
		}
		var point uint32
		if b.Bet.Crash.Number == state.Round.Number {
			point = state.Round.PointE2
		}
		m.Bets = append(m.Bets, wire.CrashBet(ledger.CrashTaken{Table: t.name(), Player: p, Round: b}, point))
	}
	return m, nil
}

// ownBets returns the player's newest bets at a table, ascending, and before them
// those that are still open, however many he has cancelled since.
func (s *Service) ownBets(ctx context.Context, t *table, p ledger.Player) ([]ledger.Round, error) {
	open, err := s.o.Store.OpenCrashBook(ctx, t.name(), p)
	if err != nil {
		return nil, err
	}
	count, err := s.o.Store.CrashBookLength(ctx, t.name(), p)
	if err != nil {
		return nil, err
	}
	const newest = 8 + ledger.CrashBookGap // that of this round, and that of the next, are among them where few were cancelled
	first := count - min(count, newest)
	book := ledger.CrashBook(p, t.name())
	var bets []ledger.Round
	for _, older := range open {
		if older >= first {
			break
		}
		some, err := s.o.Store.Rounds(ctx, book, older, 1)
		if err != nil {
			return nil, err
		}
		bets = append(bets, some...)
	}
	some, err := s.o.Store.Rounds(ctx, book, first, int(count-first))
	return append(bets, some...), err
}

// GetCrashRound shows a round, and the caller's bet in it.
func (s *Service) GetCrashRound(ctx context.Context, req *originalsv1.GetCrashRoundRequest) (*originalsv1.CrashRound, error) {
	t, err := s.table(req.GetTable())
	if err != nil {
		return nil, err
	}
	if req.GetNumber() < 1 || req.GetNumber() > t.Chain.Length() {
		return nil, errRoundNotFound
	}
	r, final, err := findRound(ctx, s.o.Store, t.name(), req.GetNumber())
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, errRoundNotFound
	}
	if err != nil {
		return nil, err
	}
	m, err := t.roundMessage(r, final)
	if err != nil {
		return nil, err
	}
	if p, ok := maybePlayer(ctx); ok {
		m.Bet, err = s.ownBet(ctx, t, p, r)
	}
	return m, err
}

// roundMessage shows a round. Its link is shown once it is final, and so are
// the rounds before: there is never more than one that is not.
func (t *table) roundMessage(r ledger.CrashRound, final bool) (*originalsv1.CrashRound, error) {
	m := &originalsv1.CrashRound{
		Table: t.name(), Number: r.Number, State: originalsv1.CrashRound_OPEN, Scheme: crash.Scheme,
		Terminal: t.Chain.Terminal().String(), Salt: t.Chain.Salt(), Beacon: t.beaconMessage(r),
		OpenTime: stamp(r.OpenUs), LockTime: stamp(r.LockUs), StartTime: stamp(r.StartUs), CrashTime: stamp(r.CrashUs),
		VoidReason: r.Void, BetCount: int32(r.BetCount),
	}
	if !final {
		return m, nil
	}
	m.State = originalsv1.CrashRound_SETTLED
	link, err := t.Chain.Link(r.Number)
	if err != nil {
		return nil, err
	}
	hash, point := link.Reveal(), r.PointE2
	m.Hash = &hash
	if r.Void != "" {
		m.State = originalsv1.CrashRound_VOID
		if point, err = t.voidPoint(r); errors.Is(err, errSalt) {
			return m, nil // nobody can know it
		}
		if err != nil {
			return nil, err
		}
	}
	m.CrashE2 = &point
	return m, nil
}

// voidPoint derives the crash point that a void round would have had. Errors:
// errSalt.
func (t *table) voidPoint(r ledger.CrashRound) (uint32, error) {
	salt, err := t.saltOf(r)
	if err != nil {
		return 0, err
	}
	return t.point(r.Number, salt)
}

// ownBet finds the player's bet in a round; nil when there is none. The numbers
// of the rounds in a book only grow.
func (s *Service) ownBet(ctx context.Context, t *table, p ledger.Player, r ledger.CrashRound) (*originalsv1.Round, error) {
	high, err := s.o.Store.CrashBookLength(ctx, t.name(), p)
	if err != nil {
		return nil, err
	}
	var found *ledger.Round // the newest bet of rounds up to r
	book := ledger.CrashBook(p, t.name())
	for low := uint32(0); low < high; { // the first bet of a later round
		middle := low + (high-low)/2
		bet, err := s.betFrom(ctx, book, middle)
		if err != nil {
			return nil, err
		}
		if bet == nil || bet.Bet.Crash.Number > r.Number {
			high = middle
		} else {
			found, low = bet, bet.ID.Nonce+1
		}
	}
	if found == nil || found.Bet.Crash.Number != r.Number {
		return nil, nil
	}
	return wire.CrashBet(ledger.CrashTaken{Table: t.name(), Player: p, Round: *found}, r.PointE2), nil
}

// betFrom returns the first bet of a book from a count on; nil when there is none.
func (s *Service) betFrom(ctx context.Context, book ledger.PairID, count uint32) (*ledger.Round, error) {
	for _, n := range []int{1, ledger.CrashBookGap + 1} {
		bets, err := s.o.Store.Rounds(ctx, book, count, n)
		if err != nil {
			return nil, err
		}
		if len(bets) > 0 {
			return &bets[0], nil
		}
	}
	return nil, nil
}

// ListCrashRounds lists rounds, newest first.
func (s *Service) ListCrashRounds(ctx context.Context, req *originalsv1.ListCrashRoundsRequest) (*originalsv1.ListCrashRoundsResponse, error) {
	t, err := s.table(req.GetTable())
	if err != nil {
		return nil, err
	}
	size, err := wire.PageSize(req.PageSize)
	if err != nil {
		return nil, err
	}
	filter := wire.ListFilter("crash rounds", t.name())
	position, err := wire.ReadPageToken(filter, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	state, err := s.o.Store.CrashState(ctx, t.name())
	if err != nil {
		return nil, err
	}
	last := state.Round.Number
	if position != "" {
		from, err := strconv.ParseUint(position, 10, 32)
		if err != nil || from == 0 || uint32(from) > last {
			return nil, wire.ErrPageToken
		}
		last = uint32(from)
	}
	return s.page(ctx, t, state.Round, last, uint32(size))
}

func (s *Service) page(ctx context.Context, t *table, newest ledger.CrashRound, last, size uint32) (*originalsv1.ListCrashRoundsResponse, error) {
	res := &originalsv1.ListCrashRoundsResponse{}
	if last == 0 {
		return res, nil
	}
	first := last - min(size, last) + 1
	rounds, err := finalRounds(ctx, s.o.Store, t.name(), first, last)
	if err != nil {
		return nil, err
	}
	if last == newest.Number && newest.Phase != ledger.CrashFinal {
		rounds = append(rounds, newest)
	}
	for _, r := range slices.Backward(rounds) {
		m, err := t.roundMessage(r, r.Phase == ledger.CrashFinal)
		if err != nil {
			return nil, err
		}
		res.Rounds = append(res.Rounds, m)
	}
	if first > 1 {
		res.NextPageToken = wire.PageToken(wire.ListFilter("crash rounds", t.name()), strconv.FormatUint(uint64(first-1), 10))
	}
	return res, nil
}

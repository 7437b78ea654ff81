package seedpair

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// ownCrashBet shows a bet at a crash table of the player whom the token names;
// another player's is not found.
func (s *Service) ownCrashBet(ctx context.Context, text string) (*originalsv1.Round, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, err
	}
	id, err := readRoundID(text)
	if err != nil {
		return nil, err
	}
	if id.Pair.Partition() != p.Partition() {
		return nil, errRoundNotFound
	}
	_, round, err := s.crashBet(ctx, id, func(of ledger.Player) bool { return of == p })
	return round, err
}

// crashBet shows a bet at a crash table, and whose it is; it is not found unless
// it may be shown as one of his.
func (s *Service) crashBet(ctx context.Context, id ledger.RoundID, shown func(ledger.Player) bool) (ledger.Player, *originalsv1.Round, error) {
	if s.o.Crash == nil {
		return ledger.Player{}, nil, errRoundNotFound
	}
	taken, err := s.o.Crash.LoadCrashBet(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && !shown(taken.Player) {
		return ledger.Player{}, nil, errRoundNotFound
	}
	if err != nil {
		return ledger.Player{}, nil, err
	}
	points := crashPoints{store: s.o.Crash, table: taken.Table}
	point, err := points.of(ctx, taken.Round)
	if err != nil {
		return ledger.Player{}, nil, err
	}
	return taken.Player, wire.CrashBet(taken, point), nil
}

// crashPoints looks up the crash points of one table's rounds.
type crashPoints struct {
	store ledger.CrashStore
	table string
	known map[uint32]uint32 // number -> point
}

// span is how many rounds are looked up at once.
const span = 128

// of returns the crash point of a bet's round; 0 while it has not crashed, and
// when it was never played.
func (c *crashPoints) of(ctx context.Context, bet ledger.Round) (uint32, error) {
	number := bet.Bet.Crash.Number
	if point, ok := c.known[number]; ok {
		return point, nil
	}
	if c.known == nil {
		state, err := c.store.CrashState(ctx, c.table)
		if err != nil {
			return 0, err
		}
		c.known = map[uint32]uint32{state.Round.Number: state.Round.PointE2}
	}
	first := number / span * span
	rounds, err := c.store.CrashRounds(ctx, c.table, first, first+span-1)
	if err != nil {
		return 0, err
	}
	for n := first; n < first+span; n++ {
		c.known[n] += 0 // known from now on
	}
	for _, r := range rounds {
		c.known[r.Number] = r.PointE2
	}
	return c.known[number], nil
}

// feed is one of the books that a player's rounds are in: his seed pairs, or
// his bets at one crash table.
type feed struct {
	name   string // of the table; empty for the seed pairs
	rounds []*originalsv1.Round
	at     []string // position of each round
	next   string   // position after them; empty at the end
}

// ended stands for the position of a feed that has nothing left.
const ended = "."

// listAll lists rounds with a seed pair and bets at crash tables together,
// newest first. The position holds one for each feed.
func (s *Service) listAll(ctx context.Context, l *lister, position string) error {
	positions, err := readPositions(position)
	if err != nil {
		return err
	}
	var feeds []*feed
	if l.game == originalsv1.Game_GAME_UNSPECIFIED && positions[""] != ended {
		f, err := l.pairFeed(ctx, positions[""])
		if err != nil {
			return err
		}
		feeds = append(feeds, f)
	}
	tables, err := s.crashTables(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		at, known := positions[table]
		if at == ended || !known && position != "" { // or announced since the first page
			continue
		}
		f, err := l.crashFeed(ctx, table, at)
		if err != nil {
			return err
		}
		feeds = append(feeds, f)
	}
	l.rounds = merge(feeds, l.size)
	for _, f := range feeds {
		positions[f.name] = f.next
		if f.next == "" {
			positions[f.name] = ended
		} else {
			l.next = "go on"
		}
	}
	if l.next != "" {
		l.next = writePositions(positions)
	}
	return nil
}

// crashTables returns the tables of the house, those of chains that came after
// the first among them.
func (s *Service) crashTables(ctx context.Context) (tables []string, err error) {
	if s.o.Crash == nil {
		return nil, nil
	}
	for _, t := range s.o.House.Crash.Tables {
		tables = append(tables, t.Name)
		line, err := ledger.CrashLine(ctx, s.o.Crash, rng.Table(t.Name))
		if err != nil {
			return nil, err
		}
		for _, next := range line[min(1, len(line)):] {
			tables = append(tables, string(next.Table))
		}
	}
	return tables, nil
}

// pairFeed reads rounds that have a seed pair.
func (l *lister) pairFeed(ctx context.Context, position string) (*feed, error) {
	one := *l
	if err := one.walk(ctx, position); err != nil {
		return nil, err
	}
	f := &feed{rounds: one.rounds, next: one.next}
	for _, r := range one.rounds {
		f.at = append(f.at, r.GetRoundId())
	}
	return f, nil
}

// crashFeed reads bets at a crash table.
func (l *lister) crashFeed(ctx context.Context, table, position string) (*feed, error) {
	end, err := l.bookEnd(ctx, table, position)
	if err != nil {
		return nil, err
	}
	f := &feed{name: table}
	points := crashPoints{store: l.s.o.Crash, table: table}
	for read := 0; end > 0 && len(f.rounds) < l.size && read < maxRoundsRead; {
		first := (end - 1) / roundsAtOnce * roundsAtOnce
		bets, err := l.s.o.Crash.Rounds(ctx, ledger.CrashBook(l.player, table), first, int(end-first))
		if err != nil {
			return nil, err
		}
		for _, b := range slices.Backward(bets) {
			if len(f.rounds) == l.size {
				break
			}
			end = b.ID.Nonce
			read++
			if l.state != originalsv1.Round_STATE_UNSPECIFIED && l.state != originalsv1.Round_State(b.State) {
				continue
			}
			point, err := points.of(ctx, b)
			if err != nil {
				return nil, err
			}
			f.rounds = append(f.rounds, wire.CrashBet(ledger.CrashTaken{Table: table, Player: l.player, Round: b}, point))
			f.at = append(f.at, strconv.FormatUint(uint64(end)+1, 10))
		}
		if len(bets) == 0 { // counts that were left out, or the beginning
			end = first
			read++
		}
	}
	if end > 0 {
		f.next = strconv.FormatUint(uint64(end), 10)
	}
	return f, nil
}

// bookEnd returns the count above the first bet to look at.
func (l *lister) bookEnd(ctx context.Context, table, position string) (uint32, error) {
	length, err := l.s.o.Crash.CrashBookLength(ctx, table, l.player)
	if err != nil || position == "" {
		return length, err
	}
	n, err := strconv.ParseUint(position, 10, 32)
	if err != nil || uint32(n) > length {
		return 0, wire.ErrPageToken
	}
	return uint32(n), nil
}

// merge takes the newest rounds of all feeds, size at most, and leaves each
// feed's next position at the first that was not taken. A feed that ends before
// its book does, because it has read enough, ends the page: what comes next in
// it may be newer than what others have.
func merge(feeds []*feed, size int) []*originalsv1.Round {
	taken := make([]int, len(feeds))
	var all []*originalsv1.Round
	for len(all) < size {
		newest := -1
		for i, f := range feeds {
			if taken[i] == len(f.rounds) {
				if f.next != "" {
					return leave(feeds, taken, all)
				}
				continue
			}
			if newest < 0 || compare(f.rounds[taken[i]], feeds[newest].rounds[taken[newest]]) > 0 {
				newest = i
			}
		}
		if newest < 0 {
			break
		}
		all = append(all, feeds[newest].rounds[taken[newest]])
		taken[newest]++
	}
	return leave(feeds, taken, all)
}

// compare tells which round is newer.
func compare(a, b *originalsv1.Round) int {
	return cmp.Or(a.GetCreateTime().AsTime().Compare(b.GetCreateTime().AsTime()), cmp.Compare(a.GetRoundId(), b.GetRoundId()))
}

func leave(feeds []*feed, taken []int, all []*originalsv1.Round) []*originalsv1.Round {
	for i, f := range feeds {
		if taken[i] < len(f.rounds) {
			f.next = f.at[taken[i]]
		}
	}
	return all
}

// writePositions writes name=position, for each feed.
func writePositions(positions map[string]string) string {
	var parts []string
	for name, position := range positions {
		parts = append(parts, name+"="+position)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func readPositions(text string) (map[string]string, error) {
	positions := make(map[string]string)
	if text == "" {
		return positions, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, position, ok := strings.Cut(part, "=")
		if !ok || position == "" {
			return nil, wire.ErrPageToken
		}
		positions[name] = position
	}
	return positions, nil
}

package seedpair_test

import (
	"encoding/base64"
	"sync"
	"testing"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func size(n int32) *int32 { return &n }

// allRounds pages through a list, calling between after each page.
func (p *player) allRounds(req *originalsv1.ListRoundsRequest, between func()) (ids []string, pages int) {
	p.t.Helper()
	for {
		res := got(p.rounds.ListRounds(p.ctx, req)).must(p.t)
		if pages++; len(res.GetRounds()) > int(req.GetPageSize()) && req.PageSize != nil || pages > 500 {
			p.t.Fatalf("page %d of %d rounds", pages, len(res.GetRounds()))
		}
		for _, r := range res.GetRounds() {
			ids = append(ids, r.GetRoundId())
		}
		if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
			return ids, pages
		}
		between()
	}
}

func wantIDs(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rounds, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: place %d holds %s, want %s", what, i, got[i], want[i])
		}
	}
}

// history plays three pairs of several games, and returns what was played,
// newest first.
func history(p *player) (all []*originalsv1.Round) {
	p.t.Helper()
	for i := range 3 {
		if i > 0 {
			p.rotate()
		}
		for range 5 {
			all = append(all, p.playDice(100), got(p.limbo.PlaceBet(p.ctx, p.limboBet(100))).must(p.t))
		}
		all = append(all, got(p.roulette.PlaceBet(p.ctx, p.rouletteBet(100))).must(p.t))
	}
	all = append(all, p.startMines(100), p.leaveOpen(p.diceBet(100)).GetRound())
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

func TestListRoundsFiltersAndPages(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		first := p.pair
		all := history(p)
		ids := func(keep func(*originalsv1.Round) bool) (ids []string) {
			for _, r := range all {
				if keep(r) {
					ids = append(ids, r.GetRoundId())
				}
			}
			return ids
		}
		any := func(*originalsv1.Round) bool { return true }
		for name, c := range map[string]struct {
			req  *originalsv1.ListRoundsRequest
			keep func(*originalsv1.Round) bool
		}{
			"all":     {&originalsv1.ListRoundsRequest{}, any},
			"dice":    {&originalsv1.ListRoundsRequest{Game: originalsv1.Game_DICE}, func(r *originalsv1.Round) bool { return r.GetGame() == originalsv1.Game_DICE }},
			"mines":   {&originalsv1.ListRoundsRequest{Game: originalsv1.Game_MINES}, func(r *originalsv1.Round) bool { return r.GetGame() == originalsv1.Game_MINES }},
			"open":    {&originalsv1.ListRoundsRequest{State: originalsv1.Round_OPEN}, func(r *originalsv1.Round) bool { return r.GetState() == originalsv1.Round_OPEN }},
			"settled": {&originalsv1.ListRoundsRequest{State: originalsv1.Round_SETTLED}, func(r *originalsv1.Round) bool { return r.GetState() == originalsv1.Round_SETTLED }},
			"void":    {&originalsv1.ListRoundsRequest{State: originalsv1.Round_VOID}, func(r *originalsv1.Round) bool { return false }},
			"pair":    {&originalsv1.ListRoundsRequest{SeedPairId: first}, func(r *originalsv1.Round) bool { return r.GetSeedPairId() == first }},
			"open dice": {&originalsv1.ListRoundsRequest{State: originalsv1.Round_OPEN, Game: originalsv1.Game_DICE, SeedPairId: p.pair}, func(r *originalsv1.Round) bool {
				return r.GetState() == originalsv1.Round_OPEN && r.GetGame() == originalsv1.Game_DICE
			}},
		} {
			for _, n := range []int32{1, 2, 3, 7, 200} {
				c.req.PageSize, c.req.PageToken = size(n), ""
				found, _ := p.allRounds(c.req, func() {})
				wantIDs(t, name, found, ids(c.keep))
			}
		}
		if found, pages := p.allRounds(&originalsv1.ListRoundsRequest{}, func() {}); len(found) != 35 || pages != 1 {
			t.Errorf("%d rounds on %d pages of the default size", len(found), pages)
		}
		q := h.stranger()
		if found, _ := q.allRounds(&originalsv1.ListRoundsRequest{}, func() {}); len(found) != 0 {
			t.Errorf("a stranger has rounds %v", found)
		}
	})
}

func TestTokensStayValidWhileNewRowsArrive(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	for range 10 {
		p.playDice(100)
	}
	p.rotate()
	for range 5 {
		p.playDice(100)
	}
	want, _ := p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(200)}, func() {})
	i := 0
	found, _ := p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(2)}, func() {
		p.playDice(100)
		if i++; i%2 == 0 {
			p.rotate()
		}
	})
	wantIDs(t, "paged while playing", found, want)
}

func TestListRoundsLeavesNothingOutOfManyPairs(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	first := p.playDice(100).GetRoundId()
	for range 140 { // more pairs without rounds than one page looks at
		p.rotate()
	}
	last := p.playDice(100).GetRoundId()
	found, pages := p.allRounds(&originalsv1.ListRoundsRequest{}, func() {})
	wantIDs(t, "two rounds far apart", found, []string{last, first})
	if pages < 2 {
		t.Errorf("%d pages", pages)
	}
	pairs, token := 0, ""
	for {
		res := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageSize: size(50), PageToken: token})).must(t)
		pairs += len(res.GetSeedPairs())
		if token = res.GetNextPageToken(); token == "" {
			break
		}
	}
	if pairs != 141 {
		t.Errorf("%d pairs, want 141", pairs)
	}
}

// A rare filter makes short pages, and loses nothing.
func TestRareFilterMakesShortPages(t *testing.T) {
	redis := testenv.Redis(t, testenv.InMemory)
	h := openHouse(t, redis.URL(), redis.Restart, nil)
	p := h.player()
	rare := got(p.limbo.PlaceBet(p.ctx, p.limboBet(100))).must(t).GetRoundId()
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for range 70 {
				if _, err := p.dice.PlaceBet(p.ctx, p.diceBet(10)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	found, pages := p.allRounds(&originalsv1.ListRoundsRequest{Game: originalsv1.Game_LIMBO}, func() {})
	wantIDs(t, "one of many", found, []string{rare})
	if pages < 2 {
		t.Errorf("%d pages looked at 2241 rounds", pages)
	}
	all, _ := p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(200)}, func() {})
	if len(all) != 32*70+1 || all[len(all)-1] != rare {
		t.Errorf("%d rounds", len(all))
	}
}

func TestTokensAreBoundToTheirList(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	old := p.pair
	for range 3 {
		p.playDice(100)
	}
	p.rotate()
	for range 3 {
		p.playDice(100)
	}
	q := h.samePartition(p)
	q.playDice(100)
	q.rotate()
	q.playDice(100)
	list := func(p *player, req *originalsv1.ListRoundsRequest) answer[*originalsv1.ListRoundsResponse] {
		return got(p.rounds.ListRounds(p.ctx, req))
	}
	token := list(p, &originalsv1.ListRoundsRequest{PageSize: size(1)}).must(t).GetNextPageToken()
	ofGame := list(p, &originalsv1.ListRoundsRequest{PageSize: size(1), Game: originalsv1.Game_DICE}).must(t).GetNextPageToken()
	ofQ := list(q, &originalsv1.ListRoundsRequest{PageSize: size(1)}).must(t).GetNextPageToken()
	ofPairs := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageSize: size(1)})).must(t).GetNextPageToken()
	ofEvidence := got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: old, PageSize: size(1)})).must(t).GetNextPageToken()
	if token == "" || ofGame == "" || ofQ == "" || ofPairs == "" || ofEvidence == "" {
		t.Fatal("a list has no second page")
	}
	bad := func(t *testing.T, err error) {
		t.Helper()
		got(0, err).refused(t, reason.InvalidField, "field", "pageToken")
	}
	for name, req := range map[string]*originalsv1.ListRoundsRequest{
		"of another filter":   {PageToken: token, Game: originalsv1.Game_DICE},
		"of another state":    {PageToken: token, State: originalsv1.Round_SETTLED},
		"of another pair":     {PageToken: token, SeedPairId: p.pair},
		"of a filter":         {PageToken: ofGame},
		"of another player":   {PageToken: ofQ},
		"of the pairs":        {PageToken: ofPairs},
		"of the evidence":     {PageToken: ofEvidence},
		"no base64":           {PageToken: "!!"},
		"padded":              {PageToken: token + "="},
		"cut":                 {PageToken: token[:6]},
		"empty position":      {PageToken: token[:8]},
		"with something more": {PageToken: token + "AA"},
		"of nothing":          {PageToken: base64.RawURLEncoding.EncodeToString([]byte("123456nothing"))},
	} {
		t.Run("rounds "+name, func(t *testing.T) { bad(t, list(p, req).err) })
	}
	for name, other := range map[string]string{"of the rounds": token, "of the evidence": ofEvidence, "made up": "AAAA"} {
		t.Run("pairs "+name, func(t *testing.T) {
			_, err := p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageToken: other})
			bad(t, err)
			_, err = p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: old, PageToken: map[bool]string{true: ofPairs, false: other}[other == ofEvidence]})
			bad(t, err)
		})
	}
}

// A token is not signed: whoever makes one by hand gets nothing of another
// player's.
func TestForgedTokenShowsNothingOfAStranger(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	q := h.samePartition(p)
	for _, player := range []*player{p, q} {
		for range 3 {
			player.playDice(100)
			player.rotate()
		}
	}
	forge := func(token, position string) string {
		raw := got(base64.RawURLEncoding.DecodeString(token)).must(t)
		return base64.RawURLEncoding.EncodeToString(append(raw[:6:6], position...))
	}
	res := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageSize: size(1)})).must(t)
	for _, position := range []string{q.pair, q.pair[:3] + "aaaaaaaaaaaaaaaa", "0"} {
		a := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageToken: forge(res.GetNextPageToken(), position)}))
		if a.err == nil && len(a.value.GetSeedPairs()) != 0 {
			t.Errorf("position %s shows %v", position, a.value)
		}
	}
	rounds := got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{PageSize: size(1)})).must(t)
	for _, position := range []string{q.pair + "-0", q.pair + "-4294967295", q.pair[:3] + "aaaaaaaaaaaaaaaa-0"} {
		a := got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{PageToken: forge(rounds.GetNextPageToken(), position)}))
		if a.err == nil && len(a.value.GetRounds()) != 0 {
			t.Errorf("position %s shows %v", position, a.value)
		}
	}
}

func TestPageSizes(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	old := p.pair
	for range 60 {
		p.playDice(100)
	}
	p.rotate()
	for _, n := range []int32{0, -1, 201, 1 << 30, -1 << 31} {
		got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{PageSize: size(n)})).refused(t, reason.InvalidField, "field", "pageSize")
		got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageSize: size(n)})).refused(t, reason.InvalidField, "field", "pageSize")
		got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: old, PageSize: size(n)})).refused(t, reason.InvalidField, "field", "pageSize")
	}
	if n := len(got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{})).must(t).GetRounds()); n != 50 {
		t.Errorf("the default page has %d rounds", n)
	}
	got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{Game: 77})).refused(t, reason.InvalidField, "field", "game")
	got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{State: -1})).refused(t, reason.InvalidField, "field", "state")
	got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{SeedPairId: "A"})).refused(t, reason.InvalidField, "field", "seedPairId")
	got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{SeedPairId: "a"})).refused(t, reason.SeedPairNotFound)
}

func TestEvidenceHoldsEveryNonceOnce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		const bets = 300 // over several buckets of the store
		for range bets {
			p.playDice(10)
		}
		old := p.pair
		got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: old})).refused(t, reason.SeedPairUnrevealed)
		p.rotate()
		for _, n := range []int32{7, 50, 128, 200} {
			next, token := uint32(0), ""
			for {
				page := got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: old, PageSize: &n, PageToken: token})).must(t)
				if commitmentOf(page.GetSeedPair().GetServerSeed()) != page.GetSeedPair().GetCommitment() || page.GetSeedPair().GetNonce() != bets {
					t.Fatalf("page with pair %v", page.GetSeedPair())
				}
				for _, r := range page.GetRounds() {
					if r.GetNonce() != next || r.GetState() != originalsv1.Round_SETTLED || r.GetDice().Roll == nil || r.Balance != nil {
						t.Fatalf("nonce %d: %v", next, r)
					}
					next++
				}
				if token = page.GetNextPageToken(); token == "" {
					break
				}
			}
			if next != bets {
				t.Errorf("pages of %d: %d rounds, want %d", n, next, bets)
			}
		}
	})
}

func TestEvidenceOfAnUnusedPairIsEmpty(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	unused := pairIDOf(p, p.next)
	got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: unused})).refused(t, reason.SeedPairNotFound)
	h.replace()
	p.look()
	page := got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: unused})).must(t)
	if page.GetSeedPair().GetState() != originalsv1.SeedPair_UNUSED || len(page.GetRounds()) != 0 || page.GetNextPageToken() != "" {
		t.Errorf("evidence %v", page)
	}
}

func TestListBalancesAndGames(t *testing.T) {
	h := newHouse(t)
	p := h.stranger()
	if b := got(p.rounds.ListBalances(p.ctx, &originalsv1.ListBalancesRequest{})).must(t); len(b.GetBalances()) != 0 {
		t.Errorf("a stranger has %v", b)
	}
	p.look()
	if p.balance() != 1_000_000 {
		t.Errorf("the grant is %d", p.balance())
	}
	games := got(p.rounds.ListGames(p.ctx, &originalsv1.ListGamesRequest{})).must(t).GetGames()
	if len(games) != 5 {
		t.Fatalf("%d games", len(games))
	}
	// The lowest and the highest returns, cut to eight decimals; and exactly, as counted over every bet in Python.
	want := map[originalsv1.Game][5]string{
		originalsv1.Game_DICE:     {"0.01", "0.98990320", "0.99000000", "1237379/1250000", "99/100"},
		originalsv1.Game_LIMBO:    {"0.01", "0.98999999", "0.99000000", "14267403619509723519/14411518807585587200", "99/100"},
		originalsv1.Game_ROULETTE: {"0.02702702", "0.97297297", "0.97297297", "36/37", "36/37"},
		originalsv1.Game_MINES:    {"0.01", "0.98992000", "0.99000000", "6187/6250", "99/100"},
		originalsv1.Game_CRASH:    {"0.00502512", "0.99000098", "0.99989999", "139330252801875/140737488355328", "450314926740775891/450359962737049600"},
	}
	rows := map[originalsv1.Game]int{originalsv1.Game_ROULETTE: 15, originalsv1.Game_MINES: 300}
	schemes := map[originalsv1.Game]string{originalsv1.Game_CRASH: "crash-v1"}
	for g := originalsv1.Game_DICE; g < originalsv1.Game_CRASH; g++ {
		schemes[g] = "originals-v1"
	}
	for _, g := range games {
		if got := [5]string{g.GetEdge(), g.GetRtpMin(), g.GetRtpMax(), g.GetRtpMinExact(), g.GetRtpMaxExact()}; got != want[g.GetGame()] {
			t.Errorf("%s: edge and returns %v, want %v", g.GetGame(), got, want[g.GetGame()])
		}
		if len(g.GetLimits()) != 4 || g.GetScheme() != schemes[g.GetGame()] || g.GetPaytable().GetFormula() == "" || len(g.GetPaytable().GetRows()) != rows[g.GetGame()] {
			t.Errorf("%s: %d limits, %d rows", g.GetGame(), len(g.GetLimits()), len(g.GetPaytable().GetRows()))
		}
	}
}

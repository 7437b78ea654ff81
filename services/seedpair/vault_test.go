package seedpair_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// claim is what a game tells the vault of an outcome.
func claim(round string, r *originalsv1.Round) *vaultv1.SettleRequest {
	return &vaultv1.SettleRequest{RoundId: round, Round: r}
}

// Settlement trusts the caller's claim of a win: the vault finds the outcome
// again, and refuses a dishonest game whatever it lies about.
func TestSettlementTrustsTheCallersClaimOfAWin(t *testing.T) {
	h := newHouse(t)
	honest := map[string]*originalsv1.Round{}
	played := map[string]row{}
	for _, game := range []string{"dice", "limbo", "roulette"} {
		played[game] = aRow(t, func(r row) bool {
			return r.Game == game && r.Payout > r.Stake && r.Stake >= 1000 && r.Stake <= 100_000_000 && r.Payout < 10_000_000_000
		})
	}
	for game, r := range played {
		h.grant = 1 << 40
		p := h.playerOf(r)
		drawn := got(p.vault(game).Draw(p.ctx, p.drawOf(r))).must(t)
		honest[game] = honestClaim(r)
		balance := p.balance()
		for name, lie := range lies() {
			t.Run(game+" "+name, func(t *testing.T) {
				told := proto.CloneOf(honest[game])
				lie(told)
				if proto.Equal(told, honest[game]) {
					return // no lie for this game
				}
				got(p.vault(game).Settle(p.ctx, claim(drawn.GetRound().GetRoundId(), told))).refused(t, reason.Internal)
			})
		}
		if p.balance() != balance || p.round(drawn.GetRound().GetRoundId()).GetState() != originalsv1.Round_OPEN {
			t.Errorf("%s: a lie had an effect: balance %d, was %d", game, p.balance(), balance)
		}
		if n := h.logs.FilterMessage("a game and the vault disagree").Len(); n == 0 {
			t.Errorf("%s: the lies are not logged", game)
		}
		settled := got(p.vault(game).Settle(p.ctx, claim(drawn.GetRound().GetRoundId(), honest[game]))).must(t)
		if settled.GetState() != originalsv1.Round_SETTLED || settled.GetPayout().GetAmount() != r.Payout || p.balance() != balance+r.Payout {
			t.Errorf("%s: settled as %v with balance %d", game, settled, p.balance())
		}
	}
}

// drawOf is the draw of a row's bet.
func (p *player) drawOf(r row) *vaultv1.DrawRequest {
	d := &vaultv1.DrawRequest{BetId: unique("bet"), SeedPairId: p.pair, Stake: fun(r.Stake)}
	switch {
	case r.Dice != nil:
		d.Parameters = &vaultv1.DrawRequest_Dice{Dice: &originalsv1.DiceParameters{
			Target: r.Dice.Target, Direction: originalsv1.Dice_Direction(originalsv1.Dice_Direction_value[r.Dice.Direction]),
		}}
	case r.Limbo != nil:
		d.Parameters = &vaultv1.DrawRequest_Limbo{Limbo: &originalsv1.LimboParameters{TargetE2: r.Limbo.TargetE2}}
	case r.Roulette != nil:
		chips := &originalsv1.RouletteParameters{}
		for _, c := range r.Roulette.Chips {
			chips.Chips = append(chips.Chips, &originalsv1.Chip{
				Kind: originalsv1.Chip_Kind(originalsv1.Chip_Kind_value[c.Kind]), Numbers: c.Numbers, Amount: c.Amount,
			})
		}
		d.Parameters = &vaultv1.DrawRequest_Roulette{Roulette: chips}
	case r.Mines != nil:
		d.Parameters = &vaultv1.DrawRequest_Mines{Mines: &originalsv1.MinesParameters{MineCount: r.Mines.MineCount}}
	}
	return d
}

// honestClaim is what an honest game says of a row.
func honestClaim(r row) *originalsv1.Round {
	m := &originalsv1.Round{Payout: fun(r.Payout), MultiplierE4: r.MultiplierE4}
	switch {
	case r.Dice != nil:
		m.Dice = &originalsv1.Dice{Roll: &r.Dice.Roll, Win: &r.Dice.Win}
	case r.Limbo != nil:
		m.Limbo = &originalsv1.Limbo{OutcomeE2: &r.Limbo.OutcomeE2, Win: &r.Limbo.Win}
	case r.Roulette != nil:
		m.Roulette = &originalsv1.Roulette{Pocket: &r.Roulette.Pocket}
	case r.Mines != nil:
		m.Mines = &originalsv1.Mines{Mines: r.Mines.Mines, Picks: r.Mines.Picks, HitMine: r.Mines.HitMine}
	}
	return m
}

func lies() map[string]func(*originalsv1.Round) {
	return map[string]func(*originalsv1.Round){
		"payout one more": func(r *originalsv1.Round) { r.Payout.Amount++ },
		"payout one less": func(r *originalsv1.Round) { r.Payout.Amount-- },
		"payout negative": func(r *originalsv1.Round) { r.Payout.Amount = -r.Payout.Amount },
		"no payout":       func(r *originalsv1.Round) { r.Payout = nil },
		"multiplier":      func(r *originalsv1.Round) { r.MultiplierE4++ },
		"a loss":          func(r *originalsv1.Round) { r.Payout.Amount, r.MultiplierE4 = 0, 0 },
		"nothing at all":  func(r *originalsv1.Round) { proto.Reset(r) },
		"no outcome":      func(r *originalsv1.Round) { r.Dice, r.Limbo, r.Roulette, r.Mines = nil, nil, nil, nil },
		"mines without it": func(r *originalsv1.Round) {
			r.Dice, r.Limbo, r.Roulette, r.Mines = nil, nil, nil, &originalsv1.Mines{HitMine: true}
		},
		"other outcome": func(r *originalsv1.Round) {
			switch {
			case r.Dice != nil:
				*r.Dice.Roll++
			case r.Limbo != nil:
				*r.Limbo.OutcomeE2++
			case r.Roulette != nil:
				*r.Roulette.Pocket++
			}
		},
		"other result": func(r *originalsv1.Round) {
			switch {
			case r.Dice != nil:
				*r.Dice.Win = !*r.Dice.Win
			case r.Limbo != nil:
				*r.Limbo.Win = !*r.Limbo.Win
			}
		},
	}
}

func TestDishonestMinesGame(t *testing.T) {
	h := newHouse(t)
	r := minesRow(t)
	p := h.playerOf(r)
	id := got(p.vault("mines").Draw(p.ctx, p.drawOf(r))).must(t).GetRound().GetRoundId()
	safe, mined := tiles(r)
	balance := p.balance()
	// A mine told as a safe pick.
	got(p.vault("mines").Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: id, Picks: mined[:1]})).refused(t, reason.Internal)
	// A tile opened twice, tiles that are not there, and a pick after a mine.
	for _, picks := range [][]uint32{{safe[0], safe[0]}, {25}, {mined[0], safe[0]}} {
		got(p.vault("mines").Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: id, Picks: picks})).refused(t, reason.Internal)
	}
	for _, picks := range [][]uint32{{256}, {1 << 31}, make([]uint32, 26)} {
		got(p.vault("mines").Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: id, Picks: picks})).refused(t, reason.InvalidField, "field", "picks")
	}
	got(p.vault("mines").Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: id, Picks: safe[:1]})).must(t)
	// Two picks at once, and a list that forgets the first.
	got(p.vault("mines").Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: id, Picks: safe[:3]})).refused(t, reason.InProgress)
	got(p.vault("mines").Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: id, Picks: safe[1:2]})).refused(t, reason.InProgress)
	// A cash-out that says the mine was not hit, another board, more picks.
	told := &originalsv1.Round{Payout: fun(multiply(r, 1)), MultiplierE4: multiplier(3, 1), Mines: &originalsv1.Mines{Picks: safe[:1], Mines: r.Mines.Mines}}
	for name, lie := range map[string]func(*originalsv1.Round){
		"mine":       func(m *originalsv1.Round) { m.Mines.Picks = append(m.Mines.Picks, mined[0]) },
		"hit":        func(m *originalsv1.Round) { m.Mines.HitMine = true },
		"board":      func(m *originalsv1.Round) { m.Mines.Mines[0], m.Mines.Mines[1] = m.Mines.Mines[1], m.Mines.Mines[0] },
		"no board":   func(m *originalsv1.Round) { m.Mines.Mines = nil },
		"payout":     func(m *originalsv1.Round) { m.Payout.Amount++ },
		"other game": func(m *originalsv1.Round) { m.Mines, m.Dice = nil, &originalsv1.Dice{} },
	} {
		t.Run(name, func(t *testing.T) {
			m := proto.CloneOf(told)
			lie(m)
			a := got(p.vault("mines").Settle(p.ctx, claim(id, m)))
			if a.err == nil || a.value != nil && a.value.GetState() == originalsv1.Round_SETTLED {
				t.Fatalf("settled: %v", a.value)
			}
		})
	}
	if p.balance() != balance || p.round(id).GetState() != originalsv1.Round_OPEN {
		t.Errorf("balance %d, was %d", p.balance(), balance)
	}
	got(p.vault("mines").Settle(p.ctx, claim(id, told))).must(t)
	if p.balance() != balance+multiply(r, 1) {
		t.Errorf("balance %d", p.balance())
	}
}

// Identity taken from the request: another player's round, pair and bets are
// not found, by the public services and by the vault.
func TestStrangersRoundsAndPairsAreNotFound(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	for name, q := range map[string]*player{"any partition": h.player(), "same partition": h.samePartition(p)} {
		t.Run(name, func(t *testing.T) {
			open := p.leaveOpen(p.diceBet(100)).GetRound().GetRoundId()
			settled := p.playDice(100).GetRoundId()
			for _, round := range []string{open, settled} {
				got(q.rounds.GetRound(q.ctx, &originalsv1.GetRoundRequest{RoundId: round})).refused(t, reason.RoundNotFound)
				got(q.pick(round, 1)).refused(t, reason.RoundNotFound)
				got(q.cashOut(round)).refused(t, reason.RoundNotFound)
				got(q.vault("dice").Settle(q.ctx, claim(round, &originalsv1.Round{}))).refused(t, reason.RoundNotFound)
				got(q.vault("dice").Resume(q.ctx, &vaultv1.ResumeRequest{RoundId: round})).refused(t, reason.RoundNotFound)
				got(q.vault("mines").Advance(q.ctx, &vaultv1.AdvanceRequest{RoundId: round, Picks: []uint32{1}})).refused(t, reason.RoundNotFound)
			}
			got(q.pairs.GetSeedPairById(q.ctx, &originalsv1.GetSeedPairByIdRequest{SeedPairId: p.pair})).refused(t, reason.SeedPairNotFound)
			got(q.pairs.GetEvidence(q.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: p.pair})).refused(t, reason.SeedPairNotFound)
			got(q.rounds.ListRounds(q.ctx, &originalsv1.ListRoundsRequest{SeedPairId: p.pair})).refused(t, reason.SeedPairNotFound)
			bet, balance := q.diceBet(100), q.balance()
			bet.SeedPairId = p.pair
			got(q.dice.PlaceBet(q.ctx, bet)).refused(t, reason.SeedPairChanged, "seedPairId", q.pair)
			if q.balance() != balance {
				t.Error("a bet with another's pair took a stake")
			}
		})
	}
	if err := h.pairs.SweepOnce(p.ctx); err != nil {
		t.Fatal(err)
	}
}

// The same name at another operator is another player.
func TestOperatorsNeverSeeEachOthersPlayers(t *testing.T) {
	h := newHouse(t)
	ours, theirs := h.named("alice"), h.signed(h.rival, "alice", auth.Player)
	for _, p := range []*player{ours, theirs} {
		p.look()
		p.rotate()
		p.playDice(100)
	}
	if ours.pair == theirs.pair || ours.next == theirs.next {
		t.Fatal("two operators share a pair")
	}
	round := ours.pair + "-0"
	got(theirs.rounds.GetRound(theirs.ctx, &originalsv1.GetRoundRequest{RoundId: round})).refused(t, reason.RoundNotFound)
	got(theirs.pairs.GetSeedPairById(theirs.ctx, &originalsv1.GetSeedPairByIdRequest{SeedPairId: ours.pair})).refused(t, reason.SeedPairNotFound)
	if list := got(theirs.rounds.ListRounds(theirs.ctx, &originalsv1.ListRoundsRequest{})).must(t); len(list.GetRounds()) != 1 || list.GetRounds()[0].GetRoundId() == round {
		t.Errorf("the other operator lists %v", list)
	}
	ours.rotate() // what is revealed to one stays hidden from the other
	got(theirs.pairs.GetSeedPairById(theirs.ctx, &originalsv1.GetSeedPairByIdRequest{SeedPairId: ours.pair})).refused(t, reason.SeedPairNotFound)
}

func TestWrongPeerRoleIsRefused(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	bet := p.diceBet(100)
	for _, role := range []string{"", "gateway", "limbo", "mines", "roulette", "seedpair", "DICE"} {
		got(p.vault(role).Draw(p.ctx, diceDraw(bet))).refused(t, reason.RoleRequired)
	}
	if p.nonce() != 0 || p.balance() != 1_000_000 {
		t.Fatal("a refused peer took a stake")
	}
	drawn := got(p.vault("dice").Draw(p.ctx, diceDraw(bet))).must(t)
	id := drawn.GetRound().GetRoundId()
	for _, role := range []string{"", "gateway", "limbo", "mines"} {
		got(p.vault(role).Settle(p.ctx, claim(id, &originalsv1.Round{}))).refused(t, reason.RoleRequired)
		resumed := got(p.vault(role).Resume(p.ctx, &vaultv1.ResumeRequest{RoundId: id}))
		if resumed.err == nil || resumed.value.GetSignature() != "" {
			t.Errorf("role %q got the signature of a dice round: %v", role, resumed.value)
		}
	}
	m := p.startMines(100)
	for _, role := range []string{"", "gateway", "dice"} {
		got(p.vault(role).Advance(p.ctx, &vaultv1.AdvanceRequest{RoundId: m.GetRoundId(), Picks: []uint32{1}})).refused(t, reason.RoleRequired)
	}
	// The vault is not among the public services.
	public := vaultv1.NewVaultServiceClient(h.public)
	if _, err := public.Draw(p.ctx, diceDraw(bet)); err == nil {
		t.Error("the public services have the vault")
	}
}

// The signature of a round that has ended is for nobody: who asks again gets
// the outcome.
func TestSignatureIsHandedOutWhileTheRoundIsOpen(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	bet := p.diceBet(100)
	first := got(p.vault("dice").Draw(p.ctx, diceDraw(bet))).must(t)
	again := got(p.vault("dice").Draw(p.ctx, diceDraw(bet))).must(t)
	if len(first.GetSignature()) != 64 || first.GetSignature() != again.GetSignature() {
		t.Errorf("signatures %q and %q", first.GetSignature(), again.GetSignature())
	}
	if r := first.GetRound(); r.GetDice().Roll != nil || r.GetDice().Win != nil || r.GetState() != originalsv1.Round_OPEN {
		t.Errorf("an open round shows %v", r)
	}
	got(p.dice.PlaceBet(p.ctx, bet)).must(t)
	if after := got(p.vault("dice").Draw(p.ctx, diceDraw(bet))).must(t); after.GetSignature() != "" || after.GetRound().GetDice().Roll == nil {
		t.Errorf("after the end: %v", after)
	}
}

func TestVaultChecksWhatAGameShouldHave(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	for field, change := range map[string]func(*vaultv1.DrawRequest){
		"parameters": func(d *vaultv1.DrawRequest) { d.Parameters = nil },
		"target":     func(d *vaultv1.DrawRequest) { d.GetDice().Target = 9801 },
		"direction":  func(d *vaultv1.DrawRequest) { d.GetDice().Direction = 9 },
		"betId":      func(d *vaultv1.DrawRequest) { d.BetId = strings.Repeat("b", 41) },
		"seedPairId": func(d *vaultv1.DrawRequest) { d.SeedPairId = "UPPER" },
		"stake":      func(d *vaultv1.DrawRequest) { d.Stake = nil },
		"amount":     func(d *vaultv1.DrawRequest) { d.Stake.Amount = -1 },
		"currency":   func(d *vaultv1.DrawRequest) { d.Stake.Currency = "NOPE" },
	} {
		t.Run(field, func(t *testing.T) {
			d := diceDraw(p.diceBet(100))
			change(d)
			got(p.vault("dice").Draw(p.ctx, d)).refused(t, reason.InvalidField, "field", field)
		})
	}
	roulette := &vaultv1.DrawRequest{BetId: "b", SeedPairId: p.pair, Stake: fun(1), Parameters: &vaultv1.DrawRequest_Roulette{
		Roulette: &originalsv1.RouletteParameters{Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_RED, Amount: 100}}},
	}}
	got(p.vault("roulette").Draw(p.ctx, roulette)).refused(t, reason.InvalidField, "field", "stake")
	if p.nonce() != 0 || p.balance() != 1_000_000 {
		t.Errorf("nonce %d, balance %d", p.nonce(), p.balance())
	}
}

// Staff and wallets have no balance: their tokens open no player's call.
func TestOnlyPlayersPlay(t *testing.T) {
	h := newHouse(t)
	for _, role := range []auth.Role{auth.Wallet, auth.Support} {
		p := h.as("staff", role)
		got(p.pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{})).refused(t, reason.RoleRequired)
		got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.RoleRequired)
		got(p.vault("dice").Draw(p.ctx, diceDraw(p.diceBet(100)))).refused(t, reason.RoleRequired)
	}
}

package wire_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// example is a bet with an outcome that wins.
type example struct {
	bet     bet.Bet
	outcome bet.Outcome
}

func examples() map[string]example {
	return map[string]example{
		"dice": {
			bet.Bet{Game: bet.Dice, Dice: dice.Bet{Target: 5000, Direction: dice.Under}},
			bet.Outcome{Dice: dice.Outcome{Roll: 1234, Win: true}, Multiplier: 19800, Payout: 1980},
		},
		"limbo": {
			bet.Bet{Game: bet.Limbo, Limbo: limbo.Bet{TargetE2: 198}},
			bet.Outcome{Limbo: limbo.Outcome{OutcomeE2: 777, Win: true}, Multiplier: 19800, Payout: 1980},
		},
		"roulette": {
			bet.Bet{Game: bet.Roulette, Roulette: roulette.Bet{Chips: []roulette.Chip{{Kind: roulette.Red, Amount: 990}, {Kind: roulette.Straight, Numbers: []uint8{2}, Amount: 10}}}},
			bet.Outcome{Pocket: 7, Multiplier: 19800, Payout: 1980},
		},
		"mines": {
			bet.Bet{Game: bet.Mines, MineCount: 3},
			bet.Outcome{Mines: []uint8{24, 0, 13}, Multiplier: 19800, Payout: 1980},
		},
	}
}

var begun = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)

func newRound(b bet.Bet, state ledger.RoundState) ledger.Round {
	r := ledger.Round{
		ID: ledger.RoundID{Pair: "07-abcdefghijklmnop", Nonce: 12}, BetID: "my-bet", State: state, Bet: b,
		Currency: "FUN", Stake: 1000, CreateTime: begun,
	}
	if state != ledger.Open {
		r.Payout, r.SettleTime = 1980, begun.Add(time.Second)
	}
	return r
}

// Round state broadcast carries the hidden result: an open round's message has
// nothing that its outcome could be in, even when the round has one.
func TestRoundStateBroadcastCarriesTheHiddenResult(t *testing.T) {
	for name, e := range examples() {
		t.Run(name, func(t *testing.T) {
			m := wire.Round(newRound(e.bet, ledger.Open), "client", rng.Commitment{1}, nil)
			if m.GetState() != originalsv1.Round_OPEN || m.SettleTime != nil || m.Balance != nil || m.GetPayout().GetAmount() != 0 || m.GetMultiplierE4() != 0 {
				t.Errorf("open as %v", m)
			}
			if m.GetDice().GetRoll() != 0 || m.GetDice() != nil && m.GetDice().Win != nil || m.GetLimbo() != nil && m.GetLimbo().OutcomeE2 != nil ||
				m.GetRoulette() != nil && m.GetRoulette().Pocket != nil || len(m.GetMines().GetMines()) != 0 || m.GetMines().GetHitMine() {
				t.Errorf("open as %v", m)
			}
		})
	}
}

func TestSettledRoundShowsAllOfIt(t *testing.T) {
	for name, e := range examples() {
		t.Run(name, func(t *testing.T) {
			m := wire.Round(newRound(e.bet, ledger.Settled), "client", rng.Commitment{1}, &e.outcome)
			if m.GetRoundId() != "07-abcdefghijklmnop-12" || m.GetSeedPairId() != "07-abcdefghijklmnop" || m.GetNonce() != 12 || m.GetBetId() != "my-bet" || m.GetClientSeed() != "client" ||
				m.GetScheme() != "originals-v1" || m.GetCommitment() != "01"+"00000000000000000000000000000000000000000000000000000000000000" {
				t.Errorf("named as %v", m)
			}
			if m.GetState() != originalsv1.Round_SETTLED || m.GetStake().GetAmount() != 1000 || m.GetStake().GetCurrency() != "FUN" || m.GetPayout().GetAmount() != 1980 || m.GetPayout().GetCurrency() != "FUN" ||
				m.GetMultiplierE4() != 19800 || !m.GetCreateTime().AsTime().Equal(begun) || !m.GetSettleTime().AsTime().Equal(begun.Add(time.Second)) {
				t.Errorf("settled as %v", m)
			}
			shown := map[string]bool{
				"dice": m.GetDice().GetRoll() == 1234 && m.GetDice().GetWin(), "limbo": m.GetLimbo().GetOutcomeE2() == 777 && m.GetLimbo().GetWin(),
				"roulette": m.GetRoulette() != nil && m.GetRoulette().GetPocket() == 7, "mines": slices.Equal(m.GetMines().GetMines(), []uint32{24, 0, 13}),
			}
			games := 0
			for game, ok := range shown {
				if ok != (game == name) {
					t.Errorf("%s shown: %v in %v", game, ok, m)
				}
			}
			for _, there := range []bool{m.GetDice() != nil, m.GetLimbo() != nil, m.GetRoulette() != nil, m.GetMines() != nil} {
				if there {
					games++
				}
			}
			if games != 1 || m.GetGame().String() != map[string]string{"dice": "DICE", "limbo": "LIMBO", "roulette": "ROULETTE", "mines": "MINES"}[name] {
				t.Errorf("%d games in %v", games, m)
			}
		})
	}
}

// Zero values vanish: a roll of 0, a pocket 0 and a lost bet are there all the
// same.
func TestZeroValuesVanish(t *testing.T) {
	all := examples()
	d, l, r := all["dice"], all["limbo"], all["roulette"]
	d.outcome, r.outcome = bet.Outcome{}, bet.Outcome{}
	l.outcome.Limbo.Win = false
	if m := wire.Round(newRound(d.bet, ledger.Settled), "c", rng.Commitment{}, &d.outcome).GetDice(); m.Roll == nil || m.Win == nil {
		t.Errorf("dice %v", m)
	}
	if m := wire.Round(newRound(l.bet, ledger.Settled), "c", rng.Commitment{}, &l.outcome).GetLimbo(); m.OutcomeE2 == nil || m.Win == nil || m.GetWin() {
		t.Errorf("limbo %v", m)
	}
	if m := wire.Round(newRound(r.bet, ledger.Settled), "c", rng.Commitment{}, &r.outcome).GetRoulette(); m.Pocket == nil {
		t.Errorf("roulette %v", m)
	}
}

// While it is open, a mines round shows what a cash-out would pay, and what
// the next pick would make of it: floor(9900*C(25,k)/C(22,k)).
func TestOpenMinesRoundShowsWhatACashOutPays(t *testing.T) {
	multipliers := []int64{0, 11250, 12857, 14785, 17120, 19973, 23498}
	for k := range 6 {
		r := newRound(examples()["mines"].bet, ledger.Open)
		r.MaxPicks, r.Picks = 22, []uint8{1, 2, 3, 4, 5}[:k]
		m := wire.Round(r, "c", rng.Commitment{}, nil)
		if m.GetMultiplierE4() != multipliers[k] || m.GetPayout().GetAmount() != multipliers[k]/10 || m.GetMines().GetNextMultiplierE4() != multipliers[k+1] || m.GetMines().GetMaxPicks() != 22 {
			t.Errorf("after %d picks: %v", k, m)
		}
	}
}

func TestVoidRoundPaysItsStake(t *testing.T) {
	e := examples()["mines"]
	r := newRound(e.bet, ledger.Void)
	r.Payout = r.Stake
	m := wire.Round(r, "c", rng.Commitment{}, &e.outcome)
	if m.GetState() != originalsv1.Round_VOID || m.GetPayout().GetAmount() != 1000 || m.GetMultiplierE4() != 0 {
		t.Errorf("void as %v", m)
	}
}

func TestServerSeedIsShownOnlyWhenRevealed(t *testing.T) {
	serverSeed, err := rng.ParseServerSeed("5b4c290e960e3c3a8c4cce633d38b04e136fae6c0e453f5a8dd3b9640157c7c6")
	if err != nil {
		t.Fatal(err)
	}
	for state, shown := range map[ledger.PairState]bool{
		ledger.Committed: false, ledger.Active: false, ledger.Retired: false, ledger.Revealed: true, ledger.Unused: true, 0: false, 99: false,
	} {
		pair := ledger.SeedPair{ID: "07-abcdefghijklmnop", State: state, ClientSeed: "c", Nonce: 3, CreateTime: begun}
		if shown {
			pair.RevealTime, pair.Cause, pair.Detail = begun.Add(time.Hour), ledger.CauseSupport, "ticket 7"
		}
		m := wire.SeedPair(pair, rng.Commitment{}, &serverSeed)
		if (m.ServerSeed != nil) != shown || (m.RevealTime != nil) != shown || (m.RevealReason != nil) != shown {
			t.Errorf("state %d: %v", state, m)
		}
		if shown && (m.GetServerSeed() != serverSeed.Reveal() || m.GetRevealReason() != "SUPPORT: ticket 7") {
			t.Errorf("state %d: %v", state, m)
		}
	}
}

// What a game tells the vault is the outcome and no more.
func TestDecided(t *testing.T) {
	for name, e := range examples() {
		m := wire.Decided(e.bet, e.outcome, []uint8{3, 4})
		if m.GetPayout().GetAmount() != 1980 || m.GetMultiplierE4() != 19800 || m.GetRoundId() != "" {
			t.Errorf("%s: %v", name, m)
		}
		if name == "mines" && (!slices.Equal(m.GetMines().GetPicks(), []uint32{3, 4}) || len(m.GetMines().GetMines()) != 3) {
			t.Errorf("mines: %v", m)
		}
		if _, err := protojson.Marshal(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Package wire translates between the public messages and the types of bet
// and ledger. It must never import a service, a store's driver or a clock, and
// decides nothing.
package wire

import (
	"errors"
	"maps"
	"slices"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// BetID accepts 1 to 40 of [A-Za-z0-9_-].
func BetID(id string) error { return CallerID("betId", id) }

// CallerID accepts the form of ids that callers make, 1 to 40 of [A-Za-z0-9_-].
func CallerID(field, id string) error {
	if !consistsOf(id, 40, func(c byte) bool {
		return lower(c) || digit(c) || 'A' <= c && c <= 'Z' || c == '_' || c == '-'
	}) {
		return reason.Field(field, "must be 1 to 40 characters of A-Z a-z 0-9 _ -")
	}
	return nil
}

// PlayerID accepts the form of player ids, 1 to 128 visible ASCII characters.
func PlayerID(field, id string) error {
	if !consistsOf(id, 128, func(c byte) bool { return 0x21 <= c && c <= 0x7E }) {
		return reason.Field(field, "must be 1 to 128 visible ASCII characters")
	}
	return nil
}

// ID accepts the form of ids that we make, 1 to 64 of [a-z0-9-]; whether
// there is such a thing is for the store to say.
func ID(field, id string) error {
	if !consistsOf(id, 64, func(c byte) bool { return lower(c) || digit(c) || c == '-' }) {
		return reason.Field(field, "must be 1 to 64 characters of a-z 0-9 -")
	}
	return nil
}

// consistsOf reports whether s has 1 to most bytes, and allowed ones only.
func consistsOf(s string, most int, allowed func(byte) bool) bool {
	if len(s) < 1 || len(s) > most {
		return false
	}
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }

// Stake reads a stake: a currency code, and an amount of 1 to 2^53-1.
func Stake(m *originalsv1.Money) (money.Currency, money.Units, error) { return Amount("stake", m) }

// Amount reads the money of a field: a currency code, and an amount of 1 to
// 2^53-1.
func Amount(field string, m *originalsv1.Money) (money.Currency, money.Units, error) {
	if m == nil {
		return "", 0, reason.Field(field, "is missing")
	}
	currency, err := Currency(m.GetCurrency())
	if err != nil {
		return "", 0, err
	}
	if m.GetAmount() < 1 || m.GetAmount() > int64(money.MaxUnits) {
		return "", 0, reason.Field("amount", "must be 1 to 9007199254740991")
	}
	return currency, money.Units(m.GetAmount()), nil
}

// Currency reads a currency code.
func Currency(code string) (money.Currency, error) {
	c, err := money.ParseCurrency(code)
	if err != nil {
		return "", reason.Field("currency", "must be 2 to 8 characters of A-Z 0-9")
	}
	return c, nil
}

// Money returns the message of an amount.
func Money(c money.Currency, u money.Units) *originalsv1.Money {
	return &originalsv1.Money{Currency: string(c), Amount: int64(u)}
}

// Balances returns the messages of balances, sorted by currency.
func Balances(balances map[money.Currency]money.Units) []*originalsv1.Money {
	var all []*originalsv1.Money
	for _, c := range slices.Sorted(maps.Keys(balances)) {
		all = append(all, Money(c, balances[c]))
	}
	return all
}

// DiceBet reads and validates a dice bet.
func DiceBet(p *originalsv1.DiceParameters) (bet.Bet, error) {
	return valid(bet.Bet{Game: bet.Dice, Dice: dice.Bet{
		Target: p.GetTarget(), Direction: direction(p.GetDirection()),
	}})
}

// direction maps what is no direction to 0, which is refused.
func direction(d originalsv1.Dice_Direction) dice.Direction {
	switch d {
	case originalsv1.Dice_OVER:
		return dice.Over
	case originalsv1.Dice_UNDER:
		return dice.Under
	}
	return 0
}

// LimboBet reads and validates a limbo bet.
func LimboBet(p *originalsv1.LimboParameters) (bet.Bet, error) {
	return valid(bet.Bet{Game: bet.Limbo, Limbo: limbo.Bet{TargetE2: p.GetTargetE2()}})
}

// RouletteBet reads and validates a roulette bet.
func RouletteBet(p *originalsv1.RouletteParameters) (bet.Bet, error) {
	chips := make([]roulette.Chip, 0, len(p.GetChips()))
	for _, c := range p.GetChips() {
		numbers, err := small(c.GetNumbers(), "numbers")
		if err != nil {
			return bet.Bet{}, err
		}
		chips = append(chips, roulette.Chip{
			Kind: kind(c.GetKind()), Numbers: numbers, Amount: money.Units(c.GetAmount()),
		})
	}
	return valid(bet.Bet{Game: bet.Roulette, Roulette: roulette.Bet{Chips: chips}})
}

// kind maps what is no kind to 0, which is refused.
func kind(k originalsv1.Chip_Kind) roulette.Kind {
	if k < originalsv1.Chip_STRAIGHT || k > originalsv1.Chip_HIGH {
		return 0
	}
	return roulette.Kind(k)
}

// MinesBet reads and validates the start of a mines round.
func MinesBet(p *originalsv1.MinesParameters) (bet.Bet, error) {
	if err := mines.ValidateMineCount(p.GetMineCount()); err != nil {
		return bet.Bet{}, FieldError(err)
	}
	return bet.Bet{Game: bet.Mines, MineCount: uint8(p.GetMineCount())}, nil
}

// Picks reads a list of tiles; whether a round can have them is not checked.
func Picks(tiles []uint32) ([]uint8, error) {
	if len(tiles) > mines.Tiles {
		return nil, reason.Field("picks", "must be at most 25 tiles")
	}
	return small(tiles, "picks")
}

func small(numbers []uint32, field string) ([]uint8, error) {
	out := make([]uint8, len(numbers))
	for i, n := range numbers {
		if n > 255 {
			return nil, reason.Field(field, "holds a number out of range")
		}
		out[i] = uint8(n)
	}
	return out, nil
}

func valid(b bet.Bet) (bet.Bet, error) {
	if err := b.Validate(); err != nil {
		return bet.Bet{}, FieldError(err)
	}
	return b, nil
}

// FieldError gives a parameter that a game refuses its reason.
func FieldError(err error) error {
	var f *game.FieldError
	if errors.As(err, &f) {
		return reason.Field(f.Field, f.Problem)
	}
	return err
}

// Dice returns the message of a dice bet, with its outcome unless that is nil.
func Dice(b dice.Bet, o *dice.Outcome) *originalsv1.Dice {
	m := &originalsv1.Dice{Target: b.Target, Direction: originalsv1.Dice_Direction(b.Direction)}
	if o != nil {
		m.Roll, m.Win = &o.Roll, &o.Win
	}
	return m
}

// Limbo returns the message of a limbo bet, with its outcome unless that is nil.
func Limbo(b limbo.Bet, o *limbo.Outcome) *originalsv1.Limbo {
	m := &originalsv1.Limbo{TargetE2: b.TargetE2}
	if o != nil {
		m.OutcomeE2, m.Win = &o.OutcomeE2, &o.Win
	}
	return m
}

// Roulette returns the message of a roulette bet, with the pocket unless that
// is nil.
func Roulette(b roulette.Bet, pocket *uint8) *originalsv1.Roulette {
	m := &originalsv1.Roulette{Chips: make([]*originalsv1.Chip, 0, len(b.Chips))}
	for _, c := range b.Chips {
		m.Chips = append(m.Chips, &originalsv1.Chip{
			Kind: originalsv1.Chip_Kind(c.Kind), Numbers: Tiles(c.Numbers), Amount: int64(c.Amount),
		})
	}
	if pocket != nil {
		p := uint32(*pocket)
		m.Pocket = &p
	}
	return m
}

// Tiles widens small numbers to those of a message.
func Tiles(numbers []uint8) []uint32 {
	out := make([]uint32, len(numbers))
	for i, n := range numbers {
		out[i] = uint32(n)
	}
	return out
}

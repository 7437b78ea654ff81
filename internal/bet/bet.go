// Package bet holds what a bet of any game is: its parameters, what it may
// pay, and the outcome that a signature gives it. It is pure: the standard
// library, rng, money and game; never a clock, a network, a store or protobuf.
//
// A new game is a package beside the others in internal/game, and a case in
// each function here.
package bet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
)

// Game names a game. The numbers are those of the public contract and of
// stored rounds; they never change.
type Game uint8

// The games. All but Crash are played with a seed pair.
const (
	Dice Game = iota + 1
	Limbo
	Roulette
	Mines
	Crash
)

// Games lists every game that is played with a seed pair.
var Games = []Game{Dice, Limbo, Roulette, Mines}

// String returns the name in lower case, as metrics and logs show it.
func (g Game) String() string {
	switch g {
	case Dice:
		return "dice"
	case Limbo:
		return "limbo"
	case Roulette:
		return "roulette"
	case Mines:
		return "mines"
	case Crash:
		return "crash"
	}
	return fmt.Sprintf("game-%d", uint8(g))
}

// Bet is the parameters of a bet of one game; only the field of that game is
// used.
type Bet struct {
	Game      Game
	Dice      dice.Bet
	Limbo     limbo.Bet
	Roulette  roulette.Bet
	MineCount uint8 // mines: 1..24
	Crash     CrashBet
}

// CrashBet is a bet on one round of a crash table.
type CrashBet struct {
	crash.Bet        // the target at which it is cashed out by itself
	Number    uint32 // of the table's round, from 1
	CashOutE2 uint32 // hundredths at which it was cashed out, 101 to the target; 0 when it was not
	Void      string // why the stake was given back, one of the reasons below; empty otherwise
}

// Why the stake of a crash bet was given back.
const (
	VoidCancelled     = "CANCELLED" // by its player
	VoidStoreReplaced = "STORE_REPLACED"
	VoidNoOwner       = "NO_OWNER"
	VoidBeacon        = "BEACON_UNPUBLISHED"
)

// voids are the reasons by their stored form, which stands in the place of a
// cash-out: all are below the least one.
var voids = [...]string{"", VoidCancelled, VoidStoreReplaced, VoidNoOwner, VoidBeacon}

// Validate returns a *game.FieldError that names the first bad field.
func (b CrashBet) Validate() error {
	if err := b.Bet.Validate(); err != nil {
		return err
	}
	if b.CashOutE2 != 0 && (b.CashOutE2 < crash.MinTargetE2 || b.CashOutE2 > b.TargetE2) {
		return &game.FieldError{Field: "cashOutE2", Problem: "must be 101 to the target"}
	}
	if !slices.Contains(voids[:], b.Void) || b.Void != "" && b.CashOutE2 != 0 {
		return &game.FieldError{Field: "void", Problem: "must be a reason, and goes with no cash-out"}
	}
	return nil
}

// Paid returns what a cash-out pays in 1/10000; 0 when there was none.
func (b CrashBet) Paid() money.Multiplier { return money.Multiplier(b.CashOutE2) * 100 }

// ErrGame says that a bet is of no known game.
var ErrGame = errors.New("bet: unknown game")

// Validate returns a *game.FieldError that names the first bad parameter.
func (b Bet) Validate() error {
	switch b.Game {
	case Dice:
		return b.Dice.Validate()
	case Limbo:
		return b.Limbo.Validate()
	case Roulette:
		return b.Roulette.Validate()
	case Mines:
		return mines.ValidateMineCount(uint32(b.MineCount))
	case Crash:
		return b.Crash.Validate()
	}
	return ErrGame
}

// Limits bounds the bets of one game in one currency.
type Limits struct {
	MinStake, MaxStake, MaxPayout money.Units
}

// Errors of Terms. A limit is reported as a LimitError.
var (
	ErrStakeTooSmall = errors.New("bet: the payout of a win would not exceed the stake")
	ErrNoWinPossible = errors.New("bet: no outcome pays more than the stake")
)

// LimitError says which limit a bet exceeds, and its value.
type LimitError struct {
	Limit string // minStake, maxStake or maxPayout
	Value money.Units
}

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("bet: outside %s %d", e.Limit, e.Value) }

// Terms are fixed when a bet is taken.
type Terms struct {
	WorstCase money.Units // greatest payout
	MaxPicks  uint8       // mines: picks at which the round cashes out by itself
}

// Terms checks a valid bet against limits. Errors: *LimitError,
// ErrStakeTooSmall, ErrNoWinPossible. A bet whose greatest payout is above the
// limit is refused, never cut; in mines max_picks bounds it instead.
func (b Bet) Terms(stake money.Units, l Limits) (Terms, error) {
	if stake < l.MinStake {
		return Terms{}, &LimitError{"minStake", l.MinStake}
	}
	if stake > l.MaxStake {
		return Terms{}, &LimitError{"maxStake", l.MaxStake}
	}
	if err := b.checkWin(stake); err != nil {
		return Terms{}, err
	}
	var t Terms
	if b.Game == Mines {
		t.MaxPicks = mines.MaxPicks(b.MineCount, stake, l.MaxPayout)
	}
	worst, err := b.WorstCase(stake, t.MaxPicks)
	if err != nil || worst > l.MaxPayout || (b.Game == Mines && t.MaxPicks == 0) {
		return Terms{}, &LimitError{"maxPayout", l.MaxPayout}
	}
	t.WorstCase = worst
	return t, nil
}

func (b Bet) checkWin(stake money.Units) error {
	switch b.Game {
	case Dice:
		return tooSmallUnless(b.Dice.CanWin(stake))
	case Limbo:
		return tooSmallUnless(b.Limbo.CanWin(stake))
	case Mines:
		return tooSmallUnless(mines.CanWin(b.MineCount, stake))
	case Crash:
		return tooSmallUnless(b.Crash.CanWin(stake))
	case Roulette:
		if !b.Roulette.CanWin() {
			return ErrNoWinPossible
		}
		return nil
	}
	return ErrGame
}

func tooSmallUnless(canWin bool) error {
	if !canWin {
		return ErrStakeTooSmall
	}
	return nil
}

// WorstCase returns the greatest payout of a valid bet: of its win, of its
// best pocket, or of its last pick. money.ErrOverflow above 2^53-1.
func (b Bet) WorstCase(stake money.Units, maxPicks uint8) (money.Units, error) {
	switch b.Game {
	case Dice:
		return money.Payout(stake, b.Dice.Multiplier())
	case Limbo:
		return money.Payout(stake, b.Limbo.Multiplier())
	case Mines:
		return money.Payout(stake, mines.Multiplier(b.MineCount, maxPicks))
	case Crash:
		return money.Payout(stake, b.Crash.Multiplier())
	case Roulette:
		worst := b.Roulette.WorstCase()
		if worst > money.MaxUnits {
			return 0, money.ErrOverflow
		}
		return worst, nil
	}
	return 0, ErrGame
}

// AppendBinary appends the parameters in their stored form: dice 3 bytes,
// limbo 3, mines 1, crash 9, roulette its chips. Equal bets have equal forms.
func (b Bet) AppendBinary(dst []byte) []byte {
	switch b.Game {
	case Dice:
		dst = append(dst, byte(b.Dice.Direction))
		return binary.BigEndian.AppendUint16(dst, uint16(b.Dice.Target))
	case Limbo:
		t := b.Limbo.TargetE2
		return append(dst, byte(t>>16), byte(t>>8), byte(t))
	case Roulette:
		return b.Roulette.AppendBinary(dst)
	case Mines:
		return append(dst, b.MineCount)
	case Crash:
		dst = binary.BigEndian.AppendUint32(dst, b.Crash.Number)
		return b.Crash.AppendTargets(dst)
	}
	return dst
}

// AppendTargets appends the target and the cash-out in five bytes, 20 bits each. Of
// a void bet, which has none, the reason stands in the cash-out's place.
func (b CrashBet) AppendTargets(dst []byte) []byte {
	end := uint64(b.CashOutE2)
	if b.Void != "" {
		end = uint64(max(slices.Index(voids[:], b.Void), 0))
	}
	both := uint64(b.TargetE2)<<20 | end
	return append(dst, byte(both>>32), byte(both>>24), byte(both>>16), byte(both>>8), byte(both))
}

func parseCrash(p []byte) CrashBet {
	both := uint64(p[4])<<32 | uint64(binary.BigEndian.Uint32(p[5:]))
	b := CrashBet{Number: binary.BigEndian.Uint32(p), Bet: crash.Bet{TargetE2: uint32(both >> 20)}}
	if end := uint32(both & (1<<20 - 1)); end < uint32(len(voids)) {
		b.Void = voids[end]
	} else {
		b.CashOutE2 = end
	}
	return b
}

// ErrBinary says that bytes are not the stored form of a bet.
var ErrBinary = errors.New("bet: not the stored form of a bet")

// ParseBinary reads what AppendBinary wrote, and refuses anything else.
func ParseBinary(g Game, p []byte) (Bet, error) {
	b := Bet{Game: g}
	var err error
	switch {
	case g == Dice && len(p) == 3:
		b.Dice = dice.Bet{Direction: dice.Direction(p[0]), Target: uint32(binary.BigEndian.Uint16(p[1:]))}
	case g == Limbo && len(p) == 3:
		b.Limbo = limbo.Bet{TargetE2: uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])}
	case g == Roulette:
		b.Roulette, err = roulette.ParseBinary(p)
	case g == Mines && len(p) == 1:
		b.MineCount = p[0]
	case g == Crash && len(p) == 9:
		b.Crash = parseCrash(p)
	default:
		return Bet{}, ErrBinary
	}
	if err != nil {
		return Bet{}, fmt.Errorf("%w: %w", ErrBinary, err)
	}
	if err := b.Validate(); err != nil {
		return Bet{}, fmt.Errorf("%w: %w", ErrBinary, err)
	}
	return b, nil
}

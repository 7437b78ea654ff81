package rtp

import (
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/game/roulette"
)

// Ends returns the nominal rows with the lowest and the highest return of a game, the first of each where several are
// equal. The configurations are written down here, so that this costs nothing; a test finds them again among all rows.
// ok is false for an unknown game.
func Ends(g Game) (lowest, highest Row, ok bool) {
	low, high, ok := ends(g)
	if !ok {
		return Row{}, Row{}, false
	}
	return low.row(g, 0), high.row(g, 0), true
}

func ends(g Game) (lowest, highest config, ok bool) {
	switch g {
	case Dice:
		return diceConfig(9724), diceConfig(1), true
	case Limbo:
		return limboConfig(999958), limboConfig(128), true
	case Roulette:
		chip := rouletteConfig(roulette.All()[0])
		return chip, chip, true
	case Mines:
		return minesConfig(1, 2), minesConfig(1, 3), true
	case Crash:
		return crashConfig(crash.MaxTargetE2), crashConfig(crash.MinTargetE2), true
	default:
		return config{}, config{}, false
	}
}

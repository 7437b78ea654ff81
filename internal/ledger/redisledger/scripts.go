package redisledger

import (
	_ "embed" // the scripts

	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/prelude.lua
	prelude string
	//go:embed scripts/round.lua
	roundPart string

	//go:embed scripts/open.lua
	openText string
	//go:embed scripts/rotate.lua
	rotateText string
	//go:embed scripts/retire.lua
	retireText string
	//go:embed scripts/draw.lua
	drawText string
	//go:embed scripts/advance.lua
	advanceText string
	//go:embed scripts/settle.lua
	settleText string
	//go:embed scripts/load.lua
	loadText string
	//go:embed scripts/rounds.lua
	roundsText string
	//go:embed scripts/pair.lua
	pairText string
	//go:embed scripts/pairs.lua
	pairsText string
	//go:embed scripts/balances.lua
	balancesText string
	//go:embed scripts/open_rounds.lua
	openRoundsText string
	//go:embed scripts/outbox.lua
	outboxText string

	openScript       = redisscript.New("open", prelude, openText)
	rotateScript     = redisscript.New("rotate", prelude, rotateText)
	retireScript     = redisscript.New("retire", prelude, retireText)
	drawScript       = redisscript.NewStep("draw", 2, 12, prelude, roundPart, drawText)
	advanceScript    = redisscript.New("advance", prelude, roundPart, advanceText)
	settleScript     = redisscript.New("settle", prelude, roundPart, settleText)
	loadScript       = redisscript.New("load", prelude, roundPart, loadText)
	roundsScript     = redisscript.New("rounds", prelude, roundsText)
	pairScript       = redisscript.New("pair", prelude, pairText)
	pairsScript      = redisscript.New("pairs", prelude, pairsText)
	balancesScript   = redisscript.New("balances", prelude, balancesText)
	openRoundsScript = redisscript.New("open_rounds", prelude, openRoundsText)
	outboxScript     = redisscript.New("outbox", prelude, outboxText)
)

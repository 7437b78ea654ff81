package redisledger

import (
	"crypto/sha1"
	_ "embed" // the scripts
	"encoding/hex"
)

// script is a Lua program and the digest by which Redis knows it.
type script struct{ name, text, sha string }

func newScript(name string, parts ...string) *script {
	s := &script{name: name, text: prelude}
	for _, p := range parts {
		s.text += p
	}
	sum := sha1.Sum([]byte(s.text)) // not for security: EVALSHA names scripts so
	s.sha = hex.EncodeToString(sum[:])
	return s
}

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

	openScript       = newScript("open", openText)
	rotateScript     = newScript("rotate", rotateText)
	retireScript     = newScript("retire", retireText)
	drawScript       = newScript("draw", roundPart, drawText)
	advanceScript    = newScript("advance", roundPart, advanceText)
	settleScript     = newScript("settle", roundPart, settleText)
	loadScript       = newScript("load", roundPart, loadText)
	roundsScript     = newScript("rounds", roundsText)
	pairScript       = newScript("pair", pairText)
	pairsScript      = newScript("pairs", pairsText)
	balancesScript   = newScript("balances", balancesText)
	openRoundsScript = newScript("open_rounds", openRoundsText)
	outboxScript     = newScript("outbox", outboxText)
)

package redisledger

import (
	_ "embed" // the scripts

	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/feed.lua
	feedPart string

	//go:embed scripts/settlements.lua
	settlementsText string
	//go:embed scripts/fetch.lua
	fetchText string
	//go:embed scripts/settlement.lua
	settlementText string
	//go:embed scripts/sort.lua
	sortText string
	//go:embed scripts/lease.lua
	leasePart string
	//go:embed scripts/claim_home.lua
	claimHomeText string
	//go:embed scripts/claim_done.lua
	claimDoneText string
	//go:embed scripts/claim_where.lua
	claimWhereText string
	//go:embed scripts/claim.lua
	claimText string
	//go:embed scripts/claim_change.lua
	claimChangeText string
	//go:embed scripts/acknowledge.lua
	acknowledgeText string
	//go:embed scripts/rejected.lua
	rejectedText string
	//go:embed scripts/requeue.lua
	requeueText string
	//go:embed scripts/oldest.lua
	oldestText string

	settlementsScript = redisscript.New("settlements", prelude, roundPart, feedPart, settlementsText)
	fetchScript       = redisscript.New("fetch", prelude, fetchText)
	settlementScript  = redisscript.New("settlement", prelude, roundPart, feedPart, settlementText)
	sortScript        = redisscript.New("sort", prelude, roundPart, feedPart, sortText)
	claimHomeScript   = redisscript.New("claim_home", prelude, roundPart, feedPart, leasePart, claimHomeText)
	claimDoneScript   = redisscript.New("claim_done", prelude, claimDoneText)
	claimWhereScript  = redisscript.New("claim_where", prelude, claimWhereText)
	claimScript       = redisscript.New("claim", prelude, roundPart, feedPart, leasePart, claimText)
	claimChangeScript = redisscript.New("claim_change", prelude, roundPart, feedPart, claimChangeText)
	acknowledgeScript = redisscript.New("acknowledge", prelude, roundPart, feedPart, acknowledgeText)
	rejectedScript    = redisscript.New("rejected", prelude, roundPart, feedPart, rejectedText)
	requeueScript     = redisscript.New("requeue", prelude, roundPart, feedPart, requeueText)
	oldestScript      = redisscript.New("oldest", prelude, roundPart, feedPart, oldestText)
)

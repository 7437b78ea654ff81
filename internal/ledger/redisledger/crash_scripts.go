package redisledger

import (
	_ "embed" // the scripts

	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/crash.lua
	crashPart string
	//go:embed scripts/crash_home.lua
	crashHomePart string

	//go:embed scripts/crash_place.lua
	crashPlaceText string
	//go:embed scripts/crash_cancel.lua
	crashCancelText string
	//go:embed scripts/crash_find.lua
	crashFindText string
	//go:embed scripts/crash_partition.lua
	crashPartitionText string
	//go:embed scripts/crash_bets.lua
	crashBetsText string
	//go:embed scripts/crash_settle.lua
	crashSettleText string
	//go:embed scripts/crash_state.lua
	crashStateText string
	//go:embed scripts/crash_lease.lua
	crashLeaseText string
	//go:embed scripts/crash_step.lua
	crashStepText string
	//go:embed scripts/crash_beacon.lua
	crashBeaconText string
	//go:embed scripts/crash_reserve.lua
	crashReserveText string
	//go:embed scripts/crash_release.lua
	crashReleaseText string
	//go:embed scripts/crash_totals.lua
	crashTotalsText string
	//go:embed scripts/crash_history.lua
	crashHistoryText string
	//go:embed scripts/crash_chain.lua
	crashChainText string
	//go:embed scripts/crash_publish.lua
	crashPublishText string

	crashPlaceScript     = redisscript.New("crash_place", prelude, roundPart, crashPart, crashPlaceText)
	crashCancelScript    = redisscript.New("crash_cancel", prelude, roundPart, crashPart, crashCancelText)
	crashFindScript      = redisscript.New("crash_find", prelude, roundPart, crashPart, crashFindText)
	crashPartitionScript = redisscript.New("crash_partition", prelude, roundPart, crashPart, crashPartitionText)
	crashBetsScript      = redisscript.New("crash_bets", prelude, crashBetsText)
	crashSettleScript    = redisscript.New("crash_settle", prelude, roundPart, crashPart, crashSettleText)

	crashStateScript   = redisscript.New("crash_state", prelude, crashHomePart, crashStateText)
	crashLeaseScript   = redisscript.New("crash_lease", prelude, crashHomePart, crashLeaseText)
	crashStepScript    = redisscript.New("crash_step", prelude, crashHomePart, crashStepText)
	crashBeaconScript  = redisscript.New("crash_beacon", prelude, crashHomePart, crashBeaconText)
	crashReserveScript = redisscript.New("crash_reserve", prelude, crashReserveText)
	crashReleaseScript = redisscript.New("crash_release", prelude, crashReleaseText)
	crashTotalsScript  = redisscript.New("crash_totals", prelude, crashTotalsText)
	crashHistoryScript = redisscript.New("crash_history", prelude, crashHistoryText)
	crashChainScript   = redisscript.New("crash_chain", prelude, crashChainText)
	crashPublishScript = redisscript.New("crash_publish", prelude, crashHomePart, crashPublishText)
)

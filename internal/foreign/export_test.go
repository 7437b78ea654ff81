package foreign

// What tests of the inside need.
var (
	DecodeLossy = decodeLossy
	Unit64      = unit64
	Unit56      = unit56
	FloorOf     = floorOf
	LimboE2     = limboE2
	BcgameE2    = bcgameE2
	BustE2      = bustE2
	DrawLiqd    = drawLiqd
	DrawDuel    = drawDuel
	DuelRoll    = duelRoll
	StakeCrash  = stakeCrashE2
	Face        = face
)

package evidence

// field names one value of the document, wherever it stands.
type field uint8

const (
	fFormat field = iota
	fSeedPair
	fRounds

	fPairID
	fPairScheme
	fPairState
	fPairCommitment
	fPairClientSeed
	fPairNonce
	fServerSeed
	fPairCreateTime
	fRevealTime
	fRevealReason

	fRoundID
	fRoundNumber // the end of a roundId that has the usual form
	fBetID
	fGame
	fScheme
	fState
	fSeedPairID
	fCommitment
	fClientSeed
	fNonce
	fStake
	fStakeCurrency
	fStakeAmount
	fPayout
	fPayoutCurrency
	fPayoutAmount
	fMultiplier
	fCreateTime
	fSettleTime

	fDice
	fTarget
	fDirection
	fRoll
	fWin
	fLimbo
	fTargetE2
	fOutcomeE2
	fRoulette
	fChips
	fPocket
	fChipKind
	fChipNumbers
	fChipAmount
	fMines
	fMineCount
	fMaxPicks
	fPicks
	fBoard
	fHitMine
	fNextMultiplier

	fieldCount
)

// key is one key that an object of the document has.
type key struct {
	name     string
	field    field
	optional bool
}

var (
	documentKeys = []key{{name: "format", field: fFormat}, {name: "seedPair", field: fSeedPair}, {name: "rounds", field: fRounds}}

	seedPairKeys = []key{
		{name: "seedPairId", field: fPairID}, {name: "scheme", field: fPairScheme}, {name: "state", field: fPairState},
		{name: "commitment", field: fPairCommitment}, {name: "clientSeed", field: fPairClientSeed}, {name: "nonce", field: fPairNonce},
		{name: "serverSeed", field: fServerSeed}, {name: "createTime", field: fPairCreateTime}, {name: "revealTime", field: fRevealTime},
		{name: "revealReason", field: fRevealReason, optional: true},
	}

	roundKeys = []key{
		{name: "roundId", field: fRoundID}, {name: "betId", field: fBetID}, {name: "game", field: fGame}, {name: "scheme", field: fScheme},
		{name: "state", field: fState}, {name: "seedPairId", field: fSeedPairID}, {name: "commitment", field: fCommitment},
		{name: "clientSeed", field: fClientSeed}, {name: "nonce", field: fNonce}, {name: "stake", field: fStake}, {name: "payout", field: fPayout},
		{name: "multiplierE4", field: fMultiplier}, {name: "createTime", field: fCreateTime}, {name: "settleTime", field: fSettleTime},
		{name: "dice", field: fDice, optional: true}, {name: "limbo", field: fLimbo, optional: true},
		{name: "roulette", field: fRoulette, optional: true}, {name: "mines", field: fMines, optional: true},
	}

	stakeKeys    = []key{{name: "currency", field: fStakeCurrency}, {name: "amount", field: fStakeAmount}}
	payoutKeys   = []key{{name: "currency", field: fPayoutCurrency}, {name: "amount", field: fPayoutAmount}}
	diceKeys     = []key{{name: "target", field: fTarget}, {name: "direction", field: fDirection}, {name: "roll", field: fRoll}, {name: "win", field: fWin}}
	limboKeys    = []key{{name: "targetE2", field: fTargetE2}, {name: "outcomeE2", field: fOutcomeE2}, {name: "win", field: fWin}}
	rouletteKeys = []key{{name: "chips", field: fChips}, {name: "pocket", field: fPocket}}
	chipKeys     = []key{{name: "kind", field: fChipKind}, {name: "numbers", field: fChipNumbers}, {name: "amount", field: fChipAmount}}
	minesKeys    = []key{
		{name: "mineCount", field: fMineCount}, {name: "maxPicks", field: fMaxPicks}, {name: "picks", field: fPicks},
		{name: "mines", field: fBoard}, {name: "hitMine", field: fHitMine}, {name: "nextMultiplierE4", field: fNextMultiplier},
	}
)

// object reads an object with exactly these keys, in any order, each once, and calls read at the value of each. It stops
// early, without looking for the end, when read returns false.
func (c *cursor) object(keys []key, read func(field) bool) {
	if !c.take('{') {
		c.wants("an object")
		return
	}
	seen := uint32(0)
	for first := true; c.err == nil; first = false {
		if c.take('}') {
			break
		}
		if !first && !c.take(',') {
			c.wants("a comma or }")
			return
		}
		k := c.key(keys, &seen)
		if c.err != nil {
			return
		}
		c.path = append(c.path, keys[k].name)
		goOn := read(keys[k].field)
		c.path = c.path[:len(c.path)-1]
		if !goOn {
			return
		}
	}
	for i, k := range keys {
		if seen&(1<<i) == 0 && !k.optional {
			c.fail("the key %q is missing", k.name)
		}
	}
}

// key reads a key and its colon, and returns its place among the keys.
func (c *cursor) key(keys []key, seen *uint32) int {
	c.space()
	name := c.str()
	if c.err != nil {
		return 0
	}
	for i, k := range keys {
		if k.name != string(name) {
			continue
		}
		if *seen&(1<<i) != 0 {
			c.fail("the key %q stands twice", k.name)
		}
		*seen |= 1 << i
		if !c.take(':') {
			c.wants("a colon")
		}
		c.space()
		return i
	}
	c.fail("unknown key %s", quote(name[:min(len(name), valueShown)]))
	return 0
}

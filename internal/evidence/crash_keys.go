package evidence

import "github.com/openoriginals/originals/internal/money"

// crashKind is what an object among the answers is.
type crashKind int

const (
	notCrash crashKind = iota
	crashRoundKind
	crashBetKind
	crashTableKind
	crashPageKind
)

// crashMarks are keys that only one kind of object has, at its outermost level.
var crashMarks = map[string]crashKind{
	"rounds": crashPageKind, "nextPageToken": crashPageKind,
	"roundId": crashBetKind, "betId": crashBetKind,
	"phase": crashTableKind, "growth": crashTableKind, "chainLength": crashTableKind,
	"hash": crashRoundKind, "openTime": crashRoundKind, "voidReason": crashRoundKind, "betCount": crashRoundKind,
}

// The fields of the answers about a crash table.
const (
	fCrashRounds field = iota + 1
	fCrashNextPage

	fCrashTable
	fCrashNumber
	fCrashScheme
	fCrashState
	fCrashTerminal
	fCrashHash
	fCrashPoint
	fCrashSalt
	fCrashBeacon
	fCrashOpenTime
	fCrashLockTime
	fCrashStartTime
	fCrashTime
	fCrashVoidReason
	fCrashBetCount
	fCrashBet

	fSaltKind
	fSaltValue
	fSaltNamed
	fSaltSignature
	fSaltNetwork

	fBeaconRound
	fBeaconRandomness
	fBeaconSignature
	fBeaconNetwork

	fTableGrowth
	fTableDigest
	fTablePhase
	fTableLength
	fTableNextTerminal
	fTableNext
	fTablePrevious
	fTableEnd
	fTableTimings
	fTableServerTime
	fTableMultiplier
	fTableBets
	fTimingBetting
	fTimingCrashed
	fTimingTick
	fChainAnnounceTime

	fCrashBetTable
	fCrashBetNumber
	fCrashBetAuto
	fCrashBetCashOut
	fCrashBetPoint
)

var (
	crashPageKeys = []key{{name: "rounds", field: fCrashRounds}, {name: "nextPageToken", field: fCrashNextPage}}

	crashRoundKeys = []key{
		{name: "table", field: fCrashTable}, {name: "number", field: fCrashNumber}, {name: "state", field: fCrashState},
		{name: "scheme", field: fCrashScheme}, {name: "terminal", field: fCrashTerminal}, {name: "hash", field: fCrashHash, optional: true},
		{name: "crashE2", field: fCrashPoint, optional: true}, {name: "salt", field: fCrashSalt, optional: true},
		{name: "beacon", field: fCrashBeacon, optional: true}, {name: "openTime", field: fCrashOpenTime, optional: true},
		{name: "lockTime", field: fCrashLockTime, optional: true}, {name: "startTime", field: fCrashStartTime, optional: true},
		{name: "crashTime", field: fCrashTime, optional: true}, {name: "voidReason", field: fCrashVoidReason},
		{name: "betCount", field: fCrashBetCount}, {name: "bet", field: fCrashBet, optional: true},
	}
	crashSaltKeys = []key{
		{name: "kind", field: fSaltKind}, {name: "value", field: fSaltValue}, {name: "named", field: fSaltNamed}, {name: "signature", field: fSaltSignature},
		{name: "network", field: fSaltNetwork, optional: true},
	}
	crashBeaconKeys = []key{
		{name: "round", field: fBeaconRound}, {name: "randomness", field: fBeaconRandomness}, {name: "signature", field: fBeaconSignature},
		{name: "network", field: fBeaconNetwork, optional: true},
	}
	crashTableKeys = []key{
		{name: "table", field: fCrashTable}, {name: "scheme", field: fCrashScheme}, {name: "growth", field: fTableGrowth},
		{name: "growthSha256", field: fTableDigest}, {name: "phase", field: fTablePhase}, {name: "number", field: fCrashNumber},
		{name: "terminal", field: fCrashTerminal}, {name: "chainLength", field: fTableLength}, {name: "salt", field: fCrashSalt, optional: true},
		{name: "beacon", field: fCrashBeacon, optional: true}, {name: "nextTerminal", field: fTableNextTerminal},
		{name: "timings", field: fTableTimings}, {name: "serverTime", field: fTableServerTime}, {name: "lockTime", field: fCrashLockTime, optional: true},
		{name: "startTime", field: fCrashStartTime, optional: true}, {name: "multiplierE2", field: fTableMultiplier},
		{name: "crashE2", field: fCrashPoint, optional: true}, {name: "bets", field: fTableBets},
		{name: "next", field: fTableNext, optional: true}, {name: "previous", field: fTablePrevious, optional: true},
		{name: "end", field: fTableEnd, optional: true},
	}
	crashChainKeys = []key{
		{name: "table", field: fCrashTable}, {name: "terminal", field: fCrashTerminal}, {name: "chainLength", field: fTableLength},
		{name: "salt", field: fCrashSalt, optional: true}, {name: "beacon", field: fCrashBeacon, optional: true},
		{name: "announceTime", field: fChainAnnounceTime, optional: true},
	}
	crashTimingKeys = []key{{name: "bettingMs", field: fTimingBetting}, {name: "crashedMs", field: fTimingCrashed}, {name: "tickMs", field: fTimingTick}}

	// crashBetKeys are those of a bet at a table: a round of the API that has no seed pair.
	crashBetKeys = []key{
		{name: "roundId", field: fRoundID}, {name: "betId", field: fBetID}, {name: "game", field: fGame}, {name: "scheme", field: fScheme},
		{name: "state", field: fState}, {name: "seedPairId", field: fSeedPairID}, {name: "commitment", field: fCommitment},
		{name: "clientSeed", field: fClientSeed}, {name: "nonce", field: fNonce}, {name: "stake", field: fStake}, {name: "payout", field: fPayout},
		{name: "multiplierE4", field: fMultiplier}, {name: "createTime", field: fCreateTime}, {name: "settleTime", field: fSettleTime, optional: true},
		{name: "balance", field: fBalance, optional: true}, {name: "crash", field: fCrash},
	}
	crashOfBetKeys = []key{
		{name: "table", field: fCrashBetTable}, {name: "number", field: fCrashBetNumber}, {name: "autoCashOutE2", field: fCrashBetAuto},
		{name: "cashOutE2", field: fCrashBetCashOut}, {name: "crashE2", field: fCrashBetPoint, optional: true},
	}

	crashStates = []string{stateOpen, stateSettled, stateVoid}
	saltKinds   = []string{saltSelfChosen, saltBitcoin, saltDrand}
	crashPhases = []string{"BETTING", "CLOSING", "RUNNING", "CRASHED", "STOPPED"}
)

const (
	stateOpen    = "OPEN"
	stateSettled = "SETTLED"
	stateVoid    = "VOID"

	saltSelfChosen = "SELF_CHOSEN"
	saltBitcoin    = "BITCOIN_BLOCK"
	saltDrand      = "DRAND"
)

// The fields of a bet that no bet of a seed pair has.
const (
	fBalance = fieldCount + iota
	fCrash
)

// crashSalt is a salt as the answer states it.
type crashSalt struct {
	kind      string
	value     string // empty until it is fixed
	named     int64
	signature string // hex
	network   string // hash of the beacon's network; may be empty
}

// crashBeacon is the beacon of one round as the answer states it. The texts are empty until it is published.
type crashBeacon struct {
	round                 int64 // 0 when none was named
	randomness, signature string
	network               string // its hash; may be empty
}

// crashRound is a round as the answer states it.
type crashRound struct {
	table, state, terminal string
	number                 uint32
	hash                   string // empty when it is not there
	point                  uint32 // 0 when it is not there
	salt                   *crashSalt
	beacon                 *crashBeacon
	lock, start            instant // zero when they are not there
	void                   string
}

// crashTable is a table as the answer states it.
type crashTable struct {
	crashRound
	growth, digest, phase string
	length                uint32
	end                   string // empty before every round is final
}

// crashBet is a player's bet as the answer states it.
type crashBet struct {
	id, betID            string
	state, table         string
	created, settled     instant
	number, auto, cashed uint32
	point                uint32 // 0 when it is not there
	stake, payout        money.Units
	currency, paidIn     string
	multiplier           money.Multiplier
}

// crashDocument is all that the answers state.
type crashDocument struct {
	rounds []crashRound
	tables []crashTable
	bets   []crashBet
}

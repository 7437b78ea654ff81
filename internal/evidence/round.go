package evidence

import (
	"fmt"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
)

// maxMultiplier is the largest multiplier of any game: mines with 12 or 13 of either (rng/SPEC.md).
const maxMultiplier = 51_482_970_000

// round is one round as the document states it. Its byte slices are parts of the text that it was read from.
type round struct {
	id       []byte // nil when it is the pair's id with a hyphen and number
	number   uint32
	template *template // that it fits, or nil

	betID, scheme, pairID, commitment, clientSeed []byte

	game             bet.Game
	void             bool
	nonce            uint32
	stake, payout    money.Units
	stakeCurrency    []byte
	payoutCurrency   []byte
	multiplier       money.Multiplier
	created, settled instant

	parts uint8 // a bit for each game whose object stands in the round
	dice  struct {
		bet  dice.Bet
		roll uint32
	}
	limbo struct {
		bet       limbo.Bet
		outcomeE2 uint32
	}
	win    bool // dice and limbo
	chips  []roulette.Chip
	pocket uint8
	mines  struct {
		count, maxPicks uint8
		picks, board    []uint8
		hit             bool
		next            money.Multiplier
	}
}

var (
	gameNames      = []string{"DICE", "LIMBO", "ROULETTE", "MINES"}
	stateNames     = []string{"SETTLED", "VOID"}
	directionNames = []string{"OVER", "UNDER"}
)

// slot is the memory of one round.
type slot struct {
	round round

	derived bool  // the seeds give it an outcome
	right   drawn // which is this

	picks [mines.MaxMines]uint8
	board [mines.MaxMines]uint8
	chips *chipSpace // made for the first round with chips, so that slots without lie close together
}

// chipSpace is the memory of the chips of one round.
type chipSpace struct {
	chips   [roulette.MaxChips]roulette.Chip
	numbers [roulette.MaxChips][6]uint8
}

// decoder reads rounds, one at a time, into a slot. It belongs to one goroutine.
type decoder struct {
	cursor
	*slot
	ahead      []byte // the text with slack behind it; nil where no round is read by a template
	pairPrefix []byte // the beginning of each roundId: a quote, the pair's id and a hyphen
	learning   bool   // marks are wanted
	marks      []mark
	templates  []*template

	read, readChip func(field) bool // field and chipField, made once

	chip int // the place of the chip that is being read
}

func newDecoder(pairID []byte) *decoder {
	d := &decoder{slot: new(slot), pairPrefix: fmt.Appendf(nil, "\"%s-", pairID)}
	d.read, d.readChip = d.field, d.chipField
	return d
}

// plainRound reads a round of any form that JSON allows.
func (d *decoder) plainRound() {
	d.round = round{}
	d.object(roundKeys, d.read)
	d.checkRules()
}

// numeric is a field that holds a whole number of low..high, as a JSON number or as a decimal string.
type numeric struct {
	low, high int64
	quoted    bool
}

// numerics has the numeric fields of a round; the others have no high.
var numerics = [fieldCount]numeric{
	fRoundNumber:    {high: int64(maxNonce)},
	fNonce:          {high: int64(maxNonce)},
	fStakeAmount:    {low: 1, high: int64(money.MaxUnits), quoted: true},
	fPayoutAmount:   {high: int64(money.MaxUnits), quoted: true},
	fMultiplier:     {high: maxMultiplier, quoted: true},
	fTarget:         {high: dice.Rolls - 1},
	fRoll:           {high: dice.Rolls - 1},
	fTargetE2:       {low: limbo.MinTargetE2, high: limbo.MaxTargetE2},
	fOutcomeE2:      {low: limbo.MinOutcomeE2, high: limbo.MaxOutcomeE2},
	fPocket:         {high: roulette.Pockets - 1},
	fMineCount:      {low: 1, high: mines.MaxMines},
	fMaxPicks:       {low: 1, high: mines.MaxMines},
	fNextMultiplier: {high: maxMultiplier, quoted: true},
}

// set puts the value of a numeric field, which is within its limits, into the round.
func (r *round) set(f field, value int64) {
	switch f {
	case fRoundNumber:
		r.number = uint32(value)
	case fNonce:
		r.nonce = uint32(value)
	case fStakeAmount:
		r.stake = money.Units(value)
	case fPayoutAmount:
		r.payout = money.Units(value)
	case fMultiplier:
		r.multiplier = money.Multiplier(value)
	case fTarget:
		r.dice.bet.Target = uint32(value)
	case fRoll:
		r.dice.roll = uint32(value)
	case fTargetE2:
		r.limbo.bet.TargetE2 = uint32(value)
	case fOutcomeE2:
		r.limbo.outcomeE2 = uint32(value)
	case fPocket:
		r.pocket = uint8(value)
	case fMineCount:
		r.mines.count = uint8(value)
	case fMaxPicks:
		r.mines.maxPicks = uint8(value)
	case fNextMultiplier:
		r.mines.next = money.Multiplier(value)
	}
}

// field reads the value of one field into the round.
func (d *decoder) field(f field) bool {
	r, start := &d.round, d.at
	if n := &numerics[f]; n.high > 0 {
		r.set(f, d.numeric(n))
		if d.learning {
			d.mark(f, start)
		}
		return d.err == nil
	}
	switch f {
	case fRoundID:
		d.roundID()
	case fBetID:
		r.betID = d.betID()
	case fCreateTime:
		r.created = d.instant()
	case fSettleTime:
		r.settled = d.instant()
	case fDirection:
		r.dice.bet.Direction = dice.Direction(1 + d.oneOf(directionNames, "OVER or UNDER"))
	case fWin:
		r.win = d.boolean()
	case fChips:
		r.chips = d.readChips()
	case fPicks:
		r.mines.picks = d.numbers(d.picks[:], mines.Tiles-1)
	case fBoard:
		r.mines.board = d.numbers(d.board[:], mines.Tiles-1)
	case fHitMine:
		r.mines.hit = d.boolean()
	default:
		d.steadyField(f)
		return d.err == nil
	}
	if d.learning {
		d.mark(f, start)
	}
	return d.err == nil
}

func (d *decoder) numeric(n *numeric) int64 {
	if n.quoted {
		return d.decimal(n.low, n.high)
	}
	return int64(d.number(uint32(n.low), uint32(n.high)))
}

// maxNumberedPair is how long the id of a pair can be so that its id with any nonce is an id too.
const maxNumberedPair = 64 - len("-4294967295")

// roundID reads the id of the round. If it has the form that it should have, only its number is kept.
func (d *decoder) roundID() {
	start := d.at
	if len(d.pairPrefix) <= maxNumberedPair+len(`"-`) && d.expect(d.pairPrefix) {
		number, ok := d.digits(10)
		if ok && number <= uint64(maxNonce) && d.expect(quoteMark) {
			d.round.id, d.round.number = nil, uint32(number)
			return
		}
	}
	d.at = start
	d.round.id = d.id()
}

var quoteMark = []byte{'"'}

// steadyField reads a value that rarely changes from round to round, or an object of such values.
func (d *decoder) steadyField(f field) {
	r := &d.round
	switch f {
	case fGame:
		r.game = bet.Game(1 + d.oneOf(gameNames, "DICE, LIMBO, ROULETTE or MINES"))
	case fState:
		r.void = d.oneOf(stateNames, "SETTLED or VOID") == 1
	case fScheme:
		r.scheme = d.id()
	case fSeedPairID:
		r.pairID = d.id()
	case fCommitment:
		r.commitment = d.hex64()
	case fClientSeed:
		r.clientSeed = d.clientSeed()
	case fStake:
		d.object(stakeKeys, d.read)
	case fStakeCurrency:
		r.stakeCurrency = d.currency()
	case fPayout:
		d.object(payoutKeys, d.read)
	case fPayoutCurrency:
		r.payoutCurrency = d.currency()
	case fDice:
		d.part(bet.Dice, diceKeys)
	case fLimbo:
		d.part(bet.Limbo, limboKeys)
	case fRoulette:
		d.part(bet.Roulette, rouletteKeys)
	case fMines:
		d.part(bet.Mines, minesKeys)
	}
}

func (d *decoder) part(g bet.Game, keys []key) {
	d.round.parts |= 1 << g
	d.object(keys, d.read)
}

// readChips reads the list of chips into the decoder's memory.
func (d *decoder) readChips() []roulette.Chip {
	if !d.take('[') {
		d.wants("a list of chips")
		return nil
	}
	if d.chips == nil {
		d.chips = new(chipSpace)
	}
	space := &d.chips.chips
	for count := 0; d.err == nil && !d.take(']'); count++ {
		if count > 0 && !d.take(',') {
			d.wants("a comma or ]")
			break
		}
		if count == len(space) {
			d.fail("wants at most %d chips", len(space))
			break
		}
		d.chip = count
		d.object(chipKeys, d.readChip)
		if d.err != nil {
			break
		}
		if chips := space[count : count+1]; (roulette.Bet{Chips: chips}).Validate() != nil {
			d.fail("there is no chip %s on %v", chips[0].Kind, chips[0].Numbers)
		}
		if d.next() == ']' {
			d.at++
			return space[:count+1]
		}
	}
	d.fail("wants a chip at least")
	return nil
}

func (d *decoder) chipField(f field) bool {
	chip := &d.chips.chips[d.chip]
	switch f {
	case fChipKind:
		start := d.at
		kind, ok := roulette.ParseKind(string(d.str()))
		if !ok {
			d.at = start
			d.wants("a kind of chip")
		}
		chip.Kind = kind
	case fChipNumbers:
		chip.Numbers = d.numbers(d.chips.numbers[d.chip][:], roulette.Pockets-1)
	case fChipAmount:
		chip.Amount = money.Units(d.decimal(1, int64(money.MaxUnits)))
	}
	return d.err == nil
}

// checkRules refuses a round whose bet the rules do not know: such a round cannot be judged.
func (d *decoder) checkRules() {
	if d.err != nil {
		return
	}
	r := &d.round
	if r.parts != 1<<r.game {
		d.fail("wants the outcome of %s and of no other game", gameNames[r.game-1])
		return
	}
	switch r.game {
	case bet.Dice:
		if err := r.dice.bet.Validate(); err != nil {
			d.fail("dice.%v", err)
		}
	case bet.Mines:
		if problem := r.minesProblem(); problem != "" {
			d.fail("mines: %s", problem)
		}
	}
}

func (r *round) minesProblem() string {
	m := &r.mines
	if m.maxPicks > mines.Tiles-m.count {
		return fmt.Sprintf("maxPicks %d with %d mines: only %d tiles are safe", m.maxPicks, m.count, mines.Tiles-m.count)
	}
	if len(m.picks) > int(m.maxPicks) {
		return fmt.Sprintf("%d picks, and the round ends after %d", len(m.picks), m.maxPicks)
	}
	opened := uint32(0)
	for _, tile := range m.picks {
		if opened&(1<<tile) != 0 {
			return fmt.Sprintf("tile %d is picked twice", tile)
		}
		opened |= 1 << tile
	}
	return ""
}

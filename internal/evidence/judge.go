package evidence

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// drawn is what a round draws from its stream: one number, or the mines.
type drawn struct {
	number uint32 // roll, outcome in hundredths, or pocket
	mines  [mines.MaxMines]uint8
	count  uint8 // of mines
}

// claimed returns what the round says was drawn.
func (r *round) claimed() (d drawn) {
	switch r.game {
	case bet.Dice:
		d.number = r.dice.roll
	case bet.Limbo:
		d.number = r.limbo.outcomeE2
	case bet.Roulette:
		d.number = uint32(r.pocket)
	case bet.Mines:
		d.count = uint8(copy(d.mines[:], r.mines.board))
	}
	return d
}

// states reports whether the round says that this was drawn.
func (r *round) states(right *drawn) bool {
	switch r.game {
	case bet.Dice:
		return r.dice.roll == right.number
	case bet.Limbo:
		return r.limbo.outcomeE2 == right.number
	case bet.Roulette:
		return uint32(r.pocket) == right.number
	default:
		return bytes.Equal(r.mines.board, right.mines[:right.count])
	}
}

// draw draws what the round draws from a stream. It does not allocate.
func (r *round) draw(s *rng.Stream) (d drawn) {
	switch r.game {
	case bet.Dice:
		d.number = s.Uniform(dice.Rolls)
	case bet.Limbo:
		d.number = limbo.Map(s.Word64())
	case bet.Roulette:
		d.number = uint32(roulette.Pocket(s))
	case bet.Mines:
		d.count = uint8(len(mines.Board(s, r.mines.count, &d.mines)))
	}
	return d
}

// words shows what was drawn, for people.
func (d drawn) words(g bet.Game) string {
	switch g {
	case bet.Dice:
		return fmt.Sprintf("roll %d", d.number)
	case bet.Limbo:
		return fmt.Sprintf("outcomeE2 %d", d.number)
	case bet.Roulette:
		return fmt.Sprintf("pocket %d", d.number)
	default:
		return fmt.Sprintf("mines %v", d.mines[:d.count])
	}
}

// judge checks the rounds of one part of a document. It belongs to one goroutine.
type judge struct {
	pair     *seedPair
	signer   rng.Signer    // unusable when the seeds of the pair are, so that no round has an outcome
	quad     *quad         // nil where rounds are derived one at a time
	streams  [4]rng.Stream // of the rounds that are being derived
	findings findings
	part     part
}

func newJudge(p *seedPair) judge {
	signer, err := p.serverSeed.Signer(rng.ClientSeed(p.clientSeed))
	if err != nil { // an unused pair has no client seed
		return judge{pair: p}
	}
	return judge{pair: p, signer: signer, quad: newQuad(p)}
}

// part is what the checks across rounds need to know of a part of a document.
type part struct {
	rounds                    uint64
	firstNonce, lastNonce     uint32
	firstCreated, lastCreated instant
	lastSettled               instant // the latest of all
	bets                      []betDigest
	totals                    totals
}

// rounds judges the rounds in some slots. It derives all their outcomes first: a processor is faster at many derivations
// in a row than between other work.
func (j *judge) rounds(slots []slot) {
	j.derive(slots)
	for i := range slots {
		r := &slots[i].round
		j.identity(r)
		j.sequence(r)
		if slots[i].derived {
			j.play(r, &slots[i].right)
		} else {
			j.findings.fail(checkOutcome, int64(r.nonce), "the seeds of the pair give no outcome")
		}
		j.part.totals.add(r)
	}
}

// derive draws what the seeds give to the rounds in some slots.
func (j *judge) derive(slots []slot) {
	for ; j.quad != nil && len(slots) >= len(j.streams); slots = slots[len(j.streams):] {
		four := (*[4]slot)(slots)
		j.quad.start(&[4]uint32{four[0].round.nonce, four[1].round.nonce, four[2].round.nonce, four[3].round.nonce}, &j.streams)
		for i := range four {
			four[i].right, four[i].derived = four[i].round.draw(&j.streams[i]), true
		}
	}
	for i := range slots {
		slots[i].derive(&j.signer, &j.streams[0])
	}
}

// derive draws what the seeds give to the round in a slot.
func (s *slot) derive(signer *rng.Signer, stream *rng.Stream) {
	signature, err := signer.Sign(s.round.nonce)
	if s.derived = err == nil; s.derived {
		stream.Start(signature)
		s.right = s.round.draw(stream)
	}
}

// identity checks that the round names the pair and itself. What a template keeps steady is compared once.
func (j *judge) identity(r *round) {
	if r.id != nil || r.number != r.nonce {
		j.wrongID(r)
	}
	if r.template != nil && r.template.ofPair {
		return
	}
	p, same := j.pair, true
	for _, f := range [...]struct {
		name        string
		given, pair []byte
	}{
		{"scheme", r.scheme, p.scheme}, {"seedPairId", r.pairID, p.id},
		{"commitment", r.commitment, p.commitment}, {"clientSeed", r.clientSeed, p.clientSeed},
	} {
		if !bytes.Equal(f.given, f.pair) {
			same = false
			j.findings.fail(checkIdentity, int64(r.nonce), "%s is %s, and the seed pair has %s", f.name, quote(f.given), quote(f.pair))
		}
	}
	if r.template != nil {
		r.template.ofPair = same
	}
}

// wrongID compares an id that is not known to be right.
func (j *judge) wrongID(r *round) {
	given, want := string(r.id), fmt.Sprintf("%s-%d", j.pair.id, r.nonce)
	if r.id == nil {
		given = fmt.Sprintf("%s-%d", j.pair.id, r.number)
	}
	if given != want {
		j.findings.fail(checkIdentity, int64(r.nonce), "roundId is %q, and it should be %q", given, want)
	}
}

// sequence checks the round against the one before it in this part; the first round of a part is the merger's.
func (j *judge) sequence(r *round) {
	p := &j.part
	if p.rounds == 0 {
		p.firstNonce, p.firstCreated = r.nonce, r.created
	} else {
		j.findings.follow(r.nonce, r.created, uint64(p.lastNonce)+1, p.lastCreated)
	}
	if r.settled.before(r.created) {
		j.findings.fail(checkOrder, int64(r.nonce), "it was settled before it was made")
	}
	p.rounds++
	p.lastNonce, p.lastCreated = r.nonce, r.created
	if p.lastSettled.before(r.settled) {
		p.lastSettled = r.settled
	}
	p.bets = append(p.bets, digestBet(r.betID, r.nonce))
}

// follow checks a round against the nonce that is expected there and the time of the round before it.
func (f *findings) follow(nonce uint32, created instant, expected uint64, before instant) {
	if uint64(nonce) > expected {
		f.fail(checkNonce, int64(nonce), "nonce %d is missing: this round follows instead", expected)
	}
	if uint64(nonce) < expected {
		f.fail(checkNonce, int64(nonce), "it comes again or too late, after nonce %d", expected-1)
	}
	if created.before(before) {
		f.fail(checkOrder, int64(nonce), "it was made before the round that precedes it")
	}
}

// play compares a round with what was drawn for it, and with all that follows from that.
func (j *judge) play(r *round, right *drawn) {
	nonce := int64(r.nonce)
	unplayed := r.game == bet.Mines && len(r.mines.picks) == 0
	if r.void && !unplayed {
		j.findings.fail(checkOutcome, nonce, "only a mines round without a pick can be void")
	}
	if !r.void && unplayed {
		j.findings.fail(checkOutcome, nonce, "a mines round settles with one pick at least")
	}
	hidden := r.void && unplayed && len(r.mines.board) == 0 // a board that was never shown
	if !r.states(right) && !hidden {
		j.wrongOutcome(r, r.claimed(), *right)
	}
	due := r.due(right)
	j.compareWin(r, right, due)
	if r.multiplier != due.multiplier {
		j.findings.fail(checkMultiplier, nonce, "the multiplier is %d, and it should be %d (in 1/10000)", r.multiplier, due.multiplier)
	}
	j.comparePayout(r, due)
}

func (j *judge) wrongOutcome(r *round, claimed, right drawn) {
	hint := ""
	if !j.findings.full(checkOutcome) {
		hint = offByOne(r.nonce, func(nonce uint32) bool {
			signature, err := j.signer.Sign(nonce)
			if err != nil {
				return false
			}
			stream := rng.NewStream(signature)
			return r.draw(&stream) == claimed
		})
	}
	j.findings.fail(checkOutcome, int64(r.nonce), "the document says %s, and the seeds give %s%s", claimed.words(r.game), right.words(r.game), hint)
}

func (j *judge) compareWin(r *round, right *drawn, due due) {
	nonce := int64(r.nonce)
	switch r.game {
	case bet.Dice, bet.Limbo:
		if r.win != due.flag {
			j.findings.fail(checkWin, nonce, "win is %t, and it should be %t", r.win, due.flag)
		}
	case bet.Mines:
		if r.mines.hit != due.flag {
			j.findings.fail(checkWin, nonce, "hitMine is %t, and it should be %t", r.mines.hit, due.flag)
		}
		if tile, early := right.earlyMine(r.mines.picks); early {
			j.findings.fail(checkWin, nonce, "tile %d is a mine, and the picks go on after it", tile)
		}
		if r.mines.next != 0 {
			j.findings.fail(checkMultiplier, nonce, "nextMultiplierE4 is %d, and a round that has ended has none", r.mines.next)
		}
	}
}

func (j *judge) comparePayout(r *round, due due) {
	nonce := int64(r.nonce)
	switch {
	case due.tooLarge:
		j.findings.fail(checkPayout, nonce, "the payout is %d, and it should be above the largest amount there is", r.payout)
	case uint64(r.payout) != due.payout:
		j.findings.fail(checkPayout, nonce, "the payout is %d, and it should be %d", r.payout, due.payout)
	}
	if !bytes.Equal(r.stakeCurrency, r.payoutCurrency) {
		j.findings.fail(checkPayout, nonce, "staked in %s, paid in %s", r.stakeCurrency, r.payoutCurrency)
	}
	if r.game == bet.Roulette && due.chips != uint64(r.stake) {
		j.findings.fail(checkStake, nonce, "the stake is %d, and the chips add up to %d", r.stake, due.chips)
	}
}

// due is what a round should state, given what was drawn.
type due struct {
	flag       bool // win, or hitMine
	multiplier money.Multiplier
	payout     uint64
	tooLarge   bool   // the payout is above money.MaxUnits
	chips      uint64 // roulette: the sum of the chips
}

func (r *round) due(d *drawn) due {
	result := due{}
	switch r.game {
	case bet.Dice:
		multiplier := r.dice.bet.Multiplier()
		if result.flag = r.dice.bet.Decide(d.number).Win; result.flag {
			result.multiplier = multiplier
		}
	case bet.Limbo:
		multiplier := r.limbo.bet.Multiplier()
		if result.flag = d.number >= r.limbo.bet.TargetE2; result.flag {
			result.multiplier = multiplier
		}
	case bet.Roulette:
		result = dueOfChips(r.chips, uint8(d.number))
	case bet.Mines:
		if result.flag = d.hits(r.mines.picks); !result.flag {
			result.multiplier = mines.Multiplier(r.mines.count, uint8(len(r.mines.picks)))
		}
	}
	if r.void {
		result.multiplier, result.payout = 0, uint64(r.stake)
		return result
	}
	if r.game != bet.Roulette {
		payout, err := money.Payout(r.stake, result.multiplier)
		result.payout, result.tooLarge = uint64(payout), err != nil
	}
	return result
}

// dueOfChips adds up the chips. 32 chips of 2^53-1 units at 36 fold stay below 2^64.
func dueOfChips(chips []roulette.Chip, pocket uint8) (d due) {
	for i := range chips {
		chip := &chips[i]
		d.chips += uint64(chip.Amount)
		if chip.Covers(pocket) {
			d.payout += uint64(chip.Amount) * uint64(chip.Return())
		}
	}
	high, low := bits.Mul64(d.payout, uint64(money.One))
	quotient, _ := bits.Div64(high, low, d.chips) // at most 360000: the payout is at most 36 times the chips, which are not 0
	d.multiplier = money.Multiplier(quotient)
	return d
}

// hits reports whether a mine is among the picks.
func (d *drawn) hits(picks []uint8) bool {
	mined := d.mined()
	for _, tile := range picks {
		if mined>>tile&1 == 1 {
			return true
		}
	}
	return false
}

// earlyMine returns a pick that is a mine and not the last one.
func (d *drawn) earlyMine(picks []uint8) (tile uint8, found bool) {
	mined := d.mined()
	for i := 0; i+1 < len(picks); i++ {
		if mined>>picks[i]&1 == 1 {
			return picks[i], true
		}
	}
	return 0, false
}

func (d *drawn) mined() (set uint32) {
	for _, tile := range d.mines[:d.count] {
		set |= 1 << tile
	}
	return set
}

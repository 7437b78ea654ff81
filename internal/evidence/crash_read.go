package evidence

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// maxCrashBytes is how long the answers about a crash table may be: over a million rounds.
const maxCrashBytes = 1 << 30

// crashReader reads answers, one after the other.
type crashReader struct {
	cursor
	crashDocument
	round crashRound // that is being read, also the one of a table
	table crashTable
	bet   crashBet
}

func readCrash(r io.Reader) (crashDocument, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxCrashBytes+1))
	if err != nil {
		return crashDocument{}, err
	}
	if len(text) > maxCrashBytes {
		return crashDocument{}, &FormatError{Problem: fmt.Sprintf("answers have at most %d bytes together", maxCrashBytes)}
	}
	d := crashReader{cursor: cursor{text: text}}
	for d.space(); d.err == nil && d.at < len(text); d.space() {
		if text[d.at] == '[' {
			d.list(len(text), d.answer)
			continue
		}
		d.answer()
	}
	if d.err != nil {
		return crashDocument{}, d.err
	}
	return d.crashDocument, nil
}

// answer reads one answer of the API.
func (d *crashReader) answer() {
	switch kindOf(d.text[d.at:]) {
	case crashPageKind:
		d.object(crashPageKeys, d.pageField)
	case crashTableKind:
		d.readTable()
	case crashBetKind:
		d.readBet()
	default:
		d.readRound()
	}
}

// kindOf returns the kind of the object that a text begins with, by its keys alone: whether it is one stands to be seen.
func kindOf(text []byte) crashKind {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return notCrash
			}
		case '"':
			start := at + 1
			for at = start; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if at >= len(text) {
				return notCrash
			}
			after := cursor{text: text, at: at + 1}
			if kind := crashMarks[string(text[start:at])]; depth == 1 && kind != notCrash && after.next() == ':' {
				return kind
			}
		}
	}
	return notCrash
}

func (d *crashReader) pageField(f field) bool {
	switch f {
	case fCrashRounds:
		d.list(len(d.text), func() {
			if kindOf(d.text[d.at:]) == crashBetKind {
				d.readBet()
			} else {
				d.readRound()
			}
		})
	case fCrashNextPage:
		d.freeText()
	}
	return d.err == nil
}

func (d *crashReader) readRound() {
	d.round = crashRound{}
	d.object(crashRoundKeys, d.roundField)
	if d.err != nil {
		return
	}
	switch r := &d.round; {
	case r.number == 0:
		d.fail("a round's number is 1 or more")
	case r.state == stateOpen && r.hash != "":
		d.fail("a round that is OPEN must not have a hash")
	case r.state != stateOpen && r.hash == "":
		d.fail("a round that has ended must have a hash")
	}
	d.rounds = append(d.rounds, d.round)
}

func (d *crashReader) roundField(f field) bool {
	r := &d.round
	switch f {
	case fCrashTable:
		r.table = d.tableName()
	case fCrashNumber:
		r.number = d.number(0, 1<<32-1)
	case fCrashScheme:
		d.choice([]string{crash.Scheme})
	case fCrashState:
		r.state = d.choice(crashStates)
	case fCrashTerminal:
		r.terminal = string(d.hex64())
	case fCrashHash:
		r.hash = string(d.hex64())
	case fCrashPoint:
		r.point = d.number(crash.MinPointE2, crash.MaxPointE2)
	case fCrashSalt:
		r.salt = new(crashSalt)
		d.object(crashSaltKeys, d.saltField)
	case fCrashBeacon:
		r.beacon = new(crashBeacon)
		d.object(crashBeaconKeys, d.beaconField)
	case fCrashOpenTime, fCrashTime:
		d.instant()
	case fCrashStartTime:
		r.start = d.instant()
	case fCrashLockTime:
		r.lock = d.instant()
	case fCrashVoidReason:
		r.void = string(d.word0(&reasonBytes, 64, "nothing, or a reason such as STORE_REPLACED"))
	case fCrashBetCount:
		d.number(0, 1<<31-1)
	case fCrashBet:
		d.readBet()
	}
	return d.err == nil
}

func (d *crashReader) saltField(f field) bool {
	s := d.round.salt
	switch f {
	case fSaltKind:
		s.kind = d.choice(saltKinds)
	case fSaltValue:
		s.value = d.hex64OrEmpty()
	case fSaltNamed:
		s.named = d.decimal(0, int64(money.MaxUnits))
	case fSaltSignature:
		s.signature = d.hexOrEmpty()
	case fSaltNetwork:
		s.network = d.hex64OrEmpty()
	}
	return d.err == nil
}

func (d *crashReader) beaconField(f field) bool {
	b := d.round.beacon
	switch f {
	case fBeaconRound:
		b.round = d.decimal(0, int64(money.MaxUnits))
	case fBeaconRandomness:
		b.randomness = d.hex64OrEmpty()
	case fBeaconSignature:
		b.signature = d.hexOrEmpty()
	case fBeaconNetwork:
		b.network = d.hex64OrEmpty()
	}
	return d.err == nil
}

func (d *crashReader) readTable() {
	d.round, d.table = crashRound{}, crashTable{}
	d.object(crashTableKeys, d.tableField)
	d.table.crashRound = d.round
	d.tables = append(d.tables, d.table)
}

func (d *crashReader) tableField(f field) bool {
	x := &d.table
	switch f {
	case fTableGrowth:
		x.growth = d.choice([]string{crash.GrowthScheme})
	case fTableDigest:
		x.digest = string(d.hex64())
	case fTablePhase:
		x.phase = d.choice(crashPhases)
	case fTableLength:
		x.length = d.number(1, 1<<32-1)
	case fTableNextTerminal:
		d.hex64OrEmpty()
	case fTableNext:
		d.nextChain()
	case fTablePrevious:
		d.word0(&idBytes, rng.MaxTableBytes, "nothing, or a table")
	case fTableEnd:
		x.end = d.hex64OrEmpty()
	case fTableTimings:
		d.object(crashTimingKeys, func(field) bool {
			d.number(0, 1<<32-1)
			return d.err == nil
		})
	case fTableServerTime:
		d.instant()
	case fTableMultiplier:
		d.number(crash.MinPointE2, crash.MaxPointE2)
	case fTableBets:
		d.list(len(d.text), d.readBet)
	default:
		d.roundField(f)
	}
	return d.err == nil
}

// nextChain reads the announcement of another chain, of which nothing is to be checked here.
func (d *crashReader) nextChain() {
	kept := d.round
	d.object(crashChainKeys, func(f field) bool {
		switch f {
		case fTableLength:
			d.number(1, 1<<32-1)
		case fChainAnnounceTime:
			d.instant()
		default:
			d.roundField(f)
		}
		return d.err == nil
	})
	d.round = kept
}

func (d *crashReader) readBet() {
	d.bet = crashBet{}
	d.object(crashBetKeys, d.betField)
	d.bets = append(d.bets, d.bet)
}

func (d *crashReader) betField(f field) bool {
	b := &d.bet
	switch f {
	case fRoundID:
		b.id = string(d.id())
	case fBetID:
		b.betID = string(d.betID())
	case fGame:
		d.choice([]string{"CRASH"})
	case fScheme:
		d.choice([]string{crash.Scheme})
	case fState:
		b.state = d.choice(crashStates)
	case fSeedPairID, fCommitment, fClientSeed:
		d.choice([]string{""})
	case fNonce:
		d.number(0, 0)
	case fStake:
		b.currency, b.stake = d.money(1)
	case fPayout:
		b.paidIn, b.payout = d.money(0)
	case fBalance:
		d.money(0)
	case fMultiplier:
		b.multiplier = money.Multiplier(d.decimal(0, crash.MaxTargetE2*100))
	case fCreateTime:
		b.created = d.instant()
	case fSettleTime:
		b.settled = d.instant()
	case fCrash:
		d.object(crashOfBetKeys, d.crashOfBetField)
	}
	return d.err == nil
}

func (d *crashReader) crashOfBetField(f field) bool {
	b := &d.bet
	switch f {
	case fCrashBetTable:
		b.table = d.tableName()
	case fCrashBetNumber:
		b.number = d.number(1, 1<<32-1)
	case fCrashBetAuto:
		b.auto = d.number(crash.MinTargetE2, crash.MaxTargetE2)
	case fCrashBetCashOut:
		b.cashed = d.number(0, crash.MaxTargetE2)
	case fCrashBetPoint:
		b.point = d.number(crash.MinPointE2, crash.MaxPointE2)
	}
	return d.err == nil
}

// money reads an amount of least units or more, and its currency.
func (c *cursor) money(least int64) (currency string, units money.Units) {
	c.object(stakeKeys, func(f field) bool {
		if f == fStakeCurrency {
			currency = string(c.currency())
		} else {
			units = money.Units(c.decimal(least, int64(money.MaxUnits)))
		}
		return c.err == nil
	})
	return currency, units
}

var reasonBytes = alphabetOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ_")

// word0 reads a string of 0 to most bytes of an alphabet.
func (c *cursor) word0(a *alphabet, most int, what string) []byte {
	if c.err == nil && c.expect([]byte(`""`)) {
		return nil
	}
	return c.word(a, most, what)
}

func (c *cursor) tableName() string {
	return string(c.word(&idBytes, rng.MaxTableBytes, "a table: 1 to 32 of a-z 0-9 -"))
}

func (c *cursor) hex64OrEmpty() string {
	if c.err == nil && c.expect([]byte(`""`)) {
		return ""
	}
	return string(c.hex64())
}

var hexBytes = alphabetOf("0123456789abcdef")

// hexOrEmpty reads the signature of a beacon: nothing, or 96 lower-case hex digits.
func (c *cursor) hexOrEmpty() string {
	start := c.at
	value := c.str()
	if len(value) != 0 && (len(value) != 96 || !hexBytes.spells(value)) {
		c.at = start
		c.wants("96 lower-case hex digits, or nothing")
	}
	return string(value)
}

// bytesOf decodes hex digits that were read as such.
func bytesOf(digits string) []byte {
	raw, _ := hex.DecodeString(digits) // cannot fail: it has been read with the pattern
	return raw
}

package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/rng"
)

// DuelFormat is the name of the other document that this package reads: a duel that has ended.
const DuelFormat = "originals-duel-v1"

const (
	maxPlies = 10_000
	// maxDuelBytes is far above what the longest duel takes.
	maxDuelBytes = 4 << 20
	// formatBytes is how much of a document is looked at first to see what it is, and maxFormatBytes the most.
	formatBytes    = 4 << 10
	maxFormatBytes = 1 << 20
)

// recognise looks at the beginning of a document, and returns a reader of all of it and whether it is a duel. It says no
// when it cannot tell: then reading the document says what is wrong.
func recognise(r io.Reader) (document io.Reader, isDuel bool, err error) {
	head, last, err := fill(r, nil, formatBytes)
	name := formatOf(head)
	if name == "" && !last && err == nil {
		head, _, err = fill(r, head, maxFormatBytes)
		name = formatOf(head)
	}
	return io.MultiReader(bytes.NewReader(head), r), name == DuelFormat, err
}

// formatOf returns the value of the key format of the outermost object, or "" when it is not there.
func formatOf(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return ""
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return ""
		}
		if text, ok := value.(string); ok && name == "format" {
			return text
		}
	}
	return ""
}

// The fields of a duel.
const (
	fDuelFormat field = iota + 1
	fDuelID
	fDuelScheme
	fDuelMode
	fDuelState
	fDuelCommitment
	fDuelServerSeed
	fDuelWhite
	fDuelBlack
	fDuelRolls
	fDuelGrace
	fDuelExpiry
	fDuelCreateTime
	fDuelEndTime
	fDuelReason
	fDuelForfeits
	fDuelEvent
	fDuelLastPly

	fSeatPlayer
	fSeatPresent
	fSeatHash
	fSeatSeeded
	fSeatSeed
	fSeatSource
	fSeatFallbackHash
	fSeatFallbackSeed

	fRollPly
	fRollDice
)

var (
	duelKeys = []key{
		{name: "format", field: fDuelFormat}, {name: "duelId", field: fDuelID}, {name: "scheme", field: fDuelScheme}, {name: "mode", field: fDuelMode},
		{name: "state", field: fDuelState}, {name: "commitment", field: fDuelCommitment}, {name: "serverSeed", field: fDuelServerSeed},
		{name: "white", field: fDuelWhite}, {name: "black", field: fDuelBlack}, {name: "rolls", field: fDuelRolls},
		{name: "graceSeconds", field: fDuelGrace}, {name: "expirySeconds", field: fDuelExpiry}, {name: "createTime", field: fDuelCreateTime},
		{name: "endTime", field: fDuelEndTime}, {name: "endReason", field: fDuelReason}, {name: "forfeitedBy", field: fDuelForfeits},
		{name: "eventNumber", field: fDuelEvent}, {name: "lastPly", field: fDuelLastPly, optional: true},
	}
	seatKeys = []key{
		{name: "playerId", field: fSeatPlayer, optional: true}, {name: "present", field: fSeatPresent},
		{name: "clientSeedHash", field: fSeatHash, optional: true}, {name: "seeded", field: fSeatSeeded},
		{name: "clientSeed", field: fSeatSeed, optional: true}, {name: "source", field: fSeatSource, optional: true},
		{name: "fallbackHash", field: fSeatFallbackHash, optional: true}, {name: "fallbackSeed", field: fSeatFallbackSeed, optional: true},
	}
	duelRollKeys = []key{{name: "ply", field: fRollPly}, {name: "dice", field: fRollDice}}

	duelModes   = []string{"COMMITTED", "PLAIN"}
	duelStates  = []string{"ENDED", "FORFEITED", "VOID"}
	duelReasons = []string{"GAME_SERVER", "GRACE_PERIOD", "EXPIRED", "STORE_REPLACED"}
	duelSources = []string{"OWN", "COMMITTED", "FALLBACK"}
	seatNames   = []string{"white", "black"}
)

// duelSeat is a seat as the document states it; what is absent is "".
type duelSeat struct {
	present, seeded            bool
	hash, seed, source         string
	fallbackHash, fallbackSeed string
}

// duelDocument is a duel as the document states it.
type duelDocument struct {
	id, mode, state, reason, commitment string
	serverSeed                          rng.ServerSeed
	seats                               [2]duelSeat
	rolls                               []duelRoll
	forfeits                            []string
	created, ended                      instant
	lastPly                             *uint32 // as the document says it
}

type duelRoll struct {
	ply  uint32
	dice duel.Dice
}

// isFixed reports whether both effective client seeds are stated.
func (d *duelDocument) isFixed() bool {
	for _, s := range d.seats {
		if s.source == "" || s.seed == "" {
			return false
		}
	}
	return true
}

// duelReader reads a duel.
type duelReader struct {
	cursor
	duel duelDocument
	seat int // the one that is being read
	roll duelRoll
}

func readDuel(r io.Reader) (duelDocument, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDuelBytes+1))
	if err != nil {
		return duelDocument{}, err
	}
	if len(text) > maxDuelBytes {
		return duelDocument{}, &FormatError{Problem: fmt.Sprintf("a duel has at most %d bytes", maxDuelBytes)}
	}
	d := duelReader{cursor: cursor{text: text}}
	d.object(duelKeys, d.field)
	if d.space(); d.err == nil && d.at < len(text) {
		d.fail("something stands after the end")
	}
	if d.err != nil {
		return duelDocument{}, d.err
	}
	return d.duel, nil
}

func (d *duelReader) field(f field) bool {
	x := &d.duel
	switch f {
	case fDuelFormat:
		d.choice([]string{DuelFormat})
	case fDuelID:
		x.id = string(d.id())
	case fDuelScheme:
		d.choice([]string{duel.Scheme})
	case fDuelMode:
		x.mode = d.choice(duelModes)
	case fDuelState:
		x.state = d.choice(duelStates)
	case fDuelCommitment:
		x.commitment = string(d.hex64())
	case fDuelServerSeed:
		if text := d.hex64(); d.err == nil {
			x.serverSeed, _ = rng.ParseServerSeed(string(text)) // cannot fail: hex64 has the same pattern
		}
	case fDuelWhite, fDuelBlack:
		d.seat = int(f - fDuelWhite)
		d.object(seatKeys, d.seatField)
	case fDuelRolls:
		d.list(maxPlies, func() {
			d.roll = duelRoll{}
			d.object(duelRollKeys, d.rollField)
			x.rolls = append(x.rolls, d.roll)
		})
	case fDuelForfeits:
		d.list(len(seatNames), func() { x.forfeits = append(x.forfeits, d.choice(seatNames)) })
	default:
		d.endField(f)
	}
	return d.err == nil
}

func (d *duelReader) endField(f field) {
	switch f {
	case fDuelGrace:
		d.number(1, 300)
	case fDuelExpiry:
		d.number(1, 604800)
	case fDuelCreateTime:
		d.duel.created = d.instant()
	case fDuelEndTime:
		d.duel.ended = d.instant()
	case fDuelReason:
		d.duel.reason = d.choice(duelReasons)
	case fDuelEvent:
		d.number(1, 1<<32-1)
	case fDuelLastPly:
		ply := d.number(0, maxPlies-1)
		d.duel.lastPly = &ply
	}
}

func (d *duelReader) seatField(f field) bool {
	s := &d.duel.seats[d.seat]
	switch f {
	case fSeatPlayer:
		d.visible(1, 128)
	case fSeatPresent:
		s.present = d.boolean()
	case fSeatHash:
		s.hash = string(d.hex64())
	case fSeatSeeded:
		s.seeded = d.boolean()
	case fSeatSeed:
		s.seed = d.visible(duel.MinSeedBytes, duel.MaxSeedBytes)
	case fSeatSource:
		s.source = d.choice(duelSources)
	case fSeatFallbackHash:
		s.fallbackHash = string(d.hex64())
	case fSeatFallbackSeed:
		s.fallbackSeed = string(d.hex64())
	}
	return d.err == nil
}

func (d *duelReader) rollField(f field) bool {
	switch f {
	case fRollPly:
		d.roll.ply = d.number(0, maxPlies-1)
	case fRollDice:
		start, count := d.at, 0
		d.list(len(d.roll.dice), func() {
			d.roll.dice[count] = uint8(d.number(1, 6))
			count++
		})
		if d.err == nil && count < len(d.roll.dice) {
			d.at = start
			d.wants("three dice")
		}
	}
	return d.err == nil
}

// choice reads one of these words.
func (c *cursor) choice(words []string) string {
	what := words[0]
	for _, w := range words[1:] {
		what += " or " + w
	}
	return words[c.oneOf(words, what)]
}

// visible reads a string of low to high visible ASCII characters.
func (c *cursor) visible(low, high int) string {
	start := c.at
	value := c.str()
	ok := len(value) >= low && len(value) <= high
	for _, b := range value {
		ok = ok && b >= 0x21 && b <= 0x7E
	}
	if c.err == nil && !ok {
		c.at = start
		c.wants(fmt.Sprintf("%d to %d visible ASCII characters without a space", low, high))
	}
	return string(value)
}

// list reads a list of at most so many elements, each by item.
func (c *cursor) list(most int, item func()) {
	if !c.take('[') {
		c.wants("a list")
		return
	}
	for count := 0; c.err == nil && !c.take(']'); count++ {
		if count > 0 && !c.take(',') {
			c.wants("a comma or ]")
			return
		}
		if count == most {
			c.fail("wants at most %d elements", most)
			return
		}
		c.space()
		item()
	}
}

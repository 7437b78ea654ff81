package redisledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// A round is stored as
//
//	0      state<<6 | game<<2 | length of the bet's id mod 4
//	1..5   created, ms since epoch; 6..10 settled, 0 while open; 11..17 payout
//	18     mines only: max picks
//	then   the content: stake, 7 bytes; currency; parameters (none for roulette,
//	       whose chips are kept apart); the bet's id, 6 bits a character
//
// which is at most 64 bytes, so that the hash around it stays a listpack; a bet
// on a crash table only with an id of up to 36 characters and a currency of 3.
// Scripts fill in the state, the times and the payout.
const (
	contentAt = 18
	epoch     = 1577836800000 // 2020-01-01 in Unix milliseconds; 5 bytes reach to 2054
)

var errRecord = errors.New("redisledger: not the record of a round")

// packRecord returns the record of a bet to be taken, with its payout if that is
// decided, and the end of it by which a repeat of the bet is known.
func packRecord(d ledger.Draw) (record, content []byte) {
	record = make([]byte, contentAt, 64)
	record[0] = byte(ledger.Open)<<6 | byte(d.Bet.Game)<<2 | byte(len(d.BetID)%4)
	if d.Decided != nil {
		append7(record[:11], d.Decided.Payout)
	}
	if d.Bet.Game == bet.Mines {
		record = append(record, d.MaxPicks)
	}
	start := len(record)
	record = append7(record, d.Stake)
	record = appendCurrency(record, d.Currency)
	if d.Bet.Game != bet.Roulette {
		record = d.Bet.AppendBinary(record)
	}
	record = appendBetID(record, d.BetID)
	return record, record[start:]
}

// parseRecord reads a record with what is stored beside it.
func parseRecord(id ledger.RoundID, record, picks, chips string) (ledger.Round, error) {
	r, err := parseRound([]byte(record), []byte(picks), []byte(chips))
	if err != nil {
		return ledger.Round{}, fmt.Errorf("%w: %s: %w", errRecord, id, err)
	}
	r.ID = id
	return r, nil
}

var (
	errShort = errors.New("cut off")
	errState = errors.New("state")
)

func parseRound(p, picks, chips []byte) (ledger.Round, error) {
	if len(p) < contentAt+1 {
		return ledger.Round{}, errShort
	}
	r := ledger.Round{State: ledger.RoundState(p[0] >> 6)}
	if r.State < ledger.Open {
		return ledger.Round{}, errState
	}
	game, idLength := bet.Game(p[0]>>2&15), int(p[0]&3)
	r.CreateTime = time.UnixMilli(epoch + int64(number(p[1:6]))).UTC()
	if settled := number(p[6:11]); settled != 0 {
		r.SettleTime = time.UnixMilli(epoch + int64(settled)).UTC()
	}
	r.Payout = money.Units(number(p[11:18]))
	p = p[contentAt:]
	if game == bet.Mines {
		r.MaxPicks, r.Picks, p = p[0], picks, p[1:]
	}
	if len(p) < 7 {
		return ledger.Round{}, errShort
	}
	r.Stake, p = money.Units(number(p[:7])), p[7:]

	var err error
	if r.Currency, p, err = cutCurrency(p); err != nil {
		return ledger.Round{}, err
	}
	parameters, p, err := cutParameters(game, p, chips)
	if err != nil {
		return ledger.Round{}, err
	}
	if r.Bet, err = bet.ParseBinary(game, parameters); err != nil {
		return ledger.Round{}, err
	}
	r.BetID, err = parseBetID(p, idLength)
	return r, err
}

func cutParameters(g bet.Game, p, chips []byte) (parameters, rest []byte, err error) {
	size := 3
	switch g {
	case bet.Roulette:
		return chips, p, nil
	case bet.Mines:
		size = 1
	case bet.Crash:
		size = 9
	}
	if len(p) < size {
		return nil, nil, errShort
	}
	return p[:size], p[size:], nil
}

func append7(p []byte, u money.Units) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(u))
	return append(p, b[1:]...)
}

func number(p []byte) (n uint64) {
	for _, b := range p {
		n = n<<8 | uint64(b)
	}
	return n
}

var errCurrency = errors.New("currency")

// appendCurrency writes the code as a number in base 37, as an unsigned varint: 0-9 are the digits 1..10 and
// A-Z 11..36, so that no code begins with a zero. 3 characters take 3 bytes, 8 take 6.
func appendCurrency(p []byte, c money.Currency) []byte {
	var n uint64
	for i := range len(c) {
		digit := uint64(c[i]-'0') + 1
		if c[i] >= 'A' {
			digit = uint64(c[i]-'A') + 11
		}
		n = n*37 + digit
	}
	return binary.AppendUvarint(p, n)
}

func cutCurrency(p []byte) (money.Currency, []byte, error) {
	n, size := binary.Uvarint(p)
	if size <= 0 {
		return "", nil, errCurrency
	}
	var text [16]byte
	at := len(text)
	for ; n > 0 && at > 0; n /= 37 {
		at--
		switch digit := byte(n % 37); {
		case digit > 10:
			text[at] = 'A' + digit - 11
		case digit > 0:
			text[at] = '0' + digit - 1
		}
	}
	c, err := money.ParseCurrency(string(text[at:]))
	return c, p[size:], err
}

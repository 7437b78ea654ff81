package redisledger

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/openoriginals/originals/internal/ledger"
)

// Forms of a stored wallet transaction, beside 2 + length mod 4 of one that is
// stored as bet ids are. 36 characters take 16 or 27 bytes so, and the whole
// acknowledgement some 26 or 37 of Redis' memory, in the listpack of its block.
const (
	formUUID = 1
	formBits = 2
	formText = 6
)

var errAck = errors.New("redisledger: not a wallet transaction")

const maxReason = 200

// checkAck refuses what could not be stored.
func checkAck(a ledger.Ack) error {
	if a.WalletTransaction == "" && !a.Rejected || !isVisible(a.WalletTransaction, 64, '!') {
		return errors.New("redisledger: acknowledgement without a wallet transaction of 1 to 64 visible ASCII characters")
	}
	if !isVisible(a.Reason, maxReason, ' ') {
		return fmt.Errorf("redisledger: reason of a rejected settlement is not of at most %d ASCII characters", maxReason)
	}
	return nil
}

func isVisible(text string, most int, first byte) bool {
	for i := range len(text) {
		if text[i] < first || text[i] > '~' {
			return false
		}
	}
	return len(text) <= most
}

// ackBatch is the acknowledgements of one partition, by blocks of pairs.
type ackBatch struct {
	at     map[ackBlock]int // place of a block
	blocks []ackBlock
	items  [][]int // of each block: place of the acknowledgement in the request
	fields [][]any // and what acknowledge.lua takes of it
}

type ackBlock struct {
	pair  ledger.PairID
	block uint32
}

func (b *ackBatch) add(i int, a ledger.Ack) {
	key := ackBlock{a.Round.Pair, a.Round.Nonce / bucketSize}
	at, ok := b.at[key]
	if !ok {
		if b.at == nil {
			b.at = make(map[ackBlock]int)
		}
		at = len(b.blocks)
		b.at[key] = at
		b.blocks, b.items, b.fields = append(b.blocks, key), append(b.items, nil), append(b.fields, nil)
	}
	b.items[at] = append(b.items[at], i)
	token, why := "", ""
	if a.Token != 0 {
		token = strconv.FormatUint(a.Token, 10)
	}
	if a.Rejected {
		why = "!" + a.Reason
	}
	b.fields[at] = append(b.fields[at], fieldNames[a.Round.Nonce%bucketSize], token, packAck(a.WalletTransaction), why)
}

// args returns what acknowledge.lua takes, and the order of its answers.
func (b *ackBatch) args(operator string) (args []any, order []int) {
	args = append(args, operator)
	for k, block := range b.blocks {
		args = append(args, short(block.pair), nonceText(block.block), len(b.items[k]))
		args = append(args, b.fields[k]...)
		order = append(order, b.items[k]...)
	}
	return args, order
}

// packAck returns what the entry of an acknowledged settlement says after its
// sequence: a head, and the wallet transaction in its form. The same text has the
// same bytes, which scripts compare.
func packAck(text string) []byte {
	const acknowledged = 1 << 4
	if raw, ok := parseUUID(text); ok {
		return append([]byte{acknowledged + formUUID}, raw[:]...)
	}
	if validBetID(text) {
		return appendBetID([]byte{byte(acknowledged + formBits + len(text)%4)}, text)
	}
	return append([]byte{acknowledged + formText}, text...)
}

// parseAck reads the wallet transaction of an entry of a:, which feed.lua
// describes; empty where nothing is acknowledged.
func parseAck(entry []byte) (string, error) {
	if len(entry) < 6 || entry[5]>>4 != 1 {
		return "", nil
	}
	p := entry[5:]
	switch form := int(p[0] & 15); form {
	case formUUID:
		if len(p) != 17 {
			return "", errAck
		}
		return formatUUID(p[1:]), nil
	case formText:
		return string(p[1:]), nil
	case formBits, formBits + 1, formBits + 2, formBits + 3:
		return parseBetID(p[1:], form-formBits)
	}
	return "", errAck
}

// parseUUID accepts the one spelling that formatUUID writes.
func parseUUID(text string) (raw [16]byte, ok bool) {
	if len(text) != 36 {
		return raw, false
	}
	digits := make([]byte, 0, 32)
	for i := range len(text) {
		c := text[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return raw, false
			}
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'f':
			digits = append(digits, c)
		default:
			return raw, false
		}
	}
	_, err := hex.Decode(raw[:], digits)
	return raw, err == nil
}

func formatUUID(p []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", p[:4], p[4:6], p[6:8], p[8:10], p[10:16])
}

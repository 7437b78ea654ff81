package redisledger

import (
	"cmp"
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

// ackBatch is the acknowledgements of one partition, in groups that have all but
// nonce and wallet transaction in common.
type ackBatch struct {
	at     map[ackGroup]int
	seen   map[ledger.RoundID]bool
	groups []ackGroup
	items  [][]int // of each group: places in the request
}

type ackGroup struct {
	pair  ledger.PairID
	block uint32
	token uint64
	why   string
}

// add puts an acknowledgement where it belongs. After one of a round that was
// named before only new groups are used, so that the two stand in their order.
func (b *ackBatch) add(i int, a ledger.Ack) {
	if b.seen[a.Round] || b.at == nil {
		b.at, b.seen = make(map[ackGroup]int), make(map[ledger.RoundID]bool)
	}
	b.seen[a.Round] = true
	group := ackGroup{pair: a.Round.Pair, block: a.Round.Nonce / bucketSize, token: a.Token}
	if a.Rejected {
		group.why = "!" + cmp.Or(a.Reason, "rejected")
	}
	at, ok := b.at[group]
	if !ok {
		at = len(b.groups)
		b.at[group] = at
		b.groups, b.items = append(b.groups, group), append(b.items, nil)
	}
	b.items[at] = append(b.items[at], i)
}

// args returns what acknowledge.lua takes, and the order of its answers.
func (b *ackBatch) args(operator string, acks []ledger.Ack) (args []any, order []int) {
	args = append(args, operator)
	for k, group := range b.groups {
		token := ""
		if group.token != 0 {
			token = strconv.FormatUint(group.token, 10)
		}
		args = append(args, short(group.pair), nonceText(group.block), token, group.why, len(b.items[k]))
		for _, i := range b.items[k] {
			args = append(args, fieldNames[acks[i].Round.Nonce%bucketSize])
		}
		for _, i := range b.items[k] {
			args = append(args, packAck(acks[i].WalletTransaction))
		}
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

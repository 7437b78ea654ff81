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
	formNone = 0
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

// ackArgs are what acknowledge.lua takes of one item.
func ackArgs(a ledger.Ack) []any {
	form, transaction := packAck(a.WalletTransaction)
	token, why := "", ""
	if a.Token != 0 {
		token = strconv.FormatUint(a.Token, 10)
	}
	if a.Rejected {
		why = "!" + a.Reason
	}
	return []any{short(a.Round.Pair), nonceText(a.Round.Nonce), token, form, transaction, why}
}

// packAck returns the form and the bytes of a wallet transaction; the same ones
// for the same text, so that scripts compare them.
func packAck(text string) (form int, packed []byte) {
	if text == "" {
		return formNone, nil
	}
	if raw, ok := parseUUID(text); ok {
		return formUUID, raw
	}
	if validBetID(text) {
		return formBits + len(text)%4, appendBetID(nil, text)
	}
	return formText, []byte(text)
}

// parseAck reads what feed.lua calls ack_of; empty where nothing is acknowledged.
func parseAck(p []byte) (string, error) {
	if len(p) == 0 || p[0]>>4 != 1 {
		return "", nil
	}
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
func parseUUID(text string) ([]byte, bool) {
	if len(text) != 36 {
		return nil, false
	}
	raw, err := hex.DecodeString(text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:])
	if err != nil || formatUUID(raw) != text {
		return nil, false
	}
	return raw, true
}

func formatUUID(p []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", p[:4], p[4:6], p[6:8], p[8:10], p[10:16])
}

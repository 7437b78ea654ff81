package redisledger

import (
	"errors"
	"strings"
)

// alphabet has the characters of a bet's id; each is packed in 6 bits.
const (
	alphabet       = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	maxBetIDLength = 40
)

var errBetID = errors.New("bet id is not 1 to 40 of A-Z a-z 0-9 _ -")

func validBetID(id string) bool {
	if len(id) < 1 || len(id) > maxBetIDLength {
		return false
	}
	for i := range len(id) {
		if strings.IndexByte(alphabet, id[i]) < 0 {
			return false
		}
	}
	return true
}

// appendBetID writes a valid id, four characters in three bytes. A rest of 1,
// 2 or 3 characters takes as many bytes; what is left of the last is zero.
func appendBetID(p []byte, id string) []byte {
	var pending uint32
	bits := 0
	for i := range len(id) {
		pending = pending<<6 | uint32(strings.IndexByte(alphabet, id[i]))
		if bits += 6; bits >= 8 {
			bits -= 8
			p = append(p, byte(pending>>bits))
		}
	}
	if bits > 0 {
		p = append(p, byte(pending<<(8-bits)))
	}
	return p
}

// parseBetID reads what appendBetID wrote; the length of the id mod 4 tells an
// id of 3 characters from one of 4.
func parseBetID(p []byte, lengthMod4 int) (string, error) {
	length := len(p) / 3 * 4
	switch {
	case lengthMod4 == 3 && len(p)%3 == 0:
		length--
	case lengthMod4 == len(p)%3:
		length += lengthMod4
	default:
		return "", errBetID
	}
	if length < 1 || length > maxBetIDLength {
		return "", errBetID
	}
	id := make([]byte, length)
	for i := range id {
		bit := i * 6
		window := uint32(p[bit/8]) << 8
		if bit/8+1 < len(p) {
			window |= uint32(p[bit/8+1])
		}
		id[i] = alphabet[window>>(10-bit%8)&63]
	}
	return string(id), nil
}

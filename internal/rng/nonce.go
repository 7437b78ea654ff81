package rng

import (
	"errors"
	"strconv"
)

// MaxNonce is the last nonce that a bet can have. It is one below the largest uint32, so that the nonce of the next bet
// always fits a uint32.
const MaxNonce uint32 = 1<<32 - 2

// ErrNonce says that a nonce is above MaxNonce, or that its text is not the plain decimal form.
var ErrNonce = errors.New("rng: nonce is not a plain decimal number from 0 to 4294967294")

// ParseNonce accepts `0` or `[1-9][0-9]{0,9}` up to MaxNonce, else ErrNonce. Signs, spaces and leading zeros are refused.
func ParseNonce(text string) (uint32, error) {
	if len(text) < 1 || len(text) > 10 || text[0] == '0' && len(text) > 1 {
		return 0, ErrNonce
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, ErrNonce
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > uint64(MaxNonce) {
		return 0, ErrNonce
	}
	return uint32(n), nil
}

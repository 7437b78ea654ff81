package rng

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// hexDigits is how many lower-case hex digits stand for 32 bytes.
const hexDigits = 64

// redacted is all that a secret ever prints.
const redacted = "[redacted]"

// hidden keeps the 64 hex digits of a secret and redacts them wherever values are formatted, encoded or logged.
//
// The digits lie behind two pointers on purpose. fmt calls no methods on unexported fields, it walks into them. It prints
// an inner pointer as an address, except that a verb which does not fit (%s, %q) makes it follow one to an array, slice,
// struct or map; one to a pointer it never follows. So a secret inside any struct, slice or map, exported or not, stays
// hidden. There is no LogValue, since the pure core imports no logger: log/slog and zap find MarshalText, MarshalJSON,
// String or Format, and a test shows that this is enough.
type hidden struct{ text **digits }

// digits are the 64 lower-case hex digits that stand for 32 bytes.
type digits [hexDigits]byte

// IsZero reports whether the secret was never set. Such a value signs nothing and reveals nothing.
func (h hidden) IsZero() bool { return h.text == nil }

// String returns a fixed text in place of the secret.
func (hidden) String() string { return redacted }

// GoString returns a fixed text in place of the secret.
func (hidden) GoString() string { return redacted }

// Format writes a fixed text for every verb, %x and %q included.
func (hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON encodes a fixed text in place of the secret.
func (hidden) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText encodes a fixed text in place of the secret.
func (hidden) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// reveal returns the digits, or "" of a secret that was never set.
func (h hidden) reveal() string {
	if h.IsZero() {
		return ""
	}
	return string((*h.text)[:])
}

// parse copies text into the digits when it is exactly 64 lower-case hex digits, and reports whether it was.
func (d *digits) parse(text string) bool {
	if len(text) != hexDigits {
		return false
	}
	for i := range hexDigits {
		if !isLowerHex(text[i]) {
			return false
		}
		d[i] = text[i]
	}
	return true
}

// encode writes the 32 bytes as digits. It looks nothing up in a table: a secret must not choose what is read from memory.
func (d *digits) encode(raw *[32]byte) {
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint64(d[2*i:], hexOfWord(binary.BigEndian.Uint32(raw[i:])))
	}
}

// hexOfWord returns the eight lower-case hex digits of a word, the first in the highest byte.
func hexOfWord(word uint32) uint64 {
	n := uint64(word) // spread until each byte holds four bits
	n = (n | n<<16) & 0x0000_ffff_0000_ffff
	n = (n | n<<8) & 0x00ff_00ff_00ff_00ff
	n = (n | n<<4) & 0x0f0f_0f0f_0f0f_0f0f
	letters := (n + 6*ones) >> 4 & ones // 1 in each byte above 9
	return n + '0'*ones + letters*('a'-'0'-10)
}

// ones has 1 in each byte; times a byte it has that byte in each.
const ones = 0x0101_0101_0101_0101

// decode returns the 32 bytes. It cannot fail: digits are checked when they come in.
func (d *digits) decode() (raw [32]byte) {
	_, _ = hex.Decode(raw[:], d[:])
	return raw
}

func isLowerHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

package rng

import (
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
// The digits lie behind a pointer on purpose. fmt calls no methods on unexported fields, it walks into them; but it
// prints an inner pointer as an address and does not follow it. So a secret inside any struct, slice or map, exported
// or not, stays hidden. There is no LogValue, since the pure core imports no logger: log/slog and zap find MarshalText,
// MarshalJSON, String or Format, and a test shows that each of them is enough.
type hidden struct{ text *[hexDigits]byte }

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
	return string(h.text[:])
}

// copyHex copies text into digits when it is exactly 64 lower-case hex digits, and reports whether it was.
func copyHex(digits *[hexDigits]byte, text string) bool {
	if len(text) != hexDigits {
		return false
	}
	for i := range hexDigits {
		if !isLowerHex(text[i]) {
			return false
		}
		digits[i] = text[i]
	}
	return true
}

// decodeHex returns the 32 bytes of digits that copyHex has accepted.
func decodeHex(digits *[hexDigits]byte) (raw [32]byte) {
	_, _ = hex.Decode(raw[:], digits[:]) // cannot fail: the digits were checked when they came in
	return raw
}

func isLowerHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

package foreign

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"pgregory.net/rapid"
)

// TestKeyedIsHMAC: keys and messages of every length around the blocks of SHA-256, one after another, against crypto/hmac.
func TestKeyedIsHMAC(t *testing.T) {
	var k keyed
	var message []byte
	check := func(t interface{ Fatalf(string, ...any) }, key, text []byte) {
		want := hmac.New(sha256.New, key)
		want.Write(text)
		var got *[sha256.Size]byte
		got, message = k.sum(append(message[:0], text...))
		if string(want.Sum(nil)) != string(got[:]) || string(message) != string(text) {
			t.Fatalf("key %x, message %x: %x", key, text, *got)
		}
	}
	for length := range 3*sha256.BlockSize + 2 {
		text := make([]byte, length)
		for i := range text {
			text[i] = byte(i + 1)
		}
		k.set(text)
		check(t, text, text)
		check(t, text, nil)
		check(t, text, text[:length/2])
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "key")
		k.set(key)
		for range 3 {
			check(t, key, rapid.SliceOfN(rapid.Byte(), 0, 1100).Draw(t, "message"))
		}
	})
}

package foreign

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
)

// keyed is HMAC-SHA256 with a key for many messages: for one block of message it costs the two compressions that it cannot
// do without, and little else. The package crypto/hmac copies its state more often, and takes a third longer.
//
// Both halves go on from the state that SHA-256 has after the padded key, as the standard library marshals it. The
// message is padded here to whole blocks, so that the state after them is the digest. TestKeyedIsHMAC holds it against
// crypto/hmac, and so does every vector.
type keyed struct {
	sha          resumable
	inner, outer []byte // states
	state        []byte // where the digest is read from
	outerBlock   [sha256.BlockSize]byte
}

// resumable is what a SHA-256 of the standard library can do.
type resumable interface {
	hash.Hash
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// digestAt is where the chaining value stands in a marshalled state, behind the four bytes of its name.
const digestAt = 4

// set takes a key of any length.
func (k *keyed) set(key []byte) {
	if k.sha == nil {
		k.sha = sha256.New().(resumable)
		k.outerBlock[sha256.Size] = 0x80
		binary.BigEndian.PutUint64(k.outerBlock[sha256.BlockSize-8:], 8*(sha256.BlockSize+sha256.Size))
	}
	var pad [sha256.BlockSize]byte
	if len(key) > len(pad) {
		sum := sha256.Sum256(key)
		key = sum[:]
	}
	copy(pad[:], key)
	for i := range pad {
		pad[i] ^= 0x36
	}
	k.inner = k.after(k.inner, pad[:])
	for i := range pad {
		pad[i] ^= 0x36 ^ 0x5C
	}
	k.outer = k.after(k.outer, pad[:])
}

// after appends to into[:0] the state of SHA-256 after one block.
func (k *keyed) after(into, block []byte) []byte {
	k.sha.Reset()
	_, _ = k.sha.Write(block) // a hash never returns an error, nor does the marshalling of one
	into, _ = k.sha.AppendBinary(into[:0])
	return into
}

// sum returns the HMAC of a message, until the next call. It writes behind the message, which is returned with the
// capacity that it came to need.
func (k *keyed) sum(message []byte) (digest *[sha256.Size]byte, again []byte) {
	padded := appendPadding(message, sha256.BlockSize+len(message))
	copy(k.outerBlock[:], k.from(k.inner, padded)[:])
	return k.from(k.outer, k.outerBlock[:]), padded[:len(message)]
}

// from goes on from a state through whole blocks and returns the digest, until the next call.
func (k *keyed) from(state, blocks []byte) *[sha256.Size]byte {
	_ = k.sha.UnmarshalBinary(state) // it is what AppendBinary gave
	_, _ = k.sha.Write(blocks)
	k.state, _ = k.sha.AppendBinary(k.state[:0])
	return (*[sha256.Size]byte)(k.state[digestAt:])
}

// appendPadding ends a message of so many bytes in all as FIPS 180-4 says: a one bit, zeros, and its length in bits.
func appendPadding(message []byte, total int) []byte {
	const lengthSize = 8
	n := sha256.BlockSize - (total+lengthSize)%sha256.BlockSize
	message = append(message, onePadding[:n]...)
	return binary.BigEndian.AppendUint64(message, 8*uint64(total))
}

var onePadding = [sha256.BlockSize]byte{0x80}

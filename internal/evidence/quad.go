package evidence

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/cloudflare/circl/simd/keccakf1600"

	"github.com/openoriginals/originals/internal/rng"
)

const (
	rateWords   = rng.BlockBytes / 8 // of SHA3-256 and of SHAKE256
	stateWords  = 25
	sha3Domain  = 0x06 // FIPS 202, 6.1 and 6.2: what stands behind a message, with the first bit of its padding
	shakeDomain = 0x1f
	lastBit     = 0x80 // the last bit of the padding
)

// quad derives the streams of four rounds of a revealed seed pair at once, with the vector instructions of the processor:
// in half the time that four take one after the other. What it computes is SPEC.md's signature and stream; the package
// rng, which plays, computes the same alone.
type quad struct {
	states keccakf1600.StateX4
	words  []uint64                // of the states: word i of state n is at 4i+n
	blocks [4][rng.BlockBytes]byte // the messages: the first bytes are the same in all rounds
	prefix int                     // how many those are
	digits [4][64]byte             // signatures
}

// newQuad returns nil where four at once are no faster, or are not possible: a message has to fit one block.
func newQuad(p *seedPair) *quad {
	prefix := string(p.serverSeed.Reveal()) + ":" + string(p.clientSeed) + ":"
	if !keccakf1600.IsEnabledX4() || len(prefix)+len("4294967294") >= rng.BlockBytes {
		return nil
	}
	q := &quad{prefix: len(prefix)}
	q.words = q.states.Initialize(false)
	for n := range q.blocks {
		copy(q.blocks[n][:], prefix)
	}
	return q
}

// start makes the streams of the rounds with these nonces.
func (q *quad) start(nonces *[4]uint32, streams *[4]rng.Stream) {
	for n, nonce := range nonces {
		q.absorbMessage(n, nonce)
	}
	q.states.Permute()
	for n := range q.digits {
		q.absorbSignature(n)
	}
	q.states.Permute()
	for n := range streams {
		var block [rng.BlockBytes]byte
		for i := range rateWords {
			binary.LittleEndian.PutUint64(block[8*i:], q.words[4*i+n])
		}
		streams[n].Begin(&q.digits[n], &block)
	}
}

// absorbMessage begins SHA3-256 of the message of a round.
func (q *quad) absorbMessage(n int, nonce uint32) {
	block := &q.blocks[n]
	end := len(strconv.AppendUint(block[:q.prefix], uint64(nonce), 10))
	clear(block[end:])
	block[end] = sha3Domain
	block[rng.BlockBytes-1] |= lastBit
	for i := range rateWords {
		q.words[4*i+n] = binary.LittleEndian.Uint64(block[8*i:])
	}
	q.clear(n, rateWords, stateWords)
}

// absorbSignature takes the digest out of a state, and begins SHAKE256 of its digits there.
func (q *quad) absorbSignature(n int) {
	var digest [32]byte
	for i := range len(digest) / 8 {
		binary.LittleEndian.PutUint64(digest[8*i:], q.words[4*i+n])
	}
	digits := &q.digits[n]
	hex.Encode(digits[:], digest[:])
	for i := range len(digits) / 8 {
		q.words[4*i+n] = binary.LittleEndian.Uint64(digits[8*i:])
	}
	q.clear(n, len(digits)/8, stateWords)
	q.words[4*(len(digits)/8)+n] = shakeDomain
	q.words[4*(rateWords-1)+n] = lastBit << 56
}

func (q *quad) clear(n, from, to int) {
	for i := from; i < to; i++ {
		q.words[4*i+n] = 0
	}
}

package rng

import (
	"errors"
	"strconv"

	"golang.org/x/crypto/sha3"
)

// ErrSignature says that a text is not exactly 64 lower-case hex digits.
var ErrSignature = errors.New("rng: signature is not 64 lower-case hex digits")

// maxMessageBytes is the longest text that is signed: server seed, colon, client seed, colon, nonce.
const maxMessageBytes = hexDigits + 1 + MaxClientSeedBytes + 1 + len("4294967294")

// Signature is the secret of one round: whoever holds it can derive this round, and learns nothing about the server
// seed or any other round. Until the round is settled it is as secret as the server seed, and redacts in the same way.
// The zero Signature is unusable: NewStream stops the program rather than draw from nothing.
type Signature struct{ hidden }

// Sign returns the signature of the round with this nonce: SHA3-256 of `text:clientSeed:nonce` (SPEC.md, signature).
// It is ErrServerSeedUnset, ErrClientSeed or ErrNonce when a part is not usable, so that no round is ever drawn from an
// incomplete seed pair. It does not allocate where the signature stays in the caller's frame.
func (s ServerSeed) Sign(c ClientSeed, nonce uint32) (Signature, error) {
	d := new(digits) // this function is inlined, so that these are in the caller's frame
	return s.sign(&d, c, nonce)
}

// sign writes the signature's digits to where d leads, and wraps them.
func (s ServerSeed) sign(d **digits, c ClientSeed, nonce uint32) (Signature, error) {
	if err := s.signs(c); err != nil {
		return Signature{}, err
	}
	var space [maxMessageBytes]byte
	return signMessage(d, s.appendPrefix(space[:0], c), nonce)
}

// signs returns ErrServerSeedUnset or ErrClientSeed when nothing can be signed with these seeds.
func (s ServerSeed) signs(c ClientSeed) error {
	if s.IsZero() {
		return ErrServerSeedUnset
	}
	if !c.valid() {
		return ErrClientSeed
	}
	return nil
}

// appendPrefix appends all of a message but the nonce.
func (s ServerSeed) appendPrefix(message []byte, c ClientSeed) []byte {
	message = append(message, (*s.text)[:]...)
	message = append(message, ':')
	message = append(message, c...)
	return append(message, ':')
}

// signMessage signs a prefix that the nonce completes.
func signMessage(d **digits, prefix []byte, nonce uint32) (Signature, error) {
	if nonce > MaxNonce {
		return Signature{}, ErrNonce
	}
	digest := sha3.Sum256(strconv.AppendUint(prefix, uint64(nonce), 10))
	(*d).encode(&digest)
	return Signature{hidden{d}}, nil
}

// ParseSignature accepts exactly 64 lower-case hex digits, else ErrSignature. The error never repeats the text.
func ParseSignature(text string) (Signature, error) {
	d := new(digits)
	if !d.parse(text) {
		return Signature{}, ErrSignature
	}
	return Signature{hidden{&d}}, nil
}

// Reveal returns the text of the signature, 64 lower-case hex digits: for the service that plays this round, and for
// the player once it is settled. Of a signature that was never set it is empty.
func (s Signature) Reveal() string { return s.reveal() }

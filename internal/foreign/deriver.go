package foreign

import (
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Deriver derives bets one after another. It keeps the state of the last key, since a history is mostly one server seed
// after another; what it gives never depends on that. The zero Deriver is ready; it belongs to one goroutine. It keeps the
// texts of the last bet until the next, or until Forget.
type Deriver struct {
	key     string // the text that mac was keyed with; empty before the first
	ofBytes bool   // mac is keyed with the decoded bytes of key
	mac     keyed
	message []byte
	base    int                // length of the message without its cursor
	digest  *[sha256.Size]byte // the last

	passed    passed
	committed committed
}

// passed are the seeds of the last bet that were found well-formed.
type passed struct {
	scheme                 *Scheme
	serverSeed, clientSeed string
}

// Derive validates a bet and writes its outcome to out. The error is a *game.FieldError.
func (d *Deriver) Derive(s *Scheme, in *Input, out *Outcome) error {
	if err := d.validate(s, in); err != nil {
		return err
	}
	out.reset()
	return s.derive(d, in, out)
}

// validate is Scheme.Validate, which looks at no seed twice.
func (d *Deriver) validate(s *Scheme, in *Input) error {
	if now := (passed{s, in.ServerSeed, in.ClientSeed}); d.passed != now {
		if err := s.validateSeeds(in); err != nil {
			return err
		}
		d.passed = now
	}
	return s.validateRest(in)
}

// Repeat derives a bet that differs from the last one that Judge found right in its nonce and outcome alone, and reports
// whether the stated values, which are numbers in the order of c.Stated, are to the letter what the seeds give. It says no
// more: whatever is not plainly right is for Judge.
func (d *Deriver) Repeat(c *Claim, out *Outcome, stated []uint64) bool {
	if d.passed.scheme != c.Scheme || c.Scheme.hasNonce && !isNumber(c.Input.Nonce) {
		return false
	}
	out.reset()
	if err := c.Scheme.derive(d, &c.Input, out); err != nil || len(out.Notes) > 0 || len(stated) != len(c.Stated) {
		return false
	}
	for i := range stated {
		right := out.value(c.Stated[i].Name)
		if right == nil || !right.isNumber || right.number != stated[i] {
			return false
		}
	}
	return true
}

// Derive derives one bet. The error is a *game.FieldError.
func Derive(s *Scheme, in Input) (Outcome, error) {
	var d Deriver
	var out Outcome
	err := d.Derive(s, &in, &out)
	return out, err
}

// Forget lets go of every text of the last bet, for callers whose texts do not live on.
func (d *Deriver) Forget() { d.key, d.passed, d.committed = "", passed{}, committed{} }

// keyText keys the HMAC with the characters of a text, keyBytes with what its hex digits stand for.
func (d *Deriver) keyText(text string) { d.setKey(text, false) }

func (d *Deriver) keyBytes(digits string) { d.setKey(digits, true) }

func (d *Deriver) setKey(text string, ofBytes bool) {
	if d.key == text && d.ofBytes == ofBytes && text != "" {
		return
	}
	key := []byte(text)
	if ofBytes {
		key = decode(text)
	}
	d.key, d.ofBytes = text, ofBytes
	d.mac.set(key)
}

// start begins a message with clientSeed, a separator and the nonce.
func (d *Deriver) start(in *Input, separator byte) {
	d.message = append(d.message[:0], in.ClientSeed...)
	d.message = append(d.message, separator)
	d.message = append(d.message, in.Nonce...)
	d.base = len(d.message)
}

// at hashes the message with a cursor behind it.
func (d *Deriver) at(separator byte, cursor uint64) *[sha256.Size]byte {
	if cursor < 10 { // as nearly every one is
		d.message = append(d.message[:d.base], separator, '0'+byte(cursor))
		return d.sum()
	}
	d.message = strconv.AppendUint(append(d.message[:d.base], separator), cursor, 10)
	return d.sum()
}

// sum hashes the message as it stands.
func (d *Deriver) sum() *[sha256.Size]byte {
	d.digest, d.message = d.mac.sum(d.message)
	return d.digest
}

// hash hashes one message that has no cursor.
func (d *Deriver) hash(message []byte) *[sha256.Size]byte {
	d.message = append(d.message[:0], message...)
	return d.sum()
}

// word is the i-th of the 8 big-endian words of a digest.
func word(digest *[sha256.Size]byte, i int) uint32 { return binary.BigEndian.Uint32(digest[4*i:]) }

// scale is floor(w * n / 2^32) for n < 2^32.
func scale(w uint32, n uint64) uint64 { return uint64(w) * n >> 32 }

// top52 is the integer of the first 13 hex digits of a digest.
func top52(digest *[sha256.Size]byte) uint64 { return binary.BigEndian.Uint64(digest[:]) >> 12 }

// decode returns the bytes of hex digits that were checked before.
func decode(digits string) []byte {
	raw, _ := hex.DecodeString(digits)
	return raw
}

func sha256OfText(seed string) string { return hexOf(sha256.Sum256([]byte(seed))) }

func sha256OfBytes(seed string) string { return hexOf(sha256.Sum256(decode(seed))) }

func sha3OfText(seed string) string { return hexOf(sha3.Sum256([]byte(seed))) }

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

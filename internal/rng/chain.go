package rng

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
)

// LinkSize is the length of a link in bytes.
const LinkSize = 32

var (
	// ErrLinkFormat says that a text is not exactly 64 lower-case hex digits.
	ErrLinkFormat = errors.New("rng: link is not 64 lower-case hex digits")
	// ErrLinkLength says that a link is not exactly 32 bytes.
	ErrLinkLength = errors.New("rng: link is not 32 bytes")
	// ErrLinkUnset says that a Link was used that nobody ever set: a missing record is an error, never an empty key.
	ErrLinkUnset = errors.New("rng: link was never set")
	// ErrTerminal says that a text is not exactly 64 lower-case hex digits.
	ErrTerminal = errors.New("rng: terminal is not 64 lower-case hex digits")
)

// Link is the secret h[r] of one round of a crash chain (SPEC.md, crash-v1). Whoever holds it can hash his way to every
// round before it, and to none after it: so it is secret until the rounds 1..r are final. It prints, logs and encodes as
// a fixed text; Reveal and RevealBytes are the only ways out. The zero Link is unusable: every derivation from it is
// ErrLinkUnset.
type Link struct{ hidden }

// NewLink draws the secret end of a chain, h[N], from crypto/rand. On an error there is no chain, and no other source is
// tried.
func NewLink() (Link, error) {
	var raw [LinkSize]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return Link{}, fmt.Errorf("rng: draw the end of a chain: %w", err)
	}
	return linkOf(&raw), nil
}

// ParseLink accepts exactly 64 lower-case hex digits and nothing around them, else ErrLinkFormat. The error never
// repeats the text.
func ParseLink(text string) (Link, error) {
	d := new(digits)
	if !d.parse(text) {
		return Link{}, ErrLinkFormat
	}
	return Link{hidden{&d}}, nil
}

// LinkFromBytes accepts exactly 32 bytes, else ErrLinkLength. It keeps no reference to b.
func LinkFromBytes(b []byte) (Link, error) {
	if len(b) != LinkSize {
		return Link{}, ErrLinkLength
	}
	return linkOf((*[LinkSize]byte)(b)), nil
}

func linkOf(raw *[LinkSize]byte) Link {
	d := new(digits)
	d.encode(raw)
	return Link{hidden{&d}}
}

// Reveal returns the text of the link, 64 lower-case hex digits, once the rounds up to it are final. It is the one
// function that gives the text away; of a link that was never set it is empty.
func (l Link) Reveal() string { return l.reveal() }

// RevealBytes returns the 32 raw bytes, for sealing them into the store and nothing else, or ErrLinkUnset.
func (l Link) RevealBytes() ([LinkSize]byte, error) {
	if l.IsZero() {
		return [LinkSize]byte{}, ErrLinkUnset
	}
	return (*l.text).decode(), nil
}

// Back returns the link of n rounds earlier: from h[j] it is h[j-n], n times SHA-256 over the raw bytes. Back(0) is the
// link itself. The caller sees to it that n is below j: h[0] is no link but the Terminal. Errors: ErrLinkUnset.
func (l Link) Back(n uint32) (Link, error) {
	raw, err := l.RevealBytes()
	if err != nil {
		return Link{}, err
	}
	walk(&raw, n)
	return linkOf(&raw), nil
}

// Segment returns the n links that end with this one, in ascending order: of h[j] they are h[j-n+1] to h[j]. The caller
// sees to it that n is at most j. Errors: ErrLinkUnset.
func (l Link) Segment(n uint32) ([]Link, error) {
	raw, err := l.RevealBytes()
	if err != nil {
		return nil, err
	}
	links := make([]Link, n)
	for i := len(links) - 1; i >= 0; i-- {
		links[i] = linkOf(&raw)
		walk(&raw, 1)
	}
	return links, nil
}

// Follows reports whether this link is h[1] of the chain with that terminal.
func (l Link) Follows(t Terminal) bool {
	first, err := l.Terminal(1)
	return err == nil && subtle.ConstantTimeCompare(first[:], t[:]) == 1
}

// Equal reports whether two links are the same. One that was never set equals none.
func (l Link) Equal(other Link) bool {
	a, errA := l.RevealBytes()
	b, errB := other.RevealBytes()
	return errA == nil && errB == nil && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Terminal returns what the link of this round leads to, number times SHA-256: the link belongs to the chain when that
// is the chain's published terminal. Errors: ErrLinkUnset, and ErrRoundNumber for round 0, which has no link.
func (l Link) Terminal(number uint32) (Terminal, error) {
	if number == 0 {
		return Terminal{}, ErrRoundNumber
	}
	raw, err := l.RevealBytes()
	if err != nil {
		return Terminal{}, err
	}
	walk(&raw, number)
	return raw, nil
}

// Checkpoints walks a whole chain from its secret end l = h[length] down, once, and returns its terminal and the links
// h[every], h[2*every], ... in ascending order, h[length] always the last. So any link is fewer than `every` hashes
// away from one of them. walked, which may be nil, is told now and then how many links are done, the last time length.
// Errors: ErrLinkUnset; ErrRoundNumber for a length or a distance of 0.
func (l Link) Checkpoints(length, every uint32, walked func(links uint32)) (Terminal, []Link, error) {
	if length == 0 || every == 0 {
		return Terminal{}, nil, ErrRoundNumber
	}
	raw, err := l.RevealBytes()
	if err != nil {
		return Terminal{}, nil, err
	}
	checkpoints := make([]Link, (length-1)/every+1)
	checkpoints[len(checkpoints)-1] = l
	at := length
	for i := len(checkpoints) - 1; i >= 0; i-- {
		lower := uint32(i) * every // the checkpoint below, or the terminal
		walk(&raw, at-lower)
		at = lower
		if i > 0 {
			checkpoints[i-1] = linkOf(&raw)
		}
		if walked != nil {
			walked(length - at)
		}
	}
	return raw, checkpoints, nil
}

// walk replaces h[i] by h[i-n].
func walk(raw *[LinkSize]byte, n uint32) {
	for range n {
		*raw = sha256.Sum256(raw[:])
	}
}

// Terminal is h[0] of a chain, which is published before the chain is used. It is comparable with ==.
type Terminal [32]byte

// ParseTerminal accepts exactly 64 lower-case hex digits, else ErrTerminal.
func ParseTerminal(text string) (Terminal, error) {
	var d digits
	if !d.parse(text) {
		return Terminal{}, ErrTerminal
	}
	return d.decode(), nil
}

// String returns the 64 lower-case hex digits.
func (t Terminal) String() string { return hex.EncodeToString(t[:]) }

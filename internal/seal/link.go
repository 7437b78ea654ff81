package seal

import (
	"errors"
	"fmt"

	"github.com/openoriginals/originals/internal/rng"
)

// linksOverhead is what sealing adds to the links of a chain: key id 1, GCM
// nonce 12, tag 16.
const linksOverhead = 1 + 12 + 16

// LinksSize returns how long so many links of a chain are when sealed, in bytes.
func LinksSize(n int) int { return n*rng.LinkSize + linksOverhead }

// SealLinks encrypts checkpoints of a crash chain as one, for one table and
// terminal.
func (k *Keys) SealLinks(table rng.Table, terminal rng.Terminal, links []rng.Link) ([]byte, error) {
	plain := make([]byte, 0, len(links)*rng.LinkSize)
	defer func() { clear(plain) }()
	for _, l := range links {
		raw, err := l.RevealBytes()
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		plain = append(plain, raw[:]...)
	}
	out := make([]byte, 1, LinksSize(len(links)))
	out[0] = k.first
	return k.aeads[k.first].Seal(out, nil, plain, chainName(table, terminal)), nil
}

// ErrLinks says that the sealed links of a chain cannot be opened: their key is
// not among ours, they belong to another table or chain, or they were altered.
var ErrLinks = errors.New("seal: the links of the chain cannot be opened")

// errLinksKey is the ErrLinks of a key file that lacks a key.
var errLinksKey = fmt.Errorf("%w: they were sealed with a key that is not in the key file", ErrLinks)

// OpenLinks decrypts what SealLinks made for the same table and terminal. The
// caller walks from link to link. Errors: ErrLinks.
func (k *Keys) OpenLinks(table rng.Table, terminal rng.Terminal, sealed []byte) ([]rng.Link, error) {
	if len(sealed) < LinksSize(1) || (len(sealed)-linksOverhead)%rng.LinkSize != 0 {
		return nil, ErrLinks
	}
	aead, ok := k.aeads[sealed[0]]
	if !ok {
		return nil, errLinksKey
	}
	plain, err := aead.Open(nil, nil, sealed[1:], chainName(table, terminal))
	if err != nil {
		return nil, ErrLinks
	}
	defer clear(plain)
	links := make([]rng.Link, len(plain)/rng.LinkSize)
	for i := range links {
		if links[i], err = rng.LinkFromBytes(plain[i*rng.LinkSize : (i+1)*rng.LinkSize]); err != nil {
			return nil, err
		}
	}
	return links, nil
}

// chainName is what the links of a chain are bound to: no id of a pair has
// colons.
func chainName(table rng.Table, terminal rng.Terminal) []byte {
	return []byte("crash:" + string(table) + ":" + terminal.String())
}

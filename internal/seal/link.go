package seal

import (
	"fmt"

	"github.com/openoriginals/originals/internal/rng"
)

// SealLink encrypts the secret end of a crash chain, for one table and
// terminal.
func (k *Keys) SealLink(table rng.Table, terminal rng.Terminal, end rng.Link) ([]byte, error) {
	raw, err := end.RevealBytes()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	out := make([]byte, 1, Size)
	out[0] = k.first
	return k.aeads[k.first].Seal(out, nil, raw[:], linkName(table, terminal)), nil
}

// OpenLink decrypts what SealLink made for the same table and terminal. The
// caller walks to the terminal. Errors: ErrOpen.
func (k *Keys) OpenLink(table rng.Table, terminal rng.Terminal, sealed []byte) (rng.Link, error) {
	if len(sealed) != Size {
		return rng.Link{}, ErrOpen
	}
	aead, ok := k.aeads[sealed[0]]
	if !ok {
		return rng.Link{}, errNoKey
	}
	raw, err := aead.Open(nil, nil, sealed[1:], linkName(table, terminal))
	if err != nil {
		return rng.Link{}, ErrOpen
	}
	return rng.LinkFromBytes(raw)
}

// linkName is what the end of a chain is bound to: no id of a pair has colons.
func linkName(table rng.Table, terminal rng.Terminal) []byte {
	return []byte("crash:" + string(table) + ":" + terminal.String())
}

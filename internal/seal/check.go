package seal

import (
	"encoding/hex"
	"errors"
)

// ErrForeign says that a store was sealed with a key that is not in the key file.
var ErrForeign = errors.New("seal: sealed with a key that is not in the key file")

// checkName is what checks are bound to, and their text: no id of a pair and no
// chain's name is the same.
const checkName = "seal-check"

// Check returns a text sealed with the key that seals, by which a store knows it
// again, and the key's id. It tells nothing else.
func (k *Keys) Check() (id string, sealed []byte) {
	return hex.EncodeToString([]byte{k.first}), k.aeads[k.first].Seal([]byte{k.first}, nil, []byte(checkName), []byte(checkName))
}

// Knows reports whether a text that Check returned was sealed with one of the
// keys. Errors: ErrForeign.
func (k *Keys) Knows(sealed []byte) error {
	if len(sealed) == 0 {
		return ErrForeign
	}
	aead, ok := k.aeads[sealed[0]]
	if !ok {
		return ErrForeign
	}
	text, err := aead.Open(nil, nil, sealed[1:], []byte(checkName))
	if err != nil || string(text) != checkName {
		return ErrForeign
	}
	return nil
}

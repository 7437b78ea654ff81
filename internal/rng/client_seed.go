package rng

import "errors"

// MaxClientSeedBytes is the length of the longest client seed.
const MaxClientSeedBytes = 64

// ErrClientSeed says that a text is not 1 to 64 bytes of visible ASCII.
var ErrClientSeed = errors.New("rng: client seed is not 1 to 64 characters of visible ASCII")

// ClientSeed is the player's text: 1 to 64 bytes, each 0x21..0x7E. It is used byte for byte as it was given.
type ClientSeed string

// ParseClientSeed accepts a client seed as it stands, else ErrClientSeed. It never trims, folds or normalises.
func ParseClientSeed(text string) (ClientSeed, error) {
	c := ClientSeed(text)
	if !c.valid() {
		return "", ErrClientSeed
	}
	return c, nil
}

func (c ClientSeed) valid() bool {
	if len(c) < 1 || len(c) > MaxClientSeedBytes {
		return false
	}
	for i := range len(c) {
		if c[i] < 0x21 || c[i] > 0x7E {
			return false
		}
	}
	return true
}

package foreign

import (
	"crypto/sha256"
	"encoding/hex"
)

// GameHash is the hash of one game of a chain, raw.
type GameHash [sha256.Size]byte

// ParseGameHash accepts exactly 64 lower-case hex digits. The error is a *game.FieldError for the field.
func ParseGameHash(field, text string) (h GameHash, err error) {
	if problem := hexProblem(text, 64); problem != "" {
		return h, refuse(field, "%s", problem)
	}
	copy(h[:], decode(text))
	return h, nil
}

// String returns the 64 lower-case hex digits.
func (h GameHash) String() string { return hex.EncodeToString(h[:]) }

// Chain leads from the hash of a game to that of the game before it.
type Chain struct {
	// Words says how, for people.
	Words  string
	ofText bool
}

var (
	chainOfText  = Chain{Words: "SHA-256 of the hex text of the hash after it", ofText: true}
	chainOfBytes = Chain{Words: "SHA-256 of the 32 bytes of the hash after it"}
)

// Walk goes n games back.
func (c *Chain) Walk(h GameHash, n uint64) GameHash {
	for range n {
		h = c.before(h)
	}
	return h
}

// Search goes back until it meets the terminal hash, at most n games, and returns how many it went. found is false
// when the terminal was not met; h is the last hash in either case.
func (c *Chain) Search(h, terminal GameHash, n uint64) (last GameHash, games uint64, found bool) {
	for games < n && h != terminal {
		h = c.before(h)
		games++
	}
	return h, games, h == terminal
}

func (c *Chain) before(h GameHash) GameHash {
	if !c.ofText {
		return sha256.Sum256(h[:])
	}
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], h[:])
	return sha256.Sum256(text[:])
}

package evidence

import (
	"crypto/sha256"
	"crypto/sha3"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/openoriginals/originals/internal/rng"
)

// HexMistake says in words which usual mistake a text shows that should be 64 lower-case hex digits, or "" when it is
// right: white space around it, a 0x in front, a wrong length, upper-case digits, other characters.
func HexMistake(text string) string {
	if _, err := rng.ParseCommitment(text); err == nil {
		return ""
	}
	switch {
	case text == "":
		return "it is empty"
	case strings.TrimSpace(text) != text:
		return "there is stray white space around it"
	case strings.HasPrefix(strings.ToLower(text), "0x"):
		return "leave the 0x out"
	case len(text) != 64:
		return fmt.Sprintf("it has %d characters", len(text))
	case strings.Trim(strings.ToLower(text), "0123456789abcdef") == "":
		return "upper-case digits hash to something else"
	default:
		return "not all of it is hex digits"
	}
}

// offByOne tells whether a neighbouring nonce would have given what is claimed.
func offByOne(nonce uint32, gives func(uint32) bool) string {
	if nonce > 0 && gives(nonce-1) {
		return fmt.Sprintf(" (nonce %d would give it: is the nonce off by one?)", nonce-1)
	}
	if nonce < maxNonce && gives(nonce+1) {
		return fmt.Sprintf(" (nonce %d would give it: is the nonce off by one?)", nonce+1)
	}
	return ""
}

// commitmentHint names the usual mistake behind a server seed that does not hash to the commitment, or "".
func commitmentHint(serverSeed, clientSeed, commitment string) string {
	raw, _ := hex.DecodeString(serverSeed)
	switch {
	case serverSeed == commitment:
		return "; the server seed given is the commitment itself: a hash was pasted in place of the server seed"
	case opens(clientSeed, commitment):
		return "; the client seed hashes to it: client seed and server seed are swapped"
	case hexOf(sha3.Sum256(raw)) == commitment:
		return "; the commitment is the hash of the 32 raw bytes, and this scheme hashes the 64 hex digits"
	case hexOf(sha256.Sum256([]byte(serverSeed))) == commitment, hexOf(sha256.Sum256(raw)) == commitment:
		return "; the commitment is its SHA-256, and this scheme uses SHA3-256: a bet of another scheme or house"
	default:
		return ""
	}
}

// opens reports whether a text is a server seed with this commitment.
func opens(text, commitment string) bool {
	seed, err := rng.ParseServerSeed(text)
	if err != nil {
		return false
	}
	computed, err := seed.Commitment()
	return err == nil && computed.String() == commitment
}

func hexOf(digest [32]byte) string { return hex.EncodeToString(digest[:]) }

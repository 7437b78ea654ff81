package evidence

import (
	"crypto/sha256"
	"crypto/sha3"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/openoriginals/originals/internal/mistake"
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

// commitmentHint names in words the usual mistake behind a server seed that does not hash to the commitment, or "".
func commitmentHint(serverSeed, clientSeed, commitment string) string {
	_, words := commitmentMistake(serverSeed, clientSeed, commitment)
	return words
}

func commitmentMistake(serverSeed, clientSeed, commitment string) (m mistake.Mistake, words string) {
	raw, _ := hex.DecodeString(serverSeed)
	switch {
	case serverSeed == commitment:
		return mistake.HashForServerSeed, "; the server seed given is the commitment itself: a hash was pasted in place of the server seed"
	case opens(clientSeed, commitment):
		return mistake.SeedsSwapped, "; the client seed hashes to it: client seed and server seed are swapped"
	case opens(commitment, serverSeed):
		return mistake.CommitmentForSeed, "; the two are in each other's place: the commitment given hashes to the server seed given"
	case hexOf(sha3.Sum256(raw)) == commitment:
		return mistake.BytesHashed, "; the commitment is the hash of the 32 raw bytes, and this scheme hashes the 64 hex digits"
	case hexOf(sha256.Sum256([]byte(serverSeed))) == commitment, hexOf(sha256.Sum256(raw)) == commitment:
		return mistake.OtherHouse, "; the commitment is its SHA-256, and this scheme uses SHA3-256: a bet of another scheme or house"
	default:
		return "", ""
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

// RepairHex undoes the usual mistakes in a text that should be 64 lower-case hex digits: white space around it, 0x in
// front, upper-case digits. ok is false when that does not help. It is for telling people what they probably meant, and
// never for going on with it in silence.
func RepairHex(text string) (repaired string, ok bool) {
	repaired = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "0x")
	return repaired, HexMistake(repaired) == ""
}

// ExplainServerSeed says why a text is no server seed, and what it seems to be; commitment may be empty. It returns ""
// for a well-formed one.
func ExplainServerSeed(text, clientSeed, commitment string) string {
	_, words := ServerSeedMistake(text, clientSeed, commitment)
	return words
}

// ServerSeedMistake is ExplainServerSeed with the name of the mistake, "" where it has none.
func ServerSeedMistake(text, clientSeed, commitment string) (m mistake.Mistake, words string) {
	problem := HexMistake(text)
	if problem == "" {
		return "", ""
	}
	m, words = mistake.OfText(text), "wants 64 lower-case hex digits: "+problem
	repaired, ok := RepairHex(text)
	switch {
	case opens(clientSeed, commitment):
		return mistake.SeedsSwapped, words + "; the client seed hashes to the commitment: client seed and server seed are swapped"
	case !ok:
		return m, words
	case repaired == commitment:
		return mistake.HashForServerSeed, words + "; it is the commitment: a hash was pasted in place of the server seed"
	case opens(repaired, commitment):
		return m, words + "; written as " + repaired + " it hashes to the commitment"
	default:
		return m, words + "; did you mean " + repaired + "?"
	}
}

// ExplainClientSeed says why a text is no client seed, or "".
func ExplainClientSeed(text string) string {
	if _, err := rng.ParseClientSeed(text); err == nil {
		return ""
	}
	words := "wants 1 to 64 characters of visible ASCII"
	switch {
	case text == "":
		return words + ": it is empty"
	case strings.TrimSpace(text) != text:
		return words + ": there is stray white space around it"
	case len(text) > rng.MaxClientSeedBytes:
		return fmt.Sprintf("%s: it has %d bytes", words, len(text))
	default:
		return words + ": a space or another character is in it"
	}
}

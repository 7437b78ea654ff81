// Package mistake holds the names of the usual mistakes of people who check a bet; it must never import anything of this
// program.
package mistake

import "strings"

// Mistake is the permanent name of a usual mistake, for programs; what goes with it in words is for people and may change.
// It is empty when nothing explains a difference.
type Mistake string

// The mistakes.
const (
	HashForServerSeed Mistake = "HASH_FOR_SERVER_SEED" // the commitment was pasted in place of the server seed
	CommitmentForSeed Mistake = "COMMITMENT_AND_SERVER_SEED_SWAPPED"
	SeedsSwapped      Mistake = "CLIENT_SEED_AND_SERVER_SEED_SWAPPED"
	OtherSeedPair     Mistake = "SEED_OF_ANOTHER_PAIR" // a real server seed, of other bets
	NonceOffByOne     Mistake = "NONCE_OFF_BY_ONE"
	UpperCaseHex      Mistake = "UPPER_CASE_HEX"           // which is another text and hashes to something else
	StrayWhiteSpace   Mistake = "STRAY_WHITE_SPACE"        // around a text
	HexPrefix         Mistake = "HEX_PREFIX"               // 0x in front
	OtherHouse        Mistake = "WRONG_HOUSE"              // another house, or another scheme, gives what is stated
	BytesHashed       Mistake = "BYTES_HASHED"             // the commitment is the hash of the bytes, and the scheme hashes the text
	TileNumbering     Mistake = "TILES_NUMBERED_OTHERWISE" // tiles counted from 1 in place of 0, or the reverse
	TileOrder         Mistake = "TILES_IN_ANOTHER_ORDER"
)

// All returns every mistake.
func All() []Mistake {
	return []Mistake{
		HashForServerSeed, CommitmentForSeed, SeedsSwapped, OtherSeedPair, NonceOffByOne, UpperCaseHex, StrayWhiteSpace,
		HexPrefix, OtherHouse, BytesHashed, TileNumbering, TileOrder,
	}
}

// OfText returns the usual mistake that a refused seed, commitment or other hex text shows by itself, or "".
func OfText(text string) Mistake {
	lower := strings.ToLower(text)
	switch {
	case strings.TrimSpace(text) != text:
		return StrayWhiteSpace
	case strings.HasPrefix(lower, "0x"):
		return HexPrefix
	case lower != text && strings.Trim(lower, "0123456789abcdef") == "":
		return UpperCaseHex
	default:
		return ""
	}
}

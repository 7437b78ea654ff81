// Package duel holds the dice of two seats, scheme duel-v1: seat seeds, the message of a block, and three dice a ply. It
// imports only internal/game, internal/rng and the standard library, never a clock, a network or a logger.
//
// The construction is that of Dice Chess:
//
//	commitment = hex( SHA-256( server seed, 32 raw bytes ) )
//	message    = be32(len W) W  be32(len B) B  be64(ply)  be32(block)
//	block k    = HMAC-SHA256( key = the 32 raw bytes, message with block = k ), k = 0, 1, ...
//	dice       = each byte b in order: b >= 252 is rejected, else b mod 6 + 1; three dice a ply
//
// W and B are the UTF-8 bytes of White's and Black's client seed. The counter stands in every block, 0 included. Bytes
// that are not used are dropped: each ply starts at block 0.
package duel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"unicode/utf8"

	"github.com/openoriginals/originals/internal/game"
	"github.com/openoriginals/originals/internal/rng"
)

// Scheme is the permanent name of everything in this package. A released scheme is never edited.
const Scheme = "duel-v1"

const (
	// MinSeedBytes and MaxSeedBytes bound a seat's client seed.
	MinSeedBytes = 16
	MaxSeedBytes = 256
	// CommittedSeedBytes is the length of a seat's client seed in committed mode.
	CommittedSeedBytes = 64
)

// Dice are the three dice of one ply, each 1 to 6, in the order in which they were drawn.
type Dice [3]uint8

// Commitment returns SHA-256 of the 32 raw bytes of a server seed, or rng.ErrServerSeedUnset.
func Commitment(serverSeed rng.ServerSeed) (rng.Commitment, error) {
	raw, err := serverSeed.RevealBytes()
	if err != nil {
		return rng.Commitment{}, err
	}
	return sha256.Sum256(raw[:]), nil
}

// SeatCommitment returns the hash by which a seat commits to its client seed before it opens it, 64 hex digits:
// SHA-256( matchID ":" seat ":" seedText ), seat being white or black. Match ids hold no colon, so the text is unique.
func SeatCommitment(matchID, seat, seedText string) string {
	sum := sha256.Sum256([]byte(matchID + ":" + seat + ":" + seedText))
	return hex.EncodeToString(sum[:])
}

// FallbackHash returns the hash by which the house commits to a seat's fallback seed when a duel is made, 64 hex digits:
// SHA-256 of the seed's text, itself 64 lower-case hex digits.
func FallbackHash(seedText string) [sha256.Size]byte { return sha256.Sum256([]byte(seedText)) }

// IsCommittedSeed reports whether a text can be a client seed of committed mode: 64 lower-case hex digits.
func IsCommittedSeed(text string) bool {
	if len(text) != CommittedSeedBytes {
		return false
	}
	for i := range len(text) {
		if (text[i] < '0' || text[i] > '9') && (text[i] < 'a' || text[i] > 'f') {
			return false
		}
	}
	return true
}

// ValidateSeed returns a *game.FieldError for `clientSeed`, or nil for 16 to 256 bytes of visible ASCII.
func ValidateSeed(text string) error {
	refused := &game.FieldError{Field: "clientSeed", Problem: "must be 16 to 256 characters of visible ASCII"}
	if len(text) < MinSeedBytes || len(text) > MaxSeedBytes {
		return refused
	}
	for i := range len(text) {
		if text[i] < 0x21 || text[i] > 0x7E {
			return refused
		}
	}
	return nil
}

// IsForeignSeed reports whether a text can be the client seed of a game of Dice Chess: well-formed Unicode of 16 to 256
// UTF-16 units. A lone surrogate has no UTF-8, so it is refused.
func IsForeignSeed(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	units := 0
	for _, r := range text {
		units++
		if r > 0xFFFF { // a pair of surrogates
			units++
		}
	}
	return units >= MinSeedBytes && units <= MaxSeedBytes
}

// Message returns what block number block of a ply is hashed from. The lengths in front keep two free texts apart.
func Message(white, black string, ply uint64, block uint32) []byte {
	message := make([]byte, 0, len(white)+len(black)+20)
	message = binary.BigEndian.AppendUint32(message, uint32(len(white)))
	message = append(message, white...)
	message = binary.BigEndian.AppendUint32(message, uint32(len(black)))
	message = append(message, black...)
	message = binary.BigEndian.AppendUint64(message, ply)
	return binary.BigEndian.AppendUint32(message, block)
}

// Roll returns the dice of a ply, from 0. The seats' client seeds must be valid. The error is rng.ErrServerSeedUnset.
func Roll(serverSeed rng.ServerSeed, white, black string, ply uint64) (Dice, error) {
	raw, err := serverSeed.RevealBytes()
	if err != nil {
		return Dice{}, err
	}
	return Draw(func(block uint32) (digest [sha256.Size]byte) {
		mac := hmac.New(sha256.New, raw[:])
		_, _ = mac.Write(Message(white, black, ply, block)) // a hash never returns an error
		mac.Sum(digest[:0])
		return digest
	}), nil
}

// Draw takes three dice from the bytes of block 0, 1, ...: those of 252 and more, the largest multiple of 6 below 256, are
// rejected. It is how Roll reads its blocks, for vectors with blocks that never come up.
func Draw(block func(k uint32) [sha256.Size]byte) (dice Dice) {
	drawn := 0
	for k := uint32(0); ; k++ {
		for _, b := range block(k) {
			if b >= 252 {
				continue
			}
			dice[drawn] = b%6 + 1
			if drawn++; drawn == len(dice) {
				return dice
			}
		}
	}
}

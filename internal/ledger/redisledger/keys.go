package redisledger

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// bucketSize is how many rounds share a hash. With it the hash stays a
// listpack: at most 512 entries of at most 64 bytes.
const bucketSize = 128

// The keys. All of a partition's begin with its hash tag, which is the first
// one of the key: braces in a player's id do not matter.

func tag(partition int) string { return "{p" + strconv.Itoa(partition) + "}" }

func playerKey(p ledger.Player) string { return tag(p.Partition()) + ":u:" + p.String() }

func clientSeedsKey(p ledger.Player) string { return tag(p.Partition()) + ":w:" + p.String() }

func pairKey(id ledger.PairID) string { return tag(id.Partition()) + ":s:" + short(id) }

func openRoundsKey(partition int) string { return tag(partition) + ":open" }

func outboxKey(operator string, partition int) string { return tag(partition) + ":o:" + operator }

func bucketKey(kind string, id ledger.PairID, bucket uint32) string {
	return tag(id.Partition()) + ":" + kind + ":" + short(id) + ":" + strconv.FormatUint(uint64(bucket), 10)
}

// short is what tells a pair from the others of its partition: 16 characters.
func short(id ledger.PairID) string { return string(id[3:]) }

// clientSeedDigest stands for a client seed in the set of those that a player
// used: 64 bits of its hash, as the signed number that makes the set an intset.
func clientSeedDigest(c rng.ClientSeed) string {
	sum := sha256.Sum256([]byte(c))
	return strconv.FormatInt(int64(binary.BigEndian.Uint64(sum[:8])), 10)
}

// betIDDigest is the field of the index of bet ids; its first bytes pick the
// index's hash.
func betIDDigest(betID string) []byte {
	sum := sha256.Sum256([]byte(betID))
	return sum[:8]
}

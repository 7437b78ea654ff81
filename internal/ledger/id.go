package ledger

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/rng"
)

// Partitions is the number of partitions that players are spread over. It is
// fixed at installation: a player's keys all live in one.
const Partitions = 64

// Player is a player of one operator.
type Player struct {
	Operator string // [a-z0-9-]{1,32}
	ID       string // 1..128 visible ASCII characters
}

// Partition returns 0..63: the first two bytes of SHA-256(operator 0x00 id),
// mod 64.
func (p Player) Partition() int {
	sum := sha256.Sum256([]byte(p.Operator + "\x00" + p.ID))
	return (int(sum[0])<<8 | int(sum[1])) % Partitions
}

// String returns the operator and the id, split by the first colon.
func (p Player) String() string { return p.Operator + ":" + p.ID }

// ParsePlayer reads what String wrote.
func ParsePlayer(s string) (Player, error) {
	operator, id, ok := strings.Cut(s, ":")
	if !ok || operator == "" || id == "" {
		return Player{}, errors.New("ledger: not a player")
	}
	return Player{Operator: operator, ID: id}, nil
}

// PairID names a seed pair: two digits of the partition, a hyphen and the
// first 80 bits of the commitment in lower-case base32. So a commitment leads
// to its pair without an index, and an id to its partition.
type PairID string

// pairIDLength is two digits, a hyphen and 16 digits of base32.
const pairIDLength = 19

var pairEncoding = base32.NewEncoding(pairDigits).WithPadding(base32.NoPadding)

const pairDigits = "abcdefghijklmnopqrstuvwxyz234567"

// NewPairID returns the id of the pair of a player with this commitment.
func NewPairID(p Player, c rng.Commitment) PairID {
	return PairID(fmt.Sprintf("%02d-%s", p.Partition(), pairEncoding.EncodeToString(c[:10])))
}

// ParsePairID accepts what NewPairID made.
func ParsePairID(s string) (PairID, error) {
	if len(s) != pairIDLength || !isDigit(s[0]) || !isDigit(s[1]) || s[2] != '-' {
		return "", errPairID
	}
	for i := 3; i < len(s); i++ {
		if strings.IndexByte(pairDigits, s[i]) < 0 {
			return "", errPairID
		}
	}
	id := PairID(s)
	if id.Partition() >= Partitions {
		return "", errPairID
	}
	return id, nil
}

var errPairID = errors.New("ledger: not a seed pair id")

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Partition returns the partition of the pair's player.
func (id PairID) Partition() int {
	return int(id[0]-'0')*10 + int(id[1]-'0')
}

// Bytes returns the 10 bytes that tell the pair from others of its partition.
func (id PairID) Bytes() ([10]byte, error) {
	var b [10]byte
	raw, err := pairEncoding.DecodeString(string(id[3:]))
	if err != nil {
		return b, fmt.Errorf("ledger: seed pair id: %w", err)
	}
	copy(b[:], raw)
	return b, nil
}

// PairIDFromBytes is the inverse of Bytes.
func PairIDFromBytes(partition int, b [10]byte) PairID {
	return PairID(fmt.Sprintf("%02d-%s", partition, pairEncoding.EncodeToString(b[:])))
}

// RoundID names a round: its pair and its nonce.
type RoundID struct {
	Pair  PairID
	Nonce uint32
}

// String returns the pair's id, a hyphen and the nonce.
func (id RoundID) String() string {
	return string(id.Pair) + "-" + strconv.FormatUint(uint64(id.Nonce), 10)
}

// ParseRoundID reads what String wrote, and nothing else.
func ParseRoundID(s string) (RoundID, error) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return RoundID{}, errors.New("ledger: not a round id")
	}
	pair, err := ParsePairID(s[:i])
	if err != nil {
		return RoundID{}, errors.New("ledger: not a round id")
	}
	nonce, err := rng.ParseNonce(s[i+1:])
	if err != nil {
		return RoundID{}, errors.New("ledger: not a round id")
	}
	return RoundID{Pair: pair, Nonce: nonce}, nil
}

// Package beacon holds public randomness: the rounds of a drand network, their verification, where they are fetched, and
// a beacon of our own for places without internet. It must never import a store, a service or a game.
//
// A round R of a network is published at a time that follows from R alone, and nobody knows its signature before. Its
// randomness is SHA-256 of the signature. The networks here are of drand's scheme bls-unchained-g1-rfc9380: a round is
// the BLS12-381 signature, 48 bytes in G1, of SHA-256(R in eight bytes, most significant first), with the domain
// BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_ and a public key in G2.
package beacon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/cloudflare/circl/sign/bls"

	"github.com/openoriginals/originals/internal/rng"
)

// SignatureSize is the length of a round's signature in bytes.
const SignatureSize = 48

// Margin is how long after the close of betting the named round is published at the earliest (rng/SPEC.md).
const Margin = time.Second

var (
	// ErrUnpublished says that a round is not there yet.
	ErrUnpublished = errors.New("beacon: the round is not published yet")
	// ErrSignature says that a signature is not the network's for that round.
	ErrSignature = errors.New("beacon: the signature is not that of the network for this round")
)

// Network is one beacon: its key and its calendar. It is safe for concurrent use.
type Network struct {
	hash    string
	key     bls.PublicKey[bls.KeyG2SigG1]
	genesis int64 // Unix seconds of round 1
	period  int64 // seconds
}

// Quicknet returns drand's network of that name: a round every three seconds since 23 August 2023. Its hash, key and
// calendar are those that it publishes at https://api.drand.sh/v2/beacons/quicknet/info.
func Quicknet() *Network {
	n, err := NewNetwork(quicknetHash, quicknetKey, 1692803367, 3)
	if err != nil {
		panic(err) // constants: a test makes them
	}
	return n
}

const (
	quicknetHash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
	quicknetKey  = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)

// Known returns the network of a hash that chains may name: quicknet, or that of the test beacon.
func Known(hash string) (*Network, bool) {
	switch hash {
	case quicknetHash:
		return Quicknet(), true
	case TestHash:
		return Test(nil).network, true
	}
	return nil, false
}

// NewNetwork returns a network. hash names it, 64 hex digits; key is its public key in G2, compressed, 192 hex digits;
// genesis is the time of round 1 in Unix seconds, period the seconds between rounds, 1 at least.
func NewNetwork(hash, key string, genesis, period int64) (*Network, error) {
	if len(hash) != 64 {
		return nil, errors.New("beacon: the hash of a network has 64 hex digits")
	}
	if genesis < 0 || period < 1 {
		return nil, errors.New("beacon: a network has a genesis after 1970 and a period of a second or more")
	}
	raw, err := hex.DecodeString(key)
	if err != nil {
		return nil, fmt.Errorf("beacon: public key: %w", err)
	}
	n := &Network{hash: hash, genesis: genesis, period: period}
	if err := n.key.UnmarshalBinary(raw); err != nil {
		return nil, fmt.Errorf("beacon: public key: %w", err)
	}
	if !n.key.Validate() {
		return nil, errors.New("beacon: the public key is no point of its group")
	}
	return n, nil
}

// Genesis returns when round 1 is published, and Period how long it takes from one round to the next.
func (n *Network) Genesis() time.Time { return n.TimeOf(1) }

// Period returns how long it takes from one round to the next: whole seconds.
func (n *Network) Period() time.Duration { return time.Duration(n.period) * time.Second }

// Hash returns the hash that names the network, 64 lower-case hex digits.
func (n *Network) Hash() string { return n.hash }

// TimeOf returns when a round is published: genesis + (R-1) * period. Rounds count from 1; round 0 counts as round 1.
func (n *Network) TimeOf(round uint64) time.Time {
	const farthest = 1 << 40 // periods: keeps the sum within int64 whatever a caller asks
	steps := min(max(round, 1)-1, farthest)
	return time.Unix(n.genesis+int64(steps)*n.period, 0).UTC()
}

// RoundAt returns the last round that is published at a time; 0 before the first.
func (n *Network) RoundAt(t time.Time) uint64 {
	since := t.Unix() - n.genesis
	if since < 0 {
		return 0
	}
	return uint64(since/n.period) + 1
}

// NamedFor returns the round that a crash round names whose betting closes at lock: the smallest R with time(R) >= lock
// + 1 s (rng/SPEC.md).
func (n *Network) NamedFor(lock time.Time) uint64 {
	earliest := lock.Add(Margin)
	round := max(n.RoundAt(earliest), 1)
	if n.TimeOf(round).Before(earliest) {
		round++
	}
	return round
}

// Verify checks that a signature is the network's for a round, and returns the round's randomness: SHA-256 of the
// signature. Errors: ErrSignature.
func (n *Network) Verify(round uint64, signature []byte) (rng.Salt, error) {
	if len(signature) != SignatureSize || round == 0 {
		return "", ErrSignature
	}
	if !bls.Verify(&n.key, message(round), signature) {
		return "", ErrSignature
	}
	return Randomness(signature), nil
}

// Randomness returns SHA-256 of a signature as 64 lower-case hex digits. It says nothing about whose signature it is.
func Randomness(signature []byte) rng.Salt {
	sum := sha256.Sum256(signature)
	return rng.Salt(hex.EncodeToString(sum[:]))
}

// message is what the network signs: unchained, so of the round's number alone.
func message(round uint64) []byte {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], round)
	sum := sha256.Sum256(number[:])
	return sum[:]
}

// Entry is a published round. What a Source returns is verified.
type Entry struct {
	Round      uint64
	Signature  []byte   // 48 bytes
	Randomness rng.Salt // SHA-256 of the signature
}

// Source is where rounds are fetched.
type Source interface {
	// Network returns the network whose rounds these are.
	Network() *Network
	// Fetch returns a round, verified. Errors: ErrUnpublished while it is not there, ErrSignature when what came is
	// forged; others are of the way to it, and a repeat is safe.
	Fetch(ctx context.Context, round uint64) (Entry, error)
}

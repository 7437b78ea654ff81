// Package seal keeps server seeds encrypted at rest. It must never import a
// store, a service or a logger.
package seal

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/openoriginals/originals/internal/rng"
)

// Size is the length of a sealed server seed in bytes: key id 1, GCM nonce 12,
// server seed 32, tag 16.
const Size = 1 + 12 + rng.ServerSeedSize + 16

// ErrOpen says that a sealed server seed cannot be opened: its key is not
// among ours, it belongs to another pair, or it was altered.
var ErrOpen = errors.New("seal: server seed cannot be opened")

// errNoKey is the ErrOpen of a key file that lacks a key, for who reads the
// log: nothing is damaged, and adding the key mends it.
var errNoKey = fmt.Errorf("%w: it was sealed with a key that is not in the key file", ErrOpen)

// Keys seal with the first key and open with all, AES-256-GCM bound to the
// pair. They cannot be printed.
type Keys struct {
	first byte
	aeads map[byte]cipher.AEAD
}

var keyPattern = regexp.MustCompile(`^[0-9a-f]{64}\z`)

// ReadFile reads a key file: 64 lower-case hex digits a line, the first key
// seals, all open; empty lines and lines that start with # are skipped.
func ReadFile(path string) (*Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	defer f.Close()
	k, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("seal: %s: %w", path, err)
	}
	return k, nil
}

func read(r io.Reader) (*Keys, error) {
	k := &Keys{aeads: make(map[byte]cipher.AEAD)}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" || text[0] == '#' {
			continue
		}
		if !keyPattern.MatchString(text) {
			return nil, fmt.Errorf("line %d is not 64 lower-case hex digits", n)
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("line %d is not 64 lower-case hex digits", n)
		}
		if err := k.add(raw); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(k.aeads) == 0 {
		return nil, errors.New("holds no key")
	}
	return k, nil
}

// NewKeys returns one fresh key, for a store that keeps nothing.
func NewKeys() (*Keys, error) {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	k := &Keys{aeads: make(map[byte]cipher.AEAD)}
	return k, k.add(raw)
}

// add takes a key. Its id is the first byte of its hash, so that a file may be
// reordered.
func (k *Keys) add(raw []byte) error {
	sum := sha256.Sum256(raw)
	id := sum[0]
	if _, taken := k.aeads[id]; taken {
		return errors.New("the key stands twice, or its id collides with another's: make a new one")
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return err
	}
	if len(k.aeads) == 0 {
		k.first = id
	}
	k.aeads[id] = aead
	return nil
}

// Seal encrypts a server seed for one pair.
func (k *Keys) Seal(pair string, s rng.ServerSeed) ([]byte, error) {
	raw, err := s.RevealBytes()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	out := make([]byte, 1, Size)
	out[0] = k.first
	return k.aeads[k.first].Seal(out, nil, raw[:], []byte(pair)), nil
}

// Open decrypts what Seal made for the same pair. The caller compares the
// commitment. Errors: ErrOpen.
func (k *Keys) Open(pair string, sealed []byte) (rng.ServerSeed, error) {
	if len(sealed) != Size {
		return rng.ServerSeed{}, ErrOpen
	}
	aead, ok := k.aeads[sealed[0]]
	if !ok {
		return rng.ServerSeed{}, errNoKey
	}
	raw, err := aead.Open(nil, nil, sealed[1:], []byte(pair))
	if err != nil {
		return rng.ServerSeed{}, ErrOpen
	}
	return rng.ServerSeedFromBytes(raw)
}

// String never shows a key.
func (k *Keys) String() string { return "seal.Keys[redacted]" }

// GoString never shows a key.
func (k *Keys) GoString() string { return k.String() }

package beacon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/cloudflare/circl/sign/bls"
)

// minSecret is how long the secret of a beacon of our own is at least, in bytes.
const minSecret = 32

// Own is a beacon of our own, which stands in where there is no internet: the scheme of drand with one key, which we
// hold. So it shows how a beacon works and protects nobody from its owner: whoever knows the secret knows every round.
// It is safe for concurrent use.
type Own struct {
	network *Network
	key     *bls.PrivateKey[bls.KeyG2SigG1]
	now     func() time.Time
}

// NewOwn returns the beacon of a secret of 32 bytes or more: the same secret has the same rounds. genesis and period are
// whole seconds; now tells which rounds are published.
func NewOwn(secret []byte, genesis time.Time, period time.Duration, now func() time.Time) (*Own, error) {
	if len(secret) < minSecret {
		return nil, errors.New("beacon: the secret of a beacon has 32 bytes at least")
	}
	if period < time.Second || period%time.Second != 0 {
		return nil, errors.New("beacon: the period of a beacon is a whole number of seconds")
	}
	key, err := bls.KeyGen[bls.KeyG2SigG1](secret, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("beacon: %w", err)
	}
	public, err := key.PublicKey().MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("beacon: %w", err)
	}
	name := sha256.Sum256(append([]byte("beacon of our own: "), public...))
	network, err := NewNetwork(hex.EncodeToString(name[:]), hex.EncodeToString(public), genesis.Unix(), int64(period/time.Second))
	if err != nil {
		return nil, err
	}
	return &Own{network, key, now}, nil
}

// TestHash names the network of the test beacon.
const TestHash = "554a2307bec97a72e4601f436ad130237f339750db536ec41fd6ae2825f68431"

// Test returns the beacon of a secret that everybody knows, one and the same for all: a round a second since 2020. It
// protects nobody, and stands in where there is no internet. now tells which rounds are published.
func Test(now func() time.Time) *Own {
	secret := sha256.Sum256([]byte("the test beacon of open originals, whose secret everybody knows"))
	o, err := NewOwn(secret[:], time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Second, now)
	if err != nil {
		panic(err) // constants: a test makes it
	}
	return o
}

// Network returns the network whose rounds these are.
func (o *Own) Network() *Network { return o.network }

// Fetch implements Source. A round is there from its time on.
func (o *Own) Fetch(_ context.Context, round uint64) (Entry, error) {
	if round == 0 || o.network.TimeOf(round).After(o.now()) {
		return Entry{}, ErrUnpublished
	}
	signature := bls.Sign(o.key, message(round))
	return Entry{round, signature, Randomness(signature)}, nil
}

// String never shows the key.
func (o *Own) String() string { return "beacon.Own[" + o.network.hash + "]" }

// GoString never shows the key.
func (o *Own) GoString() string { return o.String() }

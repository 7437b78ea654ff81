package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/openoriginals/originals/internal/config"
)

// maxKeys bounds the keys of one file or JWKS, and so the signatures that a
// bad token can make us check.
const maxKeys = 16

// minRSABits is the shortest RSA modulus that is accepted.
const minRSABits = 2048

// Key is a public key that signs tokens of one operator.
type Key struct {
	Operator string
	ID       string           // "kid" of its tokens; a key without one fits any token
	Public   crypto.PublicKey // ed25519.PublicKey, *rsa.PublicKey or *ecdsa.PublicKey
}

// ErrKey says that a key is unfit: not Ed25519, RSA of 2048 bits or more, or
// ECDSA on P-256.
var ErrKey = errors.New("auth: a key must be Ed25519, RSA of at least 2048 bits, or ECDSA P-256")

// DuplicateKeyError says that a key stands twice. A key belongs to exactly one
// operator, or it could mint tokens of another.
type DuplicateKeyError struct{ Operators [2]string }

// Error names the operators.
func (e *DuplicateKeyError) Error() string {
	return fmt.Sprintf("auth: the same key is given twice: for operator %q and for operator %q", e.Operators[0], e.Operators[1])
}

// Keys opens the key files of operators, and returns their keys and the JWKS
// addresses to Follow.
func Keys(operators []config.Operator) ([]Key, []JWKS, error) {
	var keys []Key
	var sets []JWKS
	for _, operator := range operators {
		for _, k := range operator.Keys {
			if k.JWKS != "" {
				sets = append(sets, JWKS{Operator: operator.Name, URL: k.JWKS})
				continue
			}
			text, err := os.ReadFile(k.File)
			if err != nil {
				return nil, nil, fmt.Errorf("auth: key of operator %s: %w", operator.Name, err)
			}
			read, err := parseKeys(operator.Name, k.ID, text)
			if err != nil {
				return nil, nil, fmt.Errorf("auth: %s: %w", k.File, err)
			}
			keys = append(keys, read...)
		}
	}
	return keys, sets, nil
}

// parseKeys reads a PEM public key, a JWK or a JWKS. The id is that of a PEM
// key; the others carry their own.
func parseKeys(operator, id string, text []byte) ([]Key, error) {
	if block, rest := pem.Decode(text); block != nil {
		return parsePEM(operator, id, block, rest)
	}
	if id != "" {
		return nil, errors.New("auth: an id is for PEM keys; a JWK has its own kid")
	}
	var set jose.JSONWebKeySet
	var one struct {
		Kty string `json:"kty"`
	}
	if json.Unmarshal(text, &one) == nil && one.Kty != "" {
		set.Keys = make([]jose.JSONWebKey, 1)
		if err := json.Unmarshal(text, &set.Keys[0]); err != nil {
			return nil, fmt.Errorf("auth: not a JWK: %w", err)
		}
	} else if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("auth: neither a PEM public key, nor a JWK, nor a JWKS")
	}
	if len(set.Keys) == 0 || len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("auth: %d keys; 1 to %d are expected", len(set.Keys), maxKeys)
	}
	return fitKeys(operator, set.Keys)
}

// fitKeys drops the keys of a set that sign nothing we accept, since providers
// keep others beside; one must be left. A private key is refused: its owner
// has published it by mistake.
func fitKeys(operator string, set []jose.JSONWebKey) ([]Key, error) {
	var keys []Key
	for _, jwk := range set {
		if _, secret := jwk.Key.([]byte); secret || !jwk.IsPublic() {
			return nil, errors.New("auth: a secret key where a public one is expected")
		}
		k := Key{Operator: operator, ID: jwk.KeyID, Public: jwk.Key}
		algorithm := string(k.algorithm())
		if algorithm == "" || jwk.Use == "enc" || (jwk.Algorithm != "" && jwk.Algorithm != algorithm) {
			continue
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, ErrKey
	}
	return keys, nil
}

func parsePEM(operator, id string, block *pem.Block, rest []byte) ([]Key, error) {
	if block.Type != "PUBLIC KEY" || len(bytes.TrimSpace(rest)) != 0 {
		return nil, errors.New("auth: the PEM file must hold one PUBLIC KEY and nothing else")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("auth: public key: %w", err)
	}
	k := Key{Operator: operator, ID: id, Public: public}
	if k.algorithm() == "" {
		return nil, ErrKey
	}
	return []Key{k}, nil
}

// algorithm returns the one algorithm that a key signs with; empty for a key
// that is unfit. So no token can choose how its key is used.
func (k Key) algorithm() jose.SignatureAlgorithm {
	switch public := k.Public.(type) {
	case ed25519.PublicKey:
		if len(public) == ed25519.PublicKeySize {
			return jose.EdDSA
		}
	case *rsa.PublicKey:
		if public.N.BitLen() >= minRSABits {
			return jose.RS256
		}
	case *ecdsa.PublicKey:
		if public.Curve == elliptic.P256() {
			return jose.ES256
		}
	}
	return ""
}

// fits reports whether a token with this header may be signed by k.
func (k Key) fits(algorithm, id string) bool {
	if string(k.algorithm()) != algorithm {
		return false
	}
	return k.ID == "" || id == "" || k.ID == id
}

// thumbprint identifies the key itself, whatever it is called.
func (k Key) thumbprint() ([sha256.Size]byte, error) {
	var print [sha256.Size]byte
	if k.algorithm() == "" {
		return print, ErrKey
	}
	sum, err := (&jose.JSONWebKey{Key: k.Public}).Thumbprint(crypto.SHA256)
	if err != nil {
		return print, fmt.Errorf("auth: key: %w", err)
	}
	copy(print[:], sum)
	return print, nil
}

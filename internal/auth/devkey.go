package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

// DevOperator is the operator of a development key where none is named.
const DevOperator = "demo"

// DevKey signs tokens of our own, for trying out and for tests. Like every key
// it is bound to one operator.
type DevKey struct {
	operator string
	private  ed25519.PrivateKey
}

// NewDevKey makes a key for an operator; for DevOperator when it is empty.
func NewDevKey(operator string) (*DevKey, error) {
	if operator == "" {
		operator = DevOperator
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("auth: development key: %w", err)
	}
	return &DevKey{operator, private}, nil
}

// LoadOrCreateDevKey reads the key at path, or makes it there, readable by its
// owner alone. An operator that is not empty must be that of the key. The
// warning is not empty when others can read the file.
func LoadOrCreateDevKey(path, operator string) (k *DevKey, warning string, err error) {
	k, warning, err = loadDevKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createDevKey(path, operator); err != nil {
			return nil, "", err
		}
		k, warning, err = loadDevKey(path)
	}
	if err != nil {
		return nil, "", err
	}
	if operator != "" && operator != k.operator {
		return nil, "", fmt.Errorf("auth: the development key %s is bound to operator %q", path, k.operator)
	}
	return k, warning, nil
}

// devKeyFile is the form of the file.
type devKeyFile struct {
	Operator string          `json:"operator"`
	Key      jose.JSONWebKey `json:"key"`
}

func loadDevKey(path string) (*DevKey, string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("auth: development key: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("auth: development key: %w", err)
	}
	var file devKeyFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, "", fmt.Errorf("auth: %s is not a development key", path)
	}
	private, ok := file.Key.Key.(ed25519.PrivateKey)
	if !ok || file.Operator == "" {
		return nil, "", fmt.Errorf("auth: %s is not a development key", path)
	}
	var warning string
	if info.Mode().Perm()&0o077 != 0 {
		warning = fmt.Sprintf("others can read the development key %s: anyone who does can sign tokens; chmod 600 it", path)
	}
	return &DevKey{file.Operator, private}, warning, nil
}

// createDevKey writes a whole file and then gives it its name, unless another
// process was first: then the key of that one stays.
func createDevKey(path, operator string) error {
	k, err := NewDevKey(operator)
	if err != nil {
		return err
	}
	text, err := json.Marshal(devKeyFile{k.operator, jose.JSONWebKey{Key: k.private}})
	if err != nil {
		return fmt.Errorf("auth: development key: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".dev-key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("auth: development key %s cannot be made: %w", path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(append(text, '\n'))
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return fmt.Errorf("auth: development key: %w", err)
	}
	err = os.Link(temp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("auth: development key: %w", err)
	}
	return nil
}

// Operator returns the operator that the key is bound to.
func (k *DevKey) Operator() string { return k.operator }

// Key returns the public half, for NewVerifier.
func (k *DevKey) Key() Key {
	return Key{Operator: k.operator, Public: k.private.Public()}
}

// Mint returns a token that is good for ttl from now. An empty operator is
// that of the key; another one is refused, as is an identity that no verifier
// would accept.
func (k *DevKey) Mint(id Identity, ttl time.Duration, now time.Time) (string, error) {
	if id.Operator == "" {
		id.Operator = k.operator
	}
	if id.Operator != k.operator {
		return "", fmt.Errorf("auth: this key signs for operator %q alone", k.operator)
	}
	issued, expires := number(now), number(now.Add(ttl))
	c := claims{Subject: id.Subject, Operator: id.Operator, Role: id.Role, IssuedAt: &issued, Expires: &expires}
	if _, err := c.check(now); err != nil {
		return "", fmt.Errorf("auth: mint: %w", err)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("auth: mint: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: k.private}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("auth: mint: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("auth: mint: %w", err)
	}
	return signed.CompactSerialize()
}

func number(t time.Time) json.Number {
	return json.Number(fmt.Sprint(t.Unix()))
}

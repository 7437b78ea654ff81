package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/openoriginals/originals/internal/config"
)

func pemOf(t *testing.T, public crypto.PublicKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func jwkOf(t *testing.T, key any, id string) string {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKey{Key: key, KeyID: id})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKeysOfOperators(t *testing.T) {
	a, b, c := newEd25519(t), newEd25519(t), newEd25519(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keys, sets, err := Keys([]config.Operator{
		{Name: "one", Keys: []config.Key{
			{File: write("a.pem", pemOf(t, a.Public())), ID: "a"},
			{JWKS: "https://x.example/keys"},
		}},
		{Name: "two", Keys: []config.Key{
			{File: write("b.jwk", jwkOf(t, b.Public(), "b"))},
			{File: write("c.jwks", `{"keys":[`+jwkOf(t, c.Public(), "c")+`]}`)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 || sets[0] != (JWKS{"one", "https://x.example/keys"}) {
		t.Errorf("sets %v", sets)
	}
	want := []Key{{"one", "a", a.Public()}, {"two", "b", b.Public()}, {"two", "c", c.Public()}}
	if len(keys) != len(want) {
		t.Fatalf("%d keys", len(keys))
	}
	for i := range want {
		if keys[i].Operator != want[i].Operator || !sameKey(keys[i], want[i]) {
			t.Errorf("key %d: %+v", i, keys[i])
		}
	}
	if _, _, err := Keys([]config.Operator{{Name: "one", Keys: []config.Key{{File: filepath.Join(dir, "none")}}}}); err == nil {
		t.Error("a missing file was read")
	}
}

func TestUnfitKeys(t *testing.T) {
	ed := newEd25519(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(ed)
	if err != nil {
		t.Fatal(err)
	}
	public := pemOf(t, ed.Public())
	for name, text := range map[string]string{
		"empty":          "",
		"text":           "hello",
		"empty set":      `{"keys":[]}`,
		"P-384 PEM":      pemOf(t, p384.Public()),
		"P-384 JWK":      jwkOf(t, p384.Public(), ""),
		"RSA of 1024":    pemOf(t, short.Public()),
		"two PEM keys":   public + public,
		"private PEM":    string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
		"private JWK":    jwkOf(t, ed, ""),
		"symmetric JWK":  `{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`,
		"other alg":      strings.Replace(jwkOf(t, ed.Public(), ""), "{", `{"alg":"ES512",`, 1),
		"for encryption": strings.Replace(jwkOf(t, ed.Public(), ""), "{", `{"use":"enc",`, 1),
		"seventeen":      `{"keys":[` + strings.Repeat(jwkOf(t, ed.Public(), "")+",", 16) + jwkOf(t, ed.Public(), "") + `]}`,
		"private in set": `{"keys":[` + jwkOf(t, ed.Public(), "") + "," + jwkOf(t, ed, "") + `]}`,
	} {
		if keys, err := parseKeys("demo", "", []byte(text)); err == nil {
			t.Errorf("%s: accepted as %v", name, keys)
		}
	}
	if _, err := parseKeys("demo", "id", []byte(jwkOf(t, ed.Public(), "x"))); err == nil {
		t.Error("a JWK took an id from the configuration")
	}
	if _, err := NewVerifier(testClock, Key{Operator: "demo", Public: p384.Public()}); err == nil {
		t.Error("a verifier took a P-384 key")
	}
	mixed, err := parseKeys("demo", "", []byte(`{"keys":[`+jwkOf(t, p384.Public(), "")+","+jwkOf(t, ed.Public(), "k")+`]}`))
	if err != nil || len(mixed) != 1 || mixed[0].ID != "k" {
		t.Errorf("a set with one unfit key: %v, %v", mixed, err)
	}
}

func TestDevKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dev.key")
	first, warning, err := LoadOrCreateDevKey(path, "")
	if err != nil || warning != "" || first.Operator() != DevOperator {
		t.Fatalf("%v, %q, %v", first, warning, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, _, err := LoadOrCreateDevKey(path, "demo")
	if err != nil || !sameKey(first.Key(), again.Key()) {
		t.Errorf("another key at the second try: %v", err)
	}
	if _, _, err := LoadOrCreateDevKey(path, "other"); err == nil {
		t.Error("the key of demo was given out for another operator")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, warning, err := LoadOrCreateDevKey(path, ""); err != nil || !strings.Contains(warning, path) {
		t.Errorf("no warning of a readable key: %q, %v", warning, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".dev-key-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, text := range []string{"", "{}", `{"operator":"demo"}`, `{"operator":"demo","key":` + jwkOf(t, newEd25519(t).Public(), "") + "}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := LoadOrCreateDevKey(path, ""); err == nil {
			t.Errorf("%q was taken for a key", text)
		}
	}
}

func TestDevKeyOfTwoProcessesIsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dev.key")
	keys := make(chan *DevKey, 8)
	for range cap(keys) {
		go func() {
			k, _, err := LoadOrCreateDevKey(path, "")
			if err != nil {
				t.Error(err)
			}
			keys <- k
		}()
	}
	first := <-keys
	for range cap(keys) - 1 {
		if k := <-keys; k == nil || first == nil || !sameKey(first.Key(), k.Key()) {
			t.Error("two keys came of one file")
		}
	}
}

func TestMintIsBoundToOneOperator(t *testing.T) {
	dev, err := NewDevKey("acme")
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(t, dev.Key())
	token, err := dev.Mint(Identity{Subject: "s", Role: Support}, time.Minute, testNow)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := v.Verify(t.Context(), token); err != nil || id != (Identity{"s", "acme", Support}) {
		t.Errorf("%+v, %v", id, err)
	}
	for _, id := range []Identity{
		{Subject: "s", Operator: "demo", Role: Player}, {Subject: "", Role: Player}, {Subject: "a b", Role: Player}, {Subject: "s", Role: "admin"},
	} {
		if _, err := dev.Mint(id, time.Minute, testNow); err == nil {
			t.Errorf("minted %+v", id)
		}
	}
	if _, err := dev.Mint(Identity{Subject: "s", Role: Player}, 0, testNow); err == nil {
		t.Error("minted an expired token")
	}
}

package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/openoriginals/originals/internal/auth"
)

// keyPair makes a key file of an operator and a token of alice's that it signs.
func keyPair(t *testing.T, path, operator string) (token string) {
	t.Helper()
	return keyOf(t, path, operator)("alice", "player")
}

// keyOf makes a key file of an operator, and returns what signs its tokens.
func keyOf(t *testing.T, path, operator string) func(sub, role string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(sub, role string) string {
		t.Helper()
		signed, err := signer.Sign([]byte(`{"sub":"` + sub + `","operator":"` + operator + `","role":"` + role + `","exp":4102444800}`))
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

// TestTokensThatCannotBeRevoked takes a key and an operator out of the configuration of a process that serves.
func TestTokensThatCannotBeRevoked(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	first, second, rival := keyPair(t, file("first"), "casino"), keyPair(t, file("second"), "casino"), keyPair(t, file("rival"), "rival")
	house := func(operators string) {
		t.Helper()
		if err := os.WriteFile(file("house.yaml"), []byte("operators:\n"+operators), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two := "      - file: "+file("first")+"\n", "      - file: "+file("second")+"\n"
	casino, other := "  - name: casino\n    keys:\n", "  - name: rival\n    keys:\n      - file: "+file("rival")+"\n"
	house(casino + one + two + other)
	a := startAllInOne(t, func(s *settings) { s.config, s.devKey = file("house.yaml"), file("dev.key") }, nil)

	status := func(token string) int {
		req, err := http.NewRequest(http.MethodGet, a.url+"/v1/seed-pair", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := a.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	expect := func(when string, want ...int) {
		t.Helper()
		for i, token := range []string{first, second, rival, a.mint(auth.Identity{Subject: "bob", Role: auth.Player}, time.Hour)} {
			if got := status(token); got != want[i] {
				t.Errorf("%s: token %d answers %d, want %d", when, i, got, want[i])
			}
		}
	}
	reload := func(words string) {
		t.Helper()
		before := bytes.Count(a.logs.bytes(), []byte(words))
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); bytes.Count(a.logs.bytes(), []byte(words)) == before; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the log does not say %q", words)
			}
		}
	}
	const done, kept = "keys were read again", "were not read again"
	expect("at first", 200, 200, 200, 200)
	house(casino + two + other)
	reload(done)
	expect("a key is gone", 401, 200, 200, 200)
	house(casino + two)
	reload(done)
	expect("an operator is gone", 401, 200, 401, 200)
	house(casino + one + two + "  - nam: x\n")
	reload(kept)
	expect("a file that is wrong", 401, 200, 401, 200)
	house(casino + one)
	reload(done)
	expect("another key", 200, 401, 401, 200)
}

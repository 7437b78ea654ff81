package pki

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/auth"
)

func openTemp(t *testing.T) (*Authority, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "certificates")
	a, err := Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a, dir
}

func TestIssuedCertificateNamesRolesAndHosts(t *testing.T) {
	a, dir := openTemp(t)
	certFile, keyFile, err := a.Issue([]string{"gateway", "dice"}, []string{"vault.example", "10.0.0.7"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if certFile != filepath.Join(dir, "gateway+dice.pem") {
		t.Errorf("file %s", certFile)
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := auth.CertificateRoles(pair.Leaf); !slices.Equal(got, []string{"gateway", "dice"}) {
		t.Errorf("roles %q", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, AuthorityFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatal("no authority")
	}
	for _, host := range []string{"localhost", "127.0.0.1", "vault.example", "10.0.0.7"} {
		options := x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		if _, err := pair.Leaf.Verify(options); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "other.example"}); err == nil {
		t.Error("good for a host that was not asked for")
	}
}

func TestKeysAreTheirOwnersAlone(t *testing.T) {
	a, dir := openTemp(t)
	if err := os.WriteFile(filepath.Join(dir, "dice.key"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Issue([]string{"dice"}, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{AuthorityKeyFile, "dice.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".pem-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestAuthorityIsReused(t *testing.T) {
	a, dir := openTemp(t)
	again, err := Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if !again.certificate.Equal(a.certificate) {
		t.Error("a second authority was made")
	}
	certFile, keyFile, err := again.Issue([]string{"mines"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := pair.Leaf.CheckSignatureFrom(a.certificate); err != nil {
		t.Error(err)
	}
}

func TestHalfAnAuthorityIsRefused(t *testing.T) {
	_, dir := openTemp(t)
	_, other := openTemp(t)
	key := filepath.Join(dir, AuthorityKeyFile)
	foreign, err := os.ReadFile(filepath.Join(other, AuthorityKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, time.Now()); err == nil {
		t.Error("opened with the key of another authority")
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, time.Now()); err == nil {
		t.Error("opened without its key")
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("a new key was made beside an old certificate")
	}
}

func TestBadRolesAreRefused(t *testing.T) {
	a, dir := openTemp(t)
	for _, roles := range [][]string{nil, {""}, {"Dice"}, {"../dice"}, {"dice", "a/b"}, {"ca"}, {"dice\n"}} {
		if _, _, err := a.Issue(roles, nil, time.Now()); err == nil {
			t.Errorf("%q was issued", roles)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("files %v, %v: the authority's two are expected", files, err)
	}
}

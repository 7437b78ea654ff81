// Package pki holds a small certificate authority for trying mutual TLS out;
// it must never import anything but the standard library and internal/auth,
// which knows how a certificate names a role.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/openoriginals/originals/internal/auth"
)

// Names of the authority's files in its folder.
const (
	AuthorityFile    = "ca.pem"
	AuthorityKeyFile = "ca.key"
)

const (
	authorityLasts   = 10 * 365 * 24 * time.Hour
	certificateLasts = 365 * 24 * time.Hour
	backdated        = time.Hour // for clocks that are behind
)

// Authority signs certificates. Its key lies beside its certificate.
type Authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
}

// Open reads the authority in dir, or makes one there when there is none. The
// key file is readable by its owner alone.
func Open(dir string, now time.Time) (*Authority, error) {
	a, err := read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return create(dir, now)
	}
	return a, err
}

func read(dir string) (*Authority, error) {
	der, err := readPEM(filepath.Join(dir, AuthorityFile), "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("pki: %s: %w", AuthorityFile, err)
	}
	secret, err := readPEM(filepath.Join(dir, AuthorityKeyFile), "PRIVATE KEY")
	if errors.Is(err, fs.ErrNotExist) { // a new authority would disown its certificates
		return nil, fmt.Errorf("pki: %s has %s without %s", dir, AuthorityFile, AuthorityKeyFile)
	}
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(secret)
	if err != nil {
		return nil, fmt.Errorf("pki: %s: %w", AuthorityKeyFile, err)
	}
	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok || !signer.PublicKey.Equal(certificate.PublicKey) {
		return nil, fmt.Errorf("pki: %s in %s is not the key of %s", AuthorityKeyFile, dir, AuthorityFile)
	}
	return &Authority{dir, certificate, signer}, nil
}

func create(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("pki: %w", err)
	}
	template, err := newTemplate("Open Originals test authority", now, authorityLasts)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.MaxPathLenZero = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	a := &Authority{dir: dir, certificate: template}
	return a, a.write(template, AuthorityFile, AuthorityKeyFile, true)
}

var rolePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}\z`)

// Issue writes a certificate and its key that name all roles, and hosts beside
// localhost and 127.0.0.1, for both ends of a connection. The files are called
// after the roles, joined by "+": dice.pem and dice.key, gateway+dice.pem.
func (a *Authority) Issue(roles, hosts []string, now time.Time) (certFile, keyFile string, err error) {
	if len(roles) == 0 {
		return "", "", errors.New("pki: a certificate needs a role")
	}
	name := strings.Join(roles, "+")
	certFile, keyFile = name+".pem", name+".key"
	if certFile == AuthorityFile {
		return "", "", errors.New("pki: ca is the authority, not a role")
	}
	template, err := newTemplate("originals "+strings.Join(roles, " "), now, certificateLasts)
	if err != nil {
		return "", "", err
	}
	for _, role := range roles {
		if !rolePattern.MatchString(role) {
			return "", "", fmt.Errorf("pki: %q is not the name of a role", role)
		}
		uri, err := url.Parse(auth.RoleURI(role))
		if err != nil {
			return "", "", fmt.Errorf("pki: role %s: %w", role, err)
		}
		template.URIs = append(template.URIs, uri)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	addHosts(template, append([]string{"localhost", "127.0.0.1", "::1"}, hosts...))
	if err := a.write(template, certFile, keyFile, false); err != nil {
		return "", "", err
	}
	return filepath.Join(a.dir, certFile), filepath.Join(a.dir, keyFile), nil
}

func addHosts(template *x509.Certificate, hosts []string) {
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, host)
	}
}

func newTemplate(name string, now time.Time, lasts time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("pki: serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-backdated),
		NotAfter:     now.Add(lasts),
	}, nil
}

// write makes a key, signs the template, by itself when it is the authority's
// own, and writes both files, the key first.
func (a *Authority) write(template *x509.Certificate, certFile, keyFile string, own bool) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("pki: key: %w", err)
	}
	if own {
		a.key = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("pki: certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("pki: key: %w", err)
	}
	if own {
		if a.certificate, err = x509.ParseCertificate(der); err != nil {
			return fmt.Errorf("pki: certificate: %w", err)
		}
	}
	if err := writePEM(filepath.Join(a.dir, keyFile), "PRIVATE KEY", secret, 0o600); err != nil {
		return err
	}
	return writePEM(filepath.Join(a.dir, certFile), "CERTIFICATE", der, 0o644)
}

// writePEM replaces a file by a whole new one, so that its mode is never that
// of an older file.
func writePEM(path, kind string, der []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".pem-*") // mode 0600
	if err != nil {
		return fmt.Errorf("pki: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	err = errors.Join(pem.Encode(temp, &pem.Block{Type: kind, Bytes: der}), temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return fmt.Errorf("pki: %w", err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("pki: %w", err)
	}
	return nil
}

func readPEM(path, kind string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("pki: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("pki: %s holds no %s", path, kind)
	}
	return block.Bytes, nil
}

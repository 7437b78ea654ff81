package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"

	"google.golang.org/grpc/credentials"

	"github.com/openoriginals/originals/internal/auth"
)

// PeerTLS is what a process shows to the other roles, and checks them by: its
// certificate, which names its roles, and the authority that signs them all.
type PeerTLS struct {
	certificate tls.Certificate
	authority   *x509.CertPool
}

// LoadPeerTLS reads the PEM files of a certificate, its key, and the
// authority.
func LoadPeerTLS(certFile, keyFile, authorityFile string) (*PeerTLS, error) {
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("server: certificate: %w", err)
	}
	text, err := os.ReadFile(authorityFile)
	if err != nil {
		return nil, fmt.Errorf("server: certificate authority: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("server: certificate authority: no certificate in %s", authorityFile)
	}
	return &PeerTLS{certificate, authority}, nil
}

// Roles returns the roles that the certificate names.
func (p *PeerTLS) Roles() []string { return auth.CertificateRoles(p.certificate.Leaf) }

// Server returns the credentials of an internal listener: TLS 1.3, and no
// caller without a certificate of the authority.
func (p *PeerTLS) Server() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{p.certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    p.authority,
	})
}

// Client returns the credentials for dialling a role: the server must show a
// certificate of the authority for the dialled host that names the role.
func (p *PeerTLS) Client(role string) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{p.certificate},
		RootCAs:      p.authority,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.VerifiedChains) == 0 {
				return errors.New("server: the peer has no verified certificate")
			}
			if !slices.Contains(auth.CertificateRoles(state.VerifiedChains[0][0]), role) {
				return fmt.Errorf("server: the peer's certificate does not name the role %s", role)
			}
			return nil
		},
	})
}

// ClientOfAny returns the credentials for dialling a process of a role at
// whatever address it gave itself: the server must show a certificate of the
// authority that names the role. The host is not compared, since a process may
// be reached at an address that its certificate could not know.
func (p *PeerTLS) ClientOfAny(role string) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{p.certificate},
		InsecureSkipVerify: true, // instead of it:
		VerifyConnection: func(state tls.ConnectionState) error {
			return p.verifyRole(state.PeerCertificates, role)
		},
	})
}

func (p *PeerTLS) verifyRole(shown []*x509.Certificate, role string) error {
	if len(shown) == 0 {
		return errors.New("server: the peer has no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	if _, err := shown[0].Verify(x509.VerifyOptions{Roots: p.authority, Intermediates: between}); err != nil {
		return fmt.Errorf("server: the peer's certificate: %w", err)
	}
	if !slices.Contains(auth.CertificateRoles(shown[0]), role) {
		return fmt.Errorf("server: the peer's certificate does not name the role %s", role)
	}
	return nil
}

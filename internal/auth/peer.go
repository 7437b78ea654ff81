package auth

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/openoriginals/originals/internal/reason"
)

// rolePrefix begins the URI of a certificate that names a role.
const rolePrefix = "originals://role/"

// RoleURI returns the URI that a certificate carries for a role.
func RoleURI(role string) string { return rolePrefix + role }

// CertificateRoles returns the roles that a certificate names in its URIs.
func CertificateRoles(c *x509.Certificate) []string {
	var roles []string
	for _, u := range c.URIs {
		if role, ok := strings.CutPrefix(u.String(), rolePrefix); ok && role != "" {
			roles = append(roles, role)
		}
	}
	return roles
}

type peerKey struct{}

// WithPeer marks the caller as having roles. It is for callers in the same
// process, which need no certificate; a context that came over the network
// carries no such mark.
func WithPeer(ctx context.Context, roles ...string) context.Context {
	return context.WithValue(ctx, peerKey{}, roles)
}

// PeerRoles returns the roles of the calling process: of the mark of an
// in-process caller, or else of its verified client certificate. It is empty
// for anybody else.
func PeerRoles(ctx context.Context) []string {
	if roles, ok := ctx.Value(peerKey{}).([]string); ok {
		return roles
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return nil
	}
	return CertificateRoles(info.State.VerifiedChains[0][0])
}

// RequirePeer refuses, with ROLE_REQUIRED, a caller whose process has not the
// role.
func RequirePeer(ctx context.Context, role string) error {
	if slices.Contains(PeerRoles(ctx), role) {
		return nil
	}
	return reason.New(reason.RoleRequired, "only the "+role+" service may make this call")
}

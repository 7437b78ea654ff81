package auth

import (
	"context"

	"github.com/openoriginals/originals/internal/ledger"
)

// Role is what the holder of a token may do.
type Role string

// The roles of the public contract.
const (
	Player  Role = "player"
	Wallet  Role = "wallet"
	Support Role = "support"
)

// Identity is what a verified token says.
type Identity struct {
	Subject  string // player, wallet or staff name: 1..128 visible ASCII characters
	Operator string // [a-z0-9-]{1,32}, the operator that the signing key is bound to
	Role     Role
}

// Player returns the player that the token names. It is meaningful for the
// role Player alone.
func (id Identity) Player() ledger.Player {
	return ledger.Player{Operator: id.Operator, ID: id.Subject}
}

type identityKey struct{}

// NewContext returns a context that carries the identity of a verified token.
func NewContext(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// FromContext returns the identity that the interceptor has verified; false
// where the method is public.
func FromContext(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/openoriginals/originals/internal/rng"
)

// CrashSaltKind says how the salt of a chain is fixed. It is announced with the
// chain, and never changes.
type CrashSaltKind string

// The kinds of salts.
const (
	CrashSaltSelfChosen CrashSaltKind = "SELF_CHOSEN"   // 32 random bytes of the operator
	CrashSaltBitcoin    CrashSaltKind = "BITCOIN_BLOCK" // the hash of the block of the named height
	CrashSaltDrand      CrashSaltKind = "DRAND"         // the randomness of the named round of a beacon
	CrashSaltBeacon     CrashSaltKind = "BEACON"        // each round has one: that of a round of the beacon, named when it is opened
)

// CrashSaltPlan is what is announced of a chain's salt.
type CrashSaltPlan struct {
	Kind    CrashSaltKind
	Named   uint64 // height of the block, or round of the beacon; 0 for none
	Network string // hash of the beacon's network, of DRAND and BEACON
}

// Valid reports whether the plan names all that its kind needs, and nothing
// else.
func (p CrashSaltPlan) Valid() bool {
	switch p.Kind {
	case CrashSaltSelfChosen:
		return p.Named == 0 && p.Network == ""
	case CrashSaltBitcoin:
		return p.Named > 0 && p.Network == ""
	case CrashSaltDrand:
		return p.Named > 0 && len(p.Network) == 64
	case CrashSaltBeacon:
		return p.Named == 0 && len(p.Network) == 64
	}
	return false
}

// CrashChain is the chain of a table as the store keeps it, without its secret
// links.
type CrashChain struct {
	Terminal   rng.Terminal
	Length     uint32
	After      string // the table whose successor this one is; empty for none
	Plan       CrashSaltPlan
	Salt       rng.Salt // empty until it is fixed, and of BEACON
	Signature  []byte   // of DRAND, once the salt is fixed
	CreateTime time.Time
}

// SaltPending reports whether no round can be drawn yet.
func (c CrashChain) SaltPending() bool { return c.Salt == "" && c.Plan.Kind != CrashSaltBeacon }

// ErrCrashSalt: the chain has another salt, or rounds with a beacon each.
var ErrCrashSalt = errors.New("ledger: the chain has another salt")

// CrashChains keeps the chains of tables. A table has one for ever.
type CrashChains interface {
	// CrashChain returns the chain of a table. ErrNotFound.
	CrashChain(ctx context.Context, table string) (CrashChain, error)
	// CrashLinks returns the sealed checkpoints of the chain. ErrNotFound.
	CrashLinks(ctx context.Context, table string) ([]byte, error)
	// CreateCrashChain gives a table its chain with its sealed checkpoints, if it has none, and returns the one that
	// it has.
	CreateCrashChain(ctx context.Context, table string, c CrashChain, sealed []byte) (CrashChain, error)
	// FixCrashSalt fixes the salt of a chain, once: the same again changes nothing. Errors: ErrCrashSalt, ErrNotFound.
	FixCrashSalt(ctx context.Context, table string, salt rng.Salt, signature []byte) (CrashChain, error)
}

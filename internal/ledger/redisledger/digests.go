package redisledger

import (
	"context"

	"github.com/openoriginals/originals/internal/ledger"
)

// Digest implements ledger.Feed.
func (s *Store) Digest(ctx context.Context, span ledger.DigestSpan) (ledger.Digest, error) {
	return ledger.Digest{}, ledger.ErrNotFound
}

package redisledger

import (
	"context"
	"fmt"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// CrashChain implements ledger.CrashChains.
func (s *Store) CrashChain(ctx context.Context, table string) (ledger.CrashChain, error) {
	return s.chain(ctx, table)
}

// CreateCrashChain implements ledger.CrashChains.
func (s *Store) CreateCrashChain(ctx context.Context, table string, c ledger.CrashChain) (ledger.CrashChain, error) {
	if c.Length == 0 || len(c.SealedEnd) != SealedSize || c.SaltKind == "" {
		return ledger.CrashChain{}, fmt.Errorf("redisledger: a chain of %d links, sealed in %d bytes", c.Length, len(c.SealedEnd))
	}
	if _, err := rng.ParseSalt(string(c.Salt)); err != nil {
		return ledger.CrashChain{}, err
	}
	return s.chain(ctx, table, c.Terminal.String(), nonceText(c.Length), c.SealedEnd, c.SaltKind, string(c.Salt))
}

func (s *Store) chain(ctx context.Context, table string, args ...any) (c ledger.CrashChain, err error) {
	r, err := s.run(ctx, crashChainScript, []string{homeKey(table, "chain")}, args...)
	if err != nil {
		return c, err
	}
	switch r.word() {
	case "OK":
	case "NONE":
		return c, ledger.ErrNotFound
	default:
		return c, r.unexpected(crashChainScript)
	}
	c.SealedEnd, c.SaltKind = []byte(r.text(3)), r.text(4)
	if c.Terminal, err = rng.ParseTerminal(r.text(1)); err != nil {
		return c, fmt.Errorf("%w: %w", errCrash, err)
	}
	if c.Length, err = parseNonce(r.text(2)); err != nil {
		return c, fmt.Errorf("%w: length of the chain: %w", errCrash, err)
	}
	if c.Salt, err = rng.ParseSalt(r.text(5)); err != nil {
		return c, fmt.Errorf("%w: %w", errCrash, err)
	}
	return c, nil
}

var _ ledger.CrashChains = (*Store)(nil)

package redisledger

import (
	"context"
	"fmt"
	"strconv"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// CrashChain implements ledger.CrashChains.
func (s *Store) CrashChain(ctx context.Context, table string) (ledger.CrashChain, error) {
	return s.chain(ctx, table, "read")
}

// CrashLinks implements ledger.CrashChains.
func (s *Store) CrashLinks(ctx context.Context, table string) ([]byte, error) {
	r, err := s.runChain(ctx, table, "links")
	if err != nil {
		return nil, err
	}
	return []byte(r.text(1)), nil
}

// CreateCrashChain implements ledger.CrashChains.
func (s *Store) CreateCrashChain(ctx context.Context, table string, c ledger.CrashChain, sealed []byte) (ledger.CrashChain, error) {
	if c.Length == 0 || len(sealed) == 0 || !c.Plan.Valid() {
		return ledger.CrashChain{}, fmt.Errorf("redisledger: a chain of %d links, sealed in %d bytes, with a salt of %+v", c.Length, len(sealed), c.Plan)
	}
	if c.Salt != "" {
		if _, err := rng.ParseSalt(string(c.Salt)); err != nil || c.Plan.Kind != ledger.CrashSaltSelfChosen {
			return ledger.CrashChain{}, fmt.Errorf("redisledger: a chain is made with a salt of the kind %s", c.Plan.Kind)
		}
	}
	return s.chain(ctx, table, "create", sealed, c.Terminal.String(), nonceText(c.Length), c.After,
		string(c.Plan.Kind), c.Plan.Named, c.Plan.Network, string(c.Salt))
}

// FixCrashSalt implements ledger.CrashChains.
func (s *Store) FixCrashSalt(ctx context.Context, table string, salt rng.Salt, signature []byte) (ledger.CrashChain, error) {
	if _, err := rng.ParseSalt(string(salt)); err != nil {
		return ledger.CrashChain{}, err
	}
	return s.chain(ctx, table, "salt", string(salt), signature)
}

func (s *Store) runChain(ctx context.Context, table string, args ...any) (reply, error) {
	r, err := s.run(ctx, crashChainScript, []string{homeKey(table, "chain"), homeKey(table, "links")}, args...)
	if err != nil {
		return nil, err
	}
	switch r.word() {
	case "OK":
		return r, nil
	case "NONE":
		return nil, ledger.ErrNotFound
	case "SALT":
		return nil, ledger.ErrCrashSalt
	}
	return nil, r.unexpected(crashChainScript)
}

func (s *Store) chain(ctx context.Context, table string, args ...any) (ledger.CrashChain, error) {
	r, err := s.runChain(ctx, table, args...)
	if err != nil {
		return ledger.CrashChain{}, err
	}
	c, err := parseChain(r)
	if err != nil {
		return ledger.CrashChain{}, fmt.Errorf("%w: chain of %s: %w", errCrash, table, err)
	}
	return c, nil
}

func parseChain(r reply) (c ledger.CrashChain, err error) {
	c.After, c.Plan.Kind, c.Plan.Network = r.text(3), ledger.CrashSaltKind(r.text(4)), r.text(6)
	if c.Terminal, err = rng.ParseTerminal(r.text(1)); err != nil {
		return c, err
	}
	if c.Length, err = parseNonce(r.text(2)); err != nil {
		return c, fmt.Errorf("length: %w", err)
	}
	if c.Plan.Named, err = strconv.ParseUint(r.text(5), 10, 64); err != nil {
		return c, fmt.Errorf("named: %w", err)
	}
	if c.CreateTime, err = parseTime(r.text(9)); err != nil {
		return c, fmt.Errorf("made: %w", err)
	}
	if !c.Plan.Valid() {
		return c, fmt.Errorf("salt of %+v", c.Plan)
	}
	c.Signature = bytesOf(r.text(8))
	if salt := r.text(7); salt != "" {
		c.Salt, err = rng.ParseSalt(salt)
	}
	return c, err
}

var _ ledger.CrashChains = (*Store)(nil)

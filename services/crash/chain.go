package crash

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// checkpointEvery is the distance of the links that a chain keeps in memory.
const checkpointEvery = 512

// OwnChain is a chain whose salt the house has chosen itself. Its links are in
// this process's memory.
type OwnChain struct {
	terminal    rng.Terminal
	length      uint32
	checkpoints []rng.Link
	salt        *originalsv1.CrashSalt
}

// selfChosen is the kind of salt in the store.
var selfChosen = originalsv1.CrashSalt_SELF_CHOSEN.String()

// NewOwnChain makes a chain that ends with the process, for trying out. 100,000
// links take some 20 ms.
func NewOwnChain(length uint32) (*OwnChain, error) {
	end, err := rng.NewLink()
	if err != nil {
		return nil, err
	}
	salt, err := newSalt()
	if err != nil {
		return nil, err
	}
	return walk(end, length, salt)
}

// OpenChain returns the chain of a table, which is made, with so many links,
// when the table has none. It walks the whole chain once: a million links take
// a fifth of a second. Errors: seal.ErrOpen; an end that does not lead to the
// terminal.
func OpenChain(ctx context.Context, store ledger.CrashChains, keys *seal.Keys, table rng.Table, length uint32) (*OwnChain, error) {
	kept, err := store.CrashChain(ctx, string(table))
	if errors.Is(err, ledger.ErrNotFound) {
		kept, err = createChain(ctx, store, keys, table, length)
	}
	if err != nil {
		return nil, fmt.Errorf("crash: chain of table %s: %w", table, err)
	}
	end, err := keys.OpenLink(table, kept.Terminal, kept.SealedEnd)
	if err != nil {
		return nil, fmt.Errorf("crash: chain of table %s: %w", table, err)
	}
	c, err := walk(end, kept.Length, kept.Salt)
	if err == nil && c.terminal != kept.Terminal {
		err = fmt.Errorf("crash: chain of table %s: its end does not lead to its terminal", table)
	}
	return c, err
}

func createChain(ctx context.Context, store ledger.CrashChains, keys *seal.Keys, table rng.Table, length uint32) (kept ledger.CrashChain, err error) {
	end, err := rng.NewLink()
	if err != nil {
		return kept, err
	}
	if kept.Terminal, err = end.Terminal(length); err != nil {
		return kept, err
	}
	kept.Length, kept.SaltKind = length, selfChosen
	if kept.SealedEnd, err = keys.SealLink(table, kept.Terminal, end); err != nil {
		return kept, err
	}
	if kept.Salt, err = newSalt(); err != nil {
		return kept, err
	}
	return store.CreateCrashChain(ctx, string(table), kept)
}

func newSalt() (rng.Salt, error) {
	var salt [32]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return "", fmt.Errorf("crash: draw a salt: %w", err)
	}
	return rng.Salt(hex.EncodeToString(salt[:])), nil
}

func walk(end rng.Link, length uint32, salt rng.Salt) (c *OwnChain, err error) {
	c = &OwnChain{length: length, salt: &originalsv1.CrashSalt{Kind: originalsv1.CrashSalt_SELF_CHOSEN, Value: string(salt)}}
	c.terminal, c.checkpoints, err = end.Checkpoints(length, checkpointEvery, nil)
	return c, err
}

// Terminal returns h[0].
func (c *OwnChain) Terminal() rng.Terminal { return c.terminal }

// Length returns how many rounds the chain has.
func (c *OwnChain) Length() uint32 { return c.length }

// Salt returns the salt, which the house has chosen.
func (c *OwnChain) Salt() *originalsv1.CrashSalt { return c.salt }

// Link returns h[number]. Errors: rng.ErrRoundNumber.
func (c *OwnChain) Link(_ context.Context, number uint32) (rng.Link, error) {
	if number < 1 || number > c.length {
		return rng.Link{}, rng.ErrRoundNumber
	}
	i := (number - 1) / checkpointEvery
	return c.checkpoints[i].Back(min((i+1)*checkpointEvery, c.length) - number)
}

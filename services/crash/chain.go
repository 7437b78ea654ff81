package crash

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Chain is what a table draws its rounds from. Its links are secret until the
// rounds up to theirs are final. It is safe for concurrent use.
type Chain struct {
	table  rng.Table
	links  *links
	source beacon.Source                     // of the salts; nil without a beacon
	store  ledger.CrashChains                // nil when it ends with the process
	kept   atomic.Pointer[ledger.CrashChain] // as the store has it
}

// NewOwnChain makes a chain that ends with the process and whose salt the house
// has chosen itself, for trying out. 100,000 links take some 20 ms.
func NewOwnChain(table rng.Table, length uint32) (*Chain, error) {
	kept, links, err := walkNew(NewChain{Length: length, Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltSelfChosen}, DrawSalt: true})
	if err != nil {
		return nil, err
	}
	c := &Chain{table: table, links: links}
	c.kept.Store(&kept)
	return c, nil
}

// Terminal returns h[0].
func (c *Chain) Terminal() rng.Terminal { return c.links.terminal }

// Length returns how many rounds the chain has.
func (c *Chain) Length() uint32 { return c.links.length }

// Link returns h[number]. Errors: rng.ErrRoundNumber, ErrChainDamaged.
func (c *Chain) Link(number uint32) (rng.Link, error) {
	link, err := c.links.link(number)
	if err != nil {
		return link, fmt.Errorf("chain of table %s: %w", c.table, err)
	}
	return link, nil
}

// Verify walks the whole chain from its end to its terminal. walked, which may
// be nil, is told now and then how many links are done. Errors: ErrChainDamaged.
func (c *Chain) Verify(walked func(links uint32)) error {
	if err := c.links.verify(walked); err != nil {
		return fmt.Errorf("chain of table %s: %w", c.table, err)
	}
	return nil
}

// Kept returns what is public of the chain, as this process has seen it last.
func (c *Chain) Kept() ledger.CrashChain { return *c.kept.Load() }

// Beacon returns the beacon that salts each round; nil without one.
func (c *Chain) Beacon() beacon.Source {
	if c.Kept().Plan.Kind != ledger.CrashSaltBeacon {
		return nil
	}
	return c.source
}

// refresh looks whether the salt has been fixed meanwhile.
func (c *Chain) refresh(ctx context.Context) error {
	if !c.Kept().SaltPending() || c.store == nil {
		return nil
	}
	kept, err := c.store.CrashChain(ctx, string(c.table))
	if err != nil {
		return err
	}
	if kept.Terminal != c.links.terminal {
		return fmt.Errorf("crash: table %s has another chain than this process found", c.table)
	}
	c.kept.Store(&kept)
	return nil
}

// Salt shows the salt of all rounds, whose value is empty until it is fixed; nil
// when each round has a beacon.
func (c *Chain) Salt() *originalsv1.CrashSalt { return saltMessage(c.Kept()) }

var saltKinds = map[ledger.CrashSaltKind]originalsv1.CrashSalt_Kind{
	ledger.CrashSaltSelfChosen: originalsv1.CrashSalt_SELF_CHOSEN,
	ledger.CrashSaltBitcoin:    originalsv1.CrashSalt_BITCOIN_BLOCK,
	ledger.CrashSaltDrand:      originalsv1.CrashSalt_DRAND,
}

func saltMessage(k ledger.CrashChain) *originalsv1.CrashSalt {
	kind, ok := saltKinds[k.Plan.Kind]
	if !ok {
		return nil
	}
	return &originalsv1.CrashSalt{
		Kind: kind, Value: string(k.Salt), Named: int64(k.Plan.Named), Signature: hexOf(k.Signature), Network: k.Plan.Network,
	}
}

// Chains makes chains and opens those of the store.
type Chains struct {
	Store   ledger.CrashChains
	Keys    *seal.Keys
	Sources map[string]beacon.Source // by the hash of their network

	lead time.Duration // from the making of a chain to the round that is its salt
}

// NewChains returns what makes chains and opens those of a store.
func NewChains(store ledger.CrashChains, keys *seal.Keys, sources map[string]beacon.Source) *Chains {
	return &Chains{Store: store, Keys: keys, Sources: sources, lead: saltLead}
}

// NewChain says what a chain is to be.
type NewChain struct {
	Length   uint32
	After    rng.Table // the table whose successor the chain's is; empty for none
	Plan     ledger.CrashSaltPlan
	DrawSalt bool               // fixes a self-chosen salt at once
	Walked   func(links uint32) // told how far the making is; may be nil
}

// Open returns the chain of a table. Errors: ledger.ErrNotFound, seal.ErrLinks,
// ErrChainDamaged, and a beacon that this process has no source of.
func (c *Chains) Open(ctx context.Context, table rng.Table) (*Chain, error) {
	kept, err := c.Store.CrashChain(ctx, string(table))
	if err != nil {
		return nil, fmt.Errorf("crash: chain of table %s: %w", table, err)
	}
	sealed, err := c.Store.CrashLinks(ctx, string(table))
	if err != nil {
		return nil, fmt.Errorf("crash: chain of table %s: %w", table, err)
	}
	checkpoints, err := c.Keys.OpenLinks(table, kept.Terminal, sealed)
	if err != nil {
		return nil, fmt.Errorf("crash: chain of table %s: %w", table, err)
	}
	links, err := newLinks(kept.Terminal, kept.Length, checkpoints)
	if err != nil {
		return nil, fmt.Errorf("chain of table %s: %w", table, err)
	}
	chain := &Chain{table: table, links: links, store: c.Store, source: c.Sources[kept.Plan.Network]}
	if kept.Plan.Network != "" && chain.source == nil {
		return nil, fmt.Errorf("crash: chain of table %s: no source of the beacon %s", table, kept.Plan.Network)
	}
	chain.kept.Store(&kept)
	return chain, nil
}

// Create gives a table its chain, and reports whether it made it: a table that
// had one keeps it. Whoever else makes one at the same time, one of them stands.
// Ten million links take some seconds.
func (c *Chains) Create(ctx context.Context, table rng.Table, n NewChain) (*Chain, bool, error) {
	kept, links, err := walkNew(n)
	if err != nil {
		return nil, false, err
	}
	sealed, err := c.Keys.SealLinks(table, kept.Terminal, links.checkpoints)
	if err != nil {
		return nil, false, err
	}
	stands, err := c.Store.CreateCrashChain(ctx, string(table), kept, sealed)
	if err != nil {
		return nil, false, fmt.Errorf("crash: chain of table %s: %w", table, err)
	}
	chain, err := c.Open(ctx, table)
	return chain, err == nil && stands.Terminal == kept.Terminal, err
}

// OpenOrCreate returns the chain of a table, which is made when it has none.
func (c *Chains) OpenOrCreate(ctx context.Context, table rng.Table, n NewChain) (*Chain, error) {
	chain, err := c.Open(ctx, table)
	if errors.Is(err, ledger.ErrNotFound) {
		chain, _, err = c.Create(ctx, table, n)
	}
	return chain, err
}

// walkNew draws the end of a chain and walks it to its terminal.
func walkNew(n NewChain) (kept ledger.CrashChain, l *links, err error) {
	kept = ledger.CrashChain{Length: n.Length, After: string(n.After), Plan: n.Plan}
	end, err := rng.NewLink()
	if err != nil {
		return kept, nil, err
	}
	var checkpoints []rng.Link
	if kept.Terminal, checkpoints, err = end.Checkpoints(n.Length, checkpointEvery, n.Walked); err != nil {
		return kept, nil, err
	}
	if n.DrawSalt {
		if kept.Salt, err = rng.NewSalt(); err != nil {
			return kept, nil, err
		}
	}
	l, err = newLinks(kept.Terminal, n.Length, checkpoints)
	return kept, l, err
}

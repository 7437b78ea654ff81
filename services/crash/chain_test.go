package crash

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
)

// selfChosen is a chain whose salt is drawn with it.
func selfChosen(length uint32) NewChain {
	return NewChain{Length: length, Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltSelfChosen}, DrawSalt: true}
}

// openChain opens the chain of the table main, which is made when there is none.
func openChain(ctx context.Context, store ledger.CrashChains, keys *seal.Keys, length uint32) (*Chain, error) {
	return (&Chains{Store: store, Keys: keys}).OpenOrCreate(ctx, "main", selfChosen(length))
}

func newKeys(t testing.TB) *seal.Keys {
	t.Helper()
	keys, err := seal.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestGapInTheCrashHashChain(t *testing.T) {
	c, err := NewOwnChain("main", 4*checkpointEvery+100)
	if err != nil {
		t.Fatal(err)
	}
	// To and fro, over more segments than are kept.
	for _, number := range []uint32{1, 2, 4095, 4096, 4097, 8192, 8193, 16384, 16385, 16483, 16484, 1, 9000, 13000, 4097, 16484} {
		link, err := c.Link(number)
		if err != nil {
			t.Fatal(err)
		}
		if terminal, err := link.Terminal(number); err != nil || terminal != c.Terminal() {
			t.Errorf("link %d leads to %s, %v", number, terminal, err)
		}
	}
	for _, number := range []uint32{0, 16485} {
		if _, err := c.Link(number); !errors.Is(err, rng.ErrRoundNumber) {
			t.Errorf("link %d of 16484: %v", number, err)
		}
	}
	if len(c.links.recent) > keptSegments {
		t.Errorf("%d segments are kept", len(c.links.recent))
	}
	var walked uint32
	if err := c.Verify(func(n uint32) { walked = n }); err != nil || walked != c.Length() {
		t.Errorf("verified %d links, %v", walked, err)
	}
}

func TestATableHasOneChainForEver(t *testing.T) {
	h := onRedis(t)
	ctx := context.Background()
	chains := &Chains{Store: h.store, Keys: newKeys(t)}
	first, err := chains.OpenOrCreate(ctx, "main", selfChosen(2000))
	if err != nil {
		t.Fatal(err)
	}
	again, err := chains.OpenOrCreate(ctx, "main", selfChosen(5000))
	if err != nil || again.Terminal() != first.Terminal() || again.Length() != 2000 || again.Salt().GetValue() != first.Salt().GetValue() {
		t.Errorf("opened again as another chain: %v", err)
	}
	if kept, made, err := chains.Create(ctx, "main", selfChosen(5000)); err != nil || made || kept.Terminal() != first.Terminal() {
		t.Errorf("made again: %v, %v", made, err)
	}
	other, err := chains.OpenOrCreate(ctx, "other", selfChosen(2000))
	if err != nil || other.Terminal() == first.Terminal() {
		t.Errorf("two tables share a chain: %v", err)
	}
	strangers := &Chains{Store: h.store, Keys: newKeys(t)}
	if _, err := strangers.OpenOrCreate(ctx, "main", selfChosen(2000)); !errors.Is(err, seal.ErrLinks) || !strings.Contains(err.Error(), "main") {
		t.Errorf("opened with another key: %v", err)
	}
}

// TestTenMillionLinksTakeEightyKiB holds the size of the longest chain that is
// promised, and what of it is looked at to find a link.
func TestTenMillionLinksTakeEightyKiB(t *testing.T) {
	const checkpoints = (10_000_000-1)/checkpointEvery + 1
	if size := seal.LinksSize(checkpoints); size > 80<<10 {
		t.Errorf("%d bytes sealed", size)
	}
	if checkpointEvery > 4096 {
		t.Errorf("%d hashes to a link", checkpointEvery)
	}
}

// TestDamagedCheckpointIsNamed seals checkpoints that are not all of the chain.
func TestDamagedCheckpointIsNamed(t *testing.T) {
	h := onRedis(t)
	ctx := context.Background()
	keys := newKeys(t)
	chains := &Chains{Store: h.store, Keys: keys}
	good, err := chains.OpenOrCreate(ctx, "main", selfChosen(3*checkpointEvery))
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := rng.NewLink()
	if err != nil {
		t.Fatal(err)
	}
	damage := func(change func(links []rng.Link) []rng.Link) {
		t.Helper()
		links := change(append([]rng.Link(nil), good.links.checkpoints...))
		sealed, err := keys.SealLinks("main", good.Terminal(), links)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.dial(nil).(*redis.Client).Set(ctx, "{c:main}:links", sealed, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	damage(func(links []rng.Link) []rng.Link { links[1] = stranger; return links })
	c, err := chains.Open(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Link(5000); !errors.Is(err, ErrChainDamaged) || !strings.Contains(err.Error(), "table main") || !strings.Contains(err.Error(), "h[8192] does not lead to h[4096]") {
		t.Errorf("a link behind a damaged checkpoint: %v", err)
	}
	if _, err := c.Link(9000); !errors.Is(err, ErrChainDamaged) {
		t.Errorf("a link above a damaged checkpoint: %v", err)
	}
	if link, err := c.Link(4096); err != nil {
		t.Errorf("a link below: %v", err)
	} else if terminal, _ := link.Terminal(4096); terminal != good.Terminal() {
		t.Error("a link below leads elsewhere")
	}
	if err := c.Verify(nil); !errors.Is(err, ErrChainDamaged) {
		t.Errorf("verified: %v", err)
	}
	damage(func(links []rng.Link) []rng.Link { links[0] = stranger; return links })
	if c, err = chains.Open(ctx, "main"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Link(1); !errors.Is(err, ErrChainDamaged) || !strings.Contains(err.Error(), "does not lead to the terminal") {
		t.Errorf("the first links of a damaged chain: %v", err)
	}
	damage(func(links []rng.Link) []rng.Link { return links[:2] })
	if _, err := chains.Open(ctx, "main"); !errors.Is(err, ErrChainDamaged) {
		t.Errorf("a checkpoint too few: %v", err)
	}
	if err := h.dial(nil).(*redis.Client).Del(ctx, "{c:main}:links").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := chains.Open(ctx, "main"); !errors.Is(err, seal.ErrLinks) {
		t.Errorf("missing record read as an empty chain: %v", err)
	}
}

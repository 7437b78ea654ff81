package crash

import (
	"context"
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/seal"
)

func TestGapInTheCrashHashChain(t *testing.T) {
	c, err := NewOwnChain(1500) // not a multiple of the distance of checkpoints
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []uint32{1, 2, 511, 512, 513, 1024, 1025, 1499, 1500} {
		link, err := c.Link(context.Background(), number)
		if err != nil {
			t.Fatal(err)
		}
		if terminal, err := link.Terminal(number); err != nil || terminal != c.Terminal() {
			t.Errorf("link %d leads to %s, %v", number, terminal, err)
		}
	}
	for _, number := range []uint32{0, 1501} {
		if _, err := c.Link(context.Background(), number); err == nil {
			t.Errorf("link %d of 1500 exists", number)
		}
	}
}

func TestATableHasOneChainForEver(t *testing.T) {
	h := onRedis(t)
	keys, err := seal.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	first, err := OpenChain(ctx, h.store, keys, "main", 2000)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenChain(ctx, h.store, keys, "main", 5000)
	if err != nil || again.Terminal() != first.Terminal() || again.Length() != 2000 || again.Salt().GetValue() != first.Salt().GetValue() {
		t.Errorf("opened again as another chain: %v", err)
	}
	other, err := OpenChain(ctx, h.store, keys, "other", 2000)
	if err != nil || other.Terminal() == first.Terminal() {
		t.Errorf("two tables share a chain: %v", err)
	}
	strangers, err := seal.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenChain(ctx, h.store, strangers, "main", 2000); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("opened with another key: %v", err)
	}
}

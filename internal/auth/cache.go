package auth

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
)

// cache remembers verified tokens, at most limit of them, and is read without
// a lock. It has two generations: when the young one holds half the limit, it
// becomes the old one, and what was old is dropped. A token that is in use
// moves to the young one again.
type cache struct {
	half        int64
	generations atomic.Pointer[generations]
}

type generations struct {
	young, old *sync.Map // of [sha256.Size]byte to verified
	count      atomic.Int64
}

func newCache(limit int64) *cache {
	c := &cache{half: limit / 2}
	c.generations.Store(&generations{young: new(sync.Map), old: new(sync.Map)})
	return c
}

func (c *cache) get(id [sha256.Size]byte) (verified, bool) {
	g := c.generations.Load()
	if t, ok := g.young.Load(id); ok {
		return t.(verified), true
	}
	t, ok := g.old.Load(id)
	if !ok {
		return verified{}, false
	}
	c.put(id, t.(verified))
	return t.(verified), true
}

func (c *cache) put(id [sha256.Size]byte, t verified) {
	g := c.generations.Load()
	if _, known := g.young.LoadOrStore(id, t); known {
		return
	}
	if g.count.Add(1) == c.half {
		c.generations.Store(&generations{young: new(sync.Map), old: g.young})
	}
}

package seedpair

import (
	"sync"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// cacheSize bounds each cache. A full one starts anew, which costs one more
// look-up for what it held.
const cacheSize = 1 << 16

// opened remembers opened pairs. What it holds never changes for an id.
type opened struct {
	mu sync.RWMutex
	m  map[ledger.PairID]opening
}

func (c *opened) get(id ledger.PairID) (opening, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, ok := c.m[id]
	return o, ok
}

func (c *opened) put(id ledger.PairID, o opening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= cacheSize {
		c.m = make(map[ledger.PairID]opening)
	}
	c.m[id] = o
}

// drawn remembers instant rounds between their draw and their settlement, so
// that settling needs no second look at the store. Until it is settled, an
// instant round never changes.
type drawn struct {
	mu sync.Mutex
	m  map[ledger.RoundID]ledger.Loaded
}

func (c *drawn) put(l ledger.Loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= cacheSize {
		c.m = make(map[ledger.RoundID]ledger.Loaded)
	}
	c.m[l.Round.ID] = l
}

// take returns a round once.
func (c *drawn) take(id ledger.RoundID) (ledger.Loaded, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.m[id]
	delete(c.m, id)
	return l, ok
}

// nextBets remembers what the next bet of a pair will be derived from, so that
// its outcome is known before it is taken. A nonce that another process has
// taken meanwhile makes it a wrong guess, which costs one more step.
type nextBets struct {
	mu sync.Mutex
	m  map[ledger.PairID]nextBet
}

type nextBet struct {
	clientSeed rng.ClientSeed
	nonce      uint32
}

func (c *nextBets) get(id ledger.PairID) (nextBet, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.m[id]
	return n, ok
}

// learn takes the next nonce from a pair as the store has just shown it. An
// older look at it changes nothing.
func (c *nextBets) learn(p ledger.SeedPair) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= cacheSize {
		c.m = make(map[ledger.PairID]nextBet)
	}
	if n, ok := c.m[p.ID]; !ok || p.Nonce > n.nonce {
		c.m[p.ID] = nextBet{p.ClientSeed, p.Nonce}
	}
}

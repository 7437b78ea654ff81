package crash

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// ownChainEvery is the distance of the links that an OwnChain keeps.
const ownChainEvery = 512

// OwnChain is a chain in memory, for trying out: it ends with the process, and
// its salt is self-chosen.
type OwnChain struct {
	terminal    rng.Terminal
	length      uint32
	checkpoints []rng.Link
	salt        *originalsv1.CrashSalt
}

// NewOwnChain makes a chain. 100,000 links take some 20 ms.
func NewOwnChain(length uint32) (*OwnChain, error) {
	end, err := rng.NewLink()
	if err != nil {
		return nil, err
	}
	c := &OwnChain{length: length}
	if c.terminal, c.checkpoints, err = end.Checkpoints(length, ownChainEvery, nil); err != nil {
		return nil, err
	}
	var salt [32]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return nil, fmt.Errorf("crash: draw a salt: %w", err)
	}
	c.salt = &originalsv1.CrashSalt{Kind: originalsv1.CrashSalt_SELF_CHOSEN, Value: hex.EncodeToString(salt[:])}
	return c, nil
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
	i := (number - 1) / ownChainEvery
	return c.checkpoints[i].Back(min((i+1)*ownChainEvery, c.length) - number)
}

package duel

import (
	"errors"
	"sync"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// cacheSize bounds the cache of opened server seeds. A full one starts anew,
// which costs one more opening for what it held.
const cacheSize = 1 << 14

// opened remembers opened server seeds. What it holds never changes for an id.
type opened struct {
	mu sync.RWMutex
	m  map[duelstore.ID]rng.ServerSeed
}

func (c *opened) get(id duelstore.ID) (rng.ServerSeed, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.m[id]
	return s, ok
}

func (c *opened) put(id duelstore.ID, s rng.ServerSeed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= cacheSize {
		c.m = make(map[duelstore.ID]rng.ServerSeed)
	}
	c.m[id] = s
}

// addFallbacks draws a fallback seed for each seat.
func (s *Service) addFallbacks(c *duelstore.Creation) error {
	for _, seat := range []duelstore.Seat{duelstore.White, duelstore.Black} {
		fallback, err := rng.NewServerSeed() // 32 random bytes with a text of 64 hex digits, which is what a fallback is
		if err != nil {
			return err
		}
		c.FallbackHashes[seat] = duel.FallbackHash(fallback.Reveal())
		if c.SealedFallbacks[seat], err = s.o.Keys.Seal(fallbackName(c.ID, seat), fallback); err != nil {
			return err
		}
	}
	return nil
}

// fallbackName is what the fallback seed of a seat is sealed for.
func fallbackName(id duelstore.ID, seat duelstore.Seat) string {
	return string(id) + ":" + seat.String()
}

var errCommitment = errors.New("duel: what was opened is not what was committed to")

// serverSeed opens the server seed of a duel and compares it with its
// commitment. A difference is an alarm, and reaches the caller as
// COMMITMENT_MISMATCH.
func (s *Service) serverSeed(d *duelstore.Duel) (rng.ServerSeed, error) {
	if seed, ok := s.opened.get(d.ID); ok {
		return seed, nil
	}
	seed, err := s.o.Keys.Open(string(d.ID), d.Sealed)
	if err == nil {
		var commitment rng.Commitment
		if commitment, err = duel.Commitment(seed); err == nil && commitment != d.Commitment {
			err = errCommitment
		}
	}
	if err != nil {
		return rng.ServerSeed{}, s.mismatch(d, err)
	}
	s.opened.put(d.ID, seed)
	return seed, nil
}

// fallback opens the fallback seed of a seat and compares it with its hash.
func (s *Service) fallback(d *duelstore.Duel, seat duelstore.Seat) (string, error) {
	seed, err := s.o.Keys.Open(fallbackName(d.ID, seat), d.Sides[seat].SealedFallback)
	if err == nil && duel.FallbackHash(seed.Reveal()) != [32]byte(d.Sides[seat].FallbackHash) {
		err = errCommitment
	}
	if err != nil {
		return "", s.mismatch(d, err)
	}
	return seed.Reveal(), nil
}

func (s *Service) mismatch(d *duelstore.Duel, cause error) error {
	s.o.Log.Error("a stored seed does not open its commitment", zap.String("duelId", string(d.ID)), zap.Error(cause))
	return reason.New(reason.CommitmentMismatch, "a stored seed does not open its commitment; nothing more is rolled in this duel", "duelId", string(d.ID))
}

// effective returns the client seeds that dice are made from, White's and
// Black's. The duel's are fixed.
func (s *Service) effective(d *duelstore.Duel) (seeds [2]string, err error) {
	for seat := range seeds {
		seeds[seat] = d.Sides[seat].Seed
		if seeds[seat] == "" {
			if seeds[seat], err = s.fallback(d, duelstore.Seat(seat)); err != nil {
				return seeds, err
			}
		}
	}
	return seeds, nil
}

// rolls returns the plies from a first one to the last that the store has.
func (s *Service) rolls(d *duelstore.Duel, first uint32) ([]*originalsv1.DuelRoll, error) {
	if first >= d.Rolls {
		return nil, nil
	}
	serverSeed, err := s.serverSeed(d)
	if err != nil {
		return nil, err
	}
	seeds, err := s.effective(d)
	if err != nil {
		return nil, err
	}
	all := make([]*originalsv1.DuelRoll, 0, d.Rolls-first)
	for ply := first; ply < d.Rolls; ply++ {
		dice, err := duel.Roll(serverSeed, seeds[duelstore.White], seeds[duelstore.Black], uint64(ply))
		if err != nil {
			return nil, err
		}
		all = append(all, &originalsv1.DuelRoll{Ply: ply, Dice: []uint32{uint32(dice[0]), uint32(dice[1]), uint32(dice[2])}})
	}
	return all, nil
}

// roll returns one ply that the store has.
func (s *Service) roll(d *duelstore.Duel, ply uint32) (*originalsv1.DuelRoll, error) {
	short := *d
	short.Rolls = ply + 1
	all, err := s.rolls(&short, ply)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

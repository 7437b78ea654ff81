package seedpair_test

import (
	"fmt"
	"testing"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/seedpair"
)

// damage turns a bit of the stored server seed of a pair.
func (p *player) damage(pair string) {
	p.t.Helper()
	p.h.overwrite(p.stored(pair).Sealed, flip)
}

func flip(sealed []byte) []byte {
	sealed[20] ^= 1
	return sealed
}

// otherKeys are seal keys that open nothing of the house.
func otherKeys(t *testing.T) func(*seedpair.Options) {
	keys := got(seal.NewKeys()).must(t)
	return func(o *seedpair.Options) { o.Keys = keys }
}

const alarm = "a stored server seed does not open its commitment"

// Missing server seed read as an empty one: no stake is taken, and an alarm
// is raised.
func TestCommitmentMismatchTakesNoStake(t *testing.T) {
	for name, spoil := range map[string]func(*player) *house{
		"damaged bytes": func(p *player) *house { p.damage(p.pair); return p.h.process() },
		"seal key is missing": func(p *player) *house {
			return p.h.process(otherKeys(p.t))
		},
		"another pair's server seed": func(p *player) *house {
			q := p.h.player()
			p.h.overwrite(p.stored(p.pair).Sealed, func([]byte) []byte { return q.stored(q.pair).Sealed })
			return p.h.process()
		},
		"another server seed, sealed for this pair": func(p *player) *house {
			next := p.announced()
			other := got(p.h.keys.Open(string(next.ID), next.Sealed)).must(p.t)
			sealed := got(p.h.keys.Seal(p.pair, other)).must(p.t)
			p.h.overwrite(p.stored(p.pair).Sealed, func([]byte) []byte { return sealed })
			return p.h.process()
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			p := h.player()
			p.playDice(100)
			balance := p.balance()
			p = p.at(spoil(p))
			for _, g := range p.everyGame() {
				g.send().refused(t, reason.CommitmentMismatch, "seedPairId", p.pair)
			}
			if p.balance() != balance {
				t.Errorf("a stake of %d was taken", balance-p.balance())
			}
			if n := p.stored(p.pair).Nonce; n != 1 {
				t.Errorf("nonce %d, want 1", n)
			}
			if p.h.logs.FilterMessage(alarm).Len() == 0 {
				t.Error("no alarm is in the log")
			}
		})
	}
}

func TestMissingOrShortServerSeed(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"missing": func([]byte) []byte { return nil },
		"empty":   func([]byte) []byte { return []byte{} },
		"short":   func(sealed []byte) []byte { return sealed[:60] },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			for _, cached := range []bool{false, true} {
				p := h.player()
				if cached {
					p.playDice(100)
				}
				balance, pair := p.balance(), p.stored(p.pair)
				h.overwrite(pair.Sealed, spoil)
				if _, err := p.dice.PlaceBet(p.ctx, p.diceBet(100)); err == nil {
					t.Error("a bet was taken")
				}
				if n := got(h.client.HGet(p.ctx, p.key(), "n").Result()).must(t); n != fmt.Sprint(pair.Nonce) || p.balance() != balance {
					t.Errorf("nonce %s, balance %d; want %d and %d", n, p.balance(), pair.Nonce, balance)
				}
			}
		})
	}
}

// A damaged pair is closed and not a prison: its player is told what to rotate
// to.
func TestPlayerLeavesADamagedPair(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	p.playDice(100)
	next := p.next
	p.damage(p.pair)
	p = p.at(h.process())
	got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.CommitmentMismatch, "seedPairId", p.pair, "nextCommitment", next)
	got(p.pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{})).refused(t, reason.CommitmentMismatch, "seedPairId", p.pair, "nextCommitment", next)
	p.next = next
	rotated := p.rotate()
	if rotated.GetRevealed() != nil {
		t.Errorf("revealed %v", rotated.GetRevealed())
	}
	p.playDice(100)
}

// Not even a round that a crash left open under the damaged pair, and that
// nobody can settle, makes a rotation which was done look refused.
func TestPlayerLeavesADamagedPairWithAnOpenRound(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	p.leaveOpen(p.diceBet(100))
	p.damage(p.pair)
	p = p.at(h.process())
	rotated := p.rotate()
	if rotated.GetRevealed() != nil || p.look().GetActive().GetSeedPairId() != p.pair {
		t.Errorf("rotated to %v", rotated)
	}
	p.playDice(100)
}

func TestDamagedAnnouncementIsNotActivated(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	h.overwrite(p.announced().Sealed, flip)
	p = p.at(h.process())
	got(p.pairs.RotateSeedPair(p.ctx, p.rotation())).refused(t, reason.CommitmentMismatch)
	p.playDice(100) // the active pair is whole
	if n := p.h.logs.FilterMessage(alarm).Len(); n == 0 {
		t.Error("no alarm is in the log")
	}
}

func TestRotatedSealKeysStillOpen(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	p.playDice(100)
	got(p.at(h.process(otherKeys(t))).dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.CommitmentMismatch)
	got(p.at(h.process()).dice.PlaceBet(p.ctx, p.diceBet(100))).must(t) // once the key is back, bets go on
}

package seedpair_test

import (
	"testing"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/seedpair"
)

// damage turns a bit of the stored server seed of a pair.
func (p *player) damage(pair string) {
	p.t.Helper()
	sealed := []byte(got(p.h.client.HGet(p.ctx, p.pairKey(pair), "k").Result()).must(p.t))
	sealed[20] ^= 1
	got(p.h.client.HSet(p.ctx, p.pairKey(pair), "k", sealed).Result()).must(p.t)
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
			sealed := got(p.h.client.HGet(p.ctx, q.pairKey(q.pair), "k").Result()).must(p.t)
			got(p.h.client.HSet(p.ctx, p.pairKey(p.pair), "k", sealed).Result()).must(p.t)
			return p.h.process()
		},
		"another server seed, sealed for this pair": func(p *player) *house {
			sealed := got(p.h.keys.Seal(p.pair, p.announcedSeed())).must(p.t)
			got(p.h.client.HSet(p.ctx, p.pairKey(p.pair), "k", sealed).Result()).must(p.t)
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
			if n := got(h.client.HGet(p.ctx, p.key(), "n").Result()).must(t); n != "1" {
				t.Errorf("nonce %s, want 1", n)
			}
			if p.h.logs.FilterMessage(alarm).Len() == 0 {
				t.Error("no alarm is in the log")
			}
		})
	}
}

func TestMissingOrShortServerSeed(t *testing.T) {
	for name, spoil := range map[string]func(*player){
		"missing": func(p *player) { got(p.h.client.HDel(p.ctx, p.pairKey(p.pair), "k").Result()).must(p.t) },
		"empty":   func(p *player) { got(p.h.client.HSet(p.ctx, p.pairKey(p.pair), "k", "").Result()).must(p.t) },
		"short":   func(p *player) { got(p.h.client.HSet(p.ctx, p.pairKey(p.pair), "k", "0123456789").Result()).must(p.t) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			for _, cached := range []bool{false, true} {
				p := h.player()
				if cached {
					p.playDice(100)
				}
				balance, nonce := p.balance(), got(h.client.HGet(p.ctx, p.key(), "n").Result()).must(t)
				spoil(p)
				if _, err := p.dice.PlaceBet(p.ctx, p.diceBet(100)); err == nil {
					t.Error("a bet was taken")
				}
				if n := got(h.client.HGet(p.ctx, p.key(), "n").Result()).must(t); n != nonce || p.balance() != balance {
					t.Errorf("nonce %s, balance %d; want %s and %d", n, p.balance(), nonce, balance)
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

func TestDamagedAnnouncementIsNotActivated(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	sealed := []byte(got(h.client.HGet(p.ctx, p.key(), "k").Result()).must(t))
	sealed[30] ^= 0x80
	got(h.client.HSet(p.ctx, p.key(), "k", sealed).Result()).must(t)
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

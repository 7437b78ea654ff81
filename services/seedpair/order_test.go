package seedpair_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// commitmentOf is the arithmetic of rng/SPEC.md, written again.
func commitmentOf(serverSeed string) string {
	sum := sha3.Sum256([]byte(serverSeed))
	return hex.EncodeToString(sum[:])
}

func TestCommitmentOnlyGivenWhenAskedFor(t *testing.T) {
	h := newHouse(t)
	p := h.stranger()
	shown := p.look()
	if shown.GetActive() != nil || len(shown.GetNextCommitment()) != 64 || shown.GetNextScheme() != "originals-v1" {
		t.Fatalf("a new player is shown %v", shown)
	}
	same(t, "two looks", shown, p.look())
	rotated := p.rotate()
	if got := rotated.GetActive(); got.GetCommitment() != shown.GetNextCommitment() || got.GetState() != originalsv1.SeedPair_ACTIVE || got.GetNonce() != 0 {
		t.Errorf("active %v, want the pair that was shown", got)
	}
	if rotated.GetRevealed() != nil {
		t.Errorf("the first activation reveals %v", rotated.GetRevealed())
	}
	round := p.playDice(100)
	if round.GetCommitment() != shown.GetNextCommitment() {
		t.Errorf("the round names commitment %s", round.GetCommitment())
	}
}

func TestServerSeedChosenAfterTheClientSeedIsKnown(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	shown, bet := p.next, p.diceBet(100)
	p.playDice(100)
	// Nothing but the player's own rotation changes what he was shown.
	if _, err := p.dice.PlaceBet(p.ctx, bet); err != nil {
		t.Fatal(err)
	}
	if err := h.pairs.SweepOnce(p.ctx); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if next := p.at(h.process()).look().GetNextCommitment(); next != shown {
			t.Fatalf("next commitment %s, after %s was shown", next, shown)
		}
	}
	if active := p.rotate().GetActive(); active.GetCommitment() != shown {
		t.Errorf("activated %s, shown %s", active.GetCommitment(), shown)
	}
}

func TestRotationRepeatedGivesTheSameAnswer(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		p.playDice(100)
		req := p.rotation()
		first := got(p.pairs.RotateSeedPair(p.ctx, req)).must(t)
		same(t, "answers", first, got(p.pairs.RotateSeedPair(p.ctx, req)).must(t))
		same(t, "answers of another process", first, got(p.at(h.process()).pairs.RotateSeedPair(p.ctx, req)).must(t))
		if n := len(got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{})).must(t).GetSeedPairs()); n != 2 {
			t.Errorf("%d pairs, want 2", n)
		}
	})
}

// The repeat of a rotation that others have followed activates nothing.
func TestOldRotationRepeatedActivatesNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.newcomer()
		req := p.rotation()
		first := got(p.pairs.RotateSeedPair(p.ctx, req)).must(t)
		p.pair, p.next = first.GetActive().GetSeedPairId(), first.GetNextCommitment()
		p.playDice(100)
		p.rotate()
		p.rotate()
		again := got(p.pairs.RotateSeedPair(p.ctx, req)).must(t)
		if again.GetActive().GetSeedPairId() != first.GetActive().GetSeedPairId() || again.GetNextCommitment() != first.GetNextCommitment() || again.GetRevealed() != nil {
			t.Errorf("repeated as %v, was %v", again, first)
		}
		if shown := p.look(); shown.GetActive().GetSeedPairId() != p.pair {
			t.Errorf("active is %v, want %s", shown.GetActive(), p.pair)
		}
	})
}

func TestFirstLooksAtOnceShowOneCommitment(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.stranger()
		processes := []*player{p, p.at(h.process())}
		shown := make([]string, 16)
		var group sync.WaitGroup
		for i := range shown {
			group.Go(func() {
				res, _ := processes[i%2].pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{})
				shown[i] = res.GetNextCommitment()
			})
		}
		group.Wait()
		for _, commitment := range shown {
			if commitment == "" || commitment != shown[0] {
				t.Fatalf("shown %v", shown)
			}
		}
		if p.balance() != 1_000_000 {
			t.Errorf("the grant was given to the sum of %d", p.balance())
		}
	})
}

func TestCommitmentStaleNamesThePairAndBurnsTheClientSeed(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.newcomer()
		first, second := p.rotation(), p.rotation()
		pair := got(p.pairs.RotateSeedPair(p.ctx, first)).must(t).GetActive().GetSeedPairId()
		got(p.pairs.RotateSeedPair(p.ctx, second)).refused(t, reason.CommitmentStale, "seedPairId", pair)
		if active := p.look().GetActive(); active.GetSeedPairId() != pair || active.GetClientSeed() != first.GetClientSeed() {
			t.Errorf("active %v after a stale rotation", active)
		}
		second.NextCommitment = p.next
		got(p.pairs.RotateSeedPair(p.ctx, second)).refused(t, reason.ClientSeedUsed)
	})
}

func TestClientSeedUsedBefore(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.newcomer()
		used := p.rotation().GetClientSeed()
		for i := range 3 {
			req := &originalsv1.RotateSeedPairRequest{ClientSeed: used, NextCommitment: p.next}
			if i > 0 {
				got(p.pairs.RotateSeedPair(p.ctx, req)).refused(t, reason.ClientSeedUsed)
				p.rotate()
				continue
			}
			got(p.pairs.RotateSeedPair(p.ctx, req)).must(t)
			p.look()
		}
		// Another player may use it: the rule is each player's own.
		q := h.newcomer()
		got(q.pairs.RotateSeedPair(q.ctx, &originalsv1.RotateSeedPairRequest{ClientSeed: used, NextCommitment: q.next})).must(t)
	})
}

func TestCommitmentNeverShownIsRefused(t *testing.T) {
	h := newHouse(t)
	p, q := h.player(), h.player()
	sibling := h.samePartition(p)
	for name, commitment := range map[string]string{
		"made up":                      commitmentOf("made up"),
		"another player's":             q.next,
		"of a player of his partition": sibling.next,
		"the same in its first half":   p.next[:32] + strings.Repeat("0", 32),
		"the same but for one digit":   p.next[:63] + map[bool]string{true: "1", false: "0"}[p.next[63] == '0'],
	} {
		req := &originalsv1.RotateSeedPairRequest{ClientSeed: unique("client-seed"), NextCommitment: commitment}
		t.Run(name, func(t *testing.T) {
			got(p.pairs.RotateSeedPair(p.ctx, req)).refused(t, reason.InvalidField, "field", "nextCommitment")
		})
	}
	if shown := p.look(); shown.GetActive().GetSeedPairId() != p.pair {
		t.Errorf("active %v", shown.GetActive())
	}
	p.rotate()
}

// A commitment that was activated long ago, with all but its first half altered.
func TestCommitmentOfAnOlderPairIsComparedInFull(t *testing.T) {
	h := newHouse(t)
	p := h.newcomer()
	req := p.rotation()
	got(p.pairs.RotateSeedPair(p.ctx, req)).must(t)
	req.NextCommitment = req.NextCommitment[:32] + strings.Repeat("0", 32)
	got(p.pairs.RotateSeedPair(p.ctx, req)).refused(t, reason.InvalidField, "field", "nextCommitment")
}

func TestRefusedBetTakesNoNonce(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		p.playDice(100)
		before := p.balance()
		dear := p.diceBet(100_000_000)
		got(p.dice.PlaceBet(p.ctx, dear)).refused(t, reason.InsufficientFunds, "nonce", "1", "balance", fmt.Sprint(before))
		small := p.diceBet(1)
		small.Target = 9800
		got(p.dice.PlaceBet(p.ctx, small)).refused(t, reason.StakeTooSmall, "nonce", "1")
		over := p.diceBet(100_000_001)
		got(p.dice.PlaceBet(p.ctx, over)).refused(t, reason.LimitExceeded, "nonce", "1", "limit", "maxStake", "value", "100000000")
		m := p.startMines(100)
		got(p.mines.StartRound(p.ctx, p.minesStart(100))).refused(t, reason.RoundOpen, "roundId", m.GetRoundId())
		if p.balance() != before-100 || p.nonce() != 2 {
			t.Errorf("balance %d, nonce %d after refusals; want %d and 2", p.balance(), p.nonce(), before-100)
		}
		if r := p.playDice(100); r.GetNonce() != 2 {
			t.Errorf("the next bet has nonce %d, want 2", r.GetNonce())
		}
	})
}

func TestSeedPairRequired(t *testing.T) {
	h := newHouse(t)
	other := h.player()
	p := h.stranger()
	p.pair = other.pair
	got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.SeedPairRequired)
	p.look()
	got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.SeedPairRequired, "nextCommitment", p.next)
	p.pair = "no-such-pair"
	got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.SeedPairRequired, "nextCommitment", p.next)
	// The pair that is announced takes no bets before it is chosen.
	p.pair = pairIDOf(p, p.next)
	got(p.dice.PlaceBet(p.ctx, p.diceBet(100))).refused(t, reason.SeedPairRequired, "nextCommitment", p.next)
	if p.balance() != 1_000_000 {
		t.Errorf("balance %d", p.balance())
	}
}

func TestSeedPairChangedNamesPairCommitmentAndCause(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		old := p.diceBet(100)
		p.rotate()
		got(p.dice.PlaceBet(p.ctx, old)).refused(t, reason.SeedPairChanged,
			"seedPairId", p.pair, "nextCommitment", p.next, "cause", "ROTATED")

		retired := p.diceBet(100)
		got(p.retire(p.pair)).must(t)
		e := got(p.dice.PlaceBet(p.ctx, retired)).refused(t, reason.SeedPairChanged, "nextCommitment", p.next, "cause", "SUPPORT")
		if pair, ok := e.Metadata["seedPairId"]; ok {
			t.Errorf("no pair is active, and the refusal names %s", pair)
		}
		if active := p.look().GetActive(); active != nil {
			t.Errorf("active %v after a reveal by support", active)
		}
		if revealed := p.pairByID(p.pair); revealed.GetState() != originalsv1.SeedPair_REVEALED || commitmentOf(revealed.GetServerSeed()) != revealed.GetCommitment() {
			t.Errorf("after support: %v", revealed)
		}

		p.rotate()
		lost := p.diceBet(100)
		h.replace()
		e = eventually(t, func() answer[*originalsv1.Round] { return got(p.dice.PlaceBet(p.ctx, lost)) }).
			refused(t, reason.SeedPairChanged, "cause", "STORE_REPLACED", "nextCommitment", "*")
		if p.look(); e.Metadata["nextCommitment"] != p.next {
			t.Errorf("next commitment %s, shown %s", e.Metadata["nextCommitment"], p.next)
		}
		if p.balance() != 1_000_000 {
			t.Errorf("balance %d after refused bets", p.balance())
		}
	})
}

// eventually repeats a call while the store does not answer.
func eventually[T any](t *testing.T, call func() answer[T]) answer[T] {
	t.Helper()
	for range 200 {
		if a := call(); a.err == nil || reason.Of(a.err) != reason.StoreUnavailable {
			return a
		}
	}
	t.Fatal("the store does not come back")
	panic("not reached")
}

func TestReplacedStoreRetiresActiveAndAnnouncedPair(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		p.playDice(100)
		active, announced := p.pair, p.next
		h.replace()
		rotation := p.rotation()
		eventually(t, func() answer[*originalsv1.RotateSeedPairResponse] {
			return got(p.pairs.RotateSeedPair(p.ctx, rotation))
		}).
			refused(t, reason.SeedPairChanged, "cause", "STORE_REPLACED")
		if shown := p.look(); shown.GetActive() != nil || p.next == announced {
			t.Fatalf("shown %v: neither pair may be used again", shown)
		}
		old := p.pairByID(active)
		if old.GetState() != originalsv1.SeedPair_REVEALED || old.GetRevealReason() != "STORE_REPLACED" || commitmentOf(old.GetServerSeed()) != old.GetCommitment() {
			t.Errorf("active pair is now %v", old)
		}
		unused := p.pairByID(pairIDOf(p, announced))
		if unused.GetState() != originalsv1.SeedPair_UNUSED || unused.GetRevealReason() != "STORE_REPLACED" || commitmentOf(unused.GetServerSeed()) != announced {
			t.Errorf("announced pair is now %v", unused)
		}
		p.rotate()
		p.playDice(100)
	})
}

func TestNonceWraps(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		const last = 1<<32 - 2
		p := h.player()
		p.setNonce(last)
		if r := p.playDice(100); r.GetNonce() != last {
			t.Fatalf("nonce %d", r.GetNonce())
		}
		if n := p.nonce(); n != last+1 {
			t.Errorf("next nonce %d", n)
		}
		balance := p.balance()
		refused := p.diceBet(100)
		got(p.dice.PlaceBet(p.ctx, refused)).refused(t, reason.SeedPairExhausted, "nextCommitment", p.next, "cause", "EXHAUSTED")
		got(p.dice.PlaceBet(p.ctx, refused)).refused(t, reason.SeedPairExhausted, "nextCommitment", p.next, "cause", "EXHAUSTED")
		if p.balance() != balance {
			t.Errorf("an exhausted pair took %d", balance-p.balance())
		}
		if active := p.look().GetActive(); active != nil {
			t.Errorf("active %v", active)
		}
		ended := p.pairByID(p.pair)
		if ended.GetState() != originalsv1.SeedPair_REVEALED || ended.GetNonce() != last+1 || commitmentOf(ended.GetServerSeed()) != ended.GetCommitment() {
			t.Errorf("the exhausted pair is %v", ended)
		}
		p.rotate()
		got(p.dice.PlaceBet(p.ctx, refused)).refused(t, reason.SeedPairChanged, "seedPairId", p.pair, "cause", "EXHAUSTED")
	})
}

func TestEveryCommitmentEndsRevealed(t *testing.T) {
	h := newHouse(t)
	p := h.newcomer()
	shown := map[string]bool{p.next: true}
	for i := range 12 {
		switch i % 4 {
		case 0, 1:
			p.rotate()
			p.playDice(100)
		case 2:
			got(p.retire(p.pair)).must(t)
		case 3:
			h.replace()
			p.look()
		}
		shown[p.next] = true
	}
	p.rotate()
	list := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{})).must(t).GetSeedPairs()
	for i, pair := range list {
		if i == 0 {
			if pair.GetServerSeed() != "" || pair.GetState() != originalsv1.SeedPair_ACTIVE {
				t.Errorf("newest pair %v", pair)
			}
		} else if commitmentOf(pair.GetServerSeed()) != pair.GetCommitment() {
			t.Errorf("pair %v does not open its commitment", pair)
		}
		if !shown[pair.GetCommitment()] {
			t.Errorf("pair %s was never shown", pair.GetSeedPairId())
		}
		delete(shown, pair.GetCommitment())
	}
	if len(list) < 10 || len(shown) != 0 {
		t.Errorf("%d pairs; shown and not listed: %v", len(list), shown)
	}
}

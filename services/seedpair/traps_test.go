package seedpair_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestSelectiveAbort is a house that lets go of the bets that it would lose, and a game that never answers for them: the nonce is
// the outcome. Whoever finishes the rounds finishes all of them, at what the seeds say, and nothing is void.
func TestSelectiveAbort(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		const bets = 20
		var ids []string
		requests := make([]*originalsv1.DiceServicePlaceBetRequest, bets)
		for nonce := range bets {
			requests[nonce] = p.diceBet(100)
			drawn := p.leaveOpen(requests[nonce]).GetRound()
			if drawn.GetNonce() != uint32(nonce) {
				t.Fatalf("bet %d took nonce %d", nonce, drawn.GetNonce())
			}
			ids = append(ids, drawn.GetRoundId())
		}
		if err := h.process().pairs.SweepOnce(p.ctx); err != nil {
			t.Fatal(err)
		}
		swept, wins := make([]*originalsv1.Round, bets), 0
		for nonce, id := range ids {
			r := p.round(id)
			if r.GetState() != originalsv1.Round_SETTLED || r.GetNonce() != uint32(nonce) {
				t.Errorf("nonce %d: %v", nonce, r)
			}
			swept[nonce] = r
			if r.GetDice().GetWin() {
				wins++
			}
		}
		if wins == 0 || wins == bets {
			t.Fatalf("%d of %d win: the test shows nothing", wins, bets)
		}
		for nonce, bet := range requests { // the player asks again: the same round, not a second draw
			again := got(p.dice.PlaceBet(p.ctx, bet)).must(t)
			if again.GetRoundId() != ids[nonce] || again.GetDice().GetRoll() != swept[nonce].GetDice().GetRoll() || again.GetPayout().GetAmount() != swept[nonce].GetPayout().GetAmount() {
				t.Errorf("nonce %d: %v after %v", nonce, again, swept[nonce])
			}
		}
		if next := p.nonce(); next != bets {
			t.Errorf("the next nonce is %d, want %d", next, bets)
		}
		revealed := p.rotate().GetRevealed()
		for nonce, id := range ids {
			want := rollOf(revealed.GetServerSeed(), revealed.GetClientSeed(), nonce)
			if r := p.round(id); r.GetState() != originalsv1.Round_SETTLED || r.GetDice().GetRoll() != want || swept[nonce].GetDice().GetRoll() != want {
				t.Errorf("nonce %d: the seeds give roll %d, after the reveal it is %v", nonce, want, r)
			}
		}
	})
}

// rollOf is the arithmetic of rng/SPEC.md, written again.
func rollOf(serverSeed, clientSeed string, nonce int) uint32 {
	signature := sha3.Sum256(fmt.Appendf(nil, "%s:%s:%d", serverSeed, clientSeed, nonce))
	stream := sha3.NewShake256()
	fmt.Fprintf(stream, "%x", signature)
	for word := make([]byte, 4); ; {
		_, _ = stream.Read(word)
		if w := binary.BigEndian.Uint32(word); w < 1<<32/10_000*10_000 {
			return w % 10_000
		}
	}
}

// TestMarkedSettledFirstPaidAfter has somebody look at a round all the time while it is settled: whenever it is SETTLED, its payout is
// in the balance already.
func TestMarkedSettledFirstPaidAfter(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		watcher, wins, early := p.at(h.process()), 0, 0
		for range 30 {
			before, bet := p.balance(), p.diceBet(100)
			id := p.leaveOpen(bet).GetRound().GetRoundId()
			played := make(chan answer[*originalsv1.Round], 1)
			go func() { played <- got(p.dice.PlaceBet(p.ctx, bet)) }()
			for {
				r := watcher.round(id)
				now := watcher.balance()
				if r.GetState() != originalsv1.Round_SETTLED {
					early++
					continue
				}
				if want := before - 100 + r.GetPayout().GetAmount(); now != want {
					t.Errorf("a settled round that pays %d: the balance is %d, want %d", r.GetPayout().GetAmount(), now, want)
				}
				if r.GetPayout().GetAmount() > 0 {
					wins++
				}
				break
			}
			(<-played).must(t)
		}
		if wins == 0 || early == 0 {
			t.Errorf("%d wins, and %d looks before the end: the test shows nothing", wins, early)
		}
	})
}

// TestOperatorPicksBothSeeds wants no client seed from the house: before the player has sent his there is none anywhere, and a
// rotation without one is refused and changes nothing.
func TestOperatorPicksBothSeeds(t *testing.T) {
	h := newHouse(t)
	p := h.stranger()
	shown := p.look()
	if shown.GetActive() != nil {
		t.Errorf("a pair that the player did not start: %v", shown.GetActive())
	}
	for _, seed := range []string{"", " ", "\x00"} {
		req := &originalsv1.RotateSeedPairRequest{ClientSeed: seed, NextCommitment: shown.GetNextCommitment()}
		got(p.pairs.RotateSeedPair(p.ctx, req)).refused(t, reason.InvalidField, "field", "clientSeed")
	}
	same(t, "what is shown", shown, p.look())
	if pairs := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{})).must(t).GetSeedPairs(); len(pairs) != 0 {
		t.Errorf("pairs %v", pairs)
	}
	req := &originalsv1.RotateSeedPairRequest{ClientSeed: "chosen-by-the-player", NextCommitment: shown.GetNextCommitment()}
	if active := got(p.pairs.RotateSeedPair(p.ctx, req)).must(t).GetActive(); active.GetClientSeed() != "chosen-by-the-player" {
		t.Errorf("the active pair has the client seed %q", active.GetClientSeed())
	}
}

// TestNonceReturnsToZeroOnAClientSeedChange wants another server seed with every client seed: where the nonce begins anew, nothing
// is drawn a second time.
func TestNonceReturnsToZeroOnAClientSeedChange(t *testing.T) {
	h := newHouse(t)
	p := h.player()
	commitments := map[string]bool{}
	for range 4 {
		r := p.playDice(100)
		if r.GetNonce() != 0 || commitments[r.GetCommitment()] {
			t.Errorf("nonce %d under commitment %s, which was used before: %t", r.GetNonce(), r.GetCommitment(), commitments[r.GetCommitment()])
		}
		commitments[r.GetCommitment()] = true
		p.rotate()
	}
}

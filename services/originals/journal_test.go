package main

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// journal is what a player writes down of every answer, and compares with all
// that he was told before. It is safe for concurrent use.
type journal struct {
	t    testing.TB
	name string

	mu          sync.Mutex
	commitments map[string]bool                  // each that was shown
	pairs       map[string]*originalsv1.SeedPair // as it was when it became active
	rounds      map[string]*originalsv1.Round    // the latest of each
	bets        map[string]string                // pair and bet id -> round
	unknown     map[string]bool                  // bets of which some call had no definite answer
	counts      map[string]int
}

func newJournal(t testing.TB, name string) *journal {
	return &journal{
		t: t, name: name,
		commitments: make(map[string]bool), pairs: make(map[string]*originalsv1.SeedPair),
		rounds: make(map[string]*originalsv1.Round), bets: make(map[string]string),
		unknown: make(map[string]bool), counts: make(map[string]int),
	}
}

func (j *journal) fault(format string, args ...any) {
	j.t.Helper()
	j.t.Errorf("%s: %s", j.name, fmt.Sprintf(format, args...))
}

func (j *journal) count(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts[what]++
}

func (j *journal) shown(commitment string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.commitments[commitment] = true
}

// activated notes a pair that became active, whose commitment must have been
// shown before.
func (j *journal) activated(pair *originalsv1.SeedPair) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.commitments[pair.GetCommitment()] {
		j.fault("pair %s became active, and its commitment was never shown", pair.GetSeedPairId())
	}
	if known := j.pairs[pair.GetSeedPairId()]; known != nil && (known.GetCommitment() != pair.GetCommitment() || known.GetClientSeed() != pair.GetClientSeed()) {
		j.fault("pair %s changed from %v to %v", pair.GetSeedPairId(), known, pair)
	}
	j.pairs[pair.GetSeedPairId()] = pair
}

// took notes the answer to a bet.
func (j *journal) took(b wager, round *originalsv1.Round) {
	if round.GetBetId() != b.id || round.GetSeedPairId() != b.pair || round.GetStake().GetAmount() != b.stake {
		j.fault("bet %s of %d on %s was answered with %v", b.id, b.stake, b.pair, round)
	}
	j.mu.Lock()
	if before, ok := j.bets[b.key()]; ok && before != round.GetRoundId() {
		j.fault("bet %s was answered with the rounds %s and %s", b.key(), before, round.GetRoundId())
	}
	j.bets[b.key()] = round.GetRoundId()
	j.mu.Unlock()
	j.saw(round)
}

// taken returns the round that a bet was answered with; empty when none.
func (j *journal) taken(b wager) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bets[b.key()]
}

// notSure notes a bet of which nobody can say yet whether it was taken.
func (j *journal) notSure(b wager) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unknown[b.key()] = true
	j.counts["unknown"]++
}

// saw notes a round. One that has ended never changes, picks only grow, and
// nothing of a board is shown while it is open.
func (j *journal) saw(round *originalsv1.Round) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id := fmt.Sprintf("%s-%d", round.GetSeedPairId(), round.GetNonce())
	if round.GetRoundId() != id {
		j.fault("round %s says that it is nonce %d of %s", round.GetRoundId(), round.GetNonce(), round.GetSeedPairId())
	}
	pair := j.pairs[round.GetSeedPairId()]
	if pair != nil && (pair.GetCommitment() != round.GetCommitment() || pair.GetClientSeed() != round.GetClientSeed()) {
		j.fault("round %s names %s and %s, its pair %v", id, round.GetCommitment(), round.GetClientSeed(), pair)
	}
	if round.GetState() == originalsv1.Round_OPEN && len(round.GetMines().GetMines()) > 0 {
		j.fault("open round %s shows its mines", id)
	}
	known := j.rounds[id]
	if known == nil {
		j.rounds[id] = round
		return
	}
	if !samePrefix(known.GetMines().GetPicks(), round.GetMines().GetPicks()) {
		j.fault("the picks of %s went from %v to %v", id, known.GetMines().GetPicks(), round.GetMines().GetPicks())
	}
	if known.GetState() == originalsv1.Round_OPEN {
		if round.GetState() != originalsv1.Round_OPEN && len(round.GetMines().GetPicks()) < len(known.GetMines().GetPicks()) {
			j.fault("round %s ended without a pick that was answered: %v, then %v", id, known.GetMines(), round.GetMines())
		}
		if round.GetState() != originalsv1.Round_OPEN || len(round.GetMines().GetPicks()) > len(known.GetMines().GetPicks()) {
			j.rounds[id] = round
		}
		return
	}
	// An answer that was on its way may still show the round open.
	if round.GetState() != originalsv1.Round_OPEN && !sameRound(known, round) {
		j.fault("round %s changed after its end:\n%v\n%v", id, known, round)
	}
}

// sameRound compares all but the balance, which belongs to the answer.
func sameRound(a, b *originalsv1.Round) bool {
	a, b = proto.CloneOf(a), proto.CloneOf(b)
	a.Balance, b.Balance = nil, nil
	return proto.Equal(a, b)
}

func samePrefix(a, b []uint32) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

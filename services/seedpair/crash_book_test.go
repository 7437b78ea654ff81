package seedpair_test

import (
	"context"
	"encoding/base32"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// The book of a player's bets at a crash table has an id like that of a seed
// pair, which his round ids show. It is no seed pair to any call, and none
// changes the pair that is active.
func TestBookOfCrashBetsIsNoSeedPair(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		book := string(p.crashRound(h, 1).Round.ID.Pair)
		own := p.look().GetActive().GetSeedPairId()

		got(p.pairs.GetSeedPairById(p.ctx, &originalsv1.GetSeedPairByIdRequest{SeedPairId: book})).refused(t, reason.SeedPairNotFound)
		got(p.pairs.GetEvidence(p.ctx, &originalsv1.GetEvidenceRequest{SeedPairId: book})).refused(t, reason.SeedPairNotFound)
		got(p.rounds.ListRounds(p.ctx, &originalsv1.ListRoundsRequest{SeedPairId: book})).refused(t, reason.SeedPairNotFound)
		got(p.dice.PlaceBet(p.ctx, &originalsv1.DiceServicePlaceBetRequest{
			BetId: unique("bet"), SeedPairId: book, Stake: fun(100), Target: 5000, Direction: originalsv1.Dice_UNDER,
		})).refused(t, reason.SeedPairChanged)

		raw, err := base32.StdEncoding.DecodeString(strings.ToUpper(book[3:]))
		if err != nil {
			t.Fatal(err)
		}
		commitment := hex.EncodeToString(append(raw, make([]byte, 22)...))
		got(p.pairs.RotateSeedPair(p.ctx, &originalsv1.RotateSeedPairRequest{ClientSeed: unique("seed"), NextCommitment: commitment})).refused(t, reason.InvalidField)

		if _, err := h.store.Retire(context.Background(), p.id, ledger.PairID(book), "a test"); err != ledger.ErrNoPair {
			t.Errorf("retired a book: %v", err)
		}
		if now := p.look().GetActive().GetSeedPairId(); now != own {
			t.Errorf("the active pair is %s, and was %s", now, own)
		}
		p.playDice(100)
	})
}

// After a loss of the store the counts of a book go on above a gap. A list walks
// over it.
func TestRoundsAreListedAcrossTheGapThatALossLeaves(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		var ids []string
		for number := range uint32(6) {
			if number == 3 {
				h.replace()
			}
			time.Sleep(2 * time.Millisecond) // records tell milliseconds apart
			ids = append(ids, p.crashRound(h, number+1).Round.ID.String())
		}
		slices.Reverse(ids)
		for _, n := range []int32{1, 2, 200} {
			listed, _ := p.allRounds(&originalsv1.ListRoundsRequest{PageSize: size(n), Game: originalsv1.Game_CRASH}, func() {})
			wantIDs(t, "crash", listed, ids)
		}
	})
}

package seedpair_test

import (
	"testing"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// One damaged pair hides none of the player's others, whatever the page size.
func TestListLeavesOutOnlyTheDamagedPair(t *testing.T) {
	for _, n := range []int32{1, 50} {
		h := newHouse(t)
		p := h.player()
		first := p.pair
		p.rotate()
		damaged := p.pair
		p.rotate()
		last := p.pair
		p.damage(damaged)
		p = p.at(h.process())
		var found []string
		for token, pages := "", 0; ; pages++ {
			if pages > 5 {
				t.Fatal("the pages do not end")
			}
			res := got(p.pairs.ListSeedPairs(p.ctx, &originalsv1.ListSeedPairsRequest{PageSize: size(n), PageToken: token})).must(t)
			for _, pair := range res.GetSeedPairs() {
				found = append(found, pair.GetSeedPairId())
			}
			if token = res.GetNextPageToken(); token == "" {
				break
			}
		}
		wantIDs(t, "pairs", found, []string{last, first})
		if p.h.logs.FilterMessage(alarm).Len() == 0 {
			t.Error("no alarm is in the log")
		}
	}
}

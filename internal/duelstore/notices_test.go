package duelstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/duelstore"
)

type notice struct {
	id      duelstore.ID
	version uint32
}

// TestNoticesTellOfEveryStepOfAFollowedDuel, on each kind of Redis, and of no other duel.
func TestNoticesTellOfEveryStepOfAFollowedDuel(t *testing.T) {
	everyStore(t, func(t *testing.T, s *duelstore.Store) {
		n := s.Notices()
		heard := make(chan notice, 1000)
		listening, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			n.Listen(listening, func(id duelstore.ID, version uint32) { heard <- notice{id, version} })
		}()
		var ids []duelstore.ID
		for i := range 6 { // in several slots
			ids = append(ids, ready(t, s, fmt.Sprint("game-", i)))
			if err := n.Follow(t.Context(), ids[i]); err != nil {
				t.Fatal(err)
			}
		}
		other := ready(t, s, "another")
		for i, id := range ids {
			await := func(d duelstore.Duel, err error) {
				t.Helper()
				must(t, d, err)
				for { // nodes of a cluster pass notices on later, those of before the subscription too
					select {
					case got := <-heard:
						if !slices.Contains(ids, got.id) || got.id == id && got.version > d.Version {
							t.Errorf("heard of %v, want %s at %d", got, id, d.Version)
						}
						if got == (notice{id, d.Version}) {
							return
						}
					case <-time.After(10 * time.Second):
						t.Fatalf("duel %d: nothing heard of version %d", i, d.Version)
					}
				}
			}
			_, err := s.Roll(t.Context(), other, operator, uint32(i))
			if err != nil {
				t.Fatal(err)
			}
			await(s.Roll(t.Context(), id, operator, 0))
			d, err := s.Look(t.Context(), id, game)
			must(t, d, err) // changes nothing, and tells nobody
			await(s.End(t.Context(), id, operator))
		}
		if err := n.Unfollow(t.Context(), ids[0]); err != nil {
			t.Error(err)
		}
		cancel()
		<-ended
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
}

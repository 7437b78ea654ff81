package settlement_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// A stream of batches has the same settlements in the same order, each batch of
// one partition, and the cursor of each goes on exactly after it.
func TestBatchesOfAStreamHaveWhatSingleMessagesHave(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	const total = 600
	settleMany(b, "north", total, 5)
	ctx := h.wallet("north")
	single, _ := h.open(ctx, "")
	var want []*originalsv1.Settlement
	for range total {
		want = append(want, next(t, single).GetSettlement())
	}
	for _, batch := range []int32{2, 100, 256} {
		var got []*originalsv1.Settlement
		for cursor, most := "", 0; len(got) < total; {
			s, err := h.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{Cursor: cursor, Batch: batch})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // the first says that the caller is let in
				m, err := s.Recv()
				if err != nil {
					t.Fatal(err)
				}
				if m.GetSettlement() != nil || len(m.GetSettlements()) > int(batch) {
					t.Fatalf("batch of %d: %v", batch, m)
				}
				cursor, got, most = m.GetCursor(), append(got, m.GetSettlements()...), max(most, len(m.GetSettlements()))
				if len(got) == total {
					break
				}
			}
			if most < 2 {
				t.Fatalf("the largest batch has %d settlements", most)
			}
		}
		byPlace := make(map[uint32][]*originalsv1.Settlement)
		for _, s := range got {
			byPlace[s.GetPartition()] = append(byPlace[s.GetPartition()], s)
		}
		for _, s := range want {
			rest := byPlace[s.GetPartition()]
			if len(rest) == 0 || !proto.Equal(rest[0], s) {
				t.Fatalf("batches of %d: got %v, want %v", batch, rest, s)
			}
			byPlace[s.GetPartition()] = rest[1:]
		}
	}
	for _, bad := range []int32{-1, 257} {
		s, err := h.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{Batch: bad})
		if err == nil {
			_, err = s.Recv()
		}
		wantReason(t, "batch", err, reason.InvalidField)
	}
}

package settlement_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/settlement"
)

type stream = grpc.ServerStreamingClient[originalsv1.StreamSettlementsResponse]

// open begins a stream and takes its first message, which has no settlement.
func (h *house) open(ctx context.Context, cursor string) (stream, *originalsv1.StreamSettlementsResponse) {
	h.t.Helper()
	s, err := h.StreamSettlements(ctx, &originalsv1.StreamSettlementsRequest{Cursor: cursor})
	if err != nil {
		h.t.Fatal(err)
	}
	first, err := s.Recv()
	if err != nil || first.GetSettlement() != nil {
		h.t.Fatalf("the first message is %v, %v", first, err)
	}
	return s, first
}

// next takes the next settlement.
func next(t testing.TB, s stream) *originalsv1.StreamSettlementsResponse {
	t.Helper()
	for {
		m, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetSettlement() != nil {
			return m
		}
	}
}

// settleMany ends rounds of several players and returns how many each partition has.
func settleMany(b *books, operator string, rounds, players int) map[uint32]int64 {
	last := make(map[uint32]int64)
	for i := range rounds {
		r := b.settle(player(operator, fmt.Sprint("p", i%players)), 0)
		last[uint32(r.Round.Pair.Partition())] = int64(r.Sequence)
	}
	return last
}

// A stream that breaks off anywhere goes on after the last event: nothing is
// missing, nothing comes twice, and each partition has its order.
func TestStreamResumesExactlyAfterEachEvent(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	const rounds = 700
	last := settleMany(b, "north", rounds, 3) // so that partitions have more than a page
	ctx := h.wallet("north")
	seen, cursor := make(map[uint32]int64), ""
	for got := 0; got < rounds; {
		one, cancel := context.WithCancel(ctx)
		s, _ := h.open(one, cursor)
		for range 1 + got%97 {
			if got == rounds {
				break
			}
			m := next(t, s)
			n := m.GetSettlement()
			if seen[n.GetPartition()]++; n.GetSequence() != seen[n.GetPartition()] {
				t.Fatalf("partition %d: %d after %d", n.GetPartition(), n.GetSequence(), seen[n.GetPartition()]-1)
			}
			cursor = m.GetCursor()
			got++
		}
		cancel()
	}
	for p, n := range last {
		if seen[p] != n {
			t.Errorf("partition %d: %d of %d", p, seen[p], n)
		}
	}
	if again, first := h.open(ctx, cursor); first.GetCursor() == "" {
		t.Errorf("%v", again)
	}
}

// What a stream shows of a settlement is what a list shows of it before anybody
// claimed it, also when it was claimed and acknowledged meanwhile.
func TestStreamTellsEveryReaderTheSame(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	ctx := h.wallet("north")
	r := b.settle(player("north", "alice"), 198)
	listed, err := h.ListSettlements(ctx, &originalsv1.ListSettlementsRequest{Partition: uint32(r.Round.Pair.Partition())})
	if err != nil || len(listed.GetSettlements()) != 1 {
		t.Fatal(listed, err)
	}
	claimed, err := h.ClaimSettlements(ctx, &originalsv1.ClaimSettlementsRequest{ClaimId: "c", Consumer: "a", Max: 5, LeaseSeconds: 60})
	if err != nil || len(claimed.GetSettlements()) != 1 {
		t.Fatal(claimed, err)
	}
	b.settle(player("north", "alice"), 0) // so that the page grows after it was read
	s, _ := h.open(ctx, "")
	if m := next(t, s); !proto.Equal(m.GetSettlement(), listed.GetSettlements()[0]) {
		t.Errorf("streamed %v\nlisted   %v", m.GetSettlement(), listed.GetSettlements()[0])
	}
	if want := originalsv1.Settlement_LOST; next(t, s).GetSettlement().GetResult() != want {
		t.Error("the second one is not there")
	}
}

func TestNewSettlementsArriveWithinATenthOfASecond(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, func(o *settlement.Options) { o.PollInterval = 0 })
	s, _ := h.open(h.wallet("north"), "")
	least := time.Hour
	for i := range 5 {
		begin := time.Now()
		b.settle(player("north", fmt.Sprint(i)), 0)
		next(t, s)
		least = min(least, time.Since(begin))
	}
	if least > 100*time.Millisecond {
		t.Errorf("the quickest took %v", least)
	}
}

// Nobody is asked about settlements while nobody streams.
func TestNoLoadWhenNobodyStreams(t *testing.T) {
	b := &counted{books: newBooks()}
	h := newHouse(t, b, nil)
	ctx, cancel := context.WithCancel(h.wallet("north"))
	h.open(ctx, "")
	eventually(t, "looks", func() bool { return b.count() > 3 })
	cancel()
	var before int
	eventually(t, "silence", func() bool {
		before = b.count()
		time.Sleep(50 * time.Millisecond)
		return b.count() == before
	})
}

type counted struct {
	*books
	mu    sync.Mutex
	looks int
}

func (c *counted) Heads(ctx context.Context, operator string) ([ledger.Partitions]uint64, error) {
	c.mu.Lock()
	c.looks++
	c.mu.Unlock()
	return c.books.Heads(ctx, operator)
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}

// An outbox is read once for all who stream it, and a slow reader holds nobody.
func TestManyReadersShareOneReadAndNobodyWaitsForASlowOne(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	const rounds, readers = 20_000, 16
	settleMany(b, "north", rounds, 500)
	slow, _ := h.open(h.wallet("north"), "") // takes nothing more for now
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			s, _ := h.open(h.wallet("north"), "")
			for range rounds {
				next(t, s)
			}
		})
	}
	all.Wait()
	b.mu.Lock()
	reads := b.reads
	b.mu.Unlock()
	if most := 64 * (rounds/64/256 + 8); reads > most {
		t.Errorf("%d reads for %d readers, want %d at most", reads, readers, most)
	}
	for range rounds {
		next(t, slow)
	}
}

func TestHeartbeatsCarryTheCursor(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, func(o *settlement.Options) { o.Heartbeat = 20 * time.Millisecond })
	s, first := h.open(h.wallet("north"), "")
	if first.GetCursor() != "1." {
		t.Errorf("the beginning is %q", first.GetCursor())
	}
	r := b.settle(player("north", "alice"), 0)
	want := next(t, s).GetCursor()
	beat, err := s.Recv()
	if err != nil || beat.GetSettlement() != nil {
		t.Fatal(beat, err)
	}
	for _, cursor := range []string{want, beat.GetCursor()} {
		again, _ := h.open(h.wallet("north"), cursor)
		b.settle(player("north", "alice"), 0)
		if m := next(t, again); m.GetSettlement().GetSequence() <= int64(r.Sequence) {
			t.Errorf("from %s on came %v", cursor, m)
		}
	}
}

// Redis may lose its last writes. A reader who has seen them must not wait for
// settlements that took their numbers.
func TestFailoverMovesTheSequenceBackwardsUnderACursor(t *testing.T) {
	b := newBooks()
	h := newHouse(t, b, nil)
	b.settle(player("north", "alice"), 0)
	r := b.settle(player("north", "alice"), 0)
	s, _ := h.open(h.wallet("north"), "")
	next(t, s)
	cursor := next(t, s).GetCursor()
	b.lose("north", r.Round.Pair.Partition())
	_, err := s.Recv()
	wantReason(t, "the stream that was open", err, reason.InvalidField, "field", "cursor")
	late, err := h.StreamSettlements(h.wallet("north"), &originalsv1.StreamSettlementsRequest{Cursor: cursor})
	if err != nil {
		t.Fatal(err)
	}
	_, err = late.Recv()
	wantReason(t, "a later stream", err, reason.InvalidField, "field", "cursor")
	// What took the number is told, and not what was read before.
	other := b.settle(player("north", "alice"), 7)
	again, _ := h.open(h.wallet("north"), "")
	next(t, again)
	if m := next(t, again); m.GetSettlement().GetSettlementId() != other.Round.String() {
		t.Errorf("%v, want %s", m, other.Round)
	}
}

func TestStreamEndsWithTheProcessAndWithItsStore(t *testing.T) {
	stop := make(chan struct{})
	b := &broken{books: newBooks()}
	h := newHouse(t, b, func(o *settlement.Options) { o.Stop = stop })
	s, _ := h.open(h.wallet("north"), "")
	b.fail(errLost)
	b.settle(player("north", "alice"), 0)
	_, err := s.Recv()
	wantReason(t, "a store that is away", err, reason.StoreUnavailable)
	b.fail(nil)
	s, first := h.open(h.wallet("north"), "")
	_ = first
	next(t, s)
	close(stop)
	if _, err = s.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("%v, want UNAVAILABLE", err)
	}
}

type broken struct {
	*books
	mu  sync.Mutex
	err error
}

func (b *broken) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *broken) Settlements(ctx context.Context, operator string, partition int, after uint64, count int) ([]ledger.SettledRound, uint64, error) {
	b.mu.Lock()
	err := b.err
	b.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	return b.books.Settlements(ctx, operator, partition, after, count)
}

func TestStreamsAreRefused(t *testing.T) {
	h := newHouse(t, newBooks(), nil)
	for _, c := range []struct {
		ctx    context.Context
		cursor string
		want   reason.Reason
	}{
		{h.wallet("north"), "nonsense", reason.InvalidField},
		{h.wallet("north"), "1..3.7", reason.InvalidField}, // ahead
		{h.as("north", auth.Player), "", reason.RoleRequired},
		{h.as("north", auth.Support), "", reason.RoleRequired},
		{context.Background(), "", reason.TokenInvalid},
	} {
		s, err := h.StreamSettlements(c.ctx, &originalsv1.StreamSettlementsRequest{Cursor: c.cursor})
		if err == nil {
			_, err = s.Recv()
		}
		wantReason(t, c.cursor, err, c.want)
	}
}

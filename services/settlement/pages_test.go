package settlement

import (
	"context"
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
)

// outbox is what partition 3 of an operator has, in the order of its sequences.
type outbox struct {
	ledger.Feed
	nonces []uint32
	gap    uint64 // added to each sequence
}

func (o *outbox) Settlements(_ context.Context, _ string, _ int, after uint64, count int) (rounds []ledger.SettledRound, last uint64, err error) {
	for i, nonce := range o.nonces[after:min(after+uint64(count), uint64(len(o.nonces)))] {
		rounds = append(rounds, ledger.SettledRound{Round: ledger.RoundID{Pair: "03-aaaaaaaaaaaaaaaa", Nonce: nonce}, Sequence: after + uint64(i) + 1 + o.gap})
	}
	return rounds, uint64(len(o.nonces)), nil
}

// Redis may lose its last writes. What was read of them before is not told to
// readers who come to the settlements that have their numbers now.
func TestFailoverForgetsWhatWasReadBefore(t *testing.T) {
	store := &outbox{nonces: []uint32{1, 2}}
	f := &feed{pages: pages{store: store, operator: "north"}, changed: make(chan struct{})}
	ends := func(head uint64) (h heads) {
		h[3] = head
		return h
	}
	read := func() string {
		t.Helper()
		items, err := f.pages.after(t.Context(), 3, 0, 2)
		if err != nil || len(items) != 2 {
			t.Fatalf("%d items, %v", len(items), err)
		}
		return string(items[1])
	}
	f.note(heads{}, ends(2))
	before := read()
	store.nonces = store.nonces[:1]
	f.note(ends(2), ends(1))
	store.nonces = append(store.nonces, 7)
	f.note(ends(1), ends(2))
	if read() == before {
		t.Error("a settlement that was lost was told in place of another")
	}
}

// A feed has no gap: a store that shows one is not believed.
func TestAGapInTheOutboxIsAnError(t *testing.T) {
	p := pages{store: &outbox{nonces: []uint32{1, 2}, gap: 1}, operator: "north"}
	if items, err := p.after(t.Context(), 3, 0, 2); err == nil {
		t.Errorf("%d items of sequences that are others", len(items))
	}
}

package settlement

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger"
)

const (
	pageSize = 256 // settlements that are read at once
	halfKept = 128 // pages of an operator that are kept; twice that while they are in use
)

// pages are what was read of an operator's outbox, encoded once for all who
// stream it. A full page never changes. They are kept in two generations, as many
// as are asked for again and again, and forgotten with the feed.
type pages struct {
	store    ledger.Feed
	operator string

	mu         sync.Mutex
	young, old map[place]*page
}

// place is a partition and the number of a page in it: page i holds the
// sequences i*pageSize+1 to (i+1)*pageSize.
type place struct {
	partition int
	number    uint64
}

// page holds the beginning of its run of settlements, each as the field of a
// StreamSettlementsResponse on the wire.
type page struct {
	mu    sync.Mutex // held while the store is read: who else wants the page waits for it
	items [][]byte   // only ever appended to
}

func (p *pages) at(where place) *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.young[where]; found != nil {
		return found
	}
	found := p.old[where]
	if found == nil {
		found = new(page)
	}
	if p.young == nil || len(p.young) >= halfKept {
		p.old, p.young = p.young, make(map[place]*page)
	}
	p.young[where] = found
	return found
}

// forget drops all pages: the store may hold others in their place.
func (p *pages) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.young, p.old = nil, nil
}

// after returns settlements of a partition that follow on a sequence, in their
// order: at least one and up to the end of a page, none above head, which is
// above the sequence and known to be there.
func (p *pages) after(ctx context.Context, partition int, sequence, head uint64) ([][]byte, error) {
	number := sequence / pageSize
	first := number * pageSize
	end := int(min(head-first, pageSize))
	found := p.at(place{partition, number})
	found.mu.Lock()
	defer found.mu.Unlock()
	for len(found.items) < end {
		if err := p.read(ctx, partition, first, found, end); err != nil {
			return nil, err
		}
	}
	return found.items[sequence-first : end], nil
}

// read appends to a page what the store has.
func (p *pages) read(ctx context.Context, partition int, first uint64, found *page, end int) error {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	have := first + uint64(len(found.items))
	rounds, _, err := p.store.Settlements(ctx, p.operator, partition, have, end-len(found.items))
	if err != nil {
		return err
	}
	if len(rounds) == 0 {
		return fmt.Errorf("settlement: partition %d ends at %d, and was longer", partition, have)
	}
	for i, r := range rounds {
		if r.Sequence != have+uint64(i)+1 {
			return fmt.Errorf("settlement: partition %d has %d in the place of %d", partition, r.Sequence, have+uint64(i)+1)
		}
		item, err := encode(r)
		if err != nil {
			return err
		}
		found.items = append(found.items, item)
	}
	return nil
}

// settlementField is the number of StreamSettlementsResponse.settlement, and batchTag
// how a member of StreamSettlementsResponse.settlements begins on the wire.
const (
	settlementField = 1
	batchTag        = 3<<3 | byte(protowire.BytesType)
)

// encode returns a settlement without what changes later, the claim and the
// acknowledgement: all readers are told the same, whenever they read.
func encode(r ledger.SettledRound) ([]byte, error) {
	wire, err := proto.Marshal(settlement(asSettled(r)))
	if err != nil {
		return nil, err
	}
	item := make([]byte, 0, len(wire)+4)
	item = protowire.AppendTag(item, settlementField, protowire.BytesType)
	return protowire.AppendBytes(item, wire), nil
}

// asSettled returns a round without its claim and acknowledgement.
func asSettled(r ledger.SettledRound) ledger.SettledRound {
	return ledger.SettledRound{
		Round: r.Round, Sequence: r.Sequence, Player: r.Player, BetID: r.BetID, Game: r.Game, State: r.State,
		Currency: r.Currency, Stake: r.Stake, Payout: r.Payout, SettleTime: r.SettleTime, VoidReason: r.VoidReason,
	}
}

package crash

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// publishTimeout bounds the time that events may take from the play. An event
// that is not taken in time is lost: watchers see the next.
const publishTimeout = 300 * time.Millisecond

// maxShown is how many cash-outs one event shows.
const maxShown = 200

// publisher writes what the owner lets watchers know. Nothing of a running
// round's crash point is in it before the round has crashed.
type publisher struct {
	t     *table
	owner ledger.CrashOwner
	paid  []*liveBet // not shown yet
}

func newPublisher(t *table, owner ledger.CrashOwner) *publisher {
	return &publisher{t: t, owner: owner}
}

func (p *publisher) publish(ctx context.Context, events ...*originalsv1.CrashEvent) {
	encoded := make([][]byte, 0, len(events))
	for _, e := range events {
		text, err := proto.Marshal(e)
		if err != nil {
			p.t.report(ctx, "an event cannot be encoded", err)
			continue
		}
		encoded = append(encoded, text)
	}
	bounded, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err := p.t.store().PublishCrash(bounded, p.owner, encoded)
	p.t.report(ctx, "events are not published", err)
}

// phase shows the table in a new phase.
func (p *publisher) phase(ctx context.Context, s ledger.CrashState) {
	p.publish(ctx, &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Phase{Phase: p.t.message(s)}})
}

// bets shows how many bets there are.
func (p *publisher) bets(ctx context.Context, totals ledger.CrashTotals) {
	m := &originalsv1.CrashEvent_Bets{Number: totals.Number, Count: int32(totals.Count)}
	for c, u := range totals.Stakes {
		m.Stakes = append(m.Stakes, wire.Money(c, u))
	}
	slices.SortFunc(m.Stakes, byCurrency)
	p.publish(ctx, &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Bets_{Bets: m}})
}

func byCurrency(a, b *originalsv1.Money) int {
	if a.GetCurrency() < b.GetCurrency() {
		return -1
	}
	return 1
}

// tick shows the multiplier, and the cash-outs that have become durable.
func (p *publisher) tick(ctx context.Context, s ledger.CrashState, elapsedUs int64, paid []*liveBet) {
	p.paid = append(p.paid, paid...)
	var durable []*liveBet
	p.paid = slices.DeleteFunc(p.paid, func(b *liveBet) bool {
		select {
		case <-b.done:
			durable = append(durable, b)
			return true
		default:
			return false
		}
	})
	events := cashOuts(s.Mask, durable)
	p.publish(ctx, append(events, &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Tick_{Tick: &originalsv1.CrashEvent_Tick{
		ElapsedUs: elapsedUs, MultiplierE2: p.t.s.o.Growth.MultiplierAt(elapsedUs),
	}}})...)
}

// crash shows the end of a round, with its link: every round up to it is final.
func (p *publisher) crash(ctx context.Context, s ledger.CrashState, paid []*liveBet) {
	events := cashOuts(s.Mask, append(p.paid, paid...))
	p.paid = nil
	m := &originalsv1.CrashEvent_Crash{Number: s.Round.Number, CrashE2: s.Round.PointE2}
	link, err := p.t.Chain.Link(ctx, s.Round.Number)
	if err != nil {
		p.t.report(ctx, "the link of a crashed round cannot be read", err)
	} else {
		m.Hash = link.Reveal()
	}
	events = append(events,
		&originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Crash_{Crash: m}},
		&originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Phase{Phase: p.t.message(s)}})
	p.publish(ctx, events...)
}

// cashOuts shows bets that were won, some in an event.
func cashOuts(mask string, won []*liveBet) []*originalsv1.CrashEvent {
	var events []*originalsv1.CrashEvent
	for some := range slices.Chunk(won, maxShown) {
		m := &originalsv1.CrashEvent_CashOuts{}
		for _, b := range some {
			m.CashOuts = append(m.CashOuts, &originalsv1.CrashEvent_CashOut{
				Player: masked(mask, b.Player), CashOutE2: b.cashOutE2, Stake: wire.Money(b.Currency, b.Stake),
			})
		}
		events = append(events, &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_CashOuts_{CashOuts: m}})
	}
	return events
}

// masked returns what stands for a player within one round: watchers cannot
// follow him from round to round, nor guess his name.
func masked(mask string, p ledger.Player) string {
	mac := hmac.New(sha256.New, []byte(mask))
	mac.Write([]byte(p.String())) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil)[:6])
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// Events gives the events of a table that come after a number, in their order,
// to yield, from whichever process publishes them, until ctx ends, yield fails
// or the store does. A reader who is too far behind misses what is no longer
// kept: a gap in the numbers shows it, and Snapshot helps.
func (s *Service) Events(ctx context.Context, name string, after uint64, yield func(*originalsv1.CrashEvent) error) error {
	t, err := s.table(name)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		events, err := t.store().CrashEvents(ctx, name, after)
		if err != nil {
			return err
		}
		for _, e := range events {
			m := &originalsv1.CrashEvent{}
			if err := proto.Unmarshal(e.Encoded, m); err != nil {
				return err
			}
			m.Event, after = int64(e.Number), e.Number
			if err := yield(m); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Snapshot returns a table as it stands, numbered as the newest event that it
// shows.
func (s *Service) Snapshot(ctx context.Context, name string) (*originalsv1.CrashEvent, error) {
	t, err := s.table(name)
	if err != nil {
		return nil, err
	}
	state, err := t.store().CrashState(ctx, name)
	if err != nil {
		return nil, err
	}
	return &originalsv1.CrashEvent{
		Event: int64(state.LastEvent), Body: &originalsv1.CrashEvent_Snapshot{Snapshot: t.message(state)},
	}, nil
}

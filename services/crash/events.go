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

// maxShown is how many cash-outs are shown between two ticks; of the others only
// how many they are. Every watcher is sent them: 5,000 at once, shown to 10,000
// watchers, would be gigabytes, behind which the crash would have to wait.
const maxShown = 100

// publisher writes what the owner lets watchers know beside the steps of
// rounds, which the store itself announces. Nothing of a running round's crash
// point is in it.
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
	p.publish(ctx, append(cashOuts(s.Mask, p.durable(paid)), &originalsv1.CrashEvent{Body: &originalsv1.CrashEvent_Tick_{Tick: &originalsv1.CrashEvent_Tick{
		ElapsedUs: elapsedUs, MultiplierE2: p.t.s.o.Growth.MultiplierAt(elapsedUs),
	}}})...)
}

// settled shows the cash-outs that became durable since the last tick.
func (p *publisher) settled(ctx context.Context, s ledger.CrashState, paid []*liveBet) {
	if events := cashOuts(s.Mask, p.durable(paid)); len(events) > 0 {
		p.publish(ctx, events...)
	}
}

// durable returns the bets that were won and are settled, of those that were
// not shown yet and some more.
func (p *publisher) durable(paid []*liveBet) (durable []*liveBet) {
	p.paid = slices.DeleteFunc(append(p.paid, paid...), func(b *liveBet) bool {
		select {
		case <-b.done:
			if b.err == nil {
				durable = append(durable, b)
			}
			return true
		default:
			return false
		}
	})
	return durable
}

// cashOuts shows bets that were won; none without one.
func cashOuts(mask string, won []*liveBet) []*originalsv1.CrashEvent {
	if len(won) == 0 {
		return nil
	}
	shown := won[:min(len(won), maxShown)]
	m := &originalsv1.CrashEvent_CashOuts{More: int32(len(won) - len(shown))}
	for _, b := range shown {
		m.CashOuts = append(m.CashOuts, &originalsv1.CrashEvent_CashOut{
			Player: masked(mask, b.Player), CashOutE2: b.cashOutE2, Stake: wire.Money(b.Currency, b.Stake),
		})
	}
	return []*originalsv1.CrashEvent{{Body: &originalsv1.CrashEvent_CashOuts_{CashOuts: m}}}
}

// masked returns what stands for a player within one round: watchers cannot
// follow him from round to round, nor guess his name.
func masked(mask string, p ledger.Player) string {
	mac := hmac.New(sha256.New, []byte(mask))
	mac.Write([]byte(p.String())) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil)[:6])
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

package walletcheck

import (
	"fmt"
	"regexp"
	"time"

	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// claimAsOther claims all that is free for a consumer that then does nothing.
func (c *scenario) claimAsOther() int {
	res, err := c.platform.ClaimSettlements(c.ctx, &originalsv1.ClaimSettlementsRequest{
		ClaimId: fmt.Sprintf("other-%d", time.Now().UnixNano()), Consumer: "other", Max: 500, LeaseSeconds: 30,
	})
	if err != nil {
		c.stop("a claim of another consumer", "%v", err)
	}
	return len(res.GetSettlements())
}

// filled meets claims that take something. What comes between the look and the
// claim is left to the next one.
func (c *scenario) filled(m proto.Message) bool {
	open := false
	c.platform.with(func() {
		for _, e := range c.platform.feed {
			open = open || e.open()
		}
		if claim, ok := m.(*originalsv1.ClaimSettlementsRequest); ok && !open {
			c.platform.vain[claim.GetClaimId()] = true
		}
	})
	return open
}

func leaseCases() []Case {
	return []Case{
		{"lease-taken-by-another", "A claim's answer comes so late that the lease has ended and another consumer has it, which then dies.", func(c *scenario) {
			c.funded()
			release, arrived := make(chan struct{}), make(chan struct{}, 1)
			c.stage.add(&fault{method: claimCall, request: c.filled, arrived: arrived, after: release})
			c.win("alice", 10, 40)
			c.lose("alice", 5)
			c.await("the wallet claims", arrived)
			c.until("its lease stands", c.leased)
			c.platform.shiftClock(leaseShift)
			if n := c.claimAsOther(); n != 2 {
				c.stop("another consumer gets both settlements", "%d", n)
			}
			close(release)
		}},
		{"acknowledged-too-late", "An acknowledgement does not arrive, the lease ends, and another consumer has it, which then dies.", func(c *scenario) {
			c.funded()
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			c.stage.add(&fault{method: acknowledgeCall, arrived: arrived, before: release})
			c.win("alice", 10, 40)
			c.await("the wallet acknowledges", arrived)
			c.platform.shiftClock(leaseShift)
			if n := c.claimAsOther(); n != 1 {
				c.stop("another consumer gets the settlement", "%d", n)
			}
			close(release)
		}},
		{"stale-lease-again-and-again", "Every acknowledgement is answered STALE_LEASE for a while.", func(c *scenario) {
			c.funded()
			c.stage.add(&fault{method: acknowledgeCall, calls: 3, notApplied: false, request: func(m proto.Message) bool {
				for _, item := range m.(*originalsv1.AcknowledgeSettlementsRequest).GetItems() {
					if item.FencingToken != nil {
						c.platform.with(func() { c.platform.tokens["alice"]++ })
						return true
					}
				}
				return false
			}})
			c.win("alice", 10, 40)
			c.win("alice", 11, 41)
		}},
		{"conflict", "Another walletTransactionId was acknowledged before: an alarm, and the booking stays.", func(c *scenario) {
			c.funded()
			e := c.win("alice", 10, 40, func(e *entry) {
				e.acknowledged, e.again, e.WalletTransactionId = true, true, "somebody-elses-transaction"
			})
			c.alarms[e.GetSettlementId()] = true
			c.lose("alice", 5)
		}},
		{"acknowledgement-not-found", "The platform does not know a settlement that it delivered: an alarm, and the others go on.", func(c *scenario) {
			c.funded()
			e := c.win("alice", 10, 40)
			c.stage.add(&fault{method: acknowledgeCall, edit: func(m proto.Message) {
				m.(*originalsv1.AcknowledgeSettlementsResponse).Results[0].Status = originalsv1.AcknowledgementAnswer_NOT_FOUND
			}})
			c.alarms[e.GetSettlementId()] = true
			c.converge()
			c.lose("alice", 5)
		}},
		{"other-content", "A settlement comes again with another payout: an alarm, and the booking stays.", func(c *scenario) {
			c.funded()
			e := c.win("alice", 10, 40)
			c.converge()
			c.stage.add(&fault{method: claimCall, calls: -1, edit: func(m proto.Message) {
				for _, item := range m.(*originalsv1.ClaimSettlementsResponse).GetSettlements() {
					if item.GetSettlementId() == e.GetSettlementId() {
						item.Payout.Amount = 4000
					}
				}
			}})
			c.alarms[e.GetSettlementId()] = true
			c.loose[e.GetSettlementId()] = true
			c.redeliver(e)
			c.lose("bob", 5)
		}},
		{"acknowledgements-mixed-up", "The results of an acknowledgement come in another order.", func(c *scenario) {
			c.funded()
			gone := c.win("alice", 10, 40)
			c.converge()
			c.stage.add(&fault{method: acknowledgeCall, edit: func(m proto.Message) {
				results := m.(*originalsv1.AcknowledgeSettlementsResponse).Results
				for i, j := 0, len(results)-1; i < j; i, j = i+1, j-1 {
					results[i], results[j] = results[j], results[i]
				}
			}})
			c.redeliver(gone)
			c.win("alice", 11, 12)
			c.win("alice", 12, 13)
		}},
		{"acknowledged-only-what-is-booked", "When an acknowledgement arrives, the booking stands in the books already.", func(c *scenario) {
			c.funded()
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			c.stage.add(&fault{method: acknowledgeCall, arrived: arrived, before: release})
			e := c.win("alice", 10, 40)
			c.await("the wallet acknowledges", arrived)
			b, err := c.read("alice")
			if err != nil || len(b.Bookings) != 1 || b.Bookings[0].Settlement != e.GetSettlementId() {
				c.stop("the booking of "+e.GetSettlementId()+" in the books", "%d bookings, error %v", len(b.Bookings), err)
			}
			close(release)
		}},
		{"settlement-that-cannot-be-booked", "Settlements with a negative payout, two currencies and an unknown result: rejected, and those behind go on.", func(c *scenario) {
			c.funded()
			newName := regexp.MustCompile(`"result": ?9`)
			c.stage.add(&fault{method: claimCall, calls: -1, editJSON: func(text []byte) []byte {
				return newName.ReplaceAll(text, []byte(`"result":"SHARED"`))
			}})
			bad := []*entry{
				c.win("alice", 10, 40, func(e *entry) { e.Payout.Amount = -40 }),
				c.win("alice", 11, 41, func(e *entry) { e.Payout.Currency = "BTC" }),
				c.win("bob", 12, 42, func(e *entry) { e.Result = 9 }),
			}
			for _, e := range bad {
				c.poison[e.GetSettlementId()] = true
			}
			c.win("alice", 13, 43)
			c.win("bob", 14, 44)
			c.converge()
			for _, e := range bad {
				rejected := false
				c.platform.with(func() { rejected = e.rejected })
				if !rejected {
					c.stop("REJECTED for "+e.GetSettlementId(), "it was acknowledged as booked")
				}
			}
		}},
		{"requeued-after-it-was-rejected", "A rejected settlement is put right and delivered again.", func(c *scenario) {
			c.funded()
			e := c.win("alice", 10, 40, func(e *entry) { e.Payout.Amount = -1 })
			c.poison[e.GetSettlementId()] = true
			c.converge()
			c.platform.with(func() { e.Payout.Amount, e.rejected = 40, false })
			delete(c.poison, e.GetSettlementId())
		}},
	}
}

func (c *scenario) leased() (stands bool) {
	c.platform.with(func() { stands = len(c.platform.leases) > 0 })
	return stands
}

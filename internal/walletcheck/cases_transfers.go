package walletcheck

import (
	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func transferCases() []Case {
	return []Case{
		{"deposit-refused", "The platform refuses a deposit for its limit: the money goes back.", func(c *scenario) {
			c.wallet()
			c.fund("alice", "USD", maxAmount)
			c.deposit("alice", "USD", 5)
			c.converge()
			c.lose("alice", 10)
			c.converge()
			c.deposit("alice", "USD", 6)
		}},
		{"withdrawal-refused", "The platform refuses a withdrawal for lack of funds: nothing moves.", func(c *scenario) {
			c.wallet()
			c.fund("alice", "USD", 100)
			c.withdraw("alice", "USD", 101)
			c.converge()
			c.withdraw("alice", "USD", 100)
		}},
		{"transfer-in-progress", "The platform answers IN_PROGRESS a few times.", func(c *scenario) {
			c.wallet()
			c.platform.with(func() { c.platform.busy["order-1"] = 4 })
			c.deposit("alice", "USD", 120)
			c.converge()
			c.wantTransfers(1)
		}},
		{"transfer-arrives-twice", "A proxy sends a deposit twice, and the wallet gets the second answer.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{method: transferCall, twice: true})
			c.deposit("alice", "USD", 130)
		}},
		{"transfer-id-reused", "The platform knows the transferId with another amount: an alarm, and no other id.", func(c *scenario) {
			c.wallet()
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			c.stage.add(&fault{method: transferCall, arrived: arrived, before: release})
			c.transit[account{"alice", "USD"}] = 140
			c.deposit("alice", "USD", 140)
			c.await("the wallet calls CreateTransfer", arrived)
			id := c.stage.recorded(transferCall)[0].request.(*originalsv1.CreateTransferRequest).GetTransferId()
			c.platform.with(func() {
				c.platform.transfers[id] = &originalsv1.Transfer{
					TransferId: id, PlayerId: "alice", Direction: originalsv1.Transfer_DEPOSIT,
					Money: &originalsv1.Money{Currency: "USD", Amount: 999}, State: originalsv1.Transfer_APPLIED,
				}
			})
			c.unbound[id], c.alarms[id] = true, true
			close(release)
		}},
		{"cancelled-before-it-arrived", "A deposit is given up while its call is on its way: it is cancelled, and refused when it arrives late.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{method: transferCall, late: true}, &fault{method: transferCall, calls: -1, notApplied: true, answer: dropped})
			o := c.deposit("alice", "USD", 150)
			c.until("the wallet calls CreateTransfer", func() bool { return len(c.stage.recorded(transferCall)) > 0 })
			c.order("/cancel", order{ID: o.ID})
			c.converge()
			c.stage.lift()
			if c.stage.deliverLate() != 1 {
				c.stop("a call that was held back", "none")
			}
		}},
		{"cancelled-after-it-was-applied", "A deposit is given up although it was applied: the cancellation says so, and it counts.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{method: transferCall, calls: -1, answer: dropped})
			o := c.deposit("alice", "USD", 160)
			c.until("the deposit is applied", func() bool { return c.transfersSeen() == 1 })
			c.order("/cancel", order{ID: o.ID})
			c.converge()
			c.wantTransfers(1)
		}},
		{"withdrawal-cancelled", "A withdrawal is given up before it arrived: nothing moves.", func(c *scenario) {
			c.funded()
			c.stage.add(&fault{method: transferCall, calls: -1, notApplied: true, answer: dropped})
			o := c.withdraw("alice", "USD", 170)
			c.order("/cancel", order{ID: o.ID})
			c.converge()
			c.stage.lift()
		}},
		{"answer-to-another-transfer", "The answer to a deposit is the refusal of another one.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{method: transferCall, edit: func(m proto.Message) {
				t := m.(*originalsv1.Transfer)
				t.TransferId, t.State, t.BalanceAfter = "order-77", originalsv1.Transfer_REFUSED, nil
			}})
			c.deposit("alice", "USD", 180)
		}},
		{"unknown-transfer-state", "An answer has a state that the wallet does not know: it is no answer.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{method: transferCall, editJSON: func([]byte) []byte {
				return []byte(`{"transferId":"order-1","playerId":"alice","state":"PAUSED"}`)
			}})
			c.deposit("alice", "USD", 190)
		}},
		{"one-transfer-hangs", "The call of one deposit hangs: those of others go on.", func(c *scenario) {
			c.wallet()
			release := make(chan struct{})
			c.stage.add(&fault{method: transferCall, calls: -1, before: release, request: func(m proto.Message) bool {
				return m.(*originalsv1.CreateTransferRequest).GetPlayerId() == "alice"
			}})
			c.deposit("alice", "USD", 200)
			c.deposit("bob", "USD", 201)
			c.deposit("carol", "USD", 202)
			c.until("the deposits of the others are applied", func() bool { return c.transfersSeen() >= 2 })
			c.stage.lift()
			close(release)
		}},
	}
}

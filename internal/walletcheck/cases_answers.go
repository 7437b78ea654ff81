package walletcheck

import (
	"net/http"

	"github.com/openoriginals/originals/internal/reason"
)

// bad is a way in which an answer does not arrive. What it says is nothing: the
// call may have been carried out, or not.
type bad struct {
	name, about string
	fault       fault
}

func badAnswers() []bad {
	return []bad{
		{"answer-lost", "The call is carried out, and the connection ends before the answer.", fault{answer: dropped}},
		{"call-lost", "The call does not arrive, and the connection ends.", fault{answer: dropped, notApplied: true}},
		{"answer-cut-off", "The call is carried out, and the answer ends in its middle.", fault{answer: half}},
		{"answer-is-garbage", "The call is carried out, and something with status 200 answers that is no JSON.",
			fault{answer: garbage, text: "<html>It works!</html>"}},
		{"answer-is-empty", "The call is carried out, and the answer is an empty object with status 200.", fault{answer: garbage, text: "{}"}},
		{"500", "The call is carried out, and the answer is 500 INTERNAL.", fault{answer: refused, status: http.StatusInternalServerError, reason: reason.Internal}},
		{"503", "The call is not carried out, and the answer is 503 STORE_UNAVAILABLE.",
			fault{answer: refused, notApplied: true, status: http.StatusServiceUnavailable, reason: reason.StoreUnavailable}},
		{"502-of-a-proxy", "The call is carried out, and a proxy answers 502 in HTML.", fault{answer: refused, status: http.StatusBadGateway}},
		{"429", "The call is not carried out, and the answer is 429 RATE_LIMITED.",
			fault{answer: refused, notApplied: true, status: http.StatusTooManyRequests, reason: reason.RateLimited}},
		{"timeout", "The call is carried out, and no answer comes until the wallet gives up.", fault{after: make(chan struct{})}},
	}
}

// answerCases are the bad answers of each call that moves something, two times
// in a row.
func answerCases() []Case {
	var cases []Case
	for _, b := range badAnswers() {
		of := func(method string) *fault {
			f := b.fault
			f.method, f.calls = method, 2
			return &f
		}
		cases = append(cases,
			Case{"deposit-" + b.name, "Deposit. " + b.about, func(c *scenario) {
				c.wallet()
				c.stage.add(of(transferCall))
				c.deposit("alice", "USD", 700)
				c.converge()
				c.wantTransfers(1)
			}},
			Case{"claim-" + b.name, "Claim. " + b.about, func(c *scenario) {
				c.funded()
				c.stage.add(of(claimCall))
				c.win("alice", 10, 30)
				c.lose("alice", 4)
			}},
			Case{"acknowledge-" + b.name, "Acknowledgement. " + b.about, func(c *scenario) {
				c.funded()
				c.stage.add(of(acknowledgeCall))
				c.win("alice", 10, 30)
				c.lose("alice", 4)
			}},
		)
	}
	return cases
}

// wantTransfers wants a number of transfers at the platform beside those that
// the case made.
func (c *scenario) wantTransfers(n int) {
	got := 0
	c.platform.with(func() { got = len(c.platform.transfers) - len(c.unbound) })
	if got != n {
		c.stop("as many transfers as were ordered", "%d transfers, and %d were ordered", got, n)
	}
}

// lostCases are bad answers to calls that are rarer.
func lostCases() []Case {
	var cases []Case
	for _, b := range badAnswers()[:3] {
		of := func(method string) *fault {
			f := b.fault
			f.method, f.calls = method, 2
			return &f
		}
		cases = append(cases, Case{"withdrawal-" + b.name, "Withdrawal. " + b.about, func(c *scenario) {
			c.funded()
			c.stage.add(of(transferCall))
			c.withdraw("alice", "USD", 400)
			c.converge()
			c.wantTransfers(2)
		}})
	}
	return append(cases,
		Case{"refused-deposit-answer-lost", "A deposit is refused for its limit, and the answer is lost.", func(c *scenario) {
			c.wallet()
			c.fund("alice", "USD", maxAmount)
			c.stage.add(&fault{method: transferCall, calls: 2, answer: dropped})
			c.deposit("alice", "USD", 1)
			c.converge()
			c.wantTransfers(2)
		}},
		Case{"refused-withdrawal-answer-lost", "A withdrawal is refused for lack of funds, the answer is lost, and then there would be funds.", func(c *scenario) {
			c.wallet()
			c.fund("alice", "USD", 100)
			held := make(chan struct{})
			arrived := make(chan struct{}, 1)
			c.stage.add(&fault{method: transferCall, arrived: arrived, answer: dropped}, &fault{method: transferCall, before: held})
			c.withdraw("alice", "USD", 150)
			c.await("the wallet calls CreateTransfer", arrived)
			c.until("the withdrawal is refused", func() bool { return c.transfersSeen() == 2 })
			c.win("alice", 10, 300)
			close(held)
		}},
		Case{"cancel-answer-lost", "The answer to a cancellation is lost.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{method: transferCall, calls: -1, notApplied: true, answer: dropped},
				&fault{method: cancelCall, calls: 2, answer: dropped})
			o := c.deposit("alice", "USD", 250)
			c.order("/cancel", order{ID: o.ID})
		}},
	)
}

func (c *scenario) transfersSeen() (n int) {
	c.platform.with(func() { n = len(c.platform.transfers) })
	return n
}

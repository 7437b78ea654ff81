package walletcheck

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// killAt ends the wallet by kill -9 when it makes a call, before or after the
// platform carries it out.
func (c *scenario) killAt(w *child, method string, applied bool) {
	arrived := make(chan struct{}, 1)
	f := &fault{method: method, arrived: arrived, notApplied: !applied, after: make(chan struct{})}
	if method == claimCall {
		f.request = c.filled
	}
	c.stage.add(f)
	c.trigger(method)
	c.await("the wallet calls "+method, arrived)
	if applied {
		c.until(method+" is carried out", func() bool { return c.carriedOut(method) })
	}
	c.crash(w)
}

// trigger gives the wallet something that leads to a call.
func (c *scenario) trigger(method string) {
	if method == transferCall {
		c.deposit("alice", "USD", 321)
		return
	}
	c.win("alice", 10, 77)
	c.lose("alice", 6)
}

func (c *scenario) carriedOut(method string) (done bool) {
	switch method {
	case claimCall:
		return c.leased()
	case acknowledgeCall:
		return c.unfinished() == ""
	}
	return c.transfersSeen() == c.orders
}

func crashCases() []Case {
	var cases []Case
	for _, at := range []struct {
		name, about, method string
		applied             bool
	}{
		{"killed-before-a-claim", "The wallet is killed in a claim that did not arrive.", claimCall, false},
		{"killed-before-booking", "The wallet is killed when its claim stands, before it has the answer.", claimCall, true},
		{"killed-between-booking-and-acknowledging", "The wallet is killed when it has booked, before its acknowledgement arrives.", acknowledgeCall, false},
		{"killed-after-acknowledging", "The wallet is killed when its acknowledgement was carried out, before it has the answer.", acknowledgeCall, true},
		{"killed-before-a-deposit", "The wallet is killed in a deposit that did not arrive.", transferCall, false},
		{"killed-after-a-deposit", "The wallet is killed in a deposit that was carried out, before it has the answer.", transferCall, true},
	} {
		cases = append(cases, Case{at.name, at.about, func(c *scenario) {
			c.killAt(c.funded(), at.method, at.applied)
			c.converge()
			c.wantTransfers(c.orders)
		}})
	}
	return append(cases,
		Case{"killed-at-rest", "The wallet is killed when it has nothing to do: its books stay.", func(c *scenario) {
			w := c.funded()
			c.win("alice", 10, 77)
			c.converge()
			c.crash(w)
			c.lose("alice", 3)
		}},
		Case{"killed-again-and-again", "The wallet is killed eight times while 400 rounds end.", func(c *scenario) {
			w := c.funded()
			for i := range 8 {
				for n := range 50 {
					c.win([]string{"alice", "bob", "carol"}[n%3], 10, int64(n))
				}
				time.Sleep(time.Duration(i*3) * time.Millisecond)
				c.crash(w)
			}
		}},
		Case{"killed-while-cancelling", "The wallet is killed when it has given up a deposit, and goes on to cancel it.", func(c *scenario) {
			w := c.wallet()
			c.stage.add(&fault{method: transferCall, calls: -1, notApplied: true, answer: dropped},
				&fault{method: cancelCall, calls: -1, notApplied: true, answer: dropped})
			o := c.deposit("alice", "USD", 99)
			c.order("/cancel", order{ID: o.ID})
			c.until("the wallet cancels", func() bool { return len(c.stage.recorded(cancelCall)) > 0 })
			w.kill9()
			c.stage.lift()
			c.begin(w)
		}},
		Case{"two-processes", "Two processes of the wallet work on one set of books.", func(c *scenario) {
			c.funded()
			c.wallet()
			for n := range 300 {
				c.win(fmt.Sprintf("player-%d", n%10), 10, int64(n))
			}
		}},
		Case{"two-processes-and-leases-that-end", "Two processes of the wallet work on one set of books, and leases end while they do.", func(c *scenario) {
			c.funded()
			c.wallet()
			for range 10 {
				for n := range 30 {
					c.win(fmt.Sprintf("player-%d", n%5), 10, int64(n))
				}
				time.Sleep(5 * time.Millisecond)
				c.platform.shiftClock(leaseShift)
			}
		}},
		Case{"two-processes-and-one-dies", "Two processes of the wallet work on one set of books, and one is killed for good.", func(c *scenario) {
			c.funded()
			other := c.wallet()
			arrived := make(chan struct{}, 1)
			c.stage.add(&fault{method: acknowledgeCall, arrived: arrived, answer: dropped, notApplied: true, request: func(proto.Message) bool { return true }})
			for n := range 100 {
				c.win(fmt.Sprintf("player-%d", n%10), 10, int64(n))
			}
			c.await("the wallet acknowledges", arrived)
			other.kill9()
		}},
		Case{"two-processes-and-one-deposit", "Two processes of the wallet see the same deposits.", func(c *scenario) {
			c.funded()
			c.wallet()
			for n := range 20 {
				c.deposit(fmt.Sprintf("player-%d", n%4), "USD", int64(100+n))
			}
			c.converge()
			c.wantTransfers(21)
		}},
	)
}

func clockCases() []Case {
	return []Case{
		{"settle-time-an-hour-back", "The platform's clock steps back by an hour: later settlements have earlier times.", func(c *scenario) {
			c.funded()
			c.win("alice", 10, 20)
			c.platform.shiftClock(-time.Hour)
			c.win("alice", 11, 20)
			c.converge()
			c.win("alice", 12, 20)
		}},
		{"lease-that-has-ended-already", "Leases end in the past by the wallet's clock.", func(c *scenario) {
			c.platform.shiftClock(-48 * time.Hour)
			c.funded()
			c.win("alice", 10, 20)
			c.lose("alice", 3)
		}},
		{"lease-far-ahead", "Leases end ten years ahead by the wallet's clock.", func(c *scenario) {
			c.platform.shiftClock(10 * 365 * 24 * time.Hour)
			c.funded()
			c.win("alice", 10, 20)
			c.lose("alice", 3)
		}},
		{"clock-jumps-between-claim-and-acknowledgement", "The platform's clock jumps on by a day when the wallet has claimed.", func(c *scenario) {
			c.funded()
			c.stage.add(&fault{method: claimCall, request: c.filled, seen: func(proto.Message) { c.platform.shiftClock(24 * time.Hour) }})
			c.win("alice", 10, 20)
			c.lose("alice", 3)
		}},
	}
}

func loadCases() []Case {
	return []Case{
		{"flood", "Ten thousand settlements of fifty players at once.", func(c *scenario) {
			c.funded()
			for n := range 10_000 {
				c.win(fmt.Sprintf("player-%d", n%50), 10, int64(n%37))
			}
		}},
		{"one-player-with-much", "Two thousand settlements of one player, in their order.", func(c *scenario) {
			c.funded()
			for n := range 2000 {
				c.win("alice", 10, int64(n%23))
			}
		}},
		{"slow-platform", "Every answer takes a hundred milliseconds.", func(c *scenario) {
			c.wallet()
			c.stage.add(&fault{calls: -1, seen: func(proto.Message) { time.Sleep(100 * time.Millisecond) }})
			c.fund("alice", "USD", 5000)
			for n := range 20 {
				c.win("alice", 10, int64(n))
			}
		}},
		{"one-settlement-a-claim", "Each claim brings one settlement.", func(c *scenario) {
			c.funded()
			c.stage.add(&fault{method: claimCall, calls: -1, edit: func(m proto.Message) {
				res := m.(*originalsv1.ClaimSettlementsResponse)
				if len(res.Settlements) > 1 {
					res.Settlements = res.Settlements[:1]
					c.platform.shiftClock(leaseShift) // what was left out is claimable again
				}
			}})
			for n := range 10 {
				c.win(fmt.Sprintf("player-%d", n), 10, int64(n))
			}
		}},
		{"deposits-of-many", "A hundred deposits at once.", func(c *scenario) {
			c.wallet()
			for n := range 100 {
				c.deposit(fmt.Sprintf("player-%d", n), "USD", int64(1+n))
			}
			c.converge()
			c.wantTransfers(100)
		}},
	}
}

package walletcheck

import (
	"net/http"
	"time"

	"github.com/openoriginals/originals/internal/reason"
)

func troubleCases() []Case {
	return []Case{
		{"token-not-accepted-for-a-while", "Every call is answered 401 TOKEN_INVALID for a while: no deposit counts as refused.", func(c *scenario) {
			c.funded()
			c.stage.setToken("another-token")
			c.deposit("alice", "USD", 55)
			c.win("alice", 10, 11)
			before := c.stage.refusedTokens()
			c.until("the wallet goes on to call", func() bool { return c.stage.refusedTokens() >= before+3 })
			c.stage.setToken(firstToken)
		}},
		{"token-changed-by-restart", "The token is no longer accepted, and the wallet is started again with another.", func(c *scenario) {
			w := c.funded()
			c.stage.setToken("second-token")
			c.deposit("alice", "USD", 56)
			c.win("alice", 10, 11)
			before := c.stage.refusedTokens()
			c.until("the wallet calls", func() bool { return c.stage.refusedTokens() > before })
			w.kill9()
			w.setToken("second-token")
			c.begin(w)
		}},
		{"platform-away-at-start", "The platform is not there when the wallet starts.", func(c *scenario) {
			c.stage.stop()
			c.win("alice", 10, 90)
			c.wallet()
			c.deposit("alice", "USD", 57)
			time.Sleep(calm)
			c.comeBack()
		}},
		{"platform-restart-between-claim-and-acknowledgement", "The platform goes away when the wallet has claimed, and comes back.", func(c *scenario) {
			c.funded()
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			c.stage.add(&fault{method: acknowledgeCall, arrived: arrived, before: release, notApplied: true, answer: dropped})
			c.win("alice", 10, 90)
			c.await("the wallet acknowledges", arrived)
			c.stage.stop()
			time.Sleep(calm)
			c.comeBack()
			close(release)
		}},
		{"platform-restart-in-a-claim", "The platform goes away while it answers a claim, and comes back.", func(c *scenario) {
			c.funded()
			arrived := make(chan struct{}, 1)
			c.stage.add(&fault{method: claimCall, request: c.filled, arrived: arrived, after: make(chan struct{})})
			c.win("alice", 10, 90)
			c.await("the wallet claims", arrived)
			c.until("its lease stands", c.leased)
			c.stage.stop()
			time.Sleep(calm)
			c.comeBack()
		}},
		{"store-away-for-long", "Twelve calls in a row are answered 503.", func(c *scenario) {
			c.funded()
			c.stage.add(&fault{calls: 12, notApplied: true, answer: refused, status: http.StatusServiceUnavailable, reason: reason.StoreUnavailable})
			c.deposit("alice", "USD", 58)
			c.win("alice", 10, 90)
		}},
		{"every-other-call-fails", "Every other call gets lost, before or after it was carried out.", func(c *scenario) {
			c.wallet()
			for range 20 {
				c.stage.add(&fault{answer: dropped}, new(fault), &fault{answer: dropped, notApplied: true}, new(fault))
			}
			for _, player := range []string{"alice", "bob", "carol"} {
				c.deposit(player, "USD", 1000)
				c.win(player, 10, 90)
				c.lose(player, 5)
			}
			c.withdraw("alice", "USD", 7)
		}},
	}
}

// comeBack starts a stopped platform at the same addresses.
func (c *scenario) comeBack() {
	if err := c.stage.start(); err != nil {
		c.stop("the platform listens again", "%v", err)
	}
}

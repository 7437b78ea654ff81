package walletcheck

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// funded starts the wallet with some money of alice in play.
func (c *scenario) funded() *child {
	w := c.wallet()
	c.fund("alice", "USD", 1_000_000)
	return w
}

func bookingCases() []Case {
	return []Case{
		{"win-and-loss", "A player deposits, wins a round and loses one.", func(c *scenario) {
			c.funded()
			c.win("alice", 100, 195)
			c.lose("alice", 50)
		}},
		{"withdrawal", "A player takes money out again.", func(c *scenario) {
			c.funded()
			c.win("alice", 1000, 2000)
			c.converge()
			c.withdraw("alice", "USD", 1_000_999)
		}},
		{"zero-payout", "Rounds that pay nothing are settlements like others, and are acknowledged.", func(c *scenario) {
			c.funded()
			for range 20 {
				c.lose("alice", 7)
			}
		}},
		{"void", "A void round gives the stake back: it is booked, and the balance stays.", func(c *scenario) {
			c.funded()
			c.void("alice", 500)
			c.lose("alice", 3)
			c.void("alice", 501)
		}},
		{"several-currencies", "One player has balances in several currencies.", func(c *scenario) {
			c.wallet()
			for i, currency := range []string{"USD", "BTC", "ETH", "FUN"} {
				c.deposit("alice", currency, int64(10_000*(i+1)))
			}
			c.converge()
			for i, currency := range []string{"ETH", "USD", "FUN", "BTC", "ETH"} {
				c.platform.settle("alice", currency, int64(10+i), int64(20*i), originalsv1.Settlement_WON)
			}
		}},
		{"odd-cents", "Amounts that have no exact binary fraction: 29, 57, 58, 115 and others.", func(c *scenario) {
			c.funded()
			for _, amount := range []int64{29, 57, 58, 113, 115, 201, 203, 435, 1001, 4035} {
				c.win("alice", amount, amount+1)
				c.lose("alice", amount)
			}
		}},
		{"huge-amounts", "Amounts up to 2^53-1, which is the largest.", func(c *scenario) {
			c.wallet()
			c.fund("alice", "USD", maxAmount)
			c.lose("alice", maxAmount-2)
			c.win("alice", 1, maxAmount-7)
			c.fund("bob", "USD", 1)
			c.win("bob", 1, maxAmount)
			c.converge()
			c.withdraw("bob", "USD", maxAmount)
		}},
		{"many-players-in-order", "Forty players with ten settlements each, which come mixed.", func(c *scenario) {
			c.wallet()
			for i := range 40 {
				c.deposit(fmt.Sprintf("player-%d", i), "USD", 10_000)
			}
			c.converge()
			for n := range 10 {
				for i := range 40 {
					c.win(fmt.Sprintf("player-%d", i), int64(10+n), int64(i*n))
				}
			}
		}},
		{"nothing-for-a-while", "Claims bring nothing for a while: the wallet goes on to ask, and not too often.", func(c *scenario) {
			c.funded()
			before := len(c.stage.recorded(""))
			time.Sleep(500 * time.Millisecond)
			if n := len(c.stage.recorded("")) - before; n > 100 {
				c.stop("at most 200 calls a second when there is nothing to do", "%d calls in half a second", n)
			}
			c.win("alice", 1, 2)
		}},
		{"unknown-json-fields", "Answers have fields that the wallet does not know.", func(c *scenario) {
			extra := func(text []byte) []byte {
				text = bytes.Replace(text, []byte(`{`), []byte(`{"newField":{"a":[1,"x",null]},`), 1)
				return bytes.ReplaceAll(text, []byte(`"settlementId"`), []byte(`"jackpotShare":"12","settlementId"`))
			}
			c.wallet()
			c.stage.add(&fault{calls: -1, editJSON: extra})
			c.deposit("alice", "USD", 1000)
			c.converge()
			c.win("alice", 10, 20)
		}},
		{"balance-below-the-wallets-own", "A settlement comes before the wallet knows that its deposit was applied.", func(c *scenario) {
			c.wallet()
			release := make(chan struct{})
			arrived := make(chan struct{}, 1)
			c.stage.add(&fault{method: transferCall, after: release, arrived: arrived})
			c.deposit("alice", "USD", 500)
			c.await("the wallet calls CreateTransfer", arrived)
			time.Sleep(lookPause)
			c.lose("alice", 400)
			c.until("the settlement is acknowledged while the deposit is not answered", func() bool { return c.unfinished() == "" })
			close(release)
		}},
		{"digest", "The Merkle root of the wallet's bookings is that of the settlements, if the wallet tells it.", func(c *scenario) {
			c.funded()
			for n := range 13 {
				c.win("alice", 10, int64(n*7))
			}
			c.void("alice", 3)
			c.converge()
			c.checkDigest(partitionOf("alice"))
		}},
		{"same-order-twice", "The wallet's own house sends an order twice, and then another with the same id.", func(c *scenario) {
			w := c.wallet()
			o := c.deposit("alice", "USD", 300)
			c.order("/deposit", o)
			c.converge()
			c.order("/deposit", o)
			o.Amount = "301"
			err := w.post(c.ctx, "/deposit", o)
			if refused, ok := err.(*statusError); !ok || refused.status != http.StatusConflict {
				c.stop("another order with the same requestId is answered with 409", "%v", err)
			}
		}},
	}
}

// checkDigest compares roots. A wallet need not know about digests.
func (c *scenario) checkDigest(partition uint32) {
	var told struct {
		Count      int    `json:"count"`
		MerkleRoot string `json:"merkleRoot"`
	}
	err := c.wallets[0].get(c.ctx, fmt.Sprintf("/digest?partition=%d", partition), &told)
	var refused *statusError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		c.note = "GET /digest is not offered"
		return
	}
	var tree ledger.Merkle
	count := 0
	c.platform.with(func() {
		for _, e := range c.platform.feed {
			if e.GetPartition() == partition {
				count++
				tree.Add(leaf(e))
			}
		}
	})
	root := tree.Root()
	if want := hex.EncodeToString(root[:]); err != nil || told.Count != count || told.MerkleRoot != want {
		c.stop(fmt.Sprintf("%d settlements with the root %s", count, want), "%d with %s, %v", told.Count, told.MerkleRoot, err)
	}
}

// leaf is the text of a settlement in a digest.
func leaf(e *entry) string {
	return fmt.Sprintf("%s %d %s %s %s %s %d %d %s %d", e.GetSettlementId(), e.GetSequence(), e.GetPlayerId(), e.GetBetId(),
		e.GetGame(), e.GetStake().GetCurrency(), e.GetStake().GetAmount(), e.GetPayout().GetAmount(), e.GetResult(),
		e.GetSettleTime().AsTime().UnixMilli())
}

// repeat returns a fault that puts the items of answers to claims in n times.
func repeat(n int) *fault {
	return &fault{method: claimCall, calls: -1, edit: func(m proto.Message) {
		res := m.(*originalsv1.ClaimSettlementsResponse)
		var all []*originalsv1.Settlement
		for _, item := range res.GetSettlements() {
			for range n {
				all = append(all, item)
			}
		}
		res.Settlements = all
	}}
}

// redeliver makes settlements come again that were acknowledged.
func (c *scenario) redeliver(entries ...*entry) {
	c.platform.with(func() {
		for _, e := range entries {
			e.again = true
		}
	})
}

func duplicateCases() []Case {
	return []Case{
		{"duplicate-within-a-claim", "A claim's answer holds each settlement three times.", func(c *scenario) {
			c.funded()
			c.stage.add(repeat(3))
			c.win("alice", 10, 25)
			c.lose("alice", 5)
		}},
		{"duplicate-across-claims", "Settlements that were acknowledged come again in a later claim.", func(c *scenario) {
			c.funded()
			first, second := c.win("alice", 10, 25), c.lose("alice", 5)
			c.converge()
			c.redeliver(first, second)
			c.converge()
			c.redeliver(second)
			c.win("alice", 3, 9)
		}},
		{"duplicate-among-new-ones", "A settlement that was acknowledged comes again, between new ones.", func(c *scenario) {
			c.funded()
			old := c.win("alice", 10, 25)
			c.converge()
			c.stage.add(&fault{method: claimCall, calls: 1, notApplied: true, answer: dropped})
			for range 5 {
				c.win("alice", 11, 13)
			}
			c.redeliver(old)
		}},
		{"duplicate-after-restart", "Settlements that were acknowledged come again after a restart of the wallet.", func(c *scenario) {
			w := c.funded()
			first := c.win("alice", 10, 25)
			c.converge()
			c.crash(w)
			c.redeliver(first)
			c.converge()
		}},
		{"old-answer-again", "The answer to an earlier claim comes again, for a later one.", func(c *scenario) {
			c.funded()
			var old *originalsv1.ClaimSettlementsResponse
			filled := func(m proto.Message) {
				if res := m.(*originalsv1.ClaimSettlementsResponse); len(res.GetSettlements()) > 0 && old == nil {
					old = proto.CloneOf(res)
				}
			}
			c.stage.add(&fault{method: claimCall, calls: -1, seen: filled})
			c.win("alice", 10, 25)
			c.lose("alice", 6)
			c.converge()
			c.stage.lift()
			c.stage.add(&fault{method: claimCall, calls: 2, edit: func(m proto.Message) {
				m.(*originalsv1.ClaimSettlementsResponse).Settlements = old.GetSettlements()
			}})
			c.win("alice", 2, 4)
		}},
	}
}

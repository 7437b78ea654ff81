package walletcheck

import (
	"fmt"
	"slices"
	"time"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	// Where a wallet does not ask for a lost claim again, its settlements come
	// when their lease ends: so the platform's clock is moved on now and then.
	leaseEvery = time.Second
	leaseShift = 61 * time.Minute
	// calm is how long a wallet that has come to rest is watched.
	calm = 150 * time.Millisecond
	// playersInOrder bounds the players whose bookings are read one by one.
	playersInOrder = 20
)

// figures are the numbers of one account.
type figures struct {
	wallet, transit, game int64
	bookings              int
}

func (f figures) String() string {
	return fmt.Sprintf("walletAmount %d, transitAmount %d, gameAmount %d, bookings %d", f.wallet, f.transit, f.game, f.bookings)
}

// wanted returns what the books must say.
func (c *scenario) wanted() map[account]figures {
	want := make(map[account]figures)
	c.platform.with(func() {
		for id, t := range c.platform.transfers {
			if t.GetState() != originalsv1.Transfer_APPLIED || c.unbound[id] {
				continue
			}
			of := account{t.GetPlayerId(), t.GetMoney().GetCurrency()}
			amount := t.GetMoney().GetAmount()
			if t.GetDirection() == originalsv1.Transfer_WITHDRAWAL {
				amount = -amount
			}
			f := want[of]
			f.wallet, f.game = f.wallet-amount, f.game+amount
			want[of] = f
		}
		for _, e := range c.platform.feed {
			if c.poison[e.GetSettlementId()] {
				continue
			}
			of := account{e.GetPlayerId(), e.GetStake().GetCurrency()}
			f := want[of]
			f.game += e.GetPayout().GetAmount() - e.GetStake().GetAmount()
			f.bookings++
			want[of] = f
		}
	})
	for of, amount := range c.transit {
		f := want[of]
		f.transit, f.wallet = f.transit+amount, f.wallet-amount
		want[of] = f
	}
	return want
}

// difference tells what is not yet as it must be; empty when all is.
func (c *scenario) difference() string {
	b, err := c.read("")
	if err != nil {
		return "GET /books: " + err.Error()
	}
	want := c.wanted()
	for _, a := range b.Accounts {
		of := account{a.Player, a.Currency}
		got := figures{a.Wallet, a.Transit, a.Game, a.Bookings}
		if got != want[of] {
			return fmt.Sprintf("player %s in %s has %v, and must have %v", of.player, of.currency, got, want[of])
		}
		delete(want, of)
	}
	for of, f := range want {
		if f != (figures{}) {
			return fmt.Sprintf("player %s in %s is not in the books, and must have %v", of.player, of.currency, f)
		}
	}
	raised := make(map[string]bool)
	for _, a := range b.Alarms {
		raised[a.Subject] = true
	}
	for subject := range c.alarms {
		if !raised[subject] {
			return fmt.Sprintf("no alarm of %s; alarms %v", subject, b.Alarms)
		}
	}
	return c.unfinished()
}

// unfinished names a settlement that the wallet did not report, or orders of
// which the platform has heard nothing.
func (c *scenario) unfinished() (told string) {
	c.platform.with(func() {
		if n := len(c.platform.transfers); n < c.orders {
			told = fmt.Sprintf("%d orders were taken, and the platform knows %d transfers", c.orders, n)
		}
		open := 0
		for _, e := range c.platform.feed {
			if e.open() && !c.loose[e.GetSettlementId()] {
				open++
				told = fmt.Sprintf("%d settlements are booked and not acknowledged, such as %s", open, e.GetSettlementId())
			}
		}
	})
	return told
}

const agreement = "the books equal the platform's, and every settlement is acknowledged"

// converge waits until the wallet has done all that there is to do.
func (c *scenario) converge() { c.convergeWithin(c.patience) }

func (c *scenario) convergeWithin(patience time.Duration) {
	begin := time.Now()
	for moved := begin; ; time.Sleep(lookPause) {
		told := c.difference()
		if told == "" {
			return
		}
		if time.Since(begin) > patience {
			c.stop(agreement, "after %v: %s", patience, told)
		}
		if time.Since(moved) > leaseEvery {
			c.platform.shiftClock(leaseShift)
			moved = time.Now()
		}
	}
}

// finish is the end of every case.
func (c *scenario) finish() {
	c.converge()
	time.Sleep(calm)
	if told := c.difference(); told != "" {
		c.stop(agreement+", and stay so", "%s", told)
	}
	c.checkTransactions()
	c.checkTransfers()
	c.checkOrder()
	c.checkAlarms()
}

// checkTransactions wants one wallet transaction for each settlement, in all
// calls that the wallet made, be they answered or not.
func (c *scenario) checkTransactions() {
	told := make(map[string]string)
	for _, made := range c.stage.recorded(acknowledgeCall) {
		for _, item := range made.request.(*originalsv1.AcknowledgeSettlementsRequest).GetItems() {
			id, transaction := item.GetSettlementId(), item.GetWalletTransactionId()
			if item.GetResult() != originalsv1.Acknowledgement_APPLIED {
				continue
			}
			if told[id] != "" && told[id] != transaction {
				c.stop("one walletTransactionId for each settlement", "%s was reported as %s and as %s", id, told[id], transaction)
			}
			told[id] = transaction
		}
	}
	of := make(map[string]string)
	for id, transaction := range told {
		if of[transaction] != "" {
			c.stop("a walletTransactionId names one settlement", "%s was reported for %s and for %s", transaction, of[transaction], id)
		}
		of[transaction] = id
	}
}

// checkTransfers wants one transferId for each order.
func (c *scenario) checkTransfers() {
	made := make(map[string]bool)
	for _, call := range c.stage.recorded(transferCall) {
		made[call.request.(*originalsv1.CreateTransferRequest).GetTransferId()] = true
	}
	if len(made) > c.orders {
		c.stop("one transferId for each order, also when it is repeated", "%d orders made transfers with %d ids", c.orders, len(made))
	}
}

// checkOrder wants the bookings of each player once and in their order.
func (c *scenario) checkOrder() {
	var players []string
	c.platform.with(func() { players = slices.Clone(c.platform.players) })
	for _, player := range players[:min(len(players), playersInOrder)] {
		var want []string
		c.platform.with(func() {
			for _, e := range c.platform.runs[player] {
				if !c.poison[e.GetSettlementId()] {
					want = append(want, e.GetSettlementId())
				}
			}
		})
		b, err := c.read(player)
		if err != nil {
			c.stop("GET /books?playerId="+player+" is answered", "%v", err)
		}
		var got []string
		for _, booking := range b.Bookings {
			got = append(got, booking.Settlement)
		}
		if !slices.Equal(got, want) {
			c.stop("the settlements of each player once, in their order", "player %s has %s, and must have %s", player, short(got), short(want))
		}
	}
}

func short(ids []string) string {
	if len(ids) <= 8 {
		return fmt.Sprint(ids)
	}
	return fmt.Sprintf("%d bookings %v...", len(ids), ids[:8])
}

// checkAlarms wants no alarm but those of the case, which have come by now.
func (c *scenario) checkAlarms() {
	b, err := c.read("")
	if err != nil {
		c.stop("GET /books is answered", "%v", err)
	}
	for _, a := range b.Alarms {
		if !c.alarms[a.Subject] {
			c.stop("no alarm", "an alarm of %s: %s", a.Subject, a.Cause)
		}
	}
}

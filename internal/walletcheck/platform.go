package walletcheck

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// maxAmount is the largest amount of the Wallet API.
const maxAmount = 1<<53 - 1

// account is a player's money in one currency.
type account struct{ player, currency string }

// platform keeps the Wallet API's promises in memory: transfers once for each
// id, settlements in their order, leases with fencing tokens. It plays no games:
// a case says how a round ended. It is safe for concurrent use.
type platform struct {
	originalsv1.UnimplementedSettlementServiceServer

	mu       sync.Mutex
	clock    func() time.Time
	shift    time.Duration // of the platform's clock
	balances map[account]int64

	transfers map[string]*originalsv1.Transfer
	busy      map[string]int // how often a transfer is still answered with IN_PROGRESS

	feed    []*entry // in the order of settling
	byID    map[string]*entry
	players []string // in the order of their first settlement
	runs    map[string][]*entry
	last    map[uint32]int64 // newest sequence of each partition
	tokens  map[string]int64
	leases  map[string]*lease
	claims  map[string]*claim
	vain    map[string]bool // claims that get nothing, once
}

// entry is a settlement and what became of it.
type entry struct {
	*originalsv1.Settlement
	acknowledged bool
	rejected     bool
	again        bool // to be delivered although it was acknowledged
}

// open reports whether the settlement is to be delivered.
func (e *entry) open() bool { return e.again || !e.acknowledged && !e.rejected }

type lease struct {
	claim   string
	expires time.Time
}

type claim struct {
	request *originalsv1.ClaimSettlementsRequest
	items   []*originalsv1.Settlement
}

func newPlatform(clock func() time.Time) *platform {
	return &platform{
		clock: clock, balances: make(map[account]int64),
		transfers: make(map[string]*originalsv1.Transfer), busy: make(map[string]int),
		byID: make(map[string]*entry), runs: make(map[string][]*entry), last: make(map[uint32]int64),
		tokens: make(map[string]int64), leases: make(map[string]*lease), claims: make(map[string]*claim), vain: make(map[string]bool),
	}
}

func (p *platform) now() time.Time { return p.clock().Add(p.shift).UTC().Truncate(time.Microsecond) }

// shiftClock moves the platform's clock.
func (p *platform) shiftClock(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shift += by
}

func partitionOf(player string) uint32 {
	sum := sha256.Sum256([]byte(player))
	return uint32(sum[0]) % 64
}

// settle ends a round of a player and returns its settlement, as edits have left
// it. The stake was taken from the balance before.
func (p *platform) settle(player, currency string, stake, payout int64, result originalsv1.Settlement_Result, edits ...func(*entry)) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	partition := partitionOf(player)
	p.last[partition]++
	id := fmt.Sprintf("%02d-%016x-%d", partition, len(p.feed)*7919, p.last[partition])
	e := &entry{Settlement: &originalsv1.Settlement{
		SettlementId: id, RoundId: id, BetId: fmt.Sprintf("bet-%d", len(p.feed)+1), PlayerId: player,
		Partition: partition, Sequence: p.last[partition], Game: originalsv1.Game_DICE, Result: result,
		Stake:      &originalsv1.Money{Currency: currency, Amount: stake},
		Payout:     &originalsv1.Money{Currency: currency, Amount: payout},
		SettleTime: timestamppb.New(p.now()),
	}}
	p.balances[account{player, currency}] += payout - stake
	for _, edit := range edits {
		edit(e)
	}
	p.feed = append(p.feed, e)
	p.byID[id] = e
	if p.runs[player] == nil {
		p.players = append(p.players, player)
	}
	p.runs[player] = append(p.runs[player], e)
	return e
}

// with gives a case the whole state for a moment.
func (p *platform) with(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// CreateTransfer applies a transfer once.
func (p *platform) CreateTransfer(_ context.Context, req *originalsv1.CreateTransferRequest) (*originalsv1.Transfer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := checkTransfer(req); err != nil {
		return nil, err
	}
	id := req.GetTransferId()
	if p.busy[id] > 0 {
		p.busy[id]--
		return nil, reason.New(reason.InProgress, "another call is at this transfer")
	}
	if known := p.transfers[id]; known != nil {
		return replay(known, req)
	}
	t := &originalsv1.Transfer{
		TransferId: id, PlayerId: req.GetPlayerId(), Direction: req.GetDirection(),
		Money: proto.CloneOf(req.GetMoney()), CreateTime: timestamppb.New(p.now()),
	}
	p.apply(t)
	p.transfers[id] = t
	return proto.CloneOf(t), nil
}

func checkTransfer(req *originalsv1.CreateTransferRequest) error {
	switch {
	case req.GetTransferId() == "" || len(req.GetTransferId()) > 40:
		return reason.Field("transferId", "must be 1 to 40 characters")
	case req.GetPlayerId() == "":
		return reason.Field("playerId", "is missing")
	case req.GetDirection() == originalsv1.Transfer_DIRECTION_UNSPECIFIED:
		return reason.Field("direction", "must be DEPOSIT or WITHDRAWAL")
	case req.GetMoney().GetCurrency() == "":
		return reason.Field("currency", "is missing")
	case req.GetMoney().GetAmount() < 1 || req.GetMoney().GetAmount() > maxAmount:
		return reason.Field("amount", "must be 1 to 9007199254740991")
	}
	return nil
}

func replay(known *originalsv1.Transfer, req *originalsv1.CreateTransferRequest) (*originalsv1.Transfer, error) {
	switch {
	case known.GetState() == originalsv1.Transfer_CANCELLED:
		return nil, reason.New(reason.TransferCancelled, "the transfer was cancelled before it was applied")
	case known.GetPlayerId() != req.GetPlayerId():
		return nil, reason.New(reason.TransferIDReused, "playerId differs", "field", "playerId")
	case known.GetDirection() != req.GetDirection():
		return nil, reason.New(reason.TransferIDReused, "direction differs", "field", "direction")
	case !proto.Equal(known.GetMoney(), req.GetMoney()):
		return nil, reason.New(reason.TransferIDReused, "money differs", "field", "money")
	}
	t := proto.CloneOf(known)
	t.Replayed = true
	return t, nil
}

func (p *platform) apply(t *originalsv1.Transfer) {
	of := account{t.GetPlayerId(), t.GetMoney().GetCurrency()}
	change := t.GetMoney().GetAmount()
	if t.GetDirection() == originalsv1.Transfer_WITHDRAWAL {
		change = -change
	}
	after := p.balances[of] + change
	switch {
	case after < 0:
		t.State, t.Refusal = originalsv1.Transfer_REFUSED, string(reason.InsufficientFunds)
	case after > maxAmount:
		t.State, t.Refusal = originalsv1.Transfer_REFUSED, string(reason.BalanceLimit)
	default:
		p.balances[of] = after
		t.State = originalsv1.Transfer_APPLIED
		t.BalanceAfter = &originalsv1.Money{Currency: of.currency, Amount: after}
	}
}

// GetTransfer returns a transfer.
func (p *platform) GetTransfer(_ context.Context, req *originalsv1.GetTransferRequest) (*originalsv1.Transfer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.transfers[req.GetTransferId()]
	if t == nil {
		return nil, reason.New(reason.TransferNotFound, "no such transfer")
	}
	t = proto.CloneOf(t)
	t.Replayed = true
	return t, nil
}

// CancelTransfer remembers an id that was never seen, so that the late original
// is refused.
func (p *platform) CancelTransfer(_ context.Context, req *originalsv1.CancelTransferRequest) (*originalsv1.Transfer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.transfers[req.GetTransferId()]
	if t != nil {
		t = proto.CloneOf(t)
		t.Replayed = true
		return t, nil
	}
	t = &originalsv1.Transfer{
		TransferId: req.GetTransferId(), State: originalsv1.Transfer_CANCELLED, CreateTime: timestamppb.New(p.now()),
	}
	p.transfers[t.TransferId] = t
	return proto.CloneOf(t), nil
}

// ListPlayerBalances lists the balances of a player.
func (p *platform) ListPlayerBalances(_ context.Context, req *originalsv1.ListPlayerBalancesRequest) (*originalsv1.ListPlayerBalancesResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	res := new(originalsv1.ListPlayerBalancesResponse)
	for of, units := range p.balances {
		if of.player == req.GetPlayerId() {
			res.Balances = append(res.Balances, &originalsv1.Money{Currency: of.currency, Amount: units})
		}
	}
	if len(res.Balances) == 0 {
		return nil, reason.New(reason.PlayerNotFound, "no such player")
	}
	slices.SortFunc(res.Balances, func(a, b *originalsv1.Money) int { return compare(a.Currency, b.Currency) })
	return res, nil
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

package ledger

import (
	"crypto/sha256"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/money"
)

// Leaf returns the text that stands for a settlement in a Merkle tree: its fields
// in this order, with one space between them and nothing at the end,
//
//	settlement id, sequence, player id, bet id, game (DICE, LIMBO, ROULETTE, MINES
//	or CRASH), currency, stake, payout, result (WON, LOST or VOID), settle time
//	in Unix milliseconds
//
// where numbers are decimal. None of the fields can hold a space.
func (r SettledRound) Leaf() string {
	return strings.Join([]string{
		r.Round.String(), strconv.FormatUint(r.Sequence, 10), r.Player.ID, r.BetID, strings.ToUpper(r.Game.String()),
		string(r.Currency), strconv.FormatInt(int64(r.Stake), 10), strconv.FormatInt(int64(r.Payout), 10), r.result(),
		strconv.FormatInt(r.SettleTime.UnixMilli(), 10),
	}, " ")
}

func (r SettledRound) result() string {
	switch {
	case r.State == Void:
		return "VOID"
	case r.Payout > 0:
		return "WON"
	}
	return "LOST"
}

// Merkle computes the Merkle tree hash of RFC 6962, 2.1, over leaves that come
// one by one: SHA-256(0x00 leaf) and SHA-256(0x01 left right). It keeps one hash
// for each bit of their number. The zero value has no leaves.
type Merkle struct {
	count uint64
	stack [][32]byte // roots of complete trees, the largest first
}

// Add adds a leaf.
func (m *Merkle) Add(leaf string) {
	m.stack = append(m.stack, sha256.Sum256(append([]byte{0}, leaf...)))
	m.count++
	for range bits.TrailingZeros64(m.count) {
		last := len(m.stack) - 1
		m.stack[last-1] = node(m.stack[last-1], m.stack[last])
		m.stack = m.stack[:last]
	}
}

// Root returns the hash over the leaves so far; SHA-256 of nothing when there are
// none.
func (m *Merkle) Root() [32]byte {
	if m.count == 0 {
		return sha256.Sum256(nil)
	}
	root := m.stack[len(m.stack)-1]
	for i := len(m.stack) - 2; i >= 0; i-- {
		root = node(m.stack[i], root)
	}
	return root
}

func node(left, right [32]byte) [32]byte {
	var text [65]byte
	text[0] = 1
	copy(text[1:], left[:])
	copy(text[33:], right[:])
	return sha256.Sum256(text[:])
}

// Sums adds up settlements by currency.
type Sums map[money.Currency]*DigestSum

// Add adds a settlement.
func (s Sums) Add(r SettledRound) {
	sum := s[r.Currency]
	if sum == nil {
		sum = &DigestSum{Currency: r.Currency}
		s[r.Currency] = sum
	}
	sum.Count++
	add128(&sum.Stake, r.Stake)
	add128(&sum.Payout, r.Payout)
}

func add128(n *[2]uint64, u money.Units) {
	var carry uint64
	n[1], carry = bits.Add64(n[1], uint64(u), 0)
	n[0] += carry
}

// List returns the sums by currency, ascending.
func (s Sums) List() []DigestSum {
	var list []DigestSum
	for _, sum := range s {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b DigestSum) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return list
}

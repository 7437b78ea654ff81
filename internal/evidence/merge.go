package evidence

import (
	"cmp"
	"hash/maphash"
	"math/big"
	"math/bits"
	"slices"
	"sync"

	"github.com/openoriginals/originals/internal/bet"
)

// betDigest stands for a bet id. Its 96 bits are keyed afresh in each process: two ids of a million share one with a
// chance of 2^-57.
type betDigest struct {
	high  uint64
	low   uint32
	nonce uint32
}

var betKeys = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestBet(betID []byte, nonce uint32) betDigest {
	return betDigest{maphash.Bytes(betKeys[0], betID), uint32(maphash.Bytes(betKeys[1], betID)), nonce}
}

// shards is how many sets the digests are divided into, so that each fits a processor's cache.
const shards = 256

// betSet collects the digests of all bets.
type betSet [shards][]betDigest

// expectedBets bounds how many bets are made room for on the word of a document.
const expectedBets = 1 << 20

// reserve makes room for this many bets, since growing takes longer than adding.
func (s *betSet) reserve(bets uint32) {
	room := int(min(bets, expectedBets)) / shards
	room += room/4 + 8 // the shards are not quite equal
	for i := range s {
		s[i] = make([]betDigest, 0, room)
	}
}

func (s *betSet) add(bets []betDigest) {
	for _, b := range bets {
		shard := b.high >> 56
		s[shard] = append(s[shard], b)
	}
}

// repeat is a bet id that stands twice.
type repeat struct{ first, second uint32 }

// repeats finds the bet ids that stand twice, in the order of the second nonce.
func (s *betSet) repeats(workers int) []repeat {
	found := make([][]repeat, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			var table []uint32
			for i := w; i < shards; i += workers {
				table, found[w] = repeatsIn(s[i], table, found[w])
			}
		})
	}
	group.Wait()
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b repeat) int { return cmp.Compare(a.second, b.second) })
	return all
}

// repeatsIn looks through one shard with a table of open addressing, which it returns for the next one.
func repeatsIn(bets []betDigest, table []uint32, found []repeat) ([]uint32, []repeat) {
	size := 1 << bits.Len(uint(2*len(bets)))
	if len(table) < size {
		table = make([]uint32, size)
	}
	table = table[:size]
	clear(table)
	mask := uint64(size - 1)
	for i, b := range bets {
		at := b.high & mask
		for table[at] != 0 {
			if other := bets[table[at]-1]; other.high == b.high && other.low == b.low {
				found = append(found, repeat{other.nonce, b.nonce})
				break
			}
			at = (at + 1) & mask
		}
		if table[at] == 0 {
			table[at] = uint32(i + 1)
		}
	}
	return table[:cap(table)], found
}

// sum adds amounts without a limit that a document could reach.
type sum struct{ high, low uint64 }

func (s *sum) add(t sum) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, t.low, 0)
	s.high, _ = bits.Add64(s.high, t.high, carry)
}

func (s *sum) units() *big.Int {
	total := new(big.Int).SetUint64(s.high)
	return total.Lsh(total, 64).Or(total, new(big.Int).SetUint64(s.low))
}

// totals counts rounds by game, and money by currency.
type totals struct {
	games      [5]uint64 // by bet.Game; void rounds at 0
	currencies []*currencyTotal
	places     map[string]*currencyTotal
}

type currencyTotal struct {
	currency             string
	staked, paid         sum
	wasStaked, wasPaidIn bool
}

func (t *totals) add(r *round) {
	if r.void {
		t.games[0]++
	} else {
		t.games[r.game]++
	}
	stake := t.of(r.stakeCurrency)
	stake.staked.add(sum{low: uint64(r.stake)})
	stake.wasStaked = true
	payout := t.of(r.payoutCurrency)
	payout.paid.add(sum{low: uint64(r.payout)})
	payout.wasPaidIn = true
}

// of returns the total of a currency. Nearly all rounds are in the first one.
func (t *totals) of(currency []byte) *currencyTotal {
	if len(t.currencies) > 0 && t.currencies[0].currency == string(currency) {
		return t.currencies[0]
	}
	if known := t.places[string(currency)]; known != nil {
		return known
	}
	if t.places == nil {
		t.places = map[string]*currencyTotal{}
	}
	c := &currencyTotal{currency: string(currency)}
	t.currencies = append(t.currencies, c)
	t.places[c.currency] = c
	return c
}

func (t *totals) merge(other *totals) {
	for i, n := range other.games {
		t.games[i] += n
	}
	for _, from := range other.currencies {
		to := t.of([]byte(from.currency))
		to.staked.add(from.staked)
		to.paid.add(from.paid)
		to.wasStaked = to.wasStaked || from.wasStaked
		to.wasPaidIn = to.wasPaidIn || from.wasPaidIn
	}
}

func (t *totals) summary(rounds uint64) Summary {
	s := Summary{Rounds: rounds, Games: map[string]uint64{}, Staked: []Sum{}, Paid: []Sum{}}
	for g, n := range t.games {
		switch {
		case n == 0:
		case g == 0:
			s.Games["void"] = n
		default:
			s.Games[bet.Game(g).String()] = n
		}
	}
	for _, c := range t.currencies {
		if c.wasStaked {
			s.Staked = append(s.Staked, Sum{c.currency, c.staked.units()})
		}
		if c.wasPaidIn {
			s.Paid = append(s.Paid, Sum{c.currency, c.paid.units()})
		}
	}
	return s
}

package redisledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/redisscript"
	"github.com/openoriginals/originals/internal/rng"
)

// reply is the answer of a script: a word, and what follows it. What is not
// there reads as empty, and fails where something has to be.
type reply []any

func (r reply) word() string { return r.text(0) }

func (r reply) text(i int) string {
	if i >= len(r) {
		return ""
	}
	s, _ := r[i].(string)
	return s
}

// number reads a whole number; what is none reads as -1.
func (r reply) number(i int) int64 {
	if i >= len(r) {
		return -1
	}
	n, ok := r[i].(int64)
	if !ok {
		return -1
	}
	return n
}

func (r reply) list(i int) reply {
	if i >= len(r) {
		return nil
	}
	l, _ := r[i].([]any)
	return l
}

// fields reads a list of names and values.
func (r reply) fields(i int) map[string]string {
	list := r.list(i)
	m := make(map[string]string, len(list)/2)
	for j := 0; j+1 < len(list); j += 2 {
		m[list.text(j)] = list.text(j + 1)
	}
	return m
}

// pairNames are the fields of a pair in the order of show_pair in prelude.lua,
// which says what they hold.
var pairNames = [...]string{"id", "u", "k", "s", "p", "q", "o", "c", "n", "e", "v", "d"}

// pair reads a pair; it is empty where there is none.
func (r reply) pair(i int) map[string]string {
	list := r.list(i)
	m := make(map[string]string, len(pairNames))
	for j := range list {
		if j < len(pairNames) {
			m[pairNames[j]] = list.text(j)
		}
	}
	return m
}

// unexpected is the error for a word that the script has no reason to say.
func (r reply) unexpected(sc *redisscript.Script) error {
	return fmt.Errorf("redisledger: %s: %w: %q", sc.Name(), errReply, r.word())
}

var errPair = errors.New("redisledger: not the record of a seed pair")

var causes = map[string]ledger.Cause{
	"R": ledger.CauseRotated, "S": ledger.CauseSupport, "T": ledger.CauseStoreReplaced, "X": ledger.CauseExhausted,
}

func changed(letter string) error {
	cause, ok := causes[letter]
	if !ok {
		return fmt.Errorf("%w: cause %q", errPair, letter)
	}
	return &ledger.ChangedError{Cause: cause}
}

// parsePair reads the fields of a pair.
func parsePair(partition int, f map[string]string) (ledger.SeedPair, error) {
	p, err := pairFields(partition, f)
	if err != nil {
		return ledger.SeedPair{}, fmt.Errorf("%w: %s: %w", errPair, f["id"], err)
	}
	return p, nil
}

func pairFields(partition int, f map[string]string) (p ledger.SeedPair, err error) {
	p.Sealed = []byte(f["k"])
	if len(p.Sealed) < SealedSize {
		return p, errSealed
	}
	p.ClientSeed = rng.ClientSeed(f["s"])
	p.Cause = causes[f["e"]]
	p.Detail = f["d"]
	p.State = pairState(f)
	if p.ID, err = parsePairID(partition, f["id"]); err != nil {
		return p, err
	}
	if p.Player, err = ledger.ParsePlayer(f["u"]); err != nil {
		return p, err
	}
	if p.Nonce, err = parseNonce(f["n"]); err != nil {
		return p, err
	}
	if p.Previous, err = optionalPairID(partition, f["p"]); err != nil {
		return p, err
	}
	if p.Next, err = optionalPairID(partition, f["q"]); err != nil {
		return p, err
	}
	if p.Open, err = parseOpen(f["o"]); err != nil {
		return p, err
	}
	if p.CreateTime, err = parseTime(f["c"]); err != nil {
		return p, err
	}
	if f["v"] != "" {
		p.RevealTime, err = parseTime(f["v"])
	}
	return p, err
}

// pairState follows from what a pair's record has, so that it cannot contradict
// it.
func pairState(f map[string]string) ledger.PairState {
	switch {
	case f["e"] == "":
		return ledger.Active
	case f["v"] == "":
		return ledger.Retired
	case f["s"] == "":
		return ledger.Unused
	}
	return ledger.Revealed
}

func parsePairID(partition int, short string) (ledger.PairID, error) {
	return ledger.ParsePairID(fmt.Sprintf("%02d-%s", partition, short))
}

func optionalPairID(partition int, short string) (ledger.PairID, error) {
	if short == "" {
		return "", nil
	}
	return parsePairID(partition, short)
}

// parseNonce also reads the nonce after the last usable one.
func parseNonce(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// parseOpen reads ",5,6,".
func parseOpen(text string) ([]uint32, error) {
	if text == "" {
		return nil, nil
	}
	var open []uint32
	for _, t := range strings.Split(strings.Trim(text, ","), ",") {
		n, err := parseNonce(t)
		if err != nil {
			return nil, err
		}
		open = append(open, n)
	}
	return open, nil
}

func parseTime(text string) (time.Time, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(ms).UTC(), err
}

func parseUnits(text string) (money.Units, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || money.Units(n) > money.MaxUnits {
		return 0, fmt.Errorf("redisledger: %q is not an amount", text)
	}
	return money.Units(n), nil
}

// parseBalances takes the balances from the fields of a player.
func parseBalances(f map[string]string) (map[money.Currency]money.Units, error) {
	balances := make(map[money.Currency]money.Units)
	for name, value := range f {
		code, ok := strings.CutPrefix(name, "b")
		if !ok {
			continue
		}
		units, err := parseUnits(value)
		if err != nil {
			return nil, err
		}
		balances[money.Currency(code)] = units
	}
	return balances, nil
}

// parseLoaded reads the answer of every script that ends with a round.
func parseLoaded(partition int, r reply) (ledger.Loaded, error) {
	pair, err := parsePair(partition, r.pair(6))
	if err != nil {
		return ledger.Loaded{}, err
	}
	nonce, err := parseNonce(r.text(1))
	if err != nil {
		return ledger.Loaded{}, err
	}
	round, err := parseRecord(ledger.RoundID{Pair: pair.ID, Nonce: nonce}, r.text(2), r.text(3), r.text(4))
	if err != nil {
		return ledger.Loaded{}, err
	}
	balances, err := parseBalances(r.fields(5))
	if err != nil {
		return ledger.Loaded{}, err
	}
	return ledger.Loaded{Round: round, Pair: pair, Balance: balances[round.Currency]}, nil
}

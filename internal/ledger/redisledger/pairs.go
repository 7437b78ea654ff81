package redisledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// SealedSize is how long a sealed server seed is, in bytes: key id 1, nonce 12,
// server seed 32, tag 16. Anything else is refused; what is stored shorter is
// never used.
const SealedSize = 61

var errSealed = errors.New("sealed server seed is missing or not of 61 bytes")

// checkOffer refuses a pair that could not be announced.
func checkOffer(p ledger.Player, offer ledger.Announced) error {
	if len(offer.Sealed) != SealedSize {
		return fmt.Errorf("redisledger: %w", errSealed)
	}
	if _, err := ledger.ParsePairID(string(offer.ID)); err != nil {
		return err
	}
	if offer.ID.Partition() != p.Partition() {
		return errors.New("redisledger: offered seed pair of another partition")
	}
	return nil
}

// Open implements ledger.Store.
func (s *Store) Open(ctx context.Context, p ledger.Player, offer ledger.Announced, grant []ledger.Grant) (ledger.Account, error) {
	if err := checkOffer(p, offer); err != nil {
		return ledger.Account{}, err
	}
	args := []any{p.String(), short(offer.ID), offer.Sealed}
	for _, g := range grant {
		if g.Amount < 0 || g.Amount > money.MaxUnits {
			return ledger.Account{}, fmt.Errorf("redisledger: grant of %d", g.Amount)
		}
		args = append(args, string(g.Currency), int64(g.Amount))
	}
	r, err := s.run(ctx, openScript, []string{playerKey(p)}, args...)
	if err != nil {
		return ledger.Account{}, err
	}
	if r.word() != "OK" {
		return ledger.Account{}, r.unexpected(openScript)
	}
	return parseAccount(p.Partition(), r)
}

func parseAccount(partition int, r reply) (a ledger.Account, err error) {
	player := r.fields(1)
	if a.Announced, err = parseAnnounced(partition, player["c"], player["k"]); err != nil {
		return ledger.Account{}, err
	}
	if a.Balances, err = parseBalances(player); err != nil {
		return ledger.Account{}, err
	}
	if a.Active, err = optionalPair(partition, r.pair(2)); err != nil {
		return ledger.Account{}, err
	}
	return a, nil
}

func parseAnnounced(partition int, short, sealed string) (ledger.Announced, error) {
	id, err := parsePairID(partition, short)
	if err != nil {
		return ledger.Announced{}, err
	}
	if len(sealed) < SealedSize {
		return ledger.Announced{}, fmt.Errorf("redisledger: announced %s: %w", id, errSealed)
	}
	return ledger.Announced{ID: id, Sealed: []byte(sealed)}, nil
}

func optionalPair(partition int, f map[string]string) (*ledger.SeedPair, error) {
	if len(f) == 0 {
		return nil, nil
	}
	p, err := parsePair(partition, f)
	return &p, err
}

// Rotate implements ledger.Store.
func (s *Store) Rotate(ctx context.Context, q ledger.Rotation) (ledger.Rotated, error) {
	if err := checkOffer(q.Player, q.Offer); err != nil {
		return ledger.Rotated{}, err
	}
	if _, err := ledger.ParsePairID(string(q.Announced)); err != nil || q.Announced.Partition() != q.Player.Partition() {
		return ledger.Rotated{}, ledger.ErrNoPair
	}
	r, err := s.run(ctx, rotateScript, []string{playerKey(q.Player), clientSeedsKey(q.Player)},
		q.Player.String(), short(q.Announced), string(q.ClientSeed), clientSeedDigest(q.ClientSeed),
		short(q.Offer.ID), q.Offer.Sealed)
	if err != nil {
		return ledger.Rotated{}, err
	}
	partition := q.Player.Partition()
	switch r.word() {
	case "OK":
		return parseRotated(partition, r)
	case "NOPAIR":
		return ledger.Rotated{}, ledger.ErrNoPair
	case "CHANGED":
		return ledger.Rotated{}, changed(r.text(1))
	case "STALE":
		return ledger.Rotated{}, &ledger.StaleError{Pair: q.Announced}
	case "USED":
		return ledger.Rotated{}, reason.New(reason.ClientSeedUsed, "this client seed was used before; draw a new one")
	case "OPEN":
		return ledger.Rotated{}, roundOpen(partition, r.text(1), r.text(2))
	}
	return ledger.Rotated{}, r.unexpected(rotateScript)
}

func parseRotated(partition int, r reply) (a ledger.Rotated, err error) {
	if a.Previous, err = optionalPair(partition, r.pair(1)); err != nil {
		return ledger.Rotated{}, err
	}
	if a.Active, err = parsePair(partition, r.pair(2)); err != nil {
		return ledger.Rotated{}, err
	}
	if a.Announced, err = parseAnnounced(partition, r.text(3), r.text(4)); err != nil {
		return ledger.Rotated{}, err
	}
	return a, nil
}

func roundOpen(partition int, short, nonce string) error {
	id, err := parsePairID(partition, short)
	if err != nil {
		return err
	}
	n, err := parseNonce(nonce)
	if err != nil {
		return fmt.Errorf("%w: open round: %w", errPair, err)
	}
	return &ledger.RoundOpenError{Round: ledger.RoundID{Pair: id, Nonce: n}}
}

// Retire implements ledger.Store.
func (s *Store) Retire(ctx context.Context, p ledger.Player, pair ledger.PairID, detail string) (ledger.SeedPair, error) {
	if !ownPartition(p, pair) {
		return ledger.SeedPair{}, ledger.ErrNoPair
	}
	r, err := s.run(ctx, retireScript, []string{playerKey(p)}, short(pair), p.String(), detail)
	if err != nil {
		return ledger.SeedPair{}, err
	}
	switch r.word() {
	case "OK":
		return parsePair(p.Partition(), r.pair(1))
	case "NOPAIR":
		return ledger.SeedPair{}, ledger.ErrNoPair
	case "OPEN":
		return ledger.SeedPair{}, roundOpen(p.Partition(), r.text(1), r.text(2))
	}
	return ledger.SeedPair{}, r.unexpected(retireScript)
}

// ownPartition reports whether id can be a pair of p.
func ownPartition(p ledger.Player, id ledger.PairID) bool {
	_, err := ledger.ParsePairID(string(id))
	return err == nil && id.Partition() == p.Partition()
}

// SeedPair implements ledger.Store.
func (s *Store) SeedPair(ctx context.Context, id ledger.PairID) (ledger.SeedPair, error) {
	if _, err := ledger.ParsePairID(string(id)); err != nil {
		return ledger.SeedPair{}, ledger.ErrNotFound
	}
	r, err := s.run(ctx, pairScript, []string{pairKey(id)}, short(id))
	if err != nil {
		return ledger.SeedPair{}, err
	}
	switch r.word() {
	case "OK":
		return parsePair(id.Partition(), r.pair(1))
	case "NOTFOUND":
		return ledger.SeedPair{}, ledger.ErrNotFound
	}
	return ledger.SeedPair{}, r.unexpected(pairScript)
}

// SeedPairs implements ledger.Store.
func (s *Store) SeedPairs(ctx context.Context, p ledger.Player, from ledger.PairID, count int) ([]ledger.SeedPair, error) {
	first := ""
	if from != "" {
		if !ownPartition(p, from) {
			return nil, ledger.ErrNotFound
		}
		first = short(from)
	}
	r, err := s.run(ctx, pairsScript, []string{playerKey(p)}, p.String(), first, strconv.Itoa(count))
	if err != nil {
		return nil, err
	}
	switch r.word() {
	case "OK":
	case "NOTFOUND":
		return nil, ledger.ErrNotFound
	default:
		return nil, r.unexpected(pairsScript)
	}
	list := r.list(1)
	pairs := make([]ledger.SeedPair, len(list))
	for i := range list {
		if pairs[i], err = parsePair(p.Partition(), list.pair(i)); err != nil {
			return nil, err
		}
	}
	return pairs, nil
}

// Balances implements ledger.Store.
func (s *Store) Balances(ctx context.Context, p ledger.Player) (map[money.Currency]money.Units, error) {
	r, err := s.run(ctx, balancesScript, []string{playerKey(p)})
	if err != nil {
		return nil, err
	}
	switch r.word() {
	case "OK":
		return parseBalances(r.fields(1))
	case "NOTFOUND":
		return nil, ledger.ErrNotFound
	}
	return nil, r.unexpected(balancesScript)
}

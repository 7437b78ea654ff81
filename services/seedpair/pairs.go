package seedpair

import (
	"context"
	"errors"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// GetSeedPair shows the active pair and the next commitment. It creates a new
// player.
func (s *Service) GetSeedPair(ctx context.Context, _ *originalsv1.GetSeedPairRequest) (*originalsv1.GetSeedPairResponse, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.account(ctx, p)
	if err != nil {
		return nil, err
	}
	next, err := s.open(p, a.Announced.ID, a.Announced.Sealed)
	if err != nil {
		return nil, err
	}
	res := &originalsv1.GetSeedPairResponse{NextCommitment: next.commitment.String(), NextScheme: rng.Scheme}
	if a.Active == nil {
		return res, nil
	}
	if res.Active, err = s.pairView(*a.Active); err != nil {
		return nil, withNext(err, next.commitment)
	}
	return res, nil
}

// withNext adds the next commitment to a COMMITMENT_MISMATCH, so that a player
// whose active pair does not open can rotate away from it.
func withNext(err error, next rng.Commitment) error {
	var e *reason.Error
	if errors.As(err, &e) && e.Reason == reason.CommitmentMismatch {
		return e.With("nextCommitment", next.String())
	}
	return err
}

// pairView shows a pair, with its server seed only once it is revealed. A pair
// that does not open is not shown: its commitment is not known.
func (s *Service) pairView(pair ledger.SeedPair) (*originalsv1.SeedPair, error) {
	o, err := s.open(pair.Player, pair.ID, pair.Sealed)
	if err != nil {
		return nil, err
	}
	return wire.SeedPair(pair, o.commitment, &o.serverSeed), nil
}

// RotateSeedPair activates the pair whose commitment the player was shown. The
// pair before takes no bets from that moment; its open instant rounds are
// settled here, so that it can be revealed.
func (s *Service) RotateSeedPair(ctx context.Context, req *originalsv1.RotateSeedPairRequest) (*originalsv1.RotateSeedPairResponse, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, err
	}
	clientSeed, err := rng.ParseClientSeed(req.GetClientSeed())
	if err != nil {
		return nil, reason.Field("clientSeed", "must be 1 to 64 visible ASCII characters")
	}
	commitment, err := rng.ParseCommitment(req.GetNextCommitment())
	if err != nil {
		return nil, reason.Field("nextCommitment", "must be 64 lower-case hex digits")
	}
	rotated, err := s.rotate(ctx, p, commitment, clientSeed)
	if err != nil {
		return nil, err
	}
	return s.rotatedView(ctx, p, commitment, rotated)
}

func (s *Service) rotate(ctx context.Context, p ledger.Player, shown rng.Commitment, clientSeed rng.ClientSeed) (ledger.Rotated, error) {
	a, err := s.account(ctx, p)
	if err != nil {
		return ledger.Rotated{}, err
	}
	id := ledger.NewPairID(p, shown)
	if id == a.Announced.ID {
		if err := s.checkShown(p, a.Announced, shown); err != nil {
			return ledger.Rotated{}, err
		}
	}
	offer, err := s.offer(p)
	if err != nil {
		return ledger.Rotated{}, err
	}
	rotated, err := s.o.Store.Rotate(ctx, ledger.Rotation{Player: p, Announced: id, ClientSeed: clientSeed, Offer: offer})
	if err != nil {
		return ledger.Rotated{}, s.rotateRefusal(ctx, p, err)
	}
	return rotated, nil
}

// checkShown compares all of the commitment; the id holds its first 80 bits.
func (s *Service) checkShown(p ledger.Player, a ledger.Announced, shown rng.Commitment) error {
	o, err := s.open(p, a.ID, a.Sealed)
	if err != nil {
		return err
	}
	if o.commitment != shown {
		return errNotShown
	}
	return nil
}

var errNotShown = reason.Field("nextCommitment", "is no commitment that this player was shown")

func (s *Service) rotateRefusal(ctx context.Context, p ledger.Player, err error) error {
	var changed *ledger.ChangedError
	var stale *ledger.StaleError
	var open *ledger.RoundOpenError
	switch {
	case errors.As(err, &changed):
		return s.pairChanged(ctx, p, changed.Cause)
	case errors.As(err, &stale):
		return reason.New(reason.CommitmentStale, "another rotation has activated this commitment; the client seed sent with this call is burnt",
			"seedPairId", string(stale.Pair))
	case errors.As(err, &open):
		return roundOpen(open)
	case errors.Is(err, ledger.ErrNoPair):
		return s.notShown(ctx, p)
	}
	return err
}

// notShown refuses a commitment that the store does not know. If the store was
// replaced, the player may well have been shown it.
func (s *Service) notShown(ctx context.Context, p ledger.Player) error {
	cause, err := s.lossCause(ctx, p)
	if err != nil {
		return err
	}
	if cause == "" {
		return errNotShown
	}
	return s.pairChanged(ctx, p, cause)
}

func (s *Service) rotatedView(ctx context.Context, p ledger.Player, shown rng.Commitment, r ledger.Rotated) (*originalsv1.RotateSeedPairResponse, error) {
	active, err := s.pairView(r.Active)
	if err != nil {
		return nil, err
	}
	if active.GetCommitment() != shown.String() {
		return nil, errNotShown
	}
	s.next.learn(r.Active)
	next, err := s.open(p, r.Announced.ID, r.Announced.Sealed)
	if err != nil {
		return nil, err
	}
	res := &originalsv1.RotateSeedPairResponse{Active: active, NextCommitment: next.commitment.String(), NextScheme: rng.Scheme}
	if r.Previous == nil || r.Previous.Cause != ledger.CauseRotated {
		return res, nil // it ended before this rotation, and is revealed already
	}
	if _, err := s.open(p, r.Previous.ID, r.Previous.Sealed); err != nil {
		// The pair before does not open its commitment. The alarm is raised;
		// the player has rotated away from it all the same.
		return res, nil
	}
	previous, err := s.finishPair(ctx, *r.Previous)
	if err != nil {
		return nil, err
	}
	res.Revealed, err = s.pairView(previous)
	return res, err
}

// finishPair settles the open instant rounds of a retired pair, which reveals
// it.
func (s *Service) finishPair(ctx context.Context, pair ledger.SeedPair) (ledger.SeedPair, error) {
	if pair.State != ledger.Retired || len(pair.Open) == 0 {
		return pair, nil
	}
	for _, nonce := range pair.Open {
		if err := s.finish(ctx, ledger.RoundID{Pair: pair.ID, Nonce: nonce}, false); err != nil {
			return pair, err
		}
	}
	return s.o.Store.SeedPair(ctx, pair.ID)
}

// ListSeedPairs lists the player's pairs, newest first. A page may be short or
// empty, with a token for the next, if a pair is damaged.
func (s *Service) ListSeedPairs(ctx context.Context, req *originalsv1.ListSeedPairsRequest) (*originalsv1.ListSeedPairsResponse, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, err
	}
	size, err := wire.PageSize(req.PageSize)
	if err != nil {
		return nil, err
	}
	filter := wire.ListFilter("pairs", p.String())
	from, err := readPairToken(filter, p, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	pairs, err := s.o.Store.SeedPairs(ctx, p, from, size+1)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
	res := &originalsv1.ListSeedPairsResponse{}
	if len(pairs) > size {
		res.NextPageToken = wire.PageToken(filter, string(pairs[size].ID))
		pairs = pairs[:size]
	}
	res.SeedPairs = s.whole(pairs)
	return res, nil
}

// whole shows the pairs that open their commitment. One that does not is left
// out, with the alarm raised, and hides none of the others; asked for by its id
// it is refused by name.
func (s *Service) whole(pairs []ledger.SeedPair) []*originalsv1.SeedPair {
	var views []*originalsv1.SeedPair
	for _, pair := range pairs {
		if view, err := s.pairView(pair); err == nil {
			views = append(views, view)
		}
	}
	return views
}

// GetSeedPairById shows one pair of the player.
func (s *Service) GetSeedPairById(ctx context.Context, req *originalsv1.GetSeedPairByIdRequest) (*originalsv1.SeedPair, error) {
	pair, err := s.ownPair(ctx, req.GetSeedPairId())
	if err != nil {
		return nil, err
	}
	return s.pairView(pair)
}

var errSeedPairNotFound = reason.New(reason.SeedPairNotFound, "there is no such seed pair")

// ownPair returns a pair of the player whom the token names; another player's
// is not found.
func (s *Service) ownPair(ctx context.Context, text string) (ledger.SeedPair, error) {
	p, err := player(ctx)
	if err != nil {
		return ledger.SeedPair{}, err
	}
	if err := wire.ID("seedPairId", text); err != nil {
		return ledger.SeedPair{}, err
	}
	id, err := ledger.ParsePairID(text)
	if err != nil || id.Partition() != p.Partition() {
		return ledger.SeedPair{}, errSeedPairNotFound
	}
	pair, err := s.o.Store.SeedPair(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) || (err == nil && pair.Player != p) {
		return ledger.SeedPair{}, errSeedPairNotFound
	}
	return pair, err
}

// GetEvidence returns a page of a revealed pair's rounds in the order of their
// nonces.
func (s *Service) GetEvidence(ctx context.Context, req *originalsv1.GetEvidenceRequest) (*originalsv1.GetEvidenceResponse, error) {
	pair, err := s.ownPair(ctx, req.GetSeedPairId())
	if err != nil {
		return nil, err
	}
	size, err := wire.PageSize(req.PageSize)
	if err != nil {
		return nil, err
	}
	filter := wire.ListFilter("evidence", pair.Player.String(), string(pair.ID))
	first, err := readNonceToken(filter, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	if pair.State != ledger.Revealed && pair.State != ledger.Unused {
		return nil, reason.New(reason.SeedPairUnrevealed, "the seed pair is not revealed: rotate first")
	}
	view, err := s.pairView(pair)
	if err != nil {
		return nil, err
	}
	res := &originalsv1.GetEvidenceResponse{SeedPair: view}
	rounds, err := s.o.Store.Rounds(ctx, pair.ID, first, size)
	if err != nil {
		return nil, err
	}
	if res.Rounds, err = s.records(pair, rounds); err != nil {
		return nil, err
	}
	if next := uint64(first) + uint64(size); next < uint64(pair.Nonce) {
		res.NextPageToken = wire.PageToken(filter, nonceText(uint32(next)))
	}
	return res, nil
}

func (s *Service) records(pair ledger.SeedPair, rounds []ledger.Round) ([]*originalsv1.Round, error) {
	out := make([]*originalsv1.Round, 0, len(rounds))
	for _, r := range rounds {
		m, err := s.record(ledger.Loaded{Round: r, Pair: pair})
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Announce returns the next commitment of a player, whom it creates if he is
// new, and the id that its pair will have.
func (s *Service) Announce(ctx context.Context, p ledger.Player) (rng.Commitment, ledger.PairID, error) {
	a, err := s.account(ctx, p)
	if err != nil {
		return rng.Commitment{}, "", err
	}
	o, err := s.open(p, a.Announced.ID, a.Announced.Sealed)
	return o.commitment, a.Announced.ID, err
}

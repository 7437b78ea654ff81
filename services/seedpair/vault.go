package seedpair

import (
	"context"
	"errors"
	"fmt"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// Draw takes a bet of the caller's game. The signature is handed out only
// after the store has locked the stake.
func (s *Service) Draw(ctx context.Context, req *vaultv1.DrawRequest) (*vaultv1.DrawResponse, error) {
	p, err := player(ctx)
	if err != nil {
		return nil, err
	}
	d, err := s.readDraw(p, req)
	if err != nil {
		return nil, err
	}
	if err := auth.RequirePeer(ctx, d.Bet.Game.String()); err != nil {
		return nil, err
	}
	return s.draw(ctx, d, req.GetSettle())
}

// readDraw turns a request into a bet with its terms, or refuses the field
// that is wrong.
func (s *Service) readDraw(p ledger.Player, req *vaultv1.DrawRequest) (ledger.Draw, error) {
	b, err := parameters(req)
	if err != nil {
		return ledger.Draw{}, err
	}
	if err := wire.BetID(req.GetBetId()); err != nil {
		return ledger.Draw{}, err
	}
	if err := wire.ID("seedPairId", req.GetSeedPairId()); err != nil {
		return ledger.Draw{}, err
	}
	currency, stake, err := wire.Stake(req.GetStake())
	if err != nil {
		return ledger.Draw{}, err
	}
	if b.Game == bet.Roulette && b.Roulette.Stake() != stake {
		return ledger.Draw{}, reason.Field("stake", "is not the sum of the chips")
	}
	limits, ok := s.o.House.Limits(b.Game, currency)
	if !ok {
		return ledger.Draw{}, reason.Field("currency", "is not taken by this house")
	}
	terms, refusal := b.Terms(stake, limits)
	return ledger.Draw{
		Player: p, Pair: ledger.PairID(req.GetSeedPairId()), BetID: req.GetBetId(),
		Bet: b, Currency: currency, Stake: stake,
		WorstCase: terms.WorstCase, MaxPicks: terms.MaxPicks, Refusal: termsRefusal(refusal),
	}, nil
}

func parameters(req *vaultv1.DrawRequest) (bet.Bet, error) {
	switch p := req.GetParameters().(type) {
	case *vaultv1.DrawRequest_Dice:
		return wire.DiceBet(p.Dice)
	case *vaultv1.DrawRequest_Limbo:
		return wire.LimboBet(p.Limbo)
	case *vaultv1.DrawRequest_Roulette:
		return wire.RouletteBet(p.Roulette)
	case *vaultv1.DrawRequest_Mines:
		return wire.MinesBet(p.Mines)
	}
	return bet.Bet{}, reason.Field("parameters", "are missing")
}

// termsRefusal gives a refusal of bet.Terms its reason.
func termsRefusal(err error) error {
	var limit *bet.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limit):
		return reason.New(reason.LimitExceeded, fmt.Sprintf("the bet is outside the limit %s", limit.Limit),
			"limit", limit.Limit, "value", fmt.Sprint(int64(limit.Value)))
	case errors.Is(err, bet.ErrStakeTooSmall):
		return reason.New(reason.StakeTooSmall, "a win would not pay more than the stake")
	case errors.Is(err, bet.ErrNoWinPossible):
		return reason.New(reason.NoWinPossible, "no pocket pays more than the stake")
	}
	return err
}

func (s *Service) draw(ctx context.Context, d ledger.Draw, settle bool) (*vaultv1.DrawResponse, error) {
	if err := s.checkPair(ctx, d); err != nil {
		return nil, err
	}
	var known *decided
	if settle {
		known = s.decide(d)
	}
	if known != nil {
		d.Decided = &ledger.Decided{Nonce: known.nonce, Payout: known.outcome.Payout}
	}
	drawn, err := s.o.Store.Draw(ctx, d)
	if err != nil {
		return nil, s.drawRefusal(ctx, d, err)
	}
	if drawn.Pair.ID == "" && known != nil {
		return s.settledAsDecided(drawn, known), nil
	}
	l := ledger.Loaded(drawn)
	s.next.learn(l.Pair)
	if l.Round.State == ledger.Open && l.Round.Bet.Game != bet.Mines {
		s.drawn.put(l)
	}
	res, err := s.drawResponse(l)
	if err == nil && known != nil && l.Round.State == ledger.Settled {
		res.Signature, err = s.signature(l)
	}
	return res, err
}

// decided is what an instant bet comes to with the nonce that it will most
// likely get.
type decided struct {
	nextBet
	commitment rng.Commitment
	signature  rng.Signature
	outcome    bet.Outcome
}

// decide derives a bet before it is taken. It returns nil when the nonce is not
// known: the bet is then taken and settled in two steps, with the same outcome.
func (s *Service) decide(d ledger.Draw) *decided {
	next, known := s.next.get(d.Pair)
	o, opened := s.opened.get(d.Pair)
	if !known || !opened || d.Bet.Game == bet.Mines || d.Refusal != nil {
		return nil
	}
	signature, err := o.serverSeed.Sign(next.clientSeed, next.nonce)
	if err != nil {
		return nil
	}
	out, err := d.Bet.Outcome(signature, d.Stake, nil)
	if err != nil {
		return nil
	}
	return &decided{next, o.commitment, signature, out}
}

// settledAsDecided shows a round that the store has taken and settled with what
// was decided: nothing of it is derived again here, and the game derives it.
func (s *Service) settledAsDecided(drawn ledger.Drawn, known *decided) *vaultv1.DrawResponse {
	s.next.learn(ledger.SeedPair{ID: drawn.Round.ID.Pair, ClientSeed: known.clientSeed, Nonce: known.nonce + 1})
	view := wire.Round(drawn.Round, known.clientSeed, known.commitment, &known.outcome)
	view.Balance = wire.Money(drawn.Round.Currency, drawn.Balance)
	return &vaultv1.DrawResponse{Round: view, Signature: known.signature.Reveal()}
}

// checkPair opens the pair's server seed before the stake is locked, so that a
// seed that is missing or does not open its commitment costs nobody a stake.
func (s *Service) checkPair(ctx context.Context, d ledger.Draw) error {
	if _, ok := s.opened.get(d.Pair); ok {
		return nil
	}
	id, err := ledger.ParsePairID(string(d.Pair))
	if err != nil || id.Partition() != d.Player.Partition() {
		return s.drawRefusal(ctx, d, ledger.ErrNoPair)
	}
	pair, err := s.o.Store.SeedPair(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) || (err == nil && pair.Player != d.Player) {
		return s.drawRefusal(ctx, d, ledger.ErrNoPair)
	}
	if err != nil {
		return err
	}
	if _, err = s.open(pair.Player, pair.ID, pair.Sealed); err == nil {
		s.next.learn(pair)
		return nil
	}
	next, _, nextErr := s.Announce(ctx, d.Player)
	if nextErr != nil {
		return err
	}
	return withNext(err, next)
}

// drawRefusal turns an error of the store into what the client acts on.
func (s *Service) drawRefusal(ctx context.Context, d ledger.Draw, err error) error {
	var changed *ledger.ChangedError
	var open *ledger.RoundOpenError
	switch {
	case errors.As(err, &changed):
		return s.pairChanged(ctx, d.Player, changed.Cause)
	case errors.Is(err, ledger.ErrNoPair):
		return s.pairChanged(ctx, d.Player, "")
	case errors.As(err, &open):
		return roundOpen(open).With("nonce", nonceText(open.Nonce))
	}
	return err
}

func roundOpen(e *ledger.RoundOpenError) *reason.Error {
	return reason.New(reason.RoundOpen, "a mines round is open: pick or cash out first", "roundId", e.Round.String())
}

// pairChanged says which pair takes bets instead, if any. The cause is empty
// when the pair named was never this player's.
func (s *Service) pairChanged(ctx context.Context, p ledger.Player, cause ledger.Cause) error {
	_, err := s.o.Store.Balances(ctx, p)
	if errors.Is(err, ledger.ErrNotFound) {
		return reason.New(reason.SeedPairRequired, "there is no active seed pair: ask for a commitment, then rotate")
	}
	if err != nil {
		return err
	}
	a, err := s.account(ctx, p)
	if err != nil {
		return err
	}
	if a.Active == nil && cause == "" {
		if cause, err = s.lossCause(ctx, p); err != nil {
			return err
		}
	}
	next, err := s.open(p, a.Announced.ID, a.Announced.Sealed)
	if err != nil {
		return err
	}
	return changedReason(a.Active, cause).With("nextCommitment", next.commitment.String())
}

// lossCause returns STORE_REPLACED if that ended the player's latest pair, else
// an empty cause. A pair or a commitment that the player was shown and the
// store does not know may then be among what was lost.
func (s *Service) lossCause(ctx context.Context, p ledger.Player) (ledger.Cause, error) {
	latest, err := s.o.Store.SeedPairs(ctx, p, "", 1)
	if errors.Is(err, ledger.ErrNotFound) {
		return "", nil
	}
	if err != nil || len(latest) == 0 || latest[0].Cause != ledger.CauseStoreReplaced {
		return "", err
	}
	return ledger.CauseStoreReplaced, nil
}

func changedReason(active *ledger.SeedPair, cause ledger.Cause) *reason.Error {
	switch {
	case active != nil && cause == "":
		cause = ledger.CauseRotated
	case active == nil && cause == "":
		return reason.New(reason.SeedPairRequired, "there is no active seed pair: rotate first")
	case active == nil && cause == ledger.CauseExhausted:
		return reason.New(reason.SeedPairExhausted, "the seed pair has used its last nonce: rotate first", "cause", string(cause))
	}
	e := reason.New(reason.SeedPairChanged, "the seed pair takes no more bets; nothing was staked", "cause", string(cause))
	if active != nil {
		e = e.With("seedPairId", string(active.ID))
	}
	return e
}

// drawResponse shows a round, and its signature while it is open.
func (s *Service) drawResponse(l ledger.Loaded) (*vaultv1.DrawResponse, error) {
	view, err := s.view(l)
	if err != nil {
		return nil, err
	}
	res := &vaultv1.DrawResponse{Round: view}
	if l.Round.State != ledger.Open {
		return res, nil
	}
	res.Signature, err = s.signature(l)
	return res, err
}

// signature reveals the signature of one round, for the game that plays it.
func (s *Service) signature(l ledger.Loaded) (string, error) {
	o, err := s.open(l.Pair.Player, l.Pair.ID, l.Pair.Sealed)
	if err != nil {
		return "", err
	}
	signature, err := o.serverSeed.Sign(l.Pair.ClientSeed, l.Round.ID.Nonce)
	if err != nil {
		return "", err
	}
	return signature.Reveal(), nil
}

// view shows a round with the balance, and its outcome once it has ended.
func (s *Service) view(l ledger.Loaded) (*originalsv1.Round, error) {
	m, err := s.record(l)
	if err != nil {
		return nil, err
	}
	m.Balance = wire.Money(l.Round.Currency, l.Balance)
	return m, nil
}

// record shows a round without a balance.
func (s *Service) record(l ledger.Loaded) (*originalsv1.Round, error) {
	o, err := s.open(l.Pair.Player, l.Pair.ID, l.Pair.Sealed)
	if err != nil {
		return nil, err
	}
	if l.Round.State == ledger.Open {
		return wire.Round(l.Round, l.Pair.ClientSeed, o.commitment, nil), nil
	}
	out, err := s.outcome(l, l.Round.Picks)
	if err != nil {
		return nil, err
	}
	return wire.Round(l.Round, l.Pair.ClientSeed, o.commitment, &out), nil
}

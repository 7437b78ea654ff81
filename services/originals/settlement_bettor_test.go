package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// bettor is a player who bets as fast as answers come, and insists on one for
// each bet.
type bettor struct {
	t           testing.TB
	name, token string
	dice        originalsv1.DiceServiceClient
	pairs       originalsv1.SeedPairServiceClient

	pair          string
	bets          int
	rounds        map[string]bool // ids of rounds that were answered
	stake, payout int64           // of those, in hundredths of a FUN
	unknown       int             // calls without an answer
	rotations     int
}

func newBettor(t testing.TB, conn grpc.ClientConnInterface, name, token string) *bettor {
	return &bettor{
		t: t, name: name, token: token, rounds: make(map[string]bool),
		dice: originalsv1.NewDiceServiceClient(conn), pairs: originalsv1.NewSeedPairServiceClient(conn),
	}
}

// insist repeats a call until its answer is definite. It returns a refusal, nil
// when there is none.
func (b *bettor) insist(ctx context.Context, do func(context.Context) error) *reason.Error {
	for tries := 0; ; tries++ {
		own, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+b.token), 5*time.Second)
		err := do(own)
		cancel()
		if err == nil {
			return nil
		}
		if refusal, ok := reason.From(err); ok && (refusal.Reason.Known() || refusal.Reason == reason.Internal) {
			return refusal
		}
		if ctx.Err() != nil {
			b.t.Errorf("%s: no definite answer in time: %v", b.name, err)
			return reason.New(reason.Internal, "the test is over")
		}
		b.unknown++
		time.Sleep(time.Duration(10*min(tries+1, 10)) * time.Millisecond)
	}
}

// rotate activates a new pair. Another try follows when the store was replaced
// on the way.
func (b *bettor) rotate(ctx context.Context) {
	b.rotations++
	var shown *originalsv1.GetSeedPairResponse
	refusal := b.insist(ctx, func(ctx context.Context) (err error) {
		shown, err = b.pairs.GetSeedPair(ctx, &originalsv1.GetSeedPairRequest{})
		return err
	})
	if refusal != nil {
		b.t.Errorf("%s: seed pair: %v", b.name, refusal)
		return
	}
	var rotated *originalsv1.RotateSeedPairResponse
	request := &originalsv1.RotateSeedPairRequest{ClientSeed: newClientSeed(), NextCommitment: shown.GetNextCommitment()}
	refusal = b.insist(ctx, func(ctx context.Context) (err error) {
		rotated, err = b.pairs.RotateSeedPair(ctx, request)
		return err
	})
	switch {
	case refusal == nil:
		b.pair = rotated.GetActive().GetSeedPairId()
	case refusal.Reason != reason.CommitmentStale && refusal.Reason != reason.SeedPairChanged:
		b.t.Errorf("%s: rotation: %v", b.name, refusal)
	}
}

// bet plays one round of dice, under whatever pair there is.
func (b *bettor) bet(ctx context.Context) {
	for ctx.Err() == nil && !b.t.Failed() {
		if b.pair == "" {
			b.rotate(ctx)
			continue
		}
		b.bets++
		stake := int64(100 + b.bets%7*53)
		request := &originalsv1.DiceServicePlaceBetRequest{
			BetId: fmt.Sprintf("b%d", b.bets), SeedPairId: b.pair, Stake: fun(stake), Target: 5049, Direction: originalsv1.Dice_OVER,
		}
		var round *originalsv1.Round
		refusal := b.insist(ctx, func(ctx context.Context) (err error) {
			round, err = b.dice.PlaceBet(ctx, request)
			return err
		})
		switch {
		case refusal == nil:
			b.took(round, stake)
			return
		case refusal.Reason == reason.SeedPairChanged, refusal.Reason == reason.SeedPairRequired:
			b.pair = refusal.Metadata["seedPairId"] // empty when none is active
		default:
			b.t.Errorf("%s: bet %s: %v", b.name, request.GetBetId(), refusal)
		}
	}
}

func (b *bettor) took(round *originalsv1.Round, stake int64) {
	if round.GetState() != originalsv1.Round_SETTLED || round.GetStake().GetAmount() != stake || b.rounds[round.GetRoundId()] {
		b.t.Errorf("%s: answered with %v, which is not a new round of %d", b.name, round, stake)
	}
	b.rounds[round.GetRoundId()] = true
	b.stake += stake
	b.payout += round.GetPayout().GetAmount()
}

// walletFace is the reference wallet, as its own house sees it.
type walletFace struct {
	t   testing.TB
	url string
}

var walletHTTP = &http.Client{Timeout: 10 * time.Second}

// order repeats an order until the wallet has stored it.
func (w walletFace) order(ctx context.Context, path, id, player string, amount int64) {
	body, err := json.Marshal(map[string]string{
		"requestId": id, "playerId": player, "currency": "FUN", "amount": fmt.Sprint(amount),
	})
	if err != nil {
		w.t.Error(err)
		return
	}
	for ctx.Err() == nil {
		res, err := walletHTTP.Post(w.url+path, "application/json", bytes.NewReader(body))
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
			if res.StatusCode != http.StatusServiceUnavailable {
				w.t.Errorf("%s of %s: status %d", path, id, res.StatusCode)
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Errorf("%s of %s was not taken", path, id)
}

// walletBooks is what GET /books and /books?playerId= say.
type walletBooks struct {
	Accounts []struct {
		Player   string `json:"playerId"`
		Currency string `json:"currency"`
		Wallet   int64  `json:"walletAmount,string"`
		Transit  int64  `json:"transitAmount,string"`
		Game     int64  `json:"gameAmount,string"`
		Bookings int    `json:"bookings"`
	} `json:"accounts"`
	Alarms []struct {
		Subject string `json:"subject"`
		Cause   string `json:"cause"`
	} `json:"alarms"`
	Bookings []struct {
		Settlement string `json:"settlementId"`
		Amount     int64  `json:"amount,string"`
	} `json:"bookings"`
	Transfers []walletTransfer `json:"transfers"`
}

type walletTransfer struct {
	ID    string `json:"transferId"`
	State string `json:"state"`
}

func (w walletFace) get(path string, answer any) error {
	res, err := walletHTTP.Get(w.url + path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, res.StatusCode)
	}
	return json.NewDecoder(res.Body).Decode(answer)
}

package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// echo answers every call with one round at once, so that only the gateway is
// measured.
type echo struct{ round *originalsv1.Round }

func (e echo) Invoke(_ context.Context, _ string, _, reply any, _ ...grpc.CallOption) error {
	proto.Merge(reply.(proto.Message), e.round)
	return nil
}

func (echo) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, http.ErrNotSupported
}

// BenchmarkDiceBet measures a bet through the gateway beside grpc-gateway as it
// comes, which checks next to nothing.
func BenchmarkDiceBet(b *testing.B) {
	const bet = `{"betId":"b-1","seedPairId":"p17-x","stake":{"currency":"FUN","amount":"100"},"target":5050,"direction":"OVER"}`
	now := timestamppb.Now()
	conn := echo{&originalsv1.Round{
		RoundId: "p17-0123456789abcdef-7", BetId: "b-1", Game: originalsv1.Game_DICE, Scheme: "originals-v1", State: originalsv1.Round_SETTLED,
		SeedPairId: "p17-0123456789abcdef", Commitment: strings.Repeat("0", 64), ClientSeed: strings.Repeat("c", 32), Nonce: 7,
		Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, Payout: &originalsv1.Money{Currency: "FUN"},
		CreateTime: now, SettleTime: now, Balance: &originalsv1.Money{Currency: "FUN", Amount: 999900},
		Dice: &originalsv1.Dice{Target: 5050, Direction: originalsv1.Dice_OVER, Roll: proto.Uint32(1), Win: proto.Bool(false)},
	}}
	strict, err := New(Options{Conn: conn, CORS: []string{"https://casino.example"}})
	if err != nil {
		b.Fatal(err)
	}
	bare := runtime.NewServeMux()
	if err := originalsv1.RegisterDiceServiceHandlerClient(context.Background(), bare, originalsv1.NewDiceServiceClient(conn)); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{{"gateway", strict}, {"bare", bare}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequest("POST", "/v1/dice/bets", strings.NewReader(bet))
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Authorization", "Bearer x")
				w := httptest.NewRecorder()
				if c.handler.ServeHTTP(w, request); w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
)

// dice is a service that does what a test tells it to.
type dice struct {
	originalsv1.UnimplementedDiceServiceServer
	mu   sync.Mutex // a handler may begin after its caller has gone
	does place
}

type place func(ctx context.Context, r *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error)

func (d *dice) set(p place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.does = p
}

func (d *dice) PlaceBet(ctx context.Context, r *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
	d.mu.Lock()
	does := d.does
	d.mu.Unlock()
	return does(ctx, r)
}

// overTCP serves on a real socket of the loopback interface, and dials it.
func overTCP(t testing.TB, register func(grpc.ServiceRegistrar), options ...grpc.ServerOption) *grpc.ClientConn {
	t.Helper()
	s := grpc.NewServer(options...)
	register(s)
	return dialServer(t, s)
}

func dialServer(t testing.TB, s *grpc.Server) *grpc.ClientConn {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(socket) }()
	conn, err := grpc.NewClient(socket.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
	})
	return conn
}

const placeBet = "/originals.v1.DiceService/PlaceBet"

// outcome is all that a caller can see of a call.
type outcome struct {
	round           *originalsv1.Round
	code            codes.Code
	message         string
	details         string
	header, trailer string
}

func observe(ctx context.Context, conn grpc.ClientConnInterface, method string, request proto.Message) outcome {
	var o outcome
	var header, trailer metadata.MD
	o.round = new(originalsv1.Round)
	err := conn.Invoke(ctx, method, request, o.round, grpc.Header(&header), grpc.Trailer(&trailer))
	st, ok := status.FromError(err)
	if !ok {
		o.message = fmt.Sprintf("not a status: %T", err)
		return o
	}
	if st.Code() == codes.DeadlineExceeded { // gRPC has two texts for it
		st = status.New(st.Code(), "")
	}
	o.code, o.message, o.details = st.Code(), st.Message(), fmt.Sprint(st.Details())
	o.header, o.trailer = ours(header), ours(trailer)
	return o
}

// ours prints the metadata of ours, whose keys begin with t-.
func ours(md metadata.MD) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(md)) {
		if strings.HasPrefix(key, "t-") {
			lines = append(lines, fmt.Sprint(key, md[key]))
		}
	}
	return strings.Join(lines, " ")
}

var errPlain = errors.New("plain")

// unaryCases are calls whose results must be the same in process and over TCP.
var unaryCases = []struct {
	name   string
	method string
	before func(ctx context.Context) (context.Context, context.CancelFunc)
	bet    *originalsv1.DiceServicePlaceBetRequest
	place  place
	code   codes.Code

	// A caller with a role is told so, or writes what is no text: it is not compared.
	roleless bool
}{
	{name: "answer", place: func(_ context.Context, r *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: r.GetBetId(), Nonce: r.GetTarget(), Stake: r.GetStake()}, nil
	}},
	{name: "nil answer", place: func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return nil, nil
	}, code: codes.OK},
	{name: "plain error", code: codes.Unknown, place: fails(errPlain)},
	{name: "status", code: codes.Aborted, place: fails(status.Error(codes.Aborted, "no: é\n%"))},
	{name: "wrapped status", code: codes.NotFound, place: fails(fmt.Errorf("outer: %w", status.Error(codes.NotFound, "inner")))},
	{name: "refusal with metadata", code: codes.FailedPrecondition, place: fails(reason.New(reason.LimitExceeded, "too much", "limit", "maxStake"))},
	{name: "wrapped refusal", code: codes.NotFound, place: fails(fmt.Errorf("outer: %w", reason.New(reason.RoundNotFound, "none")))},
	{name: "context error", code: codes.Canceled, place: fails(context.Canceled)},
	{name: "wrapped context error", code: codes.DeadlineExceeded, place: fails(fmt.Errorf("redis: %w", context.DeadlineExceeded))},
	{name: "answer beside an error", code: codes.Internal, place: func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: "x"}, status.Error(codes.Internal, "x")
	}},
	{name: "unknown service", method: "/originals.v1.NoService/PlaceBet", code: codes.Unimplemented},
	{name: "unknown method", method: "/originals.v1.DiceService/No", code: codes.Unimplemented},
	{name: "unimplemented", method: "/originals.v1.LimboService/PlaceBet", code: codes.Unimplemented},
	{name: "malformed method", method: "/PlaceBet", code: codes.Unimplemented},
	{name: "request that is not UTF-8", bet: &originalsv1.DiceServicePlaceBetRequest{BetId: "\xff"}, code: codes.Internal, roleless: true},
	{name: "answer that is not UTF-8", roleless: true, code: codes.Internal, place: func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: "\xff"}, nil
	}},
	{name: "too large", bet: &originalsv1.DiceServicePlaceBetRequest{BetId: strings.Repeat("x", MaxMessageBytes)}, code: codes.ResourceExhausted},
	{name: "as large as can be", bet: &originalsv1.DiceServicePlaceBetRequest{BetId: strings.Repeat("x", MaxMessageBytes-4)}, place: func(_ context.Context, r *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{Nonce: uint32(len(r.GetBetId()))}, nil
	}},
	{name: "cancelled before", code: codes.Canceled, before: func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	}, place: fails(errPlain)},
	{name: "late before", code: codes.DeadlineExceeded, before: func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithDeadline(ctx, time.Now().Add(-time.Second))
	}, place: fails(errPlain)},
	{name: "late in the handler", code: codes.DeadlineExceeded, before: within(50 * time.Millisecond), place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}},
	{name: "answer that comes late", code: codes.DeadlineExceeded, before: within(50 * time.Millisecond), place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // the caller's clock may be behind
		return &originalsv1.Round{BetId: "late"}, nil
	}},
	{name: "deadline passes on", before: within(time.Hour), place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		deadline, ok := ctx.Deadline()
		left := time.Until(deadline)
		return &originalsv1.Round{BetId: fmt.Sprint(ok, left > 59*time.Minute, left <= time.Hour)}, nil
	}},
	{name: "no deadline", place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		_, ok := ctx.Deadline()
		return &originalsv1.Round{BetId: fmt.Sprint(ok)}, nil
	}},
	{name: "metadata passes on", before: func(ctx context.Context) (context.Context, context.CancelFunc) {
		return metadata.AppendToOutgoingContext(ctx, "T-A", "1", "t-a", "2", "t-bin", "\x00\xff", "user-agent", "forged", "te", "x"), func() {}
	}, place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		_, outgoing := metadata.FromOutgoingContext(ctx)
		return &originalsv1.Round{BetId: fmt.Sprintf("%q %v %v", ours(md), slices.Contains(md["user-agent"], "forged"), outgoing)}, nil
	}},
	{name: "incoming metadata do not pass on", before: func(ctx context.Context) (context.Context, context.CancelFunc) {
		return metadata.NewIncomingContext(ctx, metadata.Pairs("t-a", "1")), func() {}
	}, place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		return &originalsv1.Round{BetId: ours(md)}, nil
	}},
	{name: "identity of the caller does not pass on", roleless: true, before: func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx = auth.WithPeer(auth.NewContext(ctx, auth.Identity{Subject: "outer"}), "dice")
		return ctx, func() {}
	}, place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		_, ok := auth.FromContext(ctx)
		return &originalsv1.Round{BetId: fmt.Sprint(ok, auth.PeerRoles(ctx))}, nil
	}},
	{name: "headers and trailers", place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{}, errors.Join(
			grpc.SetHeader(ctx, metadata.Pairs("t-h", "1")), grpc.SetHeader(ctx, metadata.Pairs("t-h", "2")), grpc.SetTrailer(ctx, metadata.Pairs("t-t", "3")))
	}},
	{name: "header sent, then another", place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		first := grpc.SendHeader(ctx, metadata.Pairs("t-h", "1"))
		second := grpc.SendHeader(ctx, metadata.Pairs("t-h", "2"))
		third := grpc.SetHeader(ctx, metadata.Pairs("t-h", "3"))
		return &originalsv1.Round{BetId: fmt.Sprint(first == nil, second != nil, third != nil)}, nil
	}},
	{name: "trailers of an error", code: codes.Aborted, place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		if err := grpc.SetTrailer(ctx, metadata.Pairs("t-t", "3")); err != nil {
			return nil, err
		}
		return nil, status.Error(codes.Aborted, "x")
	}},
	{name: "method name", place: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		name, ok := grpc.Method(ctx)
		return &originalsv1.Round{BetId: fmt.Sprint(name, ok)}, nil
	}},
}

func fails(err error) place {
	return func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return nil, err
	}
}

func within(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// TestLocalIsLikeTCP makes each call three ways: in process, over TCP, and
// in process to a service that passes on over TCP.
func TestLocalIsLikeTCP(t *testing.T) {
	service := new(dice)
	register := func(reg grpc.ServiceRegistrar) {
		originalsv1.RegisterDiceServiceServer(reg, service)
		originalsv1.RegisterLimboServiceServer(reg, originalsv1.UnimplementedLimboServiceServer{})
	}
	tcp := overTCP(t, register, grpc.MaxRecvMsgSize(MaxMessageBytes))
	local := NewLocal(nil, nil)
	register(local)
	for _, test := range unaryCases {
		t.Run(test.name, func(t *testing.T) {
			service.set(test.place)
			if test.place == nil {
				service.set(fails(errPlain))
			}
			method := test.method
			if method == "" {
				method = placeBet
			}
			request := test.bet
			if request == nil {
				request = &originalsv1.DiceServicePlaceBetRequest{BetId: "b1", Target: 5000, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}}
			}
			see := func(conn grpc.ClientConnInterface) outcome {
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if test.before != nil {
					ctx, cancel = test.before(ctx)
				}
				defer cancel()
				return observe(ctx, conn, method, request)
			}
			want := see(tcp)
			if want.code != test.code {
				t.Errorf("over TCP the code is %v, the test expects %v", want.code, test.code)
			}
			want.compare(t, "a caller without a role", see(local))
			if !test.roleless {
				want.compare(t, "a caller with a role", see(local.As("limbo")))
			}
		})
	}
}

// compare reports how a call in process came out otherwise than over TCP.
func (want outcome) compare(t *testing.T, who string, got outcome) {
	t.Helper()
	if !proto.Equal(got.round, want.round) {
		t.Errorf("%s: answer\n%v, over TCP\n%v", who, got.round, want.round)
	}
	got.round, want.round = nil, nil
	if want.code == codes.Internal && got.code == want.code { // texts of the codec
		got.message, want.message = "", ""
	}
	if got != want {
		t.Errorf("%s: result\n%+v, over TCP\n%+v", who, got, want)
	}
}

func TestLocalCancellationReachesTheHandler(t *testing.T) {
	service := &dice{}
	local := NewLocal(nil, nil)
	originalsv1.RegisterDiceServiceServer(local, service)
	ctx, cancel := context.WithCancel(t.Context())
	service.set(func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if o := observe(ctx, local, placeBet, &originalsv1.DiceServicePlaceBetRequest{}); o.code != codes.Canceled {
		t.Errorf("%+v", o)
	}
	var kept context.Context
	service.set(func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		kept = ctx
		return &originalsv1.Round{}, nil
	})
	observe(t.Context(), local, placeBet, &originalsv1.DiceServicePlaceBetRequest{})
	if kept.Err() == nil {
		t.Error("the handler's context outlives the call")
	}
}

func TestLocalNeitherSideSeesLaterWrites(t *testing.T) {
	service := &dice{}
	local := NewLocal(nil, nil)
	originalsv1.RegisterDiceServiceServer(local, service)
	for _, conn := range []grpc.ClientConnInterface{local, local.As("limbo")} {
		var seen *originalsv1.DiceServicePlaceBetRequest
		answer := &originalsv1.Round{Stake: &originalsv1.Money{Amount: 1}}
		service.set(func(_ context.Context, r *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
			seen = r
			r.Stake.Amount = 7
			return answer, nil
		})
		request := &originalsv1.DiceServicePlaceBetRequest{Stake: &originalsv1.Money{Amount: 5}}
		round, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if request.Stake.Amount != 5 {
			t.Error("the handler wrote into the caller's request")
		}
		request.Stake.Amount, answer.Stake.Amount = 6, 2
		if seen.Stake.Amount != 7 || round.Stake.Amount != 1 {
			t.Error("a later write was seen on the other side")
		}
	}
}

func TestLocalRunsInterceptorsInOrder(t *testing.T) {
	var order []string
	named := func(name string) grpc.UnaryServerInterceptor {
		return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			order = append(order, name+info.FullMethod)
			return handler(ctx, req)
		}
	}
	local := NewLocal([]grpc.UnaryServerInterceptor{named("1"), named("2"), named("3")}, nil)
	originalsv1.RegisterDiceServiceServer(local, &dice{does: fails(errPlain)})
	observe(t.Context(), local, placeBet, &originalsv1.DiceServicePlaceBetRequest{})
	if !slices.Equal(order, []string{"1" + placeBet, "2" + placeBet, "3" + placeBet}) {
		t.Errorf("order %q", order)
	}
}

func TestLocalPeerRole(t *testing.T) {
	service := &dice{does: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: strings.Join(auth.PeerRoles(ctx), ",")}, nil
	}}
	local := NewLocal(nil, nil)
	originalsv1.RegisterDiceServiceServer(local, service)
	for want, conn := range map[string]grpc.ClientConnInterface{"": local, "limbo": local.As("limbo")} {
		// A mark in the caller's own context must not pass.
		ctx := auth.WithPeer(t.Context(), "mines")
		if o := observe(ctx, conn, placeBet, &originalsv1.DiceServicePlaceBetRequest{}); o.round.GetBetId() != want {
			t.Errorf("roles %q, want %q", o.round.GetBetId(), want)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	service := &dice{does: func(_ context.Context, r *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: r.GetBetId(), Stake: r.GetStake()}, nil
	}}
	register := func(reg grpc.ServiceRegistrar) { originalsv1.RegisterDiceServiceServer(reg, service) }
	local := NewLocal(nil, nil)
	register(local)
	pipe := bufconn.Listen(1 << 20)
	s := grpc.NewServer()
	register(s)
	go func() { _ = s.Serve(pipe) }()
	b.Cleanup(s.Stop)
	memory, err := grpc.NewClient("passthrough:pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = memory.Close() })
	request := &originalsv1.DiceServicePlaceBetRequest{BetId: "b-0123456789", SeedPairId: "17-abcdefghijklmnop", Target: 5000, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}}
	for name, conn := range map[string]grpc.ClientConnInterface{"local": local, "role": local.As("limbo"), "tcp": overTCP(b, register), "bufconn": memory} {
		b.Run(name, func(b *testing.B) {
			client := originalsv1.NewDiceServiceClient(conn)
			ctx := metadata.AppendToOutgoingContext(b.Context(), "authorization", "Bearer x", "x-request-id", "r1")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.PlaceBet(ctx, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"

	"github.com/openoriginals/originals/internal/reason"
)

// watcher is a service with a streaming method that does what a test tells it
// to.
type watcher struct {
	healthpb.UnimplementedHealthServer
	mu   sync.Mutex
	does func(r *healthpb.HealthCheckRequest, s watchServer) error
}

type watchServer = grpc.ServerStreamingServer[healthpb.HealthCheckResponse]

func (w *watcher) set(does func(r *healthpb.HealthCheckRequest, s watchServer) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.does = does
}

func (w *watcher) Watch(r *healthpb.HealthCheckRequest, s watchServer) error {
	w.mu.Lock()
	does := w.does
	w.mu.Unlock()
	return does(r, s)
}

func send(s watchServer, all ...healthpb.HealthCheckResponse_ServingStatus) error {
	for _, st := range all {
		if err := s.Send(&healthpb.HealthCheckResponse{Status: st}); err != nil {
			return err
		}
	}
	return nil
}

var streamCases = []struct {
	name  string
	limit int           // messages to read before the caller cancels; 0 for all
	time  time.Duration // that the caller gives; a minute where 0
	watch func(r *healthpb.HealthCheckRequest, s watchServer) error
}{
	{name: "three messages", watch: func(r *healthpb.HealthCheckRequest, s watchServer) error {
		if r.GetService() != "asked" {
			return errPlain
		}
		return send(s, 1, 2, 0)
	}},
	{name: "none", watch: func(*healthpb.HealthCheckRequest, watchServer) error { return nil }},
	{name: "error at once", watch: func(*healthpb.HealthCheckRequest, watchServer) error { return errPlain }},
	{name: "refusal after two", watch: func(_ *healthpb.HealthCheckRequest, s watchServer) error {
		if err := send(s, 1, 2); err != nil {
			return err
		}
		return reason.New(reason.RoundNotFound, "gone", "k", "v")
	}},
	{name: "headers and trailers", watch: func(_ *healthpb.HealthCheckRequest, s watchServer) error {
		s.SetTrailer(metadata.Pairs("t-t", "1"))
		err := errors.Join(s.SetHeader(metadata.Pairs("t-h", "1")), s.SendHeader(metadata.Pairs("t-h", "2")), send(s, 1))
		if s.SetHeader(metadata.Pairs("t-h", "3")) == nil {
			return errPlain
		}
		s.SetTrailer(metadata.Pairs("t-t", "2"))
		return err
	}},
	{name: "caller goes away", limit: 2, watch: func(_ *healthpb.HealthCheckRequest, s watchServer) error {
		for {
			if err := send(s, 1); err != nil {
				return err
			}
		}
	}},
	{name: "deadline", time: 200 * time.Millisecond, watch: func(_ *healthpb.HealthCheckRequest, s watchServer) error {
		if err := send(s, 1); err != nil {
			return err
		}
		<-s.Context().Done()
		return s.Context().Err()
	}},
}

// watch returns all that a caller can see of a streaming call.
func watch(t *testing.T, conn grpc.ClientConnInterface, limit int, timeout time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	stream, err := healthpb.NewHealthClient(conn).Watch(ctx, &healthpb.HealthCheckRequest{Service: "asked"})
	if err != nil {
		return fmt.Sprintf("no stream: %v", err)
	}
	var seen []string
	for i := 1; ; i++ {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			st := status.Convert(err)
			if st.Code() == codes.DeadlineExceeded { // gRPC has two texts for it
				st = status.New(st.Code(), "")
			}
			seen = append(seen, fmt.Sprintf("%v %q %v", st.Code(), st.Message(), st.Details()))
			break
		}
		seen = append(seen, m.GetStatus().String())
		if i == limit {
			cancel()
		}
	}
	if limit > 0 { // a message may have been under way
		return fmt.Sprint(seen[:limit], strings.HasPrefix(seen[len(seen)-1], "Canceled"))
	}
	header, _ := stream.Header() // its error is that of the stream
	return fmt.Sprint(seen, ours(header), ours(stream.Trailer()))
}

func TestLocalStreamIsLikeTCP(t *testing.T) {
	service := new(watcher)
	register := func(reg grpc.ServiceRegistrar) { healthpb.RegisterHealthServer(reg, service) }
	tcp := overTCP(t, register)
	local := NewLocal(nil, nil)
	register(local)
	passing := NewLocal(nil, nil)
	if err := Forward(passing, &healthpb.Health_ServiceDesc, tcp); err != nil {
		t.Fatal(err)
	}
	for _, test := range streamCases {
		t.Run(test.name, func(t *testing.T) {
			ended := make(chan struct{}, 3)
			service.set(func(r *healthpb.HealthCheckRequest, s watchServer) error {
				defer func() { ended <- struct{}{} }()
				return test.watch(r, s)
			})
			timeout := test.time
			if timeout == 0 {
				timeout = time.Minute
			}
			want := watch(t, tcp, test.limit, timeout)
			if got := watch(t, local, test.limit, timeout); got != want {
				t.Errorf("in process\n%s, over TCP\n%s", got, want)
			}
			if got := watch(t, passing, test.limit, timeout); got != want {
				t.Errorf("passed on\n%s, over TCP\n%s", got, want)
			}
			for range 3 {
				select {
				case <-ended:
				case <-time.After(10 * time.Second):
					t.Fatal("a handler has not ended")
				}
			}
		})
	}
}

func TestLocalStreamOfRequests(t *testing.T) {
	local := NewLocal(nil, nil)
	local.RegisterService(&grpc.ServiceDesc{ServiceName: "t", Streams: []grpc.StreamDesc{{
		StreamName: "Echo", ClientStreams: true, ServerStreams: true,
		Handler: func(_ any, s grpc.ServerStream) error {
			for {
				m := new(originalsv1.Money)
				if err := s.RecvMsg(m); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if err := s.SendMsg(m); err != nil {
					return err
				}
			}
		},
	}}}, nil)
	stream, err := local.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/t/Echo")
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for i := range int64(3) {
		m := &originalsv1.Money{Amount: i}
		if err := stream.SendMsg(m); err != nil {
			t.Fatal(err)
		}
		m.Amount = -1
		answer := new(originalsv1.Money)
		if err := stream.RecvMsg(answer); err != nil {
			t.Fatal(err)
		}
		got = append(got, answer.Amount)
	}
	if !slices.Equal(got, []int64{0, 1, 2}) {
		t.Errorf("echo %v", got)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(originalsv1.Money)); !errors.Is(err, io.EOF) {
		t.Errorf("end %v", err)
	}
	if err := stream.SendMsg(new(originalsv1.Money)); status.Code(err) != codes.Internal {
		t.Errorf("a message after the end: %v", err)
	}
}

func TestLocalStreamUnknownAndInterceptor(t *testing.T) {
	var method string
	local := NewLocal(nil, []grpc.StreamServerInterceptor{func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		method = info.FullMethod
		return status.Error(codes.PermissionDenied, "no")
	}})
	healthpb.RegisterHealthServer(local, &watcher{})
	for path, code := range map[string]codes.Code{
		"/grpc.health.v1.Health/Watch": codes.PermissionDenied, "/grpc.health.v1.Health/No": codes.Unimplemented, "/no/Watch": codes.Unimplemented,
	} {
		stream, err := local.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.RecvMsg(new(healthpb.HealthCheckResponse)); status.Code(err) != code {
			t.Errorf("%s: %v, want %v", path, err, code)
		}
	}
	if method != "/grpc.health.v1.Health/Watch" {
		t.Errorf("interceptor saw %q", method)
	}
}

// TestForwardIsLikeTheServiceItself makes the unary cases through a process
// that passes them on. Metadata other than the token and the request id are
// not passed on, and so are left out.
func TestForwardIsLikeTheServiceItself(t *testing.T) {
	service := new(dice)
	tcp := overTCP(t, func(reg grpc.ServiceRegistrar) { originalsv1.RegisterDiceServiceServer(reg, service) })
	passing := NewLocal(nil, nil)
	if err := Forward(passing, &originalsv1.DiceService_ServiceDesc, tcp); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, test := range unaryCases {
		if test.method != "" || test.bet != nil || test.name == "metadata passes on" || strings.HasPrefix(test.name, "header sent") {
			continue
		}
		ran++
		t.Run(test.name, func(t *testing.T) {
			service.set(test.place)
			see := func(conn grpc.ClientConnInterface) outcome {
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if test.before != nil {
					ctx, cancel = test.before(ctx)
				}
				defer cancel()
				o := observe(ctx, conn, placeBet, &originalsv1.DiceServicePlaceBetRequest{BetId: "b1"})
				o.round.BetId += "," + o.round.GetStake().GetCurrency()
				return o
			}
			want, got := see(tcp), see(passing)
			if got.round.String() != want.round.String() {
				t.Errorf("answer %v, of the service %v", got.round, want.round)
			}
			got.round, want.round = nil, nil
			if got != want {
				t.Errorf("result\n%+v, of the service\n%+v", got, want)
			}
		})
	}
	if ran < 15 {
		t.Errorf("%d cases", ran)
	}
}

func TestForwardCarriesTokenAndRequestID(t *testing.T) {
	service := &dice{does: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		return &originalsv1.Round{BetId: fmt.Sprint(md["authorization"], md["x-request-id"], md["cookie"])}, nil
	}}
	tcp := overTCP(t, func(reg grpc.ServiceRegistrar) { originalsv1.RegisterDiceServiceServer(reg, service) })
	passing := NewLocal(nil, nil)
	if err := Forward(passing, &originalsv1.DiceService_ServiceDesc, tcp); err != nil {
		t.Fatal(err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer x", "x-request-id", "r1", "cookie", "c")
	if o := observe(ctx, passing, placeBet, &originalsv1.DiceServicePlaceBetRequest{}); o.round.GetBetId() != "[Bearer x] [r1] []" {
		t.Errorf("%+v", o)
	}
}

func TestForwardRefusesWhatItCannotPassOn(t *testing.T) {
	local := NewLocal(nil, nil)
	for _, sd := range []*grpc.ServiceDesc{
		&grpc_reflection_v1.ServerReflection_ServiceDesc, {ServiceName: "none.Such"}, {ServiceName: "originals.v1.Round"},
	} {
		if err := Forward(local, sd, local); err == nil {
			t.Errorf("%s was registered", sd.ServiceName)
		}
	}
}

// TestForwardOnARealServer: gRPC's own registrar takes a passed-on service.
func TestForwardOnARealServer(t *testing.T) {
	inner := NewLocal(nil, nil)
	originalsv1.RegisterDiceServiceServer(inner, &dice{does: fails(reason.New(reason.RoundNotFound, "none"))})
	conn := overTCP(t, func(reg grpc.ServiceRegistrar) {
		if err := Forward(reg, &originalsv1.DiceService_ServiceDesc, inner); err != nil {
			t.Error(err)
		}
	})
	if o := observe(t.Context(), conn, placeBet, &originalsv1.DiceServicePlaceBetRequest{}); o.code != codes.NotFound || !strings.Contains(o.details, "ROUND_NOT_FOUND") {
		t.Errorf("%+v", o)
	}
}

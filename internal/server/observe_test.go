package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
)

// buffer is a writer that may be read while others write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// rig is what a process serves with, and a token of alice's.
type rig struct {
	deps  Deps
	log   *buffer
	token string
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dev, err := auth.NewDevKey("")
	if err != nil {
		t.Fatal(err)
	}
	v, err := auth.NewVerifier(time.Now, dev.Key())
	if err != nil {
		t.Fatal(err)
	}
	token, err := dev.Mint(auth.Identity{Subject: "alice", Role: auth.Player}, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	log := new(buffer)
	logger, closeLogger := NewLogger(log, zap.InfoLevel)
	t.Cleanup(func() {
		if err := closeLogger(); err != nil {
			t.Error(err)
		}
	})
	return &rig{Deps{Logger: logger, Metrics: NewMetrics(), Verifier: v, Policy: auth.Methods, Clock: time.Now}, log, token}
}

func (r *rig) lines(t *testing.T) []map[string]any {
	t.Helper()
	if err := r.deps.Logger.Sync(); err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(r.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, fields)
	}
	return lines
}

// serve returns a connection to the dice service through the whole chain.
func (r *rig) serve(t *testing.T, o GRPCOptions, does place) (*grpc.ClientConn, context.Context) {
	t.Helper()
	s := NewGRPC(r.deps, o)
	originalsv1.RegisterDiceServiceServer(s, &dice{does: does})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+r.token, "x-request-id", "req-1")
	return dialServer(t, s), ctx
}

func settled(payout int64) *originalsv1.Round {
	return &originalsv1.Round{RoundId: "17-abc-4", State: originalsv1.Round_SETTLED, Payout: &originalsv1.Money{Amount: payout}, ClientSeed: "SECRET-client-seed"}
}

func TestWhatACallerIsToldAndWhatIsLogged(t *testing.T) {
	for _, test := range []struct {
		name          string
		err           error
		code          codes.Code
		reason        reason.Reason
		level, logged string // the log line's level, and a text within it
	}{
		{"refusal", reason.New(reason.StakeTooSmall, "too small"), codes.FailedPrecondition, reason.StakeTooSmall, "info", "STAKE_TOO_SMALL"},
		{"wrapped refusal", fmt.Errorf("vault: %w", reason.New(reason.RoundOpen, "open")), codes.FailedPrecondition, reason.RoundOpen, "info", "ROUND_OPEN"},
		{"status of another process", fmt.Errorf("x: %w", reason.New(reason.RoundOpen, "open").GRPCStatus().Err()), codes.FailedPrecondition, reason.RoundOpen, "info", "ROUND_OPEN"},
		{"store away", fmt.Errorf("%w: dial 10.1.2.3", reason.New(reason.StoreUnavailable, "away")), codes.Unavailable, reason.StoreUnavailable, "error", "10.1.2.3"},
		{"commitment broken", reason.New(reason.CommitmentMismatch, "no"), codes.DataLoss, reason.CommitmentMismatch, "error", "COMMITMENT_MISMATCH"},
		{"another role away", status.Error(codes.Unavailable, "dial 10.1.2.3"), codes.Unavailable, reason.StoreUnavailable, "error", "10.1.2.3"},
		{"plain", errors.New("inner 10.1.2.3"), codes.Internal, reason.Internal, "error", "inner 10.1.2.3"},
		{"status without a reason", status.Error(codes.NotFound, "inner 10.1.2.3"), codes.Internal, reason.Internal, "error", "inner 10.1.2.3"},
		{"told by another process as internal", reason.New(reason.Internal, "internal error").GRPCStatus().Err(), codes.Internal, reason.Internal, "info", "INTERNAL"},
		{"deadline", fmt.Errorf("10.1.2.3: %w", context.DeadlineExceeded), codes.DeadlineExceeded, reason.Internal, "info", "DeadlineExceeded"},
		{"cancelled", context.Canceled, codes.Canceled, reason.Internal, "info", "Canceled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			conn, ctx := r.serve(t, GRPCOptions{}, fails(test.err))
			_, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{})
			if status.Code(err) != test.code || reason.Of(err) != test.reason {
				t.Errorf("told %v, want %v %v", err, test.code, test.reason)
			}
			if strings.Contains(err.Error(), "10.1.2.3") || strings.Contains(err.Error(), "vault:") {
				t.Errorf("told what is inside: %v", err)
			}
			lines := r.lines(t)
			if len(lines) != 1 {
				t.Fatalf("%d lines: %v", len(lines), lines)
			}
			if lines[0]["level"] != test.level || !strings.Contains(fmt.Sprint(lines[0]), test.logged) {
				t.Errorf("logged %v", lines[0])
			}
			if refusal, ok := reason.From(err); ok && refusal.Reason == reason.Internal && test.level == "error" && refusal.Metadata["requestId"] != "req-1" {
				t.Errorf("INTERNAL without the request id: %v", refusal.Metadata)
			}
		})
	}
}

func TestAPanicIsInternalAndLoggedOnceWithItsStack(t *testing.T) {
	r := newRig(t)
	conn, ctx := r.serve(t, GRPCOptions{}, func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		panic(settled(1))
	})
	_, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{})
	if refusal, ok := reason.From(err); !ok || refusal.Reason != reason.Internal || refusal.Metadata["requestId"] != "req-1" {
		t.Errorf("told %v", err)
	}
	stacks := 0
	for _, line := range r.lines(t) {
		if stack, ok := line["stack"].(string); ok && strings.Contains(stack, "observe_test.go") {
			stacks++
		}
	}
	if stacks != 1 {
		t.Errorf("%d stacks in %s", stacks, r.log)
	}
	if strings.Contains(r.log.String(), "SECRET") {
		t.Error("the value of the panic is logged")
	}
}

// TestServerSeedInLogs covers the trap of an interceptor that dumps messages:
// of a call, the log holds names, numbers and ids alone.
func TestServerSeedInLogs(t *testing.T) {
	r := newRig(t)
	conn, ctx := r.serve(t, GRPCOptions{}, func(_ context.Context, q *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		if q.GetTarget() == 1 {
			return settled(1), reason.New(reason.RoundOpen, "open", "secret", "SECRET-metadata")
		}
		return settled(1), nil
	})
	ctx = metadata.AppendToOutgoingContext(ctx, "x-secret", "SECRET-metadata")
	client := originalsv1.NewDiceServiceClient(conn)
	for target := range uint32(2) {
		_, err := client.PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{BetId: "SECRET-bet", Target: target})
		if (err != nil) != (target == 1) {
			t.Fatal(err)
		}
	}
	lines := r.lines(t)
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	if strings.Contains(r.log.String(), "SECRET") || strings.Contains(r.log.String(), r.token) {
		t.Errorf("the log holds a message or metadata: %s", r.log)
	}
	for key, want := range map[string]any{"method": placeBet, "code": "OK", "request_id": "req-1", "round_id": "17-abc-4", "level": "info"} {
		if lines[0][key] != want {
			t.Errorf("%s is %v, want %v", key, lines[0][key], want)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(lines[0]["time"])); err != nil || !strings.HasSuffix(fmt.Sprint(lines[0]["time"]), "Z") {
		t.Errorf("time %v", lines[0]["time"])
	}
}

func TestRequestID(t *testing.T) {
	r := newRig(t)
	conn, _ := r.serve(t, GRPCOptions{}, func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: RequestID(ctx)}, nil
	})
	for _, test := range []struct {
		sent []string
		kept bool
	}{
		{[]string{"a-B_9"}, true}, {[]string{strings.Repeat("a", 64)}, true},
		{nil, false}, {[]string{""}, false}, {[]string{strings.Repeat("a", 65)}, false}, {[]string{"a b"}, false}, {[]string{"a\"b"}, false}, {[]string{"a", "b"}, false},
	} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+r.token)
		for _, id := range test.sent {
			ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", id)
		}
		var header metadata.MD
		round, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{}, grpc.Header(&header))
		if err != nil {
			t.Fatal(err)
		}
		got := round.GetBetId()
		if !ValidRequestID(got) || (got == strings.Join(test.sent, "")) != test.kept {
			t.Errorf("sent %q, got %q", test.sent, got)
		}
		if h := header.Get("x-request-id"); len(h) != 1 || h[0] != got {
			t.Errorf("header %q, id %q", h, got)
		}
	}
}

// TestInnerCallIsNotCountedTwice: a bet that goes on to another role in the
// process is one line and one bet.
func TestInnerCallIsNotCountedTwice(t *testing.T) {
	r := newRig(t)
	inner := NewLocal(NewInnerChain(r.deps), NewInnerStreamChain(r.deps))
	originalsv1.RegisterDiceServiceServer(inner, &dice{does: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		id, ok := auth.FromContext(ctx)
		if !ok || id.Subject != "alice" || RequestID(ctx) != "req-1" {
			return nil, fmt.Errorf("identity %+v, request %s", id, RequestID(ctx))
		}
		return nil, errors.New("inner cause")
	}})
	outer := NewLocal(NewChain(r.deps), NewStreamChain(r.deps))
	originalsv1.RegisterDiceServiceServer(outer, &dice{does: func(ctx context.Context, q *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return originalsv1.NewDiceServiceClient(inner).PlaceBet(auth.Forward(ctx), q)
	}})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+r.token, "x-request-id", "req-1")
	if o := observe(ctx, outer, placeBet, &originalsv1.DiceServicePlaceBetRequest{}); o.code != codes.Internal || o.message != "internal error" {
		t.Errorf("%+v", o)
	}
	if lines := r.lines(t); len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["error"]), "inner cause") {
		t.Errorf("lines %v", lines)
	}
	if !strings.Contains(r.metrics(t), `originals_bets_total{game="dice",result="INTERNAL"} 1`) {
		t.Error("not counted once")
	}
}

// The cause of STORE_UNAVAILABLE, which no answer shows, is logged once where a
// role meets it, also when the call came from another role of the process.
func TestTheCauseOfAnUnavailableStoreIsLoggedOnce(t *testing.T) {
	away := fmt.Errorf("%w: dial 10.1.2.3", reason.New(reason.StoreUnavailable, "away"))
	for _, cause := range []error{away, reason.New(reason.StoreUnavailable, "away"), fmt.Errorf("10.1.2.3: %w", reason.New(reason.RoundOpen, "open"))} {
		r := newRig(t)
		inner := NewLocal(NewInnerChain(r.deps), NewInnerStreamChain(r.deps))
		originalsv1.RegisterDiceServiceServer(inner, &dice{does: fails(cause)})
		outer := NewLocal(NewChain(r.deps), NewStreamChain(r.deps))
		originalsv1.RegisterDiceServiceServer(outer, &dice{does: func(ctx context.Context, q *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
			return originalsv1.NewDiceServiceClient(inner).PlaceBet(auth.Forward(ctx), q)
		}})
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+r.token, "x-request-id", "req-1")
		_, err := originalsv1.NewDiceServiceClient(outer).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{})
		if reason.Of(err) != reason.Of(cause) || strings.Contains(err.Error(), "10.1.2.3") {
			t.Errorf("told %v", err)
		}
		shown := 0
		for _, line := range r.lines(t) {
			if strings.Contains(fmt.Sprint(line), "10.1.2.3") {
				shown++
				if line["level"] != "error" || line["request_id"] != "req-1" {
					t.Errorf("logged %v", line)
				}
			}
		}
		if want := map[bool]int{true: 1, false: 0}[cause == away]; shown != want {
			t.Errorf("%v: %d lines have the cause, want %d: %v", cause, shown, want, r.lines(t))
		}
	}
}

func TestStreamsGoThroughTheChain(t *testing.T) {
	r := newRig(t)
	r.deps.Policy = auth.Policy{"/grpc.health.v1.Health/Watch": auth.PlayerOnly}
	does := errPlain
	local := NewLocal(NewChain(r.deps), NewStreamChain(r.deps))
	w := new(watcher)
	w.set(func(_ *healthpb.HealthCheckRequest, s watchServer) error {
		if id, ok := auth.FromContext(s.Context()); !ok || id.Subject != "alice" || !ValidRequestID(RequestID(s.Context())) {
			return reason.New(reason.RoundOpen, "no identity")
		}
		if does == nil {
			panic("x")
		}
		return does
	})
	healthpb.RegisterHealthServer(local, w)
	call := func(ctx context.Context) error {
		stream, err := healthpb.NewHealthClient(local).Watch(ctx, &healthpb.HealthCheckRequest{})
		if err != nil {
			return err
		}
		_, err = stream.Recv()
		return err
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+r.token)
	for _, does = range []error{errPlain, nil} {
		if err := call(ctx); reason.Of(err) != reason.Internal || status.Code(err) != codes.Internal {
			t.Errorf("%v: %v", does, err)
		}
	}
	if err := call(t.Context()); reason.Of(err) != reason.TokenInvalid {
		t.Errorf("without a token: %v", err)
	}
	if text := r.log.String(); strings.Count(text, `"plain"`) != 1 || strings.Count(text, `"stack"`) != 1 {
		t.Errorf("log %s", text)
	}
}

// TestReflectionIsOffByDefault covers the trap of reflection on a public port.
func TestReflectionIsOffByDefault(t *testing.T) {
	for _, on := range []bool{false, true} {
		r := newRig(t)
		conn, _ := r.serve(t, GRPCOptions{Reflection: on}, fails(errPlain))
		stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
		_, err = stream.Recv()
		if on && err != nil {
			t.Errorf("switched on: %v", err)
		}
		if !on && status.Code(err) != codes.Unimplemented {
			t.Errorf("by default: %v", err)
		}
	}
}

func TestHealthNeedsNoTokenAndFillsNoLog(t *testing.T) {
	r := newRig(t)
	conn, _ := r.serve(t, GRPCOptions{Health: health.NewServer()}, fails(errPlain))
	answer, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", answer, err)
	}
	if lines := r.lines(t); len(lines) != 0 {
		t.Errorf("log %v", lines)
	}
}

// A probe that asks about a service that is not here is told so; it is no
// fault of ours.
func TestHealthOfAnUnknownService(t *testing.T) {
	r := newRig(t)
	conn, _ := r.serve(t, GRPCOptions{Health: health.NewServer()}, fails(errPlain))
	_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "originals.v1.PokerService"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("%v, want NOT_FOUND", err)
	}
	for _, line := range r.lines(t) {
		if line["level"] != "info" {
			t.Errorf("log %v", line)
		}
	}
}

func TestOversizedRequestIsRefused(t *testing.T) {
	r := newRig(t)
	conn, ctx := r.serve(t, GRPCOptions{}, fails(errPlain))
	_, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{BetId: strings.Repeat("x", MaxMessageBytes)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("%v", err)
	}
}

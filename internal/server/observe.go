package server

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
)

// healthPrefix begins the methods that probes call all the time.
const healthPrefix = "/grpc.health."

// healthCheck is the one whose NOT_FOUND means something to a probe: that the
// service it asks about is not here.
const healthCheck = "/grpc.health.v1.Health/Check"

// Deps is what interceptors work with. All are required.
type Deps struct {
	Logger   *zap.Logger
	Metrics  *Metrics
	Verifier *auth.Verifier
	Policy   auth.Policy // auth.Methods, but for tests
	Clock    func() time.Time
}

// NewChain returns the interceptors of calls that come from outside: request
// id, log and metrics, recovery, policy; in this order, so that a panic is
// logged, and a call that the policy refuses is counted.
//
// What leaves it is a refusal with its reason, or the end of the caller's
// time; any other error is logged here, once, and told as INTERNAL.
func NewChain(d Deps) []grpc.UnaryServerInterceptor {
	return []grpc.UnaryServerInterceptor{identifyUnary, d.observeUnary, d.recoverUnary, auth.UnaryInterceptor(d.Verifier, d.Policy)}
}

// NewStreamChain is NewChain for streams.
func NewStreamChain(d Deps) []grpc.StreamServerInterceptor {
	return []grpc.StreamServerInterceptor{identifyStream, d.observeStream, d.recoverStream, auth.StreamInterceptor(d.Verifier, d.Policy)}
}

// NewInnerChain returns the interceptors of calls between the roles of one
// process: recovery and policy. Such a call is part of one from outside, which
// is counted and logged already, but for the cause of STORE_UNAVAILABLE: what
// leaves the chain is a refusal without its cause, or an error that is not known.
func NewInnerChain(d Deps) []grpc.UnaryServerInterceptor {
	return []grpc.UnaryServerInterceptor{d.bareUnary, d.recoverUnary, auth.UnaryInterceptor(d.Verifier, d.Policy)}
}

// NewInnerStreamChain is NewInnerChain for streams.
func NewInnerStreamChain(d Deps) []grpc.StreamServerInterceptor {
	return []grpc.StreamServerInterceptor{d.bareStream, d.recoverStream, auth.StreamInterceptor(d.Verifier, d.Policy)}
}

func (d Deps) bareUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	return resp, d.bare(ctx, info.FullMethod, err)
}

func (d Deps) bareStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return d.bare(ss.Context(), info.FullMethod, handler(srv, ss))
}

// bare returns a refusal without the texts around it, which would reach the
// client within a status, and logs why a store did not answer.
func (d Deps) bare(ctx context.Context, method string, err error) error {
	refusal, ok := errors.AsType[*reason.Error](err)
	if !ok {
		return err
	}
	if refusal.Reason == reason.StoreUnavailable && err.Error() != refusal.Error() {
		d.Logger.Error("store unavailable", zap.String("method", method),
			zap.String("request_id", RequestID(ctx)), zap.String("error", err.Error()))
	}
	return refusal
}

func (d Deps) observeUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	start := d.Clock()
	resp, err := handler(ctx, req)
	return resp, d.finish(ctx, info.FullMethod, start, resp, err)
}

func (d Deps) observeStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	start := d.Clock()
	err := handler(srv, ss)
	return d.finish(ss.Context(), info.FullMethod, start, nil, err)
}

// finish counts and logs a call, and returns the error that its caller sees.
// It logs the names and numbers below, and never a message, metadata or a
// token.
func (d Deps) finish(ctx context.Context, method string, start time.Time, resp any, err error) error {
	took := d.Clock().Sub(start)
	told := tell(ctx, err)
	if method == healthCheck && status.Code(err) == codes.NotFound {
		told = err
	}
	d.Metrics.observe(method, took, resp, told)
	fields := make([]zap.Field, 0, 8)
	fields = append(fields,
		zap.String("method", method),
		zap.String("code", status.Code(told).String()),
		zap.Duration("duration", took),
		zap.String("request_id", RequestID(ctx)))
	if round, ok := resp.(interface{ GetRoundId() string }); ok && err == nil {
		fields = append(fields, zap.String("round_id", round.GetRoundId()))
	}
	if duel, ok := resp.(interface{ GetDuelId() string }); ok && err == nil {
		fields = append(fields, zap.String("duel_id", duel.GetDuelId()))
	}
	if refusal, ok := reason.From(told); ok {
		fields = append(fields, zap.String("reason", string(refusal.Reason)))
	}
	d.log(method, err, told, fields)
	return told
}

func (d Deps) log(method string, err, told error, fields []zap.Field) {
	switch {
	case err == nil && strings.HasPrefix(method, healthPrefix):
		d.Logger.Debug("call", fields...)
	case err == nil:
		d.Logger.Info("call", fields...)
	case needsAttention(err, told):
		d.Logger.Error("call failed", append(fields, zap.String("error", err.Error()))...)
	default:
		d.Logger.Info("call refused", fields...)
	}
}

// needsAttention reports whether an error is the service's own, and not
// written down yet: whoever made an INTERNAL with its reason has logged it.
func needsAttention(err, told error) bool {
	refusal, ok := reason.From(err)
	if ok {
		return refusal.Reason == reason.StoreUnavailable || refusal.Reason == reason.CommitmentMismatch
	}
	code := status.Code(told)
	return code != codes.DeadlineExceeded && code != codes.Canceled && code != codes.NotFound
}

// tell returns what the caller is told of an error.
func tell(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*reason.Error](err); ok {
		return refusal.GRPCStatus().Err()
	}
	if _, ok := reason.From(err); ok { // of another process: its code and details stay
		return statusOf(err).Err()
	}
	switch code := statusOf(err).Code(); code {
	case codes.DeadlineExceeded:
		return status.Error(code, "the call took longer than its deadline: it may have had its effect")
	case codes.Canceled:
		return status.Error(code, "the caller went away: the call may have had its effect")
	case codes.Unavailable:
		return reason.New(reason.StoreUnavailable, "a part of the service cannot be reached; repeat the call with the same id").GRPCStatus().Err()
	}
	return internalError(ctx).GRPCStatus().Err()
}

func internalError(ctx context.Context) *reason.Error {
	return reason.New(reason.Internal, "internal error", "requestId", RequestID(ctx))
}

// statusOf returns the status within err, without the texts wrapped around it.
func statusOf(err error) *status.Status {
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) {
		return carrier.GRPCStatus()
	}
	return status.FromContextError(err)
}

package auth

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/reason"
)

// Names of the metadata that pass from one role to the next.
const (
	authorizationKey = "authorization"
	requestIDKey     = "x-request-id"
)

// UnaryInterceptor lets each unary call in by the policy, with its identity
// in the context, or refuses it with TOKEN_INVALID or ROLE_REQUIRED.
func UnaryInterceptor(v *Verifier, p Policy) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		ctx, err := p.authorize(ctx, v, info.FullMethod)
		if err != nil {
			return nil, err
		}
		return handler(ctx, req)
	}
}

// StreamInterceptor is UnaryInterceptor for streams. The token is checked when
// the stream begins, and again before each message that goes to its caller: a
// stream ends with TOKEN_INVALID when its token expires or its key is gone.
func StreamInterceptor(v *Verifier, p Policy) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		ctx, err := p.authorize(ss.Context(), v, info.FullMethod)
		if err != nil {
			return err
		}
		return handler(srv, identified{ss, ctx, func() error {
			_, err := p.authorize(ss.Context(), v, info.FullMethod)
			return err
		}})
	}
}

// identified is a stream whose context carries an identity.
type identified struct {
	grpc.ServerStream
	ctx   context.Context
	check func() error
}

// Context returns the context with the identity.
func (s identified) Context() context.Context { return s.ctx }

// SendMsg sends a message, unless the token has ceased to be good.
func (s identified) SendMsg(m any) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.ServerStream.SendMsg(m)
}

// bearer returns the token of the one authorization header of a call.
func bearer(ctx context.Context) (string, error) {
	values := metadata.ValueFromIncomingContext(ctx, authorizationKey)
	if len(values) == 0 {
		return "", reason.New(reason.TokenInvalid, "a token is required: send the header Authorization: Bearer TOKEN")
	}
	if len(values) > 1 {
		return "", reason.New(reason.TokenInvalid, "more than one Authorization header was sent")
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", reason.New(reason.TokenInvalid, "the Authorization header must read: Bearer TOKEN")
	}
	return token, nil
}

// Forward returns a context for calls to the next role: its outgoing metadata
// are the token and the request id of the call being served, and nothing else.
func Forward(ctx context.Context) context.Context {
	md := make(metadata.MD, 2)
	for _, key := range [...]string{authorizationKey, requestIDKey} {
		if values := metadata.ValueFromIncomingContext(ctx, key); len(values) > 0 {
			md[key] = values
		}
	}
	return metadata.NewOutgoingContext(ctx, md)
}

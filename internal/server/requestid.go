package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

const requestIDKey = "x-request-id"

// RequestID returns the id of the call being served; empty outside of one. It
// is the caller's x-request-id where that is 1 to 64 of [A-Za-z0-9_-], and
// made here where it is anything else.
func RequestID(ctx context.Context) string {
	values := metadata.ValueFromIncomingContext(ctx, requestIDKey)
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// ValidRequestID reports whether text is 1 to 64 of [A-Za-z0-9_-].
func ValidRequestID(text string) bool {
	if len(text) < 1 || len(text) > 64 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// NewRequestID returns 128 random bits as 32 hex digits.
func NewRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// identify gives a call its request id, for whoever reads RequestID and for
// the calls that are made on its behalf.
func identify(ctx context.Context) (context.Context, metadata.MD) {
	if values := metadata.ValueFromIncomingContext(ctx, requestIDKey); len(values) == 1 && ValidRequestID(values[0]) {
		return ctx, metadata.MD{requestIDKey: values}
	}
	id := []string{NewRequestID()}
	md, _ := metadata.FromIncomingContext(ctx) // a copy
	if md == nil {
		md = metadata.MD{}
	}
	md[requestIDKey] = id
	return metadata.NewIncomingContext(ctx, md), metadata.MD{requestIDKey: id}
}

// identifyUnary answers with the id as a header, too.
func identifyUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, header := identify(ctx)
	if err := grpc.SetHeader(ctx, header); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func identifyStream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, header := identify(ss.Context())
	if err := ss.SetHeader(header); err != nil {
		return err
	}
	return handler(srv, streamWith{ss, ctx})
}

// streamWith is a stream with another context.
type streamWith struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns that context.
func (s streamWith) Context() context.Context { return s.ctx }

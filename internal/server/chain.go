package server

import (
	"context"

	"google.golang.org/grpc"
)

// chainUnary makes one interceptor of many, the first outermost; nil of none.
func chainUnary(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	if len(all) == 0 {
		return nil
	}
	first, rest := all[0], chainUnary(all[1:])
	if rest == nil {
		return first
	}
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return first(ctx, req, info, func(ctx context.Context, req any) (any, error) {
			return rest(ctx, req, info, handler)
		})
	}
}

// chainStream is chainUnary for streams.
func chainStream(all []grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	if len(all) == 0 {
		return nil
	}
	first, rest := all[0], chainStream(all[1:])
	if rest == nil {
		return first
	}
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return first(srv, ss, info, func(srv any, ss grpc.ServerStream) error {
			return rest(srv, ss, info, handler)
		})
	}
}

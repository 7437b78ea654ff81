package server

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// recoverUnary turns a panic of a handler into INTERNAL, and logs it with its
// stack.
func (d Deps) recoverUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer func() {
		if value := recover(); value != nil {
			resp, err = nil, d.panicked(ctx, info.FullMethod, value)
		}
	}()
	return handler(ctx, req)
}

// recoverStream is recoverUnary for streams.
func (d Deps) recoverStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = d.panicked(ss.Context(), info.FullMethod, value)
		}
	}()
	return handler(srv, ss)
}

func (d Deps) panicked(ctx context.Context, method string, value any) error {
	d.Logger.Error("panic",
		zap.String("method", method),
		zap.String("request_id", RequestID(ctx)),
		zap.String("panic", panicText(value)),
		zap.ByteString("stack", debug.Stack()))
	return internalError(ctx)
}

// panicText is the text of a runtime error, and of any other value its type
// alone: a value may hold anything.
func panicText(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a value of type %T", value)
}

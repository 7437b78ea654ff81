package gateway

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// conn is the gateway's connection to the services. Of a client's headers the
// token and the request id pass it, and nothing else: whatever grpc-gateway
// has put into the metadata is left behind. Each unary call has a deadline.
type conn struct {
	to      grpc.ClientConnInterface
	timeout time.Duration
}

type metadataKey struct{}

// withMetadata returns ctx with the metadata that calls under it carry.
func withMetadata(ctx context.Context, md metadata.MD) context.Context {
	return context.WithValue(ctx, metadataKey{}, md)
}

func outgoing(ctx context.Context) context.Context {
	md, _ := ctx.Value(metadataKey{}).(metadata.MD)
	return metadata.NewOutgoingContext(ctx, md)
}

// Invoke makes one unary call.
func (c *conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(outgoing(ctx), c.timeout)
	defer cancel()
	return c.to.Invoke(ctx, method, args, reply, opts...)
}

// NewStream opens a stream, which lives as long as ctx.
func (c *conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.to.NewStream(outgoing(ctx), desc, method, opts...)
}

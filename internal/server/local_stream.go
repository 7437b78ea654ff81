package server

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// localTransport keeps the headers and trailers of one call.
type localTransport struct {
	method string
	out    chan struct{} // closed when the headers are sent; nil for a unary call, where nobody waits

	mu      sync.Mutex
	sent    bool
	header  metadata.MD
	trailer metadata.MD
}

func (t *localTransport) Method() string { return t.method }

func (t *localTransport) SetHeader(md metadata.MD) error { return t.addHeader(md, false) }

func (t *localTransport) SendHeader(md metadata.MD) error { return t.addHeader(md, true) }

var errHeaderSent = status.Error(codes.Internal, "transport: the headers were sent already")

func (t *localTransport) addHeader(md metadata.MD, send bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sent {
		return errHeaderSent
	}
	t.header = metadata.Join(t.header, md)
	if send {
		t.release()
	}
	return nil
}

// sendHeader sends the headers, unless they are sent already.
func (t *localTransport) sendHeader() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sent {
		t.release()
	}
}

// release is called once, and with the lock held.
func (t *localTransport) release() {
	t.sent = true
	if t.out != nil {
		close(t.out)
	}
}

func (t *localTransport) SetTrailer(md metadata.MD) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trailer = metadata.Join(t.trailer, md)
	return nil
}

func (t *localTransport) metadata() (header, trailer metadata.MD) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.header.Copy(), t.trailer.Copy()
}

// report fills the variables that the caller gave for headers and trailers.
func (t *localTransport) report(opts []grpc.CallOption) {
	if len(opts) == 0 {
		return
	}
	header, trailer := t.metadata()
	for _, opt := range opts {
		switch o := opt.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = trailer
		}
	}
}

// localStream is both ends of a streaming call. The handler runs in a
// goroutine of its own, which ends with the caller's context.
type localStream struct {
	*localTransport
	ctx       context.Context // the handler's
	opts      []grpc.CallOption
	requests  chan []byte
	responses chan []byte
	closed    chan struct{} // closed when the caller sends no more
	closeOnce sync.Once
	done      chan struct{} // closed when the handler has returned
	err       error         // its status, read after done
}

func (l *Local) newStream(ctx context.Context, role string, desc *grpc.StreamDesc, method string, opts []grpc.CallOption) (grpc.ClientStream, error) {
	if err := ctx.Err(); err != nil {
		return nil, status.FromContextError(err).Err()
	}
	s := &localStream{
		localTransport: &localTransport{method: method, out: make(chan struct{})},
		opts:           opts,
		requests:       make(chan []byte),
		responses:      make(chan []byte),
		closed:         make(chan struct{}),
		done:           make(chan struct{}),
	}
	inner, cancel := serverContext(ctx, role)
	s.ctx = grpc.NewContextWithServerTransportStream(inner, s.localTransport)
	go func() {
		defer cancel()
		s.finish(l.runStream(s, method))
	}()
	return localClient{s, ctx, desc.ClientStreams}, nil
}

func (l *Local) runStream(s *localStream, method string) error {
	service, name, err := l.find(method)
	if err != nil {
		return err
	}
	desc, ok := service.streams[name]
	if !ok {
		return unknownMethod(method)
	}
	if l.stream == nil {
		return desc.Handler(service.impl, localServer{s})
	}
	info := &grpc.StreamServerInfo{FullMethod: method, IsClientStream: desc.ClientStreams, IsServerStream: desc.ServerStreams}
	return l.stream(service.impl, localServer{s}, info, desc.Handler)
}

func (s *localStream) finish(err error) {
	if err != nil {
		s.err = wireError(err)
	}
	s.sendHeader()
	close(s.done)
}

// localServer is the handler's end.
type localServer struct{ *localStream }

func (s localServer) Context() context.Context { return s.ctx }

func (s localServer) SetTrailer(md metadata.MD) { _ = s.localTransport.SetTrailer(md) }

func (s localServer) SendMsg(m any) error {
	wire, err := encode(m)
	if err != nil {
		return err
	}
	s.sendHeader()
	select {
	case s.responses <- wire:
		return nil
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

func (s localServer) RecvMsg(m any) error {
	select {
	case wire := <-s.requests:
		return decode(wire, m)
	case <-s.closed:
		return io.EOF
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

// localClient is the caller's end.
type localClient struct {
	*localStream
	ctx  context.Context
	many bool // requests may be sent
}

func (c localClient) Context() context.Context { return c.ctx }

func (c localClient) Header() (metadata.MD, error) {
	select {
	case <-c.out:
		header, _ := c.metadata()
		return header, nil
	case <-c.ctx.Done():
		return nil, status.FromContextError(c.ctx.Err()).Err()
	}
}

func (c localClient) Trailer() metadata.MD {
	_, trailer := c.metadata()
	return trailer
}

func (c localClient) CloseSend() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

func (c localClient) SendMsg(m any) error {
	wire, err := encode(m)
	if err == nil && len(wire) > MaxMessageBytes {
		err = tooLarge(len(wire))
	}
	if err != nil {
		return err
	}
	select {
	case <-c.closed:
		return status.Error(codes.Internal, "SendMsg called after CloseSend")
	default:
	}
	select {
	case c.requests <- wire:
		return nil
	case <-c.done: // RecvMsg tells why
		if !c.many { // generated code takes any error here for the call's own
			return nil
		}
		return io.EOF
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
}

func (c localClient) RecvMsg(m any) error {
	select {
	case wire := <-c.responses:
		return decode(wire, m)
	case <-c.done:
		c.report(c.opts)
		if c.err != nil {
			return c.err
		}
		return io.EOF
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
}

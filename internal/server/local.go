package server

import (
	"context"
	"fmt"
	"math"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
)

// MaxMessageBytes is the largest request, over TCP as in process: room for 500
// acknowledgements.
const MaxMessageBytes = 256 << 10

// Local serves calls within the process: what is registered on it is reached
// through it. A call runs the interceptors, and comes out as it would over
// TCP: metadata, deadlines, statuses, headers and trailers alike. Messages
// pass in their wire form, so neither side sees what the other writes later.
//
// A unary call runs in the caller's goroutine, so a handler that ignores its
// context holds the caller. Values of the caller's context do not pass.
type Local struct {
	services map[string]*localService
	unary    grpc.UnaryServerInterceptor
	stream   grpc.StreamServerInterceptor
}

type localService struct {
	impl    any
	methods map[string]*grpc.MethodDesc
	streams map[string]*grpc.StreamDesc
}

// NewLocal returns a Local with no services, whose calls run through the
// interceptors, the first outermost.
func NewLocal(unary []grpc.UnaryServerInterceptor, stream []grpc.StreamServerInterceptor) *Local {
	return &Local{
		services: make(map[string]*localService),
		unary:    chainUnary(unary),
		stream:   chainStream(stream),
	}
}

// RegisterService adds a service. All are added before the first call.
func (l *Local) RegisterService(sd *grpc.ServiceDesc, impl any) {
	s := &localService{impl, make(map[string]*grpc.MethodDesc), make(map[string]*grpc.StreamDesc)}
	for i := range sd.Methods {
		s.methods[sd.Methods[i].MethodName] = &sd.Methods[i]
	}
	for i := range sd.Streams {
		s.streams[sd.Streams[i].StreamName] = &sd.Streams[i]
	}
	l.services[sd.ServiceName] = s
}

// As returns a connection whose calls come from a peer with a role, as though
// it had shown a certificate of it.
func (l *Local) As(role string) grpc.ClientConnInterface { return &localPeer{l, role} }

type localPeer struct {
	local *Local
	role  string
}

func (p *localPeer) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return p.local.invoke(ctx, p.role, method, args, reply, opts)
}

func (p *localPeer) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return p.local.newStream(ctx, p.role, desc, method, opts)
}

// Invoke makes a unary call, of a peer without a role.
func (l *Local) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return l.invoke(ctx, "", method, args, reply, opts)
}

// NewStream begins a streaming call, of a peer without a role.
func (l *Local) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return l.newStream(ctx, "", desc, method, opts)
}

func (l *Local) invoke(ctx context.Context, role, method string, args, reply any, opts []grpc.CallOption) error {
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	pass := byWire
	if role != "" {
		pass = byCopy
	}
	request, err := pass(args, MaxMessageBytes)
	if err != nil {
		return err
	}
	service, name, err := l.find(method)
	if err != nil {
		return err
	}
	desc, ok := service.methods[name]
	if !ok {
		return unknownMethod(method)
	}
	inner, cancel := serverContext(ctx, role)
	defer cancel()
	transport := &localTransport{method: method}
	inner = grpc.NewContextWithServerTransportStream(inner, transport)
	response, err := desc.Handler(service.impl, inner, request, l.unary)
	transport.report(opts)
	if err != nil {
		return wireError(err)
	}
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	answer, err := pass(response, math.MaxInt)
	if err != nil {
		return err
	}
	return answer(reply)
}

// byWire passes a message of up to so many bytes in its wire form: the message
// that gets it is written by the function returned.
func byWire(m any, most int) (func(to any) error, error) {
	wire, err := encode(m)
	if err != nil {
		return nil, err
	}
	if len(wire) > most {
		return nil, tooLarge(len(wire))
	}
	return func(to any) error { return decode(wire, to) }, nil
}

// byCopy is byWire between the roles of one process, which are of one mind what
// a message is: they get copies, at a third of the cost.
func byCopy(m any, most int) (func(to any) error, error) {
	from, ok := m.(proto.Message)
	if !ok {
		return byWire(m, most)
	}
	if size := proto.Size(from); size > most {
		return nil, tooLarge(size)
	}
	return func(m any) error {
		to, ok := m.(proto.Message)
		if !ok || to.ProtoReflect().Descriptor() != from.ProtoReflect().Descriptor() {
			wire, err := encode(from)
			if err != nil {
				return err
			}
			return decode(wire, m)
		}
		proto.Reset(to)
		proto.Merge(to, from)
		return nil
	}, nil
}

// serverContext returns the context that a handler sees: the deadline and the
// cancellation of the caller's, its outgoing metadata as incoming ones, the
// role of its process, and nothing else. It ends with the call.
func serverContext(ctx context.Context, role string) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancel(valueless{ctx})
	md := metadata.MD{}
	if outgoing, ok := metadata.FromOutgoingContext(ctx); ok {
		md = outgoing
		for key := range md {
			if isReserved(key) {
				delete(md, key)
			}
		}
	}
	inner = metadata.NewIncomingContext(inner, md)
	if role != "" {
		inner = auth.WithPeer(inner, role)
	}
	return inner, cancel
}

// isReserved reports whether a key of metadata is gRPC's own, which gRPC drops
// as well.
func isReserved(key string) bool {
	switch key {
	case "content-type", "user-agent", "te", "grpc-message-type", "grpc-encoding", "grpc-message", "grpc-status", "grpc-timeout":
		return true
	}
	return strings.HasPrefix(key, ":")
}

// valueless is a context without its values. AfterFunc lets the context
// package pass the cancellation on without a goroutine.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }

func (c valueless) AfterFunc(f func()) func() bool { return context.AfterFunc(c.Context, f) }

func (l *Local) find(method string) (*localService, string, error) {
	path := strings.TrimPrefix(method, "/")
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return nil, "", status.Errorf(codes.Unimplemented, "malformed method name: %q", method)
	}
	service, ok := l.services[path[:i]]
	if !ok {
		return nil, "", status.Errorf(codes.Unimplemented, "unknown service %v", path[:i])
	}
	return service, path[i+1:], nil
}

func unknownMethod(method string) error {
	path := strings.TrimPrefix(method, "/")
	i := strings.LastIndexByte(path, '/')
	return status.Errorf(codes.Unimplemented, "unknown method %v for service %v", path[i+1:], path[:i])
}

// encode returns the wire form of a message; a nil one is an empty message.
func encode(m any) ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	message, ok := m.(proto.Message)
	if !ok {
		return nil, status.Errorf(codes.Internal, "grpc: error while marshaling: not a message: %T", m)
	}
	wire, err := proto.Marshal(message)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "grpc: error while marshaling: %v", err)
	}
	return wire, nil
}

func tooLarge(size int) error {
	return status.Errorf(codes.ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", size, MaxMessageBytes)
}

// decode replaces the content of a message.
func decode(wire []byte, m any) error {
	message, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("server: not a message: %T", m)
	}
	if err := proto.Unmarshal(wire, message); err != nil {
		return status.Errorf(codes.Internal, "grpc: failed to unmarshal the received message: %v", err)
	}
	return nil
}

// wireError returns an error as it arrives over the network: a status with its
// details, and nothing of the error that it was.
func wireError(err error) error {
	st, ok := status.FromError(err)
	if !ok {
		st = status.FromContextError(err)
	}
	return st.Err()
}

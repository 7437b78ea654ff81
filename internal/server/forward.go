package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/openoriginals/originals/internal/auth"
)

// Forward registers a service whose calls are passed on over conn, so that a
// process can serve a role that lives elsewhere. The token and the request id
// go with the call; answers, headers, trailers and errors with their details
// come back unchanged. Unary and server-streaming methods alone; it is an
// error when the service has others, or is not known to this program.
func Forward(reg grpc.ServiceRegistrar, sd *grpc.ServiceDesc, conn grpc.ClientConnInterface) error {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(sd.ServiceName))
	if err != nil {
		return fmt.Errorf("server: forward %s: %w", sd.ServiceName, err)
	}
	service, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		return fmt.Errorf("server: forward %s: not a service", sd.ServiceName)
	}
	forwarded := grpc.ServiceDesc{ServiceName: sd.ServiceName, HandlerType: (*any)(nil), Metadata: sd.Metadata}
	methods := service.Methods()
	for i := range methods.Len() {
		m, err := newPassage(service, methods.Get(i), conn)
		if err != nil {
			return err
		}
		if m.streams {
			forwarded.Streams = append(forwarded.Streams, grpc.StreamDesc{StreamName: m.name, Handler: m.stream, ServerStreams: true})
			continue
		}
		forwarded.Methods = append(forwarded.Methods, grpc.MethodDesc{MethodName: m.name, Handler: m.unary})
	}
	reg.RegisterService(&forwarded, struct{}{})
	return nil
}

// passage passes the calls of one method on.
type passage struct {
	conn            grpc.ClientConnInterface
	name, full      string
	request, answer protoreflect.MessageType
	streams         bool
}

func newPassage(s protoreflect.ServiceDescriptor, m protoreflect.MethodDescriptor, conn grpc.ClientConnInterface) (*passage, error) {
	full := fmt.Sprintf("/%s/%s", s.FullName(), m.Name())
	if m.IsStreamingClient() {
		return nil, fmt.Errorf("server: forward %s: streams of requests are not passed on", full)
	}
	request, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		return nil, fmt.Errorf("server: forward %s: %w", full, err)
	}
	answer, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	if err != nil {
		return nil, fmt.Errorf("server: forward %s: %w", full, err)
	}
	return &passage{conn, string(m.Name()), full, request, answer, m.IsStreamingServer()}, nil
}

func (p *passage) unary(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
	request := p.request.New().Interface()
	if err := dec(request); err != nil {
		return nil, err
	}
	if interceptor == nil {
		return p.invoke(ctx, request)
	}
	return interceptor(ctx, request, &grpc.UnaryServerInfo{Server: srv, FullMethod: p.full}, p.invoke)
}

func (p *passage) invoke(ctx context.Context, request any) (any, error) {
	var call passedMetadata
	answer := p.answer.New().Interface()
	err := p.conn.Invoke(auth.Forward(ctx), p.full, request, answer, grpc.Header(&call.header), grpc.Trailer(&call.trailer))
	if passErr := call.passOn(ctx); err == nil && passErr != nil {
		return nil, passErr
	}
	if err != nil {
		return nil, err // as it came: a wrapped status would change its message
	}
	return answer, nil
}

func (p *passage) stream(_ any, ss grpc.ServerStream) error {
	request := p.request.New().Interface()
	if err := ss.RecvMsg(request); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(auth.Forward(ss.Context()))
	defer cancel()
	client, err := p.conn.NewStream(ctx, &grpc.StreamDesc{StreamName: p.name, ServerStreams: true}, p.full)
	if err != nil {
		return err
	}
	if err := client.SendMsg(request); err != nil && !errors.Is(err, io.EOF) { // EOF: RecvMsg tells why
		return err
	}
	if err := client.CloseSend(); err != nil {
		return err
	}
	if header, err := client.Header(); err == nil && len(header) > 0 {
		if err := ss.SetHeader(own(header)); err != nil {
			return err
		}
	}
	defer func() { ss.SetTrailer(own(client.Trailer())) }()
	return copyStream(ss, client, p.answer)
}

func copyStream(to grpc.ServerStream, from grpc.ClientStream, kind protoreflect.MessageType) error {
	for {
		var message proto.Message = kind.New().Interface()
		err := from.RecvMsg(message)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := to.SendMsg(message); err != nil {
			return err
		}
	}
}

package gateway

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// fakes are all public services. Each call is noted; answer and err decide what
// comes of it.
type fakes struct {
	originalsv1.UnimplementedSeedPairServiceServer
	originalsv1.UnimplementedRoundServiceServer
	originalsv1.UnimplementedMinesServiceServer
	originalsv1.UnimplementedDuelServiceServer

	mu       sync.Mutex
	requests []proto.Message
	metadata []metadata.MD
	answer   func(ctx context.Context, request proto.Message) (proto.Message, error)
}

func (f *fakes) note(ctx context.Context, _ *grpc.UnaryServerInfo, request any) (proto.Message, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	f.mu.Lock()
	f.requests = append(f.requests, request.(proto.Message))
	f.metadata = append(f.metadata, md)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		return nil, nil
	}
	return answer(ctx, request.(proto.Message))
}

func (f *fakes) last(t *testing.T) (proto.Message, metadata.MD) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) == 0 {
		t.Fatal("no call reached a service")
	}
	return f.requests[len(f.requests)-1], f.metadata[len(f.metadata)-1]
}

func (f *fakes) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// serveFakes runs the fakes behind a real gRPC server and a gateway, and
// returns the gateway's address. The interceptor answers in the place of each
// method, unless the fakes have no answer: then the real verifier does.
func serveFakes(t testing.TB, f *fakes, change func(*Options)) string {
	t.Helper()
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		m, err := f.note(ctx, info, request)
		if m == nil && err == nil {
			return next(ctx, request)
		}
		return m, err
	}))
	originalsv1.RegisterSeedPairServiceServer(server, f)
	originalsv1.RegisterRoundServiceServer(server, f)
	originalsv1.RegisterDiceServiceServer(server, diceFake{})
	originalsv1.RegisterLimboServiceServer(server, limboFake{})
	originalsv1.RegisterRouletteServiceServer(server, rouletteFake{})
	originalsv1.RegisterMinesServiceServer(server, f)
	originalsv1.RegisterDuelServiceServer(server, f)
	BindVerifier(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	o := Options{Conn: client}
	if change != nil {
		change(&o)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	t.Cleanup(front.Close)
	return front.URL
}

// Three services have a method of the same name, so one type cannot be all.
type (
	diceFake struct {
		originalsv1.UnimplementedDiceServiceServer
	}
	limboFake struct {
		originalsv1.UnimplementedLimboServiceServer
	}
	rouletteFake struct {
		originalsv1.UnimplementedRouletteServiceServer
	}
)

// reply is an HTTP answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// send makes one request; headers are name, value, name, value.
func send(t testing.TB, method, url, body string, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			request.Header.Del(headers[i])
			continue
		}
		request.Header[http.CanonicalHeaderKey(headers[i])] = strings.Split(headers[i+1], "\n")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(text), err}
}

// failureOf reads a google.rpc.Status, and fails on any other form.
func failureOf(t testing.TB, r reply) (code int, reason string, metadata map[string]string) {
	t.Helper()
	var st struct {
		Code    int
		Message string
		Details []struct {
			Type     string `json:"@type"`
			Reason   string
			Domain   string
			Metadata map[string]string
		}
	}
	decoder := json.NewDecoder(strings.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&st); err != nil {
		t.Fatalf("answer %d %q is no status: %v", r.status, r.body, err)
	}
	if len(st.Details) != 1 || st.Details[0].Type != "type.googleapis.com/google.rpc.ErrorInfo" ||
		st.Details[0].Domain != "originals" || st.Details[0].Reason == "" || st.Message == "" || st.Code == 0 {
		t.Fatalf("answer %q lacks its reason", r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return st.Code, st.Details[0].Reason, st.Details[0].Metadata
}

package walletcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// stage serves a platform by REST and gRPC on 127.0.0.1, and puts faults in the
// way of the wallet's calls.
type stage struct {
	platform *platform
	rest     http.Handler

	httpAddr, grpcAddr string
	stop               func()

	mu      sync.Mutex
	token   string // the one that is accepted
	calls   []call
	faults  []*fault
	late    []func()
	refuses int // calls that were refused for their token
}

var (
	readJSON  = protojson.UnmarshalOptions{}
	writeJSON = protojson.MarshalOptions{EmitDefaultValues: true}
)

func newStage(p *platform, token string) (*stage, error) {
	mux := runtime.NewServeMux(runtime.WithMarshalerOption(runtime.MIMEWildcard,
		&runtime.JSONPb{MarshalOptions: writeJSON, UnmarshalOptions: readJSON}))
	err := originalsv1.RegisterSettlementServiceHandlerServer(context.Background(), mux, p)
	if err != nil {
		return nil, err
	}
	s := &stage{platform: p, rest: mux, token: token}
	for range 5 { // somebody else may be first at an address that was free
		if err := s.chooseAddresses(); err != nil {
			return nil, err
		}
		if err = s.start(); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func (s *stage) chooseAddresses() (err error) {
	if s.httpAddr, err = freeAddr(); err != nil {
		return err
	}
	s.grpcAddr, err = freeAddr()
	return err
}

// start listens, after a stop at the same addresses.
func (s *stage) start() error {
	overHTTP, err := net.Listen("tcp", s.httpAddr)
	if err != nil {
		return err
	}
	overGRPC, err := net.Listen("tcp", s.grpcAddr)
	if err != nil {
		return errors.Join(err, overHTTP.Close())
	}
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	rpc := grpc.NewServer(grpc.UnaryInterceptor(s.intercept), grpc.StreamInterceptor(s.interceptStream))
	originalsv1.RegisterSettlementServiceServer(rpc, s.platform)
	go func() { _ = web.Serve(overHTTP) }()
	go func() { _ = rpc.Serve(overGRPC) }()
	s.stop = func() {
		_ = web.Close()
		rpc.Stop()
	}
	return nil
}

func (s *stage) accepts(header string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if header == "Bearer "+s.token {
		return true
	}
	s.refuses++
	return false
}

// setToken makes another token the one that is accepted.
func (s *stage) setToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

func (s *stage) refusedTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuses
}

// methodOf returns the method of a route and its messages.
func methodOf(r *http.Request) (method string, request, answer proto.Message) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/wallet/")
	post := r.Method == http.MethodPost
	switch {
	case path == "settlements:claim":
		return claimCall, new(originalsv1.ClaimSettlementsRequest), new(originalsv1.ClaimSettlementsResponse)
	case path == "settlements:acknowledge":
		return acknowledgeCall, new(originalsv1.AcknowledgeSettlementsRequest), new(originalsv1.AcknowledgeSettlementsResponse)
	case path == "transfers" && post:
		return transferCall, new(originalsv1.CreateTransferRequest), new(originalsv1.Transfer)
	case strings.HasPrefix(path, "transfers/") && strings.HasSuffix(path, ":cancel"):
		return cancelCall, new(originalsv1.CancelTransferRequest), new(originalsv1.Transfer)
	}
	return "other", nil, nil
}

// reply is an answer of HTTP that was not sent yet.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *reply) Header() http.Header         { return r.header }
func (r *reply) WriteHeader(status int)      { r.status = status }
func (r *reply) Write(b []byte) (int, error) { return r.body.Write(b) }

func (s *stage) forward(req *http.Request, body []byte) *reply {
	r := &reply{header: make(http.Header), status: http.StatusOK}
	own := req.Clone(context.WithoutCancel(req.Context()))
	own.Body = io.NopCloser(bytes.NewReader(body))
	s.rest.ServeHTTP(r, own)
	return r
}

// ServeHTTP serves the REST API.
func (s *stage) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		return
	}
	if !s.accepts(req.Header.Get("Authorization")) {
		writeRefusal(w, reason.TokenInvalid.Code(), http.StatusUnauthorized, reason.TokenInvalid)
		return
	}
	method, request, shape := methodOf(req)
	if request != nil {
		_ = readJSON.Unmarshal(body, request) // one that cannot be read is answered by the platform
	}
	f := s.meet(method, request)
	answer := through(req.Context(), s, f, func() *reply { return s.forward(req, body) })
	if f.seen != nil && answer != nil && shape != nil {
		_ = readJSON.Unmarshal((*answer).body.Bytes(), shape)
		f.seen(shape)
	}
	f.sendHTTP(w, answer, shape)
}

func (f *fault) sendHTTP(w http.ResponseWriter, answer **reply, shape proto.Message) {
	switch {
	case f.answer == dropped || f.late:
		panic(http.ErrAbortHandler) // ends the connection, and is caught by net/http
	case f.answer == garbage:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, f.text)
	case f.answer == refused:
		writeRefusal(w, codes.Unavailable, f.status, f.reason)
	case answer == nil:
		writeRefusal(w, codes.Unavailable, defaultRefusal, reason.StoreUnavailable)
	case f.answer == half:
		text := (*answer).body.Bytes()
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write(text[:len(text)/2])
		panic(http.ErrAbortHandler)
	default:
		f.sendWhole(w, *answer, shape)
	}
}

func (f *fault) sendWhole(w http.ResponseWriter, answer *reply, shape proto.Message) {
	text := answer.body.Bytes()
	if f.edit != nil && answer.status == http.StatusOK && readJSON.Unmarshal(text, shape) == nil {
		f.edit(shape)
		text, _ = writeJSON.Marshal(shape)
	}
	if f.editJSON != nil && answer.status == http.StatusOK {
		text = f.editJSON(text)
	}
	for name, values := range answer.header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write(text)
}

// writeRefusal writes an error as the gateway does. A status without a reason
// is that of a proxy: its body is no JSON.
func writeRefusal(w http.ResponseWriter, code codes.Code, httpStatus int, r reason.Reason) {
	if r == "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(httpStatus)
		fmt.Fprintf(w, "<html><body><h1>%d %s</h1></body></html>", httpStatus, http.StatusText(httpStatus))
		return
	}
	st := reason.New(r, "refused for the check").GRPCStatus().Proto()
	st.Code = int32(code)
	text, _ := writeJSON.Marshal(st)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(httpStatus)
	_, _ = w.Write(text)
}

type result struct {
	answer any
	err    error
}

// intercept serves gRPC.
func (s *stage) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if !s.acceptsRPC(ctx) {
		return nil, reason.New(reason.TokenInvalid, "the token is not accepted")
	}
	method := info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:]
	message, _ := request.(proto.Message)
	f := s.meet(method, proto.Clone(message))
	got := through(ctx, s, f, func() result {
		answer, err := next(context.WithoutCancel(ctx), request)
		return result{answer, err}
	})
	if got != nil && got.err == nil && f.seen != nil {
		f.seen(got.answer.(proto.Message))
	}
	switch {
	case f.answer == refused && f.reason != "":
		return nil, reason.New(f.reason, "refused for the check")
	case f.answer == refused, f.answer == dropped, f.late, got == nil:
		return nil, status.Error(codes.Unavailable, "connection lost")
	case f.answer == garbage, f.answer == half:
		return nil, status.Error(codes.Internal, "the answer cannot be read")
	}
	if f.edit != nil && got.err == nil {
		f.edit(got.answer.(proto.Message))
	}
	return got.answer, got.err
}

func (s *stage) acceptsRPC(ctx context.Context) bool {
	headers, _ := metadata.FromIncomingContext(ctx)
	given := headers.Get("authorization")
	return len(given) == 1 && s.accepts(given[0])
}

func (s *stage) interceptStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if !s.acceptsRPC(stream.Context()) {
		return reason.New(reason.TokenInvalid, "the token is not accepted")
	}
	s.meet("StreamSettlements", nil)
	return next(srv, stream)
}

package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/pki"
)

func issue(t *testing.T, dir string, roles ...string) *PeerTLS {
	t.Helper()
	authority, err := pki.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := authority.Issue(roles, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p, err := LoadPeerTLS(cert, key, filepath.Join(dir, pki.AuthorityFile))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeersKnowEachOtherByCertificate(t *testing.T) {
	dir, foreign := t.TempDir(), t.TempDir()
	vault, dicePeer := issue(t, dir, "seedpair"), issue(t, dir, "dice", "limbo")
	s := grpc.NewServer(grpc.Creds(vault.Server()))
	originalsv1.RegisterDiceServiceServer(s, &dice{does: func(ctx context.Context, _ *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		return &originalsv1.Round{BetId: strings.Join(auth.PeerRoles(ctx), ",")}, nil
	}})
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(socket) }()
	t.Cleanup(s.Stop)
	call := func(creds credentials.TransportCredentials) (string, error) {
		conn, err := Dial(socket.Addr().String(), creds)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		round, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(ctx, &originalsv1.DiceServicePlaceBetRequest{})
		return round.GetBetId(), err
	}
	stranger := issue(t, foreign, "dice")
	for name, client := range map[string]func(*PeerTLS, string) credentials.TransportCredentials{
		"Client": (*PeerTLS).Client, "ClientOfAny": (*PeerTLS).ClientOfAny,
	} {
		if roles, err := call(client(dicePeer, "seedpair")); err != nil || roles != "dice,limbo" {
			t.Errorf("%s: roles %q, %v", name, roles, err)
		}
		if _, err := call(client(dicePeer, "mines")); err == nil {
			t.Errorf("%s: the server has not the role that was asked for", name)
		}
		if _, err := call(client(stranger, "seedpair")); err == nil {
			t.Errorf("%s: another authority was trusted", name)
		}
	}
	if _, err := call(insecure.NewCredentials()); err == nil {
		t.Error("plain text was let in")
	}
	if _, err := call(credentials.NewClientTLSFromCert(vault.authority, "")); err == nil {
		t.Error("a caller without a certificate was let in")
	}
	if got := dicePeer.Roles(); len(got) != 2 {
		t.Errorf("own roles %q", got)
	}
	if _, err := LoadPeerTLS("none", "none", "none"); err == nil {
		t.Error("missing files were loaded")
	}
}

// TestKeepaliveMismatchCutsNobodyOff covers the trap of a server that cuts off
// clients which keep to the documented time.
func TestKeepaliveMismatchCutsNobodyOff(t *testing.T) {
	if keepaliveEnforced >= KeepaliveClientTime || keepaliveOfPeers < KeepaliveClientTime {
		t.Errorf("enforced %v, documented %v, ours %v", keepaliveEnforced, KeepaliveClientTime, keepaliveOfPeers)
	}
}

// Health answers for a server as a whole and for each of its services.
func TestGroupSaysThatEachServiceServes(t *testing.T) {
	s := NewGRPC(newRig(t).deps, GRPCOptions{})
	originalsv1.RegisterDiceServiceServer(s, &dice{})
	g := NewGroup()
	g.GRPC("grpc", "127.0.0.1:0", s)
	for _, service := range []string{"", "originals.v1.DiceService"} {
		answer, err := g.Health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, answer, err)
		}
	}
}

func TestGroupFinishesCallsInFlight(t *testing.T) {
	r := newRig(t)
	began, finish := make(chan struct{}, 2), make(chan struct{})
	slow := func() { began <- struct{}{}; <-finish }
	s := NewGRPC(r.deps, GRPCOptions{})
	originalsv1.RegisterDiceServiceServer(s, &dice{does: func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		slow()
		return &originalsv1.Round{BetId: "done"}, nil
	}})
	g := NewGroup()
	g.GRPC("grpc", "127.0.0.1:0", s)
	g.HTTP("http", NewHTTP("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		slow()
		_, _ = io.WriteString(w, "done")
	})))
	var jobEnded atomic.Bool
	g.Go("job", func(ctx context.Context) error { <-ctx.Done(); jobEnded.Store(true); return nil })
	if g.Ready() == nil {
		t.Error("ready before it serves")
	}
	if err := g.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	answers := make(chan string, 2)
	go func() {
		conn, err := Dial(g.Addr("grpc").String(), insecure.NewCredentials())
		if err != nil {
			answers <- err.Error()
			return
		}
		defer func() { _ = conn.Close() }()
		call := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+r.token)
		round, err := originalsv1.NewDiceServiceClient(conn).PlaceBet(call, &originalsv1.DiceServicePlaceBetRequest{})
		answers <- fmt.Sprint(round.GetBetId(), err)
	}()
	go func() {
		resp, err := http.Get("http://" + g.Addr("http").String())
		if err != nil {
			answers <- err.Error()
			return
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		answers <- fmt.Sprint(string(text), err)
	}()
	<-began
	<-began
	if err := g.Ready(); err != nil {
		t.Error(err)
	}
	stop()
	for g.Ready() == nil {
		time.Sleep(time.Millisecond)
	}
	if jobEnded.Load() {
		t.Error("the job ended before the calls")
	}
	select {
	case err := <-served:
		t.Fatalf("ended with calls in flight: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(finish)
	for range 2 {
		if got := <-answers; got != "done<nil>" {
			t.Errorf("answer %q", got)
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if !jobEnded.Load() {
		t.Error("the job has not ended")
	}
}

func TestGroupCutsOffWhatDoesNotFinish(t *testing.T) {
	began, gone := make(chan struct{}), make(chan struct{})
	g := NewGroup()
	g.Grace = 20 * time.Millisecond
	g.HTTP("http", NewHTTP("127.0.0.1:0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(gone)
	})))
	if err := g.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	go func() {
		resp, err := http.Get("http://" + g.Addr("http").String())
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-began
	stop()
	if err := <-served; err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("error %v", err)
	}
	<-gone
}

func TestGroupBindsAllOrNone(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	g := NewGroup()
	g.HTTP("first", NewHTTP(address, http.NotFoundHandler()))
	g.HTTP("second", NewHTTP(taken.Addr().String(), http.NotFoundHandler()))
	if err := g.Listen(); err == nil || !strings.Contains(err.Error(), "second") {
		t.Errorf("error %v", err)
	}
	again, err := net.Listen("tcp", address)
	if err != nil {
		t.Errorf("the first address is still bound: %v", err)
	} else {
		_ = again.Close()
	}
}

func TestGroupEndsWithTheFirstError(t *testing.T) {
	g := NewGroup()
	g.HTTP("http", NewHTTP("127.0.0.1:0", http.NotFoundHandler()))
	g.Go("sweeper", func(context.Context) error { return errPlain })
	g.Go("other", func(ctx context.Context) error { <-ctx.Done(); return nil })
	if err := g.Listen(); err != nil {
		t.Fatal(err)
	}
	if err := g.Serve(t.Context()); !errors.Is(err, errPlain) || !strings.Contains(err.Error(), "sweeper") {
		t.Errorf("error %v", err)
	}
}

// TestSlowClientsAreBounded: a client that sends its header byte by byte is
// cut off.
func TestSlowClientsAreBounded(t *testing.T) {
	s := NewHTTP("", http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("an unbounded server: %+v", s)
	}
	s.ReadHeaderTimeout = 50 * time.Millisecond
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(socket) }()
	t.Cleanup(func() { _ = s.Close() })
	conn, err := net.Dial("tcp", socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(bufio.NewReader(conn)); err != nil {
		t.Errorf("not cut off: %v", err)
	}
}

func TestAdmin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks, reports int
		var result error
		h := Admin(func(context.Context) error { checks++; return result }, func(error) { reports++ }, NewMetrics().Handler())
		get := func(path string) (int, string) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			return w.Code, w.Body.String()
		}
		for range 5 {
			if code, text := get("/readyz"); code != http.StatusOK || text != "ready\n" {
				t.Errorf("%d %q", code, text)
			}
		}
		if checks != 1 {
			t.Errorf("%d checks in one second", checks)
		}
		result = errors.New("redis 10.1.2.3 is away")
		time.Sleep(time.Second)
		if code, text := get("/readyz"); code != http.StatusServiceUnavailable || strings.Contains(text, "10.1.2.3") {
			t.Errorf("%d %q", code, text)
		}
		if code, _ := get("/healthz"); code != http.StatusOK {
			t.Errorf("healthz %d: it must not depend on the store", code)
		}
		if reports != 1 {
			t.Errorf("%d reports", reports)
		}
		if code, text := get("/metrics"); code != http.StatusOK || !strings.Contains(text, "go_goroutines") {
			t.Errorf("metrics %d", code)
		}
	})
}

func TestLoggerLosesNothing(t *testing.T) {
	b := new(buffer)
	logger, closeLogger := NewLogger(b, zap.InfoLevel)
	logger.Debug("hidden")
	logger.Info("first")
	if b.String() != "" {
		t.Error("an ordinary line was written at once")
	}
	logger.With(zap.Int("n", 1)).Error("second")
	if text := b.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "first") || !strings.Contains(text, "second") {
		t.Errorf("after an error: %q", text)
	}
	logger.Info("third")
	if err := closeLogger(); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "\n") != 3 || strings.Contains(text, "hidden") {
		t.Errorf("after the end: %q", text)
	}
}

// Retry on UNAVAILABLE runs the call twice: a connection between roles tries no
// call again, whatever the other side advises.
func TestRetryOnUnavailableRunsTheCallTwice(t *testing.T) {
	var runs atomic.Int32
	s := grpc.NewServer()
	originalsv1.RegisterDiceServiceServer(s, &dice{does: func(context.Context, *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
		runs.Add(1)
		return nil, status.Error(codes.Unavailable, "done, and the answer is lost")
	}})
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(socket) }()
	t.Cleanup(s.Stop)
	conn, err := Dial(socket.Addr().String(), insecure.NewCredentials())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = originalsv1.NewDiceServiceClient(conn).PlaceBet(t.Context(), &originalsv1.DiceServicePlaceBetRequest{})
	if status.Code(err) != codes.Unavailable || runs.Load() != 1 {
		t.Errorf("%v after %d runs, want UNAVAILABLE after one", err, runs.Load())
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// allInOne is every role in this process, and one player who speaks both
// protocols to it.
type allInOne struct {
	t     *testing.T
	p     *process
	url   string
	logs  *logBuffer
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	http  *http.Client
	grpc  *grpc.ClientConn
	token string
	ctx   context.Context // carries the token for gRPC

	pair, next string
}

// logBuffer gathers a log that is written to while it is read.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// startAllInOne serves until the test ends. The network is dialed by dial, nil
// for the ordinary way.
func startAllInOne(t *testing.T, change func(*settings), dial func(context.Context, string, string) (net.Conn, error)) *allInOne {
	t.Helper()
	s := settings{
		roles: allRoles, http: "127.0.0.1:0", grpc: "127.0.0.1:0",
		demoBalance: 1_000_000, minesExpiry: time.Hour, duelTimes: duelSettings{minExpiry: time.Minute, retention: time.Hour}, watchers: 100, logLevel: "debug",
	}
	change(&s)
	a := &allInOne{t: t, logs: new(logBuffer), dial: dial}
	if dial == nil {
		a.dial = new(net.Dialer).DialContext
	}
	var err error
	if a.p, err = newProcess(t.Context(), s, a.logs); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.p.group.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := a.p.close(); err != nil {
			t.Error(err)
		}
	})
	a.url = "http://" + a.p.address("http")
	a.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: a.dial, DisableCompression: true}}
	a.grpc, err = grpc.NewClient("passthrough:///"+a.p.address("grpc"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return a.dial(ctx, "tcp", address) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.grpc.Close() })
	a.be("alice", auth.Player)
	return a
}

// be makes the calls after it those of somebody else.
func (a *allInOne) be(name string, role auth.Role) {
	a.t.Helper()
	a.token = a.mint(auth.Identity{Subject: name, Role: role}, time.Hour)
	a.ctx = metadata.AppendToOutgoingContext(a.t.Context(), "authorization", "Bearer "+a.token)
}

func (a *allInOne) mint(id auth.Identity, ttl time.Duration) string {
	a.t.Helper()
	token, err := a.p.devKey.Mint(id, ttl, time.Now())
	if err != nil {
		a.t.Fatal(err)
	}
	return token
}

// send makes a REST call with the player's token.
func (a *allInOne) send(method, path, body string) (int, string) {
	a.t.Helper()
	return a.sendAs("Bearer "+a.token, method, path, strings.NewReader(body))
}

func (a *allInOne) sendAs(authorization, method, path string, body io.Reader) (int, string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// call is a REST call that must succeed.
func (a *allInOne) call(method, path, body string, answer proto.Message) {
	a.t.Helper()
	code, text := a.send(method, path, body)
	if code != http.StatusOK {
		a.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	if err := protojson.Unmarshal([]byte(text), answer); err != nil {
		a.t.Fatal(err)
	}
}

// rotate shows the player a commitment and activates it.
func (a *allInOne) rotate() *originalsv1.RotateSeedPairResponse {
	a.t.Helper()
	var shown originalsv1.GetSeedPairResponse
	a.call("GET", "/v1/seed-pair", "", &shown)
	var rotated originalsv1.RotateSeedPairResponse
	a.call("POST", "/v1/seed-pair:rotate", fmt.Sprintf(`{"clientSeed":%q,"nextCommitment":%q}`, newClientSeed(), shown.GetNextCommitment()), &rotated)
	a.pair, a.next = rotated.GetActive().GetSeedPairId(), rotated.GetNextCommitment()
	return &rotated
}

// state is everything that a refused call must leave as it was.
func (a *allInOne) state() string {
	a.t.Helper()
	var all strings.Builder
	for _, path := range []string{"/v1/seed-pair", "/v1/balances", "/v1/rounds", "/v1/seed-pairs"} {
		code, text := a.send("GET", path, "")
		fmt.Fprintln(&all, code, text)
	}
	return all.String()
}

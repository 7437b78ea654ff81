package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	grpcmetadata "google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// The benchmark of bets. Ours and a bare echo of the same messages take turns
// in one run, so that a machine whose speed drifts does both the same.
const (
	benchConnections = 64
	benchTurns       = 7
	benchTurn        = 2 * time.Second
	echoVariable     = "BENCH_ECHO_SERVER"
)

// lane is one way of placing bets: REST or gRPC, at ours or at the echo.
type lane struct {
	name  string
	place func(worker, bet int) error
}

// turn is what came of one turn of a lane.
type turn struct {
	perSecond float64
	p50, p99  time.Duration
	bets      int
}

// BenchmarkBets measures bets a second with every check on: token, limits,
// idempotency, Redis with its file synced every second.
func BenchmarkBets(b *testing.B) {
	redis := testenv.Redis(b, testenv.Args("--appendfsync", "everysec"))
	ours := benchProcess(b, redis)
	echo := startEcho(b)
	players := benchPlayers(b, ours)

	for _, how := range []string{"REST", "gRPC"} {
		var mine, bare lane
		if how == "REST" {
			mine, bare = restLane("ours", ours.URL(), players), restLane("echo", "http://"+echo.http, players)
		} else {
			mine, bare = grpcLane(b, "ours", ours.Address("gRPC"), players), grpcLane(b, "echo", echo.grpc, players)
		}
		b.Run(how, func(b *testing.B) {
			for b.Loop() {
				compare(b, mine, bare, benchConnections, ours, redis, echo.pid)
				compare(b, mine, bare, 1, ours, redis, echo.pid)
			}
		})
	}
}

// compare lets two lanes take turns and reports the median of their ratios.
func compare(b *testing.B, mine, bare lane, connections int, ours *testenv.Process, redis *testenv.RedisServer, echo int) {
	b.Helper()
	takeTurn(b, mine, connections, benchTurn/2) // warm
	takeTurn(b, bare, connections, benchTurn/2)
	var ratios, p50s []float64
	var m, e turn
	var bets, echoes int
	var cpuOurs, cpuRedis, cpuEcho, cpuLoad time.Duration
	for range benchTurns {
		o, r, l := ours.CPU(), redis.CPU(), testenv.CPU(b, os.Getpid())
		m = takeTurn(b, mine, connections, benchTurn)
		cpuOurs, cpuRedis, cpuLoad = cpuOurs+ours.CPU()-o, cpuRedis+redis.CPU()-r, cpuLoad+testenv.CPU(b, os.Getpid())-l
		bets += m.bets
		c := testenv.CPU(b, echo)
		e = takeTurn(b, bare, connections, benchTurn)
		cpuEcho += testenv.CPU(b, echo) - c
		echoes += e.bets
		ratios = append(ratios, m.perSecond/e.perSecond)
		p50s = append(p50s, float64(m.p50)/float64(e.p50))
	}
	slices.Sort(ratios)
	slices.Sort(p50s)
	each := func(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(max(n, 1)) }
	fmt.Printf("bets by %s, %d connections: %.0f/s (p50 %v, p99 %v) against %.0f/s of the echo (p50 %v, p99 %v): rate %.2f of the echo's, p50 %.2f times\n",
		b.Name()[strings.LastIndexByte(b.Name(), '/')+1:], connections, m.perSecond, m.p50, m.p99, e.perSecond, e.p50, e.p99,
		ratios[len(ratios)/2], p50s[len(p50s)/2])
	fmt.Printf("  processor time a bet: ours %.0f us, redis %.0f us, load generator %.0f us; the echo %.0f us\n",
		each(cpuOurs, bets), each(cpuRedis, bets), each(cpuLoad, bets), each(cpuEcho, echoes))
	if connections > 1 {
		b.ReportMetric(ratios[len(ratios)/2], "rate/echo")
		b.ReportMetric(m.perSecond, "bets/s")
		return
	}
	b.ReportMetric(p50s[len(p50s)/2], "p50/echo")
}

var betNumber atomic.Uint64

// takeTurn places bets over all connections for a while.
func takeTurn(b *testing.B, l lane, connections int, d time.Duration) turn {
	b.Helper()
	var wg sync.WaitGroup
	took := make([][]time.Duration, connections)
	end := time.Now().Add(d)
	for w := range connections {
		wg.Go(func() {
			for {
				start := time.Now()
				if start.After(end) {
					return
				}
				if err := l.place(w, int(betNumber.Add(1))); err != nil {
					b.Errorf("%s: %v", l.name, err)
					return
				}
				took[w] = append(took[w], time.Since(start))
			}
		})
	}
	start := time.Now()
	wg.Wait()
	elapsed := time.Since(start)
	all := slices.Concat(took...)
	if len(all) == 0 {
		b.Fatalf("%s: no bet was placed", l.name)
	}
	slices.Sort(all)
	return turn{float64(len(all)) / elapsed.Seconds(), all[len(all)/2], all[len(all)*99/100], len(all)}
}

// benchPlayer is one player with his active pair.
type benchPlayer struct{ token, pair string }

func benchProcess(b *testing.B, redis *testenv.RedisServer) *testenv.Process {
	s := newSite(b, redis.URL())
	benchKey = s.devKey
	return testenv.Serve(b, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--dev-key", s.devKey,
		"--redis", redis.URL(), "--seal-key-file", s.sealKey, "--demo-balance", "1000000000000")
}

var benchKey string

func benchPlayers(b *testing.B, ours *testenv.Process) []benchPlayer {
	key, _, err := auth.LoadOrCreateDevKey(benchKey, "")
	if err != nil {
		b.Fatal(err)
	}
	players := make([]benchPlayer, benchConnections)
	for i := range players {
		token, err := key.Mint(auth.Identity{Subject: fmt.Sprintf("bench-%d", i), Operator: key.Operator(), Role: auth.Player}, time.Hour, time.Now())
		if err != nil {
			b.Fatal(err)
		}
		c := newClient(ours.URL(), token)
		var shown originalsv1.GetSeedPairResponse
		var rotated originalsv1.RotateSeedPairResponse
		if err := c.get(context.Background(), "/v1/seed-pair", &shown); err != nil {
			b.Fatal(err)
		}
		req := &originalsv1.RotateSeedPairRequest{ClientSeed: newClientSeed(), NextCommitment: shown.GetNextCommitment()}
		if err := c.post(context.Background(), "/v1/seed-pair:rotate", req, &rotated); err != nil {
			b.Fatal(err)
		}
		players[i] = benchPlayer{token, rotated.GetActive().GetSeedPairId()}
	}
	return players
}

// benchBet is a bet with an id of 36 characters.
func benchBet(p benchPlayer, n int) *originalsv1.DiceServicePlaceBetRequest {
	return &originalsv1.DiceServicePlaceBetRequest{
		BetId: fmt.Sprintf("bench-%030d", n), SeedPairId: p.pair,
		Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, Target: 5000, Direction: originalsv1.Dice_OVER,
	}
}

func restLane(name, url string, players []benchPlayer) lane {
	transport := &http.Transport{MaxIdleConnsPerHost: benchConnections, MaxConnsPerHost: benchConnections}
	return lane{name + " by REST", func(w, n int) error {
		body, err := protojson.Marshal(benchBet(players[w], n))
		if err != nil {
			return err
		}
		req, err := http.NewRequest(http.MethodPost, url+"/v1/dice/bets", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+players[w].token)
		req.Header.Set("Content-Type", "application/json")
		res, err := transport.RoundTrip(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("SETTLED"))) {
			err = fmt.Errorf("%d %s", res.StatusCode, text)
		}
		return err
	}}
}

func grpcLane(b *testing.B, name, addr string, players []benchPlayer) lane {
	clients := make([]originalsv1.DiceServiceClient, benchConnections)
	for i := range clients {
		conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		clients[i] = originalsv1.NewDiceServiceClient(conn)
	}
	return lane{name + " by gRPC", func(w, n int) error {
		ctx := grpcmetadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+players[w].token)
		round, err := clients[w].PlaceBet(ctx, benchBet(players[w], n))
		if err == nil && round.GetState() != originalsv1.Round_SETTLED {
			err = fmt.Errorf("state %v", round.GetState())
		}
		return err
	}}
}

// echoServer is a process that answers bets with a round and does nothing.
type echoServer struct {
	pid        int
	http, grpc string
}

// startEcho starts this test program again, as the echo.
func startEcho(b *testing.B) echoServer {
	cmd := exec.Command(os.Args[0], "-test.run=^TestEchoServer$")
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	e := echoServer{pid: cmd.Process.Pid}
	if _, err := fmt.Fscanf(out, "%s %s\n", &e.http, &e.grpc); err != nil {
		b.Fatal(err)
	}
	return e
}

// TestEchoServer serves in the process that startEcho starts, and does nothing
// in any other.
func TestEchoServer(t *testing.T) {
	if os.Getenv(echoVariable) == "" {
		return
	}
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rpc, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux := runtime.NewServeMux()
	if err := originalsv1.RegisterDiceServiceHandlerServer(context.Background(), mux, echo{}); err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	originalsv1.RegisterDiceServiceServer(s, echo{})
	fmt.Println(web.Addr(), rpc.Addr())
	go http.Serve(web, mux)
	s.Serve(rpc)
}

type echo struct {
	originalsv1.UnimplementedDiceServiceServer
}

// PlaceBet answers with a round that looks like one of ours.
func (echo) PlaceBet(_ context.Context, req *originalsv1.DiceServicePlaceBetRequest) (*originalsv1.Round, error) {
	roll, win := uint32(1234), false
	now := timestamppb.Now()
	return &originalsv1.Round{
		RoundId: req.GetSeedPairId() + "-12345", BetId: req.GetBetId(), Game: originalsv1.Game_DICE, Scheme: "originals-v1",
		State: originalsv1.Round_SETTLED, SeedPairId: req.GetSeedPairId(), Commitment: strings.Repeat("ab", 32),
		ClientSeed: strings.Repeat("cd", 16), Nonce: 12345, Stake: req.GetStake(),
		Payout:     &originalsv1.Money{Currency: "FUN"},
		CreateTime: now, SettleTime: now, Balance: &originalsv1.Money{Currency: "FUN", Amount: 123456789},
		Dice: &originalsv1.Dice{Target: req.GetTarget(), Direction: req.GetDirection(), Roll: &roll, Win: &win},
	}, nil
}

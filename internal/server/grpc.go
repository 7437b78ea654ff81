package server

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Bounds of a gRPC connection. A client may ping every KeepaliveClientTime or
// less often, with or without a call in flight; one that pings more often is
// cut off with GOAWAY, too_many_pings.
const (
	KeepaliveClientTime = 10 * time.Second

	keepaliveEnforced = KeepaliveClientTime / 2 // half, since pings jitter
	keepaliveOfPeers  = 2 * KeepaliveClientTime // of connections between roles

	maxConcurrentStreams = 1000             // calls in flight on one connection
	handshakeTime        = 5 * time.Second  // to open a connection
	pingAfter            = 30 * time.Second // of silence, to find dead clients
	pingTimeout          = 10 * time.Second
	idleTime             = 15 * time.Minute // then the connection is closed
	connectionAge        = 30 * time.Minute // so that clients spread over new servers
	connectionGrace      = 30 * time.Second // for calls in flight at that age
	maxHeaderListBytes   = 16 << 10         // a token of 8 KiB and room beside it

	// Calls run on goroutines that stay, so that their stacks need not grow
	// anew each time, a tenth of the cost of a bet. More calls than that get
	// goroutines of their own.
	streamWorkers = 256

	// Requests are small, so the windows stay as they are. To find better ones
	// would cost a ping, its answer and four system calls at every call.
	streamWindow     = MaxMessageBytes
	connectionWindow = 16 * MaxMessageBytes
)

// GRPCOptions is how a gRPC server is reached.
type GRPCOptions struct {
	// Credentials of the listener; nil for plain text behind a proxy or on
	// the loopback interface.
	Credentials credentials.TransportCredentials
	// Health answers grpc.health.v1; nil for none.
	Health healthpb.HealthServer
	// Reflection lets clients list the services.
	Reflection bool
}

// NewGRPC returns a server whose calls run through NewChain. Services are
// registered on it before it serves.
func NewGRPC(d Deps, o GRPCOptions) *grpc.Server {
	options := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(NewChain(d)...),
		grpc.ChainStreamInterceptor(NewStreamChain(d)...),
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.MaxHeaderListSize(maxHeaderListBytes),
		grpc.MaxConcurrentStreams(maxConcurrentStreams),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveEnforced, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     idleTime,
			MaxConnectionAge:      connectionAge,
			MaxConnectionAgeGrace: connectionGrace,
			Time:                  pingAfter,
			Timeout:               pingTimeout,
		}),
	}
	if o.Credentials != nil {
		options = append(options, grpc.Creds(o.Credentials))
	}
	s := grpc.NewServer(options...)
	if o.Health != nil {
		healthpb.RegisterHealthServer(s, o.Health)
	}
	if o.Reflection {
		reflection.Register(s)
	}
	return s
}

// reconnect is the pause between attempts to reach a role that is away. The
// default grows to two minutes, for which a role that is back would not be used.
var reconnect = backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}

// Dial returns a connection to another role, made at the first call. It tries
// no call twice: a retry is the caller's, with the same id.
func Dial(address string, creds credentials.TransportCredentials) (*grpc.ClientConn, error) {
	return grpc.NewClient(address,
		grpc.WithTransportCredentials(creds),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: handshakeTime}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveOfPeers, Timeout: pingTimeout, PermitWithoutStream: true}),
	)
}

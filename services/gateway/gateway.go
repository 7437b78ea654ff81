// Package gateway holds the REST side of the public API: it turns HTTP with
// strict JSON into calls of the public services, and it must never import the
// private API of the vault, a store, or another service.
//
// It decides nothing about bets. It refuses what is not exactly a request of
// the contract, bounds bodies and time, passes the caller's token on, and
// answers every failure as a google.rpc.Status with a reason.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Bounds where Options leaves them out.
const (
	DefaultMaxBody = 256 << 10        // bytes of a request body: room for 500 acknowledgements
	DefaultTimeout = 10 * time.Second // of one call to a service
)

// Options are the surroundings of a gateway.
type Options struct {
	// Conn reaches every public service. Required.
	Conn grpc.ClientConnInterface
	// CORS lists the origins whose pages may call, such as
	// https://casino.example. No pattern: each is compared exactly.
	CORS []string
	// MaxBody bounds a request body, in bytes; DefaultMaxBody when 0.
	MaxBody int64
	// Timeout bounds each call to a service; DefaultTimeout when 0. A client
	// may shorten it by a Grpc-Timeout header, never lengthen it.
	Timeout time.Duration
	// Admin answers /healthz, /readyz and /metrics; without it they are
	// unknown routes.
	Admin http.Handler
	// Stop ends the streams of watchers when it is closed; nil for never.
	Stop <-chan struct{}
	// MaxWatchers bounds those of crash tables at once; DefaultMaxWatchers when 0.
	MaxWatchers int
	// Metrics are told of watchers and refusals; may be nil.
	Metrics *Metrics
	// Log takes what goes wrong in the gateway itself; nil is silence.
	Log *zap.Logger
}

// Gateway is the handler of the REST API.
type Gateway struct {
	http.Handler
	crash *crashWatch
}

// Drain tells everybody who watches a crash table that the process ends, if
// Options.Stop has not, and returns once they know. It takes a few seconds at
// most.
func (g *Gateway) Drain() { g.crash.drain() }

// New returns the handler of the REST API. It fails on options that cannot be
// meant: no connection, negative bounds, a malformed origin.
func New(o Options) (*Gateway, error) {
	if o.Conn == nil {
		return nil, errors.New("gateway: no connection to the services")
	}
	if o.MaxBody < 0 || o.Timeout < 0 || o.MaxWatchers < 0 {
		return nil, errors.New("gateway: negative bound")
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	origins, err := newOrigins(o.CORS)
	if err != nil {
		return nil, err
	}
	routes, watched, err := newRoutes(o)
	if err != nil {
		return nil, err
	}
	pages, err := newPages(o.Admin)
	if err != nil {
		return nil, err
	}
	return &Gateway{crash: watched, Handler: &handler{
		routes: routes, pages: pages, origins: origins,
		maxBody: o.MaxBody, log: o.Log, metrics: o.Metrics,
	}}, nil
}

// services are the public services, in the order of the OpenAPI document.
var services = []protoreflect.FileDescriptor{
	originalsv1.File_originals_v1_seed_pair_proto,
	originalsv1.File_originals_v1_round_proto,
	originalsv1.File_originals_v1_dice_proto,
	originalsv1.File_originals_v1_limbo_proto,
	originalsv1.File_originals_v1_roulette_proto,
	originalsv1.File_originals_v1_mines_proto,
	originalsv1.File_originals_v1_duel_proto,
	originalsv1.File_originals_v1_crash_proto,
	originalsv1.File_originals_v1_settlement_proto,
	originalsv1.File_originals_v1_support_proto,
	originalsv1.File_originals_v1_verifier_proto,
}

// newRoutes returns every route under /v1.
func newRoutes(o Options) (*runtime.ServeMux, *crashWatch, error) {
	encoding, err := newCodec()
	if err != nil {
		return nil, nil, fmt.Errorf("gateway: %w", err)
	}
	failures := failures{log: o.Log}
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, encoding),
		runtime.WithMiddlewares(checkRequest),
		runtime.WithErrorHandler(failures.call),
		runtime.WithRoutingErrorHandler(failures.routing),
		runtime.WithIncomingHeaderMatcher(noHeader),
		runtime.WithOutgoingHeaderMatcher(noHeader),
		runtime.WithOutgoingTrailerMatcher(noHeader),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithWriteContentLength(),
	)
	c := &conn{to: o.Conn, timeout: o.Timeout}
	tables := newCrashWatch(o, mux, encoding, originalsv1.NewCrashServiceClient(c))
	err = errors.Join(register(mux, encoding, c, o.Stop), mux.HandlePath(http.MethodGet, crashWatchPath, tables.serve))
	if err != nil {
		return nil, nil, fmt.Errorf("gateway: %w", err)
	}
	return mux, tables, nil
}

func register(mux *runtime.ServeMux, encoding codec, c grpc.ClientConnInterface, stop <-chan struct{}) error {
	ctx := context.Background()
	duels := originalsv1.NewDuelServiceClient(c)
	seedPairs := originalsv1.NewSeedPairServiceClient(c)
	wallets := originalsv1.NewSettlementServiceClient(c)
	return errors.Join(
		originalsv1.RegisterSeedPairServiceHandlerClient(ctx, mux, seedPairs),
		originalsv1.RegisterRoundServiceHandlerClient(ctx, mux, originalsv1.NewRoundServiceClient(c)),
		originalsv1.RegisterDiceServiceHandlerClient(ctx, mux, originalsv1.NewDiceServiceClient(c)),
		originalsv1.RegisterLimboServiceHandlerClient(ctx, mux, originalsv1.NewLimboServiceClient(c)),
		originalsv1.RegisterRouletteServiceHandlerClient(ctx, mux, originalsv1.NewRouletteServiceClient(c)),
		originalsv1.RegisterMinesServiceHandlerClient(ctx, mux, originalsv1.NewMinesServiceClient(c)),
		originalsv1.RegisterDuelServiceHandlerClient(ctx, mux, duels),
		originalsv1.RegisterCrashServiceHandlerClient(ctx, mux, originalsv1.NewCrashServiceClient(c)),
		mux.HandlePath(http.MethodGet, "/v1/duels/{duel_id}:watch", newWatch(mux, encoding, duels, stop).serve),
		originalsv1.RegisterSettlementServiceHandlerClient(ctx, mux, wallets),
		mux.HandlePath(http.MethodGet, settlementStreamPath, newSettlementStream(mux, encoding, wallets, stop).serve),
		originalsv1.RegisterSupportServiceHandlerClient(ctx, mux, originalsv1.NewSupportServiceClient(c)),
		originalsv1.RegisterVerifierServiceHandlerClient(ctx, mux, originalsv1.NewVerifierServiceClient(c)),
		mux.HandlePath(http.MethodGet, "/v1/seed-pairs/{seed_pair_id}/evidence", evidence{mux, encoding, seedPairs}.serve),
	)
}

func noHeader(string) (string, bool) { return "", false }

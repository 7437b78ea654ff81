package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/crash"
	"github.com/openoriginals/originals/services/dice"
	"github.com/openoriginals/originals/services/duel"
	"github.com/openoriginals/originals/services/gateway"
	"github.com/openoriginals/originals/services/limbo"
	"github.com/openoriginals/originals/services/mines"
	"github.com/openoriginals/originals/services/roulette"
	"github.com/openoriginals/originals/services/seedpair"
	"github.com/openoriginals/originals/services/settlement"
	"github.com/openoriginals/originals/services/support"
)

const (
	sweepInterval = 2 * time.Second
	sweepAge      = 5 * time.Second
	jwksTimeout   = 10 * time.Second
)

// process is a serving process: some of the roles, put together.
type process struct {
	settings
	house    config.Config
	log      *zap.Logger
	metrics  *server.Metrics
	verifier *auth.Verifier
	devKey   *auth.DevKey // nil without one
	tls      *server.PeerTLS

	store      *redisledger.Store  // nil without a role that has a store
	pairs      *seedpair.Service   // nil without the role seedpair
	vault      *server.Local       // the vault within this process; nil without the role seedpair
	duels      *duel.Service       // nil without the role duel
	crash      *crash.Service      // nil without the role crash
	settlement *settlement.Service // nil without the role settlement
	stop       <-chan struct{}     // closed when the process begins to end

	group  *server.Group
	closes []func() error
	notes  []string // lines for a person, said once at the start
}

// newProcess puts a process together and binds its listeners. The caller
// closes it.
func newProcess(ctx context.Context, s settings, logs io.Writer) (*process, error) {
	p := &process{settings: s, metrics: server.NewMetrics(), group: server.NewGroup(), stop: ctx.Done()}
	p.group.Drain = s.drain
	if err := p.build(ctx, logs); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *process) build(ctx context.Context, logs io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		p.loadConfig, p.loadTLS, p.loadKeys, p.openStore, p.listen,
	} {
		if p.log == nil {
			if err := p.openLog(logs); err != nil {
				return err
			}
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) openLog(w io.Writer) error {
	level, err := zapcore.ParseLevel(p.logLevel)
	if err != nil {
		return fmt.Errorf("--log-level: %w", err)
	}
	log, closeLog := server.NewLogger(w, level)
	p.log = log
	p.closes = append(p.closes, closeLog)
	return nil
}

func (p *process) close() error {
	var errs []error
	for i := len(p.closes) - 1; i >= 0; i-- {
		errs = append(errs, p.closes[i]())
	}
	return errors.Join(errs...)
}

// loadConfig reads the configuration. Nobody is given play money that no bet
// takes.
func (p *process) loadConfig(context.Context) error {
	p.house = config.Default()
	if p.config == "" {
		return nil
	}
	var err error
	if p.house, err = config.Load(p.config); err != nil {
		return err
	}
	if _, taken := p.house.Limits(bet.Dice, playMoney); taken {
		return nil
	}
	if p.demoBalance > 0 {
		return fmt.Errorf("--demo-balance is in %s, which is not among the currencies of %s", playMoney, p.config)
	}
	p.demoBalance = 0
	return nil
}

// loadTLS reads what the other roles are spoken to with. A certificate that
// lacks a role of this process is refused: peers would refuse every call.
func (p *process) loadTLS(context.Context) error {
	if p.tlsCA == "" && p.tlsCert == "" && p.tlsKey == "" {
		return nil
	}
	var err error
	if p.tls, err = server.LoadPeerTLS(p.tlsCert, p.tlsKey, p.tlsCA); err != nil {
		return err
	}
	named := p.tls.Roles()
	for _, role := range p.roles {
		if !slices.Contains(named, role) {
			return fmt.Errorf("--tls-cert: the certificate names the roles %s, and not %s", strings.Join(named, ","), role)
		}
	}
	return nil
}

// loadKeys gathers the keys that tokens are verified by.
func (p *process) loadKeys(context.Context) error {
	if err := p.loadDevKey(); err != nil {
		return err
	}
	keys, sets, err := p.operatorKeys(p.house.Operators)
	if err != nil {
		return err
	}
	if p.verifier, err = auth.NewVerifier(time.Now, keys...); err != nil {
		return err
	}
	if p.config != "" {
		p.followKeys(sets)
	}
	return nil
}

func (p *process) loadDevKey() error {
	var err error
	switch {
	case p.settings.devKey != "":
		var warning string
		if p.devKey, warning, err = auth.LoadOrCreateDevKey(p.settings.devKey, ""); warning != "" {
			p.notes = append(p.notes, warning)
		}
	case p.redis == "" && p.hasStore() && p.config == "":
		p.devKey, err = auth.NewDevKey("")
	}
	return err
}

// listen binds every service to what it is served by.
func (p *process) listen(context.Context) error {
	deps := server.Deps{
		Logger: p.log, Metrics: p.metrics, Verifier: p.verifier, Policy: auth.Methods, Clock: time.Now,
	}
	if p.has(roleSeedPair) {
		p.vault = server.NewLocal(server.NewInnerChain(deps), server.NewInnerStreamChain(deps))
		seedpair.BindVault(p.vault, p.pairs)
		seedpair.BindSupport(p.vault, p.pairs)
	}
	if err := p.checkPeers(); err != nil {
		return err
	}
	if err := p.listenPublic(deps); err != nil {
		return err
	}
	if err := p.listenInternal(deps); err != nil {
		return err
	}
	if p.admin != "" {
		p.group.HTTP("admin", server.NewHTTP(p.admin, p.adminHandler()))
	}
	return p.group.Listen()
}

// checkPeers refuses, before anything listens, a process that cannot reach a
// role it calls, or would reach it without mutual TLS.
func (p *process) checkPeers() error {
	for _, role := range p.calls() {
		if p.peers[role] == "" {
			return fmt.Errorf("--peers: the address of the role %s is missing", role)
		}
	}
	if (len(p.peers) > 0 || p.internal != "") && p.tls == nil {
		return errors.New("roles in other processes are reached by mutual TLS alone: --tls-ca, --tls-cert and --tls-key are needed")
	}
	return nil
}

// calls lists the roles that this process needs and has not.
func (p *process) calls() []string {
	var needed []string
	for _, role := range allRoles[1:] {
		called := p.has(roleGateway) || role == roleSeedPair && (p.hasGame() || p.has(roleSupport))
		if role == roleCrash && p.peers[role] == "" {
			called = false // a house without crash tables
		}
		if called && !p.has(role) {
			needed = append(needed, role)
		}
	}
	return needed
}

// listenPublic serves front ends: REST, and the same services by gRPC.
func (p *process) listenPublic(deps server.Deps) error {
	if !p.has(roleGateway) {
		return nil
	}
	local := server.NewLocal(server.NewChain(deps), server.NewStreamChain(deps))
	public := server.NewGRPC(deps, server.GRPCOptions{Health: p.group.Health, Reflection: p.reflection})
	for _, r := range []grpc.ServiceRegistrar{local, public} {
		gateway.BindVerifier(r)
		if err := p.bind(r, allRoles[1:]); err != nil {
			return err
		}
	}
	metrics := gateway.NewMetrics()
	p.metrics.Register(metrics.Collectors()...)
	o := gateway.Options{
		Conn: local, CORS: p.house.CORS.Origins, Log: p.log, Stop: p.stop, MaxWatchers: p.watchers, Metrics: metrics,
	}
	if p.admin == "" {
		o.Admin = p.adminHandler()
	}
	handler, err := gateway.New(o)
	if err != nil {
		return err
	}
	p.group.HTTP("http", server.NewHTTP(p.http, handler))
	p.group.Go("watchers of crash tables", func(ctx context.Context) error {
		<-ctx.Done()
		handler.Drain()
		return nil
	})
	p.group.GRPC("grpc", p.grpc, public)
	return nil
}

// listenInternal serves other roles: the services of this process, and the
// vault where it lives.
func (p *process) listenInternal(deps server.Deps) error {
	if p.internal == "" {
		return nil
	}
	s := server.NewGRPC(deps, server.GRPCOptions{Credentials: p.tls.Server(), Health: p.group.Health})
	var own []string
	for _, role := range p.roles {
		if role != roleGateway {
			own = append(own, role)
		}
	}
	if err := p.bind(s, own); err != nil {
		return err
	}
	if p.has(roleSeedPair) {
		seedpair.BindVault(s, p.pairs)
		seedpair.BindSupport(s, p.pairs)
	}
	p.group.GRPC("internal", p.internal, s)
	return nil
}

// bind registers the public services of roles: those of this process as they
// are, the others passed on to where they live.
func (p *process) bind(r grpc.ServiceRegistrar, roles []string) error {
	games := map[string]func(grpc.ServiceRegistrar, grpc.ClientConnInterface){
		"dice": dice.Bind, "limbo": limbo.Bind, "roulette": roulette.Bind, "mines": mines.Bind,
	}
	for _, role := range roles {
		switch {
		case role == roleCrash && !p.has(role) && p.peers[role] == "": // a house without crash tables
		case !p.has(role):
			if err := p.forward(r, role); err != nil {
				return err
			}
		case role == roleSeedPair:
			seedpair.Bind(r, p.pairs)
		case role == roleDuel:
			duel.Bind(r, p.duels)
		case role == roleCrash:
			crash.Bind(r, p.crash)
		case role == roleSettlement:
			settlement.Bind(r, p.settlement)
		case role == roleSupport:
			vault, err := p.vaultFor(role)
			if err != nil {
				return err
			}
			support.Bind(r, support.New(support.Options{Audit: p.store, Feed: p.store, Vault: vault}))
		default:
			vault, err := p.vaultFor(role)
			if err != nil {
				return err
			}
			games[role](r, vault)
		}
	}
	return nil
}

// vaultFor returns the connection over which a role reaches the vault.
func (p *process) vaultFor(role string) (grpc.ClientConnInterface, error) {
	if p.vault != nil {
		return p.vault.As(role), nil
	}
	return p.dial(roleSeedPair)
}

var publicServices = map[string][]*grpc.ServiceDesc{
	roleSeedPair:   {&originalsv1.SeedPairService_ServiceDesc, &originalsv1.RoundService_ServiceDesc},
	"dice":         {&originalsv1.DiceService_ServiceDesc},
	"limbo":        {&originalsv1.LimboService_ServiceDesc},
	"roulette":     {&originalsv1.RouletteService_ServiceDesc},
	"mines":        {&originalsv1.MinesService_ServiceDesc},
	roleDuel:       {&originalsv1.DuelService_ServiceDesc},
	roleCrash:      {&originalsv1.CrashService_ServiceDesc},
	roleSettlement: {&originalsv1.SettlementService_ServiceDesc},
	roleSupport:    {&originalsv1.SupportService_ServiceDesc},
}

func (p *process) forward(r grpc.ServiceRegistrar, role string) error {
	conn, err := p.dial(role)
	if err != nil {
		return err
	}
	for _, sd := range publicServices[role] {
		if err := server.Forward(r, sd, conn); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) dial(role string) (grpc.ClientConnInterface, error) {
	conn, err := server.Dial(p.peers[role], p.tls.Client(role))
	if err != nil {
		return nil, err
	}
	p.closes = append(p.closes, conn.Close)
	return conn, nil
}

func (p *process) adminHandler() http.Handler {
	report := func(err error) { p.log.Warn("not ready", zap.Error(err)) }
	return server.Admin(p.ready, report, p.metrics.Handler())
}

// ready reports whether calls can be answered.
func (p *process) ready(ctx context.Context) error {
	if err := p.group.Ready(); err != nil {
		return err
	}
	if p.store == nil {
		return nil
	}
	_, err := p.store.Now(ctx)
	return err
}

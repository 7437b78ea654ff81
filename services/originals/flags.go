package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/services/crash"
	"github.com/openoriginals/originals/services/duel"
)

// The roles that a process can have.
const (
	roleGateway    = "gateway"
	roleSeedPair   = "seedpair"
	roleDuel       = "duel"
	roleCrash      = "crash"
	roleSettlement = "settlement"
	roleSupport    = auth.SupportRole
)

var allRoles = []string{roleGateway, roleSeedPair, "dice", "limbo", "roulette", "mines", roleDuel, roleCrash, roleSettlement, roleSupport}

// settings are the flags of a serving process.
type settings struct {
	roles       []string
	http, grpc  string
	admin       string
	internal    string
	advertise   string
	peers       map[string]string // role -> address
	tlsCA       string
	tlsCert     string
	tlsKey      string
	redis       string
	devKey      string
	sealKeyFile string
	demoBalance int64 // smallest units of FUN; -1 when the flag is not given
	config      string
	reflection  bool
	minesExpiry time.Duration
	duelTimes   duelSettings
	watchers    int
	drain       time.Duration
	logLevel    string
}

// maxDrain bounds --drain: a process that is told to end should end.
const maxDrain = 5 * time.Minute

// duelSettings are the flags of the role duel.
type duelSettings struct {
	minExpiry, retention time.Duration
}

func env(name string) cli.ValueSourceChain { return cli.EnvVars("ORIGINALS_" + name) }

// serveFlags are the flags of every serving process.
func serveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "http", Value: "127.0.0.1:8080", Sources: env("HTTP"), Local: true,
			Usage: "`ADDRESS` of the REST gateway; port 0 takes a free one"},
		&cli.StringFlag{Name: "grpc", Value: "127.0.0.1:9090", Sources: env("GRPC"), Local: true,
			Usage: "`ADDRESS` of the public gRPC services"},
		&cli.StringFlag{Name: "admin", Sources: env("ADMIN"), Local: true,
			Usage: "`ADDRESS` for /metrics, /healthz and /readyz alone; without it they stand beside the REST API"},
		&cli.StringFlag{Name: "redis", Sources: env("REDIS"), Local: true,
			Usage: "`URL` of the store: redis://host:port, rediss:// for TLS, redis://h1,h2?cluster=true, redis://h1,h2?master=NAME for Sentinel; without it an embedded store that keeps nothing"},
		&cli.StringFlag{Name: "seal-key-file", Sources: env("SEAL_KEY_FILE"), Local: true,
			Usage: "`FILE` with the keys that seal server seeds, 64 hex digits a line: the first seals, all open; required with --redis"},
		&cli.StringFlag{Name: "dev-key", Sources: env("DEV_KEY"), Local: true,
			Usage: "`FILE` with a signing key for tokens of our own, made when it is missing; the embedded store makes one in memory"},
		&cli.Int64Flag{Name: "demo-balance", Value: -1, HideDefault: true, Sources: env("DEMO_BALANCE"), Local: true,
			Usage: "`UNITS` of play money (hundredths of a FUN) for each new player (default: 1000000 on the embedded store, none on Redis)"},
		&cli.StringFlag{Name: "config", Sources: env("CONFIG"), Local: true,
			Usage: "`FILE` with operators and their keys, currencies, limits, crash tables and CORS; see originals config"},
		&cli.BoolFlag{Name: "reflection", Sources: env("REFLECTION"), Local: true,
			Usage: "serve gRPC reflection"},
		&cli.DurationFlag{Name: "mines-expiry", Value: 24 * time.Hour, Sources: env("MINES_EXPIRY"), Local: true,
			Usage: "age at which an open mines round with a pick is cashed out; one without a pick stays open"},
		&cli.DurationFlag{Name: "drain", Sources: env("DRAIN"), Local: true,
			Usage: "how long calls are still taken after /readyz has turned to 503, for load balancers to notice"},
		&cli.DurationFlag{Name: "duel-min-expiry", Value: duel.MinExpiry, Sources: env("DUEL_MIN_EXPIRY"), Local: true,
			Usage: "least time without a step after which a duel may count as abandoned, for expirySeconds of its creation"},
		&cli.DurationFlag{Name: "duel-retention", Value: duel.DefaultRetention, Sources: env("DUEL_RETENTION"), Local: true,
			Usage: "how long a duel is kept after its end; then it and its requestId are gone"},
		&cli.IntFlag{Name: "watchers", Value: crash.DefaultMaxWatchers, Sources: env("WATCHERS"), Local: true,
			Usage: "`COUNT` of those who may watch crash tables at once at this process, by Server-Sent Events and by gRPC each"},
		&cli.StringFlag{Name: "log-level", Value: "info", Sources: env("LOG_LEVEL"), Local: true,
			Usage: "least `LEVEL` that is logged: debug, info, warn or error"},
	}
}

// roleFlags are the flags of a process that has some of the roles.
func roleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "role", Required: true, Sources: env("ROLE"), Local: true,
			Usage: "`LIST` of roles of this process, from " + strings.Join(allRoles, ",")},
		&cli.StringFlag{Name: "internal", Sources: env("INTERNAL"), Local: true,
			Usage: "`ADDRESS` at which other roles reach this process, by mutual TLS"},
		&cli.StringFlag{Name: "advertise", Sources: env("ADVERTISE"), Local: true,
			Usage: "`ADDRESS` at which other processes of the role crash reach this one, where --internal does not say it"},
		&cli.StringFlag{Name: "peers", Sources: env("PEERS"), Local: true,
			Usage: "`LIST` of where the roles are that this process calls, such as seedpair=10.0.0.5:9443,dice=10.0.0.6:9443"},
		&cli.StringFlag{Name: "tls-ca", Sources: env("TLS_CA"), Local: true,
			Usage: "`FILE` with the certificate authority of all roles; see originals certificates"},
		&cli.StringFlag{Name: "tls-cert", Sources: env("TLS_CERT"), Local: true,
			Usage: "`FILE` with the certificate of this process, which names its roles"},
		&cli.StringFlag{Name: "tls-key", Sources: env("TLS_KEY"), Local: true,
			Usage: "`FILE` with the certificate's key"},
	}
}

func readSettings(c *cli.Command) settings {
	return settings{
		roles: allRoles,
		http:  c.String("http"), grpc: c.String("grpc"), admin: c.String("admin"),
		redis: c.String("redis"), devKey: c.String("dev-key"), sealKeyFile: c.String("seal-key-file"),
		demoBalance: c.Int64("demo-balance"), config: c.String("config"),
		reflection: c.Bool("reflection"), minesExpiry: c.Duration("mines-expiry"), drain: c.Duration("drain"), logLevel: c.String("log-level"),
		watchers:  c.Int("watchers"),
		duelTimes: duelSettings{minExpiry: c.Duration("duel-min-expiry"), retention: c.Duration("duel-retention")},
	}
}

func readRoleSettings(c *cli.Command) (settings, error) {
	s := readSettings(c)
	s.internal, s.advertise = c.String("internal"), c.String("advertise")
	s.tlsCA, s.tlsCert, s.tlsKey = c.String("tls-ca"), c.String("tls-cert"), c.String("tls-key")
	var err error
	if s.roles, err = parseRoles(c.String("role")); err != nil {
		return s, err
	}
	s.peers, err = parsePeers(c.String("peers"))
	return s, err
}

func parseRoles(list string) ([]string, error) {
	var roles []string
	for _, role := range strings.Split(list, ",") {
		if !slices.Contains(allRoles, role) {
			return nil, fmt.Errorf("--role: unknown role %q; the roles are %s", role, strings.Join(allRoles, ","))
		}
		if slices.Contains(roles, role) {
			return nil, fmt.Errorf("--role: %s stands twice", role)
		}
		roles = append(roles, role)
	}
	return roles, nil
}

func parsePeers(list string) (map[string]string, error) {
	peers := make(map[string]string)
	if list == "" {
		return peers, nil
	}
	for _, pair := range strings.Split(list, ",") {
		role, address, ok := strings.Cut(pair, "=")
		if !ok || address == "" || !slices.Contains(allRoles, role) {
			return nil, fmt.Errorf("--peers: %q is not role=address", pair)
		}
		if _, twice := peers[role]; twice {
			return nil, fmt.Errorf("--peers: %s stands twice: all processes of a role are reached at one address", role)
		}
		peers[role] = address
	}
	return peers, nil
}

func (s settings) has(role string) bool { return slices.Contains(s.roles, role) }

// hasStore reports whether the process keeps something in Redis.
func (s settings) hasStore() bool { return s.hasSeeds() || s.has(roleSettlement) || s.has(roleSupport) }

// hasSeeds reports whether the process holds server seeds or chains, and so the
// keys that seal them.
func (s settings) hasSeeds() bool { return s.has(roleSeedPair) || s.has(roleDuel) || s.has(roleCrash) }

// hasGame reports whether the process draws from the vault.
func (s settings) hasGame() bool {
	return slices.ContainsFunc(s.roles, func(r string) bool { return slices.Contains(auth.GameRoles, r) })
}

// check refuses settings that contradict each other, before anything starts.
func (s settings) check() error {
	if s.minesExpiry < time.Minute {
		return errors.New("--mines-expiry must be at least 1m")
	}
	if s.drain < 0 || s.drain > maxDrain {
		return fmt.Errorf("--drain must be 0 to %s", maxDrain)
	}
	if s.duelTimes.minExpiry < time.Second || s.duelTimes.minExpiry > duel.MaxExpiry {
		return fmt.Errorf("--duel-min-expiry must be 1s to %v", duel.MaxExpiry)
	}
	if s.duelTimes.retention < time.Hour {
		return errors.New("--duel-retention must be at least 1h")
	}
	if s.watchers < 1 {
		return errors.New("--watchers must be at least 1")
	}
	if s.demoBalance < -1 || s.demoBalance > int64(money.MaxUnits) {
		return fmt.Errorf("--demo-balance must be 0 to %d", int64(money.MaxUnits))
	}
	if err := s.checkStoreFlags(); err != nil {
		return err
	}
	if !s.has(roleGateway) && s.internal == "" {
		return errors.New("--internal is missing: nothing could reach the roles of this process")
	}
	return nil
}

func (s settings) checkStoreFlags() error {
	if !s.hasStore() {
		return s.checkWithoutStore()
	}
	if s.redis == "" && !s.hasSeeds() {
		return errors.New("--redis is needed: the roles of this process share the store of the role seedpair")
	}
	if !s.hasSeeds() && s.sealKeyFile != "" {
		return errors.New("--seal-key-file belongs to the roles seedpair, duel and crash, which this process has not")
	}
	if s.redis != "" && s.sealKeyFile == "" && s.hasSeeds() {
		return errors.New("--redis needs --seal-key-file: make one with `(umask 077; openssl rand -hex 32 > seal.key)` and keep it: without it no server seed can ever be revealed")
	}
	if s.redis != "" && s.config == "" && s.devKey == "" {
		return errors.New("--redis needs --config with an operator, or --dev-key: otherwise nobody holds a token")
	}
	return nil
}

// reachable returns where other processes reach the crash tables of this one;
// empty when no flag names a host.
func (s settings) reachable() string {
	if s.advertise != "" {
		return s.advertise
	}
	host, _, err := net.SplitHostPort(s.internal)
	if ip := net.ParseIP(host); err != nil || host == "" || ip != nil && ip.IsUnspecified() {
		return ""
	}
	return s.internal
}

func (s settings) checkWithoutStore() error {
	if s.redis != "" || s.sealKeyFile != "" {
		return errors.New("--redis and --seal-key-file belong to the roles with a store, which this process has not")
	}
	if s.config == "" && s.devKey == "" {
		return errors.New("--config with an operator or --dev-key is needed, the same as in the process of the role seedpair")
	}
	return nil
}

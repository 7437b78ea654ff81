package redisledger

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// The client's limits. A call waits for a connection or an answer no longer
// than this, or its context if that ends sooner.
const (
	dialTimeout = time.Second
	callTimeout = 2 * time.Second
	poolSize    = 128
)

// Dial returns a client for one of
//
//	redis://[user:password@]host:port[/db]              a single node
//	redis://[user:password@]h1:p1,h2:p2?cluster=true    Cluster, some of its nodes
//	redis://[user:password@]h1:p1,h2:p2[/db]?master=N   Sentinel, and the name of its master
//
// or the same with rediss:// for TLS. The user and password are also sent to
// Sentinel with sentinelAuth=true. Nothing is connected to yet. An error never
// holds the password.
func Dial(text string) (redis.UniversalClient, error) {
	o, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	quiet()
	return redis.NewUniversalClient(o), nil
}

// quiet stops the driver's own log lines: every failed call reports its error,
// and that is logged once.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silence{}) })

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func parseURL(text string) (*redis.UniversalOptions, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "redis" && scheme != "rediss" {
		return nil, errors.New("redisledger: the address must begin with redis:// or rediss://")
	}
	o := options()
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@')
	for _, host := range strings.Split(authority[at+1:], ",") {
		if _, port, err := net.SplitHostPort(host); err != nil || port == "" {
			return nil, fmt.Errorf("redisledger: %q is not host:port", host)
		}
		o.Addrs = append(o.Addrs, host)
	}
	u, err := url.Parse("redis://" + authority[:at+1] + "host" + tail)
	if err != nil {
		return nil, errors.New("redisledger: the address is not a URL") // its own words may hold the password
	}
	o.Username = u.User.Username()
	o.Password, _ = u.User.Password()
	if scheme == "rediss" {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o, parseTail(o, u)
}

// parseTail reads the database and the query.
func parseTail(o *redis.UniversalOptions, u *url.URL) error {
	if db := strings.TrimPrefix(u.Path, "/"); db != "" {
		n, err := strconv.Atoi(db)
		if err != nil || n < 0 {
			return fmt.Errorf("redisledger: %q is not the number of a database", db)
		}
		o.DB = n
	}
	for name, values := range u.Query() {
		switch {
		case name == "cluster" && values[0] == "true":
			o.IsClusterMode = true
		case name == "master" && values[0] != "":
			o.MasterName = values[0]
		case name == "sentinelAuth" && values[0] == "true":
			o.SentinelUsername, o.SentinelPassword = o.Username, o.Password
		default:
			return fmt.Errorf("redisledger: unknown option %s in the address", name)
		}
	}
	switch {
	case o.IsClusterMode && (o.MasterName != "" || o.DB != 0):
		return errors.New("redisledger: a cluster has neither a master's name nor a database's number")
	case len(o.Addrs) > 1 && !o.IsClusterMode && o.MasterName == "":
		return errors.New("redisledger: several addresses need cluster=true or master=NAME")
	}
	return nil
}

func options() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Protocol:              2,
		MaxRetries:            -1,
		DialTimeout:           dialTimeout,
		DialerRetries:         1,
		ReadTimeout:           callTimeout,
		WriteTimeout:          callTimeout,
		PoolTimeout:           callTimeout,
		PoolSize:              poolSize,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
}

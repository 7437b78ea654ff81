// Package embedded holds the store of the all-in-one process: a Redis of this
// process's own memory, for trying out, that keeps nothing. It must never
// import a service or the ledger.
package embedded

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Embedded is a running store.
type Embedded struct {
	redis *miniredis.Miniredis
	life  atomic.Pointer[string]
}

// Start starts a store on a free port of 127.0.0.1. The caller closes it.
func Start() (*Embedded, error) {
	e := &Embedded{redis: miniredis.NewMiniRedis()}
	e.Replace()
	if err := e.redis.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	e.redis.Server().SetPreHook(e.answerInfo)
	return e, nil
}

// Addr returns the host and port.
func (e *Embedded) Addr() string { return e.redis.Addr() }

// URL returns the address as the ledger dials it.
func (e *Embedded) URL() string { return "redis://" + e.Addr() }

// Close stops the store and forgets everything.
func (e *Embedded) Close() { e.redis.Close() }

// Replace gives the store a new identity, as a restart or a promotion gives it
// to a Redis: what was written before may count as lost. For tests.
func (e *Embedded) Replace() {
	var id [20]byte
	rand.Read(id[:]) // never fails: the runtime stops the process instead
	text := hex.EncodeToString(id[:])
	e.life.Store(&text)
}

// answerInfo answers INFO, of which the store itself knows little, with what
// the ledger reads. It also sees the commands of scripts.
func (e *Embedded) answerInfo(c *server.Peer, command string, args ...string) bool {
	if command != "INFO" {
		return false
	}
	section := ""
	if len(args) > 0 {
		section = strings.ToLower(args[0])
	}
	switch section {
	case "replication":
		c.WriteBulk("# Replication\r\nrole:master\r\nmaster_replid:" + *e.life.Load() + "\r\n")
	case "memory":
		c.WriteBulk("# Memory\r\nmaxmemory_policy:noeviction\r\n")
	case "persistence":
		c.WriteBulk("# Persistence\r\nloading:0\r\naof_enabled:0\r\n")
	default:
		return false
	}
	return true
}

// SetTime stops the store's clock at a time. For tests.
func (e *Embedded) SetTime(t time.Time) { e.redis.SetTime(t) }

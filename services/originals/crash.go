package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/openoriginals/originals/internal/config"
	gamecrash "github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/server"
	"github.com/openoriginals/originals/services/crash"
)

// How many rounds a chain has that is made at the start: on the embedded store
// some ten days, otherwise some months.
const (
	tryingLength = 100_000
	chainLength  = 1_000_000
)

// openCrash opens the crash tables, and plays those that this process gets hold
// of.
func (p *process) openCrash(ctx context.Context, keys *seal.Keys) error {
	chains := crash.NewChains(p.store, keys, beacons(p.house.Crash.DrandURLs))
	tables, err := p.crashTables(ctx, chains)
	if err != nil {
		return err
	}
	metrics := crash.NewMetrics()
	p.metrics.Register(metrics.Collectors()...)
	o := crash.Options{
		Store: p.store, House: p.house, Tables: tables, Chains: chains, Growth: gamecrash.NewGrowth(), Log: p.log,
		Address: p.reachable(), Watch: metrics, Stop: p.stop, MaxWatchers: p.watchers,
	}
	if p.tls != nil {
		o.Dial = func(address string) (grpc.ClientConnInterface, error) {
			return server.Dial(address, p.tls.ClientOfAny(roleCrash))
		}
	}
	if p.internal != "" && o.Address == "" {
		p.notes = append(p.notes, "--internal names no host, and --advertise is missing: a cash-out that reaches another process of the role crash cannot be passed on to this one")
	}
	p.crash = crash.New(o)
	p.group.Go("crash tables", func(ctx context.Context) error {
		p.crash.Run(ctx)
		return nil
	})
	return nil
}

// crashTables returns the tables of the house with their chains, and those that
// came after them. A chain is made where there is none.
func (p *process) crashTables(ctx context.Context, chains *crash.Chains) ([]crash.Table, error) {
	var tables []crash.Table
	for _, t := range p.house.Crash.Tables {
		next, err := nextChain(t, p.redis == "")
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		line, err := chains.OpenLine(ctx, rng.Table(t.Name), next, crashTimings(t))
		if errors.Is(err, ledger.ErrNotFound) {
			return nil, fmt.Errorf("table %s has no chain, and its salt is %s: make one with originals crash chain create --table %s", t.Name, t.Salt, t.Name)
		}
		if err != nil {
			return nil, err
		}
		p.noteOtherSalt(t, line[len(line)-1].Chain.Kept(), next.Salt)
		tables = append(tables, line...)
	}
	return tables, nil
}

// nextChain says what chains of a table are like that are made without a person.
func nextChain(t config.CrashTable, trying bool) (n crash.NextChain, err error) {
	n.Length = chainLength
	if trying {
		n.Length = tryingLength
	}
	n.Length, n.Low = cmp.Or(uint32(t.ChainLength), n.Length), cmp.Or(uint32(t.NextChainAt), config.DefaultNextChainAt)
	switch {
	case t.Beacon != "":
		n.Salt.Kind = ledger.CrashSaltBeacon
		n.Salt.Network, err = networkHash(string(t.Beacon))
	case t.Salt == config.CrashSaltByHand:
		n.Length = 0
	case t.Salt == config.CrashSaltDrand, t.Salt == config.CrashSaltTest:
		n.Salt.Kind = ledger.CrashSaltDrand
		n.Salt.Network, err = networkHash(string(t.Salt))
	default:
		n.Salt.Kind = ledger.CrashSaltSelfChosen
	}
	return n, err
}

func networkHash(name string) (string, error) {
	n, err := networkOf(name)
	if err != nil {
		return "", err
	}
	return n.Hash(), nil
}

// noteOtherSalt says aloud that the configuration asks for another salt than the
// newest chain was announced with, which it keeps.
func (p *process) noteOtherSalt(t config.CrashTable, kept ledger.CrashChain, rule crash.SaltRule) {
	if t.Salt == "" && t.Beacon == "" || rule.Kind == "" || kept.Plan.Kind == rule.Kind && kept.Plan.Network == rule.Network {
		return
	}
	finding := fmt.Sprintf("the chain of crash table %s was announced with another salt than the configuration asks for, and keeps it: %s. The next chain follows the configuration", t.Name, saltWords(kept))
	p.log.Warn("the salt of a crash table is another", zap.String("finding", finding))
	p.notes = append(p.notes, finding)
}

func crashTimings(t config.CrashTable) crash.Timings {
	milliseconds := func(n int64, otherwise time.Duration) time.Duration {
		return cmp.Or(time.Duration(n)*time.Millisecond, otherwise)
	}
	d := crash.DefaultTimings
	return crash.Timings{
		Betting: milliseconds(t.BettingMS, d.Betting), Crashed: milliseconds(t.CrashedMS, d.Crashed), Tick: milliseconds(t.TickMS, d.Tick),
	}
}

package main

import (
	"cmp"
	"context"
	"time"

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
	tables, err := p.crashTables(ctx, keys)
	if err != nil {
		return err
	}
	metrics := crash.NewMetrics()
	p.metrics.Register(metrics.Collectors()...)
	o := crash.Options{
		Store: p.store, House: p.house, Tables: tables, Growth: gamecrash.NewGrowth(), Log: p.log,
		Address: cmp.Or(p.advertise, p.internal), Watch: metrics, Stop: p.stop, MaxWatchers: p.watchers,
	}
	if p.tls != nil {
		o.Dial = func(address string) (grpc.ClientConnInterface, error) {
			return server.Dial(address, p.tls.ClientOfAny(roleCrash))
		}
	}
	p.crash = crash.New(o)
	p.group.Go("crash tables", func(ctx context.Context) error {
		p.crash.Run(ctx)
		return nil
	})
	return nil
}

// crashTables returns the tables of the house with their chains, which are made
// where there are none.
func (p *process) crashTables(ctx context.Context, keys *seal.Keys) ([]crash.Table, error) {
	length := uint32(chainLength)
	if p.redis == "" {
		length = tryingLength
	}
	chains := &crash.Chains{Store: p.store, Keys: keys}
	var tables []crash.Table
	for _, t := range p.house.Crash.Tables {
		chain, err := chains.OpenOrCreate(ctx, rng.Table(t.Name), crash.NewChain{
			Length: length, Plan: ledger.CrashSaltPlan{Kind: ledger.CrashSaltSelfChosen}, DrawSalt: true,
		})
		if err != nil {
			return nil, err
		}
		tables = append(tables, crash.Table{Name: rng.Table(t.Name), Chain: chain, Timings: crashTimings(t)})
	}
	return tables, nil
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

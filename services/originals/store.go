package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/services/duel"
	"github.com/openoriginals/originals/services/seedpair"
)

// checkTimeout bounds the look at the store before the first bet is taken.
const checkTimeout = 5 * time.Second

// defaultDemoBalance is what a new player gets on the embedded store: 10000.00
// FUN.
const defaultDemoBalance = 1_000_000

// playMoney is the currency of demo balances.
const playMoney = "FUN"

// openStore opens the store and puts the services on it that hold server
// seeds: seed pairs, and duels.
func (p *process) openStore(ctx context.Context) error {
	if !p.hasStore() {
		return nil
	}
	url, keys, err := p.storeAndKeys()
	if err != nil {
		return err
	}
	client, err := redisledger.Dial(url)
	if err != nil {
		return fmt.Errorf("--redis: %w", err)
	}
	p.closes = append(p.closes, client.Close)
	p.store = redisledger.New(client, redisledger.Options{OnCall: p.metrics.ObserveRedis})
	if p.redis != "" {
		if err := p.checkStore(ctx); err != nil {
			return err
		}
	}
	if p.redis != "" && keys != nil {
		if err := checkSealKeys(ctx, p.store, keys, p.sealKeyFile); err != nil {
			return err
		}
	}
	if p.has(roleSeedPair) {
		p.openPairs(keys)
	}
	if p.has(roleDuel) {
		p.openDuels(client, keys)
	}
	if p.has(roleSettlement) {
		if err := p.openSettlement(); err != nil {
			return err
		}
	}
	if p.has(roleCrash) {
		return p.openCrash(ctx, keys)
	}
	return nil
}

func (p *process) openDuels(client redis.UniversalClient, keys *seal.Keys) {
	store := duelstore.New(client, p.metrics.ObserveRedis)
	notices := store.Notices()
	p.closes = append(p.closes, notices.Close)
	p.duels = duel.New(duel.Options{
		Store: store, Notices: notices, Keys: keys, Log: p.log,
		MinExpiry: p.duelTimes.minExpiry, Retention: p.duelTimes.retention,
		OnOpenDuels: p.metrics.SetOpenDuels, Stop: p.stop,
	})
	p.group.Go("sweeper of duels", func(ctx context.Context) error {
		p.duels.Sweep(ctx, sweepInterval)
		return nil
	})
	p.group.Go("notices of duels", func(ctx context.Context) error {
		p.duels.Listen(ctx)
		return nil
	})
}

func (p *process) openPairs(keys *seal.Keys) {
	p.pairs = seedpair.New(seedpair.Options{
		Store: p.store, Crash: p.store, Keys: keys, House: p.house, Grant: p.grant(), Log: p.log,
		MinesExpiry: p.minesExpiry, SweepAge: sweepAge, OnOpenRounds: p.metrics.SetOpenRounds,
	})
	p.group.Go("sweeper", func(ctx context.Context) error {
		p.pairs.Sweep(ctx, sweepInterval)
		return nil
	})
}

// storeAndKeys returns the address of the store, which is started here when it
// is the embedded one, and the keys that seal server seeds, nil where none are
// held.
func (p *process) storeAndKeys() (string, *seal.Keys, error) {
	if p.redis != "" && !p.hasSeeds() {
		return p.redis, nil, nil
	}
	if p.redis != "" {
		keys, err := p.readSealKeys()
		return p.redis, keys, err
	}
	store, err := embedded.Start()
	if err != nil {
		return "", nil, err
	}
	p.closes = append(p.closes, func() error { store.Close(); return nil })
	if p.sealKeyFile != "" {
		keys, err := p.readSealKeys()
		return store.URL(), keys, err
	}
	keys, err := seal.NewKeys()
	return store.URL(), keys, err
}

// readSealKeys reads the keys that seal server seeds, and says aloud when they
// are no secret on this machine.
func (p *process) readSealKeys() (*seal.Keys, error) {
	keys, err := seal.ReadFile(p.sealKeyFile)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(p.sealKeyFile); err == nil && info.Mode().Perm()&0o004 != 0 {
		finding := fmt.Sprintf("every user of this machine can read the seal key %s, and with it server seeds: chmod 600 it", p.sealKeyFile)
		p.log.Warn("the seal key is no secret", zap.String("finding", finding))
		p.notes = append(p.notes, finding)
	}
	return keys, nil
}

// checkStore refuses a Redis that may evict keys, and says aloud what a crash
// of it could lose.
func (p *process) checkStore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	warnings, err := p.store.Check(ctx)
	for _, w := range warnings {
		p.log.Warn("the store may lose money in a crash", zap.String("finding", w))
		p.notes = append(p.notes, w)
	}
	if err != nil {
		return fmt.Errorf("--redis: %w", err)
	}
	return nil
}

// checkSealKeys refuses a key file that lacks a key with which server seeds of this
// store were sealed: every pair that it could not open would be closed for good.
// The first process on an empty store leaves the mark of its key, and so does each
// new key.
func checkSealKeys(ctx context.Context, store *redisledger.Store, keys *seal.Keys, file string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	id, mark := keys.Check()
	for range 2 { // the second look is after the mark: two processes may begin at once
		kept, err := store.SealChecks(ctx)
		if err != nil {
			return err
		}
		for of, sealed := range kept {
			if err := keys.Knows(sealed); err != nil {
				return fmt.Errorf("--seal-key-file %s is not that of this store: it lacks the key %s, which sealed server seeds there: %w", file, of, err)
			}
		}
		if kept[id] != nil {
			return nil
		}
		if err := store.KeepSealCheck(ctx, id, mark); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) grant() []ledger.Grant {
	units := p.demoBalance
	if units < 0 {
		units = 0
		if p.redis == "" {
			units = defaultDemoBalance
		}
	}
	if units == 0 {
		return nil
	}
	return []ledger.Grant{{Currency: playMoney, Amount: money.Units(units)}}
}

package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/config"
)

// operatorKeys returns the keys of operators, with our own if there is one, and the sets to follow.
func (p *process) operatorKeys(operators []config.Operator) ([]auth.Key, []auth.JWKS, error) {
	keys, sets, err := auth.Keys(operators)
	if p.devKey != nil {
		keys = append(keys, p.devKey.Key())
	}
	return keys, sets, err
}

// followKeys keeps the keys of a configuration up to date: sets are fetched again as time goes by, and SIGHUP reads the operators
// and their key files anew, so that an operator or a key that is gone signs nothing from then on.
func (p *process) followKeys(sets []auth.JWKS) {
	p.group.Go("jwks", func(ctx context.Context) error {
		client := &http.Client{Timeout: jwksTimeout}
		return p.verifier.Follow(ctx, sets, client, func(url string, err error) {
			p.log.Warn("signing keys were not fetched", zap.String("url", url), zap.Error(err))
		})
	})
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	p.group.Go("operators", func(ctx context.Context) error {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-hangups:
			}
			if err := p.reloadOperators(); err != nil {
				p.log.Error("the operators were not read again: those before stay", zap.Error(err))
				continue
			}
			p.log.Info("the operators and their keys were read again")
		}
	})
}

// reloadOperators reads the operators and their keys. Nothing else of the configuration changes while a process serves.
func (p *process) reloadOperators() error {
	house, err := config.Load(p.config)
	if err != nil {
		return err
	}
	keys, sets, err := p.operatorKeys(house.Operators)
	if err != nil {
		return err
	}
	return p.verifier.Reload(keys, sets)
}

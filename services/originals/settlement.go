package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/services/settlement"
)

// backlogInterval is how often what wallets have left to do is counted.
const backlogInterval = 15 * time.Second

// openSettlement puts the service of wallets on the store, and pushes
// settlements to the operators that want it.
func (p *process) openSettlement() error {
	metrics := settlement.NewMetrics()
	p.metrics.Register(metrics.Collectors()...)
	p.settlement = settlement.New(settlement.Options{
		Store: p.store, House: p.house, Log: p.log, Observer: metrics, Stop: p.stop,
	})
	var operators []string
	if p.devKey != nil {
		operators = append(operators, p.devKey.Operator())
	}
	o := settlement.CallbackOptions{Client: settlement.NewCallbackClient(), Now: time.Now, Instance: strings.ToLower(rand.Text()[:12])}
	for i, operator := range p.house.Operators {
		operators = append(operators, operator.Name)
		if operator.Callback == nil {
			continue
		}
		c, err := readCallback(fmt.Sprintf("operators[%d].callback", i), operator)
		if err != nil {
			return err
		}
		p.group.Go("callbacks to "+operator.Name, func(ctx context.Context) error {
			p.settlement.Deliver(ctx, c, o)
			return nil
		})
	}
	p.group.Go("backlog of wallets", func(ctx context.Context) error {
		p.settlement.Watch(ctx, operators, backlogInterval)
		return nil
	})
	return nil
}

// readCallback opens the secrets of a callback.
func readCallback(path string, operator config.Operator) (settlement.Callback, error) {
	c := settlement.Callback{
		Operator: operator.Name, URL: operator.Callback.URL,
		Timeout: time.Duration(operator.Callback.TimeoutMS) * time.Millisecond,
	}
	for i, file := range operator.Callback.SecretFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			return c, fmt.Errorf("%s.secretFiles[%d]: %w", path, i, err)
		}
		secret, err := settlement.ParseWebhookSecret(strings.TrimSpace(string(text)))
		if err != nil {
			return c, fmt.Errorf("%s.secretFiles[%d]: %s: %w", path, i, file, err)
		}
		c.Secrets = append(c.Secrets, secret)
	}
	return c, nil
}

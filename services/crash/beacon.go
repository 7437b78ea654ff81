package crash

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// beaconPatience is how long the beacon that a locked round named may stay
// unpublished until the round is void.
const beaconPatience = 600 * time.Second

// A beacon is asked for often at first, and less as time goes by.
const (
	beaconPoll  = 200 * time.Millisecond
	beaconPause = 5 * time.Second
)

// errNoBeacon says that a beacon stayed unpublished for too long.
var errNoBeacon = errors.New("crash: the beacon was not published in time")

// calendar returns when the rounds of the table's beacon are published; zero
// without one.
func (t *table) calendar() ledger.CrashBeacon {
	source := t.Chain.Beacon()
	if source == nil {
		return ledger.CrashBeacon{}
	}
	n := source.Network()
	return ledger.CrashBeacon{GenesisUs: n.Genesis().UnixMicro(), PeriodUs: n.Period().Microseconds()}
}

// awaitBeacon waits until the beacon that a round named is published, and keeps
// it. It returns the table as it is then, unchanged where there is no beacon, or
// it is known. Errors: errNoBeacon.
//
// Whether it is published, the beacon alone says: a clock that was set neither
// makes a round void nor holds it up. Where no answer comes, it is not known
// whether it is, and the wait goes on.
func (g *dealer) awaitBeacon(ctx context.Context, s ledger.CrashState) (ledger.CrashState, error) {
	source := g.Chain.Beacon()
	if source == nil || s.Round.Beacon == 0 || len(s.Round.Signature) > 0 {
		return s, nil
	}
	began := time.Now()
	entry, err := g.fetchBeacon(ctx, source, s)
	if err != nil {
		return s, err
	}
	g.s.o.Watch.beaconWaited(time.Since(began))
	return insist(ctx, g.table, "the beacon is not kept", func() (ledger.CrashState, error) {
		return g.store().KeepCrashBeacon(ctx, g.owner, s.Round.Number, entry.Signature)
	})
}

func (g *dealer) fetchBeacon(ctx context.Context, source beacon.Source, s ledger.CrashState) (beacon.Entry, error) {
	longest := beacon.Margin + source.Network().Period()
	sleep(ctx, max(0, min(micros(s.Round.BeaconUs-s.NowUs), longest)))
	for began := time.Now(); ctx.Err() == nil; {
		entry, err := source.Fetch(ctx, s.Round.Beacon)
		if err == nil {
			return entry, nil
		}
		waited := time.Since(began)
		unpublished := errors.Is(err, beacon.ErrUnpublished)
		if unpublished && waited >= g.s.o.patience {
			return entry, errNoBeacon
		}
		if !unpublished || waited > beaconPause {
			g.report(ctx, "the beacon is not there", err)
		}
		sleep(ctx, min(max(waited/4, beaconPoll), beaconPause, max(g.s.o.patience-waited, beaconPoll)))
	}
	return beacon.Entry{}, ctx.Err()
}

// errSalt says that a round cannot be drawn, since its salt is not known.
var errSalt = errors.New("the salt is not known")

// saltOf returns the salt of a round: that of the chain, or that of the round's
// own beacon, whose signature is verified each time. Errors: errSalt.
func (t *table) saltOf(r ledger.CrashRound) (rng.Salt, error) {
	salt := t.Chain.Kept().Salt
	if source := t.Chain.Beacon(); source != nil && len(r.Signature) > 0 {
		var err error
		if salt, err = source.Network().Verify(r.Beacon, r.Signature); err != nil {
			return "", fmt.Errorf("crash: round %d of %s: %w", r.Number, t.name(), err)
		}
	}
	if salt == "" {
		return "", fmt.Errorf("crash: round %d of %s: %w", r.Number, t.name(), errSalt)
	}
	return salt, nil
}

// beaconMessage shows the beacon of a round, or of rounds to come when it has
// none yet; nil where the chain has one salt for all.
func (t *table) beaconMessage(r ledger.CrashRound) *originalsv1.CrashBeacon {
	source := t.Chain.Beacon()
	if source == nil {
		return nil
	}
	m := &originalsv1.CrashBeacon{Round: int64(r.Beacon), Network: source.Network().Hash()}
	if len(r.Signature) > 0 {
		m.Signature, m.Randomness = hexOf(r.Signature), string(beacon.Randomness(r.Signature))
	}
	return m
}

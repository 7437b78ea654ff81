package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// namedBeacon returns the smallest round that is published a second after the
// lock or later, by trying one after the other near it (rng/SPEC.md). All in
// microseconds.
func namedBeacon(c ledger.CrashBeacon, lockUs int64) (round uint64, publishedUs int64) {
	round = uint64(max(0, (lockUs-c.GenesisUs)/c.PeriodUs-3)) + 1
	for {
		publishedUs = c.GenesisUs + int64(round-1)*c.PeriodUs
		if publishedUs >= lockUs+1_000_000 {
			return round, publishedUs
		}
		round++
	}
}

func testCrashBeacon(t *testing.T, f *floor) {
	quicknet := ledger.CrashBeacon{GenesisUs: 1692803367_000_000, PeriodUs: 3_000_000}
	number := uint32(0)
	open := func(c ledger.CrashBeacon, bettingUs int64) ledger.CrashState {
		t.Helper()
		number++
		s, err := f.b.Store.OpenCrashRound(f.ctx, f.owner, ledger.CrashOpening{Number: number, Beacon: c, BettingUs: bettingUs})
		f.ok(err)
		return s
	}
	void := func() {
		t.Helper()
		_, err := f.b.Store.FinishCrashRound(f.ctx, f.owner, number, 0, ledger.CrashVoidOwner)
		f.ok(err)
	}
	for i := range int64(40) {
		c := quicknet
		switch {
		case i%4 == 1: // begins to publish later
			c.GenesisUs = time.Now().Add(time.Hour).Truncate(time.Second).UnixMicro()
		case i%4 == 2:
			c.PeriodUs = 1_000_000
		case i%4 == 3:
			c = ledger.CrashBeacon{GenesisUs: 0, PeriodUs: 30_000_000}
		}
		s := open(c, 300_000+i*137_113)
		round, published := namedBeacon(c, s.Round.LockUs)
		if s.Round.Beacon != round || s.Round.BeaconUs != published {
			t.Fatalf("lock %d of %+v: round %d at %d, want %d at %d", s.Round.LockUs, c, s.Round.Beacon, s.Round.BeaconUs, round, published)
		}
		void()
	}

	if s := open(ledger.CrashBeacon{}, 1); s.Round.Beacon != 0 || s.Round.BeaconUs != 0 {
		t.Fatalf("a round without a beacon: %+v", s.Round)
	}
	void()

	// What was published is kept once, and belongs to the newest round.
	signature := append([]byte{0, 255, 13, 10}, bytes.Repeat([]byte{7}, 44)...)
	open(quicknet, 5_000_000)
	f.lock(number)
	_, err := f.b.Store.KeepCrashBeacon(f.ctx, f.owner, number-1, signature)
	f.want(err, ledger.ErrCrashStep)
	s, err := f.b.Store.KeepCrashBeacon(f.ctx, f.owner, number, signature)
	f.ok(err)
	again, err := f.b.Store.KeepCrashBeacon(f.ctx, f.owner, number, bytes.Repeat([]byte{8}, 48))
	f.ok(err)
	if !bytes.Equal(s.Round.Signature, signature) || !bytes.Equal(again.Round.Signature, signature) || again.Round.Phase != ledger.CrashClosing {
		t.Fatalf("kept %x, then %+v", s.Round.Signature, again.Round)
	}
	f.finish(number, 234)
	_, err = f.b.Store.KeepCrashBeacon(f.ctx, f.owner, number, signature)
	f.want(err, ledger.ErrCrashStep)
	history, err := f.b.Store.CrashRounds(f.ctx, f.table, number-1, number)
	f.ok(err)
	if len(history) != 2 || history[0].Signature != nil || !bytes.Equal(history[1].Signature, signature) || history[1].Beacon != s.Round.Beacon {
		t.Fatalf("history %+v", history)
	}

	// No outcome is a function of published values alone while bets on it can be placed.
	early := ledger.CrashBeacon{GenesisUs: time.Now().Add(2 * time.Second).Truncate(time.Second).UnixMicro(), PeriodUs: 1_000_000}
	s = open(early, 1)
	time.Sleep(time.Duration(s.Round.BeaconUs-s.NowUs)*time.Microsecond + 10*time.Millisecond)
	_, err = f.b.Store.LockCrashRound(f.ctx, f.owner, number)
	f.want(err, ledger.ErrCrashLate)
	void()

	stale := f.owner
	f.owner = f.take("two")
	open(quicknet, 1)
	_, err = f.b.Store.KeepCrashBeacon(context.Background(), stale, number, signature)
	f.want(err, ledger.ErrCrashFenced)
}

// testCrashSkip: what may have been opened in time that was lost is listed, once, and is no round any more.
func testCrashSkip(t *testing.T, f *floor) {
	p := f.player()
	f.open(1)
	_, err := f.b.Store.SkipCrashRounds(f.ctx, f.owner, 9, ledger.CrashVoidStore)
	f.want(err, ledger.ErrCrashStep)
	f.lock(1)
	late := f.bet(p, "late", 200)
	f.finish(1, 100)
	// Bets that wait are given back before.
	var bets []ledger.CrashBet
	for partition := range ledger.Partitions {
		all, err := f.b.Store.CloseCrashPartition(f.ctx, f.owner, partition, 9)
		f.ok(err)
		bets = append(bets, all.Bets...)
	}
	if len(bets) != 1 || bets[0].ID != late.Round.ID {
		t.Fatalf("waiting bets: %+v", bets)
	}
	f.settle(ledger.CrashSettlement{Bet: bets[0], Void: ledger.CrashVoidStore})
	f.wantBalance(p, 1000)
	for range 2 { // a repeat changes nothing
		s, err := f.b.Store.SkipCrashRounds(f.ctx, f.owner, 9, ledger.CrashVoidStore)
		f.ok(err)
		if s.Round.Number != 9 || s.Round.Phase != ledger.CrashFinal || s.Round.Void != ledger.CrashVoidStore || s.Replaced() {
			t.Fatalf("skipped: %+v", s)
		}
	}
	voids, err := f.b.Store.CrashVoids(f.ctx, f.table, 1, 9)
	f.ok(err)
	if len(voids) != 1 || voids[0].First != 2 || voids[0].Last != 9 || voids[0].TimeUs == 0 {
		t.Fatalf("voids %+v", voids)
	}
	_, err = f.b.Store.SkipCrashRounds(f.ctx, f.owner, 8, ledger.CrashVoidStore)
	f.want(err, ledger.ErrCrashStep)
	stale := f.owner
	f.owner = f.take("two")
	_, err = f.b.Store.SkipCrashRounds(f.ctx, stale, 12, ledger.CrashVoidStore)
	f.want(err, ledger.ErrCrashFenced)
}

func (f *floor) want(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Fatalf("got %v, want %v", err, want)
	}
}

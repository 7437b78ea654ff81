package redisledger_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

var perCall = regexp.MustCompile(`cmdstat_evalsha:.*usec_per_call=([0-9.]+)`)

// BenchmarkBet is a bet, settled in the step that takes it, from one caller. It
// reports what the script takes of Redis, too.
func BenchmarkBet(b *testing.B) {
	c := client(b, testenv.Redis(b, testenv.InMemory).URL())
	s := redisledger.New(c, redisledger.Options{})
	for players := 0; b.Loop(); players++ {
		if err := memoryPlayer(s, fmt.Sprint("player-", players), roundsEach); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*roundsEach), "us/bet")
	found := perCall.FindStringSubmatch(c.Info(ctx, "commandstats").Val())
	if found == nil {
		b.Fatal("no statistics of evalsha")
	}
	script, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(script, "us-of-redis/script")
}

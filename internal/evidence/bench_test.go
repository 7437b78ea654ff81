package evidence_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

const (
	benchServerSeed = "4b4c290e960e3c3a8c4cce633d38b04e136fae6c0e453f5a8dd3b9640157c7c6"
	benchClientSeed = "0123456789abcdef0123456789abcdef"
)

// diceDocument makes an evidence document of dice rounds in the form that the gateway writes.
func diceDocument(t testing.TB, rounds uint32) []byte {
	t.Helper()
	seed, err := rng.ParseServerSeed(benchServerSeed)
	if err != nil {
		t.Fatal(err)
	}
	commitment, err := seed.Commitment()
	if err != nil {
		t.Fatal(err)
	}
	const pairID = "17-0f3c9a6be4d851a7c2"
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"format":"originals-evidence-v1","seedPair":{"seedPairId":%q,"scheme":"originals-v1","state":"REVEALED","commitment":%q,`+
		`"clientSeed":%q,"nonce":%d,"serverSeed":%q,"createTime":"2026-01-01T00:00:00Z","revealTime":"2026-03-01T00:00:00Z"},"rounds":[`,
		pairID, commitment, benchClientSeed, rounds, benchServerSeed)
	wager := bet.Bet{Game: bet.Dice, Dice: dice.Bet{Target: 5050, Direction: dice.Over}}
	for nonce := range rounds {
		signature, err := seed.Sign(benchClientSeed, nonce)
		if err != nil {
			t.Fatal(err)
		}
		stake := 100 + int64(nonce%1000)
		o, err := wager.Outcome(signature, money.Units(stake), nil)
		if err != nil {
			t.Fatal(err)
		}
		if nonce > 0 {
			out.WriteByte(',')
		}
		at := fmt.Sprintf("2026-02-%02dT%02d:%02d:%02d.%03dZ", 1+nonce/86_400_000, nonce/3_600_000%24, nonce/60_000%60, nonce/1000%60, nonce%1000)
		fmt.Fprintf(&out, `{"roundId":"%s-%d","betId":"%08x-89ab-4cde-8f01-23456789abcd","game":"DICE","scheme":"originals-v1","state":"SETTLED","seedPairId":%q,`+
			`"commitment":%q,"clientSeed":%q,"nonce":%d,"stake":{"currency":"FUN","amount":"%d"},"payout":{"currency":"FUN","amount":"%d"},"multiplierE4":"%d",`+
			`"createTime":%q,"settleTime":%q,"dice":{"target":5050,"direction":"OVER","roll":%d,"win":%t}}`,
			pairID, nonce, nonce, pairID, commitment, benchClientSeed, nonce, stake, o.Payout, o.Multiplier, at, at, o.Dice.Roll, o.Dice.Win)
	}
	out.WriteString("]}")
	return out.Bytes()
}

// BenchmarkDerive is the floor under BenchmarkBulk: the bare derivation of one roll, on all cores.
func BenchmarkDerive(b *testing.B) {
	seed, err := rng.ParseServerSeed(benchServerSeed)
	if err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for nonce := uint32(0); pb.Next(); nonce++ {
			signature, err := seed.Sign(benchClientSeed, nonce)
			if err != nil {
				b.Error(err)
				return
			}
			stream := rng.NewStream(signature)
			stream.Uniform(dice.Rolls)
		}
	})
}

// BenchmarkBulk verifies documents of 200,000 rounds with every check on; one operation is one round. Its rate is to be
// compared with that of BenchmarkDerive in the same run: at least 0.8 of it. Where the processor permutes four states at
// once it is above 1, elsewhere 0.73 to 0.79: the rest goes into bringing some 570 bytes of JSON a round into the cache,
// comparing them and reading a dozen values, and into all checks beside the derivation.
func BenchmarkBulk(b *testing.B) {
	const rounds = 200_000
	document := diceDocument(b, rounds)
	b.SetBytes(int64(len(document) / rounds))
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += rounds {
		report, err := evidence.Verify(context.Background(), bytes.NewReader(document), evidence.Options{})
		if err != nil || report.Verdict != evidence.Consistent {
			b.Fatal(report, err)
		}
	}
}

package redisledger

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// drawBet makes any valid bet.
func drawBet(t *rapid.T) bet.Bet {
	switch rapid.SampledFrom(bet.Games).Draw(t, "game") {
	case bet.Dice:
		return bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Under, Target: rapid.Uint32Range(1, 9800).Draw(t, "target")}}
	case bet.Limbo:
		return bet.Bet{Game: bet.Limbo, Limbo: limbo.Bet{TargetE2: rapid.Uint32Range(101, 1000000).Draw(t, "target")}}
	case bet.Roulette:
		chips := rapid.SliceOfN(rapid.SampledFrom(roulette.All()), 1, roulette.MaxChips).Draw(t, "chips")
		for i := range chips {
			chips[i].Amount = money.Units(rapid.Int64Range(1, 1<<48).Draw(t, "amount"))
		}
		return bet.Bet{Game: bet.Roulette, Roulette: roulette.Bet{Chips: chips}}
	}
	return bet.Bet{Game: bet.Mines, MineCount: rapid.Uint8Range(1, 24).Draw(t, "mines")}
}

func TestRecordKeepsEveryBet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := ledger.Draw{
			BetID:    rapid.StringMatching(`[A-Za-z0-9_-]{1,40}`).Draw(t, "bet id"),
			Currency: money.Currency(rapid.StringMatching(`[A-Z0-9]{2,8}`).Draw(t, "currency")),
			Stake:    money.Units(rapid.Int64Range(1, int64(money.MaxUnits)).Draw(t, "stake")),
			Bet:      drawBet(t),
		}
		var chips string
		if d.Bet.Game == bet.Mines {
			d.MaxPicks = rapid.Uint8Range(1, 24).Draw(t, "max picks")
		}
		if d.Bet.Game == bet.Roulette {
			chips = string(d.Bet.AppendBinary(nil))
		}
		record, content := packRecord(d)
		if len(record) > 64 {
			t.Fatalf("a record of %d bytes makes its hash a table", len(record))
		}
		if !bytes.HasSuffix(record, content) {
			t.Fatal("the content is not the end of the record")
		}
		id := ledger.RoundID{Pair: "01-aaaaaaaaaaaaaaaa", Nonce: 7}
		r, err := parseRecord(id, string(record), "\x01\x02", chips)
		if err != nil {
			t.Fatal(err)
		}
		if r.ID != id || r.BetID != d.BetID || r.Currency != d.Currency || r.Stake != d.Stake || r.MaxPicks != d.MaxPicks || r.State != ledger.Open {
			t.Fatalf("%+v came back as %+v", d, r)
		}
		if !bytes.Equal(r.Bet.AppendBinary(nil), d.Bet.AppendBinary(nil)) || r.Bet.Game != d.Bet.Game {
			t.Fatalf("%+v came back as %+v", d.Bet, r.Bet)
		}
		if (len(r.Picks) == 2) != (d.Bet.Game == bet.Mines) {
			t.Fatalf("picks %v of game %s", r.Picks, d.Bet.Game)
		}
	})
}

// TestRecordLayout fixes the bytes: stored rounds outlive the program. They
// were put together by hand from the comment in record.go.
func TestRecordLayout(t *testing.T) {
	d := ledger.Draw{
		BetID: "ABC", Currency: "FUN", Stake: 1000,
		Bet: bet.Bet{Game: bet.Dice, Dice: dice.Bet{Direction: dice.Over, Target: 4999}},
	}
	// F, U, N are the digits 16, 31, 24: (16*37+31)*37+24 = 23075 = 1<<14 | 52<<7 | 35
	want := "\x47" + strings.Repeat("\x00", 17) + "\x00\x00\x00\x00\x00\x03\xe8" + "\xa3\xb4\x01" + "\x01\x13\x87" + "\x00\x10\x80"
	if got, _ := packRecord(d); string(got) != want {
		t.Fatalf("record\n%x, want\n%x", got, want)
	}
}

func TestBetIDsOfEveryLength(t *testing.T) {
	seen := map[string]string{}
	for length := 1; length <= maxBetIDLength; length++ {
		for _, c := range []string{"A", "_", "-", "z"} {
			id := strings.Repeat(c, length)
			packed := appendBetID(nil, id)
			if len(packed) != (6*length+7)/8 {
				t.Fatalf("%q takes %d bytes", id, len(packed))
			}
			if got, err := parseBetID(packed, length%4); err != nil || got != id {
				t.Fatalf("%q came back as %q, %v", id, got, err)
			}
			key := string(packed) + string(rune(length%4))
			if other, ok := seen[key]; ok {
				t.Fatalf("%q and %q look the same", id, other)
			}
			seen[key] = id
		}
	}
	if len(seen) != 160 {
		t.Fatalf("%d ids", len(seen))
	}
}

func FuzzParseRecord(f *testing.F) {
	record, _ := packRecord(ledger.Draw{BetID: "bet-1", Currency: "FUN", Stake: 5, Bet: bet.Bet{Game: bet.Mines, MineCount: 3}, MaxPicks: 9})
	f.Add(string(record), "\x01", "")
	f.Add(string(record[:20]), "", "")
	f.Add(strings.Repeat("\xff", 64), "", "\x00\x01")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, record, picks, chips string) {
		r, err := parseRecord(ledger.RoundID{}, record, picks, chips)
		if err != nil {
			if !errors.Is(err, errRecord) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if err := r.Bet.Validate(); err != nil || !validBetID(r.BetID) {
			t.Fatalf("accepted %+v", r)
		}
		if _, err := money.ParseCurrency(string(r.Currency)); err != nil {
			t.Fatalf("accepted currency %q", r.Currency)
		}
	})
}

// What a wallet is told of a round is what the round's own record says, for any
// game, those of crash tables among them.
func TestSettlementAgreesWithTheRecordOfItsRound(t *testing.T) {
	crashes := 0
	rapid.Check(t, func(t *rapid.T) {
		d := ledger.Draw{Bet: drawBet(t), BetID: rapid.StringMatching("[A-Za-z0-9_-]{1,36}").Draw(t, "bet id"), Currency: "FUN", Stake: 7, MaxPicks: 3}
		if rapid.IntRange(0, 3).Draw(t, "crash") == 0 {
			crashes++
			d.Bet = bet.Bet{Game: bet.Crash, Crash: bet.CrashBet{Number: rapid.Uint32().Draw(t, "number"), CashOutE2: 150}}
			d.Bet.Crash.TargetE2 = rapid.Uint32Range(150, 1000000).Draw(t, "target")
		}
		record, _ := packRecord(d)
		record[0] = record[0]&63 | byte(rapid.IntRange(2, 3).Draw(t, "state"))<<6
		copy(record[1:], "\x01\x02\x03\x04\x05\x01\x02\x03\x04\x09\x00\x00\x00\x00\x00\x01\x02")
		var got ledger.SettledRound
		if err := parseSettled(&got, record); err != nil {
			t.Fatal(err)
		}
		chips := []byte(nil)
		if d.Bet.Game == bet.Roulette {
			chips = d.Bet.AppendBinary(nil)
		}
		want, err := parseRound(record, nil, chips)
		if err != nil {
			t.Fatal(err)
		}
		if got.State != want.State || got.Game != d.Bet.Game || got.Payout != 258 || got.Payout != want.Payout || got.Stake != 7 || got.Currency != "FUN" ||
			got.BetID != d.BetID || !got.SettleTime.Equal(want.SettleTime) {
			t.Fatalf("%+v, and the round is %+v", got, want)
		}
		for n := range record {
			if err := parseSettled(&got, record[:n]); err == nil && got.BetID == d.BetID {
				t.Fatalf("%d of %d bytes are read as all of them", n, len(record))
			}
		}
	})
	if crashes == 0 {
		t.Error("no bet on a crash table was made")
	}
}

func FuzzAcknowledgedEntry(f *testing.F) {
	for _, text := range []string{"0b7f5c1e-12ab-4d3f-9e00-aabbccddeeff", "abcd", "tx:1", "a"} {
		f.Add(append([]byte("12345"), packAck(text)...))
	}
	f.Add([]byte("12345\x11"))
	f.Fuzz(func(t *testing.T, entry []byte) {
		text, err := parseAck(entry)
		if err != nil || text == "" {
			return
		}
		again, err := parseAck(append([]byte("12345"), packAck(text)...))
		if err != nil || again != text {
			t.Errorf("%q is read back as %q, %v", text, again, err)
		}
	})
}

func FuzzDigest(f *testing.F) {
	d := ledger.Digest{First: 3, Count: 300, Sums: []ledger.DigestSum{{Currency: "BTC", Count: 1, Stake: [2]uint64{1, 2}}, {Currency: "FUN", Payout: [2]uint64{3, 4}}}}
	f.Add(packDigest(d))
	f.Add([]byte(strings.Repeat("x", 40)))
	f.Fuzz(func(t *testing.T, p []byte) {
		d, err := parseDigest(p)
		if err != nil {
			return
		}
		if again, err := parseDigest(packDigest(d)); err != nil || again.Root != d.Root || again.First != d.First || len(again.Sums) != len(d.Sums) {
			t.Errorf("%+v is read back as %+v, %v", d, again, err)
		}
	})
}

func FuzzTransferRecord(f *testing.F) {
	f.Add("\x24" + strings.Repeat("\x00", 18) + "\x07" + string(appendCurrency(nil, "FUN")) + "alice")
	f.Add("\x40" + strings.Repeat("\x00", 19))
	f.Fuzz(func(t *testing.T, record string) {
		kept, err := parseTransfer("acme", "t", record)
		if err == nil && kept.Player == "" && kept.State != ledger.Cancelled {
			t.Errorf("%q is a transfer of nobody: %+v", record, kept)
		}
	})
}

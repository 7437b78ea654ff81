package ledger_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
)

// The roots over the first n of these leaves, as published with RFC 6962's
// reference implementation.
var (
	merkleLeaves = []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	merkleRoots  = []string{
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
)

func TestMerkleRootsOfRFC6962(t *testing.T) {
	var tree ledger.Merkle
	for n, want := range merkleRoots {
		if root := tree.Root(); hex.EncodeToString(root[:]) != want {
			t.Errorf("root over %d leaves is %x", n, root)
		}
		if n < len(merkleLeaves) {
			leaf, err := hex.DecodeString(merkleLeaves[n])
			if err != nil {
				t.Fatal(err)
			}
			tree.Add(string(leaf))
		}
	}
}

// A wallet computes the root from the fields of the API: here a Python program
// that shares nothing with this one does.
func TestRootAgreesWithPython(t *testing.T) {
	pair := ledger.PairIDFromBytes(7, [10]byte{1, 2, 3})
	for _, count := range []int{0, 1, 2, 3, 7, 64, 100} {
		var tree ledger.Merkle
		fields := make([][]string, 0, count)
		for i := range count {
			r := ledger.SettledRound{
				Round: ledger.RoundID{Pair: pair, Nonce: uint32(i)}, Sequence: uint64(i + 1), Player: ledger.Player{Operator: "acme", ID: "al:ice"},
				BetID: fmt.Sprint("bet-", i), Game: bet.Games[i%len(bet.Games)], State: ledger.Settled, Currency: "FUN", Stake: 100,
				SettleTime: time.UnixMilli(1_800_000_000_000 + int64(i)),
			}
			result, payout := "LOST", "0"
			switch i % 3 {
			case 1:
				r.Payout, result, payout = money.MaxUnits, "WON", "9007199254740991"
			case 2:
				r.Payout, r.State, result, payout = 100, ledger.Void, "VOID", "100"
			}
			tree.Add(r.Leaf())
			game := []string{"DICE", "LIMBO", "ROULETTE", "MINES", "CRASH"}[int(r.Game)-1]
			fields = append(fields, []string{fmt.Sprintf("07-aebagaaaaaaaaaaa-%d", i), fmt.Sprint(i + 1), "al:ice", fmt.Sprint("bet-", i),
				game, "FUN", "100", payout, result, fmt.Sprint(1_800_000_000_000 + i)})
		}
		in, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("python3", "testdata/merkle.py")
		cmd.Stdin = strings.NewReader(string(in))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if root := tree.Root(); strings.TrimSpace(string(out)) != hex.EncodeToString(root[:]) {
			t.Errorf("root over %d settlements is %x, and %s in Python", count, root, out)
		}
	}
}

func TestSumsExceedAnAmount(t *testing.T) {
	sums := make(ledger.Sums)
	const times = 5000
	for range times {
		sums.Add(ledger.SettledRound{Currency: "FUN", Stake: money.MaxUnits, Payout: 1})
	}
	sums.Add(ledger.SettledRound{Currency: "BTC", Stake: 3})
	list := sums.List()
	var high, low uint64
	for range times {
		if low > math.MaxUint64-uint64(money.MaxUnits) {
			high++
		}
		low += uint64(money.MaxUnits)
	}
	want := ledger.DigestSum{Currency: "FUN", Count: times, Stake: [2]uint64{high, low}, Payout: [2]uint64{0, times}}
	if high != 2 || len(list) != 2 || list[0].Currency != "BTC" || list[1] != want {
		t.Errorf("%+v, want %+v", list, want)
	}
}

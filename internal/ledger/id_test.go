package ledger_test

import (
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// TestPartitionAndPairIDs has values that Python's hashlib and base64 gave.
func TestPartitionAndPairIDs(t *testing.T) {
	for _, c := range []struct {
		player     ledger.Player
		partition  int
		commitment string
		id         ledger.PairID
	}{
		{ledger.Player{Operator: "acme", ID: "alice"}, 36, "51d5d86f52c390f55c86ee644e76fc12c0fcef6a5e2d442e9177d94bf8cb98dc", "36-khk5q32syoipkxeg"},
		{ledger.Player{Operator: "a", ID: "b"}, 50, "80084bf2fba02475726feb2cab2d8215eab14bc6bdd8bfb2c8151257032ecd8b", "50-qaeex4x3uashk4tp"},
		{ledger.Player{Operator: "demo", ID: "{x}:y"}, 38, "7f23e6ca181cc91d57245809edb1097a1f14ed011e4a9520a8dd10aa3ef82789", "38-p4r6nsqydter2vze"},
	} {
		commitment, err := rng.ParseCommitment(c.commitment)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.player.Partition(); got != c.partition {
			t.Errorf("%s is in partition %d, want %d", c.player, got, c.partition)
		}
		if got := ledger.NewPairID(c.player, commitment); got != c.id || got.Partition() != c.partition {
			t.Errorf("pair %s, want %s", got, c.id)
		}
		b, err := c.id.Bytes()
		if err != nil || [10]byte(commitment[:10]) != b || ledger.PairIDFromBytes(c.partition, b) != c.id {
			t.Errorf("%s holds %x, %v", c.id, b, err)
		}
		if p, err := ledger.ParsePlayer(c.player.String()); err != nil || p != c.player {
			t.Errorf("%s came back as %+v, %v", c.player, p, err)
		}
	}
}

func FuzzParseRoundID(f *testing.F) {
	for _, seed := range []string{
		"36-khk5q32syoipkxeg-0", "36-khk5q32syoipkxeg-4294967294", "36-khk5q32syoipkxeg-4294967295", "36-khk5q32syoipkxeg-01",
		"64-khk5q32syoipkxeg-1", "36-khk5q32syoipkxeg", "36-KHK5Q32SYOIPKXEG-1", "36-khk5q32syoipkxeg-1\n", "-", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ledger.ParseRoundID(text)
		if err != nil {
			return
		}
		if id.String() != text || id.Nonce > rng.MaxNonce || id.Pair.Partition() >= ledger.Partitions {
			t.Fatalf("%q was read as %s", text, id)
		}
	})
}

func TestIDsAreStrict(t *testing.T) {
	for _, text := range []string{"", "36", "36-khk5q32syoipkxe", "36-khk5q32syoipkxegg", "64-khk5q32syoipkxeg", "36-khk5q32syoipkxe1", "36-khk5q32syoipkxeg\n", "6-khk5q32syoipkxeg"} {
		if id, err := ledger.ParsePairID(text); err == nil {
			t.Errorf("pair id %q was read as %s", text, id)
		}
		if id, err := ledger.ParseRoundID(text + "-1"); err == nil {
			t.Errorf("round id %q was read as %s", text+"-1", id)
		}
	}
	for _, text := range []string{"", ":", "acme", "acme:", ":alice"} {
		if p, err := ledger.ParsePlayer(text); err == nil {
			t.Errorf("player %q was read as %+v", text, p)
		}
	}
}

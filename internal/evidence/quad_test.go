package evidence

import (
	"strings"
	"testing"

	"github.com/cloudflare/circl/simd/keccakf1600"

	"github.com/openoriginals/originals/internal/rng"
)

// Four streams at once are the four streams that the package rng derives one at a time, whose words other languages have
// made: for every length of client seed, at every length of nonce, beyond the first block, and in any order.
func TestFourStreamsAtOnceAreThoseOfRng(t *testing.T) {
	if !keccakf1600.IsEnabledX4() {
		t.Log("this processor has no vector instructions for four at once: rounds are derived one at a time")
		return
	}
	seed, err := rng.ParseServerSeed(strings.Repeat("0123456789abcdef", 4))
	if err != nil {
		t.Fatal(err)
	}
	const longest = 59 // of the client seeds with which every message fits one block
	four := [][4]uint32{{0, 9, 10, 99}, {4294967294, 100, 4294967294, 0}, {999_999_999, 1_000_000_000, 7, 7}, {1, 2, 3, 4}}
	compared := 0
	for length := 1; length <= rng.MaxClientSeedBytes; length++ {
		client := strings.Repeat("z", length)
		q := newQuad(&seedPair{serverSeed: seed, clientSeed: []byte(client)})
		if (q == nil) != (length > longest) {
			t.Fatalf("a client seed of %d bytes: four at once is %t", length, q != nil)
		}
		if q == nil {
			continue
		}
		var streams [4]rng.Stream
		for _, nonces := range four {
			q.start(&nonces, &streams)
			for n, nonce := range nonces {
				signature, err := seed.Sign(rng.ClientSeed(client), nonce)
				if err != nil {
					t.Fatal(err)
				}
				want := rng.NewStream(signature)
				for word := range 3 * rng.BlockBytes / 4 {
					if got, want := streams[n].Word32(), want.Word32(); got != want {
						t.Fatalf("client seed of %d bytes, nonce %d, word %d: %08x, want %08x", length, nonce, word, got, want)
					}
					compared++
				}
			}
		}
	}
	if compared != longest*16*102 {
		t.Errorf("%d words compared", compared)
	}
}

package foreign

import (
	"fmt"

	"github.com/openoriginals/originals/internal/rng"
)

// cloudbet is the house cloudbet.com. commitment = SHA3-256(server seed text); signature = SHA3-256(text `:` client `:`
// nonce) in hex; words = SHAKE256(the signature's 64 hex digits), big-endian; mines = a partial Fisher-Yates with
// rejection, the construction of our own originals-v1. Nonces reach 2^64-1.
//
// Published in the article "How Cloudbet's Provably Fair Mines Game Works". It is ambiguous beyond the eighth word.
var cloudbet = House{
	Name:       "cloudbet",
	Commitment: "SHA3-256 of the server seed's text",
	Source:     `article "How Cloudbet's Provably Fair Mines Game Works"`,
	Schemes: []*Scheme{{
		Name: "cloudbet-mines", House: "cloudbet", Game: "mines", Outcomes: []string{"mines", "unconfirmed"},
		Parameters: []Parameter{mineCountParameter},
		seed:       seedHex64, hasClient: true, hasNonce: true, commitment: sha3OfText, derive: cloudbetMines,
	}},
}

// confirmedWords is how many words one 256-bit reading of the published article fixes.
const confirmedWords = 8

// cloudbetMines: tiles = 0..24; for each mine k = uniform(tiles left), the k-th is taken out, the order kept. uniform(n):
// words at or above floor(2^32/n)*n are rejected; word mod n. `unconfirmed` is true when more than eight words were used.
func cloudbetMines(_ *Deriver, in *Input, out *Outcome) error {
	count, err := in.number("mineCount", 1, tileCount-1, 0)
	if err != nil {
		return err
	}
	signature, err := rng.ParseSignature(sha3OfText(in.ServerSeed + ":" + in.ClientSeed + ":" + in.Nonce))
	if err != nil {
		return fmt.Errorf("cloudbet: %w", err)
	}
	stream := rng.NewStream(signature)
	var mines [tileCount]uint8
	pool, words := newPool(0), 0
	for i := range int(count) {
		n := uint64(pool.left)
		w := uint64(stream.Word32())
		for words++; w >= 1<<32/n*n; words++ {
			w = uint64(stream.Word32())
		}
		mines[i] = pool.take(w % n)
	}
	out.list("mines", mines[:count])
	out.boolean("unconfirmed", words > confirmedWords)
	if words > confirmedWords {
		out.note(fmt.Sprintf("unconfirmed: this board used %d words, and the house's article is ambiguous beyond the eighth", words))
	}
	return nil
}

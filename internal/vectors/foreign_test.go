package vectors_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/big"
	"path"
	"slices"
	"strconv"
	"testing"

	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/vectors"
)

// nonceText is a nonce that one row gives as text, since it is 2^64-1.
func nonceText(raw json.RawMessage) string { return string(bytes.Trim(raw, `"`)) }

// foreignStream checks commitment, where a row gives one, and signature, and starts the stream. A nonce above the last
// that a seed pair has is refused; such a row still states the stream of its signature.
func foreignStream(t *testing.T, serverSeed, clientSeed, nonce, commitment, signature string) (s rng.Stream, refused bool) {
	t.Helper()
	seed, err := rng.ParseServerSeed(serverSeed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := seed.Commitment(); err != nil || commitment != "" && got.String() != commitment {
		t.Errorf("commitment %s, %v; want %s", got, err, commitment)
	}
	client, err := rng.ParseClientSeed(clientSeed)
	if err != nil {
		t.Fatal(err)
	}
	given, err := rng.ParseSignature(signature)
	if err != nil {
		t.Fatal(err)
	}
	number, err := rng.ParseNonce(nonce)
	if err != nil {
		return rng.NewStream(given), true
	}
	made, err := seed.Sign(client, number)
	if err != nil || made.Reveal() != signature {
		t.Errorf("nonce %s: signature %s, %v; want %s", nonce, made.Reveal(), err, signature)
	}
	return rng.NewStream(given), false
}

func checkWords(t *testing.T, s rng.Stream, nonce string, want []uint32) {
	t.Helper()
	for i, word := range want {
		if got := s.Word32(); got != word {
			t.Errorf("nonce %s: word %d is %d, want %d", nonce, i, got, word)
		}
	}
}

func TestMinesOfAnotherHouse(t *testing.T) {
	var doc struct {
		Vectors []struct {
			ServerSeed, ClientSeed string
			Nonce                  json.RawMessage
			Commitment             string `json:"commitment_sha3_256_of_hex_text"`
			RoundSignature         string
			Words                  []uint32 `json:"draws_uint32_be"`
			Mines                  map[string][]int
		}
	}
	load(t, "foreign/cloudbet_mines.json", &doc, false)
	boards, words, refusals := 0, 0, 0
	for _, v := range doc.Vectors {
		nonce := nonceText(v.Nonce)
		start, refused := foreignStream(t, v.ServerSeed, v.ClientSeed, nonce, v.Commitment, v.RoundSignature)
		if refused {
			refusals++
		}
		checkWords(t, start, nonce, v.Words)
		words += len(v.Words)
		for count, want := range v.Mines {
			boards++
			checkBoard(t, start, nonce, count, want)
		}
	}
	if len(doc.Vectors) != 10 || words != 300 || boards < 60 || refusals != 1 {
		t.Errorf("%d rows, %d words, %d boards, %d refused nonces", len(doc.Vectors), words, boards, refusals)
	}
}

// checkBoard draws from a copy of the stream.
func checkBoard(t *testing.T, s rng.Stream, nonce, count string, want []int) {
	t.Helper()
	mineCount, err := strconv.ParseUint(count, 10, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := drawBoard(&s, uint8(mineCount)); !slices.Equal(got, want) {
		t.Errorf("nonce %s, %s mines: %v, want %v", nonce, count, got, want)
	}
}

func TestMinesWithRejectedWordsOfAnotherHouse(t *testing.T) {
	var doc struct {
		Vectors []struct {
			ServerSeed, ClientSeed string
			Nonce                  json.RawMessage
			RoundSignature         string
			Words                  []uint32 `json:"first_26_words"`
			Boards                 map[string]struct {
				Positions []int
			} `json:"R1_standard_xof_stream"`
		}
	}
	load(t, "foreign/cloudbet_mines_rejection.json", &doc, false)
	boards := 0
	for _, v := range doc.Vectors {
		nonce := nonceText(v.Nonce)
		start, refused := foreignStream(t, v.ServerSeed, v.ClientSeed, nonce, "", v.RoundSignature)
		if refused {
			t.Errorf("nonce %s is refused", nonce)
		}
		checkWords(t, start, nonce, v.Words)
		for count, want := range v.Boards {
			boards++
			checkBoard(t, start, nonce, count, want.Positions)
		}
	}
	if len(doc.Vectors) != 6 || boards != 24 {
		t.Errorf("%d rows, %d boards; want 6 and 24", len(doc.Vectors), boards)
	}
}

func TestLimboThresholdsAreExact(t *testing.T) {
	var rows []struct {
		Target100 uint32
		First     string `json:"min_v_exact_hex"`
		Wins      string `json:"wins_exact"`
		Disagree  *struct {
			V     string `json:"v_hex"`
			Exact uint32
		}
	}
	load(t, "foreign/limbo_thresholds.json", &rows, false)
	if len(rows) != 29 {
		t.Fatalf("%d rows, want 29", len(rows))
	}
	for _, r := range rows {
		first := parseHex(t, r.First)
		if limbo.Map(first) < r.Target100 || limbo.Map(first-1) >= r.Target100 {
			t.Errorf("target %d: %d and %d around its first winning word", r.Target100, limbo.Map(first-1), limbo.Map(first))
		}
		wins := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 64), new(big.Int).SetUint64(first))
		if wins.String() != r.Wins {
			t.Errorf("target %d: %s words win, want %s", r.Target100, wins, r.Wins)
		}
		if r.Disagree == nil {
			continue
		}
		if got := limbo.Map(parseHex(t, r.Disagree.V)); got != r.Disagree.Exact {
			t.Errorf("word %s: %d, want %d, where doubles go wrong", r.Disagree.V, got, r.Disagree.Exact)
		}
	}
}

func parseHex(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEveryFileIsEmbeddedAndReadable(t *testing.T) {
	files := 0
	err := fs.WalkDir(vectors.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == ".json" {
			files++
		}
		return err
	})
	if err != nil || files < 30 {
		t.Errorf("%d files, %v; want 30 at least", files, err)
	}
}

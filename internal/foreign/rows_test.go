package foreign_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
	"github.com/openoriginals/originals/internal/vectors"
)

// row is one row of a file from outside, in the words of this package.
type row struct {
	scheme     string
	input      foreign.Input
	commitment string
	want       map[string]string
	reproduced bool // marked so in the file
	realBet    bool // and a bet or round with money
}

func read(t testing.TB, file string, into any) {
	t.Helper()
	readFrom(t, "foreign/"+file, into)
}

func readFrom(t testing.TB, file string, into any) {
	t.Helper()
	text, err := vectors.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func schemeNamed(t testing.TB, name string) *foreign.Scheme {
	t.Helper()
	for _, s := range foreign.Schemes() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no scheme %s", name)
	return nil
}

// pairRow is a row of the files of seed pairs.
type pairRow struct {
	Inputs     map[string]any
	Expected   map[string]any
	Reproduced bool
	Source     struct{ Kind string }
}

// parameterNames translates the files' names of parameters.
var parameterNames = map[string]string{
	"mines": "mineCount", "salt": "salt", "target": "target", "stake": "stake", "lower": "lower", "upper": "upper",
	"inverted": "inverted", "open_tiles_1based": "picks", "reveal_tiles_0based": "picks",
}

func text(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var texts []string
	for _, v := range list {
		texts = append(texts, fmt.Sprint(v))
	}
	return strings.Join(texts, ",")
}

func e2(t testing.TB, decimal any) string {
	t.Helper()
	whole, part, _ := strings.Cut(fmt.Sprint(decimal), ".")
	n, err := strconv.ParseUint(whole+(part + "00")[:2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(n)
}

func pairRows(t testing.TB, file, scheme string) (rows []row) {
	var doc struct{ Vectors []pairRow }
	read(t, file, &doc)
	for _, v := range doc.Vectors {
		r := row{scheme: scheme, reproduced: v.Reproduced, realBet: strings.HasPrefix(v.Source.Kind, "real_"), want: map[string]string{}}
		r.input.ServerSeed = text(v.Inputs["server_seed"])
		if hash, ok := v.Inputs["game_hash"]; ok {
			r.input.ServerSeed = text(hash)
		} else {
			r.input.ClientSeed, r.input.Nonce = text(v.Inputs["client_seed"]), text(v.Inputs["nonce"])
		}
		if hash, ok := v.Inputs["server_seed_hash"]; ok {
			r.commitment = text(hash)
		}
		for name, value := range v.Inputs {
			if ours, ok := parameterNames[name]; ok {
				r.input.Parameters = append(r.input.Parameters, foreign.Given{Name: ours, Text: text(value)})
			}
		}
		for name, value := range v.Expected {
			switch name {
			case "roll":
				r.want["rollE2"] = e2(t, value)
			case "multiplier":
				if scheme == "stake-limbo" {
					r.want["outcomeE2"] = e2(t, value)
				} else {
					r.want["multiplier"] = text(value)
				}
			case "crash":
				r.want["crashE2"] = e2(t, value)
			case "pocket":
				r.want["pocket"] = text(value)
			case "result":
				if scheme == "duel.com-dice" {
					r.want["roll"] = text(value)
				} else {
					r.want["win"] = fmt.Sprint(value == "won")
				}
			case "win":
				r.want["win"] = text(value)
			case "outcome":
				r.want["win"] = fmt.Sprint(value == "win")
			case "amount_won", "winning_amount":
				r.want["payout"] = text(value)
			case "fair_multiplier":
				if value != nil {
					r.want["fairMultiplier"] = text(value)
				}
			case "mines_draw_order_0based", "mines_draw_order_1based":
				r.want["mines"] = text(value)
			case "mines_sorted_0based":
				r.want["sorted"] = text(value)
			case "mines_sorted_1based":
				r.want["sorted"] = text(value)
				r.input.Parameters = append(r.input.Parameters, foreign.Given{Name: "firstTile", Text: "1"})
			case "crash_raw":
			default:
				t.Fatalf("%s: unknown expectation %s", file, name)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// crashRound is a round of the files of chains.
type crashRound struct {
	Game            uint64
	Hash            string
	Bust            json.Number
	BustComputed    json.Number `json:"bust_computed_hundredths"`
	CrashHundredths json.Number `json:"crash_hundredths"`
	HundredthsFloor json.Number `json:"hundredths_floor"`
	Reproduced      bool
	Signature       string `json:"vx_signature"`
	ServerSeed      string `json:"server_seed"`
	ServerSeedHash  string `json:"server_seed_hash"`
	DrandSignature  string `json:"drand_signature"`
}

type crashFile struct {
	Salt                string
	ClientSeed          string       `json:"client_seed"`
	BlockHash           string       `json:"block_hash"`
	Terminating         string       `json:"terminating_hash"`
	Rounds              []crashRound `json:"rounds"`
	TwelveConsecutive   []crashRound `json:"twelve_consecutive"`
	InstantBustExamples []crashRound `json:"instant_bust_examples"`
}

func crashRows(t testing.TB, file, scheme string) (rows []row) {
	var doc crashFile
	read(t, file, &doc)
	salt := doc.Salt + doc.ClientSeed + doc.BlockHash
	for _, c := range slices.Concat(doc.Rounds, doc.TwelveConsecutive, doc.InstantBustExamples) {
		r := row{scheme: scheme, reproduced: c.Reproduced, realBet: c.Reproduced, want: map[string]string{}}
		r.input.ServerSeed = c.Hash + c.ServerSeed
		r.commitment = c.ServerSeedHash
		add := func(name, text string) {
			r.input.Parameters = append(r.input.Parameters, foreign.Given{Name: name, Text: text})
		}
		switch scheme {
		case "bustabit-crash-v3-vx":
			add("signature", c.Signature)
		case "duel.com-crash":
			add("beaconSignature", c.DrandSignature)
		default:
			add("salt", salt)
		}
		want := c.BustComputed + c.CrashHundredths + c.HundredthsFloor
		if c.Bust != "" {
			want = json.Number(e2(t, c.Bust))
		}
		r.want["crashE2"] = string(want)
		rows = append(rows, r)
	}
	return rows
}

func betkyoRows(t testing.TB, file, _ string) (rows []row) {
	var doc struct {
		Vectors []struct {
			ServerSeed, ClientSeed string
			Nonce                  json.Number
			Commit                 string `json:"commit_sha256"`
			Limbo                  int    `json:"limbo_outcome100"`
			Roulette               int    `json:"roulette_pocket"`
			SicBo                  []any  `json:"sicbo"`
			Koban                  []any  `json:"koban5"`
		}
	}
	read(t, file, &doc)
	for _, v := range doc.Vectors {
		add := func(scheme, name string, want any, parameters ...foreign.Given) {
			rows = append(rows, row{
				scheme: scheme, commitment: v.Commit, want: map[string]string{name: text(want)},
				input: foreign.Input{ServerSeed: v.ServerSeed, ClientSeed: v.ClientSeed, Nonce: v.Nonce.String(), Parameters: parameters},
			})
		}
		add("betkyo-limbo", "outcomeE2", v.Limbo)
		add("betkyo-roulette", "pocket", v.Roulette)
		add("betkyo-sicbo", "dice", v.SicBo)
		add("betkyo-koban", "faces", v.Koban, foreign.Given{Name: "flips", Text: "5"})
		for cursor, die := range v.SicBo {
			add("betkyo-die", "die", die, foreign.Given{Name: "cursor", Text: fmt.Sprint(cursor)})
		}
	}
	return rows
}

func cloudbetRows(t testing.TB, file, scheme string) (rows []row) {
	var doc struct {
		Vectors []struct {
			ServerSeed, ClientSeed string
			Nonce                  any
			Commitment             string `json:"commitment_sha3_256_of_hex_text"`
			Mines                  map[string][]any
			Boards                 map[string]struct {
				Positions []any
				WordsUsed int `json:"words_used"`
			} `json:"R1_standard_xof_stream"`
		}
	}
	read(t, file, &doc)
	for _, v := range doc.Vectors {
		add := func(count string, mines []any, unconfirmed bool) {
			rows = append(rows, row{
				scheme: scheme, commitment: v.Commitment, want: map[string]string{"mines": text(mines), "unconfirmed": fmt.Sprint(unconfirmed)},
				input: foreign.Input{ServerSeed: v.ServerSeed, ClientSeed: v.ClientSeed, Nonce: text(v.Nonce),
					Parameters: []foreign.Given{{Name: "mineCount", Text: count}}},
			})
		}
		for count, mines := range v.Mines { // these rows met no rejection
			add(count, mines, len(mines) > 8)
		}
		for count, board := range v.Boards {
			add(count, board.Positions, board.WordsUsed > 8)
		}
	}
	return rows
}

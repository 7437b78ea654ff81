package foreign_test

import (
	"bytes"
	"encoding/hex"
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
	text, err := vectors.Files.ReadFile("foreign/" + file)
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

// files are the rows of every file from outside, and how many it holds.
var files = []struct {
	file, scheme string
	rows         func(t testing.TB, file, scheme string) []row
	count        int
}{
	{"stake_dice.json", "stake-dice", pairRows, 25},
	{"stake_limbo.json", "stake-limbo", pairRows, 31},
	{"stake_roulette.json", "stake-roulette", pairRows, 33},
	{"stake_mines.json", "stake-mines", pairRows, 42},
	{"stake_crash.json", "stake-crash", pairRows, 13},
	{"crash_stake.json", "stake-crash", crashRows, 2 + 12},
	{"primedice_dice.json", "primedice-dice", pairRows, 8},
	{"betkyo_seedpair.json", "", betkyoRows, 23 * 7},
	{"cloudbet_mines.json", "cloudbet-mines", cloudbetRows, 100},
	{"cloudbet_mines_rejection.json", "cloudbet-mines", cloudbetRows, 24},
	{"crash_bustabit_v1.json", "bustabit-crash-v1", crashRows, 7 + 2},
	{"crash_bustabit_v2.json", "bustabit-crash-v2", crashRows, 3 + 12},
	{"crash_bustabit_v3_salt.json", "bustabit-crash-v3", crashRows, 6},
	{"crash_bustabit_v3_vx.json", "bustabit-crash-v3-vx", crashRows, 5},
	{"crash_bcgame.json", "bcgame-crash", crashRows, 3},
	{"duel_dice.json", "duel.com-dice", pairRows, 4},
	{"duel_mines.json", "duel.com-mines", pairRows, 10},
	{"crash_duel.json", "duel.com-crash", crashRows, 19},
	{"liqd_dice.json", "liqd-dice", pairRows, 17},
	{"liqd_mines.json", "liqd-mines", pairRows, 20},
}

func TestEveryRowFromOutside(t *testing.T) {
	total, commitments := 0, 0
	for _, f := range files {
		rows := f.rows(t, f.file, f.scheme)
		if len(rows) != f.count {
			t.Errorf("%s: %d rows, want %d", f.file, len(rows), f.count)
		}
		for i, r := range rows {
			checkRow(t, fmt.Sprintf("%s row %d", f.file, i), r)
			if r.commitment != "" {
				commitments++
			}
		}
		total += len(rows)
	}
	if total != 559 || commitments != 470 {
		t.Errorf("%d rows with %d commitments, want 559 with 470", total, commitments)
	}
}

func checkRow(t *testing.T, name string, r row) {
	t.Helper()
	scheme := schemeNamed(t, r.scheme)
	out, err := foreign.Derive(scheme, r.input)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if len(r.want) == 0 {
		t.Errorf("%s expects nothing", name)
	}
	for wanted, want := range r.want {
		got := value(out, wanted)
		if got != want {
			t.Errorf("%s: %s is %q, want %q", name, wanted, got, want)
		}
	}
	for _, v := range out.Values {
		if !slices.Contains(scheme.Outcomes, v.Name) {
			t.Errorf("%s: %s is not among the outcomes of %s", name, v.Name, scheme.Name)
		}
	}
	if got := scheme.Commitment(r.input.ServerSeed); r.commitment != "" && got != r.commitment {
		t.Errorf("%s: commitment %s, want %s", name, got, r.commitment)
	}
}

// value is that of a name; `sorted` is that of mines in ascending order.
func value(out foreign.Outcome, name string) string {
	if name != "sorted" {
		v, _ := out.Get(name)
		return v.Text()
	}
	v, _ := out.Get("mines")
	tiles := strings.Split(v.Text(), ",")
	slices.SortFunc(tiles, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return strings.Join(tiles, ",")
}

// TestTheListCountsWhatTheVectorsHold: the numbers that `verify --list` shows are those of the rows marked reproduced.
func TestTheListCountsWhatTheVectorsHold(t *testing.T) {
	reproduced, realBets := map[string]int{"dicechess-rolls": len(publishedGame.plies)}, map[string]int{}
	for _, f := range files {
		for _, r := range f.rows(t, f.file, f.scheme) {
			if r.reproduced {
				reproduced[r.scheme]++
			}
			if r.reproduced && r.realBet {
				realBets[r.scheme]++
			}
		}
	}
	sum := 0
	for _, s := range foreign.Schemes() {
		if s.Reproduced != reproduced[s.Name] || s.Real != realBets[s.Name] {
			t.Errorf("%s says %d reproduced and %d real, and the vectors hold %d and %d", s.Name, s.Reproduced, s.Real, reproduced[s.Name], realBets[s.Name])
		}
		sum += s.Reproduced
	}
	if sum != 237 {
		t.Errorf("%d reproduced in all, want 237", sum)
	}
}

// publishedGame is the game of four plies on the page of Dice Chess.
var publishedGame = struct {
	serverSeed, commitment, white, black string
	plies                                []string
}{
	"5b4c290e960e3c3a8c4cce633d38b04e136fae6c0e453f5a8dd3b9640157c7c6",
	"7e3ad1923d05b412c56ee52bcc6de5a79f1f21aa5aab4fe41d3fbcd11df2136f",
	"bot:team:anon:verifier-aa3534dd", "4c4bda73e3a467f691a6570ee047983b",
	[]string{"6,3,1", "6,6,5", "3,3,1", "1,4,6"},
}

func TestPublishedGameOfDiceChess(t *testing.T) {
	g := publishedGame
	for ply, want := range g.plies {
		checkRow(t, fmt.Sprint("ply ", ply), row{
			scheme: "dicechess-rolls", commitment: g.commitment, want: map[string]string{"dice": want},
			input: foreign.Input{ServerSeed: g.serverSeed, Parameters: []foreign.Given{
				{Name: "whiteSeed", Text: g.white}, {Name: "blackSeed", Text: g.black}, {Name: "ply", Text: fmt.Sprint(ply)},
			}},
		})
	}
}

// TestChainsMeetTheirTerminalHashes walks from published games to what was announced before the first.
func TestChainsMeetTheirTerminalHashes(t *testing.T) {
	var v2, v3 crashFile
	read(t, "crash_bustabit_v2.json", &v2)
	read(t, "crash_bustabit_v3_salt.json", &v3)
	search := func(scheme, from, terminal string, most uint64) (uint64, bool) {
		h, err := foreign.ParseGameHash("hash", from)
		if err != nil {
			t.Fatal(err)
		}
		end, err := foreign.ParseGameHash("terminal", terminal)
		if err != nil {
			t.Fatal(err)
		}
		_, games, found := schemeNamed(t, scheme).Chain.Search(h, end, most)
		return games, found
	}
	if games, found := search("bustabit-crash-v2", v2.Rounds[0].Hash, v2.Terminating, 10); games != 1 || !found {
		t.Errorf("v2: %d games, %v", games, found)
	}
	for i := range v2.TwelveConsecutive[:11] {
		this, next := v2.TwelveConsecutive[i], v2.TwelveConsecutive[i+1]
		if games, found := search("bustabit-crash-v2", this.Hash, next.Hash, 1); games != 1 || !found || this.Game != next.Game+1 {
			t.Errorf("game %d does not lead to %d", this.Game, next.Game)
		}
	}
	links := 0
	for i := range v3.Rounds[:5] {
		this, next := v3.Rounds[i], v3.Rounds[i+1]
		apart := this.Game - next.Game
		if games, found := search("bustabit-crash-v3", this.Hash, next.Hash, apart); games != apart || !found {
			t.Errorf("v3: game %d does not lead to %d", this.Game, next.Game)
		}
		links++
	}
	if _, found := search("bustabit-crash-v2", v3.Rounds[0].Hash, v3.Rounds[1].Hash, 10); found || links != 5 {
		t.Error("a chain over bytes was walked over text")
	}
}

func TestMessagesOfDuelCrash(t *testing.T) {
	var doc struct {
		Rounds []struct {
			Signature string `json:"drand_signature"`
			Message   string `json:"message_utf8_hex"`
		}
	}
	read(t, "crash_duel.json", &doc)
	for _, r := range doc.Rounds {
		raw, err := hex.DecodeString(r.Signature)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(foreign.DecodeLossy(raw)) + "3a30"; got != r.Message {
			t.Errorf("%s: message %s, want %s", r.Signature, got, r.Message)
		}
	}
	if len(doc.Rounds) != 19 {
		t.Errorf("%d rounds", len(doc.Rounds))
	}
}

// TestDoublesAreRoundedOnce: on 32 bits, in a browser and on arm64 too.
func TestDoublesAreRoundedOnce(t *testing.T) {
	var doc map[string]json.RawMessage
	read(t, "fp_boundaries.json", &doc)
	rows := 0
	for name, raw := range doc {
		var group struct {
			WidthBits int `json:"width_bits"`
			N         uint64
			Single    []boundary `json:"single_vs_exact"`
			Bytes     []boundary `json:"horner_bytes_vs_single"`
			Bits      []boundary `json:"horner_bits_vs_single"`
		}
		if err := json.Unmarshal(raw, &group); err != nil {
			t.Fatal(err)
		}
		unit := foreign.Unit64
		if group.WidthBits == 56 {
			unit = foreign.Unit56
		}
		for _, b := range slices.Concat(group.Single, group.Bytes, group.Bits) {
			rows++
			v, err := strconv.ParseUint(b.V, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := foreign.FloorOf(unit(v), group.N); got != b.Single {
				t.Errorf("%s: %s gives %d, want %d", name, b.V, got, b.Single)
			}
		}
	}
	if rows != 400 {
		t.Errorf("%d rows, want 400", rows)
	}
}

type boundary struct {
	V      string `json:"v_hex"`
	Single uint64 `json:"single_rounded"`
}

package foreign_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
)

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

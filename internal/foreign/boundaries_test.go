package foreign_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
)

// digestOf holds eight words.
func digestOf(words ...uint32) *[32]byte {
	var d [32]byte
	for i, w := range words {
		binary.BigEndian.PutUint32(d[4*i:], w)
	}
	return &d
}

// TestEqualityAtTheCrashInstant: where the quotient is a whole number, doubles fall below it. The vectors name the word.
func TestEqualityAtTheCrashInstant(t *testing.T) {
	for w, want := range map[uint32]uint64{0: 99 << 32, 3221225471: 132, 3221225472: 131, 1<<32 - 1: 100} {
		if got := foreign.StakeCrash(w); got != want {
			t.Errorf("%d gives %d, want %d", w, got, want)
		}
	}
}

// TestWinTestOffByOne: the strictness of each house, at the roll itself.
func TestWinTestOffByOne(t *testing.T) {
	type given = foreign.Given
	duel := row{scheme: "duel.com-dice", input: pairRows(t, "duel_dice.json", "duel.com-dice")[0].input} // rolls 9793
	liqd := row{scheme: "liqd-dice", input: pairRows(t, "liqd_dice.json", "liqd-dice")[10].input}        // rolls 3.61
	for _, c := range []struct {
		row        row
		parameters []given
		win        string
	}{
		{duel, []given{{Name: "target", Text: "9792"}}, "true"},
		{duel, []given{{Name: "target", Text: "9793"}}, "false"},
		{liqd, []given{{Name: "lower", Text: "3.61"}, {Name: "upper", Text: "3.62"}}, "true"},
		{liqd, []given{{Name: "lower", Text: "3.62"}, {Name: "upper", Text: "100"}}, "false"},
		{liqd, []given{{Name: "lower", Text: "0"}, {Name: "upper", Text: "3.61"}}, "false"},
		{liqd, []given{{Name: "lower", Text: "0"}, {Name: "upper", Text: "3.61"}, {Name: "inverted", Text: "true"}}, "true"},
		{liqd, []given{{Name: "lower", Text: "3.61"}, {Name: "upper", Text: "3.62"}, {Name: "inverted", Text: "true"}}, "false"},
	} {
		c.row.input.Parameters = c.parameters
		c.row.want = map[string]string{"win": c.win}
		checkRow(t, fmt.Sprint(c.row.scheme, c.parameters), c.row)
	}
}

// TestModuloBiasOfDuel: the words at the limits, which no real bet has met.
func TestModuloBiasOfDuel(t *testing.T) {
	const limit = 4294959453
	for _, c := range []struct {
		words []uint32
		roll  uint64
		ok    bool
	}{
		{[]uint32{limit - 1}, (limit - 1) % 10001, true},
		{[]uint32{limit, 10001 + 7}, 7, true},
		{[]uint32{1<<32 - 1, limit, 1<<32 - 1, limit, limit, limit, limit, 5}, 5, true},
		{[]uint32{limit, limit, limit, limit, limit, limit, limit, limit}, 0, false},
	} {
		roll, ok := foreign.DuelRoll(digestOf(c.words...))
		if ok != c.ok || ok && roll != c.roll {
			t.Errorf("%d: %d, %v", c.words, roll, ok)
		}
	}
	// With 25 tiles left the limit is 4294967275 - 0: 2^32-1 = 25 * 171798691 + 20; with 3 left it is 2^32-1 itself, and strict.
	var asked []uint64
	tiles, ok := foreign.DrawDuel(func(cursor uint64) *[32]byte {
		asked = append(asked, cursor)
		switch cursor {
		case 0:
			return digestOf(4294967275, 1) // 25 left: the first word is rejected, the second takes tile 1
		case 22:
			return digestOf(1<<32-1, 1) // 3 left: rejected
		default:
			return digestOf(24 - uint32(cursor)) // leaves every tile where it is
		}
	})
	if !ok || len(asked) != 24 || tiles[24] != 1 || tiles[1] != 2 || tiles[2] != 24 || tiles[0] != 0 {
		t.Errorf("%v after %v", tiles, asked)
	}
	if tiles, ok := foreign.DrawDuel(func(uint64) *[32]byte { return digestOf(4294967274) }); !ok || tiles[24] != 24 {
		t.Errorf("the last word that is accepted: %v", tiles)
	}
	rejected := digestOf(1<<32-1, 1<<32-1, 1<<32-1, 1<<32-1, 1<<32-1, 1<<32-1, 1<<32-1, 1<<32-1)
	if _, ok := foreign.DrawDuel(func(uint64) *[32]byte { return rejected }); ok {
		t.Error("eight rejected words give a board")
	}
}

// TestLimboOfDoublesAtItsThresholds: the least integers that reach a target in doubles, found apart from this program.
func TestLimboOfDoublesAtItsThresholds(t *testing.T) {
	var rows []struct {
		Target   uint64 `json:"target100"`
		First    string `json:"min_v_double_hex"`
		Disagree *struct {
			V      string `json:"v_hex"`
			Double uint64
		}
	}
	read(t, "limbo_thresholds.json", &rows)
	integer := func(digits string) uint64 {
		v, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	disagreements := 0
	for _, r := range rows {
		v := integer(r.First)
		if at, below := foreign.LimboE2(foreign.Unit64(v)), foreign.LimboE2(foreign.Unit64(v-1)); at < r.Target || below >= r.Target {
			t.Errorf("target %d: %d at %s, %d before it", r.Target, at, r.First, below)
		}
		if r.Disagree != nil {
			disagreements++
			if got := foreign.LimboE2(foreign.Unit64(integer(r.Disagree.V))); got != r.Disagree.Double {
				t.Errorf("%s gives %d, want %d", r.Disagree.V, got, r.Disagree.Double)
			}
		}
	}
	if len(rows) < 20 || disagreements < 10 {
		t.Errorf("%d rows, %d disagreements", len(rows), disagreements)
	}
}

// TestSevenBytes: the width of 56 bits, from the doubles of the rows.
func TestSevenBytes(t *testing.T) {
	var doc struct {
		Vectors []struct {
			ServerSeed, ClientSeed string
			Nonce                  uint64
			U56                    string `json:"u56_hex"`
		}
	}
	read(t, "betkyo_seedpair.json", &doc)
	for i, v := range doc.Vectors {
		u, err := strconv.ParseFloat(v.U56, 64)
		if err != nil {
			t.Fatal(err)
		}
		checkRow(t, fmt.Sprint("row ", i), row{
			scheme: "betkyo-roulette", want: map[string]string{"pocket": fmt.Sprint(int(u * 37))},
			input: foreign.Input{ServerSeed: v.ServerSeed, ClientSeed: v.ClientSeed, Nonce: fmt.Sprint(v.Nonce), Parameters: []foreign.Given{{Name: "width", Text: "56"}}},
		})
	}
	if foreign.Face(0.5) != 1 || foreign.Face(0.49999999999999994) != 0 {
		t.Error("a coin at one half")
	}
	if len(doc.Vectors) != 23 {
		t.Errorf("%d rows", len(doc.Vectors))
	}
}

// TestSeedAsTextOrAsBytes: one deriver takes the same server seed as text for one house and as bytes for another.
func TestSeedAsTextOrAsBytes(t *testing.T) {
	var d foreign.Deriver
	input := foreign.Input{ServerSeed: textSeed, ClientSeed: "aR3kRBVn", Nonce: "5"}
	for range 2 {
		for scheme, want := range map[string]string{"stake-dice": "1286", "duel.com-dice": "2648"} { // by Python
			var out foreign.Outcome
			if err := d.Derive(schemeNamed(t, scheme), &input, &out); err != nil || out.Values[0].Text() != want {
				t.Errorf("%s: %v %v, want %s", scheme, texts(out), err, want)
			}
		}
	}
}

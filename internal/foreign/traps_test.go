package foreign_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openoriginals/originals/internal/foreign"
	"pgregory.net/rapid"
)

const (
	textSeed  = "0f6e8aba300b7f1217ee46606773cf6046b524f74505cf2124ffe181ad6b9dbf"
	shortSeed = "00112233445566778899aabbccddeeff"
)

// TestAReleasedSchemeIsNeverEdited: the names are permanent. A change is a new name.
func TestAReleasedSchemeIsNeverEdited(t *testing.T) {
	want := "stake-dice stake-limbo stake-roulette stake-mines stake-crash primedice-dice betkyo-limbo betkyo-roulette betkyo-die " +
		"betkyo-sicbo betkyo-koban cloudbet-mines dicechess-rolls bustabit-crash-v1 bustabit-crash-v2 bustabit-crash-v3 " +
		"bustabit-crash-v3-vx bcgame-crash duel.com-dice duel.com-mines duel.com-crash liqd-dice liqd-mines"
	var names []string
	for _, s := range foreign.Schemes() {
		names = append(names, s.Name)
		if found, err := foreign.Find(s.House, s.Game, s.Version); err != nil || found != s {
			t.Errorf("%s is not found: %v", s.Name, err)
		}
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s", got)
	}
	for _, h := range foreign.Houses() {
		if h.Commitment == "" || h.Source == "" || len(h.Games()) == 0 {
			t.Errorf("%s says too little of itself", h.Name)
		}
	}
}

// refusals are inputs that no outcome may come from.
func TestWhatIsRefused(t *testing.T) {
	pair := func(serverSeed, clientSeed, nonce string, parameters ...foreign.Given) foreign.Input {
		return foreign.Input{ServerSeed: serverSeed, ClientSeed: clientSeed, Nonce: nonce, Parameters: parameters}
	}
	given := func(name, text string) foreign.Given { return foreign.Given{Name: name, Text: text} }
	for _, c := range []struct {
		name, scheme string
		input        foreign.Input
		field, words string
	}{
		{"missing seed record read as an empty seed", "stake-dice", pair("", "x", "0"), "serverSeed", "has 0"},
		{"a server seed small enough to search", "stake-dice", pair("0123456789abcde", "x", "0"), "serverSeed", "16"},
		{"HMAC key longer than the hash block", "stake-dice", pair(strings.Repeat("a", 65), "x", "0"), "serverSeed", "64"},
		{"a trailing NUL that HMAC pads away", "stake-dice", pair(textSeed[:63]+"\x00", "x", "0"), "serverSeed", "visible"},
		{"trimmed text", "stake-dice", pair(" "+textSeed[:63], "x", "0"), "serverSeed", "white space"},
		{"a line end", "primedice-dice", pair(shortSeed+"\n", "x", "0"), "serverSeed", "white space"},
		{"lenient hex", "liqd-dice", pair(strings.ToUpper(shortSeed), "x", "0"), "serverSeed", "upper-case"},
		{"0x in front", "duel.com-dice", pair("0x"+textSeed[2:], "x", "0"), "serverSeed", "hex digits"},
		{"text of another length as bytes", "liqd-mines", pair(textSeed, "x", "0", given("mineCount", "3")), "serverSeed", "32"},
		{"stray white space around bytes", "cloudbet-mines", pair(textSeed+" ", "x", "0", given("mineCount", "3")), "serverSeed", "white space"},
		{"an empty client seed", "stake-dice", pair(textSeed, "", "0"), "clientSeed", "empty"},
		{"different strings, same bytes", "stake-dice", pair(textSeed, "a\xff", "0"), "clientSeed", "UTF-8"},
		{"a client seed without end", "stake-dice", pair(textSeed, strings.Repeat("x", 1025), "0"), "clientSeed", "1024"},
		{"no nonce", "stake-dice", pair(textSeed, "x", ""), "nonce", ""},
		{"a nonce with a zero in front", "stake-dice", pair(textSeed, "x", "01"), "nonce", ""},
		{"a negative nonce", "stake-dice", pair(textSeed, "x", "-1"), "nonce", ""},
		{"a nonce that wraps", "stake-dice", pair(textSeed, "x", "18446744073709551616"), "nonce", ""},
		{"a nonce with an exponent", "stake-dice", pair(textSeed, "x", "1e3"), "nonce", ""},
		{"a nonce of a chain", "bustabit-crash-v2", pair(textSeed, "", "0"), "nonce", "not an input"},
		{"a client seed of a chain", "bustabit-crash-v2", pair(textSeed, "x", ""), "clientSeed", "not an input"},
		{"misspelt field dropped", "stake-mines", pair(textSeed, "x", "0", given("mineCount", "3"), given("minecount", "3")), "minecount", "not a parameter"},
		{"a parameter twice", "stake-mines", pair(textSeed, "x", "0", given("mineCount", "3"), given("mineCount", "4")), "mineCount", "twice"},
		{"a parameter that is missing", "stake-mines", pair(textSeed, "x", "0"), "mineCount", "required"},
		{"25 mines", "stake-mines", pair(textSeed, "x", "0", given("mineCount", "25")), "mineCount", "24"},
		{"no mines", "liqd-mines", pair(shortSeed, "x", "0", given("mineCount", "0")), "mineCount", "1"},
		{"a tile twice", "duel.com-mines", pair(textSeed, "x", "0", given("mineCount", "3"), given("picks", "1,1")), "picks", "once"},
		{"tile 25 of 0 to 24", "duel.com-mines", pair(textSeed, "x", "0", given("mineCount", "3"), given("picks", "25")), "picks", "24"},
		{"tile 0 of 1 to 25", "liqd-mines", pair(shortSeed, "x", "0", given("mineCount", "3"), given("picks", "0")), "picks", "25"},
		{"a payout without picks", "liqd-mines", pair(shortSeed, "x", "0", given("mineCount", "3"), given("stake", "1")), "picks", "payout"},
		{"tiny or odd amounts", "liqd-dice", pair(shortSeed, "x", "0", given("lower", "1"), given("upper", "2"), given("stake", "0.000000001")), "stake", "8 decimals"},
		{"NaN", "liqd-dice", pair(shortSeed, "x", "0", given("lower", "1"), given("upper", "2"), given("stake", "NaN")), "stake", "decimal"},
		{"a stake of 0", "liqd-dice", pair(shortSeed, "x", "0", given("lower", "1"), given("upper", "2"), given("stake", "0")), "stake", "above 0"},
		{"an exponent", "duel.com-dice", pair(textSeed, "x", "0", given("target", "1"), given("stake", "1e3")), "stake", "decimal"},
		{"a payout without a target", "duel.com-dice", pair(textSeed, "x", "0", given("stake", "1")), "target", "payout"},
		{"a target that divides by zero", "duel.com-dice", pair(textSeed, "x", "0", given("target", "10000")), "target", "9999"},
		{"bounds upside down", "liqd-dice", pair(shortSeed, "x", "0", given("lower", "2"), given("upper", "1")), "upper", "above"},
		{"three decimals", "liqd-dice", pair(shortSeed, "x", "0", given("lower", "2.001"), given("upper", "3")), "lower", "two decimals"},
		{"nothing that wins", "liqd-dice", pair(shortSeed, "x", "0", given("lower", "0"), given("upper", "100"), given("inverted", "true")), "inverted", "no roll"},
		{"a boolean of another case", "liqd-dice", pair(shortSeed, "x", "0", given("inverted", "True")), "inverted", "true or false"},
		{"an empty salt", "stake-crash", pair(textSeed, "", "", given("salt", "")), "salt", "empty"},
		{"a salt that HMAC hashes down", "bustabit-crash-v2", pair(textSeed, "", "", given("salt", strings.Repeat("0", 65))), "salt", "64"},
		{"half a signature", "bustabit-crash-v3-vx", pair(textSeed, "", "", given("signature", strings.Repeat("0", 96))), "signature", "192"},
		{"another width", "betkyo-limbo", pair(textSeed, "x", "0", given("width", "60")), "width", "56"},
		{"no coin", "betkyo-koban", pair(textSeed, "x", "0", given("flips", "0")), "flips", "1"},
		{"a seat without a seed", "dicechess-rolls", pair(textSeed, "", "", given("whiteSeed", "short"), given("blackSeed", textSeed), given("ply", "0")), "whiteSeed", "16"},
		{"a lone surrogate", "dicechess-rolls", pair(textSeed, "", "", given("whiteSeed", textSeed), given("blackSeed", textSeed[:16]+"\xed\xa0\x80"), given("ply", "0")), "blackSeed", "well-formed"},
	} {
		out, err := foreign.Derive(schemeNamed(t, c.scheme), c.input)
		field, problem, ok := foreign.FieldOf(err)
		if !ok || field != c.field || !strings.Contains(problem, c.words) {
			t.Errorf("%s: %v with %v, want a refusal of %s because of %q", c.name, err, out.Values, c.field, c.words)
		}
	}
	for _, c := range []struct{ house, game, version, field string }{
		{"bet365", "dice", "", "house"}, {"Stake", "dice", "", "house"}, {"", "dice", "", "house"}, {"stake", "poker", "", "game"},
		{"stake", "", "", "game"}, {"bustabit", "crash", "", "version"}, {"bustabit", "crash", "v4", "version"}, {"stake", "dice", "v1", "version"},
	} {
		_, err := foreign.Find(c.house, c.game, c.version)
		if field, _, ok := foreign.FieldOf(err); !ok || field != c.field {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestTrimmingAndNormalisingTheClientSeed: each spelling is another bet.
func TestTrimmingAndNormalisingTheClientSeed(t *testing.T) {
	seen := map[string]string{}
	for _, client := range []string{"player", " player", "player ", "Player", "player\n", "pläyer", "pla\u0308yer"} {
		out, err := foreign.Derive(schemeNamed(t, "stake-mines"), foreign.Input{ServerSeed: textSeed, ClientSeed: client, Nonce: "0",
			Parameters: []foreign.Given{{Name: "mineCount", Text: "24"}}})
		if err != nil {
			t.Fatal(err)
		}
		board := value(out, "mines")
		if other, twice := seen[board]; twice {
			t.Errorf("%q and %q give the same board", client, other)
		}
		seen[board] = client
	}
}

// TestCursorMoreDrawsThanOneDigestHolds: a digest whose eight words are all rejected leads to cursor + 1000000.
func TestCursorMoreDrawsThanOneDigestHolds(t *testing.T) {
	var asked []uint64
	rejected := [32]byte{}
	for i := range rejected {
		rejected[i] = 0xff
	}
	tiles := foreign.DrawLiqd(3, func(cursor uint64) *[32]byte {
		asked = append(asked, cursor)
		if cursor == 0 || cursor == 1000000 || cursor == 2 {
			return &rejected // 2^32-1 is above the limit of 25, and of 23
		}
		return &[32]byte{3: 2}
	})
	// The word 2 takes the third of what is left, and what stood first takes its place.
	if got := [3]uint8(tiles[:3]); got != [3]uint8{3, 4, 5} {
		t.Errorf("%v", got)
	}
	want := []uint64{0, 1000000, 2000000, 1, 2, 1000002}
	if len(asked) != len(want) {
		t.Fatalf("cursors %v, want %v", asked, want)
	}
	for i := range want {
		if asked[i] != want[i] {
			t.Errorf("cursors %v, want %v", asked, want)
		}
	}
}

// TestLossyTextIsWhatBrowsersMakeOfIt: every sequence of up to four bytes over those at which the rules change. The digest
// is that of what JavaScript's TextDecoder gives, each followed by a line end.
func TestLossyTextIsWhatBrowsersMakeOfIt(t *testing.T) {
	edges := []byte{0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	sum, sequences := sha256.New(), 0
	var extend func(prefix []byte, left int)
	extend = func(prefix []byte, left int) {
		if len(prefix) > 0 {
			sum.Write(append(foreign.DecodeLossy(prefix), '\n'))
			sequences++
		}
		if left == 0 {
			return
		}
		for _, b := range edges {
			extend(append(prefix[:len(prefix):len(prefix)], b), left-1)
		}
	}
	extend(nil, 4)
	const want = "248580b5ddb7c1313237c158161637eca5eaa0f125e083222216aa6423f546a5"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want || sequences != 346200 {
		t.Errorf("%d sequences: %s, want %s", sequences, got, want)
	}
}

func FuzzDecodeLossy(f *testing.F) {
	f.Add([]byte("a\xe2\x82\xf0\x90"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := foreign.DecodeLossy(raw)
		if !utf8.Valid(text) || utf8.Valid(raw) && string(text) != string(raw) || len(text) > 3*len(raw) {
			t.Errorf("%q gives %q", raw, text)
		}
	})
}

// TestOlderFormulaOfLimboIsReportedWhereItDiffers: numbers by Python.
func TestOlderFormulaOfLimboIsReportedWhereItDiffers(t *testing.T) {
	limbo := schemeNamed(t, "stake-limbo")
	input := foreign.Input{ServerSeed: shortSeed, ClientSeed: "player", Nonce: "139"}
	out, err := foreign.Derive(limbo, input)
	if err != nil || value(out, "outcomeE2") != "52549" || value(out, "olderOutcomeE2") != "52551" || len(out.Notes) != 1 {
		t.Errorf("%v %v: %s, %s", err, out.Notes, value(out, "outcomeE2"), value(out, "olderOutcomeE2"))
	}
	for stated, verdict := range map[string]foreign.Verdict{"525.49": foreign.Consistent, "525.51": foreign.Consistent, "525.50": foreign.Failed} {
		j := judged(t, foreign.Claim{Scheme: limbo, Input: input, Stated: []foreign.Given{{Name: "outcome", Text: stated}}})
		if j.Verdict() != verdict {
			t.Errorf("%s: %s", stated, j.Verdict())
		}
	}
}

// TestLimboAtTheEndOfTheDoubles: u is 1.0 for the greatest integers.
func TestLimboAtTheEndOfTheDoubles(t *testing.T) {
	for v, want := range map[uint64]uint64{0: 100, 1<<64 - 1: 1000000, 1<<64 - 1024: 1000000, 1 << 63: 198, 1<<64 - 1<<54: 101376} {
		if got := foreign.LimboE2(foreign.Unit64(v)); got != want {
			t.Errorf("%d gives %d, want %d", v, got, want)
		}
	}
	if foreign.Unit64(1<<64-1) != 1 || foreign.Unit56(1<<56-1) != 1 || foreign.FloorOf(1, 37) != 36 {
		t.Error("the greatest integers do not round to 1")
	}
}

// TestBcgameRoundsToNineDigits: the expected numbers are Python's, by its decimals.
func TestBcgameRoundsToNineDigits(t *testing.T) {
	const e = 1 << 52
	for r, want := range map[uint64]uint64{
		0: 100, 1: 100, e - 2251800: 99000000000, e - 6755399: 99000000000, e - 6755400: 49500000000, e / 2: 198,
		3 * e / 4: 396, 4458563631096696: 9900, 45035996273705: 100, e - 1: 0, e - 2251799: 0,
	} {
		got, finite := foreign.BcgameE2(r)
		if finite != (want != 0) || finite && got != want {
			t.Errorf("%d gives %d, %v; want %d", r, got, finite, want)
		}
	}
}

// bcgameByFractions is a second way: the nearest of all decimals of nine digits.
func bcgameByFractions(r uint64) *big.Int {
	x := big.NewRat(int64(r), 1<<52)
	power := big.NewRat(1, 1)
	for new(big.Rat).Mul(x, power).Cmp(big.NewRat(100000000, 1)) < 0 {
		power.Mul(power, big.NewRat(10, 1))
	}
	scaled := new(big.Rat).Add(new(big.Rat).Mul(x, power), big.NewRat(1, 2))
	rounded := new(big.Rat).Quo(new(big.Rat).SetInt(new(big.Int).Quo(scaled.Num(), scaled.Denom())), power)
	below := new(big.Rat).Sub(big.NewRat(1, 1), rounded)
	if below.Sign() == 0 {
		return nil
	}
	crash := below.Quo(big.NewRat(99, 1), below)
	return new(big.Int).Quo(crash.Num(), crash.Denom())
}

func TestBcgameAgreesWithFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Uint64Range(1, 1<<52-1).Draw(t, "r")
		got, finite := foreign.BcgameE2(r)
		want := bcgameByFractions(r)
		if finite != (want != nil) || finite && got != max(100, want.Uint64()) {
			t.Fatalf("%d gives %d, want %v", r, got, want)
		}
	})
}

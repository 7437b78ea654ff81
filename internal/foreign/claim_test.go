package foreign_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
	"pgregory.net/rapid"
)

func judged(t testing.TB, claim foreign.Claim) *foreign.Judgement {
	t.Helper()
	var d foreign.Deriver
	var j foreign.Judgement
	if err := d.Judge(&claim, &j, true); err != nil {
		t.Fatalf("%s: %v", claim.Scheme.Name, err)
	}
	return &j
}

// claimOf is a row as a claim. What this package never gives under the row's name is left out.
func claimOf(t testing.TB, r row) foreign.Claim {
	claim := foreign.Claim{Scheme: schemeNamed(t, r.scheme), Input: r.input, Commitment: r.commitment}
	for name, text := range r.want {
		if name == "sorted" {
			name = "mines"
		}
		claim.Stated = append(claim.Stated, foreign.Given{Name: name, Text: text})
	}
	return claim
}

// TestEveryRowIsJudgedAsItShould: as it stands it holds, and with anything changed it does not.
func TestEveryRowIsJudgedAsItShould(t *testing.T) {
	changed := 0
	for _, f := range files {
		for i, r := range f.rows(t, f.file, f.scheme) {
			claim := claimOf(t, r)
			want := foreign.Verified
			if claim.Commitment == "" {
				want = foreign.Consistent
			}
			if j := judged(t, claim); j.Verdict() != want {
				t.Errorf("%s row %d: %s %v", f.file, i, j.Verdict(), j.Failures)
			}
			for at, stated := range claim.Stated {
				claim.Stated[at].Text = otherValue(stated)
				if j := judged(t, claim); j.Verdict() != foreign.Failed || len(j.Failures) != 1 || j.Failures[0].Check != "outcome" {
					t.Errorf("%s row %d: %s of %+v", f.file, i, j.Verdict(), claim.Stated[at])
				}
				claim.Stated[at] = stated
				changed++
			}
			if claim.Commitment == "" {
				continue
			}
			claim.Commitment = strings.Repeat("0", 64)
			if j := judged(t, claim); j.Verdict() != foreign.Failed || j.Failures[0].Check != "commitment" {
				t.Errorf("%s row %d: %s with another commitment", f.file, i, j.Verdict())
			}
		}
	}
	if changed < 600 {
		t.Errorf("only %d values changed", changed)
	}
}

// otherValue is a value of the same form that differs.
func otherValue(g foreign.Given) string {
	switch {
	case g.Text == "true":
		return "false"
	case g.Text == "false":
		return "true"
	case strings.Contains(g.Text, ","):
		return g.Text[strings.Index(g.Text, ",")+1:]
	default:
		return g.Text + "1"
	}
}

// TestUsualMistakesAreNamed: numbers by Python.
func TestUsualMistakesAreNamed(t *testing.T) {
	const commitment = "97139e593bce24783a3c4be064b07a07952e08f7f6f5d16a28abfc69c8453f99"
	dice := schemeNamed(t, "stake-dice")
	claim := func(serverSeed, clientSeed, nonce, commitment, stated string) foreign.Claim {
		c := foreign.Claim{Scheme: dice, Input: foreign.Input{ServerSeed: serverSeed, ClientSeed: clientSeed, Nonce: nonce}, Commitment: commitment}
		if stated != "" {
			c.Stated = []foreign.Given{{Name: "rollE2", Text: stated}}
		}
		return c
	}
	for _, c := range []struct {
		name  string
		claim foreign.Claim
		words string
	}{
		{"hash instead of seed", claim(commitment, "aR3kRBVn", "5", commitment, ""), "a hash was pasted in place of the server seed"},
		{"hash and seed in each other's place", claim(commitment, "aR3kRBVn", "5", textSeed, ""), "each other's place"},
		{"seed of another pair", claim(strings.Repeat("ab", 32), "aR3kRBVn", "5", commitment, ""), "the server seed of another seed pair"},
		{"seeds swapped", claim("abcdefabcdef1234", textSeed, "5", commitment, ""), "client seed and server seed are swapped"},
		{"upper-case hex", claim(strings.ToUpper(textSeed), "aR3kRBVn", "5", commitment, ""), "upper-case hex"},
		{"commitment of another house", claim(textSeed, "aR3kRBVn", "5", "23d62b9a0c538d1e2983a0ad8b021dffd9e4d80b018920651fe9e770297656f7", ""), "a bet of another house"},
		{"nonce one too small", claim(textSeed, "aR3kRBVn", "4", "", "1286"), "nonce 5 would give it"},
		{"nonce one too large", claim(textSeed, "aR3kRBVn", "6", "", "1286"), "nonce 5 would give it"},
		{"seeds swapped, by the outcome", claim("abcdefabcdef1234", textSeed, "5", "", "8737"), "client seed and server seed are swapped"},
		{"upper-case hex, by the outcome", claim(strings.ToUpper(textSeed), "aR3kRBVn", "5", "", "1286"), "upper-case hex is another text"},
		{"nonce one too large at the beginning", claim(textSeed, "aR3kRBVn", "1", "", "7679"), "nonce 0 would give it"},
		{"stray white space", claim(textSeed, "aR3kRBVn ", "5", "", "1286"), "stray white space"},
		{"wrong house", claim(textSeed, "aR3kRBVn", "5", "", "2648"), "duel.com-dice would give it"},
		{"seed of another pair, by the outcome", claim(strings.Repeat("ab", 32), "aR3kRBVn", "5", commitment, "1286"), "belongs to another seed pair"},
	} {
		j := judged(t, c.claim)
		var all []string
		for _, f := range j.Failures {
			all = append(all, f.Words)
		}
		if j.Verdict() != foreign.Failed || !strings.Contains(strings.Join(all, "\n"), c.words) {
			t.Errorf("%s: %s %q, want %q", c.name, j.Verdict(), all, c.words)
		}
	}
	mines := foreign.Claim{
		Scheme: schemeNamed(t, "stake-mines"),
		Input: foreign.Input{ServerSeed: "e8c495e2af38633f6ad42e0da12c8e3de7420d5284d054e36e83fdd2f13db44d", ClientSeed: "huoauPze", Nonce: "1",
			Parameters: []foreign.Given{{Name: "mineCount", Text: "3"}}},
		Stated: []foreign.Given{{Name: "mines", Text: "3,13,6"}}, // 2,12,5 counted from 1
	}
	if j := judged(t, mines); j.Verdict() != foreign.Failed || !strings.Contains(j.Failures[0].Words, "counted from 1") {
		t.Errorf("%s %v", j.Verdict(), j.Failures)
	}
	mines.Stated[0].Text = "2,5,12"
	if j := judged(t, mines); j.Verdict() != foreign.Consistent || len(j.Notes) != 1 {
		t.Errorf("%s %v", j.Verdict(), j.Notes)
	}
}

func TestClaimsThatCannotBeCompared(t *testing.T) {
	input := foreign.Input{ServerSeed: textSeed, ClientSeed: "x", Nonce: "0"}
	for _, c := range []struct {
		name  string
		claim foreign.Claim
		field string
	}{
		{"an outcome of another game", foreign.Claim{Scheme: schemeNamed(t, "stake-dice"), Input: input, Stated: []foreign.Given{{Name: "pocket", Text: "1"}}}, "pocket"},
		{"an outcome that needs a parameter", foreign.Claim{Scheme: schemeNamed(t, "duel.com-dice"), Input: input, Stated: []foreign.Given{{Name: "win", Text: "true"}}}, "win"},
		{"a commitment in capitals", foreign.Claim{Scheme: schemeNamed(t, "stake-dice"), Input: input, Commitment: strings.Repeat("A", 64)}, "commitment"},
		{"a commitment to one round of a chain", foreign.Claim{Scheme: schemeNamed(t, "bustabit-crash-v2"), Input: foreign.Input{ServerSeed: textSeed}, Commitment: strings.Repeat("a", 64)}, "commitment"},
	} {
		var d foreign.Deriver
		var j foreign.Judgement
		field, _, ok := foreign.FieldOf(d.Judge(&c.claim, &j, true))
		if !ok || field != c.field {
			t.Errorf("%s: field %q", c.name, field)
		}
	}
}

// TestADeriverKeepsNothingThatCounts: one that has derived other bets gives the same as a new one.
func TestADeriverKeepsNothingThatCounts(t *testing.T) {
	var rows []row
	for _, f := range files {
		rows = append(rows, f.rows(t, f.file, f.scheme)...)
	}
	var d foreign.Deriver
	var j foreign.Judgement
	rapid.Check(t, func(rt *rapid.T) {
		r := rows[rapid.IntRange(0, len(rows)-1).Draw(rt, "row")]
		claim := claimOf(t, r)
		if err := d.Judge(&claim, &j, false); err != nil || j.Verdict() == foreign.Failed {
			rt.Fatalf("%s: %v %v", r.scheme, err, j.Failures)
		}
		fresh, err := foreign.Derive(claim.Scheme, r.input)
		if err != nil || fmt.Sprint(texts(fresh)) != fmt.Sprint(texts(j.Outcome)) {
			rt.Fatalf("%s: %v, and anew %v, %v", r.scheme, texts(j.Outcome), texts(fresh), err)
		}
	})
}

// TestADeriverRefusesWhatFollowsAGoodBet: that the last server seed was checked says nothing of the next.
func TestADeriverRefusesWhatFollowsAGoodBet(t *testing.T) {
	var d foreign.Deriver
	var j foreign.Judgement
	claim := foreign.Claim{Scheme: schemeNamed(t, "stake-dice"), Input: foreign.Input{ServerSeed: textSeed, ClientSeed: "x", Nonce: "0"}}
	if err := d.Judge(&claim, &j, false); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "short", textSeed + " ", textSeed[:63] + "\x00"} {
		claim.Input.ServerSeed = bad
		if field, _, _ := foreign.FieldOf(d.Judge(&claim, &j, false)); field != "serverSeed" {
			t.Errorf("%q is accepted after a good one", bad)
		}
	}
	claim.Input.ServerSeed, claim.Scheme = textSeed, schemeNamed(t, "liqd-dice")
	if field, _, _ := foreign.FieldOf(d.Judge(&claim, &j, false)); field != "serverSeed" {
		t.Error("the seed of one house is accepted for another after it")
	}
}

func texts(out foreign.Outcome) (all []string) {
	for _, v := range out.Values {
		all = append(all, v.Name+"="+v.Text())
	}
	return all
}

// FuzzJudge: no input makes a scheme fail in another way than by a refusal, and what it gives always agrees with itself.
func FuzzJudge(f *testing.F) {
	f.Add(uint8(3), textSeed, "player", "0", "mineCount", "3", "mines", "1,2,3")
	f.Add(uint8(12), textSeed, "", "", "ply", "0", "dice", "1,1,1")
	f.Add(uint8(20), textSeed, "", "", "beaconSignature", strings.Repeat("0f", 48), "crash", "1.00")
	f.Add(uint8(21), shortSeed, "player", "5", "lower", "8.16", "roll", "1.1")
	f.Fuzz(func(t *testing.T, at uint8, serverSeed, clientSeed, nonce, name, text, stated, as string) {
		schemes := foreign.Schemes()
		s := schemes[int(at)%len(schemes)]
		claim := foreign.Claim{
			Scheme: s,
			Input:  foreign.Input{ServerSeed: serverSeed, ClientSeed: clientSeed, Nonce: nonce, Parameters: []foreign.Given{{Name: name, Text: text}}},
			Stated: []foreign.Given{{Name: stated, Text: as}},
		}
		var d foreign.Deriver
		var j foreign.Judgement
		if err := d.Judge(&claim, &j, true); err != nil {
			if _, _, ok := foreign.FieldOf(err); !ok {
				t.Fatalf("%s: %v", s.Name, err)
			}
		}
		out, err := foreign.Derive(s, claim.Input)
		if err != nil {
			return
		}
		claim.Stated = nil
		for _, v := range out.Values {
			claim.Stated = append(claim.Stated, foreign.Given{Name: v.Name, Text: v.Text()})
		}
		if j := judged(t, claim); j.Verdict() != foreign.Consistent {
			t.Errorf("%s does not agree with itself: %v", s.Name, j.Failures)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	claim := foreign.Claim{
		Scheme: schemeNamed(b, "stake-dice"), Input: foreign.Input{ServerSeed: textSeed, ClientSeed: "aR3kRBVn", Nonce: "5"},
		Commitment: "97139e593bce24783a3c4be064b07a07952e08f7f6f5d16a28abfc69c8453f99", Stated: []foreign.Given{{Name: "rollE2", Text: "1286"}},
	}
	var d foreign.Deriver
	var j foreign.Judgement
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Judge(&claim, &j, true); err != nil || j.Verdict() != foreign.Verified {
			b.Fatal(err, j.Failures)
		}
	}
}

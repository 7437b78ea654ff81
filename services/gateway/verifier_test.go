package gateway

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// row is one row of the shared vectors, which JavaScript and Python made.
type row struct {
	ID, ServerSeed, ClientSeed, Commitment, Signature, Game, MultiplierE4 string

	Nonce                        json.Number
	Dice, Limbo, Roulette, Mines map[string]any
}

func (r row) parameters() map[string]any {
	return map[string]map[string]any{"dice": r.Dice, "limbo": r.Limbo, "roulette": r.Roulette, "mines": r.Mines}[r.Game]
}

func vectorRows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../../internal/vectors/originals-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []row }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) < 400 {
		t.Fatalf("only %d rows", len(file.Rows))
	}
	return file.Rows
}

// inputs are the parameters of a bet; the rest of a row's object is outcome.
var inputs = map[string][]string{
	"dice": {"target", "direction"}, "limbo": {"targetE2"}, "roulette": {"chips"}, "mines": {"mineCount", "picks"},
}

func verifyRequest(t *testing.T, r row) map[string]any {
	t.Helper()
	parameters := map[string]any{}
	for _, name := range inputs[r.Game] {
		parameters[name] = r.parameters()[name]
	}
	return map[string]any{
		"scheme": "originals-v1", "serverSeed": r.ServerSeed, "clientSeed": r.ClientSeed, "nonce": r.Nonce, r.Game: parameters,
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestVerifyAgreesWithEveryVector(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	games := map[string]int{}
	for _, want := range vectorRows(t) {
		r := send(t, "POST", url+"/v1/verify", encode(t, verifyRequest(t, want)))
		var got row
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", want.ID, r.status, r.body)
		}
		got.Game = want.Game
		if got.Commitment != want.Commitment || got.Signature != want.Signature || got.MultiplierE4 != want.MultiplierE4 {
			t.Errorf("%s: got %+v", want.ID, got)
		}
		outcome := got.parameters()
		for name, value := range want.parameters() {
			if !reflect.DeepEqual(outcome[name], value) {
				t.Errorf("%s: %s is %v, want %v", want.ID, name, outcome[name], value)
			}
		}
		games[want.Game]++
	}
	for game := range inputs {
		if games[game] < 20 {
			t.Errorf("%d rows of %s", games[game], game)
		}
	}
}

func TestVerifyWithoutChipsShowsThePocket(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for _, want := range vectorRows(t) {
		if want.Game != "roulette" {
			continue
		}
		request := verifyRequest(t, want)
		request["roulette"] = map[string]any{"chips": []any{}}
		r := send(t, "POST", url+"/v1/verify", encode(t, request))
		var got row
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || got.Roulette["pocket"] != want.Roulette["pocket"] || got.MultiplierE4 != "0" {
			t.Fatalf("%s: %d %s", want.ID, r.status, r.body)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	zeros := strings.Repeat("0", 64)
	good := func() map[string]any {
		return map[string]any{
			"scheme": "originals-v1", "serverSeed": zeros, "clientSeed": "player", "nonce": 0,
			"mines": map[string]any{"mineCount": 3, "picks": []int{}},
		}
	}
	if r := send(t, "POST", url+"/v1/verify", encode(t, good())); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for _, c := range []struct {
		field string
		value any // nil leaves the field out
		names string
	}{
		{"scheme", nil, "scheme"}, {"scheme", "", "scheme"}, {"scheme", "originals-v2", "scheme"}, {"scheme", "Originals-v1", "scheme"},
		{"serverSeed", nil, "serverSeed"}, {"serverSeed", "", "serverSeed"}, {"serverSeed", zeros[1:], "serverSeed"},
		{"serverSeed", zeros + "0", "serverSeed"}, {"serverSeed", zeros + "\n", "serverSeed"}, {"serverSeed", "0x" + zeros[2:], "serverSeed"},
		{"serverSeed", strings.Repeat("A", 64), "serverSeed"}, {"serverSeed", " " + zeros[1:], "serverSeed"}, {"serverSeed", zeros + "\x00", "serverSeed"},
		{"clientSeed", nil, "clientSeed"}, {"clientSeed", "", "clientSeed"}, {"clientSeed", strings.Repeat("x", 65), "clientSeed"},
		{"clientSeed", "a b", "clientSeed"}, {"clientSeed", "é", "clientSeed"}, {"clientSeed", "a\n", "clientSeed"},
		{"nonce", nil, "nonce"}, {"nonce", uint32(1<<32 - 1), "nonce"}, {"nonce", -1, "nonce"}, {"nonce", "0", "nonce"},
		{"mines", nil, "dice"}, {"mines", map[string]any{}, "mineCount"}, {"mines", map[string]any{"mineCount": 0}, "mineCount"},
		{"mines", map[string]any{"mineCount": 25}, "mineCount"}, {"mines", map[string]any{"mineCount": 256}, "mineCount"},
		{"mines", map[string]any{"mineCount": 3, "picks": []int{25}}, "picks"}, {"mines", map[string]any{"mineCount": 3, "picks": []int{256}}, "picks"},
		{"mines", map[string]any{"mineCount": 3, "picks": []int{1, 1}}, "picks"}, {"mines", map[string]any{"mineCount": 3, "picks": make([]int, 26)}, "picks"},
	} {
		request := good()
		if request[c.field] = c.value; c.value == nil {
			delete(request, c.field)
		}
		r := send(t, "POST", url+"/v1/verify", encode(t, request))
		if _, why, metadata := failureOf(t, r); r.status != 400 || why != "INVALID_FIELD" || metadata["field"] != c.names {
			t.Errorf("%s %v: %d %s", c.field, c.value, r.status, r.body)
		}
	}
	for _, c := range []struct{ game, parameters, names string }{
		{"dice", `{"target":198,"direction":"OVER"}`, "target"}, {"dice", `{"target":9801,"direction":"UNDER"}`, "target"},
		{"dice", `{"target":5000}`, "direction"}, {"limbo", `{"targetE2":100}`, "targetE2"}, {"limbo", `{"targetE2":1000001}`, "targetE2"},
		{"roulette", `{"chips":[{"kind":"STRAIGHT","numbers":[37],"amount":"1"}]}`, "numbers"},
		{"roulette", `{"chips":[{"kind":"SPLIT","numbers":[2,1],"amount":"1"}]}`, "numbers"},
		{"roulette", `{"chips":[{"numbers":[2],"amount":"1"}]}`, "kind"}, {"roulette", `{"chips":[{"kind":"RED","amount":"0"}]}`, "amount"},
		{"roulette", `{"chips":[{"kind":"RED","amount":"9007199254740992"}]}`, "amount"},
	} {
		request := good()
		delete(request, "mines")
		request[c.game] = json.RawMessage(c.parameters)
		r := send(t, "POST", url+"/v1/verify", encode(t, request))
		if _, why, metadata := failureOf(t, r); r.status != 400 || why != "INVALID_FIELD" || metadata["field"] != c.names {
			t.Errorf("%s %s: %d %s", c.game, c.parameters, r.status, r.body)
		}
	}
}

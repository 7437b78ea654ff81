package gateway

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// foreignAnswer is what POST /v1/verify says of a bet of another house.
type foreignAnswer struct {
	Commitment, Signature, MultiplierE4 string

	Foreign map[string]json.RawMessage
}

func foreignRequest(scheme, serverSeed, clientSeed, nonce, bet string) string {
	request := `{"scheme":"` + scheme + `","serverSeed":"` + serverSeed + `"`
	if clientSeed != "" {
		request += `,"clientSeed":"` + clientSeed + `"`
	}
	if nonce != "" {
		request += `,"nonce":` + nonce
	}
	return request + `,"foreign":` + bet + `}`
}

func TestVerifyAgreesWithRealBetsOfOtherHouses(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	rows := 0
	for _, file := range []struct{ name, scheme, bet, outcome, of string }{
		{"stake_roulette.json", "stake", `{"game":"roulette"}`, "pocket", "pocket"},
		{"duel_dice.json", "duel.com", `{"game":"dice"}`, "roll", "result"},
		{"liqd_mines.json", "liqd", `{"game":"mines","mineCount":MINES}`, "mines", "mines_draw_order_1based"},
		{"stake_crash.json", "stake", `{"game":"crash","salt":"SALT"}`, "", ""},
	} {
		text, err := os.ReadFile("../../internal/vectors/foreign/" + file.name)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Vectors []struct{ Inputs, Expected map[string]json.RawMessage }
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for i, v := range document.Vectors {
			plain := func(name string) string { return strings.Trim(string(v.Inputs[name]), `"`) }
			bet := strings.NewReplacer("MINES", plain("mines"), "SALT", plain("salt")).Replace(file.bet)
			r := send(t, "POST", url+"/v1/verify", foreignRequest(file.scheme, plain("server_seed")+plain("game_hash"), plain("client_seed"), plain("nonce"), bet))
			var got foreignAnswer
			if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 {
				t.Fatalf("%s row %d: %d %s", file.name, i, r.status, r.body)
			}
			if want := plain("server_seed_hash"); got.Commitment != want || got.Signature != "" || got.MultiplierE4 != "0" {
				t.Errorf("%s row %d: %+v, want the commitment %s", file.name, i, got, want)
			}
			if want := compact(v.Expected[file.of]); compact(got.Foreign[file.outcome]) != want {
				t.Errorf("%s row %d: %s is %s, want %s", file.name, i, file.outcome, got.Foreign[file.outcome], want)
			}
			crash := strings.ReplaceAll(strings.Trim(string(v.Expected["crash"]), `"`), ".", "")
			if stated := strings.Trim(string(got.Foreign["crashE2"]), `"`); stated != crash {
				t.Errorf("%s row %d: crashE2 is %s, want %s", file.name, i, stated, crash)
			}
			rows++
		}
	}
	if rows != 33+4+20+13 {
		t.Errorf("%d rows", rows)
	}
}

// compact removes the white space of a list; what is absent is "".
func compact(raw json.RawMessage) string {
	return strings.Join(strings.Fields(string(raw)), "")
}

// TestEveryForeignValueHasAField: no house's outcome is lost on its way to an answer, and none of its parameters.
func TestEveryForeignValueHasAField(t *testing.T) {
	outcomes := (&originalsv1.ForeignOutcome{}).ProtoReflect().Descriptor().Fields()
	parameters := (&originalsv1.ForeignBet{}).ProtoReflect().Descriptor().Fields()
	for _, s := range foreign.Schemes() {
		for _, name := range s.Outcomes {
			if outcomes.ByJSONName(name) == nil {
				t.Errorf("%s: no field %s", s.Name, name)
			}
		}
		for _, p := range s.Parameters {
			if field := parameters.ByJSONName(p.Name); field == nil || field.Number() < firstParameter {
				t.Errorf("%s: no parameter %s", s.Name, p.Name)
			}
		}
	}
}

func TestVerifyOfAHighNonceOfAnotherHouse(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	r := send(t, "POST", url+"/v1/verify", foreignRequest("cloudbet", strings.Repeat("0", 64), "player", "", `{"game":"mines","mineCount":9,"nonce":"18446744073709551615"}`))
	var got foreignAnswer
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if string(got.Foreign["unconfirmed"]) != "true" || len(got.Foreign["notes"]) < 10 || got.Commitment != "c6fdd7a7f70862b36a26ccd14752268061e98103299b28fe7763bd9629926f4b" {
		t.Errorf("%s", r.body)
	}
}

func TestVerifyRefusesForeignBets(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	seed := strings.Repeat("0123456789abcdef", 4)
	mines := `{"game":"mines","mineCount":3}`
	for _, c := range []struct{ name, request, field string }{
		{"an unknown house", foreignRequest("bet365", seed, "x", "0", mines), "scheme"},
		{"our own scheme", foreignRequest("originals-v1", seed, "x", "0", mines), "scheme"},
		{"a house in capitals", foreignRequest("Stake", seed, "x", "0", mines), "scheme"},
		{"an unknown game", foreignRequest("stake", seed, "x", "0", `{"game":"poker"}`), "game"},
		{"no game", foreignRequest("stake", seed, "x", "0", `{}`), "game"},
		{"no version", foreignRequest("bustabit", seed, "", "", `{"game":"crash"}`), "version"},
		{"a version of nothing", foreignRequest("stake", seed, "x", "0", `{"game":"dice","version":"v1"}`), "version"},
		{"no parameter", foreignRequest("stake", seed, "x", "0", `{"game":"mines"}`), "mineCount"},
		{"too many mines", foreignRequest("stake", seed, "x", "0", `{"game":"mines","mineCount":25}`), "mineCount"},
		{"a parameter of another game", foreignRequest("stake", seed, "x", "0", `{"game":"dice","mineCount":3}`), "mineCount"},
		{"an unknown parameter", foreignRequest("stake", seed, "x", "0", `{"game":"dice","mines":3}`), "mines"},
		{"no client seed", foreignRequest("stake", seed, "", "0", mines), "clientSeed"},
		{"no nonce", foreignRequest("stake", seed, "x", "", mines), "nonce"},
		{"two nonces", foreignRequest("stake", seed, "x", "0", `{"game":"dice","nonce":"0"}`), "nonce"},
		{"a nonce of a chain", foreignRequest("bustabit", seed, "", "0", `{"game":"crash","version":"v2"}`), "nonce"},
		{"a short server seed", foreignRequest("stake", seed[:15], "x", "0", mines), "serverSeed"},
		{"no server seed", foreignRequest("stake", "", "x", "0", mines), "serverSeed"},
		{"upper-case bytes", foreignRequest("liqd", strings.ToUpper(seed[:32]), "x", "0", mines), "serverSeed"},
		{"white space", foreignRequest("stake", seed+" ", "x", "0", mines), "serverSeed"},
		{"a tile twice", foreignRequest("liqd", seed[:32], "x", "0", `{"game":"mines","mineCount":3,"picks":[1,1]}`), "picks"},
		{"null", foreignRequest("stake", seed, "x", "0", `null`), "foreign"},
	} {
		r := send(t, "POST", url+"/v1/verify", c.request)
		if _, why, metadata := failureOf(t, r); r.status != 400 || why != "INVALID_FIELD" || metadata["field"] != c.field {
			t.Errorf("%s: %d %s, want the field %s", c.name, r.status, r.body, c.field)
		}
	}
}

package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/money"
)

func TestExampleIsTheDefaultWhereItSaysSo(t *testing.T) {
	c, err := Parse([]byte(Example()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Currencies, Default().Currencies) {
		t.Errorf("currencies of the example\n%+v\nare not the default\n%+v", c.Currencies, Default().Currencies)
	}
	want := []Operator{{Name: "example-casino", Keys: []Key{
		{ID: "2026-01", File: "/etc/originals/example-casino.pem"},
		{JWKS: "https://id.example.com/.well-known/jwks.json"},
	}, Callback: &Callback{URL: "https://wallet.example.com/settlements", SecretFiles: []string{"/etc/originals/example-casino.whsec"}, TimeoutMS: 10_000}}}
	if !reflect.DeepEqual(c.Operators, want) {
		t.Errorf("operators %+v, want %+v", c.Operators, want)
	}
	if !reflect.DeepEqual(c.CORS.Origins, []string{"https://play.example.com"}) {
		t.Errorf("origins %q", c.CORS.Origins)
	}
}

// TestExampleShowsEveryKey walks the types, so that a new key cannot be
// forgotten in the example.
func TestExampleShowsEveryKey(t *testing.T) {
	seen := 0
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			seen++
			if key := typ.Field(i).Tag.Get("yaml"); key == "" || !strings.Contains(example, key) {
				t.Errorf("%s.%s: key %q is not in the example", typ.Name(), typ.Field(i).Name, key)
			}
			walk(typ.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[Config]())
	if seen < 20 {
		t.Errorf("%d keys walked", seen)
	}
}

func TestDefaultIsValid(t *testing.T) {
	if err := Default().validate(); err != nil {
		t.Error(err)
	}
	if len(Default().Operators) != 0 {
		t.Error("the default has an operator")
	}
	for code, exponent := range map[money.Currency]int{"FUN": 2, "USD": 2, "BTC": 8, "ETH": 9} {
		if got := Default().Exponent(code); got != exponent {
			t.Errorf("%s has exponent %d, want %d", code, got, exponent)
		}
	}
}

func TestLimitsOfAGame(t *testing.T) {
	c, err := Parse([]byte(`
currencies:
  - code: USD
    exponent: 2
    limits:
      default: {minStake: 1, maxStake: 2, maxPayout: 3}
      mines: {minStake: 10, maxStake: 20, maxPayout: 9_007_199_254_740_991}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range bet.Games {
		want := bet.Limits{MinStake: 1, MaxStake: 2, MaxPayout: 3}
		if g == bet.Mines {
			want = bet.Limits{MinStake: 10, MaxStake: 20, MaxPayout: 1<<53 - 1}
		}
		if got, ok := c.Limits(g, "USD"); !ok || got != want {
			t.Errorf("%s: %+v %v, want %+v", g, got, ok, want)
		}
	}
	if _, ok := c.Limits(bet.Dice, "FUN"); ok {
		t.Error("a currency that is not configured has limits: the list must replace the default")
	}
}

func TestEmptyFileIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "operators:\ncurrencies:\ncors:\n"} {
		c, err := Parse([]byte(text))
		if err != nil || !reflect.DeepEqual(c.Currencies, Default().Currencies) || len(c.Operators) != 0 {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

func TestRefusedWithLineAndKey(t *testing.T) {
	const usd = "currencies:\n  - code: USD\n    exponent: 2\n    limits:\n      default: {minStake: 1, maxStake: 2, maxPayout: 3}\n"
	operator := func(key string) string { return "operators:\n  - name: a\n    keys:\n      - " + key + "\n" }
	for _, test := range []struct{ name, text, line, key string }{
		{"unknown key", "cors:\n  orgins: []\n", "line 2", "orgins"},
		{"key in another case", "Operators: []\n", "line 1", "Operators"},
		{"duplicate key", "cors: {}\ncors: {}\n", "line 2", "cors"},
		{"duplicate inner key", operator("file: x\n        file: y"), "line 5", "file"},
		{"second document", "cors: {}\n---\ncors: {}\n", "line 3", "document"},
		{"no mapping", "- 1\n", "line 1", "mapping"},
		{"broken YAML", "cors: {\n", "line 1", ""},
		{"fraction", strings.Replace(usd, "maxStake: 2", "maxStake: 2.5", 1), "line 5", "currencies[0].limits.default.maxStake"},
		{"exponent form", strings.Replace(usd, "maxPayout: 3", "maxPayout: 1e3", 1), "line 5", "maxPayout"},
		{"text", strings.Replace(usd, "maxStake: 2", `maxStake: "2"`, 1), "line 5", "maxStake"},
		{"hexadecimal", strings.Replace(usd, "maxStake: 2", "maxStake: 0x2", 1), "line 5", "maxStake"},
		{"octal", strings.Replace(usd, "exponent: 2", "exponent: 010", 1), "line 3", "currencies[0].exponent"},
		{"negative", strings.Replace(usd, "minStake: 1", "minStake: -1", 1), "line 5", "minStake"},
		{"not a number", strings.Replace(usd, "minStake: 1", "minStake: .nan", 1), "line 5", ""},
		{"above 2^53-1", strings.Replace(usd, "maxPayout: 3", "maxPayout: 9007199254740992", 1), "line 5", "maxPayout"},
		{"above int64", strings.Replace(usd, "maxPayout: 3", "maxPayout: 99999999999999999999", 1), "line 5", ""},
		{"no value", strings.Replace(usd, "minStake: 1", "minStake: ~", 1), "line 5", "minStake"},
		{"zero stake", strings.Replace(usd, "minStake: 1", "minStake: 0", 1), "line 5", "minStake"},
		{"maximum below minimum", strings.Replace(usd, "minStake: 1", "minStake: 3", 1), "line 5", "maxStake"},
		{"payout not above stake", strings.Replace(usd, "maxPayout: 3", "maxPayout: 2", 1), "line 5", "maxPayout"},
		{"bad limits of a game", usd + "      dice: {minStake: 5, maxStake: 4, maxPayout: 9}\n", "line 6", "currencies[0].limits.dice.maxStake"},
		{"missing limit", strings.Replace(usd, ", maxPayout: 3", "", 1), "line 5", "maxPayout"},
		{"missing limits", "currencies:\n  - code: USD\n    exponent: 2\n", "line 2", "minStake"},
		{"missing exponent", strings.Replace(usd, "    exponent: 2\n", "", 1), "line 2", "exponent"},
		{"exponent 19", strings.Replace(usd, "exponent: 2", "exponent: 19", 1), "line 3", "exponent"},
		{"lower-case code", strings.Replace(usd, "USD", "usd", 1), "line 2", "currencies[0].code"},
		{"code twice", usd + strings.TrimPrefix(usd, "currencies:\n"), "line 6", "currencies[1].code"},
		{"no currencies", "currencies: []\n", "line 1", "currencies"},
		{"operator's name", "operators:\n  - name: Casino\n", "line 2", "operators[0].name"},
		{"operator twice", operator("file: x") + "  - name: a\n    keys: [{file: y}]\n", "line 5", "operators[1].name"},
		{"no keys", "operators:\n  - name: a\n", "line 2", "operators[0].keys"},
		{"seventeen keys", "operators:\n  - name: a\n    keys: [" + strings.Repeat("{file: x},", 17) + "]\n", "line 3", "operators[0].keys"},
		{"file and JWKS", operator("{file: x, jwks: https://y.example}"), "line 4", "operators[0].keys[0]"},
		{"neither", operator("{id: x}"), "line 4", "operators[0].keys[0]"},
		{"plain http", operator("jwks: http://x.example"), "line 4", "operators[0].keys[0].jwks"},
		{"password in the address", operator("jwks: https://u:p@x.example"), "line 4", "jwks"},
		{"id of a JWKS", operator("{jwks: https://x.example, id: y}"), "line 4", "operators[0].keys[0].id"},
		{"key of two operators", operator("file: x") + "  - name: b\n    keys: [{file: x}]\n", "line 6", "operators[1].keys[0]"},
		{"callback over plain http", operator("file: x") + "    callback: {url: http://wallet.example, secretFiles: [s]}\n", "line 5", "operators[0].callback.url"},
		{"callback without a secret", operator("file: x") + "    callback: {url: https://wallet.example}\n", "line 5", "operators[0].callback.secretFiles"},
		{"callback with three secrets", operator("file: x") + "    callback: {url: https://wallet.example, secretFiles: [a, b, c]}\n", "line 5", "secretFiles"},
		{"callback that waits an hour", operator("file: x") + "    callback: {url: 'http://127.0.0.1:1', secretFiles: [a], timeoutMs: 3600000}\n", "line 5", "operators[0].callback.timeoutMs"},
		{"wildcard origin", "cors:\n  origins: ['*']\n", "line 2", "cors.origins[0]"},
		{"wildcard host", "cors:\n  origins: ['https://*.example.com']\n", "line 2", "cors.origins[0]"},
		{"origin with a path", "cors:\n  origins: [https://a.example/]\n", "line 2", "cors.origins[0]"},
		{"null origin", "cors:\n  origins: ['null']\n", "line 2", "cors.origins[0]"},
		{"upper-case origin", "cors:\n  origins: [https://A.example]\n", "line 2", "cors.origins[0]"},
		{"alias", "cors:\n  origins: &a []\n", "line 2", "anchors"},
	} {
		_, err := Parse([]byte(test.text))
		if err == nil {
			t.Errorf("%s: accepted", test.name)
			continue
		}
		if !strings.Contains(err.Error(), test.line+":") || !strings.Contains(err.Error(), test.key) {
			t.Errorf("%s: %q does not name %q and %q", test.name, err, test.line, test.key)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("cors: {orgins: []}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
	if err := os.WriteFile(path, []byte(Example()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Error(err)
	}
	if _, err := Load(path + "x"); err == nil {
		t.Error("a missing file was loaded")
	}
}

func TestUnknownEnv(t *testing.T) {
	known := []string{"ORIGINALS_HTTP", "ORIGINALS_REDIS"}
	if err := UnknownEnv("ORIGINALS_", known, []string{"ORIGINALS_HTTP=:1", "HOME=/", "ORIGINALS_REDIS=", "XORIGINALS_A=1"}); err != nil {
		t.Error(err)
	}
	err := UnknownEnv("ORIGINALS_", known, []string{"ORIGINALS_REDS=redis://secret", "ORIGINALS_A=1", "ORIGINALS_HTTP=:1"})
	if err == nil || !strings.Contains(err.Error(), "ORIGINALS_A, ORIGINALS_REDS") {
		t.Errorf("error %v", err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("the value is shown")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Example())
	f.Add("currencies:\n- code: USD\n  exponent: 010\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse([]byte(text))
		if err != nil {
			return
		}
		if err := c.validate(); err != nil {
			t.Errorf("accepted, and invalid: %v", err)
		}
	})
}

package openapi

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/reason"
)

// parsed is the part of the document that the tests look at.
type parsed struct {
	Info struct{ Title, Version string }
	Tags []struct{ Name string }

	SecurityDefinitions map[string]struct{ Type, In, Name string }
	Security            []map[string][]string

	Paths       map[string]map[string]json.RawMessage
	Definitions map[string]json.RawMessage
}

func document(t *testing.T) (parsed, string) {
	t.Helper()
	text, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	var p parsed
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return p, string(text)
}

func TestTitleVersionAndSecurity(t *testing.T) {
	p, _ := document(t)
	if p.Info.Title != "Open Originals" || p.Info.Version != "1" {
		t.Errorf("info %+v", p.Info)
	}
	bearer := p.SecurityDefinitions["Bearer"]
	if bearer.Type != "apiKey" || bearer.In != "header" || bearer.Name != "Authorization" {
		t.Errorf("security scheme %+v", bearer)
	}
	if len(p.Security) != 1 || p.Security[0]["Bearer"] == nil {
		t.Errorf("security %v", p.Security)
	}
}

func TestVaultIsNotInTheDocument(t *testing.T) {
	_, text := document(t)
	if i := strings.Index(strings.ToLower(text), "vault"); i >= 0 {
		t.Errorf("the private API shows: %q", text[i:min(len(text), i+40)])
	}
}

func TestEveryRouteIsThere(t *testing.T) {
	p, _ := document(t)
	config, err := os.ReadFile("../gateway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	routes := regexp.MustCompile(`(?m)^ +(get|post): (\S+)$`).FindAllStringSubmatch(string(config), -1)
	if len(routes) < 15 {
		t.Fatalf("only %d routes read from gateway.yaml", len(routes))
	}
	want := map[string]string{
		"/v1/seed-pairs/{seedPairId}/evidence": "get",
		"/v1/duels/{duelId}:watch":             "get",
		"/v1/crash/tables/{table}:watch":       "get",
		"/v1/wallet/settlements:stream":        "get",
		"/openapi.json":                        "get",
		"/evidence.schema.json":                "get",
		"/duel.schema.json":                    "get",
	}
	camel := strings.NewReplacer("{seed_pair_id}", "{seedPairId}", "{round_id}", "{roundId}", "{duel_id}", "{duelId}", "{bet_id}", "{betId}",
		"{transfer_id}", "{transferId}", "{settlement_id}", "{settlementId}", "{player_id}", "{playerId}")
	for _, r := range routes {
		want[camel.Replace(r[2])] = r[1]
	}
	for path, method := range want {
		if p.Paths[path][method] == nil {
			t.Errorf("%s %s is not documented", method, path)
		}
	}
	if len(p.Paths) != len(want) {
		t.Errorf("%d paths documented, %d served", len(p.Paths), len(want))
	}
}

// TestEveryCallSaysWhatItDoes: a name and its fields alone explain nothing.
func TestEveryCallSaysWhatItDoes(t *testing.T) {
	p, _ := document(t)
	n := 0
	for path, methods := range p.Paths {
		for method, raw := range methods {
			n++
			var call struct{ Summary, Description string }
			if err := json.Unmarshal(raw, &call); err != nil || call.Summary+call.Description == "" {
				t.Errorf("%s %s has no summary: give its rpc a comment (%v)", method, path, err)
			}
		}
	}
	if n < 50 {
		t.Errorf("%d calls, fewer than there are", n)
	}
}

func TestReferencesMeetDefinitionsBothWays(t *testing.T) {
	p, text := document(t)
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"#/definitions/([^"]+)"`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
		if p.Definitions[m[1]] == nil {
			t.Errorf("%s is not defined", m[1])
		}
	}
	for name := range p.Definitions {
		if !used[name] {
			t.Errorf("%s is used nowhere", name)
		}
	}
}

func TestEveryReasonIsDocumented(t *testing.T) {
	p, _ := document(t)
	var info struct {
		Properties struct {
			Reason struct {
				Enum        []string
				Description string
			}
		}
	}
	if err := json.Unmarshal(p.Definitions["rpcErrorInfo"], &info); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range reason.All() {
		want = append(want, string(r))
		if named := strings.Contains(info.Properties.Reason.Description, string(r)); named == r.Known() {
			t.Errorf("%s: known %v, but named among the unknown: %v", r, r.Known(), named)
		}
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(info.Properties.Reason.Enum))
	if !slices.Equal(got, want) {
		t.Errorf("reasons\n got %v\nwant %v", got, want)
	}
}

func TestDocumentIsTheSameEachTime(t *testing.T) {
	_, first := document(t)
	_, second := document(t)
	if first != second {
		t.Error("two documents differ")
	}
}

func TestNamesAreLowerCamelCase(t *testing.T) {
	p, _ := document(t)
	for name, text := range p.Definitions {
		var d struct {
			Properties map[string]json.RawMessage
			Enum       []string
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for property := range d.Properties {
			if strings.Contains(property, "_") {
				t.Errorf("%s.%s is not the JSON name", name, property)
			}
		}
		for _, value := range d.Enum {
			if strings.HasSuffix(value, "UNSPECIFIED") {
				t.Errorf("%s offers %s, which is refused", name, value)
			}
		}
	}
}

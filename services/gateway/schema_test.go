package gateway

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// schema reads the part of JSON Schema that ours uses; a keyword that it does
// not know fails the test.
type schema struct {
	t    *testing.T
	defs map[string]any
}

func readSchema(t *testing.T) (schema, map[string]any) {
	t.Helper()
	return parseSchema(t, evidenceSchema)
}

func parseSchema(t *testing.T, text []byte) (schema, map[string]any) {
	t.Helper()
	root := plain(t, text).(map[string]any)
	return schema{t, root["$defs"].(map[string]any)}, root
}

// check returns what is wrong with v, or nothing.
func (s schema) check(rules map[string]any, v any, at string) error {
	for keyword, rule := range rules {
		if err := s.keyword(keyword, rule, rules, v, at); err != nil {
			return err
		}
	}
	return nil
}

func (s schema) keyword(keyword string, rule any, rules map[string]any, v any, at string) error {
	object, _ := v.(map[string]any)
	list, _ := v.([]any)
	bad := fmt.Errorf("%s: %v is against %s %v", at, v, keyword, rule)
	switch keyword {
	case "$schema", "$defs", "title", "description":
	case "$ref":
		return s.check(s.defs[strings.TrimPrefix(rule.(string), "#/$defs/")].(map[string]any), v, at)
	case "type":
		if typeOf(v) != rule {
			return bad
		}
	case "const":
		if v != rule {
			return bad
		}
	case "enum":
		for _, one := range rule.([]any) {
			if v == one {
				return nil
			}
		}
		return bad
	case "pattern":
		if text, ok := v.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(text) {
			return bad
		}
	case "minimum", "maximum":
		n, ok := v.(json.Number)
		bound, _ := rule.(json.Number).Int64()
		got, err := n.Int64()
		if ok && (err != nil || keyword == "minimum" && got < bound || keyword == "maximum" && got > bound) {
			return bad
		}
	case "minItems", "maxItems":
		bound, _ := rule.(json.Number).Int64()
		if list != nil && (keyword == "minItems" && len(list) < int(bound) || keyword == "maxItems" && len(list) > int(bound)) {
			return bad
		}
	case "uniqueItems":
		for i := range list {
			for j := range i {
				if reflect.DeepEqual(list[i], list[j]) {
					return bad
				}
			}
		}
	case "items":
		for i, item := range list {
			if err := s.check(rule.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case "required":
		for _, name := range rule.([]any) {
			if _, ok := object[name.(string)]; !ok {
				return bad
			}
		}
	case "properties":
		for name, inner := range rule.(map[string]any) {
			if value, ok := object[name]; ok {
				if err := s.check(inner.(map[string]any), value, at+"."+name); err != nil {
					return err
				}
			}
		}
	case "additionalProperties":
		for name := range object {
			if _, ok := rules["properties"].(map[string]any)[name]; !ok {
				return bad
			}
		}
	case "oneOf":
		matches := 0
		for _, one := range rule.([]any) {
			if s.check(one.(map[string]any), v, at) == nil {
				matches++
			}
		}
		if matches != 1 {
			return bad
		}
	default:
		s.t.Fatalf("keyword %s", keyword)
	}
	return nil
}

func typeOf(v any) string {
	switch n := v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if _, err := n.Int64(); err == nil {
			return "integer"
		}
		return "number"
	}
	return "null"
}

func TestSchemaTakesEveryGoodDocument(t *testing.T) {
	s, root := readSchema(t)
	files := evidenceFiles(t, true)
	if len(files) < 5 {
		t.Fatalf("only %d documents", len(files))
	}
	for name, text := range files {
		if err := s.check(root, plain(t, text), name); err != nil {
			t.Error(err)
		}
	}
}

// TestSchemaRefusesWhatItCanSee counts: a schema sees forms, not fairness, and
// not what a JSON reader hides, such as a key that stands there twice.
func TestSchemaRefusesWhatItCanSee(t *testing.T) {
	s, root := readSchema(t)
	refused, forms := 0, 0
	for name, text := range evidenceFiles(t, false) {
		if !strings.HasPrefix(name, "format-") || !json.Valid(text) || !utf8.Valid(text) {
			continue
		}
		forms++
		if err := s.check(root, plain(t, text), name); err != nil {
			refused++
			continue
		}
		t.Logf("%s passes the schema", name)
	}
	if refused < 50 || refused*10 < forms*7 {
		t.Errorf("%d of %d broken forms refused", refused, forms)
	}
}

// TestSchemaNamesTheFieldsOfTheContract holds the schema to the messages: all
// fields, but the balance, which only answers to bets have.
func TestSchemaNamesTheFieldsOfTheContract(t *testing.T) {
	s, _ := readSchema(t)
	for name, m := range map[string]protoreflect.ProtoMessage{
		"seedPair": &originalsv1.SeedPair{}, "round": &originalsv1.Round{}, "money": &originalsv1.Money{}, "dice": &originalsv1.Dice{},
		"limbo": &originalsv1.Limbo{}, "roulette": &originalsv1.Roulette{}, "chip": &originalsv1.Chip{}, "mines": &originalsv1.Mines{},
	} {
		properties := s.defs[name].(map[string]any)["properties"].(map[string]any)
		count := 0
		for _, field := range fieldsOf(m) {
			if field == "balance" || field == "crash" { // in no evidence of a seed pair
				continue
			}
			count++
			if properties[field] == nil {
				t.Errorf("%s.%s is missing", name, field)
			}
		}
		if count != len(properties) {
			t.Errorf("%s has %d fields, its schema %d", name, count, len(properties))
		}
	}
}

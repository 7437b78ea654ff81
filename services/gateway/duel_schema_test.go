package gateway

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const duelVectors = "../../internal/vectors/duel"

// duelFiles returns the documents of each verdict; the broken ones are those of which a JSON reader sees all.
func duelFiles(t *testing.T) (usable, broken map[string][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(duelVectors, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []struct {
		File, Verdict string
		LastNonce     *int
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	usable, broken = map[string][]byte{}, map[string][]byte{}
	for _, row := range index {
		document, err := os.ReadFile(filepath.Join(duelVectors, row.File))
		switch {
		case err != nil:
			t.Fatal(err)
		case row.Verdict != "UNUSABLE":
			usable[row.File] = document
		case row.LastNonce == nil && json.Valid(document) && utf8.Valid(document) && row.File != "format-key-twice.json":
			broken[row.File] = document
		}
	}
	if len(usable) < 60 || len(broken) < 25 {
		t.Fatalf("%d usable documents and %d broken ones", len(usable), len(broken))
	}
	return usable, broken
}

// TestDuelSchemaAgreesWithTheVerifiers: what they can judge it takes, and what they cannot it refuses.
func TestDuelSchemaAgreesWithTheVerifiers(t *testing.T) {
	s, root := parseSchema(t, duelSchema)
	usable, broken := duelFiles(t)
	for name, text := range usable {
		err := s.check(root, plain(t, text), name)
		if twice := name == "seats-forfeited-twice.json"; (err != nil) != twice { // which a schema can see
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range broken {
		if s.check(root, plain(t, text), name) == nil {
			t.Errorf("%s passes the schema", name)
		}
	}
}

// TestDuelSchemaNamesTheFieldsOfTheContract: all fields, but the times that a duel has until its end.
func TestDuelSchemaNamesTheFieldsOfTheContract(t *testing.T) {
	s, root := parseSchema(t, duelSchema)
	for name, m := range map[string]protoreflect.ProtoMessage{"": &originalsv1.Duel{}, "seat": &originalsv1.DuelSeat{}, "roll": &originalsv1.DuelRoll{}} {
		rules := root
		if name != "" {
			rules = s.defs[name].(map[string]any)
		}
		properties := rules["properties"].(map[string]any)
		count := 0
		for _, field := range fieldsOf(m) {
			if field == "commitDeadline" || field == "seedDeadline" || field == "expireTime" {
				continue
			}
			count++
			if properties[field] == nil {
				t.Errorf("%s.%s is missing", name, field)
			}
		}
		if count != len(properties) {
			t.Errorf("%q has %d fields, its schema %d", name, count, len(properties))
		}
	}
}

// Package openapi holds the OpenAPI document of the REST API; it imports the
// standard library only.
//
// Most of it is generated from the protocol definitions. served.json, written
// by hand, adds what they do not show: the routes that the gateway serves
// itself, and the form of errors.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
)

//go:embed originals.swagger.json
var generated []byte

//go:embed served.json
var served []byte

// parts are the sections of a document that served.json adds to.
type parts struct {
	Paths       map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// Document returns the OpenAPI 2 description of the whole REST API, in JSON.
// It fails only if one of the two embedded files is not JSON of that form.
func Document() ([]byte, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(generated, &whole); err != nil {
		return nil, fmt.Errorf("openapi: generated document: %w", err)
	}
	var base, added parts
	if err := json.Unmarshal(generated, &base); err != nil {
		return nil, fmt.Errorf("openapi: generated document: %w", err)
	}
	if err := json.Unmarshal(served, &added); err != nil {
		return nil, fmt.Errorf("openapi: served.json: %w", err)
	}
	maps.Copy(base.Paths, added.Paths)
	maps.Copy(base.Definitions, added.Definitions)
	delete(base.Definitions, "protobufAny") // was in the generated form of errors only
	var err error
	if whole["paths"], err = json.Marshal(base.Paths); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	if whole["definitions"], err = json.Marshal(base.Definitions); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return json.MarshalIndent(whole, "", "  ")
}

// Package openapi holds the OpenAPI document that is generated from the
// protocol definitions; it imports nothing.
package openapi

import _ "embed"

// Document is the OpenAPI 2 description of the REST API, in JSON.
//
//go:embed originals.swagger.json
var Document []byte

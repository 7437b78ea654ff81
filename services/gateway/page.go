package gateway

import (
	_ "embed"
	"fmt"
	"net/http"

	"github.com/openoriginals/originals/proto/openapi"
)

// evidenceSchema is the JSON Schema of an evidence document.
//
//go:embed evidence.schema.json
var evidenceSchema []byte

// duelSchema is the JSON Schema of a duel that has ended.
//
//go:embed duel.schema.json
var duelSchema []byte

const index = `Open Originals: dice, limbo, roulette, mines, crash and dice for two seats that you can check.

  /openapi.json           every call, its fields and its errors
  /evidence.schema.json   the JSON Schema of an evidence document
  /duel.schema.json       the JSON Schema of a duel that has ended
  /v1/games               rules, limits, paytables and exact return
  /v1/crash/tables        crash tables, with the terminals and salts of their chains

Check a bet without trusting this server:  originals verify --help
`

// pages are the paths that no service answers.
type pages map[string]http.Handler

func newPages(admin http.Handler) (pages, error) {
	document, err := openapi.Document()
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	p := pages{
		"/":                     page{"text/plain; charset=utf-8", []byte(index)},
		"/openapi.json":         page{jsonType, document},
		"/evidence.schema.json": page{"application/schema+json", evidenceSchema},
		"/duel.schema.json":     page{"application/schema+json", duelSchema},
	}
	if admin == nil {
		return p, nil
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		p[path] = admin
	}
	return p, nil
}

// page is a fixed text.
type page struct {
	contentType string
	text        []byte
}

func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuseMethod(w, r)
		return
	}
	w.Header().Set("Content-Type", p.contentType)
	// A client that went away cannot be told.
	_, _ = w.Write(p.text)
}

// Package vectors holds the shared test vectors as embedded files; it imports the standard library only, and nothing
// but tests may import it.
//
// The rows of originals-v1.json, duel-v1.json and crash-v1.json and the documents of evidence, duel and crashrounds are made
// by the reference verifiers in scripts/verify, which are written by hand from the specification; foreign and crash hold rows
// from outside of this project. Go has to agree with all of them, and never makes one.
package vectors

import "embed"

// Files holds originals-v1.json, duel-v1.json, crash-v1.json and the folders evidence, duel, crashrounds, foreign and crash,
// under these names.
//
//go:embed originals-v1.json duel-v1.json crash-v1.json evidence duel crashrounds foreign crash
var Files embed.FS

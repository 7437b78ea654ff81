// Package verify holds the reference verifiers, js/verify.js and python/verify.py, and the Go test that runs them; it must never
// be imported. The verifiers are written by hand from the specification and share nothing with the Go code: the vectors of
// internal/vectors come from them, so that a fault of the Go code cannot confirm itself.
package verify

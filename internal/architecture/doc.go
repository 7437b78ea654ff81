// Package architecture holds only a test: it enforces which packages may import which, over `go list`, so that a plain
// `go test` finds a wrong dependency. Nothing imports it.
package architecture

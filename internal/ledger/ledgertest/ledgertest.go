// Package ledgertest holds the conformance suite that every ledger.Store
// passes, and a wrapper that injects faults. It must never be imported by
// anything but tests.
package ledgertest

import (
	"testing"

	"github.com/openoriginals/originals/internal/ledger"
)

// Backend is a store under test, with what the suite does behind its back.
type Backend struct {
	Store ledger.Store

	// SetNonce moves the next nonce of a player's active pair, so that the cap
	// can be reached.
	SetNonce func(t testing.TB, p ledger.Player, nonce uint32)

	// Replace makes the store one that may have lost writes: it is another one
	// from now on, with the same data.
	Replace func(t testing.TB)
}

type check struct {
	name string
	run  func(t *testing.T, b Backend)
}

// Run runs the suite. Every check has players and operators of its own, so one
// store serves all of them.
func Run(t *testing.T, b Backend) {
	run(t, b, pairChecks, betChecks, refusalChecks, minesChecks, moneyChecks, listChecks, fenceChecks, raceChecks, modelChecks, faultChecks)
}

// RunFence runs the part about a store that was replaced.
func RunFence(t *testing.T, b Backend) { run(t, b, fenceChecks) }

func run(t *testing.T, b Backend, groups ...[]check) {
	for _, group := range groups {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { c.run(t, b) })
		}
	}
}

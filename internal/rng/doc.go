// Package rng holds server seeds, commitments, client seeds, nonces, signatures and the streams that outcomes are drawn
// from; it imports the standard library only, and never a clock, a network, a logger, a store or math/rand.
//
// It implements the scheme originals-v1, which SPEC.md beside this file fixes byte by byte. The order of use is
//
//	ServerSeed -> Commitment            shown to the player first
//	ServerSeed + ClientSeed + nonce -> Signature -> Stream -> uniform integers -> outcome
//
// crypto/rand is read in NewServerSeed, NewLink and NewSalt alone. Everything else is a pure function of its arguments, so that playing and
// verifying run the same code. The secrets, ServerSeed, Signature, Link and CrashDigest, cannot be printed, logged or encoded: they
// leave the package only through their Reveal functions.
package rng

// Scheme is the permanent name of everything in this package together with the mapping of each game. A released scheme
// is never edited; a change is a new name.
const Scheme = "originals-v1"

// Package evidence verifies what a house hands out when a seed pair has ended, and single rounds; it imports the pure
// core (rng, money, game, bet, mistake), the standard library and a permutation of circl, and never a network, a clock, a store or protobuf.
//
// An evidence document is one JSON object, format originals-evidence-v1: the revealed seed pair and its rounds, one for
// every nonce from 0. Verify reads it as a stream, on all cores, and holds 16 bytes a round besides a few megabytes.
// What each check means stands in the report. The document comes from the house and proves only that it agrees with itself:
// what the player kept, a commitment and the last nonce seen, is given in Options.
//
// Reading is strict: an unknown, missing, repeated or differently cased key, a number where a decimal string belongs, or
// anything after the end makes the document unusable, which is a *FormatError and no verdict.
//
// The other document is a duel that has ended, format originals-duel-v1; Verify tells the two apart by their format.
// VerifyCrash reads what the API answers about a crash table, which has no format of its own; IsCrash recognises it.
package evidence

// Format is the name of the document that this package reads.
const Format = "originals-evidence-v1"

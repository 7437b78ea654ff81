// Package foreign holds the published arithmetic of other houses, so that a player can check their bets with the same
// tool; it imports the standard library, internal/game, internal/mistake and internal/rng only, and never a clock, a
// network, a logger, a store or randomness. Nothing here is ever used for play.
//
// There is one small file a house. Each scheme has a permanent name, such as stake-mines, and a doc comment with its
// formula and where it was published. In those formulas w is the first big-endian uint32 of a digest, H(key, msg) is
// HMAC-SHA256, "text" means the characters as given, byte for byte, never trimmed or folded, "bytes" means hex-decoded,
// E = 2^52, and r is the first 13 hex digits of a digest as an integer. Results are in hundredths where a name ends in
// E2. All arithmetic is in integers, except in betkyo.go: that house computes in doubles, so its verifier has to.
package foreign

// Package roulette holds the rules of single-zero roulette: the 157 legal chips, what each returns, and a bet's compact
// binary form. It imports only internal/rng, internal/money, internal/game and the standard library, never a clock, a
// network or a logger.
package roulette

// Package game holds what all games share, the error for a bad parameter; it imports the standard library only, and
// never a clock, a network, a logger, randomness or floating point. The games are its sub-packages.
package game

// FieldError says that one parameter of a bet is not acceptable. Nothing has happened when it is returned.
type FieldError struct {
	Field   string // the parameter's name in JSON: target, direction, targetE2, chips, kind, numbers, amount, mineCount, tile
	Problem string // what is wrong with it, for people
}

// Error returns the field and the problem.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

package foreign

// primedice is the house primedice.com, which runs on the engine of stake: the formulas are the same, under a name of
// its own.
//
// Published on primedice.com/provably-fair. The seed pairs from before 2019 follow another scheme, which is not here.
var primedice = House{
	Name:       "primedice",
	Commitment: "SHA-256 of the server seed's text",
	Source:     "primedice.com/provably-fair",
	Schemes:    []*Scheme{seedPairScheme("primedice", "dice", stakeDice, 8, 0, "rollE2")},
}

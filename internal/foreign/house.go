package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openoriginals/originals/internal/game"
)

// House is one house whose bets can be checked.
type House struct {
	Name       string
	Commitment string // what it shows before a bet, in words
	Source     string // where its arithmetic was published
	Schemes    []*Scheme
}

// Scheme is the arithmetic of one game of a house.
type Scheme struct {
	Name       string // permanent, such as stake-mines
	House      string
	Game       string // such as mines
	Version    string // of several schemes of one game, such as v2; else empty
	Parameters []Parameter
	Outcomes   []string // the names of the values that it can give
	// Reproduced counts the published outcomes in our vectors that this code gives again, and Real those of them that
	// were bets or rounds with money, not answers of a house's calculator or of a test.
	Reproduced, Real int

	Chain *Chain // of schemes whose server seed is a game hash: how it leads to the game before

	seed       seedForm
	hasClient  bool
	hasNonce   bool
	commitment func(serverSeed string) string // nil when the house shows none for a single round
	derive     func(*Deriver, *Input, *Outcome) error
}

// Parameter is one input of a scheme beside seeds and nonce.
type Parameter struct {
	Name     string
	Usage    string
	Required bool
}

// houses is every house, in the order of the list.
var houses = []House{stake, primedice, betkyo, cloudbet, dicechess, bustabit, bcgame, duelCom, liqd}

// Houses returns every house. The caller must not change it.
func Houses() []House { return houses }

// Schemes returns every scheme of every house, in the order of the list.
func Schemes() (all []*Scheme) {
	for _, h := range houses {
		all = append(all, h.Schemes...)
	}
	return all
}

// Find returns the scheme of a house's game. Of a game with several versions one has to be named. The error is a
// *game.FieldError for `house`, `game` or `version`.
func Find(house, gameName, version string) (*Scheme, error) {
	at := slices.IndexFunc(houses, func(h House) bool { return h.Name == house })
	if at < 0 {
		return nil, &game.FieldError{Field: "house", Problem: fmt.Sprintf("must be one of %s", strings.Join(HouseNames(), ", "))}
	}
	var versions []string
	for _, s := range houses[at].Schemes {
		if s.Game != gameName {
			continue
		}
		if s.Version == version {
			return s, nil
		}
		versions = append(versions, s.Version)
	}
	switch {
	case versions == nil:
		return nil, &game.FieldError{Field: "game", Problem: fmt.Sprintf("must be one of %s for %s", strings.Join(houses[at].Games(), ", "), house)}
	case versions[0] == "":
		return nil, &game.FieldError{Field: "version", Problem: "is for games with several versions only"}
	default:
		return nil, &game.FieldError{Field: "version", Problem: "must be one of " + strings.Join(versions, ", ")}
	}
}

// Versions returns every scheme of a house's game, none when there is no such game.
func Versions(house, gameName string) (all []*Scheme) {
	for _, s := range Schemes() {
		if s.House == house && s.Game == gameName {
			all = append(all, s)
		}
	}
	return all
}

// HouseNames returns the name of every house.
func HouseNames() (names []string) {
	for _, h := range houses {
		names = append(names, h.Name)
	}
	return names
}

// Games returns the games of a house, each once.
func (h House) Games() (names []string) {
	for _, s := range h.Schemes {
		if !slices.Contains(names, s.Game) {
			names = append(names, s.Game)
		}
	}
	return names
}

// Reproduced adds up the published outcomes that our vectors hold of this house, and the real bets among them.
func (h House) Reproduced() (outcomes, realBets int) {
	for _, s := range h.Schemes {
		outcomes += s.Reproduced
		realBets += s.Real
	}
	return outcomes, realBets
}

// ServerSeedForm says for people what a server seed, or the hash of a game, looks like.
func (s *Scheme) ServerSeedForm() string { return s.seed.words() }

// NeedsClientSeed reports whether the scheme has a client seed.
func (s *Scheme) NeedsClientSeed() bool { return s.hasClient }

// NeedsNonce reports whether the scheme counts bets by a nonce.
func (s *Scheme) NeedsNonce() bool { return s.hasNonce }

// Commitment returns what the house showed before the bet, for a server seed that Validate accepts. It is empty for
// schemes that commit to a whole chain of rounds: those are checked by walking it.
func (s *Scheme) Commitment(serverSeed string) string {
	if s.commitment == nil {
		return ""
	}
	return s.commitment(serverSeed)
}

// Knows reports whether the scheme has a parameter of this name.
func (s *Scheme) Knows(name string) bool {
	return slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == name })
}

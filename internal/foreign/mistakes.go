package foreign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/mistake"
)

// explainCommitment names the usual mistake behind a server seed that does not hash to the commitment.
func (c *Claim) explainCommitment() (m mistake.Mistake, words string) {
	seed, wanted := c.Input.ServerSeed, c.Commitment
	opens := func(text string) bool {
		return c.Scheme.seed.problem(text) == "" && c.Scheme.Commitment(text) == wanted
	}
	switch {
	case seed == wanted:
		return mistake.HashForServerSeed, "; the server seed given is the commitment itself: a hash was pasted in place of the server seed"
	case c.Scheme.Commitment(wanted) == seed:
		return mistake.CommitmentForSeed, "; the two are in each other's place: the commitment given hashes to the server seed given"
	case opens(c.Input.ClientSeed):
		return mistake.SeedsSwapped, "; the client seed hashes to it: client seed and server seed are swapped"
	case opens(strings.ToLower(seed)):
		return mistake.UpperCaseHex, "; in lower case it hashes to the commitment: upper-case hex is another text"
	}
	for _, s := range Schemes() {
		if s.House != c.Scheme.House && s.commitment != nil && s.seed.problem(seed) == "" && s.Commitment(seed) == wanted {
			return mistake.OtherHouse, fmt.Sprintf("; by the rule of %s (%s) it does: a bet of another house", s.House, ruleOf(s.House))
		}
	}
	return mistake.OtherSeedPair, "; the server seed of another seed pair"
}

func ruleOf(house string) string {
	return houses[slices.IndexFunc(houses, func(h House) bool { return h.Name == house })].Commitment
}

// explain tries the usual mistakes that would explain a stated outcome, and returns the first in words.
func (c *Claim) explain(right Value, stated Given) (m mistake.Mistake, words string) {
	if right.Name == "mines" && sameTiles(right.Text(), stated.Text, 1) {
		return mistake.TileNumbering, " (the same tiles counted from 1)"
	}
	if right.Name == "mines" && sameTiles(right.Text(), stated.Text, -1) {
		return mistake.TileNumbering, " (the same tiles counted from 0)"
	}
	if words := c.explainNonce(stated); words != "" {
		return mistake.NonceOffByOne, words
	}
	in := c.Input
	in.ServerSeed, in.ClientSeed = in.ClientSeed, in.ServerSeed
	if gives(c.Scheme, in, stated) {
		return mistake.SeedsSwapped, " (client seed and server seed are swapped)"
	}
	if in = c.Input; in.ServerSeed != strings.ToLower(in.ServerSeed) {
		in.ServerSeed = strings.ToLower(in.ServerSeed)
		if gives(c.Scheme, in, stated) {
			return mistake.UpperCaseHex, " (the server seed in lower case would give it: upper-case hex is another text)"
		}
	}
	if in = c.Input; in.ClientSeed != strings.TrimSpace(in.ClientSeed) {
		in.ClientSeed = strings.TrimSpace(in.ClientSeed)
		if gives(c.Scheme, in, stated) {
			return mistake.StrayWhiteSpace, " (without the stray white space around the client seed it would be right)"
		}
	}
	if others := OtherHouses(c.Scheme, c.Scheme.Game, c.Input, stated); len(others) > 0 {
		return mistake.OtherHouse, fmt.Sprintf(" (%s would give it: is it a bet of another house?)", strings.Join(others, " and "))
	}
	if c.Commitment != "" && c.Scheme.commitment != nil && c.Scheme.Commitment(c.Input.ServerSeed) != c.Commitment {
		return mistake.OtherSeedPair, " (the server seed belongs to another seed pair)"
	}
	return "", ""
}

func (c *Claim) explainNonce(stated Given) string {
	nonce, err := strconv.ParseUint(c.Input.Nonce, 10, 64)
	if err != nil {
		return ""
	}
	var neighbours []uint64
	if nonce > 0 {
		neighbours = append(neighbours, nonce-1)
	}
	if nonce+1 > 0 { // 2^64-1 has no next
		neighbours = append(neighbours, nonce+1)
	}
	for _, other := range neighbours {
		in := c.Input
		in.Nonce = strconv.FormatUint(other, 10)
		if gives(c.Scheme, in, stated) {
			return fmt.Sprintf(" (nonce %d would give it: is the nonce off by one?)", other)
		}
	}
	return ""
}

// gives reports whether a scheme gives the stated outcome.
func gives(s *Scheme, in Input, stated Given) bool {
	out, err := Derive(s, in)
	if err != nil {
		return false
	}
	right, ok := lookUp(&out, stated.Name)
	if !ok {
		return false
	}
	agrees, _ := agree(&out, right, stated)
	return agrees
}

// OtherHouses names the schemes of the same game at other houses that give the stated outcome from these inputs; tried
// may be nil. Parameters that a scheme does not know are left out. Small outcomes agree by chance: this is a hint.
func OtherHouses(tried *Scheme, gameName string, in Input, stated Given) (names []string) {
	for _, s := range Schemes() {
		if s.Game != gameName || tried != nil && (s == tried || s.House == tried.House && s.Version == tried.Version) {
			continue
		}
		known := in
		known.Parameters = slices.DeleteFunc(slices.Clone(in.Parameters), func(g Given) bool { return !s.Knows(g.Name) })
		if slices.ContainsFunc(asElsewhere(stated), func(g Given) bool { return gives(s, known, g) }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// asElsewhere writes a stated roll as houses that count it in other units would.
func asElsewhere(stated Given) []Given {
	as := []Given{stated}
	switch hundredths, ok := parseHundredths(stated.Text); {
	case stated.Name == "rollE2":
		as = append(as, Given{"roll", stated.Text})
	case stated.Name == "roll" && ok:
		as = append(as, Given{"rollE2", stated.Text}, Given{"roll", strconv.FormatUint(hundredths, 10)})
	}
	return as
}

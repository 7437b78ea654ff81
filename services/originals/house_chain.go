package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/foreign"
)

const (
	// walkSlice is how many games are walked between two looks at the clock:
	// some tenths of a second.
	walkSlice = 1 << 18
	// longestWalk is how many games are walked when nobody said how many: more
	// than any chain here has.
	longestWalk = 100_000_000
)

// walkReport is what a walk found.
type walkReport struct {
	Scheme  string          `json:"scheme"`
	Games   uint64          `json:"games,string"`
	Found   bool            `json:"found"`
	Game    string          `json:"game,omitempty"` // the number of the game of the hash, where that of the terminal is known
	Words   string          `json:"words"`
	Verdict foreign.Verdict `json:"verdict"`
}

// verifyChain walks from the hash of a game to the terminal hash that was
// announced before the first.
func verifyChain(ctx context.Context, c *cli.Command) error {
	err := refuseFlags(c, "--terminal", "last-nonce", "last-ply", "ignore", "direction", "target-e2", "chips", "client-seed", "nonce", "commitment", "claimed", "param", "params", "salt", "mines", "picks", "target", "stake")
	if err != nil {
		return err
	}
	chains, err := chainsOf(c)
	if err != nil {
		return err
	}
	hash, err := foreign.ParseGameHash("hash", c.String("hash")+c.String("server-seed"))
	if err != nil {
		return foreignError(err, nil)
	}
	terminal, err := foreign.ParseGameHash("terminal", c.String("terminal"))
	if err != nil {
		return foreignError(err, nil)
	}
	apart, known, err := gamesApart(c)
	if err != nil {
		return err
	}
	most := uint64(longestWalk)
	if known {
		most = apart
	}
	s, games, err := walk(ctx, chains, hash, terminal, most)
	if err != nil {
		return err
	}
	r := walkReport{Scheme: chains[0].Name, Games: games, Verdict: foreign.Failed}
	if s != nil {
		r.Scheme, r.Found = s.Name, true
	}
	r.judge(c, apart, known)
	return printWalk(c, r)
}

// chainsOf returns the scheme that was named, or of a game with several
// versions one for each way to go back.
func chainsOf(c *cli.Command) (chains []*foreign.Scheme, err error) {
	all := foreign.Versions(c.String("house"), c.String("game"))
	if c.IsSet("house-version") || len(all) < 2 {
		s, err := foreignScheme(c, c.String("house-version"))
		if err != nil {
			return nil, err
		}
		all = []*foreign.Scheme{s}
	}
	for _, s := range all {
		if s.Chain == nil {
			return nil, fmt.Errorf("--terminal: %s has no chain", s.Name)
		}
		if !slices.ContainsFunc(chains, func(other *foreign.Scheme) bool { return other.Chain == s.Chain }) {
			chains = append(chains, s)
		}
	}
	return chains, nil
}

// gamesApart reads how many games lie between the hash and the terminal.
func gamesApart(c *cli.Command) (apart uint64, known bool, err error) {
	var ends [2]uint64
	for i, name := range []string{"from", "to"} {
		if !c.IsSet(name) {
			continue
		}
		if ends[i], err = strconv.ParseUint(c.String(name), 10, 63); err != nil {
			return 0, false, fmt.Errorf("--%s: %q is not the number of a game", name, c.String(name))
		}
	}
	if !c.IsSet("from") || !c.IsSet("to") {
		return 0, false, nil
	}
	return max(ends[0], ends[1]) - min(ends[0], ends[1]), true, nil
}

// walk searches in slices, so that a person sees it go on and can stop it. It
// returns the scheme whose chain met the terminal hash, or nil.
func walk(ctx context.Context, chains []*foreign.Scheme, hash, terminal foreign.GameHash, most uint64) (met *foreign.Scheme, games uint64, err error) {
	bar := newBar(int(min(most, longestWalk)), "walking the chain")
	defer func() { _ = bar.Finish() }() // a bar that cannot be drawn changes no verdict
	at := make([]foreign.GameHash, len(chains))
	for i := range at {
		at[i] = hash
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, games, fmt.Errorf("stopped after %d games: %w", games, err)
		}
		slice := min(walkSlice, most-games)
		for i, s := range chains {
			last, walked, found := s.Chain.Search(at[i], terminal, slice)
			if found {
				return s, games + walked, nil
			}
			at[i] = last
		}
		if games += slice; games == most {
			return nil, games, nil
		}
		_ = bar.Add64(int64(slice))
	}
}

// judge says what the walk shows, when the numbers of the games are known to
// be so far apart.
func (r *walkReport) judge(c *cli.Command, apart uint64, known bool) {
	switch {
	case !r.Found:
		r.Words = fmt.Sprintf("%d games back there is still no terminal hash: another chain, another version, or more games", r.Games)
	case known && r.Games != apart:
		r.Words = fmt.Sprintf("the terminal hash is %d games back, and the numbers are %d apart: a gap in the chain, or another game", r.Games, apart)
	default:
		r.Verdict = foreign.Verified
		r.Words = fmt.Sprintf("%d games back is the terminal hash", r.Games)
		if end, err := strconv.ParseUint(c.String("to"), 10, 63); err == nil {
			r.Game = strconv.FormatUint(end+r.Games, 10)
		}
	}
}

func printWalk(c *cli.Command, r walkReport) (err error) {
	out := c.Root().Writer
	if c.Bool("json") {
		err = printJSON(out, r)
	} else {
		printLine(out, "scheme", r.Scheme)
		printLine(out, "chain", r.Words)
		if r.Game != "" {
			printLine(out, "game", r.Game)
		}
		printLine(out, "verdict", string(r.Verdict))
	}
	if r.Verdict == foreign.Failed {
		return errors.Join(err, cli.Exit("", exitFailed))
	}
	return err
}

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/services/crash"
)

// blockHash is the hash of a Bitcoin block as explorers print it: each is below
// 2^224.
var blockHash = regexp.MustCompile(`^0{8}[0-9a-f]{56}\z`)

// fixSalt fixes the salt of a chain as it was announced.
func fixSalt(ctx context.Context, c *cli.Command) (err error) {
	table, err := tableFlag(c, "table")
	if err != nil {
		return err
	}
	chains, closeStore, err := openChains(ctx, c, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	kept, err := chains.Store.CrashChain(ctx, string(table))
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("table %s has no chain", table)
	}
	if err != nil {
		return err
	}
	salt, signature, err := readSalt(ctx, c, kept, chains.Sources)
	if err != nil {
		return err
	}
	fixed, err := chains.Store.FixCrashSalt(ctx, string(table), salt, signature)
	if errors.Is(err, ledger.ErrCrashSalt) {
		return fmt.Errorf("the salt of table %s is fixed for ever, and is another: %s", table, kept.Salt)
	}
	if err != nil {
		return err
	}
	printChain(c.Root().Writer, table, fixed)
	return nil
}

// readSalt returns the salt that the flags give, when it is the announced one.
func readSalt(ctx context.Context, c *cli.Command, kept ledger.CrashChain, sources map[string]beacon.Source) (rng.Salt, []byte, error) {
	kinds := map[string]ledger.CrashSaltKind{
		"bitcoin-block": ledger.CrashSaltBitcoin, "drand": ledger.CrashSaltDrand, "self-chosen": ledger.CrashSaltSelfChosen,
	}
	var given []string
	for name := range kinds {
		if c.IsSet(name) {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		return "", nil, errors.New("give one of --bitcoin-block, --drand and --self-chosen, as it was announced: " + saltWords(kept))
	}
	name := given[0]
	if kinds[name] != kept.Plan.Kind || name != "self-chosen" && c.Uint64(name) != kept.Plan.Named {
		return "", nil, fmt.Errorf("--%s: the salt was announced as %s", name, saltWords(kept))
	}
	switch name {
	case "bitcoin-block":
		if !blockHash.MatchString(c.String("hash")) {
			return "", nil, errors.New("--hash must be the hash of a block as explorers print it: 64 lower-case hex digits that begin with 00000000")
		}
		return rng.Salt(c.String("hash")), nil, nil
	case "drand":
		return drandSalt(ctx, c, kept, sources)
	}
	if kept.Salt != "" { // a second one would be another
		return "", nil, fmt.Errorf("the salt is fixed for ever: %s", kept.Salt)
	}
	salt, err := rng.NewSalt()
	return salt, nil, err
}

// drandSalt returns the randomness of the announced round, whose signature is
// given or fetched, and verified.
func drandSalt(ctx context.Context, c *cli.Command, kept ledger.CrashChain, sources map[string]beacon.Source) (rng.Salt, []byte, error) {
	source, ok := sources[kept.Plan.Network]
	if !ok {
		return "", nil, fmt.Errorf("no source of the beacon %s", kept.Plan.Network)
	}
	if !c.IsSet("signature") {
		entry, err := source.Fetch(ctx, kept.Plan.Named)
		if err != nil {
			return "", nil, fmt.Errorf("round %d, published at %v: %w", kept.Plan.Named, source.Network().TimeOf(kept.Plan.Named), err)
		}
		return entry.Randomness, entry.Signature, nil
	}
	signature, err := hex.DecodeString(c.String("signature"))
	if err != nil {
		return "", nil, errors.New("--signature must be hex digits")
	}
	salt, err := source.Network().Verify(kept.Plan.Named, signature)
	if err != nil {
		return "", nil, fmt.Errorf("--signature: %w", err)
	}
	return salt, signature, nil
}

// walkChain walks a chain: all of that of a table, or from a hash that was
// revealed.
func walkChain(ctx context.Context, c *cli.Command) error {
	if c.IsSet("table") && !c.IsSet("terminal") && !c.IsSet("number") && !c.IsSet("hash") {
		return walkKept(ctx, c)
	}
	if !c.IsSet("terminal") || !c.IsSet("number") || !c.IsSet("hash") || c.IsSet("table") {
		return errors.New("give --table for the whole chain of a table, or --terminal, --number and --hash for a round that was revealed")
	}
	return walkRevealed(ctx, c)
}

func walkKept(ctx context.Context, c *cli.Command) (err error) {
	table, err := tableFlag(c, "table")
	if err != nil {
		return err
	}
	chains, closeStore, err := openChains(ctx, c, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	chain, err := chains.Open(ctx, table)
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("table %s has no chain", table)
	}
	if err != nil {
		return err
	}
	out := c.Root().Writer
	printChain(out, table, chain.Kept())
	bar := newBar(int(chain.Length()), "walking the chain")
	err = chain.Verify(func(links uint32) { _ = bar.Set64(int64(links)) })
	_ = bar.Finish()
	if errors.Is(err, crash.ErrChainDamaged) {
		return cli.Exit(err, exitFailed)
	}
	if err == nil {
		printLine(out, "verdict", "VERIFIED")
	}
	return err
}

func walkRevealed(ctx context.Context, c *cli.Command) error {
	terminal, err := rng.ParseTerminal(c.String("terminal"))
	if err != nil {
		return errors.New("--terminal must be 64 lower-case hex digits")
	}
	link, err := rng.ParseLink(c.String("hash"))
	if err != nil {
		return errors.New("--hash must be 64 lower-case hex digits")
	}
	number := c.Uint64("number")
	if number < 1 || number > 1<<32-1 {
		return errors.New("--number must be 1 to 4294967295")
	}
	bar := newBar(int(number), "walking the chain")
	for left := uint32(number); left > 1; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(left-1, walkSlice)
		if link, err = link.Back(n); err != nil {
			return err
		}
		left -= n
		_ = bar.Add64(int64(n))
	}
	_ = bar.Finish()
	out := c.Root().Writer
	printLine(out, "terminal", terminal.String())
	printLine(out, "number", fmt.Sprint(number))
	if !link.Follows(terminal) {
		printLine(out, "verdict", "FAILED")
		return cli.Exit(fmt.Sprintf("%d hashes do not lead to the terminal: another chain, another number, or a gap", number), exitFailed)
	}
	printLine(out, "verdict", "VERIFIED")
	return nil
}

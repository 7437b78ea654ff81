package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wronghouse"
)

// crashFlags are the flags of rounds of crash tables, beside those of the
// chains of other houses: hash, salt and terminal.
func crashFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "crash", Usage: "`FILE` of answers about a crash table, - for standard input; such as rounds.json"},
		&cli.StringFlag{Name: "scheme", Usage: "`SCHEME` of a single round: crash-v1, or originals-v1 as without"},
		&cli.StringFlag{Name: "table", Usage: "crash-v1: the `TABLE`, such as main"},
		&cli.StringFlag{Name: "number", Usage: "crash-v1: the number `N` of the round, such as 7"},
		&cli.StringFlag{Name: "beacon-round", Usage: "crash-v1: the round `N` of the beacon that salts this round alone, as it was named before"},
		&cli.StringFlag{Name: "beacon-network", Usage: "crash-v1: the `HASH` of the beacon's network, where it is not drand's quicknet"},
		&cli.StringFlag{Name: "beacon-signature", Usage: "crash-v1: the beacon's signature, 96 `HEX` digits, in place of --salt"},
	}
}

// verifyCrash checks answers of the API about a crash table.
func verifyCrash(ctx context.Context, c *cli.Command) error {
	file, _, err := openEvidence(ctx, c, "crash")
	if err != nil {
		return err
	}
	defer file.Close()
	return verifyAnswers(ctx, c, "crash", file)
}

func verifyAnswers(ctx context.Context, c *cli.Command, flag string, document io.Reader) error {
	kept := map[string]bool{"terminal": true, "salt": true, "crash": true}
	for _, f := range append(append(roundFlags(), houseFlags()...), crashFlags()...) {
		if name := f.Names()[0]; c.IsSet(name) && !kept[name] {
			return fmt.Errorf("--%s does not go with the rounds of a crash table: give --terminal and --salt", name)
		}
	}
	if err := refuseFlags(c, "the rounds of a crash table: give --terminal", "commitment", "last-nonce", "last-ply"); err != nil {
		return err
	}
	if c.IsSet("crash") && c.IsSet("evidence") {
		return errors.New("--crash and --evidence: give one")
	}
	o := evidence.CrashOptions{Beacons: knownBeacons()}
	var err error
	if o.Terminal, err = terminalFlag(c); err != nil {
		return err
	}
	if c.IsSet("salt") {
		salt, err := saltFlag(c)
		if err != nil {
			return err
		}
		o.Salt = &salt
	}
	finish := showWalk(&o)
	report, err := evidence.VerifyCrash(ctx, document, o)
	finish()
	return printVerified(c, flag, report, err)
}

// knownBeacons finds the networks that tables may name, each made once.
func knownBeacons() func(network string) evidence.Beacon {
	made := map[string]*beacon.Network{}
	return func(network string) evidence.Beacon {
		network = cmp.Or(network, evidence.QuicknetHash)
		if _, ok := made[network]; !ok {
			made[network], _ = beacon.Known(network)
		}
		if n := made[network]; n != nil {
			return n
		}
		return nil
	}
}

// showWalk draws a bar of the links that are walked on a terminal's standard
// error, and returns what takes it away. Their number is not known before.
func showWalk(o *evidence.CrashOptions) (finish func()) {
	bar := newBar(-1, "walking the chain")
	o.Progress = func(links uint32) { _ = bar.Add64(int64(links)) } // a bar that cannot be drawn changes no verdict
	return func() { _ = bar.Finish() }
}

func terminalFlag(c *cli.Command) (*rng.Terminal, error) {
	if !c.IsSet("terminal") {
		return nil, nil
	}
	terminal, err := rng.ParseTerminal(c.String("terminal"))
	if err != nil {
		return nil, hexError("terminal", c.String("terminal"))
	}
	return &terminal, nil
}

func saltFlag(c *cli.Command) (rng.Salt, error) {
	salt, err := rng.ParseSalt(c.String("salt"))
	if err != nil {
		return "", hexError("salt", c.String("salt"))
	}
	return salt, nil
}

// hexError says which usual mistake a text shows that is not 64 hex digits.
func hexError(flag, text string) error {
	words := fmt.Sprintf("--%s: wants 64 lower-case hex digits: %s", flag, evidence.HexMistake(text))
	if repaired, ok := evidence.RepairHex(text); ok {
		words += "; did you mean " + repaired + "?"
	}
	return errors.New(words)
}

// verifyScheme checks a single round of the scheme that is named; one with a
// table is of crash-v1.
func verifyScheme(ctx context.Context, c *cli.Command) error {
	switch c.String("scheme") {
	case crash.Scheme, "":
		return verifyCrashRound(ctx, c)
	case rng.Scheme:
		if err := refuseFlags(c, rng.Scheme, "table", "number", "beacon-round", "beacon-signature", "beacon-network"); err != nil {
			return err
		}
		return verifyRound(ctx, c)
	default:
		return fmt.Errorf("--scheme: %q is neither %s nor %s", c.String("scheme"), rng.Scheme, crash.Scheme)
	}
}

func verifyCrashRound(ctx context.Context, c *cli.Command) error {
	claim, err := crashClaim(c)
	if err != nil {
		return err
	}
	o := evidence.CrashOptions{Beacons: knownBeacons()}
	finish := showWalk(&o)
	result, err := evidence.VerifyCrashRound(ctx, claim, o)
	finish()
	switch {
	case errors.Is(err, evidence.ErrStated):
		return fmt.Errorf("--claimed: %w", err)
	case errors.Is(err, money.ErrOverflow):
		return fmt.Errorf("--stake: the payout is too large: %w", err)
	case err != nil:
		return err
	}
	wronghouse.NoteOtherTables(claim, &result)
	if c.Bool("json") {
		err = printJSON(c.Root().Writer, crashRoundJSON(result))
	} else {
		printCrashRound(c.Root().Writer, result)
	}
	return errors.Join(err, exitOf(result.Report))
}

// crashClaim reads the round that the flags describe.
func crashClaim(c *cli.Command) (claim evidence.CrashClaim, err error) {
	used := map[string]bool{
		"hash": true, "salt": true, "terminal": true, "target-e2": true, "stake": true, "claimed": true, "scheme": true, "table": true, "number": true,
		"beacon-round": true, "beacon-signature": true, "beacon-network": true,
	}
	for _, f := range append(append(roundFlags(), houseFlags()...), crashFlags()...) {
		if name := f.Names()[0]; c.IsSet(name) && !used[name] {
			return claim, fmt.Errorf("--%s does not go with a round of %s", name, crash.Scheme)
		}
	}
	if err := refuseFlags(c, crash.Scheme+": give --terminal", "commitment", "last-nonce", "last-ply"); err != nil {
		return claim, err
	}
	for _, name := range []string{"table", "number", "hash"} {
		if !c.IsSet(name) {
			return claim, fmt.Errorf("--%s is missing: give --table, --number, --hash and --salt", name)
		}
	}
	if claim.Table, err = rng.ParseTable(c.String("table")); err != nil {
		return claim, fmt.Errorf("--table: %w", err)
	}
	if claim.Number, err = number(c, "number", 1<<32-1); err != nil {
		return claim, err
	}
	if claim.Number == 0 {
		return claim, errors.New("--number: rounds count from 1")
	}
	if claim.Link, err = rng.ParseLink(c.String("hash")); err != nil {
		return claim, hexError("hash", c.String("hash"))
	}
	if err := claimedSalt(c, &claim); err != nil {
		return claim, err
	}
	if claim.Terminal, err = terminalFlag(c); err != nil {
		return claim, err
	}
	return claim, claimedBet(c, &claim)
}

// claimedSalt reads the salt, or the beacon that is the salt of this round.
func claimedSalt(c *cli.Command, claim *evidence.CrashClaim) (err error) {
	if c.IsSet("salt") {
		if claim.Salt, err = saltFlag(c); err != nil {
			return err
		}
	}
	if !c.IsSet("beacon-signature") {
		if !c.IsSet("salt") {
			return errors.New("--salt is missing: give it, or --beacon-round and --beacon-signature")
		}
		return refuseFlags(c, "--salt alone: give --beacon-signature, too", "beacon-round", "beacon-network")
	}
	claim.BeaconSignature, err = hex.DecodeString(c.String("beacon-signature"))
	if err != nil || len(claim.BeaconSignature) != beacon.SignatureSize {
		return errors.New("--beacon-signature: wants 96 hex digits")
	}
	if claim.BeaconNetwork = c.String("beacon-network"); c.IsSet("beacon-network") && evidence.HexMistake(claim.BeaconNetwork) != "" {
		return hexError("beacon-network", claim.BeaconNetwork)
	}
	claim.BeaconRound, err = strconv.ParseUint(c.String("beacon-round"), 10, 63)
	if err != nil || claim.BeaconRound == 0 {
		return fmt.Errorf("--beacon-round: %q is not the number of a round", c.String("beacon-round"))
	}
	return nil
}

// claimedBet reads the bet, if there was one, and what was shown.
func claimedBet(c *cli.Command, claim *evidence.CrashClaim) (err error) {
	if c.IsSet("target-e2") {
		if claim.TargetE2, err = number(c, "target-e2", crash.MaxTargetE2); err != nil {
			return err
		}
		if claim.TargetE2 < crash.MinTargetE2 {
			return errors.New("--target-e2: must be 101 to 1000000")
		}
	}
	if c.IsSet("stake") {
		if claim.TargetE2 == 0 {
			return errors.New("--stake: give --target-e2, too: where it was cashed out, or would have been")
		}
		stake, err := strconv.ParseInt(c.String("stake"), 10, 64)
		if err != nil || stake < 1 || money.Units(stake) > money.MaxUnits {
			return fmt.Errorf("--stake: %q is not a whole number of units from 1 to %d", c.String("stake"), money.MaxUnits)
		}
		claim.Stake = money.Units(stake)
	}
	claim.Stated, err = statedOf(c)
	return err
}

func printCrashRound(out io.Writer, r evidence.CrashResult) {
	printLine(out, "terminal", r.Reached.String())
	printLine(out, "salt", string(r.Salt))
	printLine(out, "digest", r.Digest)
	printValues(out, r.Values, r.Report)
}

// crashRoundJSON is the report of a single round with what was computed.
func crashRoundJSON(r evidence.CrashResult) any {
	return struct {
		Terminal string            `json:"terminal"`
		Salt     string            `json:"salt"`
		Digest   string            `json:"digest"`
		Values   map[string]string `json:"values"`
		Report   evidence.Report   `json:"report"`
	}{r.Reached.String(), string(r.Salt), r.Digest, valuesJSON(r.Values), r.Report}
}

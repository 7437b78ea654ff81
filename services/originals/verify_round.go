package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wronghouse"
)

// roundFlags are the flags of a single round.
func roundFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "server-seed", Usage: "the revealed server seed `HEX`, 64 lower-case hex digits"},
		&cli.StringFlag{Name: "client-seed", Usage: "your client seed `TEXT`, exactly as it was, such as 5e4b94313b9d9ac2d45a3842f31de845"},
		&cli.StringFlag{Name: "nonce", Usage: "the bet's nonce `N`, such as 0 for the first of the seed pair"},
		&cli.StringFlag{Name: "game", Usage: "`GAME`: dice, limbo, roulette or mines (rounds of crash: --crash, or --scheme crash-v1); of another house also others, see --list"},
		&cli.StringFlag{Name: "target", Usage: "dice: target `T` in hundredths, such as 5050 for 50.50: 199 to 9998 over, 1 to 9800 under; duel.com: 0 to 9999"},
		&cli.StringFlag{Name: "direction", Usage: "dice: `SIDE`, over or under"},
		&cli.StringFlag{Name: "target-e2", Usage: "limbo: target `T` in hundredths, 101 to 1000000, such as 200 for 2.00x; crash-v1: where the bet cashed out, or would have"},
		&cli.StringFlag{Name: "chips", Usage: "roulette: chips as `JSON`, such as '[{\"kind\":\"STRAIGHT\",\"numbers\":[17],\"amount\":\"100\"}]'"},
		&cli.StringFlag{Name: "mines", Usage: "mines: `N`, how many there are, 1 to 24, such as 3"},
		&cli.StringFlag{Name: "picks", Usage: "mines: `LIST` of the tiles in the order in which they were opened, 0 to 24 (1 to 25 at liqd), such as 0,7"},
		&cli.StringFlag{Name: "stake", Usage: "stake in the currency's smallest `UNITS`, such as 100, to see the payout"},
		&cli.StringSliceFlag{Name: "claimed", Usage: "`NAME=VALUE` that you were shown, such as roll=7391; again for each: " +
			"roll, win, outcomeE2, pocket, mines, hitMine, crashE2, multiplierE4, payout"},
	}
}

// gameFlags names the flags that belong to one game only.
var gameFlags = map[string][]string{
	"dice":     {"target", "direction"},
	"limbo":    {"target-e2"},
	"roulette": {"chips"},
	"mines":    {"mines", "picks"},
}

func verifyRound(_ context.Context, c *cli.Command) error {
	if strings.EqualFold(c.String("game"), "crash") {
		return errors.New("--game: a round of a crash table is checked with --scheme crash-v1, all of them with --crash FILE, one of another house with --house")
	}
	for _, f := range houseFlags() {
		if name := f.Names()[0]; c.IsSet(name) {
			return fmt.Errorf("--%s goes with --house", name)
		}
	}
	claim, err := claimOf(c)
	if err != nil {
		return err
	}
	result, err := evidence.VerifyRound(claim)
	switch {
	case errors.Is(err, bet.ErrPicks):
		return errors.New("--picks: no round has these: a tile comes twice, or the picks go on after a mine")
	case errors.Is(err, evidence.ErrStated):
		return fmt.Errorf("--claimed: %w", err)
	case errors.Is(err, money.ErrOverflow):
		return fmt.Errorf("--stake: the payout is too large: %w", err)
	case err != nil:
		return err
	}
	wronghouse.NoteOthers(claim, &result)
	if c.Bool("json") {
		err = printJSON(c.Root().Writer, roundJSON(result))
	} else {
		printRound(c, result)
	}
	return errors.Join(err, exitOf(result.Report))
}

// claimOf reads the round that the flags describe.
func claimOf(c *cli.Command) (claim evidence.Claim, err error) {
	if err := refuseFlags(c, "a single round", "last-nonce", "last-ply"); err != nil {
		return claim, err
	}
	for _, name := range []string{"server-seed", "client-seed", "nonce"} {
		if !c.IsSet(name) {
			return claim, fmt.Errorf("--%s is missing: give --evidence FILE, --crash FILE, or --server-seed, --client-seed, --nonce and --game; see originals verify --help", name)
		}
	}
	if claim.Commitment, err = commitmentFlag(c); err != nil {
		return claim, err
	}
	serverSeed, clientSeed := c.String("server-seed"), c.String("client-seed")
	if words := evidence.ExplainServerSeed(serverSeed, clientSeed, c.String("commitment")); words != "" {
		return claim, errors.New("--server-seed: " + words)
	}
	if words := evidence.ExplainClientSeed(clientSeed); words != "" {
		return claim, errors.New("--client-seed: " + words)
	}
	if claim.ServerSeed, err = rng.ParseServerSeed(serverSeed); err != nil {
		return claim, fmt.Errorf("--server-seed: %w", err)
	}
	claim.ClientSeed = rng.ClientSeed(clientSeed)
	if claim.Nonce, err = rng.ParseNonce(c.String("nonce")); err != nil {
		return claim, fmt.Errorf("--nonce: %w", err)
	}
	if err = betOf(c, &claim); err != nil {
		return claim, err
	}
	if err = stakeOf(c, &claim); err != nil {
		return claim, err
	}
	claim.Stated, err = statedOf(c)
	return claim, err
}

// betOf reads the game and its parameters.
func betOf(c *cli.Command, claim *evidence.Claim) error {
	name := strings.ToLower(c.String("game"))
	if gameFlags[name] == nil {
		return fmt.Errorf("--game: %q is none of dice, limbo, roulette, mines", c.String("game"))
	}
	for other, flags := range gameFlags {
		for _, flag := range flags {
			if other != name && c.IsSet(flag) {
				return fmt.Errorf("--%s belongs to %s, and the game is %s", flag, other, name)
			}
		}
	}
	b := &claim.Bet
	var err error
	switch name {
	case "dice":
		b.Game = bet.Dice
		err = diceOf(c, &b.Dice)
	case "limbo":
		b.Game = bet.Limbo
		b.Limbo.TargetE2, err = number(c, "target-e2", limbo.MaxTargetE2)
	case "roulette":
		b.Game = bet.Roulette
		if c.IsSet("chips") {
			if b.Roulette, err = evidence.ParseChips(c.String("chips")); err != nil {
				return fmt.Errorf("--chips: %w", err)
			}
		}
		return nil // without chips there is still a pocket
	case "mines":
		b.Game = bet.Mines
		err = minesOf(c, claim)
	}
	if err != nil {
		return err
	}
	if err := b.Validate(); err != nil {
		return fmt.Errorf("--game %s: %w", name, err)
	}
	return nil
}

func diceOf(c *cli.Command, b *dice.Bet) (err error) {
	switch strings.ToLower(c.String("direction")) {
	case "over":
		b.Direction = dice.Over
	case "under":
		b.Direction = dice.Under
	default:
		return fmt.Errorf("--direction: %q is neither over nor under", c.String("direction"))
	}
	b.Target, err = number(c, "target", dice.Rolls)
	return err
}

func minesOf(c *cli.Command, claim *evidence.Claim) error {
	count, err := number(c, "mines", mines.MaxMines)
	if err != nil {
		return err
	}
	claim.Bet.MineCount = uint8(count)
	if c.String("picks") == "" {
		return nil
	}
	for text := range strings.SplitSeq(c.String("picks"), ",") {
		tile, err := strconv.ParseUint(text, 10, 8)
		if err != nil || tile >= mines.Tiles {
			return fmt.Errorf("--picks: %q is not a tile from 0 to %d", text, mines.Tiles-1)
		}
		claim.Picks = append(claim.Picks, uint8(tile))
	}
	return nil
}

// number reads a flag that holds a whole number up to most.
func number(c *cli.Command, name string, most uint32) (uint32, error) {
	value, err := strconv.ParseUint(c.String(name), 10, 32)
	if err != nil || value > uint64(most) {
		return 0, fmt.Errorf("--%s: %q is not a whole number up to %d", name, c.String(name), most)
	}
	return uint32(value), nil
}

// stakeOf reads the stake; of roulette it is the sum of the chips.
func stakeOf(c *cli.Command, claim *evidence.Claim) error {
	claim.Stake = claim.Bet.Roulette.Stake()
	if !c.IsSet("stake") {
		return nil
	}
	stake, err := strconv.ParseInt(c.String("stake"), 10, 64)
	if err != nil || stake < 1 || money.Units(stake) > money.MaxUnits {
		return fmt.Errorf("--stake: %q is not a whole number of units from 1 to %d", c.String("stake"), money.MaxUnits)
	}
	if claim.Bet.Game == bet.Roulette && money.Units(stake) != claim.Stake {
		return fmt.Errorf("--stake: the chips add up to %d", claim.Stake)
	}
	claim.Stake = money.Units(stake)
	return nil
}

func statedOf(c *cli.Command) (map[string]string, error) {
	stated := map[string]string{}
	for _, text := range c.StringSlice("claimed") {
		name, value, ok := strings.Cut(text, "=")
		if _, again := stated[name]; !ok || again {
			return nil, fmt.Errorf("--claimed: %q is not NAME=VALUE, each name once", text)
		}
		stated[name] = value
	}
	return stated, nil
}

func printRound(c *cli.Command, r evidence.Result) {
	out := c.Root().Writer
	printLine(out, "commitment", r.Commitment.String())
	printLine(out, "signature", r.Signature)
	printValues(out, r.Values, r.Report)
}

// printValues prints what was computed of a single round, what does not hold,
// and the verdict.
func printValues(out io.Writer, values []evidence.Value, r evidence.Report) {
	for _, v := range values {
		printLine(out, v.Name, v.Text)
	}
	for _, check := range r.Checks {
		for _, failure := range check.Failures {
			printLine(out, check.Name, "FAILED  "+failure.Words)
		}
	}
	printVerdict(out, r)
}

// valuesJSON is the values by their names.
func valuesJSON(values []evidence.Value) map[string]string {
	named := map[string]string{}
	for _, v := range values {
		named[v.Name] = v.Text
	}
	return named
}

// roundJSON is the report of a single round with what the seeds gave.
func roundJSON(r evidence.Result) any {
	return struct {
		Commitment string            `json:"commitment"`
		Signature  string            `json:"signature"`
		Values     map[string]string `json:"values"`
		Report     evidence.Report   `json:"report"`
	}{r.Commitment.String(), r.Signature, valuesJSON(r.Values), r.Report}
}

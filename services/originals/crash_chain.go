package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/services/crash"
)

// maxChainLength bounds a chain: its checkpoints take 78 KB of Redis then.
const maxChainLength = 10_000_000

// chainCommand is the life of a chain: it is made and announced, its salt is
// fixed, it is walked.
func chainCommand() *cli.Command {
	return &cli.Command{
		Name:  "chain",
		Usage: "make the chain of a crash table, fix its salt, walk it",
		Description: "First publish what create prints: every table, its terminal, its length, and how the salt will be fixed.\n" +
			"Then fix the salt, which nobody could know before. Example:\n" +
			"  originals crash chain create --table main --length 10000000 --bitcoin-block 940000 --redis ... --seal-key-file seal.key\n" +
			"  originals crash chain salt --table main --bitcoin-block 940000 --hash HEX --redis ...",
		Commands: []*cli.Command{
			{
				Name: "create", Usage: "make a chain for a table that has none, or the successor of one that has",
				Flags: append(chainStoreFlags(true), chainCreateFlags()...), Action: createChain,
			},
			{
				Name: "salt", Usage: "fix the salt of a chain, once, as it was announced",
				Flags: append(chainStoreFlags(false), chainSaltFlags()...), Action: fixSalt,
			},
			{
				Name: "verify", Usage: "walk a chain to its terminal: that of a table with the seal key, or from a hash that was revealed",
				Description: "The whole chain of a table, as its operator:\n" +
					"   originals crash chain verify --table main --redis URL --seal-key-file seal.key\n" +
					"From a round that was revealed, as anybody, without Redis:\n" +
					"   originals crash chain verify --terminal HEX --number 7 --hash HEX",
				Flags: append(chainStoreFlags(true), chainVerifyFlags()...), Action: walkChain,
			},
		},
	}
}

func chainStoreFlags(sealed bool) []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "redis", Sources: env("REDIS"), Usage: "`URL` of the store, as for originals serve"},
		&cli.StringFlag{Name: "table", Usage: "`NAME` of the table, 1 to 32 of a-z, 0-9 and hyphen"},
	}
	if sealed {
		flags = append(flags, &cli.StringFlag{Name: "seal-key-file", Sources: env("SEAL_KEY_FILE"), Usage: "`FILE` with the keys that seal chains: the first seals, all open"})
	}
	return flags
}

func chainCreateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "after", Usage: "`NAME` of a table that has a chain: makes the next of its line, which opens when the last is used up"},
		&cli.Uint64Flag{Name: "length", Value: chainLength, Usage: "`ROUNDS` that the chain has, 1 to 10000000"},
		&cli.Uint64Flag{Name: "bitcoin-block", HideDefault: true, Usage: "`HEIGHT` of a Bitcoin block to come, whose hash will be the salt"},
		&cli.Uint64Flag{Name: "drand", HideDefault: true, Usage: "`ROUND` of the beacon to come, whose randomness will be the salt"},
		&cli.StringFlag{Name: "beacon", Usage: "drand or test: each round of the table has the randomness of a round of this `BEACON` as its salt"},
		&cli.StringFlag{Name: "network", Value: drandBeacon, Usage: "`BEACON` whose round --drand is: drand or test"},
	}
}

func chainSaltFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Uint64Flag{Name: "bitcoin-block", HideDefault: true, Usage: "`HEIGHT` that was announced"},
		&cli.StringFlag{Name: "hash", Usage: "`HEX` of that block's hash, as explorers print it"},
		&cli.Uint64Flag{Name: "drand", HideDefault: true, Usage: "`ROUND` that was announced"},
		&cli.StringFlag{Name: "signature", Usage: "`HEX` of that round's signature; without it the round is fetched"},
		&cli.StringSliceFlag{Name: "drand-url", Value: beacon.DrandURLs, Usage: "`URL` of a relay to fetch it from, in this order"},
		&cli.BoolFlag{Name: "self-chosen", Usage: "draw the salt here; verifiers say that you could have chosen the outcomes"},
	}
}

func chainVerifyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "terminal", Usage: "`HEX` that was published before the first round"},
		&cli.Uint64Flag{Name: "number", HideDefault: true, Usage: "`NUMBER` of the round whose hash was revealed"},
		&cli.StringFlag{Name: "hash", Usage: "`HEX` of that round"},
	}
}

// openChains opens the store for a command. The caller closes it. keys may be
// missing where nothing secret is touched.
func openChains(ctx context.Context, c *cli.Command, needKeys bool) (*crash.Chains, func() error, error) {
	if c.String("redis") == "" {
		return nil, nil, errors.New("--redis is needed: chains are kept in the store of the house")
	}
	chains := &crash.Chains{Sources: beacons(c.StringSlice("drand-url"))}
	if needKeys {
		if c.String("seal-key-file") == "" {
			return nil, nil, errors.New("--seal-key-file is needed: the links of chains are sealed")
		}
		keys, err := seal.ReadFile(c.String("seal-key-file"))
		if err != nil {
			return nil, nil, err
		}
		chains.Keys = keys
	}
	client, err := redisledger.Dial(c.String("redis"))
	if err != nil {
		return nil, nil, fmt.Errorf("--redis: %w", err)
	}
	store := redisledger.New(client, redisledger.Options{})
	if _, err = store.Check(ctx); err != nil {
		err = fmt.Errorf("--redis: %w", err)
	} else if needKeys {
		err = checkSealKeys(ctx, store, chains.Keys, c.String("seal-key-file"))
	}
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	chains.Store = store
	return chains, client.Close, nil
}

// The beacons that a table or a chain may name.
const (
	drandBeacon = "drand"
	testBeacon  = "test"
)

// beaconTimeout bounds one request to a relay.
const beaconTimeout = 5 * time.Second

// beacons returns the sources of the rounds of both beacons.
func beacons(urls []string) map[string]beacon.Source {
	if len(urls) == 0 {
		urls = beacon.DrandURLs
	}
	drand := beacon.NewClient(beacon.Quicknet(), urls, &http.Client{Timeout: beaconTimeout})
	test := beacon.Test(time.Now)
	return map[string]beacon.Source{drand.Network().Hash(): drand, test.Network().Hash(): test}
}

// networkOf returns the network of a beacon that a flag or the configuration
// names.
func networkOf(name string) (*beacon.Network, error) {
	switch name {
	case drandBeacon:
		return beacon.Quicknet(), nil
	case testBeacon:
		return beacon.Test(time.Now).Network(), nil
	}
	return nil, fmt.Errorf("%q is no beacon: drand or test", name)
}

func createChain(ctx context.Context, c *cli.Command) (err error) {
	n, err := readNewChain(c)
	if err != nil {
		return err
	}
	chains, closeStore, err := openChains(ctx, c, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	table, after, err := newTableName(ctx, c, chains.Store)
	if err != nil {
		return err
	}
	bar := newBar(int(n.Length), "making the chain")
	n.After, n.Walked = after, func(links uint32) { _ = bar.Set64(int64(links)) }
	chain, made, err := chains.Create(ctx, table, n)
	_ = bar.Finish() // a bar that cannot be drawn changes nothing
	if err != nil {
		return err
	}
	if !made {
		return hasChain(table, chain.Kept())
	}
	out := c.Root().Writer
	printChain(out, table, chain.Kept())
	fmt.Fprintf(out, "\nPublish these lines now.%s\n", saltAdvice(table, n.Plan))
	return nil
}

// readNewChain reads what a chain is to be.
func readNewChain(c *cli.Command) (n crash.NewChain, err error) {
	if length := c.Uint64("length"); length < 1 || length > maxChainLength {
		return n, fmt.Errorf("--length must be 1 to %d", maxChainLength)
	}
	n.Length = uint32(c.Uint64("length"))
	n.Plan, err = readPlan(c)
	return n, err
}

func readPlan(c *cli.Command) (ledger.CrashSaltPlan, error) {
	given := 0
	for _, name := range []string{"bitcoin-block", "drand", "beacon"} {
		if c.IsSet(name) {
			given++
		}
	}
	switch {
	case given > 1:
		return ledger.CrashSaltPlan{}, errors.New("give one of --bitcoin-block, --drand and --beacon, or none for a salt that you choose")
	case c.IsSet("network") && !c.IsSet("drand"):
		return ledger.CrashSaltPlan{}, errors.New("--network belongs to --drand")
	case c.IsSet("bitcoin-block"):
		if c.Uint64("bitcoin-block") == 0 {
			return ledger.CrashSaltPlan{}, errors.New("--bitcoin-block must be the height of a block to come")
		}
		return ledger.CrashSaltPlan{Kind: ledger.CrashSaltBitcoin, Named: c.Uint64("bitcoin-block")}, nil
	case c.IsSet("drand"):
		return drandPlan(c.String("network"), c.Uint64("drand"))
	case c.IsSet("beacon"):
		network, err := networkOf(c.String("beacon"))
		if err != nil {
			return ledger.CrashSaltPlan{}, fmt.Errorf("--beacon: %w", err)
		}
		return ledger.CrashSaltPlan{Kind: ledger.CrashSaltBeacon, Network: network.Hash()}, nil
	}
	return ledger.CrashSaltPlan{Kind: ledger.CrashSaltSelfChosen}, nil
}

// drandPlan names a round of a beacon, which must not be published yet: a salt
// that was known already could have been chosen.
func drandPlan(name string, round uint64) (ledger.CrashSaltPlan, error) {
	network, err := networkOf(name)
	if err != nil {
		return ledger.CrashSaltPlan{}, fmt.Errorf("--network: %w", err)
	}
	if now := time.Now(); round <= network.RoundAt(now) {
		return ledger.CrashSaltPlan{}, fmt.Errorf("--drand: round %d is published already; the newest is %d, and an hour from now it is %d",
			round, network.RoundAt(now), network.RoundAt(now.Add(time.Hour)))
	}
	return ledger.CrashSaltPlan{Kind: ledger.CrashSaltDrand, Named: round, Network: network.Hash()}, nil
}

// newTableName returns the table that gets the chain, and whose successor it
// is.
func newTableName(ctx context.Context, c *cli.Command, store ledger.CrashChains) (table, after rng.Table, err error) {
	if (c.String("table") == "") == (c.String("after") == "") {
		return "", "", errors.New("give one of --table, for a table that has no chain, and --after, for the next chain of one that has")
	}
	if c.String("table") != "" {
		table, err = tableFlag(c, "table")
		if err != nil {
			return "", "", err
		}
		kept, err := store.CrashChain(ctx, string(table))
		if errors.Is(err, ledger.ErrNotFound) {
			return table, "", nil
		}
		if err != nil {
			return "", "", err
		}
		return "", "", hasChain(table, kept)
	}
	base, err := tableFlag(c, "after")
	if err != nil {
		return "", "", err
	}
	return nextInLine(ctx, store.(crashTables), base)
}

// crashTables is what the store knows of tables and chains.
type crashTables interface {
	ledger.CrashChains
	CrashState(ctx context.Context, table string) (ledger.CrashState, error)
}

// nextInLine returns the name of the next chain of a line, and the last that it
// has. A successor that has not begun is not replaced: it is announced.
func nextInLine(ctx context.Context, store crashTables, base rng.Table) (table, after rng.Table, err error) {
	for {
		kept, err := store.CrashChain(ctx, string(base))
		if errors.Is(err, ledger.ErrNotFound) {
			return "", "", fmt.Errorf("--after: table %s has no chain; make it with --table %s", base, base)
		}
		if err != nil {
			return "", "", err
		}
		if kept.After == "" {
			break
		}
		base = rng.Table(kept.After)
	}
	line, err := ledger.CrashLine(ctx, store, base)
	if err != nil {
		return "", "", err
	}
	last := line[len(line)-1]
	if len(line) > 1 {
		state, err := store.CrashState(ctx, string(last.Table))
		if err != nil {
			return "", "", err
		}
		if state.Round.Number == 0 {
			return "", "", fmt.Errorf("%w\nIt is the announced successor, and has not begun", hasChain(last.Table, last.Kept))
		}
	}
	return ledger.CrashSuccessor(base, len(line)+1), last.Table, nil
}

func tableFlag(c *cli.Command, name string) (rng.Table, error) {
	table, err := rng.ParseTable(c.String(name))
	if err != nil {
		return "", fmt.Errorf("--%s: must be 1 to 32 of a-z, 0-9 and hyphen", name)
	}
	return table, nil
}

// hasChain refuses a second chain, and tells what there is: a create whose
// output was lost is repeated in vain, and shows it.
func hasChain(table rng.Table, kept ledger.CrashChain) error {
	return fmt.Errorf("table %s has a chain, and serves it for ever: terminal %s, %d links, made %s; the next of its line is made with --after",
		table, kept.Terminal, kept.Length, kept.CreateTime.Format(time.RFC3339))
}

func printChain(out io.Writer, table rng.Table, kept ledger.CrashChain) {
	printLine(out, "table", string(table))
	printLine(out, "scheme", "crash-v1")
	printLine(out, "terminal", kept.Terminal.String())
	printLine(out, "links", fmt.Sprint(kept.Length))
	if kept.After != "" {
		printLine(out, "after", kept.After)
	}
	printLine(out, "salt", saltWords(kept))
}

// saltWords says how the salt of a chain is fixed, and what it is once it is.
func saltWords(kept ledger.CrashChain) string {
	p := kept.Plan
	var words string
	switch p.Kind {
	case ledger.CrashSaltBitcoin:
		words = fmt.Sprintf("the hash of Bitcoin block %d", p.Named)
	case ledger.CrashSaltDrand:
		words = fmt.Sprintf("the randomness of round %d of %s", p.Named, networkWords(p.Network))
	case ledger.CrashSaltBeacon:
		return "of each round: the randomness of a round, published after the lock, of " + networkWords(p.Network)
	default:
		words = "self-chosen: the operator could choose the outcomes"
	}
	if kept.Salt == "" {
		return words + "; not fixed yet"
	}
	return words + ": " + string(kept.Salt)
}

func networkWords(hash string) string {
	if hash == beacon.TestHash {
		return "the test beacon, whose secret everybody knows"
	}
	return "drand's network " + hash
}

// saltAdvice says what comes after the publication.
func saltAdvice(table rng.Table, p ledger.CrashSaltPlan) string {
	switch p.Kind {
	case ledger.CrashSaltBitcoin:
		return fmt.Sprintf(" When the block is buried under some more:\n  originals crash chain salt --table %s --bitcoin-block %d --hash HEX", table, p.Named)
	case ledger.CrashSaltDrand:
		network, _ := beacon.Known(p.Network) // it was named by networkOf
		return fmt.Sprintf(" The round is published at %s; a process of the role crash fetches it by itself, or:\n  originals crash chain salt --table %s --drand %d",
			network.TimeOf(p.Named).Format(time.RFC3339), table, p.Named)
	case ledger.CrashSaltBeacon:
		return " The table needs no other salt."
	}
	return fmt.Sprintf(" Then:\n  originals crash chain salt --table %s --self-chosen", table)
}

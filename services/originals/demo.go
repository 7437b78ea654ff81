package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/rng"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// demoCommand plays a session as a front end does.
func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "play a session through the public API and verify every bet of it offline",
		Description: "Without --url it starts everything in this process, on an embedded store.\n" +
			"Example: originals demo --rounds 100 --evidence evidence.json",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "rounds", Value: 25, Usage: "how many rounds of each game, `N`"},
			&cli.StringFlag{Name: "evidence", Usage: "`FILE` to keep the evidence in"},
			&cli.StringFlag{Name: "url", Validator: validURL, Usage: "`URL` of a running gateway, with --token"},
			&cli.StringFlag{Name: "token", Usage: "`TOKEN` of a player there, with some FUN to play"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Int("rounds") < 1 || c.Int("rounds") > 100_000 {
				return errors.New("--rounds must be 1 to 100000")
			}
			if (c.String("url") == "") != (c.String("token") == "") {
				return errors.New("--url and --token go together")
			}
			d := &demo{out: c.Root().Writer, rounds: c.Int("rounds"), file: c.String("evidence")}
			if c.String("url") != "" {
				d.client = newClient(c.String("url"), c.String("token"))
				return d.play(ctx)
			}
			return d.playHere(ctx)
		},
	}
}

// demo is one session.
type demo struct {
	*client
	out    io.Writer
	rounds int
	file   string

	commitment string // as it was shown before the first bet
	pair       string
	bets       int
	tally      map[originalsv1.Game]*tally
}

type tally struct{ rounds, won, stake, payout, verified int64 }

// playHere starts everything in this process and plays against it.
func (d *demo) playHere(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p, err := newProcess(ctx, settings{
		roles: allRoles, http: "127.0.0.1:0", grpc: "127.0.0.1:0",
		demoBalance: -1, minesExpiry: time.Hour, duelTimes: duelSettings{minExpiry: time.Minute, retention: time.Hour}, watchers: 1, logLevel: "error",
	}, os.Stderr)
	if err != nil {
		return err
	}
	token, err := p.devKey.Mint(auth.Identity{Subject: "demo-player", Operator: p.devKey.Operator(), Role: auth.Player}, tokenTTL, time.Now())
	if err != nil {
		return errors.Join(err, p.close())
	}
	served := make(chan error, 1)
	go func() { served <- p.group.Serve(ctx) }()
	d.client = newClient("http://"+p.address("http"), token)
	err = d.play(ctx)
	stop()
	return errors.Join(err, <-served, p.close())
}

// play goes the way of a player, from the first commitment to the proof.
func (d *demo) play(ctx context.Context) error {
	d.tally = make(map[originalsv1.Game]*tally)
	for _, step := range []func(context.Context) error{d.rotateIn, d.placeBets, d.prove} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rotateIn is shown a commitment and only then chooses a client seed.
func (d *demo) rotateIn(ctx context.Context) error {
	var shown originalsv1.GetSeedPairResponse
	if err := d.get(ctx, "/v1/seed-pair", &shown); err != nil {
		return err
	}
	d.commitment = shown.GetNextCommitment()
	fmt.Fprintf(d.out, "1. The house commits:      %s\n", d.commitment)
	clientSeed := newClientSeed()
	var rotated originalsv1.RotateSeedPairResponse
	req := &originalsv1.RotateSeedPairRequest{ClientSeed: clientSeed, NextCommitment: d.commitment}
	if err := d.post(ctx, "/v1/seed-pair:rotate", req, &rotated); err != nil {
		return err
	}
	d.pair = rotated.GetActive().GetSeedPairId()
	fmt.Fprintf(d.out, "2. The player answers with: %s  (client seed, drawn here)\n", clientSeed)
	return nil
}

// newClientSeed draws 32 hex digits, as our clients do.
func newClientSeed() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// placeBets plays every game in turn.
func (d *demo) placeBets(ctx context.Context) error {
	games := []func(context.Context, int) (*originalsv1.Round, error){d.dice, d.limbo, d.roulette, d.mines}
	fmt.Fprintf(d.out, "3. %d rounds of each of %d games\n", d.rounds, len(games))
	bar := newBar(d.rounds*len(games), "   playing")
	for i := range d.rounds {
		for _, game := range games {
			round, err := game(ctx, i)
			if err != nil {
				return err
			}
			d.count(round)
			bar.Add(1)
		}
	}
	return bar.Finish()
}

// newBar draws on a terminal and is silent elsewhere.
func newBar(n int, what string) *progressbar.ProgressBar {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return progressbar.DefaultSilent(int64(n))
	}
	return progressbar.NewOptions(n, progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetWidth(40), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
}

func (d *demo) count(r *originalsv1.Round) {
	t := d.tally[r.GetGame()]
	if t == nil {
		t = new(tally)
		d.tally[r.GetGame()] = t
	}
	t.rounds++
	t.stake += r.GetStake().GetAmount()
	t.payout += r.GetPayout().GetAmount()
	if r.GetPayout().GetAmount() > 0 {
		t.won++
	}
}

func (d *demo) betID() string {
	d.bets++
	return fmt.Sprintf("demo-%d", d.bets)
}

func fun(units int64) *originalsv1.Money { return &originalsv1.Money{Currency: "FUN", Amount: units} }

func (d *demo) dice(ctx context.Context, i int) (*originalsv1.Round, error) {
	req := &originalsv1.DiceServicePlaceBetRequest{
		BetId: d.betID(), SeedPairId: d.pair, Stake: fun(100),
		Target: uint32(4000 + 100*(i%20)), Direction: originalsv1.Dice_OVER,
	}
	if i%2 == 1 {
		req.Direction = originalsv1.Dice_UNDER
	}
	round := new(originalsv1.Round)
	return round, d.post(ctx, "/v1/dice/bets", req, round)
}

func (d *demo) limbo(ctx context.Context, i int) (*originalsv1.Round, error) {
	round := new(originalsv1.Round)
	return round, d.post(ctx, "/v1/limbo/bets", &originalsv1.LimboServicePlaceBetRequest{
		BetId: d.betID(), SeedPairId: d.pair, Stake: fun(100), TargetE2: uint32(150 + 50*(i%8)),
	}, round)
}

func (d *demo) roulette(ctx context.Context, i int) (*originalsv1.Round, error) {
	round := new(originalsv1.Round)
	return round, d.post(ctx, "/v1/roulette/bets", &originalsv1.RouletteServicePlaceBetRequest{
		BetId: d.betID(), SeedPairId: d.pair, Currency: "FUN", Chips: []*originalsv1.Chip{
			{Kind: originalsv1.Chip_RED, Amount: 60},
			{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{uint32(i % 37)}, Amount: 40},
		},
	}, round)
}

// mines opens up to three tiles and then takes the money.
func (d *demo) mines(ctx context.Context, i int) (*originalsv1.Round, error) {
	round := new(originalsv1.Round)
	err := d.post(ctx, "/v1/mines/rounds", &originalsv1.StartRoundRequest{
		BetId: d.betID(), SeedPairId: d.pair, Stake: fun(100), MineCount: 3,
	}, round)
	path := "/v1/mines/rounds/" + round.GetRoundId()
	for pick := 0; pick < 3 && err == nil && round.GetState() == originalsv1.Round_OPEN; pick++ {
		tile := uint32((i*7 + pick*5) % 25)
		err = d.post(ctx, path+":pick", &originalsv1.PickRequest{Tile: &tile}, round)
	}
	if err == nil && round.GetState() == originalsv1.Round_OPEN {
		err = d.post(ctx, path+":cashOut", &originalsv1.MinesServiceCashOutRequest{}, round)
	}
	return round, err
}

// prove rotates, which reveals the server seed, and checks the evidence
// against the commitment that was kept, without asking the house again.
func (d *demo) prove(ctx context.Context) error {
	var shown originalsv1.GetSeedPairResponse
	if err := d.get(ctx, "/v1/seed-pair", &shown); err != nil {
		return err
	}
	var rotated originalsv1.RotateSeedPairResponse
	req := &originalsv1.RotateSeedPairRequest{ClientSeed: newClientSeed(), NextCommitment: shown.GetNextCommitment()}
	if err := d.post(ctx, "/v1/seed-pair:rotate", req, &rotated); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "4. Rotation reveals:        %s\n", rotated.GetRevealed().GetServerSeed())
	document, err := d.evidence(ctx)
	if err != nil {
		return err
	}
	report, err := d.verify(ctx, document)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "5. Offline, against the commitment of step 1: %s\n\n", report.Verdict)
	d.table(report)
	if report.Verdict != evidence.Verified {
		return cli.Exit("the evidence does not hold", 1)
	}
	return nil
}

func (d *demo) evidence(ctx context.Context) ([]byte, error) {
	res, err := d.do(ctx, http.MethodGet, "/v1/seed-pairs/"+d.pair+"/evidence", nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	document, err := io.ReadAll(res.Body)
	if err != nil || d.file == "" {
		return document, err
	}
	return document, os.WriteFile(d.file, document, 0o644)
}

func (d *demo) verify(ctx context.Context, document []byte) (evidence.Report, error) {
	commitment, err := rng.ParseCommitment(d.commitment)
	if err != nil {
		return evidence.Report{}, err
	}
	bar := newBar(len(document), "   verifying")
	last := uint32(d.bets - 1)
	report, err := evidence.Verify(ctx, bytes.NewReader(document), evidence.Options{
		Commitment: &commitment, LastNonce: &last, Progress: func(n int) { bar.Add(n) },
	})
	return report, errors.Join(err, bar.Finish())
}

// table shows what was played and what of it was verified.
func (d *demo) table(report evidence.Report) {
	w := tabwriter.NewWriter(d.out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "game\trounds\twon\tstake FUN\tpayout FUN\tverified\t")
	var all tally
	for _, game := range []originalsv1.Game{originalsv1.Game_DICE, originalsv1.Game_LIMBO, originalsv1.Game_ROULETTE, originalsv1.Game_MINES} {
		t := d.tally[game]
		if report.Verdict == evidence.Verified {
			t.verified = t.rounds
		}
		t.row(w, game.String())
		all.add(*t)
	}
	all.row(w, "all")
	w.Flush()
}

func (t *tally) add(o tally) {
	t.rounds, t.won, t.verified = t.rounds+o.rounds, t.won+o.won, t.verified+o.verified
	t.stake, t.payout = t.stake+o.stake, t.payout+o.payout
}

func (t *tally) row(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d.%02d\t%d.%02d\t%d\t\n", name, t.rounds, t.won,
		t.stake/100, t.stake%100, t.payout/100, t.payout%100, t.verified)
}

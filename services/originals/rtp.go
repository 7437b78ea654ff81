package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rtp"
)

// rtpDigits is how many decimals of a return are shown, truncated.
const rtpDigits = 20

// rtpCommand prints exact returns to player.
func rtpCommand() *cli.Command {
	return &cli.Command{
		Name:  "rtp",
		Usage: "print the exact return of every game, by counting",
		Description: "Example: originals rtp --game dice --stake 100\n" +
			"Prints the configurations with the lowest and the highest return of each game, as a fraction and as a\n" +
			"decimal; --all prints every one. With --stake it is the return at that stake, where each payout is\n" +
			"rounded down to whole units; a bet that could not pay more than its stake is refused and not counted.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "game", Usage: "only this `GAME`: dice, limbo, roulette, mines or crash"},
			&cli.StringFlag{Name: "stake", Usage: "stake in the currency's smallest `UNITS`, such as 100 (default: the nominal return)"},
			&cli.BoolFlag{Name: "all", Usage: "print every configuration, two million in all; for example: originals rtp --game mines --all"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object a line"},
			&cli.BoolFlag{Name: "csv", Usage: "print comma-separated values with a header"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			q, err := rtpQueryOf(c)
			if err != nil {
				return cli.Exit(err, exitUnusable)
			}
			return q.print(ctx, c.Root().Writer)
		},
	}
}

// rtpQuery says which rows to print, and how.
type rtpQuery struct {
	games     []rtp.Game
	stake     money.Units // 0 for the nominal return
	all       bool
	json, csv bool
}

func rtpQueryOf(c *cli.Command) (rtpQuery, error) {
	q := rtpQuery{games: rtp.Games(), all: c.Bool("all"), json: c.Bool("json"), csv: c.Bool("csv")}
	if q.json && q.csv {
		return q, fmt.Errorf("--json and --csv exclude each other")
	}
	if c.IsSet("game") {
		game := rtp.Game(strings.ToUpper(c.String("game")))
		if _, _, ok := rtp.Ends(game); !ok {
			return q, fmt.Errorf("--game: %q is none of dice, limbo, roulette, mines, crash", c.String("game"))
		}
		q.games = []rtp.Game{game}
	}
	if c.IsSet("stake") {
		stake, err := strconv.ParseInt(c.String("stake"), 10, 64)
		if err != nil || stake < 1 || money.Units(stake) > money.MaxUnits {
			return q, fmt.Errorf("--stake: %q is not a whole number of units from 1 to %d", c.String("stake"), money.MaxUnits)
		}
		q.stake = money.Units(stake)
	}
	return q, nil
}

// rowPrinter prints rows in one format.
type rowPrinter interface {
	row(end string, r rtp.Row) error
	flush() error
}

func (q rtpQuery) print(ctx context.Context, out io.Writer) error {
	p := q.printer(out)
	for _, game := range q.games {
		for end, row := range q.rows(game) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := p.row(end, row); err != nil {
				return err
			}
		}
	}
	return p.flush()
}

func (q rtpQuery) printer(out io.Writer) rowPrinter {
	switch {
	case q.json:
		return &jsonRows{bufio.NewWriter(out)}
	case q.csv:
		return newCSVRows(out)
	default:
		return newTableRows(out)
	}
}

// rows yields the rows of a game, each with "lowest", "highest" or "".
func (q rtpQuery) rows(game rtp.Game) iter.Seq2[string, rtp.Row] {
	return func(yield func(string, rtp.Row) bool) {
		if !q.all {
			lowest, highest, ok := q.ends(game)
			_ = ok && yield("lowest", lowest) && yield("highest", highest)
			return
		}
		for row := range q.everyRow(game) {
			if !yield("", row) {
				return
			}
		}
	}
}

func (q rtpQuery) everyRow(game rtp.Game) iter.Seq[rtp.Row] {
	if q.stake > 0 {
		return rtp.RowsAt(game, q.stake)
	}
	return rtp.Rows(game)
}

// ends finds the lowest and the highest return among the bets that are
// accepted; ok is false when the stake is too small for every bet of the game.
func (q rtpQuery) ends(game rtp.Game) (lowest, highest rtp.Row, ok bool) {
	if q.stake == 0 {
		return rtp.Ends(game)
	}
	for row := range q.everyRow(game) {
		if !row.Accepted {
			continue
		}
		if !ok || row.RTP.Cmp(lowest.RTP) < 0 {
			lowest = row
		}
		if !ok || row.RTP.Cmp(highest.RTP) > 0 {
			highest = row
		}
		ok = true
	}
	return lowest, highest, ok
}

// tableRows prints an aligned table. Its columns are wide enough for every bet, so that nothing has to be held back.
type tableRows struct{ out *bufio.Writer }

const tableForm = "%-11s%-9s%-31s%-13s%-25s%s\n"

func newTableRows(out io.Writer) *tableRows {
	t := &tableRows{bufio.NewWriter(out)}
	fmt.Fprintf(t.out, tableForm, "game", "", "bet", "multiplier", "RTP", "exactly")
	return t
}

func (t *tableRows) row(end string, r rtp.Row) error {
	if !r.Accepted {
		end = "refused"
	}
	_, err := fmt.Fprintf(t.out, tableForm, strings.ToLower(string(r.Game)), end, r.Config, multiplierText(r.Multiplier),
		rtp.Decimal(r.RTP, rtpDigits), r.RTP)
	return err
}

func (t *tableRows) flush() error { return t.out.Flush() }

func multiplierText(m money.Multiplier) string {
	return fmt.Sprintf("%d.%04d", m/money.One, m%money.One)
}

// jsonRows prints one JSON object a line.
type jsonRows struct{ out *bufio.Writer }

func (j *jsonRows) row(end string, r rtp.Row) error {
	_, err := fmt.Fprintf(j.out, `{"game":%q,"end":%q,"config":%q,"multiplierE4":"%d","chance":%q,"rtp":%q,"rtpExact":%q,"accepted":%t}`+"\n",
		r.Game, end, r.Config, r.Multiplier, r.Chance, rtp.Decimal(r.RTP, rtpDigits), r.RTP, r.Accepted)
	return err
}

func (j *jsonRows) flush() error { return j.out.Flush() }

// csvRows prints comma-separated values.
type csvRows struct{ out *csv.Writer }

func newCSVRows(out io.Writer) *csvRows {
	w := &csvRows{csv.NewWriter(out)}
	_ = w.out.Write([]string{"game", "end", "config", "multiplier_e4", "chance", "rtp", "rtp_exact", "accepted"}) // flush reports its error
	return w
}

func (w *csvRows) row(end string, r rtp.Row) error {
	return w.out.Write([]string{string(r.Game), end, r.Config, strconv.FormatInt(int64(r.Multiplier), 10),
		r.Chance.String(), rtp.Decimal(r.RTP, rtpDigits), r.RTP.String(), strconv.FormatBool(r.Accepted)})
}

func (w *csvRows) flush() error {
	w.out.Flush()
	return w.out.Error()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/foreign"
)

// csvColumns is the part of verify's help that names the columns of a history.
const csvColumns = "The first line of a --csv file names its columns, in any order: serverSeed (or hash), clientSeed, nonce,\n" +
	"commitment, house, game, version, any parameter (such as mineCount, picks, target, salt) and at least one outcome\n" +
	"(such as rollE2 or roll, outcomeE2, pocket, mines, crashE2, win, payout), as --list names them. A column that is\n" +
	"missing is taken from the flags; an empty cell is not given; a column of another name has to be left out with --ignore.\n"

// chunkResult is what became of the rows of a chunk.
type chunkResult struct {
	counts rowCounts
	bad    []badRow // lines count from 0
	bytes  int
	lines  int
}

// rowCounts counts rows.
type rowCounts struct {
	Rows       int `json:"rows"`
	Verified   int `json:"verified"`
	Consistent int `json:"consistent"` // without a commitment
	Failed     int `json:"failed"`
	Unusable   int `json:"unusable"`
}

func (t *rowCounts) add(o rowCounts) {
	t.Rows += o.Rows
	t.Verified += o.Verified
	t.Consistent += o.Consistent
	t.Failed += o.Failed
	t.Unusable += o.Unusable
}

// hold counts a row that was judged.
func (t *rowCounts) hold(verdict foreign.Verdict) {
	t.Rows++
	switch verdict {
	case foreign.Verified:
		t.Verified++
	case foreign.Consistent:
		t.Consistent++
	default:
		t.Failed++
	}
}

// badRow is a row that does not hold, or that cannot be judged.
type badRow struct {
	Line  int    `json:"line"`
	Check string `json:"check"` // commitment, outcome or format
	Words string `json:"words"`
}

// verifyHistory checks a whole betting history on every core. A bad row is
// told and stops nothing.
func verifyHistory(ctx context.Context, c *cli.Command) error {
	err := refuseFlags(c, "--csv", "last-nonce", "last-ply", "from", "to", "terminal", "direction", "target-e2", "chips", "claimed")
	if err != nil {
		return err
	}
	lines, size, closeHistory, err := openHistory(c)
	if err != nil {
		return err
	}
	defer closeHistory()
	header, err := lines.header()
	if err != nil {
		return fmt.Errorf("--csv: %w", err)
	}
	layout, err := layoutOf(c, header)
	if err != nil {
		return err
	}
	sum, bad, err := checkHistory(ctx, c, layout, lines, size)
	if err != nil {
		return fmt.Errorf("--csv: %w", err)
	}
	return printHistory(c, sum, bad)
}

// openHistory opens a file, or the standard input, whose size is not known.
func openHistory(c *cli.Command) (lines lineSource, size int64, done func() error, err error) {
	name := c.String("csv")
	if name == "-" {
		return &lineReader{from: c.Root().Reader}, 0, func() error { return nil }, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("--csv: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, nil, fmt.Errorf("--csv: %w", err)
	}
	if text, unmap, err := mapFile(file, info); err == nil {
		return &lineMap{text: text}, info.Size(), func() error { return errors.Join(unmap(), file.Close()) }, nil
	}
	return &lineReader{from: file}, info.Size(), file.Close, nil
}

// checkHistory lets every core take chunks and judge them, and takes their
// results in the order of the file. Bad rows are printed as they come, and kept
// for JSON.
func checkHistory(ctx context.Context, c *cli.Command, layout *layout, lines lineSource, size int64) (sum rowCounts, bad []badRow, err error) {
	bar := newBar(int(size), "verifying")
	inOrder := make(chan chan chunkResult, 2*runtime.GOMAXPROCS(0))
	group, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error { return judgeChunks(ctx, layout, lines, inOrder) })
	}
	done := make(chan error, 1)
	go func() {
		done <- group.Wait()
		close(inOrder)
	}()
	line := firstRow
	for result := range inOrder {
		r := <-result
		sum.add(r.counts)
		_ = bar.Add(r.bytes) // a bar that cannot be drawn changes no verdict
		for _, row := range r.bad {
			row.Line += line
			if c.Bool("json") {
				bad = append(bad, row)
			} else {
				printLine(c.Root().Writer, fmt.Sprintf("line %d", row.Line), row.verdict()+row.Check+": "+row.Words)
			}
		}
		line += r.lines
	}
	_ = bar.Finish()
	return sum, bad, <-done
}

// judgeChunks is one worker.
func judgeChunks(ctx context.Context, layout *layout, lines lineSource, inOrder chan<- chan chunkResult) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // for whileItLasts
	judge := rowJudge{layout: layout}
	buffer := new([chunkBytes]byte)
	for {
		result := make(chan chunkResult, 1)
		var text string
		err := whileItLasts(func() (err error) {
			text, err = lines.take(buffer, func() error {
				select {
				case inOrder <- result:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			return err
		})
		if text == "" || err != nil {
			return err
		}
		var judged chunkResult
		err = whileItLasts(func() error {
			judged = judge.chunk(text)
			return nil
		})
		result <- judged
		if err != nil {
			return err
		}
	}
}

func (b badRow) verdict() string {
	if b.Check == "format" {
		return "UNUSABLE  "
	}
	return "FAILED  "
}

// printHistory prints the summary and gives the exit status: a row that fails
// weighs more than one that cannot be judged.
func printHistory(c *cli.Command, sum rowCounts, bad []badRow) (err error) {
	verdict, status := foreign.Verified, 0
	switch {
	case sum.Failed > 0:
		verdict, status = foreign.Failed, exitFailed
	case sum.Unusable > 0 || sum.Rows == 0:
		verdict, status = "UNUSABLE", exitUnusable
	case sum.Consistent > 0:
		verdict = foreign.Consistent
	}
	out := c.Root().Writer
	if c.Bool("json") {
		err = printJSON(out, struct {
			rowCounts
			Bad     []badRow        `json:"bad"`
			Verdict foreign.Verdict `json:"verdict"`
		}{sum, append([]badRow{}, bad...), verdict})
	} else {
		printLine(out, "rows", fmt.Sprintf("%d: %d verified, %d consistent without a commitment, %d failed, %d unusable",
			sum.Rows, sum.Verified, sum.Consistent, sum.Failed, sum.Unusable))
		printLine(out, "verdict", string(verdict))
	}
	if status != 0 {
		return errors.Join(err, cli.Exit("", status))
	}
	return err
}

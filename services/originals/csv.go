package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/openoriginals/originals/internal/foreign"
)

// csvColumns is the part of verify's help that names the columns of a history.
const csvColumns = "The first line of a --csv file names its columns, in any order: serverSeed (or hash), clientSeed, nonce,\n" +
	"commitment, house, game, version, any parameter (such as mineCount, picks, target, salt) and at least one outcome\n" +
	"(such as rollE2 or roll, outcomeE2, pocket, mines, crashE2, win, payout), as --list names them. A column that is\n" +
	"missing is taken from the flags; an empty cell is not given; a column of another name has to be left out with --ignore.\n"

// chunkBytes is how much of a file one worker takes at a time.
const chunkBytes = 1 << 18

// chunk is some whole lines of a file.
type chunk struct {
	text   string
	line   int // the number of its first line
	result chan chunkResult
}

// chunkResult is what became of the rows of a chunk.
type chunkResult struct {
	counts rowCounts
	bad    []badRow
	bytes  int
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

// badRow is a row that does not hold, or that cannot be judged.
type badRow struct {
	Line  int    `json:"line"`
	Check string `json:"check"` // commitment, outcome or format
	Words string `json:"words"`
}

// verifyHistory checks a whole betting history on every core. A bad row is
// told and stops nothing.
func verifyHistory(ctx context.Context, c *cli.Command) error {
	err := refuseFlags(c, "--csv", "last-nonce", "from", "to", "terminal", "direction", "target-e2", "chips", "claimed")
	if err != nil {
		return err
	}
	file, size, err := openHistory(c)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := &lineReader{from: file, line: 1}
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

func openHistory(c *cli.Command) (io.ReadCloser, int64, error) {
	name := c.String("csv")
	if name == "-" {
		return io.NopCloser(c.Root().Reader), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("--csv: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, fmt.Errorf("--csv: %w", err)
	}
	return file, info.Size(), nil
}

// checkHistory hands chunks to the workers and takes their results in the
// order of the file. Bad rows are printed as they come, and kept for JSON.
func checkHistory(ctx context.Context, c *cli.Command, layout *layout, lines *lineReader, size int64) (sum rowCounts, bad []badRow, err error) {
	bar := newBar(int(size), "verifying")
	work := make(chan chunk, runtime.GOMAXPROCS(0))
	inOrder := make(chan chan chunkResult, 2*runtime.GOMAXPROCS(0))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(work)
		defer close(inOrder)
		return lines.chunks(func(next chunk) error {
			next.result = make(chan chunkResult, 1)
			select {
			case inOrder <- next.result:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case work <- next:
				return nil
			case <-ctx.Done():
				close(next.result)
				return ctx.Err()
			}
		})
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			judge := rowJudge{layout: layout}
			for next := range work {
				next.result <- judge.chunk(next)
			}
			return nil
		})
	}
	for result := range inOrder {
		r := <-result
		sum.add(r.counts)
		_ = bar.Add(r.bytes) // a bar that cannot be drawn changes no verdict
		for _, row := range r.bad {
			if c.Bool("json") {
				bad = append(bad, row)
			} else {
				printLine(c.Root().Writer, fmt.Sprintf("line %d", row.Line), row.verdict()+row.Check+": "+row.Words)
			}
		}
	}
	err = group.Wait()
	_ = bar.Finish()
	return sum, bad, err
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

// lineReader cuts a file into chunks of whole lines.
type lineReader struct {
	from io.Reader
	rest []byte // read, and not yet given out
	line int    // the number of the first line of rest
	done bool
}

var errLongLine = fmt.Errorf("a line is longer than %d bytes: this is no file of bets", chunkBytes)

// fill reads until a whole chunk or the end is there.
func (l *lineReader) fill() error {
	if l.done || len(l.rest) >= chunkBytes {
		return nil
	}
	start := len(l.rest)
	l.rest = slices.Grow(l.rest, 2*chunkBytes-start)[:2*chunkBytes]
	n, err := io.ReadFull(l.from, l.rest[start:])
	l.rest = l.rest[:start+n]
	l.done = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if l.done {
		return nil
	}
	return err
}

// header takes the first line, without a byte order mark.
func (l *lineReader) header() (string, error) {
	if err := l.fill(); err != nil {
		return "", err
	}
	end := bytes.IndexByte(l.rest, '\n')
	switch {
	case end < 0 && len(l.rest) >= chunkBytes:
		return "", errLongLine
	case end < 0:
		return "", errors.New("the file has no row under its header")
	}
	header := strings.TrimSuffix(string(l.rest[:end]), "\r")
	l.rest, l.line = append(l.rest[:0], l.rest[end+1:]...), l.line+1
	return strings.TrimPrefix(header, "\ufeff"), nil
}

// chunks gives out all that is left.
func (l *lineReader) chunks(give func(chunk) error) error {
	for {
		if err := l.fill(); err != nil {
			return err
		}
		end := len(l.rest)
		if !l.done {
			end = bytes.LastIndexByte(l.rest, '\n') + 1
		}
		switch {
		case len(l.rest) == 0:
			return nil
		case end == 0:
			return errLongLine
		}
		next := chunk{text: string(l.rest[:end]), line: l.line}
		l.line += strings.Count(next.text, "\n")
		l.rest = append(l.rest[:0], l.rest[end:]...)
		if err := give(next); err != nil {
			return err
		}
	}
}

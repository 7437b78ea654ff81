package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"
)

const (
	watchAgain    = time.Second      // before a stream that ended is asked for again
	watchPatience = 30 * time.Second // for a gateway that is away
	longestEvent  = 1 << 20          // bytes of a line
)

// crashWatchCommand shows a table as it is played.
func crashWatchCommand() *cli.Command {
	return &cli.Command{
		Name:  "watch",
		Usage: "watch a crash table: each round as a curve that grows",
		Description: "Example: originals crash watch --table main --rounds 3\n" +
			"On a terminal the curve grows in place; elsewhere it is printed when its round has crashed. No token is needed.",
		Flags: []cli.Flag{
			urlFlag("`URL` of the REST API"),
			&cli.StringFlag{Name: "table", Value: "main", Usage: "`NAME` of the table"},
			&cli.UintFlag{Name: "rounds", Usage: "end after this `COUNT` of crashes; 0 for never"},
			&cli.DurationFlag{Name: "for", Usage: "end after this `TIME`; 0 for never"},
			&cli.BoolFlag{Name: "json", Usage: "print each event as a line of JSON"},
		},
		Action: watchCrash,
	}
}

func watchCrash(ctx context.Context, c *cli.Command) error {
	out := c.Root().Writer
	var show func(tableEvent) error
	if c.Bool("json") {
		encoder := json.NewEncoder(out)
		show = func(e tableEvent) error { return encoder.Encode(e) }
	} else {
		file, ok := out.(interface{ Fd() uintptr })
		s := &tableScreen{out: out, live: ok && term.IsTerminal(int(file.Fd()))}
		show = s.show
	}
	w := tableWatcher{url: strings.TrimSuffix(c.String("url"), "/") + "/v1/crash/tables/" + url.PathEscape(c.String("table")) + ":watch"}
	if limit := c.Duration("for"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	crashes := uint(0)
	err := w.watch(ctx, func(e tableEvent) error {
		if err := show(e); err != nil {
			return err
		}
		if e.Name == "crash" {
			crashes++
		}
		if crashes > 0 && crashes == c.Uint("rounds") {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) || ctx.Err() != nil {
		return nil
	}
	return err
}

var errEnough = errors.New("enough rounds were watched")

// tableEvent is one event of a table, as it was sent.
type tableEvent struct {
	Name string          `json:"event"`
	ID   string          `json:"id,omitempty"`
	Data json.RawMessage `json:"data"`
}

// tableWatcher watches one table, and goes on where it was when a stream ends.
type tableWatcher struct {
	url  string
	last string // id of the newest event
}

// watch gives events to yield until it fails, the gateway refuses, or it stays
// away.
func (w *tableWatcher) watch(ctx context.Context, yield func(tableEvent) error) error {
	heard := time.Now()
	begun := false
	for {
		err := w.stream(ctx, func(e tableEvent) error {
			heard, begun = time.Now(), true
			return yield(e)
		})
		var refusal *apiError
		if !errors.Is(err, errStream) || ctx.Err() != nil {
			return err
		}
		if errors.As(err, &refusal) && refusal.status < http.StatusInternalServerError && refusal.status != http.StatusTooManyRequests {
			return refusal
		}
		if !begun || time.Since(heard) > watchPatience {
			return err
		}
		select {
		case <-time.After(watchAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errStream is what every end of a stream is; other errors are those of yield.
var errStream = errors.New("no stream of events")

func (w *tableWatcher) stream(ctx context.Context, yield func(tableEvent) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		return err
	}
	if w.last != "" {
		req.Header.Set("Last-Event-ID", w.last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errStream, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		refusal := &apiError{status: res.StatusCode}
		if json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(refusal) != nil {
			refusal.Message = http.StatusText(res.StatusCode)
		}
		return fmt.Errorf("%w: %w", errStream, refusal)
	}
	return w.read(res.Body, yield)
}

// read reads Server-Sent Events. One that was cut off is no event.
func (w *tableWatcher) read(r io.Reader, yield func(tableEvent) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	var e tableEvent
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.Name = value
		case "id":
			e.ID = value
		case "data":
			e.Data = json.RawMessage(value)
		case "":
			if e.Name == "" {
				continue // after a comment
			}
			if e.ID != "" {
				w.last = e.ID
			}
			if err := yield(e); err != nil {
				return err
			}
			e = tableEvent{}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", errStream, err)
	}
	return errStream
}

package refwallet

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options say where a wallet keeps its books and where the platform is.
type Options struct {
	Dir      string // folder of the books; it must exist
	URL      string // of the platform's REST API
	Token    string // of the role wallet
	Consumer string // name of this process in claims: 1 to 64 of A-Z a-z 0-9 _ and -
	Cursor   bool   // list every partition with a cursor, and claim nothing

	Listener net.Listener // of the wallet's own face; Run closes it
	HTTP     *http.Client // calls the platform; its Timeout bounds a call
	Poll     time.Duration
	Failed   func(step string, err error) // is told of every try that failed; the wallet goes on
}

// maxPause is the longest pause between two tries of a thing that fails.
const maxPause = time.Second

// backoff makes pauses that grow.
type backoff struct{ first time.Duration }

func (b backoff) after(failures int) time.Duration {
	return min(b.first<<min(failures, 10), maxPause)
}

// Run opens the books and runs the wallet until ctx ends. It returns an error
// when the books cannot be opened or the face cannot be served.
func Run(ctx context.Context, o Options) error {
	books, err := OpenBooks(ctx, o.Dir)
	if err != nil {
		return errors.Join(err, o.Listener.Close())
	}
	defer books.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()

	w := &wallet{Options: o, books: books, wake: make(chan struct{}, 1)}
	w.api = &platform{url: o.URL, token: o.Token, http: o.HTTP}
	face := &http.Server{Handler: w.face(), ReadHeaderTimeout: 5 * time.Second}
	var parts sync.WaitGroup
	parts.Go(func() { w.read(ctx) })
	parts.Go(func() { w.carry(ctx) })
	parts.Go(func() {
		<-ctx.Done()
		_ = face.Close()
	})
	err = face.Serve(o.Listener)
	stop()
	parts.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

type wallet struct {
	Options
	books *Books
	api   *platform
	wake  chan struct{} // a transfer was begun or given up
}

// read takes turns at the feed. Between turns that brought nothing it waits,
// after failures for longer and longer.
func (w *wallet) read(ctx context.Context) {
	r := &reader{books: w.books, platform: w.api, consumer: w.Consumer}
	turn := r.claimed
	if w.Cursor {
		turn = r.listed
	}
	pause := backoff{w.Poll}
	for failures := 0; ctx.Err() == nil; {
		n, err := turn(ctx)
		switch {
		case err != nil:
			w.Failed("feed", err)
			failures++
			sleep(ctx, pause.after(failures))
		case n == 0:
			failures = 0
			sleep(ctx, w.Poll)
		default:
			failures = 0
		}
	}
}

// carry takes transfers to the platform: at once when one was begun, and again
// until its result is known.
func (w *wallet) carry(ctx context.Context) {
	c := &carrier{books: w.books, platform: w.api, pause: backoff{w.Poll}, failed: w.Failed, busy: make(map[string]*attempt)}
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		if err := c.carry(ctx, time.Now(), &all); err != nil {
			w.Failed("transfers", err)
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-time.After(w.Poll):
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

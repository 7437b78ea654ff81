package walletcheck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options say what is checked.
type Options struct {
	Command  string        // starts the wallet; run by /bin/sh
	Dir      string        // a folder for the books of all cases
	Names    []string      // cases to run; none for all
	Patience time.Duration // how long the wallet has for what a case waits for
	Parallel int           // cases that run at one time
	Clock    func() time.Time
	Done     func(Result) // is told of each result as it comes; may be nil
}

// Result is what became of one case.
type Result struct {
	Name     string        `json:"name"`
	About    string        `json:"about"`
	Passed   bool          `json:"passed"`
	Expected string        `json:"expected,omitempty"` // of a failure
	Seen     string        `json:"seen,omitempty"`     // of a failure
	Note     string        `json:"note,omitempty"`
	Output   string        `json:"output,omitempty"` // the last of what a failing wallet printed
	Took     time.Duration `json:"tookNanoseconds"`
}

// Case is a named situation that a wallet must come through.
type Case struct {
	Name  string
	About string // what happens, in a sentence
	play  func(*scenario)
}

// Find returns the cases of names, all of them when there are none. An unknown
// name is an error.
func Find(names []string) ([]Case, error) {
	if len(names) == 0 {
		return Cases(), nil
	}
	byName := make(map[string]Case)
	for _, c := range Cases() {
		byName[c.Name] = c
	}
	var found []Case
	for _, name := range names {
		c, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("walletcheck: unknown case %q", name)
		}
		found = append(found, c)
	}
	return found, nil
}

// Run plays the cases, each with a platform, books and processes of its own, and
// returns their results in the order of the cases.
func Run(ctx context.Context, o Options) ([]Result, error) {
	cases, err := Find(o.Names)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(cases))
	slots := make(chan struct{}, max(1, o.Parallel))
	var all sync.WaitGroup
	var told sync.Mutex
	for i, c := range cases {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] = c.run(ctx, o)
			told.Lock()
			defer told.Unlock()
			if o.Done != nil {
				o.Done(results[i])
			}
		})
	}
	all.Wait()
	return results, ctx.Err()
}

func (c Case) run(ctx context.Context, o Options) Result {
	begin := time.Now()
	r := Result{Name: c.Name, About: c.About}
	dir := filepath.Join(o.Dir, c.Name)
	s, err := newScenario(ctx, o, dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		r.Expected, r.Seen = "a platform for the check", err.Error()
		return r
	}
	played := make(chan bool, 1)
	go func() {
		finished := false
		defer func() { played <- finished }() // also when the case was stopped
		c.play(s)
		s.finish()
		finished = true
	}()
	r.Passed = <-played
	s.close()
	r.Expected, r.Seen = s.expected, s.seen
	r.Note = s.note
	if !r.Passed {
		r.Output = s.output()
	}
	r.Took = time.Since(begin)
	return r
}

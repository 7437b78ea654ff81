package crash

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
)

// Successor returns the name of the table that has the n-th chain of a line,
// from 2: main-2 after main, then main-3. A table's name serves one chain for
// ever, so the next chain needs another. A long name is cut.
func Successor(base rng.Table, n int) rng.Table {
	ending := "-" + strconv.Itoa(n)
	return base[:min(len(base), rng.MaxTableBytes-len(ending))] + rng.Table(ending)
}

// LineChain is one chain of a line.
type LineChain struct {
	Table rng.Table
	Kept  ledger.CrashChain
}

// Line returns the chains of a line, the first first: that of base, and each
// that was announced after another. It is empty when base has none. Errors: a
// successor's name that has a chain of its own.
func Line(ctx context.Context, store ledger.CrashChains, base rng.Table) ([]LineChain, error) {
	var line []LineChain
	for table := base; ; table = Successor(base, len(line)+1) {
		kept, err := store.CrashChain(ctx, string(table))
		if errors.Is(err, ledger.ErrNotFound) {
			return line, nil
		}
		if err != nil {
			return nil, fmt.Errorf("crash: chain of table %s: %w", table, err)
		}
		var before rng.Table
		if len(line) > 0 {
			before = line[len(line)-1].Table
		}
		if kept.After != string(before) {
			return nil, fmt.Errorf("crash: the chain of table %s is announced after %q, and not after %q", table, kept.After, before)
		}
		line = append(line, LineChain{table, kept})
	}
}

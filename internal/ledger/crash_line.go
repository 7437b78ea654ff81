package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/openoriginals/originals/internal/rng"
)

// CrashSuccessor returns the name of the table that has the n-th chain of a line,
// from 2: main-2 after main, then main-3. A table's name serves one chain for
// ever, so the next chain needs another. A long name is cut.
func CrashSuccessor(base rng.Table, n int) rng.Table {
	ending := "-" + strconv.Itoa(n)
	return base[:min(len(base), rng.MaxTableBytes-len(ending))] + rng.Table(ending)
}

// CrashLineChain is one chain of a line.
type CrashLineChain struct {
	Table rng.Table
	Kept  CrashChain
}

// CrashLine returns the chains of a line, the first first: that of base, and each
// that was announced after another. It is empty when base has none. Errors: a
// successor's name that has a chain of its own.
func CrashLine(ctx context.Context, store CrashChains, base rng.Table) ([]CrashLineChain, error) {
	var line []CrashLineChain
	for table := base; ; table = CrashSuccessor(base, len(line)+1) {
		kept, err := store.CrashChain(ctx, string(table))
		if errors.Is(err, ErrNotFound) {
			return line, nil
		}
		if err != nil {
			return nil, fmt.Errorf("ledger: chain of table %s: %w", table, err)
		}
		var before rng.Table
		if len(line) > 0 {
			before = line[len(line)-1].Table
		}
		if kept.After != string(before) {
			return nil, fmt.Errorf("ledger: the chain of table %s is announced after %q, and not after %q", table, kept.After, before)
		}
		line = append(line, CrashLineChain{table, kept})
	}
}

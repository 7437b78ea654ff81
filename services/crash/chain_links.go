package crash

import (
	"errors"
	"fmt"
	"sync"

	"github.com/openoriginals/originals/internal/rng"
)

// checkpointEvery is the distance of the links of a chain that are kept: any
// other is fewer hashes away from one. The checkpoints of ten million links take
// 78 KB.
const checkpointEvery = 4096

// keptSegments is how many runs of links between two checkpoints are kept in
// memory: that of the table's next rounds, and those that somebody looked at.
// One takes some 400 KB.
const keptSegments = 3

// ErrChainDamaged says that the stored links of a chain are not those of its
// terminal. No round is drawn from them.
var ErrChainDamaged = errors.New("crash: the links of the chain are damaged")

// links are the secret links of a chain, behind checkpoints. It is safe for
// concurrent use.
type links struct {
	terminal    rng.Terminal
	length      uint32
	checkpoints []rng.Link // h[4096], h[8192], ..., h[length]

	mu     sync.Mutex
	recent []segment // the last used first
}

// segment is the run of links up to a checkpoint.
type segment struct {
	checkpoint uint32 // its index
	links      []rng.Link
}

// newLinks returns the links behind checkpoints. Errors: ErrChainDamaged.
func newLinks(terminal rng.Terminal, length uint32, checkpoints []rng.Link) (*links, error) {
	if length == 0 || uint32(len(checkpoints)) != (length-1)/checkpointEvery+1 {
		return nil, fmt.Errorf("%w: %d checkpoints of %d links", ErrChainDamaged, len(checkpoints), length)
	}
	return &links{terminal: terminal, length: length, checkpoints: checkpoints}, nil
}

// link returns h[number]. Errors: rng.ErrRoundNumber, ErrChainDamaged.
func (l *links) link(number uint32) (rng.Link, error) {
	if number < 1 || number > l.length {
		return rng.Link{}, rng.ErrRoundNumber
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := (number - 1) / checkpointEvery
	for i, s := range l.recent {
		if s.checkpoint == at {
			copy(l.recent[1:i+1], l.recent[:i])
			l.recent[0] = s
			return s.links[(number-1)%checkpointEvery], nil
		}
	}
	run, err := l.walk(at)
	if err != nil {
		return rng.Link{}, err
	}
	kept := l.recent[:min(len(l.recent), keptSegments-1)]
	l.recent = append([]segment{{at, run}}, kept...)
	return run[(number-1)%checkpointEvery], nil
}

// walk returns the links up to a checkpoint, which must lead to the checkpoint
// below, or to the terminal.
func (l *links) walk(at uint32) ([]rng.Link, error) {
	below := at * checkpointEvery
	top := min(below+checkpointEvery, l.length)
	run, err := l.checkpoints[at].Segment(top - below)
	if err != nil {
		return nil, err
	}
	if at == 0 {
		if !run[0].Follows(l.terminal) {
			return nil, fmt.Errorf("%w: checkpoint h[%d] does not lead to the terminal", ErrChainDamaged, top)
		}
		return run, nil
	}
	before, err := run[0].Back(1)
	if err != nil {
		return nil, err
	}
	if !before.Equal(l.checkpoints[at-1]) {
		return nil, fmt.Errorf("%w: checkpoint h[%d] does not lead to h[%d]", ErrChainDamaged, top, below)
	}
	return run, nil
}

// verify walks the whole chain. walked, which may be nil, is told how many links
// are done. Errors: ErrChainDamaged.
func (l *links) verify(walked func(links uint32)) error {
	for at := range l.checkpoints {
		run, err := l.walk(uint32(at))
		if err != nil {
			return err
		}
		if walked != nil {
			walked(uint32(at)*checkpointEvery + uint32(len(run)))
		}
	}
	return nil
}

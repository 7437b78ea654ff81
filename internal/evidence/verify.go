package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/openoriginals/originals/internal/rng"
)

// Options is what the player kept, and how to work.
type Options struct {
	Commitment *rng.Commitment // the one that was shown before the first bet; nil when it was not kept
	LastNonce  *uint32         // the greatest nonce that the player has seen; nil when it was not kept
	LastPly    *uint32         // of a duel: the greatest ply that the player has seen; nil when it was not kept
	Workers    int             // how many goroutines verify; 0 means one for each processor
	Progress   func(bytes int) // told, from one goroutine, how many more bytes of rounds are verified; may be nil
}

// Verify reads an evidence document, of a seed pair or of a duel, and checks everything in it. The error is a *FormatError when the document is
// unusable, which outranks every failed check, the reader's error, or the context's; then there is no report. A reader
// that blocks also blocks Verify.
func Verify(ctx context.Context, r io.Reader, o Options) (Report, error) {
	document, duel, err := recognise(r)
	if err != nil {
		return Report{}, err
	}
	if duel {
		return verifyDuel(document, o)
	}
	if o.LastPly != nil {
		return Report{}, &FormatError{Problem: "a last ply is for duels, and this is none"}
	}
	pair, rounds, err := readHead(document)
	if err != nil {
		return Report{}, err
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	m := merger{pair: &pair}
	m.bets.reserve(pair.nonce)
	m.findings.commitment(&pair, o.Commitment)
	if err := m.run(ctx, rounds, o); err != nil {
		return Report{}, err
	}
	m.finish(o)
	report := m.findings.report(o.Commitment != nil)
	report.Summary = m.totals.summary(m.rounds)
	m.note(&report, o)
	return report, nil
}

// commitment checks that the server seed opens the commitment, and that it is the one the player kept.
func (f *findings) commitment(p *seedPair, kept *rng.Commitment) {
	stated := string(p.commitment)
	computed, err := p.serverSeed.Commitment()
	if err != nil || computed.String() != stated {
		hint := commitmentHint(p.serverSeed.Reveal(), string(p.clientSeed), stated)
		f.fail(checkCommitment, noNonce, "the server seed hashes to %s, and the commitment is %s%s", computed, stated, hint)
	}
	if kept != nil && kept.String() != stated {
		hint := ""
		if kept.String() == p.serverSeed.Reveal() {
			hint = "; what you gave is the server seed and not its commitment"
		}
		f.fail(checkCommitment, noNonce, "you kept the commitment %s, and this one is %s: another seed pair, or another promise%s", kept, stated, hint)
	}
}

// batch is a run of rounds on its way from a worker to the merger.
type batch struct {
	text []byte
	last bool
	done chan struct{} // gets one value when the worker has finished

	findings findings
	part     part
	ended    bool // the list of rounds ends in this batch, and so must the document
	err      *FormatError
}

// batchesPerWorker bounds how much of the document is in memory.
const batchesPerWorker = 4

// run lets workers read and verify all rounds, and merges what they find in the order of the document.
func (m *merger) run(ctx context.Context, rounds io.Reader, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := newQueue(rounds, o.Workers*batchesPerWorker)
	var group sync.WaitGroup
	for range o.Workers {
		group.Go(func() {
			w := &worker{decoder: newDecoder(m.pair.id), judge: newJudge(m.pair)}
			for b := q.next(ctx); b != nil; b = q.next(ctx) {
				w.verify(b)
				b.done <- struct{}{}
			}
		})
	}
	go func() {
		group.Wait()
		close(q.ordered)
	}()
	var err error
	for b := range q.ordered {
		<-b.done
		if err == nil {
			if err = m.merge(b); err != nil {
				cancel() // nothing more is read; what is under way is drained
			} else if o.Progress != nil {
				o.Progress(len(b.text))
			}
		}
		q.free <- b
	}
	if err == nil {
		err = q.err
	}
	if err == nil && !m.closed {
		err = &FormatError{Where: "rounds", Problem: "the document ends in the middle"}
	}
	return err
}

// queue hands out the batches of a document. Each worker reads its own, so that the text is in its processor's cache.
type queue struct {
	free    chan *batch // those that nobody uses
	ordered chan *batch // those that were handed out, in the order of the document; it has room for all

	turn     sync.Mutex // guards what follows
	splitter splitter
	finished bool
	err      error // why reading ended early; it may be looked at when ordered is closed
}

func newQueue(rounds io.Reader, batches int) *queue {
	q := &queue{free: make(chan *batch, batches), ordered: make(chan *batch, batches), splitter: splitter{source: rounds}}
	for range batches {
		q.free <- &batch{done: make(chan struct{}, 1)}
	}
	return q
}

// next reads the next batch, or returns nil when there is none.
func (q *queue) next(ctx context.Context) *batch {
	b := <-q.free
	q.turn.Lock()
	defer q.turn.Unlock()
	if q.finished {
		q.free <- b
		return nil
	}
	if q.err = ctx.Err(); q.err == nil {
		b.text, b.last, q.err = q.splitter.next(b.text)
	}
	if q.finished = b.last || q.err != nil; q.err != nil {
		q.free <- b
		return nil
	}
	q.ordered <- b
	return b
}

// worker verifies batches, one after the other.
type worker struct {
	decoder *decoder
	slots   [slotsPerWorker]slot
	judge   judge
}

// slotsPerWorker is how many rounds are read before they are judged: enough for either to find its code and its branches
// as it left them, and few enough for all of them to stay in the cache.
const slotsPerWorker = 64

// verify reads the rounds of a batch, judges each, and leaves the result in the batch.
func (w *worker) verify(b *batch) {
	d := w.decoder
	d.cursor, d.ahead = cursor{text: b.text, path: d.path[:0]}, withSlack(b.text)
	w.judge.findings = findings{}
	w.judge.part = part{bets: b.part.bets[:0]}
	for more := true; more; {
		var count int
		count, more = w.readRounds(b)
		w.judge.rounds(w.slots[:count])
	}
	b.findings, b.part, b.err = w.judge.findings, w.judge.part, d.err
}

// readRounds fills the slots with the next rounds of a batch, and returns how many there were and whether more follow. A
// batch must end with the document or behind a comma.
func (w *worker) readRounds(b *batch) (count int, more bool) {
	d := w.decoder
	b.ended = b.last && d.at == 0 && d.take(']') // no rounds at all: every batch but the first begins with a round
	for !b.ended && count < len(w.slots) {
		d.slot = &w.slots[count]
		d.space()
		d.nextRound()
		if d.err != nil {
			return count, false
		}
		count++
		if b.ended = d.take(']'); b.ended {
			break
		}
		if !d.take(',') {
			d.wants("a comma or ]")
			return count, false
		}
		if d.space(); d.at == len(d.text) && !b.last {
			return count, false
		}
	}
	if b.ended {
		d.documentEnd()
	}
	return count, !b.ended
}

// documentEnd reads the end of the document.
func (d *decoder) documentEnd() {
	if !d.take('}') {
		d.wants("the end of the document, }")
	} else if d.space(); d.at < len(d.text) {
		d.fail("something stands after the end")
	}
}

// merger puts the results of all batches together, in order.
type merger struct {
	pair        *seedPair
	findings    findings
	totals      totals
	bets        betSet
	rounds      uint64
	closed      bool
	nextNonce   uint64
	lastCreated instant
	lastSettled instant
}

func (m *merger) merge(b *batch) error {
	p := &b.part
	if m.closed {
		return &FormatError{Problem: "something stands after the end"}
	}
	if b.err != nil && b.ended {
		return b.err
	}
	if b.err != nil {
		where := strings.TrimSuffix(fmt.Sprintf("rounds[%d].%s", m.rounds+p.rounds, b.err.Where), ".")
		return &FormatError{Where: where, Problem: b.err.Problem}
	}
	m.closed = b.ended
	if p.rounds == 0 {
		return nil
	}
	m.findings.follow(p.firstNonce, p.firstCreated, m.nextNonce, m.lastCreated)
	m.findings.add(&b.findings)
	m.totals.merge(&p.totals)
	m.bets.add(p.bets)
	m.rounds += p.rounds
	m.nextNonce, m.lastCreated = uint64(p.lastNonce)+1, p.lastCreated
	if m.lastSettled.before(p.lastSettled) {
		m.lastSettled = p.lastSettled
	}
	return nil
}

// finish makes the checks that need the whole document.
func (m *merger) finish(o Options) {
	for _, again := range m.bets.repeats(o.Workers) {
		m.findings.fail(checkIdentity, int64(again.second), "its bet id stands twice, first at nonce %d", again.first)
	}
	if uint64(m.pair.nonce) != m.rounds {
		m.findings.fail(checkNonce, noNonce, "the seed pair has had %d bets, and the document holds %d", m.pair.nonce, m.rounds)
	}
	if o.LastNonce != nil && *o.LastNonce >= m.pair.nonce {
		m.findings.fail(checkNonce, noNonce, "you have seen nonce %d, and the seed pair ends before it", *o.LastNonce)
	}
}

// note adds what no check forbids.
func (m *merger) note(r *Report, o Options) {
	if words := weakness(m.pair.clientSeed); words != "" && !m.pair.unused {
		r.Weak = true
		r.Notes = append(r.Notes, words)
	}
	if m.pair.revealed.before(m.lastSettled) {
		r.Notes = append(r.Notes, "the server seed was revealed before the last round had settled")
	}
	if o.Commitment == nil {
		r.Notes = append(r.Notes, "give the commitment that you were shown before you played with --commitment; without it the file only agrees with itself")
	}
}

// strongBytes is how long a client seed has to be for the house not to guess it.
const strongBytes = 16

// weakness says why a client seed does not protect, or "".
func weakness(clientSeed []byte) string {
	if len(clientSeed) >= strongBytes {
		return ""
	}
	return fmt.Sprintf("WEAK client seed of %d bytes: under %d the house might have guessed it before it chose the server seed", len(clientSeed), strongBytes)
}

// IsUnusable reports whether an error of Verify is about the document, and not about reading it.
func IsUnusable(err error) bool {
	var format *FormatError
	return errors.As(err, &format)
}

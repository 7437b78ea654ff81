package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/openoriginals/originals/internal/rng"
)

const (
	maxNonce = uint32(rng.MaxNonce)

	// headBytes is how much is read at first, and maxHeadBytes the most that may stand before the rounds.
	headBytes    = 4 << 10
	maxHeadBytes = 1 << 20
	// maxUnorderedBytes bounds a document whose seed pair stands behind its rounds: it has to be held in memory.
	maxUnorderedBytes = 256 << 20
)

// seedPair is the seed pair as the document states it.
type seedPair struct {
	id, scheme, commitment, clientSeed []byte

	unused     bool // a commitment that was shown and never became active: no client seed, no bets
	nonce      uint32
	serverSeed rng.ServerSeed
	revealed   instant
}

var (
	pairStateNames = []string{"REVEALED", "UNUSED"}
	pairSchemes    = []string{rng.Scheme}
)

// headReader reads a document up to its rounds.
type headReader struct {
	cursor
	pair                          seedPair
	sawFormat, sawPair, unordered bool
}

// errUnordered says that the rounds come before the format or the seed pair.
var errUnordered = errors.New("evidence: rounds before the seed pair")

// readHead returns the seed pair and a reader that stands behind the [ of the rounds.
func readHead(r io.Reader) (seedPair, io.Reader, error) {
	var text []byte
	for size := headBytes; ; size *= 2 {
		var last bool
		var err error
		if text, last, err = fill(r, text, size); err != nil {
			return seedPair{}, nil, err
		}
		pair, end, err := parseHead(text)
		var format *FormatError
		switch {
		case errors.Is(err, errUnordered):
			return readUnordered(io.MultiReader(bytes.NewReader(text), r))
		case err == nil:
			return pair, io.MultiReader(bytes.NewReader(text[end:]), r), nil
		case !errors.As(err, &format) || !format.short || last:
			return seedPair{}, nil, err
		case size >= maxHeadBytes:
			return seedPair{}, nil, &FormatError{Problem: fmt.Sprintf("more than %d bytes stand before the rounds", maxHeadBytes)}
		}
	}
}

// fill reads into text until it has this many bytes, and reports whether the reader ended before.
func fill(r io.Reader, text []byte, size int) (filled []byte, last bool, err error) {
	have := len(text)
	if cap(text) < size {
		text = append(make([]byte, 0, size+slack), text...)
	}
	n, err := io.ReadFull(r, text[have:size])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return text[:have+n], true, nil
	}
	return text[:have+n], false, err
}

// parseHead reads the beginning of a document, and returns where its rounds begin.
func parseHead(text []byte) (seedPair, int, error) {
	h := headReader{cursor: cursor{text: text}}
	h.object(documentKeys, h.field)
	switch {
	case h.err != nil:
		return seedPair{}, 0, h.err
	case h.unordered:
		return seedPair{}, 0, errUnordered
	}
	return h.pair, h.at, nil
}

func (h *headReader) field(f field) bool {
	switch f {
	case fFormat:
		h.oneOf([]string{Format}, Format)
		h.sawFormat = true
	case fSeedPair:
		h.seedPair()
		h.sawPair = true
	case fRounds:
		h.unordered = !h.sawFormat || !h.sawPair
		if !h.take('[') {
			h.wants("a list of rounds")
		}
		return false
	}
	return h.err == nil
}

func (h *headReader) seedPair() {
	h.object(seedPairKeys, h.pairField)
	if h.err != nil || !h.pair.unused && len(h.pair.clientSeed) > 0 {
		return
	}
	if !h.pair.unused {
		h.fail("the client seed is empty, and only an UNUSED seed pair has none")
		return
	}
	if len(h.pair.clientSeed) > 0 || h.pair.nonce > 0 {
		h.fail("an UNUSED seed pair has no client seed and no bets")
	}
}

func (h *headReader) pairField(f field) bool {
	p := &h.pair
	switch f {
	case fPairID:
		p.id = h.id()
	case fPairScheme:
		p.scheme = []byte(pairSchemes[h.oneOf(pairSchemes, rng.Scheme)])
	case fPairState:
		p.unused = h.oneOf(pairStateNames, "REVEALED or UNUSED") == 1
	case fPairCommitment:
		p.commitment = h.hex64()
	case fPairClientSeed:
		if !h.expect([]byte(`""`)) {
			p.clientSeed = h.clientSeed()
		}
	case fPairNonce:
		p.nonce = h.number(0, maxNonce+1)
	case fServerSeed:
		if text := h.hex64(); h.err == nil {
			p.serverSeed, _ = rng.ParseServerSeed(string(text)) // cannot fail: hex64 has the same pattern
		}
	case fPairCreateTime:
		h.instant()
	case fRevealTime:
		p.revealed = h.instant()
	case fRevealReason:
		h.freeText()
	}
	return h.err == nil
}

// readUnordered reads a whole document whose rounds do not come last, and returns it as if they did.
func readUnordered(r io.Reader) (seedPair, io.Reader, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxUnorderedBytes+1))
	if err != nil {
		return seedPair{}, nil, err
	}
	if len(text) > maxUnorderedBytes {
		return seedPair{}, nil, &FormatError{Problem: "a document of this size must name its format and its seed pair before the rounds"}
	}
	h, d := headReader{cursor: cursor{text: text}}, newDecoder(nil)
	var rounds []byte
	h.object(documentKeys, func(f field) bool {
		if f != fRounds {
			return h.field(f)
		}
		start := h.at
		d.cursor = cursor{text: text, at: h.at}
		d.skipRounds()
		h.at, h.err, rounds = d.at, d.err, text[start:d.at]
		return h.err == nil
	})
	if h.next() != 0 || h.err == nil && h.at < len(text) {
		h.fail("something stands after the end")
	}
	if h.err != nil {
		return seedPair{}, nil, h.err
	}
	return h.pair, io.MultiReader(bytes.NewReader(rounds[1:]), bytes.NewReader([]byte{'}'})), nil
}

// skipRounds reads a list of rounds and keeps nothing but where it ends.
func (d *decoder) skipRounds() {
	if !d.take('[') {
		d.wants("a list of rounds")
		return
	}
	if d.take(']') {
		return
	}
	for place := 0; d.err == nil; place++ {
		d.path = append(d.path[:0], fmt.Sprintf("rounds[%d]", place))
		d.space()
		d.nextRound()
		if d.err != nil || d.take(']') {
			return
		}
		if !d.take(',') {
			d.wants("a comma or ]")
		}
	}
}

package evidence

import (
	"bytes"
	"fmt"
	"io"
)

// batchBytes is about how much text one worker gets at a time: it fits a processor's cache. Tests make it smaller.
var batchBytes = 256 << 10

// maxBatchBytes bounds a batch when no further round begins like the first one.
const maxBatchBytes = 64 << 20

// splitter divides the text of the rounds into batches that begin and end between two rounds, without reading it.
//
// It looks for the text with which the first round begins, up to the first byte of its first value, such as
// `{"roundId":"`. In a usable document that text stands at the beginning of a round and nowhere else: no string holds a
// bare quote, and no other object begins with that key and that kind of value. Whatever it finds, nothing is taken on
// trust: each batch must turn out to be whole rounds with commas between them, or the document is unusable.
type splitter struct {
	source io.Reader
	rest   []byte // the beginning of the next batch
	marker []byte
}

// next fills a batch, and reports whether it is the last.
func (s *splitter) next(text []byte) (batch []byte, last bool, err error) {
	text = append(text[:0], s.rest...)
	for size := batchBytes; ; size *= 2 {
		text, last, err = fill(s.source, text, max(size, len(text)))
		if err != nil || last {
			s.rest = s.rest[:0]
			return text, last, err
		}
		if s.marker == nil {
			s.marker = beginning(text)
		}
		if at := lastIndex(text, s.marker); at > 0 && len(bytes.TrimSpace(text[:at])) > 0 {
			s.rest = append(s.rest[:0], text[at:]...)
			return text[:at], false, nil
		}
		if size >= maxBatchBytes {
			return nil, false, &FormatError{Problem: fmt.Sprintf("in %d bytes no round begins like the first one does", size)}
		}
	}
}

func lastIndex(text, marker []byte) int {
	if len(marker) == 0 {
		return -1
	}
	return bytes.LastIndex(text, marker)
}

// beginning returns the text of the first round up to the first byte of its first value, without that byte if it is a
// digit, or nil when there is no such text.
func beginning(text []byte) []byte {
	c := cursor{text: text}
	c.space()
	start := c.at
	if !c.take('{') {
		return nil
	}
	c.space()
	c.str()
	if !c.take(':') {
		return nil
	}
	switch c.next() {
	case 0: // not all of it is here yet
		return nil
	case '"', '{':
		c.at++
	}
	return bytes.Clone(text[start:c.at])
}

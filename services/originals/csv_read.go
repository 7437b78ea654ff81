package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unsafe"
)

const (
	// chunkBytes is how much of a file one worker takes at a time, little enough
	// to stay in the cache of its processor.
	chunkBytes = 1 << 18
	// firstRow is the number of the line under the header.
	firstRow = 2
)

// lineSource cuts a history into chunks of whole lines, for several workers.
type lineSource interface {
	// header takes the first line, without a byte order mark.
	header() (string, error)
	// take returns the next lines, "" at the end of the file. It calls announce,
	// in the order of the file, for each chunk that it is going to return. The
	// text may lie in the array of the caller, and lives until the next take: so
	// nobody may keep a part of it, see rowJudge.chunk.
	take(into *[chunkBytes]byte, announce func() error) (string, error)
}

// lineReader is a lineSource that reads.
type lineReader struct {
	mu   sync.Mutex
	from io.Reader
	rest []byte // read, and not yet given out
	done bool
}

var errLongLine = fmt.Errorf("a line is longer than %d bytes: this is no file of bets", chunkBytes)

// read fills a chunk, if the file does not end before.
func (l *lineReader) read(into *[chunkBytes]byte) ([]byte, error) {
	n := copy(into[:], l.rest)
	if l.done || n == chunkBytes {
		return into[:n], nil
	}
	more, err := io.ReadFull(l.from, into[n:])
	l.done = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !l.done {
		return nil, err
	}
	return into[:n+more], nil
}

// header implements lineSource.
func (l *lineReader) header() (string, error) {
	text, err := l.read(new([chunkBytes]byte))
	if err != nil {
		return "", err
	}
	header, rest, err := cutHeader(string(text))
	l.rest = []byte(rest)
	return header, err
}

// cutHeader divides the first line, without a byte order mark, from the rest.
func cutHeader(text string) (header, rest string, err error) {
	header, _, ok := strings.Cut(text[:min(len(text), chunkBytes)], "\n")
	switch {
	case !ok && len(text) >= chunkBytes:
		return "", "", errLongLine
	case !ok:
		return "", "", errors.New("the file has no row under its header")
	}
	return strings.TrimPrefix(strings.TrimSuffix(header, "\r"), "\ufeff"), text[len(header)+1:], nil
}

// take implements lineSource. The text is not copied out of the array: that
// would cost as much as a third of the hashes.
func (l *lineReader) take(into *[chunkBytes]byte, announce func() error) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := l.read(into)
	if len(text) == 0 || err != nil {
		return "", err
	}
	end := len(text)
	if !l.done {
		end = bytes.LastIndexByte(text, '\n') + 1
	}
	if end == 0 {
		return "", errLongLine
	}
	l.rest = append(l.rest[:0], text[end:]...)
	return unsafe.String(&text[0], end), announce()
}

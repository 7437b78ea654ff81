package main

import (
	"errors"
	"runtime"
	"strings"
	"sync"
)

// lineMap is a lineSource of a file that lies in memory as it is: nothing of it
// is copied.
type lineMap struct {
	mu   sync.Mutex
	text string // not yet given out
}

// header implements lineSource.
func (l *lineMap) header() (header string, err error) {
	err = whileItLasts(func() (err error) {
		header, l.text, err = cutHeader(l.text)
		header = strings.Clone(header)
		return err
	})
	return header, err
}

// take implements lineSource, and leaves the array as it is.
func (l *lineMap) take(_ *[chunkBytes]byte, announce func() error) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return "", nil
	}
	end := min(len(l.text), chunkBytes)
	if end < len(l.text) {
		end = strings.LastIndexByte(l.text[:end], '\n') + 1
	}
	if end == 0 {
		return "", errLongLine
	}
	text := l.text[:end]
	l.text = l.text[end:]
	return text, announce()
}

var errShrunk = errors.New("the file was cut while it was read")

// whileItLasts calls a function that reads a mapped file, and returns errShrunk
// when somebody cuts the file meanwhile: its memory is gone then. The goroutine
// has to panic on such faults.
func whileItLasts(read func() error) (err error) {
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		if _, isFault := problem.(interface {
			runtime.Error
			Addr() uintptr
		}); !isFault {
			panic(problem)
		}
		err = errShrunk
	}()
	return read()
}

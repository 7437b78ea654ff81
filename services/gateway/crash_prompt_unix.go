//go:build unix

package gateway

import (
	"errors"
	"syscall"
)

// promptWriter writes what a connection takes at once, and never waits.
type promptWriter struct {
	try  func(fd uintptr) bool // writes text, once
	text []byte
	n    int
	err  error
}

func newPromptWriter() *promptWriter {
	w := &promptWriter{}
	w.try = w.writeOnce // made once: it would be made anew for each write
	return w
}

// write returns how much was taken, which may be nothing.
func (w *promptWriter) write(c *crashWatcher, text []byte) (int, error) {
	w.text = text
	err := c.raw.Write(w.try)
	w.text = nil
	if err != nil {
		return 0, err
	}
	return w.n, w.err
}

func (w *promptWriter) writeOnce(fd uintptr) bool {
	w.n, w.err = syscall.Write(int(fd), w.text)
	for errors.Is(w.err, syscall.EINTR) {
		w.n, w.err = syscall.Write(int(fd), w.text)
	}
	if errors.Is(w.err, syscall.EAGAIN) {
		w.n, w.err = 0, nil
	}
	return true // whatever came of it: a later pass tries again
}

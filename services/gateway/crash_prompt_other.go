//go:build !unix

package gateway

import (
	"errors"
	"os"
	"time"
)

// promptWait is how long a write waits at most where it cannot but wait.
const promptWait = time.Millisecond

// promptWriter writes what a connection takes within promptWait.
type promptWriter struct{}

func newPromptWriter() *promptWriter { return &promptWriter{} }

// write returns how much was taken, which may be nothing.
func (*promptWriter) write(c *crashWatcher, text []byte) (int, error) {
	if err := c.conn.SetWriteDeadline(time.Now().Add(promptWait)); err != nil {
		return 0, err
	}
	n, err := c.conn.Write(text)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

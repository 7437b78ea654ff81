package gateway

import (
	"net/http"
	"time"
)

// Why a reader of events is dropped.
const (
	droppedSlow     = "SLOW"
	droppedShutdown = "SHUTDOWN"
	droppedUpstream = "UPSTREAM"
)

// events is an answer of Server-Sent Events that is being written.
type events struct {
	w    http.ResponseWriter
	pace *http.ResponseController
	time time.Duration // for the reader to take what is written
}

// newEvents begins the answer. It reports whether the reader is still there.
func newEvents(w http.ResponseWriter, pace time.Duration) (*events, bool) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // else a proxy may hold events back
	e := &events{w, http.NewResponseController(w), pace}
	// The server's bound on reading a request would end the stream. Where there
	// are no deadlines, the writer is a test's or a proxy's, and has its own.
	_ = e.pace.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	return e, e.pace.Flush() == nil // the reader is to know that he is in, though nothing may happen for long
}

// write sends whole events, and reports whether they were taken in time.
func (e *events) write(frames []byte) bool {
	_ = e.pace.SetWriteDeadline(time.Now().Add(e.time))
	if _, err := e.w.Write(frames); err != nil {
		return false
	}
	return e.pace.Flush() == nil
}

package server

import (
	"net/http"
	"time"
)

// NewHTTP returns a server for addr whose slow clients are bounded: 5 s for
// the header, 10 s for the whole request, 60 s for the answer. A handler that
// streams for longer extends its own deadline.
func NewHTTP(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderListBytes,
	}
}

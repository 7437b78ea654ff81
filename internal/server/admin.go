package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	checkTime  = 2 * time.Second // for one readiness check
	checkLasts = time.Second     // so often it is made at most
)

// Admin serves /healthz, which says that the process is up, /readyz, which
// says whether check finds it able to serve, and /metrics.
//
// A check is made at most once a second, however many ask. What it finds wrong
// is reported, and the answer says no more than "not ready".
func Admin(check func(ctx context.Context) error, report func(error), metrics http.Handler) http.Handler {
	ready := &readiness{check: check, report: report}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if ready.now() != nil {
			answer(w, http.StatusServiceUnavailable, "not ready\n")
			return
		}
		answer(w, http.StatusOK, "ready\n")
	})
	mux.Handle("GET /metrics", metrics)
	return mux
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text)) // a client that left needs no answer
}

// readiness remembers the last check.
type readiness struct {
	check  func(ctx context.Context) error
	report func(error)

	mu   sync.Mutex
	made time.Time
	err  error
}

func (r *readiness) now() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.made.IsZero() && time.Since(r.made) < checkLasts {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	r.err = r.check(ctx)
	r.made = time.Now()
	if r.err != nil {
		r.report(r.err)
	}
	return r.err
}

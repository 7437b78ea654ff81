package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	"github.com/openoriginals/originals/services/gateway/strictjson"
)

const requestIDHeader = "X-Request-Id"

// handler stands before the routes: what holds for every request is here.
type handler struct {
	routes  http.Handler
	pages   pages
	origins origins
	maxBody int64
	log     *zap.Logger
	metrics *Metrics
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w}
	id := requestID(r)
	header := a.Header()
	header.Set(requestIDHeader, id)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	defer h.recover(a, id)
	defer h.note(a, r, id)
	if h.origins.allow(a, r) {
		return
	}
	if page, ok := h.pages[r.URL.Path]; ok {
		page.ServeHTTP(a, r)
		return
	}
	if httpStatus, err := checkHeaders(r); err != nil {
		refuse(a, httpStatus, err)
		return
	}
	md := metadata.MD{"x-request-id": {id}}
	if token := r.Header["Authorization"]; len(token) > 0 {
		md["authorization"] = token
	}
	r = r.WithContext(withMetadata(r.Context(), md)) // a copy, so that its method is ours
	if r.Method == http.MethodHead && !endless(r.URL.Path) {
		r.Method = http.MethodGet // the server itself keeps the body back
	}
	// MaxBytesReader closes the connection by means of the server's own writer.
	r.Body = &body{ReadCloser: http.MaxBytesReader(w, r.Body, h.maxBody), length: r.ContentLength}
	h.routes.ServeHTTP(a, r)
}

// endless reports whether a path is one of a stream of events. What a GET would
// answer there never ends, so that a HEAD is refused.
func endless(path string) bool {
	return strings.HasSuffix(path, ":watch") || path == settlementStreamPath
}

// pathLogged is how much of a path is logged. A client may write anything there.
const pathLogged = 128

// note counts and logs a refusal of the gateway's own: it reached no service that
// would have, and the client may ask about its request id.
func (h *handler) note(a *answer, r *http.Request, id string) {
	if a.refusal == nil {
		return
	}
	h.metrics.refused(a.refusal.Reason)
	h.log.Info("request refused",
		zap.String("method", r.Method), zap.String("path", r.URL.Path[:min(len(r.URL.Path), pathLogged)]),
		zap.Int("status", a.status), zap.String("reason", string(a.refusal.Reason)),
		zap.String("field", a.refusal.Metadata["field"]), zap.String("request_id", id))
}

// recover answers a panic, which is a fault of ours, and logs it once.
func (h *handler) recover(a *answer, id string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	// The value may hold anything, so only its type is written down.
	h.log.Error("panic", zap.String("request_id", id), zap.String("panic", fmt.Sprintf("%T", p)), zap.Stack("stack"))
	if a.begun {
		panic(http.ErrAbortHandler)
	}
	write(a, http.StatusInternalServerError, codes.Internal, reason.New(reason.Internal, "internal error"))
}

// answer knows whether anything was written, and whether it is a refusal of
// the gateway's own.
type answer struct {
	http.ResponseWriter
	begun   bool
	status  int
	refusal *reason.Error // nil for none
}

func (a *answer) WriteHeader(status int) {
	a.begun, a.status = true, status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(p)
}

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// requestID returns the client's own id of the request if it is one, or a new
// one.
func requestID(r *http.Request) string {
	given := r.Header[requestIDHeader]
	if len(given) == 1 && server.ValidRequestID(given[0]) {
		return given[0]
	}
	return server.NewRequestID()
}

// checkHeaders refuses headers that could be read in two ways. It returns the
// HTTP status of the refusal.
func checkHeaders(r *http.Request) (int, *reason.Error) {
	if len(r.Header["Authorization"]) > 1 {
		return http.StatusUnauthorized, reason.New(reason.TokenInvalid, "more than one Authorization header")
	}
	if timeout := r.Header["Grpc-Timeout"]; len(timeout) > 0 && !isTimeout(timeout) {
		return http.StatusBadRequest, reason.Field("Grpc-Timeout", "must be one to eight digits and a unit of H, M, S, m, u or n")
	}
	// The Content-Type is not looked at: every body is read as strict JSON, and
	// the bearer token keeps other sites' forms out.
	if len(r.Header["Content-Encoding"]) > 0 {
		return http.StatusUnsupportedMediaType, reason.Field(strictjson.Document, "must not be encoded")
	}
	return 0, nil
}

func isTimeout(values []string) bool {
	text := values[0]
	n := len(text) - 1
	if len(values) > 1 || n < 1 || n > 8 || !strings.Contains("HMSmun", text[n:]) {
		return false
	}
	return strings.Trim(text[:n], "0123456789") == "" && strings.Trim(text[:n], "0") != ""
}

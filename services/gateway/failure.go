package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
)

// failures answers what went wrong.
type failures struct {
	log *zap.Logger
}

// call answers a refusal of the gateway's own decoder or of a service.
func (f failures) call(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if b, ok := r.Body.(*body); ok && b.refusal != nil {
		refuse(w, b.status, b.refusal)
		return
	}
	code, e := explain(err)
	if _, told := reason.From(err); !told && code != codes.DeadlineExceeded && code != codes.Canceled {
		method, _ := runtime.RPCMethod(ctx)
		f.log.Error("call failed", zap.String("method", method),
			zap.String("request_id", w.Header().Get(requestIDHeader)), zap.Error(err))
	}
	write(w, runtime.HTTPStatusFromCode(code), code, e)
}

// routing answers a request that no route takes.
func (f failures) routing(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, httpStatus int) {
	if httpStatus == http.StatusMethodNotAllowed {
		refuseMethod(w, r)
		return
	}
	refuse(w, http.StatusNotFound, reason.New(reason.RouteNotFound, "nothing is served at this path"))
}

// refuseMethod answers a method that its path does not have. Each path has
// either GET, which HEAD comes with unless it is a stream, or POST.
func refuseMethod(w http.ResponseWriter, r *http.Request) {
	allow := "GET, HEAD, POST"
	switch {
	case endless(r.URL.Path):
		allow = http.MethodGet
	case r.Method == http.MethodGet:
		allow = http.MethodPost
	case r.Method == http.MethodPost:
		allow = "GET, HEAD"
	}
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, reason.New(reason.RouteNotFound, "this path is not served by this method"))
}

// explain returns the code and reason that a client is told about err. A
// status with one of our reasons passes as it is. Of any other only its kind
// is told: its text was not written for clients.
func explain(err error) (codes.Code, *reason.Error) {
	st, _ := status.FromError(err)
	if e, ok := reason.From(err); ok {
		return st.Code(), e
	}
	switch st.Code() {
	case codes.Unavailable:
		return codes.Unavailable, reason.New(reason.StoreUnavailable, "a service is unavailable; ask for the round, or repeat with the same id")
	case codes.DeadlineExceeded:
		return codes.DeadlineExceeded, reason.New(reason.Internal, "the call took too long; ask for the round, or repeat with the same id")
	case codes.Canceled:
		return codes.Canceled, reason.New(reason.Internal, "the call was cancelled")
	}
	return codes.Internal, reason.New(reason.Internal, "internal error")
}

// refuse answers a refusal of the gateway itself, which the handler logs.
func refuse(w http.ResponseWriter, httpStatus int, e *reason.Error) {
	if a, ok := w.(*answer); ok {
		a.refusal = e
	}
	write(w, httpStatus, e.Reason.Code(), e)
}

// errorInfoType is how JSON names a google.rpc.ErrorInfo.
const errorInfoType = "type.googleapis.com/google.rpc.ErrorInfo"

type rpcStatus struct {
	Code    codes.Code  `json:"code"`
	Message string      `json:"message"`
	Details []errorInfo `json:"details"`
}

type errorInfo struct {
	Type     string            `json:"@type"`
	Reason   reason.Reason     `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata"`
}

// write answers a google.rpc.Status in JSON.
func write(w http.ResponseWriter, httpStatus int, code codes.Code, e *reason.Error) {
	info := errorInfo{Type: errorInfoType, Reason: e.Reason, Domain: reason.Domain, Metadata: e.Metadata}
	if info.Metadata == nil {
		info.Metadata = map[string]string{}
	}
	// Strings and numbers always have a JSON form.
	text, _ := json.Marshal(rpcStatus{Code: code, Message: e.Message, Details: []errorInfo{info}})
	header := w.Header()
	header.Set("Content-Type", jsonType)
	if httpStatus == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(httpStatus)
	// A client that went away cannot be told.
	_, _ = w.Write(text)
}

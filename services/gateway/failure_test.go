package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
)

// httpOf is the table of the contract.
var httpOf = map[codes.Code]int{
	codes.InvalidArgument: 400, codes.FailedPrecondition: 400, codes.Unauthenticated: 401, codes.PermissionDenied: 403,
	codes.NotFound: 404, codes.AlreadyExists: 409, codes.Aborted: 409, codes.ResourceExhausted: 429,
	codes.Unavailable: 503, codes.DeadlineExceeded: 504, codes.DataLoss: 500, codes.Internal: 500,
}

// failing serves a gateway whose services all answer err.
func failing(t *testing.T, err error) string {
	t.Helper()
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) { return nil, err }}
	return serveFakes(t, f, nil)
}

func TestReasonsOfServicesPassUnchanged(t *testing.T) {
	for _, why := range reason.All() {
		err := reason.New(why, "words for <people>", "seedPairId", "p-1", "cause", "ROTATED")
		r := send(t, "POST", failing(t, err)+"/v1/limbo/bets", `{}`)
		code, got, metadata := failureOf(t, r)
		if got != string(why) || codes.Code(code) != why.Code() || r.status != httpOf[why.Code()] {
			t.Errorf("%s: %d %s", why, r.status, r.body)
		}
		if len(metadata) != 2 || metadata["seedPairId"] != "p-1" || metadata["cause"] != "ROTATED" {
			t.Errorf("%s: metadata %v", why, metadata)
		}
		if challenge := r.header.Get("WWW-Authenticate"); (challenge == "Bearer") != (r.status == 401) {
			t.Errorf("%s: challenge %q", why, challenge)
		}
	}
}

func TestReasonOfANewerServicePasses(t *testing.T) {
	st, err := status.New(codes.AlreadyExists, "later").WithDetails(
		&errdetails.DebugInfo{Detail: "hidden stack"},
		&errdetails.ErrorInfo{Reason: "CLAIM_ID_REUSED", Domain: "originals"})
	if err != nil {
		t.Fatal(err)
	}
	r := send(t, "GET", failing(t, st.Err())+"/v1/games", "")
	code, why, _ := failureOf(t, r)
	if r.status != 409 || code != 6 || why != "CLAIM_ID_REUSED" || strings.Contains(r.body, "hidden") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestErrorsMadeByOthersTellOnlyTheirKind(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		why    string
	}{
		{errors.New("secret: redis at 10.0.0.1"), 500, "INTERNAL"},
		{status.Error(codes.InvalidArgument, "secret"), 500, "INTERNAL"},
		{status.Error(codes.Unimplemented, "secret"), 500, "INTERNAL"},
		{status.Error(codes.ResourceExhausted, "secret"), 500, "INTERNAL"},
		{status.Error(codes.Unavailable, "secret"), 503, "STORE_UNAVAILABLE"},
		{status.Error(codes.DeadlineExceeded, "secret"), 504, "INTERNAL"},
		{status.Error(codes.Canceled, "secret"), 499, "INTERNAL"},
		{fmt.Errorf("secret: %w", context.DeadlineExceeded), 504, "INTERNAL"},
	} {
		r := send(t, "GET", failing(t, c.err)+"/v1/games", "")
		_, why, _ := failureOf(t, r)
		if r.status != c.status || why != c.why || strings.Contains(r.body, "secret") {
			t.Errorf("%v: %d %s", c.err, r.status, r.body)
		}
	}
}

func TestErrorsMadeByTheGatewayItselfCarryErrorInfo(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		why, field         string
	}{
		{"GET", "/v1/nothing", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/v2/games", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/v1/games/", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "//v1/games", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/v1/rounds/a/b", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/v1/rounds/a%2Fb", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/v1/crash/tables/main/rounds/-1", "", nil, 400, "INVALID_FIELD", "number"},
		{"GET", "/v1/crash/tables/main/rounds/x", "", nil, 400, "INVALID_FIELD", "number"},
		{"GET", "/v1/crash/tables/main/rounds/1.0", "", nil, 400, "INVALID_FIELD", "number"},
		{"GET", "/v1/crash/tables/main/rounds/01", "", nil, 400, "INVALID_FIELD", "number"},
		{"GET", "/v1/crash/tables/main/rounds/4294967296", "", nil, 400, "INVALID_FIELD", "number"},
		{"GET", "/v1/crash/tables/%ff/rounds/1", "", nil, 400, "INVALID_FIELD", "path"},
		{"GET", "/v1/crash/tables/%ff:watch", "", nil, 400, "INVALID_FIELD", "path"},
		{"GET", "/v1/crash/tables/main/rounds?table=other", "", nil, 400, "INVALID_FIELD", "table"},
		{"GET", "/metrics", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"POST", "/v1/mines/rounds/p-1:steal", "{}", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/originals.vault.v1.VaultService/Draw", "", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"POST", "/originals.vault.v1.VaultService/Draw", "{}", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"POST", "/originals.v1.DiceService/PlaceBet", "{}", nil, 404, "ROUTE_NOT_FOUND", ""},
		{"GET", "/v1/dice/bets", "", nil, 405, "ROUTE_NOT_FOUND", ""},
		{"PUT", "/v1/dice/bets", "{}", nil, 405, "ROUTE_NOT_FOUND", ""},
		{"DELETE", "/v1/rounds", "", nil, 405, "ROUTE_NOT_FOUND", ""},
		{"POST", "/v1/games", "{}", nil, 405, "ROUTE_NOT_FOUND", ""},
		{"POST", "/v1/games", "{}", []string{"X-HTTP-Method-Override", "GET"}, 405, "ROUTE_NOT_FOUND", ""},
		{"POST", "/openapi.json", "{}", nil, 405, "ROUTE_NOT_FOUND", ""},
		{"POST", "/v1/verify", "{}", []string{"Content-Encoding", "gzip"}, 415, "INVALID_FIELD", "body"},
		{"POST", "/v1/verify", `{"a":"` + strings.Repeat("x", DefaultMaxBody) + `"}`, nil, 413, "INVALID_FIELD", "body"},
		{"POST", "/v1/verify", "{", nil, 400, "INVALID_FIELD", "body"},
		{"GET", "/v1/games", "", []string{"Authorization", "Bearer a\nBearer b"}, 401, "TOKEN_INVALID", ""},
		{"GET", "/v1/games", "", []string{"Grpc-Timeout", "soon"}, 400, "INVALID_FIELD", "Grpc-Timeout"},
	} {
		r := send(t, c.method, url+c.path, c.body, c.headers...)
		code, why, metadata := failureOf(t, r)
		if r.status != c.status || why != c.why || metadata["field"] != c.field {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.headers, r.status, r.body)
		}
		if codes.Code(code) != reason.Reason(why).Code() {
			t.Errorf("%s %s: code %d is not that of %s", c.method, c.path, code, why)
		}
		if (r.header.Get("Allow") != "") != (r.status == 405) || r.header.Get("X-Request-Id") == "" {
			t.Errorf("%s %s: header %v", c.method, c.path, r.header)
		}
	}
}

// What a HEAD answers is what a GET would, without the body. A POST is not
// tried by it, and a stream has no end that a HEAD could wait for.
func TestHeadIsAnsweredAsGet(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for _, path := range []string{"/", "/openapi.json", "/v1/games", "/v1/rounds", "/v1/rounds?pageSize=x", "/v1/nothing"} {
		get, head := send(t, "GET", url+path, ""), send(t, "HEAD", url+path, "")
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") ||
			head.header.Get("Content-Length") != get.header.Get("Content-Length") {
			t.Errorf("%s: GET answers %d %v, HEAD %d %v", path, get.status, get.header, head.status, head.header)
		}
	}
	for path, allow := range map[string]string{
		"/v1/dice/bets": "POST", "/v1/crash/tables/main:watch": "GET", "/v1/duels/d:watch": "GET", settlementStreamPath: "GET",
	} {
		if r := send(t, "HEAD", url+path, ""); r.status != 405 || r.header.Get("Allow") != allow {
			t.Errorf("HEAD %s: %d, allowed %q", path, r.status, r.header.Get("Allow"))
		}
	}
	if r := send(t, "POST", url+"/v1/games", "{}"); r.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST to a path of GET: allowed %q", r.header.Get("Allow"))
	}
}

func TestEveryContentTypeIsReadAsJSON(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for _, value := range []string{"application/json", "application/json; charset=UTF-8", "application/x-www-form-urlencoded", "text/plain", ""} {
		if r := send(t, "POST", url+"/v1/verify", "{}", "Content-Type", value); r.status != 400 || !strings.Contains(r.body, "scheme") {
			t.Errorf("%q: %d %s", value, r.status, r.body)
		}
		if r := send(t, "POST", url+"/v1/verify", "scheme=x", "Content-Type", value); r.status != 400 || !strings.Contains(r.body, `"body"`) {
			t.Errorf("%q: a form was read: %d %s", value, r.status, r.body)
		}
	}
}

// unannounced is a body without a length, which travels in chunks.
type unannounced struct{ io.Reader }

func TestOversizedBodiesAreBounded(t *testing.T) {
	f := &fakes{}
	url := serveFakes(t, f, func(o *Options) { o.MaxBody = 100 })
	for size, want := range map[int]int{99: 400, 100: 400, 101: 413, 1 << 20: 413} {
		text := `{"a":"` + strings.Repeat("x", size-8) + `"}`
		for _, body := range []io.Reader{strings.NewReader(text), unannounced{strings.NewReader(text)}} {
			request, err := http.NewRequest("POST", url+"/v1/dice/bets", body)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			failureOf(t, reply{status: response.StatusCode, header: response.Header, body: string(text)})
			if response.StatusCode != want {
				t.Errorf("%d bytes: %d, want %d", size, response.StatusCode, want)
			}
		}
	}
	if f.calls() != 0 {
		t.Error("a service was called")
	}
}

func TestBodyThatEndsEarly(t *testing.T) {
	h, err := New(Options{Conn: &conn{}})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest("POST", "/v1/dice/bets", strings.NewReader(`{"betId":`))
	request.Header.Set("Content-Type", "application/json")
	request.ContentLength = 500
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request)
	if _, _, metadata := failureOf(t, reply{w.Code, w.Header(), w.Body.String(), nil}); w.Code != 400 || metadata["field"] != "body" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPanicIsInternalAndTellsNothing(t *testing.T) {
	// A connection without a target makes each call panic.
	h, err := New(Options{Conn: &conn{timeout: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/games", nil))
	_, why, _ := failureOf(t, reply{w.Code, w.Header(), w.Body.String(), nil})
	if w.Code != 500 || why != "INTERNAL" || strings.Contains(w.Body.String(), "nil") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPanicAfterTheBeginningBreaksOff(t *testing.T) {
	url := serveFakes(t, &fakes{}, func(o *Options) {
		o.Admin = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 1<<20))
			panic("secret")
		})
	})
	if r := send(t, "GET", url+"/metrics", ""); r.err == nil || strings.Contains(r.body, "INTERNAL") {
		t.Errorf("%d, %d bytes, error %v", r.status, len(r.body), r.err)
	}
}

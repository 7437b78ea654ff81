package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func TestMetadataSmuggledByHeaders(t *testing.T) {
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) {
		return &originalsv1.ListGamesResponse{}, nil
	}}
	url := serveFakes(t, f, nil)
	send(t, "GET", url+"/v1/games", "",
		"Authorization", "Bearer mine", "X-Request-Id", "r-1", "Grpc-Metadata-Authorization", "Bearer eve",
		"Grpc-Metadata-X-Peer-Role", "dice", "Grpc-Metadata-Secret-Bin", "AAAA", "X-Forwarded-For", "10.0.0.1",
		"X-Forwarded-Host", "evil.example", "Cookie", "a=b", "Referer", "r", "Grpcgateway-Authorization", "Bearer eve",
		"X-Peer-Role", "dice", "Te", "trailers")
	_, md := f.last(t)
	ours := []string{"authorization", "x-request-id"}
	transport := []string{":authority", "content-type", "user-agent", "grpc-accept-encoding"}
	for key := range md {
		if !slices.Contains(ours, key) && !slices.Contains(transport, key) {
			t.Errorf("%s: %v reached the service", key, md[key])
		}
	}
	if !slices.Equal(md["authorization"], []string{"Bearer mine"}) || !slices.Equal(md["x-request-id"], []string{"r-1"}) {
		t.Errorf("metadata %v", md)
	}
}

// What the gateway refuses itself is found in the log by its request id, once,
// without the body or the token; what a service refuses is that service's to log.
func TestOwnRefusalsAreLoggedAndCounted(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	metrics := NewMetrics()
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) {
		return nil, reason.New(reason.RoundNotFound, "none").GRPCStatus().Err()
	}}
	url := serveFakes(t, f, func(o *Options) { o.Log, o.Metrics = zap.New(core), metrics })
	for i, c := range []struct {
		method, path, body string
		reason             reason.Reason
		field              string
	}{
		{"POST", "/v1/dice/bets", `{"secretField":"s3cret"}`, reason.InvalidField, "secretField"},
		{"GET", "/v1/rounds?pageSize=s3cret", "", reason.InvalidField, "pageSize"},
		{"GET", "/v1/" + strings.Repeat("x", 200), "", reason.RouteNotFound, ""},
		{"GET", "/v1/dice/bets", "", reason.RouteNotFound, ""},
		{"GET", "/v1/rounds/p-0", "", "", ""},
	} {
		id := fmt.Sprintf("request-%d", i)
		r := send(t, c.method, url+c.path, c.body, "X-Request-Id", id, "Authorization", "Bearer s3cret")
		lines := logs.FilterField(zap.String("request_id", id)).TakeAll()
		if c.reason == "" {
			if len(lines) != 0 {
				t.Errorf("%s: %v", c.path, lines)
			}
			continue
		}
		if len(lines) != 1 {
			t.Errorf("%s: %d lines, want 1", c.path, len(lines))
			continue
		}
		got := lines[0].ContextMap()
		if got["reason"] != string(c.reason) || got["field"] != c.field || got["status"] != int64(r.status) || len(fmt.Sprint(got["path"])) > 128 || strings.Contains(fmt.Sprint(got), "s3cret") {
			t.Errorf("%s: logged %v", c.path, got)
		}
	}
	counted := refusals(t, metrics)
	want := map[string]float64{"INVALID_FIELD": 2, "ROUTE_NOT_FOUND": 2, "TOKEN_INVALID": 0, "RATE_LIMITED": 0}
	if !maps.Equal(counted, want) {
		t.Errorf("counted %v, want %v", counted, want)
	}
}

// refusals returns how many were counted, by reason.
func refusals(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.refusals)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatal(families, err)
	}
	counted := make(map[string]float64)
	for _, one := range families[0].GetMetric() {
		counted[one.GetLabel()[0].GetValue()] = one.GetCounter().GetValue()
	}
	return counted
}

func TestNoTokenIsNoMetadata(t *testing.T) {
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) {
		return &originalsv1.ListGamesResponse{}, nil
	}}
	send(t, "GET", serveFakes(t, f, nil)+"/v1/games", "")
	if _, md := f.last(t); len(md["authorization"]) != 0 {
		t.Errorf("authorization %v", md["authorization"])
	}
}

func TestRequestIDIsKeptOrMade(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for given, kept := range map[string]bool{
		"abc-DEF_1": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false,
		"a b": false, "ä": false, "a\nb": false, "${jndi}": false, "": false,
	} {
		got := send(t, "GET", url+"/v1/nothing", "", "X-Request-Id", given).header.Get("X-Request-Id")
		if kept && got != given || !kept && !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(got) {
			t.Errorf("%q: answered %q", given, got)
		}
	}
}

// remaining serves a gateway whose services note the time they have left.
func remaining(t *testing.T, timeout time.Duration) (url string, left func(headers ...string) time.Duration) {
	t.Helper()
	var got time.Duration
	f := &fakes{answer: func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		deadline, ok := ctx.Deadline()
		if !ok {
			t.Error("a call without a deadline")
		}
		got = time.Until(deadline)
		return &originalsv1.ListGamesResponse{}, nil
	}}
	url = serveFakes(t, f, func(o *Options) { o.Timeout = timeout })
	return url, func(headers ...string) time.Duration {
		got = 0
		send(t, "GET", url+"/v1/games", "", headers...)
		return got
	}
}

func TestClientMayShortenTheDeadlineOnly(t *testing.T) {
	_, left := remaining(t, time.Minute)
	if got := left(); got <= 50*time.Second || got > time.Minute {
		t.Errorf("without a header: %v", got)
	}
	if got := left("Grpc-Timeout", "5S"); got <= 0 || got > 5*time.Second {
		t.Errorf("5 seconds: %v", got)
	}
	if got := left("Grpc-Timeout", "99999999H"); got <= 50*time.Second || got > time.Minute {
		t.Errorf("eleven thousand years: %v", got)
	}
	for _, bad := range []string{"5", "S", "0S", "-5S", "5s", "123456789S", "5 S", "+5S", "5S\n6S", "٣S"} {
		if got := left("Grpc-Timeout", bad); got != 0 {
			t.Errorf("%q: a service was called with %v", bad, got)
		}
	}
}

func TestSlowServiceMeetsTheDeadline(t *testing.T) {
	f := &fakes{answer: func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	url := serveFakes(t, f, func(o *Options) { o.Timeout = 50 * time.Millisecond })
	if r := send(t, "GET", url+"/v1/games", ""); r.status != 504 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestWebSocketRulesDifferFromHTTPRules(t *testing.T) {
	// One policy: exact origins, echoed singly, with Vary.
	url := serveFakes(t, &fakes{}, func(o *Options) { o.CORS = []string{"https://casino.example", "http://127.0.0.1:5173"} })
	for origin, allowed := range map[string]bool{
		"https://casino.example": true, "http://127.0.0.1:5173": true,
		"https://casino.example.evil.example": false, "https://evil-casino.example": false, "https://sub.casino.example": false,
		"http://casino.example": false, "https://casino.example:443": false, "https://CASINO.example": false, "null": false, "*": false, "": false,
		"https://casino.example\nhttps://casino.example": false,
	} {
		for _, preflight := range []bool{false, true} {
			method, headers := "GET", []string{"Origin", origin}
			if preflight {
				method, headers = "OPTIONS", append(headers, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
			}
			r := send(t, method, url+"/v1/nothing", "", headers...)
			got := r.header.Values("Access-Control-Allow-Origin")
			if allowed && !slices.Equal(got, []string{origin}) || !allowed && len(got) != 0 {
				t.Errorf("%s %q: allowed %v", method, origin, got)
			}
			if !slices.Contains(r.header.Values("Vary"), "Origin") || r.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %q: header %v", method, origin, r.header)
			}
			if preflight && (r.status != http.StatusNoContent || r.body != "") {
				t.Errorf("preflight of %q: %d %q", origin, r.status, r.body)
			}
			names := strings.ToLower(r.header.Get("Access-Control-Allow-Headers"))
			if preflight && allowed && (!strings.Contains(names, "authorization") || !strings.Contains(names, "content-type") || !strings.Contains(names, "last-event-id")) {
				t.Errorf("preflight of %q allows %q", origin, names)
			}
		}
	}
}

func TestWithoutOriginsThereIsNoCORS(t *testing.T) {
	r := send(t, "OPTIONS", serveFakes(t, &fakes{}, nil)+"/v1/games", "", "Origin", "https://casino.example", "Access-Control-Request-Method", "GET")
	if r.status != 405 || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", r.status, r.header)
	}
}

func TestPages(t *testing.T) {
	url := serveFakes(t, &fakes{}, func(o *Options) {
		o.Admin = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("admin " + r.URL.Path)) })
	})
	for path, want := range map[string]string{
		"/": "/v1/crash/tables", "/openapi.json": `"title": "Open Originals"`, "/evidence.schema.json": "originals-evidence-v1",
		"/duel.schema.json": "originals-duel-v1",
		"/healthz":          "admin /healthz", "/readyz": "admin /readyz", "/metrics": "admin /metrics",
	} {
		r := send(t, "GET", url+path, "")
		if r.status != 200 || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %.100s", path, r.status, r.body)
		}
		if strings.HasSuffix(path, ".json") && !json.Valid([]byte(r.body)) {
			t.Errorf("%s is no JSON", path)
		}
	}
}

func TestReflectionAndAdminServicesOnThePublicPort(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/debug/pprof/", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"} {
		if r := send(t, "GET", url+path, ""); r.status != 404 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}

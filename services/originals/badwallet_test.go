package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// request is one whole bad request, as JSON.
type request struct{ field, text string }

// requests returns all of a call, each with one fault.
func (c staffCall) requests(t *testing.T) (all []request) {
	t.Helper()
	for field, values := range c.faults {
		for _, v := range values {
			var parts []string
			for key, good := range jsonObject(t, c.good) {
				if key != field {
					parts = append(parts, fmt.Sprintf("%q:%s", key, good))
				}
			}
			all = append(all, request{field, "{" + strings.Join(append(parts, fmt.Sprintf("%q:%s", field, v)), ",") + "}"})
		}
	}
	for text, field := range c.also {
		all = append(all, request{field, text})
	}
	return all
}

func jsonObject(t *testing.T, text string) (fields map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return fields
}

var pathField = regexp.MustCompile(`\{(\w+)\}`)

// rest puts a request on its route: fields of the path, then of the query or the
// body. It reports whether the route can carry it.
func (c staffCall) rest(t *testing.T, q request) (b bad, ok bool) {
	t.Helper()
	if q.text == "" || !json.Valid([]byte(q.text)) {
		return bad{}, false
	}
	fields, path := jsonObject(t, q.text), c.route
	for _, m := range pathField.FindAllStringSubmatch(c.route, -1) {
		var value string
		if json.Unmarshal(fields[m[1]], &value) != nil || value == "" {
			return bad{}, false
		}
		path = strings.Replace(path, m[0], url.PathEscape(value), 1)
		delete(fields, m[1])
	}
	b = bad{name: c.rpc, method: c.method, path: path, field: q.field}
	if c.method == "POST" {
		if path == c.route {
			b.body = q.text
			return b, true
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		b.body = string(text)
		return b, true
	}
	query := url.Values{}
	for key, raw := range fields {
		var value string
		if json.Unmarshal(raw, &value) != nil {
			value = string(raw)
		}
		query.Set(key, value)
	}
	if len(query) > 0 {
		b.path += "?" + query.Encode()
	}
	return b, true
}

// forms returns what no route takes, whatever its fields say.
func (c staffCall) forms(t *testing.T) (all []bad) {
	good, ok := c.rest(t, request{"", c.good})
	if !ok {
		t.Fatalf("%s: no good request", c.rpc)
	}
	add := func(field, path, body string) { all = append(all, bad{c.rpc, c.method, path, body, field}) }
	if c.method == "GET" {
		mark := "?"
		if strings.Contains(good.path, "?") {
			mark = "&"
		}
		for query, field := range map[string]string{
			"unknown=1": "unknown", "operator=south": "operator", "page_size=1": "page_size", "fencing_token=1": "fencing_token", "%zz": "query", "a;b": "query",
		} {
			add(field, good.path+mark+query, "")
		}
		return all
	}
	for body, field := range map[string]string{
		strings.Replace(good.body, "{", `{"operator":"south",`, 1): "operator", strings.Replace(good.body, "{", `{"extra":1,`, 1): "extra",
		"": "body", "null": "body", "[]": "body", `"x"`: "body", "1": "body", `{`: "body", "{} {}": "body", "{/**/}": "body", "\ufeff{}": "body",
		strings.Repeat("[", 10000): "body",
	} {
		body = strings.Replace(body, ",}", "}", 1)
		add(field, good.path, body)
	}
	for key := range jsonObject(t, good.body) {
		add(key, good.path, strings.Replace(good.body, `{"`, fmt.Sprintf(`{%q:"a",%q:"b","`, key, key), 1))
		snake := regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(key, func(s string) string { return "_" + strings.ToLower(s) })
		if snake != key {
			add(snake, good.path, strings.Replace(good.body, `"`+key+`"`, `"`+snake+`"`, 1))
		}
		add(strings.ToUpper(key), good.path, strings.Replace(good.body, `"`+key+`"`, `"`+strings.ToUpper(key)+`"`, 1))
	}
	for _, m := range pathField.FindAllStringSubmatch(c.route, -1) {
		body := strings.Replace(strings.Replace(good.body, "{", `{"`+m[1]+`":"other",`, 1), ",}", "}", 1)
		add(m[1], good.path, body)
	}
	return all
}

// holdings is what Redis holds of players, transfers, settlements and the record
// of support.
func (h *houseOfSecrets) holdings() string {
	return string(h.dumpOf(regexp.MustCompile(`^\{p\d+\}:(t|ta|u|w|s|r|a|b|c|j|jh|k|l|d|y|o|audit):`)))
}

// ofEach makes the calls of wallets and of support, each with a token of its own.
func (h *houseOfSecrets) ofEach(do func(service protoreflect.ServiceDescriptor, c staffCall)) {
	h.t.Helper()
	for _, of := range []struct {
		service protoreflect.FullName
		role    auth.Role
		calls   []staffCall
	}{
		{"originals.v1.SettlementService", auth.Wallet, walletCalls()}, {"originals.v1.SupportService", auth.Support, supportCalls()},
	} {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(of.service)
		if err != nil {
			h.t.Fatal(err)
		}
		service := found.(protoreflect.ServiceDescriptor)
		h.be("somebody", of.role)
		named := make(map[string]bool)
		for _, c := range of.calls {
			named[c.rpc] = true
			do(service, c)
		}
		for i := range service.Methods().Len() {
			if name := string(service.Methods().Get(i).Name()); !named[name] {
				h.t.Errorf("%s has no bad input", name)
			}
		}
	}
}

// fieldsOf returns the names of all fields of a request, in JSON; a message within
// gives its own.
func fieldsOf(m protoreflect.MessageDescriptor) (names []string) {
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		names = append(names, f.JSONName())
		if f.Message() != nil {
			names = append(names, fieldsOf(f.Message())...)
		}
	}
	return names
}

// Each field of each request of wallets and of support is refused by its name
// before anything changes.
func TestBadInputOfWalletsAndSupportOverREST(t *testing.T) {
	h := startHouseOfSecrets(t)
	h.play("alice")
	before := h.holdings()
	if len(before) < 1000 {
		t.Fatalf("the store holds %d bytes", len(before))
	}
	n := 0
	h.ofEach(func(service protoreflect.ServiceDescriptor, c staffCall) {
		seen := make(map[string]bool)
		all := c.forms(t)
		for _, q := range c.requests(t) {
			if b, ok := c.rest(t, q); ok {
				all, seen[q.field] = append(all, b), true
			}
		}
		for _, b := range all {
			n++
			code, text := h.send(b.method, b.path, b.body)
			why, field := refusal(t, text)
			if code != http.StatusBadRequest || why != reason.InvalidField || field != b.field {
				t.Errorf("%s %.200s: %d %s, field %q, want %q\nbody %.200s", b.method, b.path, code, why, field, b.field, b.body)
			}
		}
		for _, name := range fieldsOf(service.Methods().ByName(protoreflect.Name(c.rpc)).Input()) {
			if !seen[name] {
				t.Errorf("%s: no bad %s", c.rpc, name)
			}
		}
	})
	if n < 400 {
		t.Errorf("%d cases", n)
	}
	if after := h.holdings(); after != before {
		t.Errorf("bad input had an effect:\n%s", difference(before, after))
	}
}

func TestBadInputOfWalletsAndSupportOverGRPC(t *testing.T) {
	h := startHouseOfSecrets(t)
	h.play("alice")
	before, n := h.holdings(), 0
	h.ofEach(func(service protoreflect.ServiceDescriptor, c staffCall) {
		method := service.Methods().ByName(protoreflect.Name(c.rpc))
		kind, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
		if err != nil {
			t.Fatal(err)
		}
		answer, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, q := range c.requests(t) {
			m := kind.New().Interface()
			if protojson.Unmarshal([]byte(q.text), m) != nil || oddNumber.MatchString(q.text) {
				continue // no message can say it
			}
			n++
			err := invoke(h.ctx, h.grpc, "/"+string(service.FullName())+"/"+c.rpc, method.IsStreamingServer(), m, answer.New().Interface())
			e, ok := reason.From(err)
			// What JSON says by null, a message does not say at all.
			if q.field == "fencingToken" && err == nil && strings.Contains(q.text, "null") {
				continue
			}
			if seen[q.field] = true; status.Code(err) != codes.InvalidArgument || !ok || e.Reason != reason.InvalidField || e.Metadata["field"] != q.field {
				t.Errorf("%s: %v, want field %s\n%.200s", c.rpc, err, q.field, q.text)
			}
		}
		for _, name := range fieldsOf(method.Input()) {
			if !seen[name] {
				t.Errorf("%s: no bad %s", c.rpc, name)
			}
		}
	})
	if n < 200 {
		t.Errorf("%d cases", n)
	}
	if after := h.holdings(); after != before {
		t.Errorf("bad input had an effect:\n%s", difference(before, after))
	}
}

// oddNumber is a whole number that only JSON can write so.
var oddNumber = regexp.MustCompile(`"amount":"?\d+(\.0|[eE]\d)`)

// invoke makes a call, and of a stream the first step.
func invoke(ctx context.Context, conn *grpc.ClientConn, method string, streams bool, req, answer proto.Message) error {
	if !streams {
		return conn.Invoke(ctx, method, req, answer)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := originalsv1.NewSettlementServiceClient(conn).StreamSettlements(ctx, req.(*originalsv1.StreamSettlementsRequest))
	if err != nil {
		return err
	}
	_, err = s.Recv()
	return err
}

// difference returns the lines that only one of two texts has.
func difference(before, after string) string {
	lines := make(map[string]int)
	for line := range strings.Lines(before) {
		lines["- "+line]++
	}
	for line := range strings.Lines(after) {
		if lines["- "+line]--; lines["- "+line] < 0 {
			lines["+ "+line] = 1
		}
	}
	maps.DeleteFunc(lines, func(_ string, n int) bool { return n <= 0 })
	return strings.Join(slices.Sorted(maps.Keys(lines)), "")
}

package reason_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
)

// table is a line of the README: reason, code, effect.
var table = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([A-Z_]+) \\| ([0-9]{3}) \\| (known|unknown) \\| (.+) \\|$")

// httpStatus is what grpc-gateway makes of a code, as the contract lists it.
var httpStatus = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
	"ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429, "UNAVAILABLE": 503, "DATA_LOSS": 500, "INTERNAL": 500,
}

// code is a name such as NOT_FOUND as a code.
func code(t *testing.T, name string) codes.Code {
	t.Helper()
	var c codes.Code
	if err := c.UnmarshalJSON([]byte(strconv.Quote(name))); err != nil {
		t.Fatal(err)
	}
	return c
}

func documented(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "<!-- reasons -->\n")
	inside, _, ended := strings.Cut(after, "<!-- /reasons -->")
	if !found || !ended {
		t.Fatal("README.md has no table between <!-- reasons --> and <!-- /reasons -->")
	}
	return inside
}

func TestEveryReasonIsDocumented(t *testing.T) {
	text := documented(t)
	rows := table.FindAllStringSubmatch(text, -1)
	if lines := strings.Count(text, "\n| `"); lines != len(rows) {
		t.Errorf("%d lines of the table, and %d can be read", lines, len(rows))
	}
	seen := map[reason.Reason]bool{}
	for _, row := range rows {
		r := reason.Reason(row[1])
		if seen[r] {
			t.Errorf("%s stands there twice", r)
		}
		seen[r] = true
		if r.Code() != code(t, row[2]) || r.Known() != (row[4] == "known") || strconv.Itoa(httpStatus[row[2]]) != row[3] {
			t.Errorf("%s is documented as %v, and is %v, known %v", r, row[2:5], r.Code(), r.Known())
		}
	}
	all := reason.All()
	for _, r := range all {
		if !seen[r] {
			t.Errorf("%s is not documented", r)
		}
	}
	if len(all) < 25 || len(all) != len(rows) {
		t.Errorf("%d reasons, %d documented", len(all), len(rows))
	}
}

// Every constant has a meaning, and there are no others.
func TestEveryConstantHasItsMeaning(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Reason" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil || constants[value] {
				t.Errorf("constant %s, %v", value, err)
			}
			constants[value] = true
		}
		return true
	})
	for _, r := range reason.All() {
		if !constants[string(r)] {
			t.Errorf("%s is no constant", r)
		}
		delete(constants, string(r))
	}
	if len(constants) > 0 {
		t.Errorf("constants without a meaning: %v", constants)
	}
}

// Only what may have had its effect is unknown; a made-up reason counts as
// internal, and as unknown.
func TestUnknownMeansAskAgain(t *testing.T) {
	for _, r := range reason.All() {
		want := r != reason.StoreUnavailable && r != reason.InProgress && r != reason.Internal
		if r.Known() != want {
			t.Errorf("%s: known %v", r, r.Known())
		}
	}
	if r := reason.Reason("MADE_UP"); r.Known() || r.Code() != codes.Internal {
		t.Errorf("a made-up reason is known %v, %v", r.Known(), r.Code())
	}
}

func TestStatusCarriesReasonDomainAndMetadata(t *testing.T) {
	for _, r := range reason.All() {
		e := reason.New(r, "for people", "nonce", "7", "balance", "100", "odd")
		st := status.Convert(e)
		if st.Code() != r.Code() || st.Message() != "for people" || len(st.Details()) != 1 {
			t.Fatalf("%s: %v", r, st)
		}
		info, ok := st.Details()[0].(*errdetails.ErrorInfo)
		if !ok || info.GetReason() != string(r) || info.GetDomain() != "originals" || len(info.GetMetadata()) != 2 || info.GetMetadata()["balance"] != "100" {
			t.Errorf("%s: %v", r, info)
		}
		for name, err := range map[string]error{
			"as it is": e, "wrapped": fmt.Errorf("draw: %w", e), "as a status": st.Err(), "a status, wrapped": fmt.Errorf("draw: %w", st.Err()),
		} {
			back, ok := reason.From(err)
			if !ok || back.Reason != r || reason.Of(err) != r || back.Metadata["nonce"] != "7" {
				t.Errorf("%s %s: %v, %v", r, name, back, ok)
			}
		}
	}
}

func TestErrorsWithoutAReasonAreInternal(t *testing.T) {
	foreign, err := status.New(codes.NotFound, "x").WithDetails(&errdetails.ErrorInfo{Reason: "ROUND_NOT_FOUND", Domain: "elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, errors.New("plain"), status.Error(codes.NotFound, "no details"), foreign.Err()} {
		if e, ok := reason.From(err); ok || reason.Of(err) != reason.Internal {
			t.Errorf("%v: %v", err, e)
		}
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	base := reason.Field("target", "is odd")
	if base.Reason != reason.InvalidField || base.Metadata["field"] != "target" || base.Message != "target is odd" {
		t.Fatalf("%+v", base)
	}
	one, two := base.With("nonce", "1"), base.With("nonce", "2")
	if len(base.Metadata) != 1 || one.Metadata["nonce"] != "1" || two.Metadata["nonce"] != "2" || one.Metadata["field"] != "target" {
		t.Errorf("%v, %v, %v", base.Metadata, one.Metadata, two.Metadata)
	}
	bare := reason.New(reason.Internal, "internal error")
	if e := bare.With("requestId", "r"); bare.Metadata != nil || e.Metadata["requestId"] != "r" {
		t.Errorf("%v, %v", bare.Metadata, e.Metadata)
	}
	if base.Error() != "INVALID_FIELD: target is odd" {
		t.Errorf("%s", base.Error())
	}
}

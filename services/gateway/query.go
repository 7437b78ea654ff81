package gateway

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/gateway/strictjson"
)

// queries names the request whose fields a route takes from its query. No
// other route takes any.
var queries = map[string]protoreflect.MessageDescriptor{
	"/v1/rounds":     (*originalsv1.ListRoundsRequest)(nil).ProtoReflect().Descriptor(),
	"/v1/seed-pairs": (*originalsv1.ListSeedPairsRequest)(nil).ProtoReflect().Descriptor(),

	"/v1/crash/tables/{table=*}/rounds": (*originalsv1.ListCrashRoundsRequest)(nil).ProtoReflect().Descriptor(),

	"/v1/wallet/settlements":          (*originalsv1.ListSettlementsRequest)(nil).ProtoReflect().Descriptor(),
	settlementStreamPath:              (*originalsv1.StreamSettlementsRequest)(nil).ProtoReflect().Descriptor(),
	"/v1/wallet/rejected-settlements": (*originalsv1.ListRejectedRequest)(nil).ProtoReflect().Descriptor(),
	"/v1/wallet/digests":              (*originalsv1.GetDigestRequest)(nil).ProtoReflect().Descriptor(),

	"/v1/support/audit-log": (*originalsv1.ListAuditLogRequest)(nil).ProtoReflect().Descriptor(),
}

// needed are the parameters that a route cannot do without: left out, they
// would mean 0, which is one of 64.
var needed = map[string]string{
	"/v1/wallet/settlements": "partition",
	"/v1/wallet/digests":     "partition",
}

// checkRequest stands before every route of the mux. grpc-gateway ignores
// parameters and bodies that a route does not have, and takes several
// spellings of those that it has; here they are refused.
func checkRequest(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
		if err := checkPath(path); err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		if r.URL.RawQuery != "" || r.URL.ForceQuery || r.Method == http.MethodGet {
			if err := checkQuery(r, path); err != nil {
				refuse(w, http.StatusBadRequest, err)
				return
			}
		}
		if r.Method == http.MethodGet && r.ContentLength != 0 {
			refuse(w, http.StatusBadRequest, reason.Field(strictjson.Document, "is not taken here: a GET has none"))
			return
		}
		if b, ok := r.Body.(*body); ok {
			b.bound = path
		}
		next(w, r, path)
	}
}

// numberInPath is the one parameter of paths that is no text: a round's number.
const numberInPath = "number"

func checkPath(path map[string]string) *reason.Error {
	for _, text := range path {
		if !utf8.ValidString(text) {
			return reason.Field("path", "is not UTF-8")
		}
	}
	if text, ok := path[numberInPath]; ok {
		if problem := wholeFromZero(text); problem != "" {
			return reason.Field(numberInPath, problem)
		}
	}
	return nil
}

func checkQuery(r *http.Request, path map[string]string) *reason.Error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return reason.Field("query", "is not well formed")
	}
	var fields protoreflect.FieldDescriptors
	pattern, _ := runtime.HTTPPattern(r.Context())
	if m := queries[pattern.String()]; m != nil && r.Method == http.MethodGet {
		fields = m.Fields()
	}
	for name, given := range values {
		if _, bound := path[name]; bound {
			return reason.Field(name, "stands in the path")
		}
		if err := checkParameter(fields, name, given); err != nil {
			return err
		}
	}
	if name := needed[pattern.String()]; name != "" && fields != nil && len(values[name]) == 0 {
		return reason.Field(name, "is missing")
	}
	return nil
}

func checkParameter(fields protoreflect.FieldDescriptors, name string, given []string) *reason.Error {
	if !utf8.ValidString(name) || len(name) > 64 {
		return reason.Field("query", "holds a name that is not a parameter of this request")
	}
	var fd protoreflect.FieldDescriptor
	if fields != nil {
		fd = fields.ByJSONName(name)
	}
	if fd == nil {
		return reason.Field(name, "is not a parameter of this request")
	}
	if len(given) != 1 {
		return reason.Field(name, "stands there twice")
	}
	if given[0] == "" {
		return reason.Field(name, "is empty: leave it out instead")
	}
	if problem := misspelt(fd, given[0]); problem != "" {
		return reason.Field(name, problem)
	}
	return nil
}

// misspelt returns what is wrong with the spelling of a parameter, or nothing.
func misspelt(fd protoreflect.FieldDescriptor, text string) string {
	switch fd.Kind() {
	case protoreflect.StringKind:
		if utf8.ValidString(text) {
			return ""
		}
	case protoreflect.EnumKind:
		if v := fd.Enum().Values().ByName(protoreflect.Name(text)); v != nil && v.Number() != 0 {
			return ""
		}
		_, problem := strictjson.EnumNames(fd.Enum())
		return problem
	case protoreflect.Int32Kind:
		return wholeNumber(text, 32)
	case protoreflect.Uint32Kind:
		return wholeFromZero(text)
	case protoreflect.Int64Kind:
		return wholeNumber(text, 64)
	}
	return "has no such value"
}

// wholeFromZero reads a number of 32 bits without a sign.
func wholeFromZero(text string) string {
	if strings.HasPrefix(text, "-") {
		return "must be a whole number from 0"
	}
	return wholeNumber(text, 33)
}

func wholeNumber(text string, bits int) string {
	if n, err := strconv.ParseInt(text, 10, bits); err == nil && strconv.FormatInt(n, 10) == text {
		return ""
	}
	return "must be a whole number"
}

package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/openoriginals/originals/internal/foreign"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// verifyForeign derives a bet of another house, whose name is the scheme of the
// request.
func verifyForeign(r *originalsv1.VerifyRequest, bet *originalsv1.ForeignBet) (*originalsv1.VerifyResponse, error) {
	scheme, err := foreignScheme(r.GetScheme(), bet)
	if err != nil {
		return nil, err
	}
	nonce, err := foreignNonce(r, bet)
	if err != nil {
		return nil, err
	}
	in := foreign.Input{ServerSeed: r.GetServerSeed(), ClientSeed: r.GetClientSeed(), Nonce: nonce, Parameters: foreignParameters(bet)}
	outcome, err := foreign.Derive(scheme, in)
	if err != nil {
		return nil, wire.FieldError(err)
	}
	shown, err := foreignOutcome(scheme.Name, &outcome)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return &originalsv1.VerifyResponse{
		Commitment: scheme.Commitment(r.GetServerSeed()),
		Outcome:    &originalsv1.VerifyResponse_Foreign{Foreign: shown},
	}, nil
}

func foreignScheme(house string, bet *originalsv1.ForeignBet) (*foreign.Scheme, error) {
	if !slices.Contains(foreign.HouseNames(), house) {
		return nil, reason.Field("scheme", "must be one of "+strings.Join(foreign.HouseNames(), ", ")+" with foreign, and "+rng.Scheme+" without")
	}
	scheme, err := foreign.Find(house, bet.GetGame(), bet.GetVersion())
	if err != nil {
		return nil, wire.FieldError(err)
	}
	return scheme, nil
}

// foreignNonce reads the nonce from the one of two places where it stands.
func foreignNonce(r *originalsv1.VerifyRequest, bet *originalsv1.ForeignBet) (string, error) {
	switch {
	case r.Nonce != nil && bet.Nonce != nil:
		return "", reason.Field("nonce", "must stand in one place, the request or foreign")
	case bet.Nonce != nil:
		return strconv.FormatUint(bet.GetNonce(), 10), nil
	case r.Nonce != nil:
		return strconv.FormatUint(uint64(r.GetNonce()), 10), nil
	default:
		return "", nil
	}
}

// firstParameter is the number of ForeignBet's first parameter; the fields
// before it say which bet it is.
const firstParameter = 10

// foreignParameters returns the parameters that are set, by their JSON names.
func foreignParameters(bet *originalsv1.ForeignBet) (given []foreign.Given) {
	bet.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Number() >= firstParameter {
			given = append(given, foreign.Given{Name: field.JSONName(), Text: foreignText(field, value)})
		}
		return true
	})
	return given
}

func foreignText(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	if !field.IsList() {
		return fmt.Sprint(value.Interface())
	}
	var numbers []string
	for i := range value.List().Len() {
		numbers = append(numbers, fmt.Sprint(value.List().Get(i).Interface()))
	}
	return strings.Join(numbers, ",")
}

var errForeignField = errors.New("an outcome has no field of its name and type")

// foreignOutcome puts each value into the field of its name.
func foreignOutcome(scheme string, outcome *foreign.Outcome) (*originalsv1.ForeignOutcome, error) {
	shown := &originalsv1.ForeignOutcome{Scheme: scheme, Notes: outcome.Notes}
	m := shown.ProtoReflect()
	for _, v := range outcome.Values {
		field := m.Descriptor().Fields().ByJSONName(v.Name)
		if field == nil {
			return nil, fmt.Errorf("%w: %s", errForeignField, v.Name)
		}
		if !field.IsList() {
			value, err := foreignValue(field, v.Text())
			if err != nil {
				return nil, err
			}
			m.Set(field, value)
			continue
		}
		for text := range strings.SplitSeq(v.Text(), ",") {
			value, err := foreignValue(field, text)
			if err != nil {
				return nil, err
			}
			m.Mutable(field).List().Append(value)
		}
	}
	return shown, nil
}

func foreignValue(field protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(text == "true"), nil
	case protoreflect.Uint32Kind:
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			return protoreflect.ValueOfUint32(uint32(n)), nil
		}
	case protoreflect.Uint64Kind:
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return protoreflect.ValueOfUint64(n), nil
		}
	}
	return protoreflect.Value{}, fmt.Errorf("%w: %s is %q", errForeignField, field.JSONName(), text)
}

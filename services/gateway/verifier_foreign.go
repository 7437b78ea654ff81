package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/openoriginals/originals/internal/foreign"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
	"github.com/openoriginals/originals/internal/wronghouse"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// verifyForeign judges a bet of another house, whose name is the scheme of the
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
	claim := foreign.Claim{
		Scheme:     scheme,
		Input:      foreign.Input{ServerSeed: r.GetServerSeed(), ClientSeed: r.GetClientSeed(), Nonce: nonce, Parameters: foreignParameters(bet)},
		Commitment: r.GetCommitment(),
	}
	if r.StakeUnits != nil {
		return nil, reason.Field("stakeUnits", "is of our own bets; that of another house stands in foreign, as stake")
	}
	if r.Commitment != nil && claim.Commitment == "" {
		return nil, reason.Field("commitment", "must be 64 lower-case hex digits, or left out")
	}
	stated, err := claimedOf(r)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		claim.Stated = append(claim.Stated, foreign.Given{Name: name, Text: stated[name]})
	}
	var d foreign.Deriver
	var j foreign.Judgement
	if err := d.Judge(&claim, &j, true); err != nil {
		return nil, foreignRefusal(err, &claim)
	}
	wronghouse.NoteOurs(&claim, &j)
	shown, err := foreignOutcome(scheme.Name, &j.Outcome)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	answer := &originalsv1.VerifyResponse{Commitment: j.Commitment, Outcome: &originalsv1.VerifyResponse_Foreign{Foreign: shown}}
	compareForeign(answer, &claim, &j)
	return answer, nil
}

// foreignRefusal says which field is refused, and which mistake its text shows.
func foreignRefusal(err error, claim *foreign.Claim) error {
	field, problem, ok := foreign.FieldOf(err)
	switch {
	case !ok:
		return wire.FieldError(err)
	case field == "serverSeed":
		return mistaken(field, problem, mistake.OfText(claim.Input.ServerSeed))
	case field == "commitment":
		return mistaken(field, problem, mistake.OfText(claim.Commitment))
	case slices.ContainsFunc(claim.Stated, func(g foreign.Given) bool { return g.Name == field }):
		return reason.Field("claimed", field+" "+problem)
	default:
		return reason.Field(field, problem)
	}
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

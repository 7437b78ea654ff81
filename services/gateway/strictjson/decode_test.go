package strictjson

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// samples are empty requests of every shape that the API has.
func samples() []proto.Message {
	return []proto.Message{
		&originalsv1.DiceServicePlaceBetRequest{},
		&originalsv1.RouletteServicePlaceBetRequest{},
		&originalsv1.VerifyRequest{},
		&originalsv1.PickRequest{},
		&originalsv1.ListRoundsRequest{},
		&originalsv1.RotateSeedPairRequest{},
		&originalsv1.Mines{}, // int64, bool and repeated numbers outside requests
	}
}

func newDecoder(t testing.TB) *Decoder {
	t.Helper()
	var descriptors []protoreflect.MessageDescriptor
	for _, m := range samples() {
		descriptors = append(descriptors, m.ProtoReflect().Descriptor())
	}
	d, err := New(descriptors...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// refusedField returns the field that err names, and fails if err is no
// refusal of a field.
func refusedField(t testing.TB, err error) string {
	t.Helper()
	var e *reason.Error
	if !errors.As(err, &e) || e.Reason != reason.InvalidField {
		t.Fatalf("error %v is no INVALID_FIELD", err)
	}
	if len(e.Message) > 400 {
		t.Errorf("message of %d bytes", len(e.Message))
	}
	return e.Metadata["field"]
}

const goodDice = `{"betId":"b-1","seedPairId":"p17-x","stake":{"currency":"FUN","amount":"100"},"target":5050,"direction":"OVER"}`

func TestDecode(t *testing.T) {
	dice := &originalsv1.DiceServicePlaceBetRequest{
		BetId: "b-1", SeedPairId: "p17-x", Stake: &originalsv1.Money{Currency: "FUN", Amount: 100},
		Target: 5050, Direction: originalsv1.Dice_OVER,
	}
	amount := func(n int64) proto.Message {
		return &originalsv1.DiceServicePlaceBetRequest{Stake: &originalsv1.Money{Amount: n}}
	}
	betID := func(s string) proto.Message { return &originalsv1.DiceServicePlaceBetRequest{BetId: s} }
	for _, c := range []struct {
		text string
		want proto.Message
	}{
		{goodDice, dice},
		{" \t\r\n" + strings.ReplaceAll(goodDice, ",", " ,\n") + "\n", dice},
		{`{}`, &originalsv1.DiceServicePlaceBetRequest{}},
		{`{ }`, &originalsv1.DiceServicePlaceBetRequest{}},
		{`{"bet\u0049d":"b"}`, betID("b")},
		{`{"betId":""}`, betID("")},
		{`{"betId":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀"}`, betID("\"\\/\b\f\n\r\té😀é😀")},
		{`{"stake":{"amount":0}}`, amount(0)},
		{`{"stake":{"amount":"0"}}`, amount(0)},
		{`{"stake":{"amount":-1}}`, amount(-1)},
		{`{"stake":{"amount":"-1"}}`, amount(-1)},
		{`{"stake":{"amount":9007199254740991}}`, amount(1<<53 - 1)},
		{`{"stake":{"amount":"9007199254740992"}}`, amount(1 << 53)},
		{`{"stake":{"amount":"9223372036854775807"}}`, amount(1<<63 - 1)},
		{`{"stake":{"amount":"-9223372036854775808"}}`, amount(-1 << 63)},
		{`{"target":0}`, &originalsv1.DiceServicePlaceBetRequest{}},
		{`{"target":4294967295}`, &originalsv1.DiceServicePlaceBetRequest{Target: 1<<32 - 1}},
		{`{"chips":[]}`, &originalsv1.RouletteServicePlaceBetRequest{}},
		{`{"chips":[{"kind":"STRAIGHT","numbers":[17],"amount":"5"},{}]}`, &originalsv1.RouletteServicePlaceBetRequest{
			Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{17}, Amount: 5}, {}},
		}},
		{`{"tile":0}`, &originalsv1.PickRequest{Tile: proto.Uint32(0)}},
		{`{"nonce":0,"roulette":{}}`, &originalsv1.VerifyRequest{
			Nonce: proto.Uint32(0), Parameters: &originalsv1.VerifyRequest_Roulette{Roulette: &originalsv1.RouletteParameters{}},
		}},
		{`{"pageSize":-2147483648}`, &originalsv1.ListRoundsRequest{PageSize: proto.Int32(-1 << 31)}},
		{`{"pageSize":2147483647}`, &originalsv1.ListRoundsRequest{PageSize: proto.Int32(1<<31 - 1)}},
		{`{"hitMine":true,"picks":[0, 24]}`, &originalsv1.Mines{HitMine: true, Picks: []uint32{0, 24}}},
	} {
		got := c.want.ProtoReflect().New().Interface()
		if err := newDecoder(t).Decode([]byte(c.text), got, nil); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !proto.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.text, got, c.want)
		}
	}
}

// badInput is what must be refused, and the field that the refusal names. The
// Python oracle reads it as well.
var badInput = []struct {
	name, text, field string
	of                proto.Message
}{
	{"empty body", ``, "body", nil},
	{"white space", " \n", "body", nil},
	{"byte order mark", "\ufeff{}", "body", nil},
	{"null", `null`, "body", nil},
	{"a list", `[]`, "body", nil},
	{"a string", `"x"`, "body", nil},
	{"a number", `1`, "body", nil},
	{"trailing garbage", `{}x`, "body", nil},
	{"two documents", `{}{}`, "body", nil},
	{"trailing zero byte", "{}\x00", "body", nil},
	{"unclosed", `{"betId":"b"`, "body", nil},
	{"unclosed string", `{"betId":"b`, "betId", nil},
	{"trailing comma", `{"betId":"b",}`, "body", nil},
	{"leading comma", `{,"betId":"b"}`, "body", nil},
	{"no comma", `{"betId":"b" "target":1}`, "body", nil},
	{"no colon", `{"betId" "b"}`, "body", nil},
	{"comment", `{/**/"betId":"b"}`, "body", nil},
	{"single quotes", `{'betId':"b"}`, "body", nil},
	{"bare name", `{betId:"b"}`, "body", nil},
	{"ill-formed UTF-8", "{\"betId\":\"\xff\"}", "body", nil},
	{"overlong UTF-8", "{\"betId\":\"\xc0\x80\"}", "body", nil},
	{"surrogate as UTF-8", "{\"betId\":\"\xed\xa0\x80\"}", "body", nil},
	{"unknown field", `{"betID":"b"}`, "betID", nil},
	{"proto name", `{"bet_id":"b"}`, "bet_id", nil},
	{"other case", `{"BetId":"b"}`, "BetId", nil},
	{"padded name", `{"betId ":"b"}`, "betId ", nil},
	{"unknown inner field", `{"stake":{"amonut":"1"}}`, "amonut", nil},
	{"player in the body", `{"playerId":"eve"}`, "playerId", nil},
	{"duplicate", `{"betId":"a","betId":"b"}`, "betId", nil},
	{"duplicate by escape", `{"betId":"a","bet\u0049d":"b"}`, "betId", nil},
	{"inner duplicate", `{"stake":{"amount":"1","amount":"2"}}`, "amount", nil},
	{"null field", `{"betId":null}`, "betId", nil},
	{"null message", `{"stake":null}`, "stake", nil},
	{"null enum", `{"direction":null}`, "direction", nil},
	{"null amount", `{"stake":{"amount":null}}`, "amount", nil},
	{"number for a string", `{"betId":1}`, "betId", nil},
	{"list for a string", `{"betId":["b"]}`, "betId", nil},
	{"string for a message", `{"stake":"100"}`, "stake", nil},
	{"list for a message", `{"stake":[]}`, "stake", nil},
	{"object for a number", `{"target":{}}`, "target", nil},
	{"bool for a number", `{"target":true}`, "target", nil},
	{"deep nesting", `{"target":` + strings.Repeat(`[`, 20000), "target", nil},
	{"deep objects", strings.Repeat(`{"stake":`, 5000), "stake", nil},
	{"lone high surrogate", `{"betId":"\ud800"}`, "betId", nil},
	{"lone low surrogate", `{"betId":"\udc00"}`, "betId", nil},
	{"reversed surrogates", `{"betId":"\ude00\ud83d"}`, "betId", nil},
	{"high surrogate, then text", `{"betId":"\ud83dx"}`, "betId", nil},
	{"unknown escape", `{"betId":"\x41"}`, "betId", nil},
	{"short escape", `{"betId":"\u00"}`, "betId", nil},
	{"raw line break", "{\"betId\":\"a\nb\"}", "betId", nil},
	{"fraction", `{"target":1.5}`, "target", nil},
	{"whole fraction", `{"target":1.0}`, "target", nil},
	{"exponent", `{"target":1e3}`, "target", nil},
	{"NaN", `{"target":NaN}`, "target", nil},
	{"NaN text", `{"target":"NaN"}`, "target", nil},
	{"Infinity", `{"target":Infinity}`, "target", nil},
	{"plus", `{"target":+1}`, "target", nil},
	{"hexadecimal", `{"target":0x10}`, "target", nil},
	{"leading zero", `{"target":01}`, "target", nil},
	{"minus zero", `{"target":-0}`, "target", nil},
	{"minus alone", `{"target":-}`, "target", nil},
	{"no value", `{"target":}`, "target", nil},
	{"quoted 32-bit number", `{"target":"5050"}`, "target", nil},
	{"negative unsigned", `{"target":-1}`, "target", nil},
	{"above 32 bits", `{"target":4294967296}`, "target", nil},
	{"far above 64 bits", `{"target":99999999999999999999999999}`, "target", nil},
	{"digits of another script", `{"target":٣}`, "target", nil},
	{"two numbers", `{"target":1 2}`, "body", nil},
	{"amount of 2^53", `{"stake":{"amount":9007199254740992}}`, "amount", nil},
	{"amount of -2^53", `{"stake":{"amount":-9007199254740992}}`, "amount", nil},
	{"amount above 64 bits", `{"stake":{"amount":"9223372036854775808"}}`, "amount", nil},
	{"amount fraction", `{"stake":{"amount":0.1}}`, "amount", nil},
	{"amount fraction text", `{"stake":{"amount":"1.00"}}`, "amount", nil},
	{"amount exponent text", `{"stake":{"amount":"1e3"}}`, "amount", nil},
	{"amount NaN", `{"stake":{"amount":NaN}}`, "amount", nil},
	{"amount NaN text", `{"stake":{"amount":"NaN"}}`, "amount", nil},
	{"amount empty", `{"stake":{"amount":""}}`, "amount", nil},
	{"amount padded", `{"stake":{"amount":" 1"}}`, "amount", nil},
	{"amount with plus", `{"stake":{"amount":"+1"}}`, "amount", nil},
	{"amount with zeros", `{"stake":{"amount":"01"}}`, "amount", nil},
	{"amount with commas", `{"stake":{"amount":"1,000"}}`, "amount", nil},
	{"amount minus zero", `{"stake":{"amount":"-0"}}`, "amount", nil},
	{"enum number", `{"direction":1}`, "direction", nil},
	{"enum number 99", `{"direction":99}`, "direction", nil},
	{"enum number as text", `{"direction":"1"}`, "direction", nil},
	{"enum unspecified", `{"direction":"DIRECTION_UNSPECIFIED"}`, "direction", nil},
	{"enum unknown", `{"direction":"SIDEWAYS"}`, "direction", nil},
	{"enum other case", `{"direction":"over"}`, "direction", nil},
	{"enum empty", `{"direction":""}`, "direction", nil},
	{"object for a list", `{"chips":{}}`, "chips", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"null for a list", `{"chips":null}`, "chips", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"null in a list", `{"chips":[null]}`, "chips", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"trailing comma in a list", `{"chips":[{},]}`, "chips", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"no comma in a list", `{"chips":[{}{}]}`, "body", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"unclosed list", `{"chips":[{}`, "body", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"text in a list of numbers", `{"chips":[{"numbers":["1"]}]}`, "numbers", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"list in a list", `{"chips":[[{}]]}`, "chips", &originalsv1.RouletteServicePlaceBetRequest{}},
	{"two of a choice", `{"dice":{},"limbo":{}}`, "limbo", &originalsv1.VerifyRequest{}},
	{"null choice", `{"dice":null}`, "dice", &originalsv1.VerifyRequest{}},
	{"optional null", `{"tile":null}`, "tile", &originalsv1.PickRequest{}},
	{"below 32 bits", `{"pageSize":-2147483649}`, "pageSize", &originalsv1.ListRoundsRequest{}},
	{"above 31 bits", `{"pageSize":2147483648}`, "pageSize", &originalsv1.ListRoundsRequest{}},
	{"text for a bool", `{"hitMine":"true"}`, "hitMine", &originalsv1.Mines{}},
	{"number for a bool", `{"hitMine":1}`, "hitMine", &originalsv1.Mines{}},
	{"capital bool", `{"hitMine":True}`, "hitMine", &originalsv1.Mines{}},
}

func TestBadInputNamesItsField(t *testing.T) {
	d := newDecoder(t)
	for _, c := range badInput {
		var m proto.Message = &originalsv1.DiceServicePlaceBetRequest{}
		if c.of != nil {
			m = c.of.ProtoReflect().New().Interface()
		}
		err := d.Decode([]byte(c.text), m, nil)
		if err == nil {
			t.Errorf("%s: accepted as %v", c.name, m)
			continue
		}
		if got := refusedField(t, err); got != c.field {
			t.Errorf("%s: names %q, want %q", c.name, got, c.field)
		}
	}
}

func TestMisspeltFieldDroppedDefaultUsed(t *testing.T) {
	d := newDecoder(t)
	for _, name := range []string{"betId", "seedPairId", "stake", "target", "direction"} {
		text := strings.Replace(goodDice, `"`+name+`"`, `"`+name+`s"`, 1)
		err := d.Decode([]byte(text), &originalsv1.DiceServicePlaceBetRequest{}, nil)
		if err == nil {
			t.Fatalf("%s accepted", text)
		}
		if got := refusedField(t, err); got != name+"s" {
			t.Errorf("names %q, want %q", got, name+"s")
		}
	}
}

func TestFieldsOfThePathAreUnknownInTheBody(t *testing.T) {
	d := newDecoder(t)
	err := d.Decode([]byte(`{"tile":1,"roundId":"p-0"}`), &originalsv1.PickRequest{}, map[string]string{"round_id": "p-1"})
	if err == nil || refusedField(t, err) != "roundId" {
		t.Errorf("error %v", err)
	}
	if err := d.Decode([]byte(`{"tile":1,"roundId":"p-0"}`), &originalsv1.PickRequest{}, nil); err != nil {
		t.Error(err)
	}
}

func TestRefusalRepeatsLittleOfTheRequest(t *testing.T) {
	d := newDecoder(t)
	for _, length := range []int{63, 64, 65, 66, 67, 5000} {
		for pad := range 4 { // cut within a character of several bytes
			text := `{"` + strings.Repeat("x", pad) + strings.Repeat("é😀", length) + `":1}`
			field := refusedField(t, d.Decode([]byte(text), &originalsv1.PickRequest{}, nil))
			if len(field) > maxName || strings.ToValidUTF8(field, "?") != field {
				t.Errorf("field %q of %d bytes", field, len(field))
			}
		}
	}
}

func TestNoRefusalEchoesAValue(t *testing.T) {
	const secret = "5eedf00d"
	d := newDecoder(t)
	for _, text := range []string{
		`{"serverSeed":"` + secret, `{"scheme":"a","serverSeed":["` + secret + `"]}`,
		`{"nonce":"` + secret + `"}`, `{"dice":{"direction":"` + secret + `"}}`, `{"serverSeed":"` + secret + `\q"}`,
	} {
		err := d.Decode([]byte(text), &originalsv1.VerifyRequest{}, nil)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNewRefusesKindsWithoutAStrictForm(t *testing.T) {
	for _, m := range []proto.Message{
		&structpb.Struct{}, &anypb.Any{}, &durationpb.Duration{}, &wrapperspb.DoubleValue{},
		&originalsv1.Round{}, // holds timestamps
	} {
		if _, err := New(m.ProtoReflect().Descriptor()); err == nil {
			t.Errorf("%T accepted", m)
		}
	}
}

func TestUnknownMessageIsInternal(t *testing.T) {
	err := newDecoder(t).Decode([]byte(`{}`), &originalsv1.GetRoundRequest{}, nil)
	if reason.Of(err) != reason.Internal {
		t.Errorf("error %v", err)
	}
}

func TestParseIntegerAtTheEnds(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-1": "-1", "18446744073709551615": "18446744073709551615",
		"18446744073709551616": "", "18446744073709551620": "", "184467440737095516150": "",
		"-0": "", "00": "", "": "", "-": "", "--1": "", "1_0": "", "1 ": "",
	} {
		n, ok := parseInteger([]byte(text))
		got := ""
		if ok {
			got = fmt.Sprint(n.magnitude)
		}
		if ok && n.negative {
			got = "-" + got
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

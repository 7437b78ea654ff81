package strictjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// replies are empty answers of every shape that the API has.
func replies() []proto.Message {
	return []proto.Message{
		&originalsv1.Round{}, &originalsv1.SeedPair{}, &originalsv1.RotateSeedPairResponse{}, &originalsv1.ListRoundsResponse{},
		&originalsv1.ListGamesResponse{}, &originalsv1.VerifyResponse{}, &originalsv1.GetEvidenceResponse{},
	}
}

func newEncoder(t testing.TB) *Encoder {
	t.Helper()
	var descriptors []protoreflect.MessageDescriptor
	for _, m := range replies() {
		descriptors = append(descriptors, m.ProtoReflect().Descriptor())
	}
	e, err := NewEncoder(descriptors...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// fill draws a value for each field of m, or none.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	if m.Descriptor().FullName() == timestampName {
		m.Set(fields.ByNumber(1), protoreflect.ValueOfInt64(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds")))
		unit := rapid.SampledFrom([]int32{1, 1000, 1000000, 1000000000}).Draw(t, "unit")
		m.Set(fields.ByNumber(2), protoreflect.ValueOfInt32(rapid.Int32Range(0, 999999999).Draw(t, "nanos")/unit*unit))
		return
	}
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !rapid.Bool().Draw(t, fd.JSONName()) {
			continue
		}
		if !fd.IsList() {
			if fd.Message() != nil {
				fill(t, m.Mutable(fd).Message(), depth+1)
				continue
			}
			m.Set(fd, draw(t, fd))
			continue
		}
		for range rapid.IntRange(0, max(0, 3-depth)).Draw(t, "length") {
			if fd.Message() != nil {
				fill(t, m.Mutable(fd).List().AppendMutable().Message(), depth+1)
				continue
			}
			m.Mutable(fd).List().Append(draw(t, fd))
		}
	}
}

func draw(t *rapid.T, fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.String().Draw(t, "text"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int32"))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "uint32"))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, "int64"))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, "uint64"))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.Int32Range(0, 20).Draw(t, "enum")))
	}
	t.Fatalf("no values for %v", fd.Kind())
	return protoreflect.Value{}
}

// compact drops the white space that protobuf's own JSON adds at random.
func compact(t interface{ Fatal(...any) }, text []byte) map[string]any {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(&b)
	decoder.UseNumber()
	var v map[string]any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEncoderWritesWhatProtobufWrites(t *testing.T) {
	e := newEncoder(t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(replies()).Draw(t, "message").ProtoReflect().New()
		fill(t, m, 0)
		want, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Append([]byte("x"), m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		first, second := compact(t, got[1:]), compact(t, want)
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if got[0] != 'x' || !bytes.Equal(a, b) {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
		again := m.New().Interface()
		if err := protojson.Unmarshal(got[1:], again); err != nil || !proto.Equal(again, m.Interface()) {
			t.Fatalf("read back as %v, %v", again, err)
		}
	})
}

func TestEncoderIsCompactAndInOrder(t *testing.T) {
	m := &originalsv1.VerifyResponse{
		Commitment: "a\"\\\n\x7f\u2028é", MultiplierE4: -5,
		Outcome: &originalsv1.VerifyResponse_Roulette{Roulette: &originalsv1.Roulette{
			Chips: []*originalsv1.Chip{{Kind: 99, Numbers: []uint32{0, math.MaxUint32}, Amount: math.MinInt64}, {}}, Pocket: proto.Uint32(0),
		}},
	}
	got, err := newEncoder(t).Append(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\"commitment\":\"a\\\"\\\\\\u000a\x7f\u2028é\",\"signature\":\"\",\"multiplierE4\":\"-5\",\"verdict\":\"VERDICT_UNSPECIFIED\",\"checks\":[],\"notes\":[],\"roulette\":{\"chips\":[" +
		`{"kind":99,"numbers":[0,4294967295],"amount":"-9223372036854775808"},` +
		`{"kind":"KIND_UNSPECIFIED","numbers":[],"amount":"0"}],"pocket":0}}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestEncoderRefuses(t *testing.T) {
	e := newEncoder(t)
	for name, m := range map[string]proto.Message{
		"ill-formed text":     &originalsv1.SeedPair{ClientSeed: "\xff"},
		"inner text":          &originalsv1.ListRoundsResponse{Rounds: []*originalsv1.Round{{BetId: "\xed\xa0\x80"}}},
		"year 10000":          &originalsv1.Round{CreateTime: &timestamppb.Timestamp{Seconds: 253402300800}},
		"year 0":              &originalsv1.Round{CreateTime: &timestamppb.Timestamp{Seconds: -62135596801}},
		"nanos":               &originalsv1.Round{CreateTime: &timestamppb.Timestamp{Nanos: 1000000000}},
		"negative nanos":      &originalsv1.Round{CreateTime: &timestamppb.Timestamp{Nanos: -1}},
		"not made for it":     &originalsv1.PickRequest{},
		"nor for a timestamp": timestamppb.Now(),
	} {
		if got, err := e.Append(nil, m); err == nil || strings.Contains(err.Error(), "\xff") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := NewEncoder((&structpb.Struct{}).ProtoReflect().Descriptor()); err == nil {
		t.Error("google.protobuf.Struct accepted")
	}
}

// BenchmarkEncode measures a settled dice round beside protobuf's own JSON.
func BenchmarkEncode(b *testing.B) {
	m := &originalsv1.Round{
		RoundId: "p17-0123456789abcdef-7", BetId: "b-1", Game: originalsv1.Game_DICE, Scheme: "originals-v1", State: originalsv1.Round_SETTLED,
		SeedPairId: "p17-0123456789abcdef", Commitment: strings.Repeat("0", 64), ClientSeed: strings.Repeat("c", 32), Nonce: 7,
		Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, Payout: &originalsv1.Money{Currency: "FUN"},
		CreateTime: timestamppb.Now(), SettleTime: timestamppb.Now(), Balance: &originalsv1.Money{Currency: "FUN", Amount: 999900},
		Dice: &originalsv1.Dice{Target: 5050, Direction: originalsv1.Dice_OVER, Roll: proto.Uint32(1), Win: proto.Bool(false)},
	}
	e := newEncoder(b)
	b.Run("strict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Append(make([]byte, 0, 1024), m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (protojson.MarshalOptions{EmitDefaultValues: true}).Marshal(m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package strictjson

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// FuzzDecode holds the decoder to two independent readers: what it accepts,
// protobuf's own JSON reads as the same message, and that message written
// again says what the text said, name by name and digit by digit.
func FuzzDecode(f *testing.F) {
	for i := range samples() {
		f.Add(i, []byte(goodDice))
		f.Add(i, []byte(`{"chips":[{"kind":"RED","numbers":[],"amount":9007199254740991}]}`))
		f.Add(i, []byte(`{"scheme":"originals-v1","nonce":4294967294,"mines":{"mineCount":3,"picks":[0,24]}}`))
		f.Add(i, []byte(`{"tile":0}`))
		f.Add(i, []byte(`{"game":"DICE","pageSize":-5,"pageToken":"\ud83d\ude00"}`))
		f.Add(i, []byte(`{"hitMine":true,"nextMultiplierE4":"-9223372036854775808"}`))
	}
	for _, c := range badInput {
		f.Add(0, []byte(c.text))
	}
	d := newDecoder(f)
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		all := samples()
		m := all[uint(which)%uint(len(all))]
		if err := d.Decode(text, m, nil); err != nil {
			refusedField(t, err)
			return
		}
		other := m.ProtoReflect().New().Interface()
		if err := protojson.Unmarshal(text, other); err != nil {
			t.Fatalf("accepted what protojson refuses: %v", err)
		}
		if !proto.Equal(m, other) {
			t.Fatalf("read as %v, protojson reads %v", m, other)
		}
		again, err := protojson.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if given, written := tree(t, text), tree(t, again); !reflect.DeepEqual(given, written) {
			t.Fatalf("read %v, written again %v", given, written)
		}
	})
}

// tree reads JSON by the standard library, exact to the digit, and evens out
// the two freedoms that are meant: zero values may be left out, and 64-bit
// numbers stand as text or number. Repeated names fail it.
func tree(t *testing.T, text []byte) any {
	t.Helper()
	if !json.Valid(text) {
		t.Fatalf("accepted what is no JSON: %q", text)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	v := branch(t, decoder)
	if _, err := decoder.Token(); err != io.EOF {
		t.Fatalf("accepted text after the document: %q", text)
	}
	return v
}

func branch(t *testing.T, d *json.Decoder) any {
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('{'):
		object := map[string]any{}
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			name := key.(string)
			if seen[name] {
				t.Fatalf("accepted %q twice", name)
			}
			seen[name] = true
			if v := branch(t, d); !isZero(v) {
				object[name] = v
			}
		}
		_, _ = d.Token()
		return object
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, branch(t, d))
		}
		_, _ = d.Token()
		return list
	case nil:
		t.Fatal("accepted null")
	}
	if n, ok := token.(json.Number); ok {
		return n.String()
	}
	return token
}

func isZero(v any) bool {
	list, ok := v.([]any)
	return v == "" || v == "0" || v == false || ok && len(list) == 0
}

// pythonOracle says of each line, a name and a text in hex, whether Python's
// JSON with the rules of the contract takes it as an object for a dice bet.
const pythonOracle = `
import json, re, sys
FIELDS = {"betId": str, "seedPairId": str, "stake": {"currency": str, "amount": "int64"}, "target": "uint32", "direction": {"OVER", "UNDER"}}
def pairs(items):
    if len(dict(items)) != len(items): raise ValueError("twice")
    return dict(items)
class Number(str): pass
def number(text): return Number(text)
def refuse(text): raise ValueError(text)
WHOLE = re.compile(r"(0|-?[1-9][0-9]*)", re.ASCII)
def check(value, rule):
    if isinstance(rule, dict):
        if type(value) is not dict: raise ValueError
        for k, v in value.items(): check(v, rule[k])
    elif rule is str:
        if type(value) is not str: raise ValueError
        value.encode()
    elif isinstance(rule, set):
        if type(value) is not str or value not in rule: raise ValueError
    elif rule == "uint32":
        if type(value) is not Number or not WHOLE.fullmatch(value) or not 0 <= int(value) < 2**32: raise ValueError
    else:
        if type(value) not in (str, Number) or not WHOLE.fullmatch(value): raise ValueError
        top = 2**53 if type(value) is Number else 2**63
        if not -2**63 <= int(value) < top or type(value) is Number and int(value) <= -top: raise ValueError
def takes(raw):
    try:
        check(json.loads(raw.decode("utf-8"), object_pairs_hook=pairs, parse_int=number, parse_float=refuse, parse_constant=refuse), FIELDS)
        return True
    except (ValueError, KeyError, RecursionError):
        return False
for line in sys.stdin:
    print(int(takes(bytes.fromhex(line.strip()))))
`

// TestPythonAgrees asks Python about every text of the tables, each also cut
// short at every place of a good bet.
func TestPythonAgrees(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is needed: it is the second reader of requests")
	}
	texts := [][]byte{[]byte(goodDice)}
	for i := range goodDice {
		texts = append(texts, []byte(goodDice[:i]), []byte(goodDice[:i]+goodDice[i+1:]),
			[]byte(goodDice[:i]+"0"+goodDice[i:]), []byte(goodDice[:i]+"\""+goodDice[i:]))
	}
	for _, c := range badInput {
		if c.of == nil {
			texts = append(texts, []byte(c.text))
		}
	}
	var in strings.Builder
	const digits = "0123456789abcdef"
	for _, text := range texts {
		for _, b := range text {
			in.WriteByte(digits[b>>4])
			in.WriteByte(digits[b&15])
		}
		in.WriteByte('\n')
	}
	command := exec.Command(python, "-c", pythonOracle)
	command.Stdin = strings.NewReader(in.String())
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := strings.Fields(string(out))
	if len(verdicts) != len(texts) {
		t.Fatalf("%d verdicts on %d texts", len(verdicts), len(texts))
	}
	d := newDecoder(t)
	taken := 0
	for i, text := range texts {
		err := d.Decode(text, &originalsv1.DiceServicePlaceBetRequest{}, nil)
		if (err == nil) != (verdicts[i] == "1") {
			t.Errorf("%q: Python says %s, the decoder %v", text, verdicts[i], err)
		}
		if err == nil {
			taken++
		}
	}
	if taken < 10 || taken > len(texts)-100 {
		t.Errorf("%d of %d taken: the comparison shows little", taken, len(texts))
	}
}

// BenchmarkDecode measures a dice bet beside protobuf's own JSON, which checks
// less.
func BenchmarkDecode(b *testing.B) {
	text := []byte(goodDice)
	d := newDecoder(b)
	b.Run("strict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := d.Decode(text, &originalsv1.DiceServicePlaceBetRequest{}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := protojson.Unmarshal(text, &originalsv1.DiceServicePlaceBetRequest{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

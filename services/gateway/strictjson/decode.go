package strictjson

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/openoriginals/originals/internal/reason"
)

// Document names the request as a whole where a refusal has no field.
const Document = "body"

// maxExact is 2^53-1: every JSON reader carries whole numbers up to it exactly.
const maxExact = 1<<53 - 1

// maxName is the number of bytes of a foreign name that a refusal repeats.
const maxName = 64

// Decode fills m, which must be empty, from a JSON text. Fields whose proto
// names are keys of bound come from elsewhere, such as a path, and are unknown
// here. A refusal is a *reason.Error of INVALID_FIELD whose metadata name the
// innermost field, or Document; m is then in no defined state.
func (dec *Decoder) Decode(data []byte, m proto.Message, bound map[string]string) error {
	target := m.ProtoReflect()
	p, ok := dec.plans[target.Descriptor().FullName()]
	if !ok {
		return reason.New(reason.Internal, "internal error")
	}
	if !utf8.Valid(data) {
		return reason.Field(Document, "is not UTF-8")
	}
	d := &document{data: data}
	if d.next() == 0 && d.pos == len(data) {
		return reason.Field(Document, "is empty: an object is required, {} when there is nothing to say")
	}
	var hidden uint64
	for name := range bound {
		hidden |= p.bound[name]
	}
	if err := d.object(target, p, Document, hidden); err != nil {
		return err
	}
	if d.next(); d.pos != len(data) {
		return reason.Field(Document, "has something after its end")
	}
	return nil
}

func broken() *reason.Error { return reason.Field(Document, "is not well-formed JSON") }

// object reads an object called name into m. Fields in hidden are unknown.
func (d *document) object(m protoreflect.Message, p *plan, name string, hidden uint64) *reason.Error {
	if !d.take('{') {
		return reason.Field(name, "must be an object")
	}
	if d.take('}') {
		return nil
	}
	var seen, groups uint64
	for {
		f, err := d.key(p, hidden)
		if err != nil {
			return err
		}
		if seen&f.bit != 0 {
			return reason.Field(f.name, "stands there twice")
		}
		if groups&f.group != 0 {
			return reason.Field(f.name, "excludes another field that is also there")
		}
		seen |= f.bit
		groups |= f.group
		if err := d.value(m, f); err != nil {
			return err
		}
		if d.take('}') {
			return nil
		}
		if !d.take(',') {
			return broken()
		}
	}
}

// key reads a name and the colon after it.
func (d *document) key(p *plan, hidden uint64) (*field, *reason.Error) {
	name, ok := d.text()
	if !ok {
		return nil, broken()
	}
	f := p.fields[string(name)]
	if f == nil || f.bit&hidden != 0 {
		return nil, reason.Field(shortened(name), "is not a field of this request")
	}
	if !d.take(':') {
		return nil, broken()
	}
	return f, nil
}

// shortened returns at most maxName bytes of a foreign name, whole characters.
func shortened(name []byte) string {
	if len(name) <= maxName {
		return string(name)
	}
	end := maxName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return string(name[:end])
}

// value reads the value of f into m.
func (d *document) value(m protoreflect.Message, f *field) *reason.Error {
	switch {
	case f.list:
		return d.array(m.Mutable(f.descriptor).List(), f)
	case f.kind == kindMessage:
		return d.object(m.Mutable(f.descriptor).Message(), f.message, f.name, 0)
	}
	v, ok := d.scalar(f)
	if !ok {
		return reason.Field(f.name, f.problem)
	}
	m.Set(f.descriptor, v)
	return nil
}

func (d *document) array(l protoreflect.List, f *field) *reason.Error {
	if !d.take('[') {
		return reason.Field(f.name, "must be a list")
	}
	if d.take(']') {
		return nil
	}
	for {
		if err := d.element(l, f); err != nil {
			return err
		}
		if d.take(']') {
			return nil
		}
		if !d.take(',') {
			return broken()
		}
	}
}

func (d *document) element(l protoreflect.List, f *field) *reason.Error {
	if f.kind == kindMessage {
		return d.object(l.AppendMutable().Message(), f.message, f.name, 0)
	}
	v, ok := d.scalar(f)
	if !ok {
		return reason.Field(f.name, f.problem)
	}
	l.Append(v)
	return nil
}

// scalar reads one value that is neither list nor message.
func (d *document) scalar(f *field) (protoreflect.Value, bool) {
	switch f.kind {
	case kindString:
		s, ok := d.text()
		return protoreflect.ValueOfString(string(s)), ok
	case kindEnum:
		s, ok := d.text()
		number, known := f.enum[string(s)]
		return protoreflect.ValueOfEnum(number), ok && known
	case kindBool:
		word := string(d.word())
		return protoreflect.ValueOfBool(word == "true"), word == "true" || word == "false"
	}
	return d.number(f.kind)
}

// number reads an integer. A string of digits is one only if it has 64 bits.
func (d *document) number(k kind) (protoreflect.Value, bool) {
	wide := k == kindInt64 || k == kindUint64
	quoted := wide && d.next() == '"'
	digits, ok := []byte(nil), true
	if quoted {
		digits, ok = d.text()
	} else {
		digits = d.word()
	}
	n, whole := parseInteger(digits)
	if !ok || !whole {
		return protoreflect.Value{}, false
	}
	switch k {
	case kindInt32:
		v, fits := n.signed(math.MaxInt32)
		return protoreflect.ValueOfInt32(int32(v)), fits
	case kindUint32:
		v, fits := n.unsigned(math.MaxUint32)
		return protoreflect.ValueOfUint32(uint32(v)), fits
	case kindInt64:
		v, fits := n.signed(math.MaxInt64)
		return protoreflect.ValueOfInt64(v), fits && (quoted || n.magnitude <= maxExact)
	}
	v, fits := n.unsigned(math.MaxUint64)
	return protoreflect.ValueOfUint64(v), fits && (quoted || v <= maxExact)
}

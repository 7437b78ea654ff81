package strictjson

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Encoder writes the messages that it was made for. It is immutable and safe
// for concurrent use.
//
// It writes what protobuf's own JSON writes with EmitDefaultValues, in the
// order of the definition and without white space: each field that has a
// value, zero or not, and never null.
type Encoder struct {
	layouts map[protoreflect.FullName]*layout
}

// NewEncoder returns an encoder for messages and all that they contain. It
// refuses the kinds of field that New refuses, but writes timestamps.
func NewEncoder(messages ...protoreflect.MessageDescriptor) (*Encoder, error) {
	e := &Encoder{layouts: make(map[protoreflect.FullName]*layout)}
	for _, m := range messages {
		if _, err := e.layout(m); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// layout is how one message is written.
type layout struct {
	fields    []slot
	timestamp bool
}

type slot struct {
	descriptor protoreflect.FieldDescriptor
	key        string // "name":
	kind       kind
	list       bool
	presence   bool // may have no value
	message    *layout
}

const timestampName = "google.protobuf.Timestamp"

func (e *Encoder) layout(m protoreflect.MessageDescriptor) (*layout, error) {
	if l, ok := e.layouts[m.FullName()]; ok {
		return l, nil
	}
	if m.FullName() == timestampName {
		return &layout{timestamp: true}, nil
	}
	if m.ParentFile().Package() == "google.protobuf" {
		return nil, fmt.Errorf("strictjson: %s has no strict form", m.FullName())
	}
	l := &layout{}
	e.layouts[m.FullName()] = l
	for i := range m.Fields().Len() {
		fd := m.Fields().Get(i)
		k, _, err := kindOf(fd)
		if err != nil {
			return nil, err
		}
		s := slot{descriptor: fd, key: `"` + fd.JSONName() + `":`, kind: k, list: fd.IsList(), presence: fd.HasPresence()}
		if k == kindMessage {
			if s.message, err = e.layout(fd.Message()); err != nil {
				return nil, err
			}
		}
		l.fields = append(l.fields, s)
	}
	return l, nil
}

// Append appends m in JSON to dst. It fails on a message that it was not made
// for, on text that is not UTF-8, and on a time outside the years 1 to 9999.
func (e *Encoder) Append(dst []byte, m proto.Message) ([]byte, error) {
	message := m.ProtoReflect()
	l, ok := e.layouts[message.Descriptor().FullName()]
	if !ok {
		return nil, fmt.Errorf("strictjson: not made to write %s", message.Descriptor().FullName())
	}
	return appendMessage(dst, message, l)
}

func appendMessage(dst []byte, m protoreflect.Message, l *layout) ([]byte, error) {
	if l.timestamp {
		return appendTimestamp(dst, m)
	}
	dst = append(dst, '{')
	start := len(dst)
	for i := range l.fields {
		s := &l.fields[i]
		if s.presence && !m.Has(s.descriptor) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, s.key...)
		var err error
		if dst, err = appendField(dst, m.Get(s.descriptor), s); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendField(dst []byte, v protoreflect.Value, s *slot) ([]byte, error) {
	if !s.list {
		return appendValue(dst, v, s)
	}
	list := v.List()
	dst = append(dst, '[')
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, list.Get(i), s); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendValue(dst []byte, v protoreflect.Value, s *slot) ([]byte, error) {
	switch s.kind {
	case kindString:
		return appendText(dst, v.String())
	case kindBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case kindInt32:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case kindUint32:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case kindInt64:
		return append(strconv.AppendInt(append(dst, '"'), v.Int(), 10), '"'), nil
	case kindUint64:
		return append(strconv.AppendUint(append(dst, '"'), v.Uint(), 10), '"'), nil
	case kindEnum:
		return appendEnum(dst, v.Enum(), s.descriptor.Enum()), nil
	}
	return appendMessage(dst, v.Message(), s.message)
}

// appendEnum writes the name, or the number of a value that this build does
// not know.
func appendEnum(dst []byte, n protoreflect.EnumNumber, e protoreflect.EnumDescriptor) []byte {
	known := e.Values().ByNumber(n)
	if known == nil {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	dst = append(dst, '"')
	dst = append(dst, known.Name()...)
	return append(dst, '"')
}

func appendText(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("strictjson: text is not UTF-8")
	}
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		if from = i + 1; c < ' ' {
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			continue
		}
		dst = append(dst, '\\', c)
	}
	return append(append(dst, s[from:]...), '"'), nil
}

// appendTimestamp writes RFC 3339 in UTC with 0, 3, 6 or 9 decimals.
func appendTimestamp(dst []byte, m protoreflect.Message) ([]byte, error) {
	fields := m.Descriptor().Fields()
	seconds, nanos := m.Get(fields.ByNumber(1)).Int(), m.Get(fields.ByNumber(2)).Int()
	t := time.Unix(seconds, nanos).UTC()
	if nanos < 0 || nanos > 999999999 || t.Year() < 1 || t.Year() > 9999 {
		return nil, fmt.Errorf("strictjson: time out of range")
	}
	format := `"2006-01-02T15:04:05.000000000Z"`
	switch {
	case nanos == 0:
		format = `"2006-01-02T15:04:05Z"`
	case nanos%1e6 == 0:
		format = `"2006-01-02T15:04:05.000Z"`
	case nanos%1e3 == 0:
		format = `"2006-01-02T15:04:05.000000Z"`
	}
	return t.AppendFormat(dst, format), nil
}

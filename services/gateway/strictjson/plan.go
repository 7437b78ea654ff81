// Package strictjson holds a JSON decoder for protobuf requests that accepts
// one spelling of each message and nothing else, and an encoder of answers; it
// must never import a service, a store or a network.
//
// The decoder accepts what a careful client sends: an object whose keys are exact
// lowerCamelCase names, each at most once; enums by name; 32-bit integers as
// JSON numbers; 64-bit integers as strings of digits, or as numbers up to
// 2^53-1. It refuses null, fractions, exponents, unknown names, ill-formed
// text and anything after the document. Protobuf's own JSON accepts much of
// that silently, and a misspelt field would be a default in a bet.
package strictjson

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Decoder decodes the messages that it was made for. It is immutable and safe
// for concurrent use.
type Decoder struct {
	plans map[protoreflect.FullName]*plan
}

// New returns a decoder for messages and all that they contain. It refuses
// kinds of field that have no strict form here: floats, bytes, maps, groups
// and google.protobuf types.
func New(messages ...protoreflect.MessageDescriptor) (*Decoder, error) {
	d := &Decoder{plans: make(map[protoreflect.FullName]*plan)}
	for _, m := range messages {
		if _, err := d.plan(m); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// plan is how one message is read.
type plan struct {
	fields map[string]*field // by JSON name
	bound  map[string]uint64 // bits by proto name
}

type field struct {
	descriptor protoreflect.FieldDescriptor
	name       string // JSON name
	kind       kind
	list       bool
	bit        uint64 // of the field in its message
	group      uint64 // of its oneof; 0 when in none
	enum       map[string]protoreflect.EnumNumber
	problem    string // what is said of a value that does not fit
	message    *plan
}

type kind uint8

const (
	kindString kind = iota
	kindBool
	kindInt32
	kindUint32
	kindInt64
	kindUint64
	kindEnum
	kindMessage
)

// maxFields is the number of fields that fit the mask of fields seen.
const maxFields = 64

func (d *Decoder) plan(m protoreflect.MessageDescriptor) (*plan, error) {
	if p, ok := d.plans[m.FullName()]; ok {
		return p, nil
	}
	fields := m.Fields()
	if strings.HasPrefix(string(m.FullName()), "google.protobuf.") || fields.Len() > maxFields {
		return nil, fmt.Errorf("strictjson: %s has no strict form", m.FullName())
	}
	p := &plan{fields: make(map[string]*field, fields.Len()), bound: make(map[string]uint64, fields.Len())}
	d.plans[m.FullName()] = p
	for i := range fields.Len() {
		f, err := d.field(fields.Get(i))
		if err != nil {
			return nil, err
		}
		p.fields[f.name] = f
		p.bound[string(f.descriptor.Name())] = f.bit
	}
	return p, nil
}

func (d *Decoder) field(fd protoreflect.FieldDescriptor) (*field, error) {
	f := &field{descriptor: fd, name: fd.JSONName(), list: fd.IsList(), bit: 1 << fd.Index()}
	if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
		f.group = 1 << o.Index()
	}
	k, problem, err := kindOf(fd)
	if err != nil {
		return nil, err
	}
	f.kind, f.problem = k, problem
	switch k {
	case kindEnum:
		f.enum, f.problem = EnumNames(fd.Enum())
	case kindMessage:
		f.message, err = d.plan(fd.Message())
	}
	return f, err
}

func kindOf(fd protoreflect.FieldDescriptor) (kind, string, error) {
	if fd.IsMap() {
		return 0, "", fmt.Errorf("strictjson: %s is a map", fd.FullName())
	}
	switch fd.Kind() {
	case protoreflect.StringKind:
		return kindString, "must be a string", nil
	case protoreflect.BoolKind:
		return kindBool, "must be true or false", nil
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return kindInt32, "must be a whole number of 32 bits", nil
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return kindUint32, "must be a whole number from 0 to 4294967295", nil
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return kindInt64, "must be a whole number: a string of digits, or a number up to 9007199254740991", nil
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return kindUint64, "must be a whole number from 0: a string of digits, or a number up to 9007199254740991", nil
	case protoreflect.EnumKind:
		return kindEnum, "", nil
	case protoreflect.MessageKind:
		return kindMessage, "must be an object", nil
	}
	return 0, "", fmt.Errorf("strictjson: %s is a %v, which has no strict form", fd.FullName(), fd.Kind())
}

// EnumNames returns the names that a client may use: all but the zero value,
// which every enum keeps for "not specified"; and what to tell a client that
// used another.
func EnumNames(e protoreflect.EnumDescriptor) (map[string]protoreflect.EnumNumber, string) {
	values := e.Values()
	names := make(map[string]protoreflect.EnumNumber, values.Len())
	listed := make([]string, 0, values.Len())
	for i := range values.Len() {
		v := values.Get(i)
		if v.Number() == 0 {
			continue
		}
		names[string(v.Name())] = v.Number()
		listed = append(listed, string(v.Name()))
	}
	return names, "must be one of " + strings.Join(listed, ", ")
}

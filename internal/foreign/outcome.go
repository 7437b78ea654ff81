package foreign

import "strconv"

// Value is one part of an outcome.
type Value struct {
	Name     string
	isNumber bool
	number   uint64
	text     []byte // of what is no number
}

// Text returns the value: a decimal number, true or false, or a list of numbers with commas.
func (v Value) Text() string {
	if v.isNumber {
		return strconv.FormatUint(v.number, 10)
	}
	return string(v.text)
}

// Is reports whether Text returns this text.
func (v *Value) Is(text string) bool {
	if !v.isNumber {
		return string(v.text) == text
	}
	if !isNumber(text) {
		return false
	}
	number := uint64(0)
	for i := range len(text) {
		number = 10*number + uint64(text[i]-'0')
	}
	return number == v.number
}

// Outcome is what a scheme gives to one bet. It can be used again for the next, which overwrites it.
type Outcome struct {
	Values []Value
	Notes  []string // what its reader has to know
	buffer []byte
}

// Get returns the value of a name.
func (o *Outcome) Get(name string) (Value, bool) {
	if v := o.value(name); v != nil {
		return *v, true
	}
	return Value{}, false
}

func (o *Outcome) value(name string) *Value {
	for i := range o.Values {
		if o.Values[i].Name == name {
			return &o.Values[i]
		}
	}
	return nil
}

func (o *Outcome) reset() {
	o.Values, o.Notes, o.buffer = o.Values[:0], nil, o.buffer[:0]
}

// add names what was appended to the buffer since start.
func (o *Outcome) add(name string, start int) {
	o.Values = append(o.Values, Value{Name: name, text: o.buffer[start:len(o.buffer):len(o.buffer)]})
}

func (o *Outcome) number(name string, value uint64) {
	o.Values = append(o.Values, Value{Name: name, isNumber: true, number: value})
}

func (o *Outcome) boolean(name string, value bool) {
	start := len(o.buffer)
	o.buffer = strconv.AppendBool(o.buffer, value)
	o.add(name, start)
}

func (o *Outcome) string(name, value string) {
	start := len(o.buffer)
	o.buffer = append(o.buffer, value...)
	o.add(name, start)
}

// list writes numbers with commas.
func (o *Outcome) list(name string, numbers []uint8) {
	start := len(o.buffer)
	for i, n := range numbers {
		if i > 0 {
			o.buffer = append(o.buffer, ',')
		}
		o.buffer = strconv.AppendUint(o.buffer, uint64(n), 10)
	}
	o.add(name, start)
}

func (o *Outcome) note(words string) { o.Notes = append(o.Notes, words) }

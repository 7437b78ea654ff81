package strictjson

import (
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// document is a JSON text and how far it is read.
type document struct {
	data []byte
	pos  int
}

// next skips white space and returns the byte that follows; 0 at the end.
func (d *document) next() byte {
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

// take skips white space and then c, and reports whether c was there.
func (d *document) take(c byte) bool {
	if d.next() != c {
		return false
	}
	d.pos++
	return true
}

// text reads a string and returns its content. The content aliases the
// document unless it holds escapes. It is false for anything but a string of
// well-formed Unicode; the document as a whole is known to be UTF-8.
func (d *document) text() ([]byte, bool) {
	if !d.take('"') {
		return nil, false
	}
	for i := d.pos; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			content := d.data[d.pos:i]
			d.pos = i + 1
			return content, true
		case c == '\\':
			return d.escapedText(i)
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// escapedText reads on where text met the first escape, at i.
func (d *document) escapedText(i int) ([]byte, bool) {
	content := append([]byte(nil), d.data[d.pos:i]...)
	for i < len(d.data) {
		switch c := d.data[i]; {
		case c == '"':
			d.pos = i + 1
			return content, true
		case c < ' ':
			return nil, false
		case c != '\\':
			content = append(content, c)
			i++
		default:
			r, size := escape(d.data[i:])
			if size == 0 {
				return nil, false
			}
			content = utf8.AppendRune(content, r)
			i += size
		}
	}
	return nil, false
}

// escape reads the escape at the start of p. Its size is 0 for one that JSON
// does not have, and for half of a surrogate pair.
func escape(p []byte) (r rune, size int) {
	if len(p) < 2 {
		return 0, 0
	}
	switch p[1] {
	case '"', '\\', '/':
		return rune(p[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unicodeEscape(p)
	}
	return 0, 0
}

func unicodeEscape(p []byte) (rune, int) {
	r, ok := hex4(p)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hex4(p[6:])
	if !ok {
		return 0, 0
	}
	pair := utf16.DecodeRune(r, low)
	if pair == utf8.RuneError {
		return 0, 0
	}
	return pair, 12
}

// hex4 reads \uXXXX at the start of p.
func hex4(p []byte) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// word reads what stands between here and the next delimiter: a number or a
// literal, when the document is well formed.
func (d *document) word() []byte {
	d.next()
	start := d.pos
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}', '[', '{', '"':
			return d.data[start:d.pos]
		}
		d.pos++
	}
	return d.data[start:]
}

// integer is a whole number of up to 64 bits and a sign.
type integer struct {
	negative  bool
	magnitude uint64
}

// parseInteger reads 0 or [-][1-9][0-9]*, the one form of each whole number.
func parseInteger(p []byte) (integer, bool) {
	var n integer
	if len(p) > 1 && p[0] == '-' {
		n.negative = true
		p = p[1:]
	}
	if len(p) == 0 || (p[0] == '0' && (len(p) > 1 || n.negative)) {
		return integer{}, false
	}
	for _, c := range p {
		if c < '0' || c > '9' {
			return integer{}, false
		}
		digit := uint64(c - '0')
		if n.magnitude > (math.MaxUint64-digit)/10 {
			return integer{}, false
		}
		n.magnitude = n.magnitude*10 + digit
	}
	return n, true
}

// signed returns n as an int64 whose positive values are at most max.
func (n integer) signed(max uint64) (int64, bool) {
	if n.negative {
		return -int64(n.magnitude), n.magnitude <= max+1
	}
	return int64(n.magnitude), n.magnitude <= max
}

// unsigned returns n if it is at most max.
func (n integer) unsigned(max uint64) (uint64, bool) {
	return n.magnitude, !n.negative && n.magnitude <= max
}

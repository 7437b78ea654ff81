package evidence

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// FormatError says why a document cannot be judged at all.
type FormatError struct {
	Where   string // the place in the document, such as rounds[12].dice.roll
	Problem string // what is wrong there, for people; text from the document is quoted in ASCII

	short bool // the text ended too early: more of it might help
}

// Error returns the place and the problem.
func (e *FormatError) Error() string {
	if e.Where == "" {
		return e.Problem
	}
	return e.Where + ": " + e.Problem
}

// cursor reads strict JSON from a text that is whole in memory. Its first error stays, and every read after it returns a
// zero value; so a caller may read several things and look once.
type cursor struct {
	text []byte
	at   int
	err  *FormatError
	path []string // the keys that lead to where the cursor is, for errors

	minute minute // of the time that was read last
	time   struct {
		text  []byte // the time that was read last, with its quotes
		value instant
	}
}

func (c *cursor) fail(format string, arguments ...any) {
	if c.err == nil {
		c.err = &FormatError{Where: strings.Join(c.path, "."), Problem: fmt.Sprintf(format, arguments...)}
	}
}

// wants fails with what should stand here and what does.
func (c *cursor) wants(what string) {
	if c.err != nil {
		return
	}
	if c.at >= len(c.text) {
		c.fail("wants %s, and the document ends", what)
		c.err.short = true
		return
	}
	c.fail("wants %s, got %s", what, show(c.text[c.at:]))
}

// valueShown is how much of a wrong value an error shows.
const valueShown = 24

// show returns the value that text begins with, in words for people: a string in quotes, anything else without.
func show(text []byte) string {
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return quote(upTo(text[1:], `"`))
	}
	if value := upTo(text, ",]}\"\r\n\t "); len(value) > 0 {
		return strings.Trim(quote(value), `"`)
	}
	return quote(text[:1])
}

// upTo returns text before the first of the stops, and dots in place of what is more than an error shows.
func upTo(text []byte, stops string) []byte {
	if end := bytes.IndexAny(text[:min(len(text), valueShown+1)], stops); end >= 0 {
		return text[:end]
	}
	if len(text) <= valueShown {
		return text
	}
	return append(bytes.Clone(text[:valueShown]), "..."...)
}

// quote shows text from a document so that it cannot play tricks on a terminal.
func quote(text []byte) string { return strconv.QuoteToASCII(string(text)) }

func (c *cursor) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte that follows, 0 at the end.
func (c *cursor) next() byte {
	c.space()
	if c.at >= len(c.text) {
		return 0
	}
	return c.text[c.at]
}

// take skips white space and steps over the byte if it follows.
func (c *cursor) take(b byte) bool {
	if c.err != nil || c.next() != b {
		return false
	}
	c.at++
	return true
}

// expect steps over exactly this text, without white space before it.
func (c *cursor) expect(literal []byte) bool {
	end := c.at + len(literal)
	if end > len(c.text) || !bytes.Equal(c.text[c.at:end], literal) {
		return false
	}
	c.at = end
	return true
}

// str reads a string and returns its characters. Without escapes that is a part of the text itself, and not yet tested
// for what else a string must not hold: every caller compares it with a pattern of visible ASCII, or uses freeText.
func (c *cursor) str() []byte {
	if c.err != nil {
		return nil
	}
	if c.at >= len(c.text) || c.text[c.at] != '"' {
		c.wants("a string")
		return nil
	}
	rest := c.text[c.at+1:]
	end := bytes.IndexByte(rest, '"')
	if end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
		c.at += end + 2
		return rest[:end]
	}
	return c.escapedString(rest)
}

func (c *cursor) escapedString(rest []byte) []byte {
	end := 0
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(rest) {
		c.fail("a string without an end")
		c.err.short = true
		return nil
	}
	value, problem := unescape(rest[:end])
	if problem != "" {
		c.fail("%s in the string %s", problem, quote(rest[:min(end, valueShown)]))
		return nil
	}
	c.at += end + 2
	return value
}

// freeText reads a string that may hold any characters.
func (c *cursor) freeText() {
	start := c.at
	c.str()
	if c.err != nil {
		return
	}
	if _, problem := unescape(c.text[start+1 : c.at-1]); problem != "" {
		c.fail("%s in a string", problem)
	}
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns the characters that the inside of a JSON string stands for, or what is wrong with it. Half a
// surrogate pair is refused, not replaced: two programs must read the same text.
func unescape(raw []byte) (value []byte, problem string) {
	if !utf8.Valid(raw) {
		return nil, "not UTF-8"
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] < 0x20 {
			return nil, "a control character"
		}
		if raw[i] != '\\' {
			value = append(value, raw[i])
			continue
		}
		i++
		if plain, known := escapes[raw[i]]; known {
			value = append(value, plain)
			continue
		}
		unit, ok := unit16(raw[i:])
		if !ok {
			return nil, "an unknown escape"
		}
		i += 4
		if utf16.IsSurrogate(unit) {
			low, ok := rune(0), len(raw) > i+1 && raw[i+1] == '\\'
			if ok {
				low, ok = unit16(raw[i+2:])
			}
			if unit = utf16.DecodeRune(unit, low); !ok || unit == utf8.RuneError {
				return nil, "half a character"
			}
			i += 6
		}
		value = utf8.AppendRune(value, unit)
	}
	return value, ""
}

// unit16 reads uXXXX.
func unit16(text []byte) (rune, bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	return rune(unit), err == nil
}

// number reads a whole number of low..high, written without sign, fraction, exponent or leading zero.
func (c *cursor) number(low, high uint32) uint32 {
	if c.err != nil {
		return 0
	}
	start := c.at
	value, ok := c.digits(10)
	after := byte(0)
	if c.at < len(c.text) {
		after = c.text[c.at]
	}
	partOfNumber := after == '.' || after == 'e' || after == 'E' || after == '+' || after == '-'
	if !ok || partOfNumber || value < uint64(low) || value > uint64(high) {
		c.at = start
		c.wants(fmt.Sprintf("a whole number from %d to %d", low, high))
		return 0
	}
	return uint32(value)
}

// decimal reads a string that holds a whole number of low..high in its plain form.
func (c *cursor) decimal(low, high int64) int64 {
	start := c.at
	value, ok := c.quotedDigits()
	if c.err != nil {
		return 0
	}
	if !ok || value < low || value > high {
		c.at = start
		c.wants(fmt.Sprintf("a decimal string from %d to %d", low, high))
		return 0
	}
	return value
}

// quotedDigits reads a string of up to 16 digits. Only one that is not written plainly is read as a string first.
func (c *cursor) quotedDigits() (int64, bool) {
	start := c.at
	if c.err == nil && start < len(c.text) && c.text[start] == '"' {
		c.at++
		value, ok := c.digits(16)
		if ok && c.at < len(c.text) && c.text[c.at] == '"' {
			c.at++
			return int64(value), true
		}
		c.at = start
	}
	inner := cursor{text: c.str()}
	value, ok := inner.digits(16)
	return int64(value), ok && inner.at == len(inner.text)
}

// digits reads up to this many decimal digits, none of them a leading zero. 16 digits are the most that are asked for,
// so that nothing overflows.
func (c *cursor) digits(most int) (value uint64, ok bool) {
	rest, size := c.text[c.at:], 0
	for size < len(rest) && rest[size]-'0' <= 9 {
		if size == most {
			return 0, false
		}
		value = value*10 + uint64(rest[size]-'0')
		size++
	}
	ok = size == 1 || size > 1 && rest[0] != '0'
	c.at += size
	return value, ok
}

// boolean reads true or false.
func (c *cursor) boolean() bool {
	if c.err != nil || c.expect([]byte("false")) {
		return false
	}
	if c.expect([]byte("true")) {
		return true
	}
	c.wants("true or false")
	return false
}

// numbers reads a list of at most cap(into) numbers of 0..most and returns it in that memory.
func (c *cursor) numbers(into []uint8, most uint32) []uint8 {
	into = into[:0]
	if !c.take('[') {
		c.wants("a list")
		return into
	}
	if c.take(']') {
		return into
	}
	for c.err == nil {
		if len(into) == cap(into) {
			c.fail("wants at most %d numbers", cap(into))
			return into
		}
		c.space()
		into = append(into, uint8(c.number(0, most)))
		if c.take(']') {
			return into
		}
		if !c.take(',') {
			c.wants("a comma or ]")
		}
	}
	return into
}

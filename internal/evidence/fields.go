package evidence

import (
	"bytes"
	"slices"

	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// alphabet has 0 for each byte that a field may hold, and 1 for all others.
type alphabet [256]uint8

var (
	idBytes    = alphabetOf("abcdefghijklmnopqrstuvwxyz0123456789-")
	betIDBytes = alphabetOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
)

func alphabetOf(bytes string) (a alphabet) {
	for i := range a {
		a[i] = 1
	}
	for _, b := range []byte(bytes) {
		a[b] = 0
	}
	return a
}

// spells reports whether all bytes of a text are of the alphabet. It looks at all of them before it decides.
func (a *alphabet) spells(text []byte) bool {
	others := uint8(0)
	for _, b := range text {
		others |= a[b]
	}
	return others == 0
}

// word reads a string of 1 to most bytes of an alphabet.
func (c *cursor) word(a *alphabet, most int, what string) []byte {
	start, rest := c.at, c.text[c.at:]
	if c.err == nil && len(rest) > 1 && rest[0] == '"' {
		rest = rest[1:min(len(rest), most+2)]
		if end := bytes.IndexByte(rest, '"'); end > 0 && a.spells(rest[:end]) {
			c.at += end + 2
			return rest[:end]
		}
	}
	value := c.str() // one that is written with escapes, or not such a word
	if len(value) < 1 || len(value) > most || !a.spells(value) {
		c.at = start
		c.wants(what)
	}
	return value
}

func (c *cursor) id() []byte { return c.word(&idBytes, 64, "1 to 64 of a-z 0-9 -") }

func (c *cursor) betID() []byte { return c.word(&betIDBytes, 40, "1 to 40 of A-Z a-z 0-9 _ -") }

// hex64 reads a string of 64 lower-case hex digits, and names the usual mistake in one that is not.
func (c *cursor) hex64() []byte {
	start := c.at
	value := c.str()
	if c.err != nil {
		return nil
	}
	if mistake := HexMistake(string(value)); mistake != "" {
		c.at = start
		c.wants("64 lower-case hex digits (" + mistake + ")")
	}
	return value
}

func (c *cursor) clientSeed() []byte {
	start := c.at
	value := c.str()
	if c.err != nil {
		return nil
	}
	if _, err := rng.ParseClientSeed(string(value)); err != nil {
		c.at = start
		c.wants("1 to 64 characters of visible ASCII without a space")
	}
	return value
}

func (c *cursor) currency() []byte {
	start := c.at
	value := c.str()
	if c.err != nil {
		return nil
	}
	if _, err := money.ParseCurrency(string(value)); err != nil {
		c.at = start
		c.wants("a currency like FUN")
	}
	return value
}

// oneOf reads a string that is one of these words, and returns its place among them.
func (c *cursor) oneOf(words []string, what string) int {
	start := c.at
	for place, word := range words {
		if c.plain(word) {
			return place
		}
	}
	value := c.str() // one that is written with escapes, or none of them
	if c.err != nil {
		return 0
	}
	place := slices.IndexFunc(words, func(w string) bool { return w == string(value) })
	if place < 0 {
		c.at = start
		c.wants(what)
		return 0
	}
	return place
}

// plain steps over this word as a string without escapes, if it follows.
func (c *cursor) plain(word string) bool {
	rest, size := c.text[c.at:], len(word)+2
	if c.err != nil || len(rest) < size || rest[0] != '"' || rest[size-1] != '"' || string(rest[1:size-1]) != word {
		return false
	}
	c.at += size
	return true
}

// instant is a time of the document in a form that compares like the time: the digits of date and time as one number,
// and the fraction.
type instant struct {
	seconds uint64 // yyyymmddhhmmss
	nanos   uint32
}

func (a instant) before(b instant) bool {
	return a.seconds < b.seconds || a.seconds == b.seconds && a.nanos < b.nanos
}

// instant reads an RFC 3339 time in UTC with a fraction of 0, 3, 6 or 9 digits.
func (c *cursor) instant() instant {
	start, rest := c.at, c.text[c.at:]
	if last := &c.time; c.err == nil && len(last.text) > 0 && c.expect(last.text) { // a bet that settles when it is made
		return last.value
	}
	if c.err == nil && len(rest) > 1 && rest[0] == '"' {
		t, size := c.minute.parseInstant(rest[1:])
		if size > 0 && len(rest) > 1+size && rest[1+size] == '"' {
			c.at += size + 2
			c.time.text, c.time.value = rest[:size+2], t
			return t
		}
	}
	value := c.str() // one that is written with escapes, or not a time
	if c.err != nil {
		return instant{}
	}
	t, size := c.minute.parseInstant(value)
	if size == 0 || size != len(value) {
		c.at = start
		c.wants("a time like 2025-01-31T23:59:59.123Z")
	}
	return t
}

const (
	instantForm = "0000-00-00T00:00:00"
	minuteBytes = len("0000-00-00T00:00:")
)

// minute is the beginning of a time up to the minute. Times follow each other, so that the next one mostly shares it.
type minute struct {
	text  [minuteBytes]byte
	value uint64 // yyyymmddhhmm00
}

// parseInstant reads the time with which a text begins, and returns how many bytes it has; 0 when there is none.
func (m *minute) parseInstant(text []byte) (t instant, size int) {
	if len(text) <= len(instantForm) {
		return instant{}, 0
	}
	if !bytes.Equal(text[:minuteBytes], m.text[:]) && !m.parse(text) {
		return instant{}, 0
	}
	tens, ones := text[minuteBytes]-'0', text[minuteBytes+1]-'0'
	if tens > 5 || ones > 9 {
		return instant{}, 0
	}
	t.seconds = m.value + uint64(tens)*10 + uint64(ones)
	size = len(instantForm)
	if text[size] == '.' {
		var digits int
		t.nanos, digits = parseFraction(text[size+1:])
		if digits == 0 {
			return instant{}, 0
		}
		size += 1 + digits
	}
	if size >= len(text) || text[size] != 'Z' {
		return instant{}, 0
	}
	return t, size + 1
}

// parse keeps the minute with which a text begins, or reports that it begins with none.
func (m *minute) parse(text []byte) bool {
	value := uint64(0)
	for i, form := range []byte(instantForm[:minuteBytes]) {
		digit := text[i] - '0'
		if form != '0' && text[i] != form || form == '0' && digit > 9 {
			return false
		}
		if form == '0' {
			value = value*10 + uint64(digit)
		}
	}
	if !isMinute(value) {
		return false
	}
	m.value = value * 100
	copy(m.text[:], text)
	return true
}

// parseFraction reads the digits with which a text begins, and returns how many they are: 3, 6 or 9, else 0.
func parseFraction(text []byte) (nanos uint32, digits int) {
	for digits < len(text) && digits < 9 && text[digits]-'0' <= 9 {
		nanos = nanos*10 + uint32(text[digits]-'0')
		digits++
	}
	switch digits {
	case 9:
		return nanos, digits
	case 6:
		return nanos * 1_000, digits
	case 3:
		return nanos * 1_000_000, digits
	default:
		return 0, 0
	}
}

var daysOfMonth = [13]uint64{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// isMinute reports whether yyyymmddhhmm is one of the calendar.
func isMinute(value uint64) bool {
	minute, hour := value%100, value/100%100
	day, month, year := value/10_000%100, value/1_000_000%100, value/100_000_000
	if year < 1 || month < 1 || month > 12 || hour > 23 || minute > 59 {
		return false
	}
	days := daysOfMonth[month]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days = 29
	}
	return day >= 1 && day <= days
}

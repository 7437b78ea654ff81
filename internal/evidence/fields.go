package evidence

import (
	"slices"

	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
)

// alphabet has true for each byte that a field may hold.
type alphabet [256]bool

var (
	idBytes    = alphabetOf("abcdefghijklmnopqrstuvwxyz0123456789-")
	betIDBytes = alphabetOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
)

func alphabetOf(bytes string) (a alphabet) {
	for _, b := range []byte(bytes) {
		a[b] = true
	}
	return a
}

// word reads a string of 1 to most bytes of an alphabet.
func (c *cursor) word(a *alphabet, most int, what string) []byte {
	start := c.at
	value := c.str()
	ok := len(value) >= 1 && len(value) <= most
	for _, b := range value {
		ok = ok && a[b]
	}
	if !ok {
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
	value := c.str()
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
	start := c.at
	value := c.str()
	if c.err != nil {
		return instant{}
	}
	t, ok := parseInstant(value)
	if !ok {
		c.at = start
		c.wants("a time like 2025-01-31T23:59:59.123Z")
	}
	return t
}

const instantForm = "0000-00-00T00:00:00"

// parseInstant returns false for anything but a time of the calendar in the form above.
func parseInstant(text []byte) (t instant, ok bool) {
	last := len(text) - 1
	if last < len(instantForm) || text[last] != 'Z' {
		return instant{}, false
	}
	for i := range len(instantForm) {
		digit := text[i] - '0'
		switch {
		case instantForm[i] != '0':
			ok = text[i] == instantForm[i]
		default:
			ok = digit <= 9
			t.seconds = t.seconds*10 + uint64(digit)
		}
		if !ok {
			return instant{}, false
		}
	}
	t.nanos, ok = parseFraction(text[len(instantForm):last])
	return t, ok && t.inCalendar()
}

func parseFraction(text []byte) (nanos uint32, ok bool) {
	if len(text) == 0 {
		return 0, true
	}
	digits := len(text) - 1
	if text[0] != '.' || digits != 3 && digits != 6 && digits != 9 {
		return 0, false
	}
	for i := range 9 {
		digit := byte(0)
		if i < digits {
			digit = text[1+i] - '0'
		}
		if digit > 9 {
			return 0, false
		}
		nanos = nanos*10 + uint32(digit)
	}
	return nanos, true
}

var daysOfMonth = [13]uint64{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func (t instant) inCalendar() bool {
	second, minute, hour := t.seconds%100, t.seconds/100%100, t.seconds/10_000%100
	day, month, year := t.seconds/1_000_000%100, t.seconds/100_000_000%100, t.seconds/10_000_000_000
	if year < 1 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return false
	}
	days := daysOfMonth[month]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days = 29
	}
	return day >= 1 && day <= days
}

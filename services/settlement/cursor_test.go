package settlement

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Any place is resumed exactly, by its own text and by that of an event.
func TestCursorsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c cursor
		for i := range rapid.IntRange(0, len(c)).Draw(t, "partitions") {
			c[i] = rapid.Uint64Range(0, 1<<53-2).Draw(t, "sequence")
		}
		if got, err := parseCursor(c.text()); err != nil || got != c {
			t.Fatalf("%v was read as %v, %v", c, got, err)
		}
		p := rapid.IntRange(0, len(c)-1).Draw(t, "partition")
		text := eventText(c.text(), p, c[p]+1)
		c[p]++
		if got, err := parseCursor(text); err != nil || got != c {
			t.Fatalf("%s was read as %v, %v", text, got, err)
		}
	})
}

func TestCursorOfTheFirstEvent(t *testing.T) {
	var none cursor
	if got := eventText(none.text(), 17, 1); got != "1..17.1" {
		t.Errorf("%s", got)
	}
	c, err := parseCursor("1.AAUD.2.300") // 0, 5, 3, and 300 in the place of 3
	if want := (cursor{1: 5, 2: 300}); err != nil || c != want {
		t.Errorf("%v, %v", c, err)
	}
}

// A cursor has one spelling, and no other is taken for it.
func TestOtherSpellingsOfCursorsAreRefused(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for _, text := range []string{
		"0.", "1", "2.AAUD", "1.AAUD.", "1.AAUD.2", "1.AAUD.2.", "1.AAUD.2.3.4", "1.AAUD.64.1", "1.AAUD.-1.1", "1.AAUD.02.3", "1.AAUD.2.03", "1.AAUD.2.+3",
		"1.AAUD.2.2",                             // before what the text says already
		"1.AAUD.2.9007199254740992",              // above 2^53-1
		"1.AAUD.2.99999999999999999999999",       // above 2^64
		"1.AAU=", "1.AAV", "1.AA UD", "1.AAUD\n", // no base64url of its own
		"1." + encode([]byte{5, 0}),                // a zero at the end
		"1." + encode([]byte{0x80}),                // half a number
		"1." + encode([]byte{0x85, 0x00}),          // a number with a longer form
		"1." + encode(append(make([]byte, 64), 1)), // 65 partitions
		"1." + encode([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}),
		"1." + strings.Repeat("A", 4000), "AAUD", " 1.AAUD",
	} {
		if c, err := parseCursor(text); err == nil {
			t.Errorf("%.40q is read as %v", text, c)
		}
	}
}

func FuzzCursor(f *testing.F) {
	for _, text := range []string{"", "1.", "1.AAUD", "1.AAUD.2.300", "1..63.9007199254740991"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		if again, err := parseCursor(c.text()); err != nil || again != c {
			t.Errorf("%q: %v, and then %v, %v", text, c, again, err)
		}
	})
}

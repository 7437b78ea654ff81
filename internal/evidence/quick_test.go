package evidence

import (
	"bytes"
	"os"
	"reflect"
	"strconv"
	"testing"
)

// everyKind returns the vector with rounds of all games, and where its rounds begin.
func everyKind(t testing.TB) (document []byte, rounds int) {
	t.Helper()
	document, err := os.ReadFile("../vectors/evidence/good-every-kind.json")
	if err != nil {
		t.Fatal(err)
	}
	_, rounds, err = parseHead(document)
	if err != nil {
		t.Fatal(err)
	}
	return document, rounds
}

// learned returns a decoder that has a template for each form of round in a list, and the texts of the rounds.
func learned(t testing.TB, pairID string, list []byte) (d *decoder, texts [][]byte) {
	t.Helper()
	d = newDecoder([]byte(pairID))
	d.text = list
	for {
		d.space()
		start := d.at
		d.plainRound()
		if d.err != nil {
			t.Fatal(d.err)
		}
		d.learn(start)
		texts = append(texts, list[start:d.at])
		if !d.take(',') {
			return d, texts
		}
	}
}

// readAgain reads a round from a text, by the templates or in full, and returns what was read and where it ended.
func (d *decoder) readAgain(text []byte, byTemplate bool) (round, int, *FormatError) {
	text = append([]byte(nil), text...)
	d.cursor, d.ahead, d.slot = cursor{text: text}, nil, new(slot)
	if byTemplate {
		d.ahead = withSlack(text)
		d.text = d.ahead[:len(text)]
		d.nextRound()
	} else {
		d.plainRound()
	}
	r := d.round
	r.template = nil
	return r, d.at, d.err
}

// What a template accepts, and what it reads there, is what full reading accepts and reads: for rounds of all games in which some
// bytes are replaced.
func FuzzTemplateReadsLikeFullReading(f *testing.F) {
	document, at := everyKind(f)
	_, texts := learned(f, "p17-ab40cab5ec80ba49", document[at:])
	if len(texts) < 9 {
		f.Fatalf("%d rounds", len(texts))
	}
	for i, text := range texts {
		f.Add(uint8(i), uint16(0), uint16(0), []byte(nil))
		for _, value := range []string{`"amount":"`, `"nonce":`, `"win":`, `"betId":"`, `Time":"`, `"picks":[`, `"amount":"1`} {
			if place := bytes.Index(text, []byte(value)); place >= 0 {
				place += len(value)
				for _, with := range []string{"", "0", "00", "true", "false", "12345678", "123456789", "1234567890123456", "9007199254740991", "9007199254740992", "-1", `\u0030`, " ", "\x00", "é"} {
					f.Add(uint8(i), uint16(place), uint16(1), []byte(with))
					f.Add(uint8(i), uint16(place), uint16(0), []byte(with))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, place, cut uint16, with []byte) {
		d, texts := learned(t, "p17-ab40cab5ec80ba49", document[at:])
		text := texts[int(which)%len(texts)]
		from := min(int(place), len(text))
		to := min(from+int(cut), len(text))
		changed := bytes.Join([][]byte{text[:from], with, text[to:]}, nil)
		for _, follows := range []string{"", ",", "]}", "0"} {
			quick, quickEnd, quickErr := d.readAgain(append(bytes.Clone(changed), follows...), true)
			full, fullEnd, fullErr := d.readAgain(append(bytes.Clone(changed), follows...), false)
			if !reflect.DeepEqual(quickErr, fullErr) {
				t.Fatalf("%q: %v by the template, %v in full", changed, quickErr, fullErr)
			}
			if fullErr == nil && (quickEnd != fullEnd || !reflect.DeepEqual(quick, full)) {
				t.Fatalf("%q: %+v to %d by the template, %+v to %d in full", changed, quick, quickEnd, full, fullEnd)
			}
		}
	})
}

// The test above says nothing if no round is read by a template.
func TestRoundsOfAllGamesFitTheirTemplates(t *testing.T) {
	document, at := everyKind(t)
	d, texts := learned(t, "p17-ab40cab5ec80ba49", document[at:])
	for i, text := range texts {
		fits := 0
		for _, template := range d.templates {
			d.cursor, d.ahead, d.slot = cursor{text: text}, withSlack(bytes.Clone(text)), new(slot)
			if d.fits(template) && d.at == len(text) {
				fits++
			}
		}
		if fits == 0 {
			t.Errorf("round %d fits no template: %s", i, text)
		}
	}
}

// Against strconv: every count of digits, every byte that can follow, and leading zeros.
func TestDigitsAllAtOnce(t *testing.T) {
	compared := 0
	for _, number := range []string{"", "0", "00", "9", "10", "05", "999", "1234567", "12345678", "99999999", "123456789", "100000000", "9007199254740991", "9999999999999999", "12345678901234567"} {
		for follows := range 256 {
			text := withSlack(append([]byte(number), byte(follows)))
			digits := 0
			for digits < 16 && '0' <= text[digits] && text[digits] <= '9' {
				digits++
			}
			want, _ := strconv.ParseInt(string(text[:digits]), 10, 64)
			if value, size := leadingDigits(text); value != want || size != digits {
				t.Errorf("%q: %d of %d digits, want %d of %d", text, value, size, want, digits)
			}
			compared++
		}
	}
	if compared != 15*256 {
		t.Error(compared)
	}
	for size, least := range leastOf {
		if text := strconv.FormatInt(least, 10); size > 1 && (len(text) != size || least != 1 && text[1:] != string(bytes.Repeat([]byte("0"), size-1))) {
			t.Errorf("the least number of %d digits is %d", size, least)
		}
	}
}

func TestQuickBooleans(t *testing.T) {
	for text, want := range map[string]int{"true": 4, "false": 5, "true}": 4, "false,": 5, "True": 0, "fals": 0, "tru": 0, "truf": 0, "falsf": 0, "": 0, "null": 0, "\x00true": 0} {
		value, size := quickBoolean(withSlack([]byte(text)))
		if size != want || value != (want == 4) {
			t.Errorf("%q: %t of %d bytes, want %d", text, value, size, want)
		}
	}
}

package settlement

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
)

// cursor is a place in the stream: for each partition the newest sequence that
// the reader has.
//
// Its text is "1", a dot, and the sequences as unsigned varints in base64url,
// without the zeros at the end. The text of one event adds a dot, a partition, a
// dot and a sequence, which stands in the place of that partition's: so a page of
// events shares all but the end of its cursors.
type cursor [ledger.Partitions]uint64

const cursorVersion = "1."

// text returns the cursor as a client keeps it.
func (c *cursor) text() string {
	n := len(c)
	for n > 0 && c[n-1] == 0 {
		n--
	}
	var raw []byte
	for _, sequence := range c[:n] {
		raw = binary.AppendUvarint(raw, sequence)
	}
	return cursorVersion + base64.RawURLEncoding.EncodeToString(raw)
}

// eventText returns the text after one event of a partition, where before is
// the text of a cursor that differs from it in that partition alone.
func eventText(before string, partition int, sequence uint64) string {
	text := make([]byte, 0, len(before)+20)
	text = append(text, before...)
	text = append(text, '.')
	text = strconv.AppendInt(text, int64(partition), 10)
	text = append(text, '.')
	return string(strconv.AppendUint(text, sequence, 10))
}

var errCursor = reason.Field("cursor", "is not one of this stream's")

// parseCursor reads a text that a stream gave; the empty one is the beginning.
// No other spelling is taken.
func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	parts := strings.Split(text, ".")
	if parts[0]+"." != cursorVersion || len(parts) != 2 && len(parts) != 4 {
		return c, errCursor
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return c, errCursor
	}
	for i := 0; len(raw) > 0; i++ {
		sequence, n := binary.Uvarint(raw)
		if n <= 0 || i == len(c) || sequence > uint64(money.MaxUnits) {
			return c, errCursor
		}
		c[i], raw = sequence, raw[n:]
	}
	if base := c.text(); base != cursorVersion+parts[1] {
		return c, errCursor
	}
	if len(parts) == 2 {
		return c, nil
	}
	return c.after(parts[2], parts[3])
}

// after reads the end of an event's text.
func (c cursor) after(partition, sequence string) (cursor, error) {
	p, err := strconv.ParseUint(partition, 10, 8)
	if err != nil || p >= ledger.Partitions || strconv.FormatUint(p, 10) != partition {
		return c, errCursor
	}
	s, err := strconv.ParseUint(sequence, 10, 53)
	if err != nil || strconv.FormatUint(s, 10) != sequence || s < c[p] {
		return c, errCursor
	}
	c[p] = s
	return c, nil
}

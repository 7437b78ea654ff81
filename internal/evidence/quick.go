package evidence

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// slack is how many bytes behind the text of a batch can be read as well, so that reading many at once needs no second way at
// the end. They are zero: no value and no text of a template goes on there.
const slack = 8 * literalWords

// withSlack returns a text with zero bytes behind it. It grows in its own memory if there is room.
func withSlack(text []byte) []byte {
	var zeros [slack]byte
	return append(text, zeros[:]...)
}

// literal is a text that is compared with other texts. A short one is compared eight bytes at a time.
type literal struct {
	text  []byte
	long  bool
	words [literalWords]uint64 // the text, with zeros behind it
	masks [literalWords]uint64 // ones where it has text
}

const literalWords = 5

func newLiteral(text []byte) literal {
	l := literal{text: text, long: len(text) > slack}
	if l.long {
		return l
	}
	var words, masks [slack]byte
	for i := range text {
		words[i], masks[i] = text[i], 0xff
	}
	for i := range literalWords {
		l.words[i], l.masks[i] = binary.LittleEndian.Uint64(words[8*i:]), binary.LittleEndian.Uint64(masks[8*i:])
	}
	return l
}

// begins reports whether a text, with slack behind it, begins with the literal.
func (l *literal) begins(text []byte) bool {
	if len(text) < len(l.text)+slack {
		return false
	}
	if l.long {
		return bytes.Equal(text[:len(l.text)], l.text)
	}
	t, size := (*[slack]byte)(text), len(l.text)
	others := (binary.LittleEndian.Uint64(t[0:]) ^ l.words[0]) & l.masks[0]
	if size > 8 {
		others |= (binary.LittleEndian.Uint64(t[8:]) ^ l.words[1]) & l.masks[1]
	}
	if size > 16 {
		others |= (binary.LittleEndian.Uint64(t[16:])^l.words[2])&l.masks[2] |
			(binary.LittleEndian.Uint64(t[24:])^l.words[3])&l.masks[3] |
			(binary.LittleEndian.Uint64(t[32:])^l.words[4])&l.masks[4]
	}
	return others == 0
}

const (
	zeroDigits = 0x3030_3030_3030_3030 // the text 00000000
	sixes      = 0x0606_0606_0606_0606
	highHalves = 0xf0f0_f0f0_f0f0_f0f0
)

// leadingDigits reads the digits with which a text begins, 16 at most, and returns how many they are. Where it stops in
// front of a further one, what a template wants next is not there. The text has slack behind it.
func leadingDigits(text []byte) (value int64, size int) {
	high, size := upToEightDigits(text)
	if size < 8 {
		return high, size
	}
	low, more := upToEightDigits(text[8:])
	return high*tens[more] + low, 8 + more
}

// tens has the powers of ten.
var tens = [9]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// upToEightDigits reads the digits among the next eight bytes, all at once.
func upToEightDigits(text []byte) (value int64, size int) {
	n := binary.LittleEndian.Uint64(text) ^ zeroDigits // a digit becomes its value, and only a digit stays below 10
	size = bits.TrailingZeros64(((n+sixes)|n)&highHalves) / 8
	n <<= 64 - 8*uint(size) // the first digit comes behind as many zeros as make eight digits
	n = (n*10 + n>>8) & 0x00ff_00ff_00ff_00ff
	n = (n*100 + n>>16) & 0x0000_ffff_0000_ffff
	return int64((n*10_000 + n>>32) & 0xffff_ffff), size
}

// leastOf has the least number of so many digits, none of them a leading zero; of none there is no number.
var leastOf = func() (least [17]int64) {
	least[0] = math.MaxInt64
	for size, power := 2, int64(10); size < len(least); size, power = size+1, power*10 {
		least[size] = power
	}
	return least
}()

const (
	trueWord  = 'e'<<24 | 'u'<<16 | 'r'<<8 | 't'
	falseWord = 'e'<<32 | 's'<<24 | 'l'<<16 | 'a'<<8 | 'f'
)

// quickBoolean reads true or false and returns its size, 0 when it is neither. A processor cannot foresee which it is:
// so no branch depends on it.
func quickBoolean(text []byte) (value bool, size int) {
	word := binary.LittleEndian.Uint64(text)
	notTrue, notFalse := word<<32^trueWord<<32, word<<24^falseWord<<24
	if min(notTrue, notFalse) != 0 {
		return false, 0
	}
	size = len("false")
	if notTrue == 0 {
		size = len("true")
	}
	return notTrue == 0, size
}

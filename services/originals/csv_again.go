package main

import "strings"

// again judges the row with which a text begins when it repeats the one before, which was right, in all but plain
// numbers: the nonce and the outcome, in most histories. It returns the size of the row with its end, or 0 when the row
// has to be read and judged in full; whatever is not plainly right has.
func (j *rowJudge) again(text string) int {
	if j.right == "" || j.steady == "" || !strings.HasPrefix(text, j.steady) {
		return 0
	}
	at, last := len(j.steady), len(j.slots)-1
	j.stated = j.stated[:0]
	for i := j.layout.steady; i <= last; i++ {
		number, size := cutNumber(text[at:])
		end := at + size
		place := j.layout.places[i]
		if size == 0 || end == len(text) || (text[end] == '\n') != (i == last) || i < last && text[end] != ',' || j.slots[i] == nil {
			return 0
		}
		switch place {
		case inNonce:
		case inOutcome:
			j.stated = append(j.stated, number)
		default:
			return 0
		}
		*j.slots[i], j.raw[i] = text[at:end], text[at:end]
		at = end + 1
	}
	if !j.deriver.Repeat(&j.row.claim, &j.judgement.Outcome, j.stated) {
		return 0
	}
	return at
}

// cutNumber reads the digits with which a text begins. It returns no size when they are none, too many for 64 bits, or
// led by a zero.
func cutNumber(text string) (number uint64, size int) {
	const sure = 19 // digits that fit 64 bits
	for ; size < len(text) && '0' <= text[size] && text[size] <= '9'; size++ {
		number = 10*number + uint64(text[size]-'0')
	}
	if size > sure || size > 1 && text[0] == '0' {
		return 0, 0
	}
	return number, size
}

package foreign

// decodeLossy decodes bytes as the WHATWG standard "Encoding" decodes UTF-8 (and JavaScript with it), and returns the
// result as UTF-8: each maximal subpart of an ill-formed sequence becomes one U+FFFD. Go's own conversions replace every
// single byte instead, or merge neighbours.
func decodeLossy(raw []byte) []byte {
	text := make([]byte, 0, 3*len(raw))
	for len(raw) > 0 {
		n, ok := sequence(raw)
		if ok {
			text = append(text, raw[:n]...)
		} else {
			text = append(text, "\uFFFD"...)
		}
		raw = raw[n:]
	}
	return text
}

// sequence returns the length of the first sequence of raw, or of the longest beginning of one that is not finished.
func sequence(raw []byte) (n int, ok bool) {
	need, low, high := lead(raw[0])
	for n = 1; n <= need; n++ {
		if n == len(raw) || raw[n] < low || raw[n] > high {
			return n, false
		}
		low, high = 0x80, 0xBF // only the second byte has bounds of its own
	}
	return n, need >= 0
}

// lead returns how many bytes follow a first byte, -1 for none that may begin a sequence, and the bounds of the second.
func lead(first byte) (need int, low, high byte) {
	switch {
	case first < 0x80:
		return 0, 0x80, 0xBF
	case first < 0xC2, first > 0xF4:
		return -1, 0x80, 0xBF
	case first < 0xE0:
		return 1, 0x80, 0xBF
	case first == 0xE0:
		return 2, 0xA0, 0xBF
	case first == 0xED:
		return 2, 0x80, 0x9F
	case first < 0xF0:
		return 2, 0x80, 0xBF
	case first == 0xF0:
		return 3, 0x90, 0xBF
	case first == 0xF4:
		return 3, 0x80, 0x8F
	default:
		return 3, 0x80, 0xBF
	}
}

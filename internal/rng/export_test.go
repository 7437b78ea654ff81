package rng

import "encoding/binary"

// StreamOfWords returns a stream that yields these words first, at most 34, and then those of an empty SHAKE256. It lets
// a test put a word on each side of a rejection limit.
func StreamOfWords(words ...uint32) Stream {
	s := Stream{used: BlockBytes - 4*len(words)}
	for i, word := range words {
		binary.BigEndian.PutUint32(s.block[s.used+4*i:], word)
	}
	return s
}

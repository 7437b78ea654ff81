package roulette

import "slices"

// ChipCount is how many different legal chips there are.
const ChipCount = 157

// layout holds every legal chip, without an amount, in the order that All documents; places finds a chip's index in it.
var (
	layout = buildLayout()
	places = indexLayout()
)

// All returns the 157 legal chips, each with amount 0. Their order is permanent, since stored bets refer to it: by
// kind, then by numbers in ascending order.
func All() []Chip {
	chips := slices.Clone(layout)
	for i := range chips {
		chips[i].Numbers = slices.Clone(chips[i].Numbers)
	}
	return chips
}

func buildLayout() []Chip {
	var chips []Chip
	add := func(kind Kind, numbers ...uint8) { chips = append(chips, Chip{Kind: kind, Numbers: numbers}) }

	for n := range uint8(37) {
		add(Straight, n)
	}
	for _, n := range []uint8{1, 2, 3} {
		add(Split, 0, n)
	}
	for n := uint8(1); n <= 36; n++ {
		if n%3 != 0 {
			add(Split, n, n+1)
		}
		if n <= 33 {
			add(Split, n, n+3)
		}
	}
	for n := uint8(1); n <= 34; n += 3 {
		add(Street, n, n+1, n+2)
	}
	add(Trio, 0, 1, 2)
	add(Trio, 0, 2, 3)
	for n := uint8(1); n <= 32; n++ {
		if n%3 != 0 {
			add(Corner, n, n+1, n+3, n+4)
		}
	}
	add(FirstFour, 0, 1, 2, 3)
	for n := uint8(1); n <= 31; n += 3 {
		add(SixLine, n, n+1, n+2, n+3, n+4, n+5)
	}
	for _, kind := range []Kind{Dozen, Column} {
		for n := uint8(1); n <= 3; n++ {
			add(kind, n)
		}
	}
	for kind := Red; kind <= High; kind++ {
		add(kind)
	}
	return chips
}

func indexLayout() map[uint64]uint8 {
	index := make(map[uint64]uint8, len(layout))
	for i, chip := range layout {
		index[chip.key()] = uint8(i)
	}
	return index
}

// key packs the kind and the numbers of a chip into one integer, a byte each. It is unique among chips that carry as many
// numbers as their kind takes, six at most.
func (c Chip) key() uint64 {
	key := uint64(c.Kind)
	for _, n := range c.Numbers {
		key = key<<8 | uint64(n)
	}
	return key
}

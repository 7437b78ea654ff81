package roulette

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/openoriginals/originals/internal/money"
)

// ErrBinary says that bytes are not the binary form of a valid bet.
var ErrBinary = errors.New("roulette: not the binary form of a bet")

// AppendBinary appends the bet's compact form: for each chip one byte, its place in All, then its amount as an unsigned
// varint. A bet has exactly one such form, of 2 to 9 bytes a chip. The bet must be valid.
func (b Bet) AppendBinary(dst []byte) []byte {
	for _, chip := range b.Chips {
		dst = append(dst, places[chip.key()])
		dst = binary.AppendUvarint(dst, uint64(chip.Amount))
	}
	return dst
}

// ParseBinary reads what AppendBinary wrote. Anything else is ErrBinary: an unknown chip, an amount that is cut off,
// zero, too large or longer than needed, no chip or more than 32. It keeps no reference to the bytes.
func ParseBinary(b []byte) (Bet, error) {
	var bet Bet
	for len(b) > 0 && len(bet.Chips) < MaxChips {
		chip, size := parseChip(b)
		if size == 0 {
			return Bet{}, ErrBinary
		}
		bet.Chips = append(bet.Chips, chip)
		b = b[size:]
	}
	if len(b) > 0 || bet.Validate() != nil {
		return Bet{}, ErrBinary
	}
	return bet, nil
}

// parseChip reads one chip and returns how many bytes it took, 0 when it is not one.
func parseChip(b []byte) (Chip, int) {
	if int(b[0]) >= len(layout) {
		return Chip{}, 0
	}
	amount, size := binary.Uvarint(b[1:])
	overlong := size > 1 && b[size] == 0
	if size <= 0 || overlong || amount > uint64(money.MaxUnits) {
		return Chip{}, 0
	}
	chip := layout[b[0]]
	chip.Numbers = slices.Clone(chip.Numbers)
	chip.Amount = money.Units(amount)
	return chip, 1 + size
}

package foreign

import (
	"math/big"
	"slices"
	"strings"
)

// rounding says which neighbour a decimal takes.
type rounding uint8

const (
	floor rounding = iota
	halfUp
	halfEven
)

func fraction(numerator, denominator int64) *big.Rat { return big.NewRat(numerator, denominator) }

// roundAt rounds a number that is not negative to so many decimals.
func roundAt(r *big.Rat, decimals int, mode rounding) *big.Rat {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	scaled := new(big.Int).Mul(r.Num(), power)
	whole, rest := scaled.QuoRem(scaled, r.Denom(), new(big.Int))
	side := rest.Lsh(rest, 1).Cmp(r.Denom()) // of the half
	if mode != floor && (side > 0 || side == 0 && (mode == halfUp || whole.Bit(0) == 1)) {
		whole.Add(whole, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(whole, power)
}

// payout writes an amount, 0 when the bet lost, without zeros at its end.
func (o *Outcome) payout(win bool, amount *big.Rat, decimals int, mode rounding) {
	if !win {
		o.string("payout", "0")
		return
	}
	o.string("payout", trimDecimal(roundAt(amount, decimals, mode).FloatString(decimals)))
}

// trimDecimal removes zeros from the end of a decimal fraction.
func trimDecimal(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// amount reads a decimal above 0, of at most 18 digits before the point and so many after it.
func (in *Input) amount(name string, decimals int) (amount *big.Rat, given bool, err error) {
	text, given := in.parameter(name)
	if !given {
		return nil, false, nil
	}
	if isDecimal(text, 18, decimals) {
		if amount, ok := new(big.Rat).SetString(text); ok && amount.Sign() > 0 {
			return amount, true, nil
		}
	}
	return nil, true, refuse(name, "must be a decimal above 0, such as 0.01, of at most %d decimals", decimals)
}

// hundredths reads a decimal of at most two decimals as hundredths, up to most.
func (in *Input) hundredths(name string, most uint64) (value uint64, given bool, err error) {
	text, given := in.parameter(name)
	if !given {
		return 0, false, nil
	}
	value, ok := parseHundredths(text)
	if !ok || value > most {
		return 0, true, refuse(name, "must be a decimal up to %d of at most two decimals", most/100)
	}
	return value, true, nil
}

// parseHundredths reads 12, 12.8 or 12.86 as 1200, 1280 or 1286.
func parseHundredths(text string) (value uint64, ok bool) {
	if !isDecimal(text, 16, 2) {
		return 0, false
	}
	whole, part, _ := strings.Cut(text, ".")
	for _, digit := range []byte(whole + (part + "00")[:2]) {
		value = value*10 + uint64(digit-'0')
	}
	return value, true
}

// isDecimal reports whether a text is a number without leading zeros, with at most so many digits before and after the
// point.
func isDecimal(text string, before, after int) bool {
	whole, part, point := strings.Cut(text, ".")
	if len(whole) < 1 || len(whole) > before || whole[0] == '0' && len(whole) > 1 || point && part == "" || len(part) > after {
		return false
	}
	return strings.Trim(whole+part, "0123456789") == ""
}

// anyOf reports whether a list shares a tile with another.
func anyOf(list, other []uint8) bool {
	return slices.ContainsFunc(list, func(tile uint8) bool { return slices.Contains(other, tile) })
}

func ascending(tiles []uint8) []uint8 {
	tiles = slices.Clone(tiles)
	slices.Sort(tiles)
	return tiles
}

package rtp

import (
	"math/big"
	"strings"
)

// Decimal writes a return of zero or more with this many decimals, truncated: it never shows more than is paid. A
// negative count of decimals counts as 0.
func Decimal(r *big.Rat, digits int) string {
	digits = max(digits, 0)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	scaled := new(big.Int).Mul(r.Num(), scale)
	text := scaled.Quo(scaled, r.Denom()).String()
	if digits == 0 {
		return text
	}
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return text[:len(text)-digits] + "." + text[len(text)-digits:]
}

package money

import "errors"

// Currency is a currency's code: 2 to 8 characters of A-Z and 0-9. How many decimals its smallest unit has is
// configuration and not part of the code.
type Currency string

// ErrCurrency says that a text is not a currency code.
var ErrCurrency = errors.New("money: currency is not 2 to 8 characters of A-Z0-9")

// ParseCurrency accepts exactly [A-Z0-9]{2,8}; it never trims or folds case. Anything else is ErrCurrency.
func ParseCurrency(text string) (Currency, error) {
	if len(text) < 2 || len(text) > 8 {
		return "", ErrCurrency
	}
	for i := range len(text) {
		if !isCode(text[i]) {
			return "", ErrCurrency
		}
	}
	return Currency(text), nil
}

func isCode(c byte) bool { return 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
